//! ε-greedy with the paper's decaying rate.

use super::exploration::{Exploration, Explorer};
use super::{Explain, Policy, PolicyError, argmax, best_among, check_epsilon};
use crate::actions::{Action, ActionIndex, Actions};
use crate::arms::ArmMove;
use crate::model::{Estimator, Scores};
use crate::rng::Stream;
use crate::state::{DurableModel, Keep, Reader, StateError, Writer};

/// Explores at random at a rate that falls over time, and otherwise takes the action with the best
/// estimate.
///
/// ```text
/// with probability ε·√(n/t)/2:  A_t drawn from the actions
/// otherwise:                    A_t = argmax_a ⟨a, θ̂⟩
/// ```
///
/// [`EpsilonGreedy::constant`] explores with probability ε in every round instead.
///
/// The rate sums to about `ε·n` exploring rounds, uniform over the actions unless
/// [`EpsilonGreedy::exploring`] says otherwise. An arm never taken is estimated at 0.
///
/// # Parameters
/// | name | symbol | range |
/// | --- | --- | --- |
/// | `model` | `θ̂` | any [`Estimator`] |
/// | `epsilon` | `ε` | (0, 1] |
/// | `horizon` | `n` | rounds planned; later ones go on at the falling rate |
///
/// # Guarantee
/// None that adapts to the problem: about `ε·n` rounds are spent on actions regardless of what is
/// known.
///
/// # Cost
/// O(K·d) a round, on any set; exploring by design adds one design a set. One draw a round, two
/// when exploring.
///
/// # Example
/// ```
/// use plausibly::{ActionSet, ArmMeans, EpsilonGreedy, Policy, Stream};
/// let arms = ActionSet::arms(3)?;
/// let mut policy = EpsilonGreedy::new(ArmMeans::new(3), 0.05, 1000)?;
/// assert!(policy.select(arms.view(), &mut Stream::new(1, 0, "policy")) < 3);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Reference
/// \[MZK\], Section 6; Auer, Cesa-Bianchi, Fischer (2002) for ε-greedy with a falling rate.
#[derive(Clone, Debug)]
pub struct EpsilonGreedy<E> {
    model: E,
    epsilon: f64,
    /// Over how many rounds the rate falls; `None` if it does not.
    horizon: Option<u64>,
    round: u64,
    /// Whether the last choice was drawn.
    explored: bool,
    explorer: Explorer,
    scores: Scores,
}

impl<E: Estimator> EpsilonGreedy<E> {
    /// ε-greedy over this model for about `horizon` rounds.
    ///
    /// # Errors
    /// If `epsilon` is not in (0, 1].
    pub fn new(model: E, epsilon: f64, horizon: u64) -> Result<Self, PolicyError> {
        check_epsilon(epsilon)?;
        Ok(Self {
            model,
            epsilon,
            horizon: Some(horizon),
            round: 0,
            explored: false,
            explorer: Explorer::default(),
            scores: Scores::new(),
        })
    }

    /// ε-greedy that explores in every round with the same probability, which may be zero: greed
    /// alone.
    ///
    /// # Errors
    /// If `epsilon` is not in [0, 1].
    pub fn constant(model: E, epsilon: f64) -> Result<Self, PolicyError> {
        if epsilon != 0.0 {
            check_epsilon(epsilon)?;
        }
        Ok(Self {
            model,
            epsilon,
            horizon: None,
            round: 0,
            explored: false,
            explorer: Explorer::default(),
            scores: Scores::new(),
        })
    }

    /// Continues after this many decisions.
    #[must_use]
    pub fn after(self, decisions: u64) -> Self {
        Self { round: decisions, ..self }
    }

    /// Explores in this way instead of uniformly.
    #[must_use]
    pub fn exploring(self, exploration: Exploration) -> Self {
        Self { explorer: Explorer::new(exploration), ..self }
    }
}

impl<E: Estimator> Policy for EpsilonGreedy<E> {
    fn select(&mut self, actions: Actions<'_>, rng: &mut Stream) -> ActionIndex {
        self.round += 1;
        let fallen = |horizon: u64| (horizon as f64 / self.round as f64).sqrt() / 2.0;
        let rate = self.epsilon * self.horizon.map_or(1.0, fallen);
        self.explored = rng.uniform() < rate;
        if self.explored {
            self.explorer.draw(actions, rng)
        } else {
            self.model.means_into(actions, &mut self.scores);
            argmax(&self.scores.mean)
        }
    }

    fn select_among(
        &mut self,
        _: Actions<'_>,
        among: &[ActionIndex],
        rng: &mut Stream,
    ) -> Option<ActionIndex> {
        if self.explored {
            return Some(among[rng.index(among.len())]);
        }
        best_among(among, |action| self.scores.mean[action])
    }

    fn update(&mut self, action: Action<'_>, reward: f64) {
        self.model.update(action, reward);
    }
}

impl<E: Estimator> Explain for EpsilonGreedy<E> {
    fn model(&self) -> &dyn Estimator {
        &self.model
    }
}

impl<E: DurableModel> Keep for EpsilonGreedy<E> {
    const KIND: &'static str = "epsilon-greedy";

    fn write(&self, out: &mut Writer) {
        self.model.write(out);
        out.count(self.round);
    }

    fn read(&mut self, from: &mut Reader<'_>) -> Result<(), StateError> {
        self.model.read(from)?;
        self.round = from.count("decisions")?;
        Ok(())
    }

    fn move_arms(&mut self, moved: &mut ArmMove<'_>) {
        self.model.move_arms(moved, false);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::actions::ActionSet;
    use crate::model::ArmMeans;

    /// Rounds in which arm 1, worse and never greedy, is taken; its expectation and variance; at
    /// this rate.
    fn explored(
        mut policy: EpsilonGreedy<ArmMeans>,
        horizon: u64,
        rate: impl Fn(u64) -> f64,
    ) -> (f64, f64, f64) {
        let arms = ActionSet::arms(2).unwrap();
        let mut rng = Stream::new(2, 0, "policy");
        let (mut count, mut mean, mut variance) = (0.0, 0.0, 0.0);
        for round in 1..=horizon {
            let chosen = policy.select(arms.view(), &mut rng);
            policy.update(arms.view().get(chosen), if chosen == 0 { 1.0 } else { -1.0 });
            let p = rate(round).min(1.0) / 2.0;
            count += chosen as f64;
            mean += p;
            variance += p * (1.0 - p);
        }
        (count, mean, variance)
    }

    #[test]
    fn explores_at_the_papers_rate() {
        // A sum of independent coins: beyond 5 sd with probability 6e-7.
        let n = 100_000;
        let falling = || EpsilonGreedy::new(ArmMeans::new(2), 0.1, n).unwrap();
        let (count, mean, variance) =
            explored(falling(), n, |t| 0.1 * (n as f64 / t as f64).sqrt() / 2.0);
        assert!((count - mean).abs() < 5.0 * variance.sqrt(), "{count} {mean}");
        // A rate without the 1/2 would have been noticed.
        let (count, mean, variance) =
            explored(falling(), n, |t| 0.1 * (n as f64 / t as f64).sqrt());
        assert!((count - mean).abs() > 5.0 * variance.sqrt());
    }

    #[test]
    fn explores_at_a_constant_rate() {
        let n = 100_000;
        let constant = |epsilon| EpsilonGreedy::constant(ArmMeans::new(2), epsilon).unwrap();
        let (count, mean, variance) = explored(constant(0.1), n, |_| 0.1);
        assert!((count - mean).abs() < 5.0 * variance.sqrt(), "{count} {mean}");
        // A rate with the 1/2 of the falling one would have been noticed.
        let (count, mean, variance) = explored(constant(0.1), n, |_| 0.05);
        assert!((count - mean).abs() > 5.0 * variance.sqrt());
        assert!(explored(constant(0.0), 1000, |_| 0.0).0 < 1.0, "greed alone");
        assert!(EpsilonGreedy::constant(ArmMeans::new(2), -0.1).is_err());
        assert!(EpsilonGreedy::constant(ArmMeans::new(2), f64::NAN).is_err());
    }
}
