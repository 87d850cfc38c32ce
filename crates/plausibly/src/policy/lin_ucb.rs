//! LinUCB: optimism in the face of uncertainty.

use super::{Explain, Policy};
use crate::actions::{Action, ActionIndex, Actions};
use crate::confidence::ConfidenceRadius;
use crate::estimator::{Estimator, Ridge, Scores};
use crate::explain::Explanation;
use crate::rng::Stream;

/// Takes the action with the largest upper confidence bound.
///
/// ```text
/// A_t = argmax_a ⟨a, θ̂⟩ + √β·‖a‖_{V⁻¹}
/// ```
///
/// # Parameters
/// | name | symbol | range |
/// | --- | --- | --- |
/// | `model` | `V`, `θ̂` | ridge > 0 |
/// | `radius` | `√β_t(δ)` | any [`ConfidenceRadius`] |
///
/// # Guarantee
/// With a valid radius the regret of a round is at most `2·√β·‖A_t‖_{V⁻¹}` and `R_n = Õ(d·√n)` (Theorem 3 of \[AYPS11\]).
///
/// # Cost
/// O(K·d) a round on a fixed set, O(K·d²) otherwise; no allocation; no draws.
///
/// # Example
/// ```
/// use plausibly::{ActionSet, Fixed, LinUcb, Policy, Ridge, Stream};
/// let set = ActionSet::from_rows(&[[1.0, 0.0], [0.0, 2.0]])?;
/// let mut policy = LinUcb::new(Ridge::new(2, 1.0)?, Fixed { sqrt_beta: 1.0 });
/// assert_eq!(policy.select(set.view(), &mut Stream::new(1, 0, "policy")), 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Reference
/// Dani, Hayes, Kakade (2008); \[AYPS11\] Abbasi-Yadkori, Pál, Szepesvári (2011).
#[derive(Clone, Debug)]
pub struct LinUcb<R> {
    model: Ridge,
    radius: R,
}

impl<R: ConfidenceRadius> LinUcb<R> {
    /// LinUCB with this model and radius.
    pub fn new(model: Ridge, radius: R) -> Self {
        Self { model, radius }
    }
}

/// The action with the largest `mean + √β·√width_sq`, the lowest index among equals.
fn most_optimistic(scores: &Scores, sqrt_beta: f64) -> ActionIndex {
    let best = scores.isa.largest_upper(&scores.mean, &scores.width_sq, sqrt_beta);
    let uppers =
        scores.mean.iter().zip(&scores.width_sq).map(|(mean, width_sq)| mean + sqrt_beta * width_sq.sqrt());
    uppers.enumerate().find(|(_, upper)| *upper >= best).expect("the largest bound is attained").0
}

impl<R: ConfidenceRadius> Policy for LinUcb<R> {
    fn select(&mut self, actions: Actions<'_>, _: &mut Stream) -> ActionIndex {
        let sqrt_beta = self.radius.sqrt_beta(&self.model.evidence());
        most_optimistic(self.model.scores(actions), sqrt_beta)
    }

    fn update(&mut self, action: Action<'_>, reward: f64) {
        self.model.update(action, reward);
    }
}

impl<R: ConfidenceRadius> Explain for LinUcb<R> {
    fn radius(&self) -> Option<&dyn ConfidenceRadius> {
        Some(&self.radius)
    }

    fn explain(&self, actions: Actions<'_>, radius: &dyn ConfidenceRadius, out: &mut Explanation) {
        out.fill(&self.model, radius, actions);
    }
}
