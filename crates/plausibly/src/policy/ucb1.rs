//! UCB1 for K-armed problems.

use super::{Explain, LinUcb, Policy, PolicyError, check_noise_scale};
use crate::actions::{Action, ActionIndex, Actions};
use crate::arms::ArmMove;
use crate::confidence::ConfidenceRadius;
use crate::model::{ArmMeans, Estimator, Evidence};
use crate::rng::Stream;
use crate::state::{Keep, Reader, StateError, Writer};

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
/// \[ACF02\] Auer, Cesa-Bianchi, Fischer: Finite-time Analysis of the Multiarmed Bandit Problem.
/// Machine Learning, 2002.
#[derive(Clone, Debug)]
pub struct Ucb1 {
    by_index: LinUcb<ArmMeans, LogRound>,
}

/// `√β_t = σ·√(2·log t)`: the index as a radius over `1/√T(a)`.
#[derive(Clone, Copy, Debug)]
struct LogRound {
    noise_scale: f64,
}

impl ConfidenceRadius for LogRound {
    fn sqrt_beta(&self, evidence: &Evidence) -> f64 {
        // In round 1 the logarithm is 0, and 0 times the infinite width of an untaken arm is no
        // number; any positive radius puts untaken arms first.
        let round = (evidence.observations + 1).max(2);
        self.noise_scale * (2.0 * libm::log(round as f64)).sqrt()
    }
}

impl Ucb1 {
    /// UCB1 over `arms` arms.
    ///
    /// # Errors
    /// If `noise_scale` is not between 1e-50 and 1e50.
    ///
    /// # Panics
    /// If there is no arm.
    pub fn new(arms: usize, noise_scale: f64) -> Result<Self, PolicyError> {
        Self::over(ArmMeans::new(arms), noise_scale)
    }

    /// UCB1 that goes on from this model.
    ///
    /// # Errors
    /// If `noise_scale` is not between 1e-50 and 1e50.
    pub fn over(model: ArmMeans, noise_scale: f64) -> Result<Self, PolicyError> {
        check_noise_scale(noise_scale)?;
        Ok(Self { by_index: LinUcb::new(model, LogRound { noise_scale }) })
    }
}

impl Policy for Ucb1 {
    fn select(&mut self, actions: Actions<'_>, rng: &mut Stream) -> ActionIndex {
        self.by_index.select(actions, rng)
    }

    fn select_among(
        &mut self,
        actions: Actions<'_>,
        among: &[ActionIndex],
        rng: &mut Stream,
    ) -> Option<ActionIndex> {
        self.by_index.select_among(actions, among, rng)
    }

    fn update(&mut self, action: Action<'_>, reward: f64) {
        self.by_index.update(action, reward);
    }
}

impl Explain for Ucb1 {
    fn model(&self) -> &dyn Estimator {
        self.by_index.model()
    }

    fn radius(&self) -> Option<&dyn ConfidenceRadius> {
        self.by_index.radius()
    }
}

impl Keep for Ucb1 {
    const KIND: &'static str = "ucb1";

    fn write(&self, out: &mut Writer) {
        self.by_index.write(out);
    }

    fn read(&mut self, from: &mut Reader<'_>) -> Result<(), StateError> {
        self.by_index.read(from)
    }

    fn move_arms(&mut self, moved: &mut ArmMove<'_>) {
        self.by_index.move_arms(moved);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::actions::ActionSet;

    #[test]
    fn takes_the_largest_index() {
        let arms = ActionSet::arms(4).unwrap();
        let mut policy = Ucb1::new(4, 0.5).unwrap();
        let mut rng = Stream::new(1, 0, "noise");
        let (mut counts, mut totals) = ([0.0; 4], [0.0; 4]);
        let mut differs = false;
        for round in 1..=400_u32 {
            let index = |a: usize, constant: f64| {
                totals[a] / counts[a] + 0.5 * (constant * f64::from(round).ln() / counts[a]).sqrt()
            };
            let best = |constant| {
                (0..4).fold(0, |a, b| if index(b, constant) > index(a, constant) { b } else { a })
            };
            let chosen = policy.select(arms.view(), &mut rng);
            if round <= 4 {
                assert_eq!(chosen, round as usize - 1, "each arm once first");
            } else {
                assert_eq!(chosen, best(2.0), "round {round}");
                // Another constant would choose otherwise now and then, and be noticed.
                differs |= best(8.0) != chosen;
            }
            let reward = 0.2 * chosen as f64 + 0.5 * rng.normal();
            policy.update(arms.view().get(chosen), reward);
            counts[chosen] += 1.0;
            totals[chosen] += reward;
        }
        assert!(differs);
    }
}
