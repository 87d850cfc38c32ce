//! UCB1 for K-armed problems.

use super::{Explain, Policy, PolicyError, argmax, check_noise_scale};
use crate::actions::{Action, ActionIndex, Actions};
use crate::confidence::ConfidenceRadius;
use crate::estimator::{ArmMeans, Estimator};
use crate::explain::Explanation;
use crate::rng::Stream;

/// Takes the arm with the largest upper confidence bound, each arm once first.
///
/// ```text
/// A_t = argmax_a mean(a) + σ·√(2·log t/T(a))
/// ```
///
/// # Parameters
/// | name | symbol | range |
/// | --- | --- | --- |
/// | `arms` | `K` | ≥ 1 |
/// | `noise_scale` | `σ` | > 0; 1 gives the index as printed |
///
/// # Guarantee
/// `R_n = O(Σ log n/Δ_a)` for rewards in `[0, 1]` at `σ = 1` (Theorem 1 of \[ACF02\]).
///
/// # Cost
/// O(K) a round; no draws.
///
/// # Example
/// ```
/// use plausibly::{ActionSet, Policy, Stream, Ucb1};
/// let arms = ActionSet::arms(2)?;
/// let mut policy = Ucb1::new(2, 1.0)?;
/// assert_eq!(policy.select(arms.view(), &mut Stream::new(1, 0, "policy")), 0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Reference
/// \[ACF02\] Auer, Cesa-Bianchi, Fischer: Finite-time Analysis of the Multiarmed Bandit Problem. Machine Learning, 2002.
#[derive(Clone, Debug)]
pub struct Ucb1 {
    model: ArmMeans,
    noise_scale: f64,
    index: Vec<f64>,
}

impl Ucb1 {
    /// UCB1 over `arms` arms.
    ///
    /// # Errors
    /// If `noise_scale` is not positive and finite.
    ///
    /// # Panics
    /// If there is no arm.
    pub fn new(arms: usize, noise_scale: f64) -> Result<Self, PolicyError> {
        check_noise_scale(noise_scale)?;
        Ok(Self { model: ArmMeans::new(arms), noise_scale, index: Vec::new() })
    }
}

impl Policy for Ucb1 {
    fn select(&mut self, actions: Actions<'_>, _: &mut Stream) -> ActionIndex {
        let round = self.model.evidence().observations + 1;
        // At round 1 the logarithm is 0 and 0·∞ would be NaN; any positive scale ranks untaken arms first.
        let scale = self.noise_scale * (2.0 * libm::log(round.max(2) as f64)).sqrt();
        let scores = self.model.scores(actions);
        self.index.clear();
        self.index.extend(
            scores
                .mean()
                .iter()
                .zip(scores.width_sq())
                .map(|(mean, width_sq)| mean + scale * width_sq.sqrt()),
        );
        argmax(&self.index)
    }

    fn update(&mut self, action: Action<'_>, reward: f64) {
        self.model.update(action, reward);
    }
}

impl Explain for Ucb1 {
    fn radius(&self) -> Option<&dyn ConfidenceRadius> {
        None
    }

    fn explain(&self, actions: Actions<'_>, radius: &dyn ConfidenceRadius, out: &mut Explanation) {
        out.fill(&self.model, radius, actions);
    }
}
