//! Problems whose rewards scatter about their means by a law other than one Gaussian noise.

use super::{Bandit, Environment};
use plausibly::{ActionIndex, Stream, poisson_quantile};

/// How rewards scatter about their means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rewards {
    /// Either end of the range: the upper one with the probability that gives the mean.
    YesNo,
    /// Uniform within `±√3·noise` of the mean, which has standard deviation `noise` and exactly
    /// that mean. It must fit into the range.
    Bounded,
    /// Gaussian, without a range.
    Normal,
    /// A Poisson count, without a range.
    Count,
}

impl Rewards {
    /// The farthest a reward can be from its mean at this noise, where the range must have room for
    /// it.
    pub(crate) fn reach(self, noise: f64) -> f64 {
        match self {
            Self::Bounded => 3.0_f64.sqrt() * noise,
            Self::YesNo | Self::Normal | Self::Count => 0.0,
        }
    }

    /// The range that rewards keep to.
    pub(crate) fn range(self, range: (f64, f64)) -> Option<(f64, f64)> {
        match self {
            Self::YesNo | Self::Bounded => Some(range),
            Self::Count => Some((0.0, f64::INFINITY)),
            Self::Normal => None,
        }
    }
}

/// Days of equal length, each of which multiplies all means by a number of its own.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Days {
    /// The numbers are uniform on `1 ± largest`.
    pub(crate) largest: f64,
    /// Rounds per day.
    pub(crate) length: u64,
}

/// A bandit whose rewards scatter by one of these laws.
#[derive(Debug)]
pub(super) struct Scattered {
    bandit: Bandit,
    rewards: Rewards,
    range: (f64, f64),
    /// Standard deviation per action. Yes-no rewards do not use it.
    noise: Vec<f64>,
    days: Option<Days>,
    /// What the current day multiplies means by.
    factor: f64,
    rounds_left: u64,
}

impl Scattered {
    /// Rewards about the means of `bandit`, with one standard deviation per action.
    ///
    /// # Panics
    /// If a reward could leave the range by more than rounding.
    pub(super) fn new(
        bandit: Bandit,
        rewards: Rewards,
        range: (f64, f64),
        noise: Vec<f64>,
        days: Option<Days>,
    ) -> Self {
        let largest = days.map_or(0.0, |days| days.largest);
        let known = rewards.range(range);
        let finite = known.filter(|(_, high)| high.is_finite());
        for (mean, noise) in bandit.means().iter().zip(&noise) {
            let reach = rewards.reach(*noise) + largest * mean.abs() - 1e-9;
            assert!(
                finite.is_none() || (mean - reach >= range.0 && mean + reach <= range.1),
                "rewards about {mean} leave the range from {} to {}",
                range.0,
                range.1
            );
        }
        // Half its length is all that a range says about the noise of rewards in it.
        let largest = || noise.iter().copied().fold(0.0, f64::max);
        let bandit =
            bandit.known_by(finite.map_or_else(largest, |(low, high)| 0.5 * (high - low)), known);
        Self { bandit, rewards, range, noise, days, factor: 1.0, rounds_left: 0 }
    }
}

impl Environment for Scattered {
    fn advance(&mut self, rng: &mut Stream) {
        let Some(Days { largest, length }) = self.days else { return };
        if self.rounds_left == 0 {
            self.factor = 1.0 + largest * (2.0 * rng.uniform() - 1.0);
            self.rounds_left = length;
        }
        self.rounds_left -= 1;
    }

    fn bandit(&self) -> &Bandit {
        &self.bandit
    }

    fn luck(&self, rng: &mut Stream) -> f64 {
        match self.rewards {
            Rewards::YesNo | Rewards::Bounded | Rewards::Count => rng.uniform(),
            Rewards::Normal => rng.normal(),
        }
    }

    fn reward(&self, chosen: ActionIndex, luck: f64) -> f64 {
        let (mean, noise) = (self.factor * self.bandit.means()[chosen], self.noise[chosen]);
        let (low, high) = self.range;
        match self.rewards {
            Rewards::YesNo if luck * (high - low) < mean - low => high,
            Rewards::YesNo => low,
            // They fit into the range up to rounding.
            Rewards::Bounded => {
                (mean + self.rewards.reach(noise) * (2.0 * luck - 1.0)).clamp(low, high)
            }
            Rewards::Normal => mean + noise * luck,
            Rewards::Count => poisson_quantile(luck, mean) as f64,
        }
    }
}
