//! Gaussian Thompson sampling for K-armed problems.

use super::{Explain, Policy, PolicyError, argmax, best_among, check_noise_scale};
use crate::actions::{Action, ActionIndex, Actions};
use crate::arms::ArmMove;
use crate::model::{ArmMeans, Estimator, Scores};
use crate::rng::Stream;
use crate::state::{DurableModel as _, Keep, Reader, StateError, Writer};

/// Samples a mean for each arm from its posterior and takes the largest, each arm once first.
///
/// ```text
/// μ̃(a) ~ N(mean(a), σ²/T(a))          A_t = argmax_a μ̃(a)
/// ```
///
/// Over [`crate::ArmRidges`] it is LinTS with one model per arm, in a context `x`:
/// `μ̃(a) ~ N(⟨x, θ̂_a⟩, σ²·xᵀV_a⁻¹x)`. Parameters of different arms are independent there, so
/// sampling the mean rewards in `x` gives the same distribution as sampling the parameters. LinTS
/// over a shared [`crate::Ridge`] is different, because its actions share parameters.
///
/// # Parameters
/// | name | symbol | range |
/// | --- | --- | --- |
/// | `arms` | `K` | ≥ 1 |
/// | `noise_scale` | `σ` | > 0 |
///
/// # Guarantee
/// `R_n = O(√(K·n·log K))` for rewards in `[0, 1]` at `σ = 1` (Theorem 1.3 of \[AG17\], with a
/// prior count of one); no bound on the model error.
///
/// # Cost
/// O(K) a round beside the scores; `K` normal draws, whatever was taken before.
///
/// # Example
/// ```
/// use plausibly::{ActionSet, Policy, Stream, Thompson};
/// let arms = ActionSet::arms(3)?;
/// let mut policy = Thompson::new(3, 1.0)?;
/// assert_eq!(policy.select(arms.view(), &mut Stream::new(1, 0, "policy")), 0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Reference
/// \[AG17\] Agrawal, Goyal: Near-Optimal Regret Bounds for Thompson Sampling. Journal of the ACM,
/// 2017.
#[derive(Clone, Debug)]
pub struct Thompson<E = ArmMeans> {
    model: E,
    noise_scale: f64,
    scores: Scores,
    sampled: Vec<f64>,
}

impl Thompson {
    /// Thompson sampling over `arms` arms.
    ///
    /// # Errors
    /// If `noise_scale` is not between 1e-50 and 1e50.
    ///
    /// # Panics
    /// If there is no arm.
    pub fn new(arms: usize, noise_scale: f64) -> Result<Self, PolicyError> {
        Self::over(ArmMeans::new(arms), noise_scale)
    }
}

impl<E: Estimator> Thompson<E> {
    /// Thompson sampling that goes on from this model.
    ///
    /// # Errors
    /// If `noise_scale` is not between 1e-50 and 1e50.
    pub fn over(model: E, noise_scale: f64) -> Result<Self, PolicyError> {
        check_noise_scale(noise_scale)?;
        Ok(Self { model, noise_scale, scores: Scores::new(), sampled: Vec::new() })
    }
}

impl<E: Estimator> Policy for Thompson<E> {
    fn select(&mut self, actions: Actions<'_>, rng: &mut Stream) -> ActionIndex {
        self.model.score_into(actions, &mut self.scores);
        let scores = &self.scores;
        self.sampled.clear();
        for (mean, width_sq) in scores.mean().iter().zip(scores.width_sq()) {
            let deviate = self.noise_scale * rng.normal();
            // An arm never taken has no posterior yet; it comes before all that have one.
            self.sampled.push(if width_sq.is_finite() {
                mean + deviate * width_sq.sqrt()
            } else {
                f64::INFINITY
            });
        }
        argmax(&self.sampled)
    }

    fn select_among(
        &mut self,
        _: Actions<'_>,
        among: &[ActionIndex],
        _: &mut Stream,
    ) -> Option<ActionIndex> {
        // By the means that were sampled for this round.
        best_among(among, |action| self.sampled[action])
    }

    fn update(&mut self, action: Action<'_>, reward: f64) {
        self.model.update(action, reward);
    }
}

impl<E: Estimator> Explain for Thompson<E> {
    fn model(&self) -> &dyn Estimator {
        &self.model
    }
}

impl Keep for Thompson {
    const KIND: &'static str = "thompson";

    fn write(&self, out: &mut Writer) {
        self.model.write(out);
    }

    fn read(&mut self, from: &mut Reader<'_>) -> Result<(), StateError> {
        self.model.read(from)
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
        // Posteriors N(0.3, 1/4) and N(0, 1/9): the first is larger with probability Φ(0.3/√(1/4 +
        // 1/9)).
        let arms = ActionSet::arms(2).unwrap();
        let mut policy = Thompson::new(2, 1.0).unwrap();
        for (arm, count, reward) in [(0, 4, 0.3), (1, 9, 0.0)] {
            for _ in 0..count {
                policy.update(arms.view().get(arm), reward);
            }
        }
        let draws = 200_000;
        let mut rng = Stream::new(6, 0, "policy");
        let first = (0..draws).filter(|_| policy.select(arms.view(), &mut rng) == 0).count() as f64;
        let p = 0.5 * libm::erfc(-0.3 / (2.0 * (1.0 / 4.0 + 1.0 / 9.0_f64)).sqrt());
        let sd = (f64::from(draws) * p * (1.0 - p)).sqrt();
        // Binomial: beyond 5 sd with probability 6e-7.
        assert!((first - f64::from(draws) * p).abs() < 5.0 * sd, "{first}");
        // A posterior of variance 1/T² in place of 1/T would have been noticed.
        let wrong = 0.5 * libm::erfc(-0.3 / (2.0 * (1.0 / 16.0 + 1.0 / 81.0_f64)).sqrt());
        assert!((first - f64::from(draws) * wrong).abs() > 5.0 * sd);
    }
}
