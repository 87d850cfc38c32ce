//! LinUCB: optimism in the face of uncertainty.

use super::{Explain, Policy};
use crate::actions::{Action, ActionIndex, Actions, SetId};
use crate::confidence::{ConfidenceRadius, Pick, Reach, accepted};
use crate::estimator::{Estimator, Ridge, Sought};
use crate::rng::Stream;
use crate::state::{Durable, DurableModel, OwnState, PolicyState, StateError, fresh};

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
/// On a fixed set O(d²) a round and O(d) for each of the [contenders](crate::Contenders), O(K·d)
/// while those are many. On changing sets O(K·d) and O(d²) for each contender, O(K·d²) while those
/// are many. No allocation but for lists of contenders that are longer than any before; no draws.
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
    pick: Pick,
}

impl<E: Estimator, R: ConfidenceRadius> LinUcb<E, R> {
    /// LinUCB with this model and radius.
    ///
    /// # Panics
    /// If a constant of the radius is out of range ([`ConfidenceRadius::check`]).
    pub fn new(model: E, radius: R) -> Self {
        let radius = accepted(radius);
        Self { model, radius, pick: Pick::new() }
    }
}

impl<E: Estimator, R: ConfidenceRadius> Policy for LinUcb<E, R> {
    fn select(&mut self, actions: Actions<'_>, _: &mut Stream) -> ActionIndex {
        let reach = self.radius.reach(&self.model.evidence());
        let contenders = self.model.contenders(actions, reach, Sought::LargestUpper);
        let scores = contenders.scores();
        let best = match reach {
            Reach::Ellipsoid { sqrt_beta } => self.pick.largest_upper(scores, sqrt_beta),
            Reach::Arms(arms) => {
                let upper =
                    |arm: ActionIndex| scores.mean[arm] + arms.half_width(scores.width_sq[arm]);
                let higher = |best, next| if upper(next) > upper(best) { next } else { best };
                (0..scores.mean.len()).reduce(higher).expect("a set is never empty")
            }
        };
        contenders.index(best)
    }

    fn update(&mut self, action: Action<'_>, reward: f64) {
        self.model.update(action, reward);
    }

    fn learned(&self) -> Option<&Ridge> {
        self.model.as_ridge()
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

impl<E: DurableModel, R: ConfidenceRadius> Durable for LinUcb<E, R> {
    fn state(&self, sets: &[Actions<'_>]) -> PolicyState {
        PolicyState { model: self.model.state(sets), own: OwnState::Nothing }
    }

    fn restore(&mut self, state: PolicyState, sets: &[Actions<'_>]) -> Result<(), StateError> {
        fresh(&self.model)?;
        state.own.is_nothing()?;
        self.model = self.model.restored(state.model, sets)?;
        Ok(())
    }

    fn remembers(&self, set: SetId) -> bool {
        self.model.remembers(set)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::actions::ActionSet;
    use crate::confidence::Fixed;
    use crate::estimator::{Ridge, Scores};

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
