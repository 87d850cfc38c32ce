//! CODE: constrained optimal design.

use super::deadline::Deadline;
use super::pending::{Pending, tempered_by_design};
use super::{DeadlineStatus, Explain, Policy, PolicyError, Target};
use crate::actions::{Action, ActionIndex, Actions, SetId};
use crate::confidence::{ConfidenceRadius, Pick, Plausible, Reach, accepted};
use crate::estimator::{Contenders, Estimator, Ridge, Sought};
use crate::rng::Stream;
use crate::state::{Durable, DurableModel, OwnState, PolicyState, StateError, fresh};

/// Among the actions that could still be best, takes the one it knows least about.
///
/// ```text
/// Ã_t = {a : ⟨a, θ̂⟩ + √β·‖a‖_{V⁻¹} ≥ max_b ⟨b, θ̂⟩ − √β·‖b‖_{V⁻¹}}
/// A_t = argmax_{a ∈ Ã_t} log det(V + a·aᵀ) = argmax_{a ∈ Ã_t} ‖a‖²_{V⁻¹}
/// ```
///
/// Over [`crate::Ridge`] this is linear CODE (Algorithm 1), for fixed and changing sets. Over
/// [`crate::ArmMeans`] it is K-armed CODE (Section 4): the least-taken plausible arm, each arm once
/// first.
///
/// # Parameters
/// | name | symbol | range |
/// | --- | --- | --- |
/// | `model` | `V`, `θ̂` | any [`Estimator`] |
/// | `radius` | `√β_t(δ)` | any [`ConfidenceRadius`] |
/// | `greed` | `c` | 0 (the default) to 1; see [`Code::tempered`] |
/// | `target` | `κ` or `ε` | none (the default) or positive; see [`Code::to_target`] |
///
/// # Guarantee
/// While the radius is a valid confidence set, the regret of a round is at most
/// `4/(1+c)·√β·‖A_t‖_{V⁻¹}` and, for `c < 1`, every plausible action is at most `(1+c)/(1−c)` times
/// as wide as the one taken; so `R_n = Õ(d·√n)` and `Q_n = Õ(d²)`. At `c = 0` this is Theorem 2 of
/// \[MZK\] with its constant corrected; the rest is ours. Proofs in `docs/concepts/tempered.md`.
///
/// # Late rewards
/// Decisions told to [`Policy::decided`] count in the matrix that widths are compared by, `V_all`,
/// at once; the plausible set, and everything shown, is by rewards that have come. So decisions
/// taken before the first reward is back spread over the design instead of repeating one another.
/// The bound of a round becomes `4·r/(1+c·r)·√β·‖A_t‖_{V_all⁻¹}`, with `r` the largest factor by
/// which a pending decision shrinks the width of a plausible action, and `c` is capped at `1/r`:
/// `docs/concepts/pending.md`.
///
/// # Cost
/// On a fixed set O(d²) a round and O(d) for each of the [contenders](crate::Contenders), which are
/// few once much is known; O(K·d) until then, and O(K·d) twice while decisions are pending. On
/// changing sets O(K·d) and O(d²) for each contender, O(K·d²) while those are many. No allocation
/// but for lists of contenders that are longer than any before; no draws.
///
/// # Example
/// ```
/// use plausibly::{ActionSet, Code, Determinant, Policy, Ridge, Stream};
/// let set = ActionSet::from_rows(&[[1.0, 0.0], [0.0, 1.0], [0.7, 0.7]])?;
/// let radius = Determinant { delta: 0.05, noise_scale: 0.1, theta_norm_bound: 1.0 };
/// let mut code = Code::new(Ridge::new(2, 1.0)?, radius);
/// let mut rng = Stream::new(1, 0, "policy");
/// for _ in 0..50 {
///     let chosen = code.select(set.view(), &mut rng);
///     let action = set.view().get(chosen);
///     code.update(action, 0.2 * action.features()[0] + 0.9 * action.features()[1]);
/// }
/// assert_eq!(code.select(set.view(), &mut rng), 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Reference
/// \[MZK\] Mukherjee, Zhu, Kveton: Efficient and Interpretable Bandit Algorithms, Sections 3–5.
#[derive(Clone, Debug)]
pub struct Code<E, R> {
    model: E,
    radius: R,
    greed: f64,
    target: Option<Target>,
    deadline: Option<Deadline>,
    /// `None` if they shall not count.
    pending: Option<Pending<E>>,
    plausible: Plausible,
    pick: Pick,
}

impl<E: Estimator + Clone, R: ConfidenceRadius> Code<E, R> {
    /// CODE with this model and radius.
    ///
    /// # Panics
    /// If a constant of the radius is out of range ([`ConfidenceRadius::check`]).
    pub fn new(model: E, radius: R) -> Self {
        let (radius, pending) = (accepted(radius), Some(Pending::new()));
        Self {
            model,
            radius,
            greed: 0.0,
            target: None,
            deadline: None,
            pending,
            plausible: Plausible::new(),
            pick: Pick::new(),
        }
    }

    /// Tempered: among the plausible actions takes the one with the largest `c·⟨a, θ̂⟩ +
    /// √β·‖a‖_{V⁻¹}`, for a greed `c` from 0 (CODE) to 1 (LinUCB with this radius, whose choice is
    /// always plausible).
    ///
    /// # Errors
    /// If `greed` is not in [0, 1].
    pub fn tempered(self, greed: f64) -> Result<Self, PolicyError> {
        if (0.0..=1.0).contains(&greed) {
            Ok(Self { greed, ..self })
        } else {
            Err(PolicyError::Greed { greed })
        }
    }

    /// To a target: explores as CODE while the target is missed, and plays greed 1 where it is met.
    /// Whatever greed was set is not used. Proofs of what this costs and saves are in
    /// `docs/concepts/targets.md`.
    ///
    /// # Errors
    /// If the target is not positive.
    pub fn to_target(self, target: Target) -> Result<Self, PolicyError> {
        let deadline = match target.checked()? {
            Target::Deadline { accuracy, by_round } => Some(Deadline::new(accuracy, by_round)),
            Target::Kappa(_) | Target::Accuracy(_) => None,
        };
        Ok(Self { target: Some(target), deadline, ..self })
    }

    /// With decisions outstanding of which only their design is known: the model with all of them
    /// counted.
    #[must_use]
    pub fn with_design(self, design: E) -> Self {
        Self { pending: Some(Pending::counted(design)), ..self }
    }

    /// Explores by rewards that have come alone: decisions taken while they are outstanding repeat
    /// one another. Here to be compared with.
    #[must_use]
    pub fn ignoring_pending(self) -> Self {
        Self { pending: None, ..self }
    }
}

impl<E: Estimator, R: ConfidenceRadius> Code<E, R> {
    /// Who could still be best.
    pub(super) fn assess(&mut self, actions: Actions<'_>) -> (Contenders<'_>, &Plausible) {
        let reach = self.radius.reach(&self.model.evidence());
        let contenders = self.model.contenders(actions, reach, Sought::Plausible);
        self.plausible.assess(contenders.scores(), reach);
        (contenders, &self.plausible)
    }
}

impl<E: Estimator + Clone, R: ConfidenceRadius> Code<E, R> {
    /// With decisions outstanding or a deadline. A deadline keeps a set of its own, and the widths
    /// of a design are compared with those of the model: both by index, so all actions are scored.
    fn select_among_all(&mut self, actions: Actions<'_>) -> ActionIndex {
        let Self { model, radius, plausible, .. } = self;
        if let Some(deadline) = &mut self.deadline {
            deadline.offered(model, radius, actions);
        }
        let evidence = model.evidence();
        let reach = radius.reach(&evidence);
        let design = self.pending.as_mut().and_then(|pending| pending.design(model));
        let late = design.is_some();
        let scores = model.scores(actions);
        plausible.assess(scores, reach);
        // Without decisions outstanding the model is its own design.
        let (evidence, design) = match design {
            Some(design) => (design.evidence(), design.scores(actions)),
            None => (evidence, scores),
        };
        let greed = match (self.target, &mut self.deadline) {
            (None, _) if self.greed > 0.0 => self.greed,
            (_, Some(deadline)) => {
                match deadline.explore(plausible, scores, design, reach, &evidence) {
                    Some(widest) => return widest,
                    None => 1.0,
                }
            }
            (target, None) => {
                let widest = plausible.widest_by(scores, &design.width_sq);
                match target.map(|target| target.status(design.width_sq[widest], reach, &evidence))
                {
                    Some(status) if status.met() => 1.0,
                    _ => return widest,
                }
            }
        };
        if late {
            tempered_by_design(plausible, scores, design, reach, greed)
        } else {
            plausible.tempered(scores, greed)
        }
    }
}

impl<E: Estimator + Clone, R: ConfidenceRadius> Policy for Code<E, R> {
    fn select(&mut self, actions: Actions<'_>, _: &mut Stream) -> ActionIndex {
        if self.deadline.is_some()
            || self.pending.as_ref().is_some_and(|pending| !pending.is_empty())
        {
            return self.select_among_all(actions);
        }
        let Self { model, radius, plausible, .. } = self;
        let evidence = model.evidence();
        let reach = radius.reach(&evidence);
        let one = self.greed == 0.0 && self.target.is_none();
        let sought = if one { Sought::Widest } else { Sought::Plausible };
        let contenders = model.contenders(actions, reach, sought);
        let scores = contenders.scores();
        let greed = match self.target {
            None if self.greed > 0.0 => self.greed,
            target => {
                let widest = match reach {
                    Reach::Ellipsoid { sqrt_beta } => self.pick.widest_plausible(scores, sqrt_beta),
                    Reach::Arms(_) => {
                        plausible.assess(scores, reach);
                        plausible.widest(scores)
                    }
                };
                match target.map(|target| target.status(scores.width_sq[widest], reach, &evidence))
                {
                    Some(status) if status.met() => 1.0,
                    _ => return contenders.index(widest),
                }
            }
        };
        plausible.assess(scores, reach);
        contenders.index(plausible.tempered(scores, greed))
    }

    fn update(&mut self, action: Action<'_>, reward: f64) {
        self.model.update(action, reward);
        if let Some(pending) = &mut self.pending {
            pending.settle(action);
        }
    }

    fn decided(&mut self, action: Action<'_>) {
        if let Some(pending) = &mut self.pending {
            pending.push(action);
        }
    }

    fn dropped(&mut self, action: Action<'_>) {
        if let Some(pending) = &mut self.pending {
            pending.drop(action);
        }
    }

    fn learned(&self) -> Option<&Ridge> {
        self.model.as_ridge()
    }
}

impl<E: Estimator + Clone, R: ConfidenceRadius> Explain for Code<E, R> {
    fn model(&self) -> &dyn Estimator {
        &self.model
    }

    fn radius(&self) -> Option<&dyn ConfidenceRadius> {
        Some(&self.radius)
    }

    fn target(&self) -> Option<Target> {
        self.target
    }

    fn deadline(&self) -> Option<DeadlineStatus> {
        self.deadline.as_ref().map(Deadline::status)
    }
}

impl<E: DurableModel, R: ConfidenceRadius> Durable for Code<E, R> {
    fn state(&self, sets: &[Actions<'_>]) -> PolicyState {
        let pending = self.pending.as_ref().map(|pending| pending.state(sets));
        let deadline = self.deadline.as_ref().map(|deadline| deadline.state(sets));
        PolicyState { model: self.model.state(sets), own: OwnState::Code { pending, deadline } }
    }

    fn restore(&mut self, state: PolicyState, sets: &[Actions<'_>]) -> Result<(), StateError> {
        fresh(&self.model)?;
        let OwnState::Code { pending, deadline } = state.own else {
            return Err(StateError::Kind { what: "what it keeps beside its model" });
        };
        let pending = match (&self.pending, pending) {
            (Some(_), Some(pending)) => Some(Pending::restored(pending, &self.model, sets)?),
            (None, None) => None,
            _ => return Err(StateError::Kind { what: "whether pending decisions count" }),
        };
        let deadline = match (&self.deadline, deadline) {
            (Some(own), Some(deadline)) => {
                Some(own.restored(&deadline, &self.model, &self.radius, sets)?)
            }
            (None, None) => None,
            _ => return Err(StateError::Kind { what: "the deadline" }),
        };
        self.model = self.model.restored(state.model, sets)?;
        (self.pending, self.deadline) = (pending, deadline);
        Ok(())
    }

    fn remembers(&self, set: SetId) -> bool {
        self.model.remembers(set)
            || self.pending.as_ref().is_some_and(|pending| pending.remembers(set))
            || self.deadline.as_ref().is_some_and(|deadline| deadline.remembers(set))
    }
}
