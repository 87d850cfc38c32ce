//! Thompson sampling for yes/no rewards.

use super::{Explain, Policy, argmax, assert_taken};
use crate::actions::{Action, ActionIndex, Actions};
use crate::arms::ArmMove;
use crate::model::{ArmMeans, Estimator};
use crate::rng::Stream;
use crate::state::{DurableModel as _, Keep, Reader, StateError, Writer, holds};

/// Samples the success rate of each arm from its Beta posterior and takes the largest.
///
/// ```text
/// μ̃(a) ~ Beta(1 + S(a), 1 + T(a) − S(a))          A_t = argmax_a μ̃(a)
/// ```
///
/// `T(a)` counts the rewards of an arm and `S(a)` is their sum. For rewards of 0 and 1 this is the
/// posterior of a uniform prior. A reward between counts as that share of a success. \[AG17\] turns
/// it into a success with that probability instead; that needs a random draw per reward, gives the
/// same mean on average, and makes what was learned depend on more than the rewards.
///
/// # Parameters
/// | name | symbol | range |
/// | --- | --- | --- |
/// | `arms` | `K` | ≥ 1 |
///
/// # Guarantee
/// `R_n = O(√(K·n·log n))` for rewards of 0 and 1 (Theorem 1.2 of \[AG17\]); no bound on the model
/// error.
///
/// # Cost
/// O(K) a round; about 4 draws per arm, whatever was taken before.
///
/// # Example
/// ```
/// use plausibly::{ActionSet, BetaThompson, Explain, Misfit, Policy, Stream};
/// let arms = ActionSet::arms(3)?;
/// let mut policy = BetaThompson::new(3);
/// let chosen = policy.select(arms.view(), &mut Stream::new(1, 0, "policy"));
/// policy.update(arms.view().get(chosen), 1.0);
/// let refused = policy.try_update(arms.view().get(chosen), 1.5);
/// assert_eq!(refused, Err(Misfit::RewardRange { reward: 1.5, low: 0.0, high: 1.0 }));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Reference
/// \[AG17\] Agrawal, Goyal: Near-Optimal Regret Bounds for Thompson Sampling. Journal of the ACM,
/// 2017.
#[derive(Clone, Debug)]
pub struct BetaThompson {
    model: ArmMeans,
    sampled: Vec<f64>,
}

impl BetaThompson {
    /// Thompson sampling over `arms` arms with rewards in `[0, 1]`.
    ///
    /// # Panics
    /// If there is no arm.
    pub fn new(arms: usize) -> Self {
        Self { model: ArmMeans::new(arms), sampled: Vec::new() }
    }
}

impl Policy for BetaThompson {
    fn select(&mut self, actions: Actions<'_>, rng: &mut Stream) -> ActionIndex {
        let (counts, totals) = (self.model.counts(), self.model.totals());
        let (known, offered) = (counts.len(), actions.len());
        assert!(known == offered, "a model of {known} arms was asked about {offered}");
        self.sampled.clear();
        self.sampled.extend(counts.iter().zip(totals).map(|(&count, total)| {
            // Rewards are at most 1, and so is the sum of each with its rounding.
            rng.beta(1.0 + total, 1.0 + (count as f64 - total))
        }));
        argmax(&self.sampled)
    }

    fn reward_range(&self) -> Option<(f64, f64)> {
        Some((0.0, 1.0))
    }

    /// # Panics
    /// Also if the reward is not in `[0, 1]`; [`Explain::try_update`] returns an error instead.
    fn update(&mut self, action: Action<'_>, reward: f64) {
        assert_taken(self, reward);
        self.model.update(action, reward);
    }
}

impl Explain for BetaThompson {
    fn model(&self) -> &dyn Estimator {
        &self.model
    }
}

impl Keep for BetaThompson {
    const KIND: &'static str = "beta-thompson";

    fn write(&self, out: &mut Writer) {
        self.model.write(out);
    }

    fn read(&mut self, from: &mut Reader<'_>) -> Result<(), StateError> {
        let mut model = self.model.clone();
        model.read(from)?;
        let mut arms = model.counts().iter().zip(model.totals());
        holds("totals", arms.all(|(count, total)| (0.0..=*count as f64).contains(total)))?;
        self.model = model;
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

    #[test]
    fn arms_are_taken_with_the_probability_of_being_best() {
        let arms = ActionSet::arms(2).unwrap();
        let mut policy = BetaThompson::new(2);
        // Posteriors Beta(3, 2) and Beta(1, 2). P(first > second) is the integral of the density
        // 12·x²·(1 − x) times the distribution function 1 − (1 − x)²: 12·∫ 2x³ − 3x⁴ + x⁵ = 12·(1/2
        // − 3/5 + 1/6) = 0.8.
        for (arm, reward) in [(0, 1.0), (0, 0.5), (0, 0.5), (1, 0.0)] {
            policy.update(arms.view().get(arm), reward);
        }
        let draws = 200_000;
        let mut rng = Stream::new(6, 0, "policy");
        let first = (0..draws).filter(|_| policy.select(arms.view(), &mut rng) == 0).count() as f64;
        let sd = (f64::from(draws) * 0.8 * 0.2).sqrt();
        // Binomial: beyond 5 sd with probability 6e-7.
        assert!((first - f64::from(draws) * 0.8).abs() < 5.0 * sd, "{first}");
        // Without the prior's success and failure of the second arm, which then always fails, or
        // with the second arm unknown (Beta(1, 1): the mean 0.6 of the first), it would be noticed.
        for wrong in [1.0, 0.6] {
            assert!((first - f64::from(draws) * wrong).abs() > 5.0 * sd);
        }
    }

    #[test]
    #[should_panic(expected = "reward must be from 0 to 1, got -0.5")]
    fn a_reward_outside_the_range_is_refused() {
        let arms = ActionSet::arms(2).unwrap();
        BetaThompson::new(2).update(arms.view().get(0), -0.5);
    }
}
