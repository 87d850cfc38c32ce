//! Insurance: any policy decides, and CODE explores where too little is known.

use super::{Code, Explain, Policy, PolicyError, Target, assert_taken, best_among};
use crate::actions::{Action, ActionIndex, Actions};
use crate::arms::ArmMove;
use crate::confidence::{ConfidenceRadius, Exclusion};
use crate::explain::Explanation;
use crate::model::{Estimator, Outcome, Scores};
use crate::rng::Stream;
use crate::state::{DurableModel, Keep, Reader, StateError, Writer};

/// Lets a policy decide among the plausible actions, and explores as CODE while one of these is
/// known too little.
///
/// ```text
/// some plausible a has ‖a‖²_{V⁻¹} > κ·d/t:  A_t = the widest plausible action, as CODE
/// otherwise:                                A_t = the choice of the policy inside, if plausible,
///                                                 else its best plausible action
/// ```
///
/// The policy inside can be any [`Policy`]. It learns every reward, also those of rounds that
/// explored. The model and the radius of the insurance are its own: what the policy inside
/// believes has no influence on the guarantee. If the policy inside wants an action that is ruled
/// out, [`Policy::select_among`] names another; a policy that does not rank actions gets the
/// plausible action with the largest estimate. [`Insured::last_decision`] says which of these
/// happened.
///
/// # Parameters
/// | name | symbol | range |
/// | --- | --- | --- |
/// | `inside` | | any [`Policy`] |
/// | `model` | `V`, `θ̂` | any [`Estimator`]; over [`crate::ArmMeans`] `d` is K and `‖a‖²` is `1/T(a)` |
/// | `radius` | `√β_t(δ)` | any [`ConfidenceRadius`] |
/// | `kappa` | `κ` | > 0; near 1 for verdicts, 4 for both, 10 to 30 for reward |
///
/// # Guarantee
/// While the radius is a valid confidence set, whatever the policy inside does: a round that does
/// not explore has a regret of at most `4·√(β_t·κ·d/t)`, and estimates of plausible actions have a
/// squared error of at most `β_t·κ·d/t`; rounds that explore have the bounds of [`Code`]. So
/// `R_n = Õ(d·√n)` and `Q_n = Õ(d²)` at a fixed κ. Proofs in `docs/concepts/insurance.md`.
///
/// # Late rewards
/// Pending decisions count in the widths and in `t` of the test, as in [`Code`]. Bounds of rounds
/// that do not explore then have the factor `r` by which pending decisions shrink the half-widths
/// of plausible actions.
///
/// # Cost
/// That of [`Search`](crate::search::Search), O(d²) for each plausible action in rounds that do not
/// explore, and the policy inside, which is not asked in rounds that explore.
///
/// # Example
/// ```
/// use plausibly::{ActionSet, Additive, Decider, Insured, LinTs, Policy, Ridge, Stream};
/// let set = ActionSet::from_rows(&[[1.0, 0.0], [0.0, 1.0], [0.7, 0.7]])?;
/// let radius = Additive { delta: 0.05, noise_scale: 0.1, theta_norm_bound: 1.0 };
/// let inside = LinTs::new(Ridge::new(2, 1.0)?, 0.1)?;
/// let mut policy = Insured::new(inside, Ridge::new(2, 0.02)?, radius, 4.0)?;
/// let mut rng = Stream::new(1, 0, "policy");
/// for _ in 0..50 {
///     let chosen = policy.select(set.view(), &mut rng);
///     policy.update(set.view().get(chosen), [0.2, 0.9, 0.5][chosen]);
/// }
/// assert_eq!(policy.select(set.view(), &mut rng), 1);
/// assert_eq!(policy.last_decision(), Some(Decider::Wrapped));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Reference
/// Ours; the exploring rounds are those of \[MZK\] Mukherjee, Zhu, Kveton: Efficient and
/// Interpretable Bandit Algorithms.
#[derive(Clone, Debug)]
pub struct Insured<P, E, R> {
    inside: P,
    /// To a target of κ; only its exploring rounds are played.
    code: Code<E, R>,
    last: Option<Decider>,
    /// Of the last round that did not explore.
    plausible: Vec<ActionIndex>,
    means: Scores,
}

/// Which part of [`Insured`] took a decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decider {
    /// CODE: a plausible action was known too little.
    Explored,
    /// The policy inside.
    Wrapped,
    /// The policy inside, after it wanted an action that is ruled out.
    WrappedAmongPlausible {
        /// That action.
        wanted: ActionIndex,
    },
}

impl<P: Policy, E: Estimator + Clone, R: ConfidenceRadius> Insured<P, E, R> {
    /// Insures a policy with this model and radius.
    ///
    /// # Errors
    /// If `kappa` is not above 0 and at most 1e50.
    ///
    /// # Panics
    /// If a constant of the radius is out of range ([`ConfidenceRadius::check`]).
    pub fn new(inside: P, model: E, radius: R, kappa: f64) -> Result<Self, PolicyError> {
        let code = Code::new(model, radius).to_target(Target::Kappa(kappa))?;
        Ok(Self { inside, code, last: None, plausible: Vec::new(), means: Scores::new() })
    }

    /// Rules actions out by this comparison; by differences unless you say otherwise.
    #[must_use]
    pub fn excluding(self, exclusion: Exclusion) -> Self {
        Self { code: self.code.excluding(exclusion), ..self }
    }

    /// With decisions outstanding of which only their design is known: the model with all of them
    /// counted.
    #[must_use]
    pub fn with_design(self, design: E) -> Self {
        Self { code: self.code.with_design(design), ..self }
    }

    /// As [`Code::recalling`].
    #[must_use]
    pub(crate) fn recalling(self, explained: &Explanation) -> Self {
        Self { code: self.code.recalling(explained), ..self }
    }

    /// Tests what is known by the rewards that have come alone, as [`Code::ignoring_pending`].
    #[must_use]
    pub fn ignoring_pending(self) -> Self {
        Self { code: self.code.ignoring_pending(), ..self }
    }

    /// The policy inside.
    pub fn inside(&self) -> &P {
        &self.inside
    }

    /// What took the last decision; `None` before the first, and after a state was restored.
    pub fn last_decision(&self) -> Option<Decider> {
        self.last
    }

    /// What the policy inside takes of the plausible actions, if it may not have what it wants.
    fn instead(&mut self, actions: Actions<'_>, rng: &mut Stream) -> ActionIndex {
        let Self { inside, code, plausible, means, .. } = self;
        let named = inside.select_among(actions, plausible, rng);
        let leader = || {
            code.model().means_into(actions, means);
            best_among(plausible, |action| means.mean[action])
        };
        // A policy from elsewhere may name an action that it was not offered.
        named
            .filter(|action| plausible.binary_search(action).is_ok())
            .or_else(leader)
            .expect("a plausible set is never empty")
    }
}

impl<P: Policy, E: Estimator + Clone, R: ConfidenceRadius> Policy for Insured<P, E, R> {
    fn select(&mut self, actions: Actions<'_>, rng: &mut Stream) -> ActionIndex {
        self.code.offered(actions);
        let bounds = self.code.bounds();
        if let Some(widest) = self.code.explore(actions, bounds) {
            self.last = Some(Decider::Explored);
            return widest;
        }
        self.code.plausible_into(actions, &mut self.plausible);
        let wanted = self.inside.select(actions, rng);
        if self.plausible.binary_search(&wanted).is_ok() {
            self.last = Some(Decider::Wrapped);
            return wanted;
        }
        self.last = Some(Decider::WrappedAmongPlausible { wanted });
        self.instead(actions, rng)
    }

    fn reward_range(&self) -> Option<(f64, f64)> {
        let (own, inside) = (self.code.reward_range(), self.inside.reward_range());
        let both = own.zip(inside).map(|(own, inside)| (own.0.max(inside.0), own.1.min(inside.1)));
        both.or(own).or(inside)
    }

    fn update(&mut self, action: Action<'_>, reward: f64) {
        self.learn(action, Outcome::from(reward));
    }

    fn learn(&mut self, action: Action<'_>, outcome: Outcome) {
        assert_taken(self, outcome.reward);
        self.code.learn(action, outcome);
        self.inside.learn(action, outcome);
    }

    fn decided(&mut self, action: Action<'_>) {
        self.code.decided(action);
        self.inside.decided(action);
    }

    fn dropped(&mut self, action: Action<'_>) {
        self.code.dropped(action);
        self.inside.dropped(action);
    }
}

impl<P: Policy, E: Estimator + Clone, R: ConfidenceRadius> Explain for Insured<P, E, R> {
    fn model(&self) -> &dyn Estimator {
        self.code.model()
    }

    fn radius(&self) -> Option<&dyn ConfidenceRadius> {
        self.code.radius()
    }

    fn exclusion(&self) -> Exclusion {
        self.code.exclusion()
    }

    fn target(&self) -> Option<Target> {
        self.code.target()
    }

    fn explain(
        &self,
        actions: Actions<'_>,
        radius: &dyn ConfidenceRadius,
        exclusion: Exclusion,
        out: &mut Explanation,
    ) {
        self.code.explain(actions, radius, exclusion, out);
        let design = self.code.design();
        let design = design.as_deref().map(|design| design as &dyn Estimator);
        out.note_insurance(self.code.target(), design, radius, actions);
    }
}

impl<P: Keep, E: DurableModel, R: ConfidenceRadius + Clone> Keep for Insured<P, E, R> {
    const KIND: &'static str = "insured";

    fn write(&self, out: &mut Writer) {
        self.code.write(out);
        out.text(P::KIND);
        self.inside.write(out);
    }

    fn read(&mut self, from: &mut Reader<'_>) -> Result<(), StateError> {
        self.last = None;
        self.code.read(from)?;
        from.text(P::KIND, "the policy inside")?;
        self.inside.read(from)
    }

    fn move_arms(&mut self, moved: &mut ArmMove<'_>) {
        self.code.move_arms(moved);
        self.inside.move_arms(moved);
    }
}
