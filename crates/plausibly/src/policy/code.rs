//! CODE: constrained optimal design.

use super::deadline::Deadline;
use super::pending::{Pending, best_by_design};
use super::{DeadlineStatus, Explain, Policy, PolicyError, Target, assert_outcome};
use crate::actions::{Action, ActionIndex, Actions};
use crate::arms::ArmMove;
use crate::confidence::{Bounds, ConfidenceRadius, Exclusion, Reach, accepted};
use crate::explain::Explanation;
use crate::model::{Estimator, Outcome, Scores};
use crate::rng::Stream;
use crate::search::Search;
use crate::state::{DurableModel, Keep, Reader, StateError, Writer};
use std::borrow::Cow;

/// Among the actions that could still be best, takes the one it knows least about.
///
/// ```text
/// Ã_t = {b : ⟨a − b, θ̂⟩ ≤ √β·‖a − b‖_{V⁻¹} for both witnesses a}
/// A_t = argmax_{a ∈ Ã_t} log det(V + a·aᵀ) = argmax_{a ∈ Ã_t} ‖a‖²_{V⁻¹}
/// ```
///
/// The witnesses are those of [`Exclusion::Differences`]. The paper compares intervals instead:
/// [`Code::excluding`].
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
/// Decisions passed to [`Policy::decided`] count at once in `V_all`, the matrix by which widths are
/// compared; the plausible set and explanations use rewards that have come. So decisions taken
/// before the first reward spread over the design instead of repeating one another.
/// The bound of a round becomes `4·r/(1+c·r)·√β·‖A_t‖_{V_all⁻¹}`, with `r` the largest factor by
/// which a pending decision shrinks the width of a plausible action, and `c` is capped at `1/r`:
/// `docs/concepts/pending.md`.
///
/// # Cost
/// That of [`Search`], and O(d²) for each plausible action while decisions are pending or with a
/// deadline. No draws.
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
    /// `None` if decisions on their way do not count.
    pending: Option<Pending<E>>,
    search: Search,
    by_design: Scores,
}

impl<E: Estimator + Clone, R: ConfidenceRadius> Code<E, R> {
    /// CODE with this model and radius.
    ///
    /// # Panics
    /// If a constant of the radius is out of range ([`ConfidenceRadius::check`]).
    pub fn new(model: E, radius: R) -> Self {
        Self {
            model,
            radius: accepted(radius),
            greed: 0.0,
            target: None,
            deadline: None,
            pending: Some(Pending::new()),
            search: Search::new(),
            by_design: Scores::new(),
        }
    }

    /// Finds choices by this search; the choices are the same by every search.
    #[must_use]
    pub fn searching(self, search: Search) -> Self {
        let exclusion = self.search.exclusion();
        Self { search: search.excluding(exclusion), ..self }
    }

    /// Rules actions out by this comparison; by differences unless you say otherwise. With a
    /// deadline it stays with intervals, which its promise rests on.
    #[must_use]
    pub fn excluding(self, exclusion: Exclusion) -> Self {
        let exclusion = if self.deadline.is_some() { Exclusion::Intervals } else { exclusion };
        Self { search: self.search.excluding(exclusion), ..self }
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
    /// If the target is not positive, or has a deadline although the radius is one for bounded arms
    /// or of a [`Glm`](crate::Glm): how long their intervals will be depends on rewards to come.
    pub fn to_target(self, target: Target) -> Result<Self, PolicyError> {
        let reach = self.radius.reach(&self.model.evidence());
        let unforeseen = matches!(reach, Reach::Bounded(_) | Reach::Curved(_));
        let deadline = match target.checked()? {
            Target::Deadline { .. } if unforeseen => return Err(PolicyError::BoundedDeadline),
            Target::Deadline { accuracy, by_round } => Some(Deadline::new(accuracy, by_round)),
            Target::Kappa(_) | Target::Accuracy(_) => None,
        };
        let exclusion = self.search.exclusion();
        Ok(Self { target: Some(target), deadline, ..self }.excluding(exclusion))
    }

    /// With decisions outstanding of which only their design is known: the model with all of them
    /// counted.
    #[must_use]
    pub fn with_design(self, design: E) -> Self {
        Self { pending: Some(Pending::counted(design)), ..self }
    }

    /// Begins with what an explanation of its model under its radius said, which saves a first
    /// choice among the same actions from working it out again.
    #[must_use]
    pub(crate) fn recalling(mut self, explained: &Explanation) -> Self {
        self.search.recall(&self.model, explained);
        self
    }

    /// Explores by rewards that have come alone: decisions taken while they are outstanding repeat
    /// one another. Here to be compared with.
    #[must_use]
    pub fn ignoring_pending(self) -> Self {
        Self { pending: None, ..self }
    }
}

impl<E: Estimator + Clone, R: ConfidenceRadius> Code<E, R> {
    /// The plausible action with the largest `greed·mean + half-width`. While decisions are on
    /// their way, or the model counts some that its estimate does not know yet, half-widths are
    /// those of the design that counts them.
    fn best(&mut self, actions: Actions<'_>, bounds: Bounds, greed: f64) -> ActionIndex {
        let Self { model, search, by_design, .. } = self;
        let design = self.pending.as_mut().and_then(|pending| pending.design(model)).map(|it| &*it);
        if let (None, Reach::Curved(_), true) = (design, bounds.reach, greed == 0.0) {
            return search.widest_by_design(model, actions, bounds);
        }
        let own = || model.design().map(|_| &*model);
        let Some(design) = design.or_else(own) else {
            return search.best(model, actions, bounds, greed);
        };
        let (few, plausible) = search.plausible(model, actions, bounds);
        few.score_by(design, actions, by_design);
        few.indices()[best_by_design(plausible, few.scores(), by_design, bounds.reach, greed)]
    }

    /// The widest plausible action, if this round explores: always at greed 0, and with a target
    /// while that is missed.
    pub(super) fn explore(&mut self, actions: Actions<'_>, bounds: Bounds) -> Option<ActionIndex> {
        if self.deadline.is_some() {
            return self.explore_to_deadline(actions, bounds);
        }
        if self.target.is_none() && self.greed > 0.0 {
            return None;
        }
        let widest = self.best(actions, bounds, 0.0);
        let Some(target) = self.target else { return Some(widest) };
        let Self { model, search, by_design, .. } = self;
        let design = self.pending.as_mut().and_then(|pending| pending.design(model));
        let counted = design.map_or(&*model, |design| design);
        if let Reach::Curved(_) = bounds.reach {
            let (few, plausible) = search.plausible(model, actions, bounds);
            few.score_by(counted, actions, by_design);
            let known = plausible.least_known(few.scores(), by_design.width_sq());
            let (gain, half_width) = known.expect("the reach is curved");
            let met = target.status(gain, half_width, &counted.evidence()).met();
            return (!met).then_some(widest);
        }
        let width_sq = search.width_sq(counted, actions, widest);
        let half_width = match bounds.reach {
            // Pending decisions have no rewards to make an interval from.
            Reach::Bounded(bounded) => bounded.half_width(model, widest),
            reach => reach.half_width(width_sq),
        };
        let met = target.status(width_sq, half_width, &counted.evidence()).met();
        (!met).then_some(widest)
    }

    /// A deadline keeps a set of its own, so every plausible action is scored.
    fn explore_to_deadline(&mut self, actions: Actions<'_>, bounds: Bounds) -> Option<ActionIndex> {
        let Self { model, search, by_design, .. } = self;
        let deadline = self.deadline.as_mut()?;
        deadline.offered(model, &self.radius, actions);
        let (few, plausible) = search.plausible(model, actions, bounds);
        let design = self.pending.as_mut().and_then(|pending| pending.design(model));
        let counted = design.map_or(&*model, |design| design);
        few.score_by(counted, actions, by_design);
        deadline.explore(few, plausible, by_design, bounds.reach, &counted.evidence())
    }

    /// The model with pending decisions counted; `None` where none is pending or none counts.
    pub(super) fn design(&self) -> Option<Cow<'_, E>> {
        self.pending.as_ref().and_then(|pending| pending.shown(&self.model))
    }

    /// Shows the model the actions of a round.
    pub(super) fn offered(&mut self, actions: Actions<'_>) {
        self.model.offered(actions);
    }

    pub(super) fn bounds(&self) -> Bounds {
        self.radius.bounds(&self.model.evidence())
    }

    /// The greed of rounds that do not explore.
    fn greed_when_met(&self) -> f64 {
        if self.target.is_some() { 1.0 } else { self.greed }
    }

    /// Every plausible action, in place of what `out` held; they ascend.
    pub(super) fn plausible_into(&mut self, actions: Actions<'_>, out: &mut Vec<ActionIndex>) {
        let bounds = self.bounds();
        let (few, plausible) = self.search.plausible(&self.model, actions, bounds);
        let could_be_best = |(position, _): &(usize, _)| plausible.contains(*position);
        out.clear();
        out.extend(few.indices().iter().enumerate().filter(could_be_best).map(|(_, index)| *index));
    }
}

impl<E: Estimator + Clone, R: ConfidenceRadius> Policy for Code<E, R> {
    fn select(&mut self, actions: Actions<'_>, _: &mut Stream) -> ActionIndex {
        self.model.offered(actions);
        let bounds = self.bounds();
        self.explore(actions, bounds)
            .unwrap_or_else(|| self.best(actions, bounds, self.greed_when_met()))
    }

    fn select_among(
        &mut self,
        actions: Actions<'_>,
        among: &[ActionIndex],
        _: &mut Stream,
    ) -> Option<ActionIndex> {
        let (bounds, greed) = (self.bounds(), self.greed_when_met());
        self.search.best_among(&self.model, actions, bounds, greed, among)
    }

    fn reward_range(&self) -> Option<(f64, f64)> {
        self.radius.range()
    }

    fn update(&mut self, action: Action<'_>, reward: f64) {
        self.learn(action, Outcome::from(reward));
    }

    fn learn(&mut self, action: Action<'_>, outcome: Outcome) {
        assert_outcome(&self.radius, outcome);
        let generation = self.model.generation();
        self.model.learn(action, outcome);
        let started_again = self.model.generation() != generation;
        match &mut self.pending {
            Some(pending) if outcome.further => pending.learned(action),
            Some(pending) => pending.settle(action),
            None => {}
        }
        if let Some(pending) = self.pending.as_mut().filter(|_| started_again) {
            pending.start_again();
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
}

impl<E: Estimator + Clone, R: ConfidenceRadius> Explain for Code<E, R> {
    fn model(&self) -> &dyn Estimator {
        &self.model
    }

    fn radius(&self) -> Option<&dyn ConfidenceRadius> {
        Some(&self.radius)
    }

    fn exclusion(&self) -> Exclusion {
        self.search.exclusion()
    }

    fn target(&self) -> Option<Target> {
        self.target
    }

    fn deadline(&self) -> Option<DeadlineStatus> {
        self.deadline.as_ref().map(Deadline::status)
    }
}

impl<E: DurableModel, R: ConfidenceRadius + Clone> Keep for Code<E, R> {
    const KIND: &'static str = "code";

    fn write(&self, out: &mut Writer) {
        self.model.write(out);
        out.flag(self.pending.is_some());
        if let Some(pending) = &self.pending {
            pending.write(out);
        }
        out.flag(self.deadline.is_some());
        if let Some(deadline) = &self.deadline {
            deadline.write(out);
        }
    }

    fn read(&mut self, from: &mut Reader<'_>) -> Result<(), StateError> {
        let fresh = self.model.clone();
        self.model.read(from)?;
        if from.flag("pending")? != self.pending.is_some() {
            return Err(StateError::Kind { what: "whether pending decisions count" });
        }
        if let Some(pending) = &mut self.pending {
            pending.read(from, &fresh)?;
        }
        if from.flag("deadline")? != self.deadline.is_some() {
            return Err(StateError::Kind { what: "the deadline" });
        }
        let Some(deadline) = &mut self.deadline else { return Ok(()) };
        deadline.read(from, &fresh, &self.radius)
    }

    fn move_arms(&mut self, moved: &mut ArmMove<'_>) {
        self.model.move_arms(moved, false);
        if let Some(pending) = &mut self.pending {
            pending.move_arms(moved);
        }
        if let Some(deadline) = &mut self.deadline {
            deadline.forget_set();
        }
    }
}
