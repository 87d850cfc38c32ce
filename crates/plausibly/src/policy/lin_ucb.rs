//! LinUCB: optimism in the face of uncertainty.

use super::{Explain, Policy, assert_outcome};
use crate::actions::{Action, ActionIndex, Actions};
use crate::arms::ArmMove;
use crate::confidence::{ConfidenceRadius, accepted};
use crate::model::{Estimator, Outcome};
use crate::rng::Stream;
use crate::search::Search;
use crate::state::{DurableModel, Keep, Reader, StateError, Writer};

/// Takes the action with the largest upper confidence bound.
///
/// ```text
/// A_t = argmax_a ⟨a, θ̂⟩ + √β·‖a‖_{V⁻¹}
/// ```
///
/// # Parameters
/// | name | symbol | range |
/// | --- | --- | --- |
/// | `model` | `V`, `θ̂` | any [`Estimator`]; over [`crate::ArmMeans`] it is a K-armed UCB |
/// | `radius` | `√β_t(δ)` | any [`ConfidenceRadius`] |
///
/// # Guarantee
/// With a valid radius the regret of a round is at most `2·√β·‖A_t‖_{V⁻¹}` and `R_n = Õ(d·√n)`
/// (Theorem 3 of \[AYPS11\]).
///
/// # Cost
/// That of [`Search`]; no draws.
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
pub struct LinUcb<E, R> {
    model: E,
    radius: R,
    search: Search,
}

impl<E: Estimator, R: ConfidenceRadius> LinUcb<E, R> {
    /// LinUCB with this model and radius.
    ///
    /// # Panics
    /// If a constant of the radius is out of range ([`ConfidenceRadius::check`]).
    pub fn new(model: E, radius: R) -> Self {
        Self { model, radius: accepted(radius), search: Search::new() }
    }
}

impl<E: Estimator, R: ConfidenceRadius> Policy for LinUcb<E, R> {
    fn select(&mut self, actions: Actions<'_>, _: &mut Stream) -> ActionIndex {
        self.model.offered(actions);
        let bounds = self.radius.bounds(&self.model.evidence());
        // The largest upper bound is always plausible, unless a pair rules it out.
        self.search.best(&self.model, actions, bounds, 1.0)
    }

    fn select_among(
        &mut self,
        actions: Actions<'_>,
        among: &[ActionIndex],
        _: &mut Stream,
    ) -> Option<ActionIndex> {
        let bounds = self.radius.bounds(&self.model.evidence());
        self.search.best_among(&self.model, actions, bounds, 1.0, among)
    }

    fn reward_range(&self) -> Option<(f64, f64)> {
        self.radius.range()
    }

    fn update(&mut self, action: Action<'_>, reward: f64) {
        self.learn(action, Outcome::from(reward));
    }

    fn learn(&mut self, action: Action<'_>, outcome: Outcome) {
        assert_outcome(&self.radius, outcome);
        self.model.learn(action, outcome);
    }
}

impl<E: Estimator, R: ConfidenceRadius> Explain for LinUcb<E, R> {
    fn model(&self) -> &dyn Estimator {
        &self.model
    }

    fn radius(&self) -> Option<&dyn ConfidenceRadius> {
        Some(&self.radius)
    }
}

impl<E: DurableModel, R: ConfidenceRadius + Clone> Keep for LinUcb<E, R> {
    const KIND: &'static str = "lin-ucb";

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
    use crate::confidence::Fixed;
    use crate::model::{Ridge, Scores};

    #[test]
    fn takes_the_largest_upper_bound() {
        let mut rng = Stream::new(1, 0, "problem");
        let set = ActionSet::from_flat((0..3 * 25).map(|_| rng.normal()).collect(), 3).unwrap();
        for sqrt_beta in [0.1, 1.0, 10.0] {
            let mut policy = LinUcb::new(Ridge::new(3, 1.0).unwrap(), Fixed { sqrt_beta });
            let mut differs_at_half = false;
            for _ in 0..100 {
                let mut scores = Scores::new();
                policy.model().score_into(set.view(), &mut scores);
                let upper = |i: usize, scale: f64| {
                    scores.mean()[i] + scale * sqrt_beta * scores.width_sq()[i].sqrt()
                };
                let best = |scale: f64| {
                    (0..25).fold(0, |a, b| if upper(b, scale) > upper(a, scale) { b } else { a })
                };
                let chosen = policy.select(set.view(), &mut rng);
                assert_eq!(chosen, best(1.0));
                // Half the width would choose otherwise now and then, and be noticed.
                differs_at_half |= best(0.5) != chosen;
                policy.update(set.view().get(chosen), rng.normal());
            }
            assert!(differs_at_half);
        }
    }
}
