//! Plain arms with rewards in `[0, 1]`.

use super::scattered::{Days, Rewards, Scattered};
use super::{Bandit, shuffle};
use plausibly::Stream;

/// The range of the rewards of arms, unless they are normal.
pub(crate) const ARM_REWARDS: (f64, f64) = (0.0, 1.0);

/// How the means of arms lie between the least and the largest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Spacing {
    /// At equal distances, in random order.
    Even,
    /// At equal ratios, in random order.
    Ratios,
    /// Drawn uniformly.
    Uniform,
}

/// Problems of plain arms.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ArmProblems {
    pub(crate) actions: usize,
    pub(crate) lowest: f64,
    pub(crate) highest: f64,
    pub(crate) spacing: Spacing,
    pub(crate) rewards: Rewards,
    pub(crate) noise: f64,
    /// The largest noise of an action is this many times the smallest.
    pub(crate) noise_by_action: f64,
    pub(crate) days: Option<Days>,
}

impl ArmProblems {
    /// How far a reward could be outside the range at the worst; at most zero if all of them fit.
    pub(crate) fn excess(&self) -> f64 {
        if self.rewards == Rewards::Normal {
            return 0.0;
        }
        let largest = self.days.map_or(0.0, |days| days.largest);
        let reach = self.rewards.reach(self.noise * self.noise_by_action);
        let below = ARM_REWARDS.0 - (self.lowest * (1.0 - largest) - reach);
        let above = self.highest * (1.0 + largest) + reach - ARM_REWARDS.1;
        below.max(above)
    }

    pub(super) fn means(&self, rng: &mut Stream) -> Vec<f64> {
        let Self { actions, lowest, highest, .. } = *self;
        let mut means: Vec<f64> = match self.spacing {
            Spacing::Even => steps(actions).map(|s| lowest + s * (highest - lowest)).collect(),
            Spacing::Ratios => at_ratios(actions, lowest, highest / lowest).collect(),
            Spacing::Uniform => {
                return (0..actions).map(|_| lowest + rng.uniform() * (highest - lowest)).collect();
            }
        };
        shuffle(&mut means, actions, rng);
        means
    }

    /// Draws a problem.
    pub(crate) fn draw(&self, rng: &mut Stream) -> impl super::Environment + use<> {
        let means = self.means(rng);
        let mut noise: Vec<f64> =
            at_ratios(self.actions, self.noise, self.noise_by_action).collect();
        shuffle(&mut noise, self.actions, rng);
        Scattered::new(Bandit::arms(means, 1.0), self.rewards, ARM_REWARDS, noise, self.days)
    }
}

/// Numbers from `first` to `growth` times that, at equal ratios.
fn at_ratios(count: usize, first: f64, growth: f64) -> impl Iterator<Item = f64> {
    let growth = libm::log(growth);
    steps(count).map(move |share| first * libm::exp(share * growth))
}

/// Numbers from 0 to 1 at equal distances.
fn steps(count: usize) -> impl Iterator<Item = f64> {
    let last = count.saturating_sub(1).max(1) as f64;
    (0..count).map(move |position| position as f64 / last)
}
