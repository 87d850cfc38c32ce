//! Policies as data: all that their next choices depend on beside their parameters and the
//! randomness they are given.
//!
//! [`Durable::state`] writes a policy down, and [`Durable::restore`] reads it back into a fresh one
//! of the same parameters, which then goes on as if nothing had happened, to the last bit. What can
//! be computed again to the bit is left out; scores are kept, because they follow rewards by steps
//! and a fresh pass over the set would round differently.
//!
//! Action sets are not part of a state. Whoever keeps one hands over the sets that may be offered
//! again, and a state speaks of them by their place in that list; what a policy remembers of any
//! other set can never be used again and is left out. With the feature `serde` a state can be
//! written in any of its formats; a field that is missing there is an error, also one that may be
//! null.
//!
//! ```
//! use plausibly::state::Durable;
//! use plausibly::{ActionSet, Fixed, LinUcb, Policy, Ridge, Stream};
//! let set = ActionSet::from_rows(&[[1.0, 0.0], [0.6, 0.8]])?;
//! let fresh = || LinUcb::new(Ridge::new(2, 1.0).unwrap(), Fixed { sqrt_beta: 1.0 });
//! let (mut policy, mut rng) = (fresh(), Stream::new(7, 0, "policy"));
//! let chosen = policy.select(set.view(), &mut rng);
//! policy.update(set.view().get(chosen), 0.5);
//!
//! let state = policy.state(&[set.view()]);
//! let mut again = fresh();
//! again.restore(state, &[set.view()])?;
//! assert_eq!(again.select(set.view(), &mut rng), policy.select(set.view(), &mut rng));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use crate::actions::{ActionIndex, Actions, SetId};
use crate::estimator::{Estimator, Whole};
use crate::policy::{DeadlineOutcome, Explain};
use thiserror::Error;

/// A policy that can be written down and read back.
pub trait Durable: Explain {
    /// All that its next choices depend on, with `sets` those that may be offered again.
    fn state(&self, sets: &[Actions<'_>]) -> PolicyState;

    /// Goes on from a state of a policy of the same kind and parameters. `sets` are those the state
    /// was taken with, in their order and with their rows; their identity may be another.
    ///
    /// # Errors
    /// If the state is not one of such a policy, or this one has learned something already. It is
    /// unchanged then.
    fn restore(&mut self, state: PolicyState, sets: &[Actions<'_>]) -> Result<(), StateError>;

    /// Whether it would choose otherwise, by rounding or by promise, if it were offered the rows of
    /// this set under another identity. A set it does not remember can be left out of a state.
    fn remembers(&self, set: SetId) -> bool;
}

/// An estimator that can be written down and read back.
pub trait DurableModel: Estimator + Clone {
    /// All that its estimates depend on, with `sets` those that may be offered again.
    fn state(&self, sets: &[Actions<'_>]) -> ModelState;

    /// A model of the same parameters as this one, with the data of a state.
    ///
    /// # Errors
    /// If the state is not one of such a model.
    fn restored(&self, state: ModelState, sets: &[Actions<'_>]) -> Result<Self, StateError>;

    /// Whether its scores of the set's rows would be others, by rounding, under another identity.
    fn remembers(&self, set: SetId) -> bool;

    /// Whether an action that a state speaks of is one it could learn from.
    fn takes(&self, index: ActionIndex, features: &[f64]) -> bool;
}

/// Why a state was refused.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum StateError {
    /// Of another kind of policy or model, or of one with other parameters.
    #[error(
        "the state is not one of this kind of policy with these parameters: {what} does not fit"
    )]
    Kind {
        /// What does not fit.
        what: &'static str,
    },
    /// A list of another length than the parameters ask for.
    #[error("{what} must have {expected} entries, and has {found}")]
    Length {
        /// Which list.
        what: &'static str,
        /// How many entries it must have.
        expected: usize,
        /// How many it has.
        found: usize,
    },
    /// A number that no policy comes to.
    #[error("{what} holds a number that no policy comes to")]
    Number {
        /// Where it stands.
        what: &'static str,
    },
    /// A set that was not handed over.
    #[error("the state speaks of action set {set}, and there are {sets}")]
    Set {
        /// Its place.
        set: usize,
        /// Sets handed over.
        sets: usize,
    },
    /// The policy has learned something already.
    #[error("a state is for a fresh policy, and this one has learned from {observations} rewards")]
    NotFresh {
        /// From how much.
        observations: u64,
    },
}

/// A policy's state.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct PolicyState {
    /// What it has learned.
    pub model: ModelState,
    /// What it keeps beside it.
    pub own: OwnState,
}

/// What a policy keeps beside its model.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case", deny_unknown_fields))]
pub enum OwnState {
    /// Nothing: [`crate::LinUcb`], [`crate::Ucb1`], [`crate::Thompson`].
    Nothing,
    /// [`crate::Code`], also randomised.
    Code {
        /// Decisions outstanding; `None` if they do not count.
        #[cfg_attr(feature = "serde", serde(deserialize_with = "serde::Deserialize::deserialize"))]
        pending: Option<PendingState>,
        /// Its deadline, if it has one.
        #[cfg_attr(feature = "serde", serde(deserialize_with = "serde::Deserialize::deserialize"))]
        deadline: Option<DeadlineState>,
    },
    /// [`crate::LinTs`].
    Sampler {
        /// The Cholesky factor of `V` as rank-one steps have left it: `Lᵀ`, row-major.
        factor: Vec<f64>,
        /// The set of the last round.
        #[cfg_attr(feature = "serde", serde(deserialize_with = "serde::Deserialize::deserialize"))]
        offered: Option<usize>,
        /// No list of contenders is asked for before so many rewards.
        not_before: u64,
    },
    /// [`crate::Elimination`].
    Phase(Option<PhaseState>),
    /// [`crate::EpsilonGreedy`] and [`crate::ExploreThenCommit`].
    Rounds {
        /// Decisions taken.
        decisions: u64,
        /// The model it has committed to.
        #[cfg_attr(feature = "serde", serde(deserialize_with = "serde::Deserialize::deserialize"))]
        committed: Option<Box<ModelState>>,
    },
}

/// A model's state.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
pub enum ModelState {
    /// Of [`crate::Ridge`].
    Features(Box<RidgeState>),
    /// Of [`crate::ArmMeans`].
    Arms(ArmState),
}

/// State of [`crate::Ridge`]. Matrices are row-major.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct RidgeState {
    /// Rewards learned from.
    pub observations: u64,
    /// Of these, since `V⁻¹` was last computed from `V`.
    pub since_refactor: u64,
    /// `V`, of which what is below the diagonal means nothing.
    pub gram: SumState,
    /// `b`.
    pub moment: SumState,
    /// `V⁻¹`, as rank-one steps have left it.
    pub gram_inverse: Vec<f64>,
    /// `θ̂`, as rank-one steps have left it.
    pub theta_hat: Vec<f64>,
    /// `log(det V/λᵈ)` when `V⁻¹` was last computed.
    pub log_det_at_refactor: f64,
    /// By what factor `det V` has grown since.
    pub det_growth: f64,
    /// The diagonal that was added to a `V` singular to working precision; empty if none was, and
    /// `None` in states written before it was recorded.
    #[cfg_attr(feature = "serde", serde(default))]
    pub floor: Option<Vec<f64>>,
    /// What has happened since scores were last made anew.
    pub unscored: UnscoredState,
    /// Whether bounds on later scores can be relied on.
    pub steady: bool,
    /// Which actions of a set can matter for a while.
    pub shortlist: ShortlistState,
    /// What sets that were never seen are sieved by.
    pub sieve: SieveState,
    /// How scores in single precision are used.
    pub rough: RoughState,
    /// Which set was offered last; `None` if it cannot be offered again.
    #[cfg_attr(feature = "serde", serde(deserialize_with = "serde::Deserialize::deserialize"))]
    pub offered: Option<usize>,
    /// The last rank-one step; `None` where scores have to be made anew.
    #[cfg_attr(feature = "serde", serde(deserialize_with = "serde::Deserialize::deserialize"))]
    pub step: Option<StepState>,
    /// Scores of the set that was scored last.
    #[cfg_attr(feature = "serde", serde(deserialize_with = "serde::Deserialize::deserialize"))]
    pub scores: Option<ScoresState>,
}

/// What has happened since scores were last made anew.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct UnscoredState {
    /// By what factor `det V` has grown; the largest number where it is beyond any.
    pub growth: f64,
    /// Trace of `V` then.
    pub trace: f64,
    /// Trace of `V⁻¹` then.
    pub trace_inverse: f64,
    /// The largest `tr V·tr V⁻¹` since.
    #[cfg_attr(feature = "serde", serde(default = "any_condition"))]
    pub condition: f64,
}

/// A state written before conditions were recorded: scores are recomputed at the next
/// refactorisation.
#[cfg(feature = "serde")]
fn any_condition() -> f64 {
    f64::MAX
}

/// Which actions of a set can matter for a while, and when to look for them.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct ShortlistState {
    /// `G/√β` of the next list.
    pub ratio: f64,
    /// No list is tried before so many rewards.
    pub not_before: u64,
    /// The list there is.
    #[cfg_attr(feature = "serde", serde(deserialize_with = "serde::Deserialize::deserialize"))]
    pub list: Option<ListState>,
}

/// What sets that were never seen are sieved by.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct SieveState {
    /// A bound on squared widths: one factor for each squared feature; empty if there is none yet.
    pub limits: Vec<f64>,
    /// After how many rewards it was made.
    pub made_at: u64,
    /// No set is sieved before so many.
    pub not_before: u64,
}

/// How scores in single precision are used.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct RoughState {
    /// How many actions were scored in double since all were.
    pub spent: usize,
    /// They are not used before so many rewards.
    pub not_before: u64,
    /// The action whose bound others are compared with.
    pub leader: ActionIndex,
}

/// A list of actions that can matter.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct ListState {
    /// Scores of the listed, of which set, after how many rewards.
    pub scores: ScoresState,
    /// Whether the largest upper bound alone is sought.
    pub largest_upper: bool,
    /// The listed.
    pub actions: Vec<ActionIndex>,
    /// After how many rewards it was made.
    pub made_at: u64,
    /// From where its drift is measured.
    pub origin: OriginState,
    /// `G`.
    pub ceiling: f64,
    /// How far the estimate may move; `None` for as far as the ceiling allows.
    #[cfg_attr(feature = "serde", serde(deserialize_with = "serde::Deserialize::deserialize"))]
    pub leeway: Option<f64>,
    /// What the upper bound of no action off the list reaches.
    pub beyond: f64,
    /// How far it has moved, at most.
    pub drift: f64,
    /// From where the drift of all actions' scores is measured.
    pub base_origin: OriginState,
    /// Means of all actions then.
    pub base_mean: Vec<f64>,
    /// Widths of all actions then.
    pub base_width: Vec<f64>,
}

/// A moment to measure drift from.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct OriginState {
    /// `θ̂` then.
    pub theta_hat: Vec<f64>,
    /// `V` then.
    pub gram: Vec<f64>,
}

/// A sum with the rounding of its additions carried along.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct SumState {
    /// The sums.
    pub sum: Vec<f64>,
    /// What rounding has lost of each.
    pub carry: Vec<f64>,
}

/// A rank-one step of `V⁻¹`.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct StepState {
    /// Along what.
    pub direction: Vec<f64>,
    /// What it added to `θ̂` along it.
    pub gain: f64,
}

/// Scores of a set.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct ScoresState {
    /// Which of the sets.
    pub set: usize,
    /// After how many rewards.
    pub observations: u64,
    /// `⟨a, θ̂⟩` of each action.
    pub mean: Vec<f64>,
    /// `‖a‖²_{V⁻¹}` of each action.
    pub width_sq: Vec<f64>,
    /// How far off the first can be, followed in single precision …
    pub mean_off: f64,
    /// … and the second.
    pub width_sq_off: f64,
}

/// State of [`crate::ArmMeans`].
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct ArmState {
    /// How often each arm was taken.
    pub counts: Vec<u64>,
    /// What it paid in all.
    pub totals: Vec<f64>,
    /// What these arms are part of.
    pub whole: Whole,
}

/// Decisions whose rewards are outstanding.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct PendingState {
    /// Oldest first: the place of the action in its set, and its features.
    pub decisions: Vec<(ActionIndex, Vec<f64>)>,
    /// The model with all of them counted; `None` where it is to be made anew.
    #[cfg_attr(feature = "serde", serde(deserialize_with = "serde::Deserialize::deserialize"))]
    pub design: Option<Box<ModelState>>,
    /// Whether `design` counts decisions that are not in the list.
    pub unlisted: bool,
}

/// What became of a deadline.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct DeadlineState {
    /// Whether a set was offered.
    pub begun: bool,
    /// The first of them; `None` if it cannot be offered again.
    #[cfg_attr(feature = "serde", serde(deserialize_with = "serde::Deserialize::deserialize"))]
    pub set: Option<usize>,
    /// Whether no other set was offered since, and the end could be foreseen on it.
    pub foreseen: bool,
    /// Whether it was promised.
    pub promised: bool,
    /// Whether it was met, once that is known.
    #[cfg_attr(feature = "serde", serde(deserialize_with = "serde::Deserialize::deserialize"))]
    pub met: Option<bool>,
    /// The actions of the first set that were plausible all along.
    pub survivors: Vec<ActionIndex>,
}

/// A phase of [`crate::Elimination`], as [`crate::Phase`] describes it.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct PhaseState {
    /// Its number, from 1.
    pub number: u32,
    /// The actions not yet dropped.
    pub survivors: Vec<ActionIndex>,
    /// Of each action: how often it was taken, how many rewards have come, and their sum.
    pub plays: Vec<(u64, u64, f64)>,
    /// What follows from it on the set it is played on.
    #[cfg_attr(feature = "serde", serde(deserialize_with = "serde::Deserialize::deserialize"))]
    pub playing: Option<PlayingState>,
}

/// A phase on the set it is played on.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct PlayingState {
    /// How often each action is still to be played.
    pub quota: Vec<(ActionIndex, u64)>,
    /// Coordinates in the span of the survivors.
    pub span: SpanState,
    /// The features that plays of each action are counted with, by row.
    pub rows: Vec<f64>,
    /// `Σ x·xᵀ` of what was seen with other features, in these coordinates.
    pub gram: Vec<f64>,
    /// `Σ x·y` of it.
    pub moment: Vec<f64>,
}

/// A basis of the span of some actions.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct SpanState {
    /// What each feature is multiplied by.
    pub scale: Vec<f64>,
    /// Orthonormal vectors, one a row.
    pub basis: Vec<f64>,
    /// The actions whose combinations are the coordinates, in that basis.
    pub triangle: Vec<f64>,
}

impl OwnState {
    /// For policies that keep nothing beside their model.
    pub(crate) fn is_nothing(&self) -> Result<(), StateError> {
        match self {
            Self::Nothing => Ok(()),
            _ => Err(StateError::Kind { what: "what it keeps beside its model" }),
        }
    }
}

impl DeadlineState {
    pub(crate) fn outcome(&self) -> DeadlineOutcome {
        match self.met {
            None => DeadlineOutcome::Open,
            Some(true) => DeadlineOutcome::Met,
            Some(false) => DeadlineOutcome::Missed,
        }
    }
}

/// Which of `sets` this is.
pub(crate) fn place(sets: &[Actions<'_>], id: SetId) -> Option<usize> {
    sets.iter().position(|set| set.id() == id)
}

/// The set at a place.
pub(crate) fn at<'a>(sets: &[Actions<'a>], set: usize) -> Result<Actions<'a>, StateError> {
    sets.get(set).copied().ok_or(StateError::Set { set, sets: sets.len() })
}

/// A list of finite numbers of this length.
pub(crate) fn numbers(what: &'static str, list: &[f64], expected: usize) -> Result<(), StateError> {
    if list.len() != expected {
        return Err(StateError::Length { what, expected, found: list.len() });
    }
    holds(what, list.iter().all(|x| x.is_finite()))
}

/// Counts that a policy can come to: beyond this they are no longer exact as numbers, and sums of
/// them may overflow.
const MOST: u64 = 1 << 53;

/// Counts that no sum of which overflows.
pub(crate) fn counts(
    what: &'static str,
    list: impl IntoIterator<Item = u64>,
) -> Result<u64, StateError> {
    let mut list = list.into_iter();
    let sum = list.try_fold(0_u64, |sum, count| sum.checked_add(count).filter(|sum| *sum <= MOST));
    sum.ok_or(StateError::Number { what })
}

/// Something that is so in every policy.
pub(crate) fn holds(what: &'static str, is_so: bool) -> Result<(), StateError> {
    if is_so { Ok(()) } else { Err(StateError::Number { what }) }
}

/// That a policy has learned nothing yet.
pub(crate) fn fresh(model: &dyn Estimator) -> Result<(), StateError> {
    match model.evidence().observations {
        0 => Ok(()),
        observations => Err(StateError::NotFresh { observations }),
    }
}
