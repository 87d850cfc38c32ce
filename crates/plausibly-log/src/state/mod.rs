//! The state of a log: a function of its events, applied one after the other. An event that cannot
//! follow is refused and leaves the state unchanged, so a state is always that of a valid log.

mod basis;
mod bell;
mod decisions;
mod error;
mod grounds;
mod kept;
mod keys;
mod needs;
mod outcomes;
mod parts;
mod phases;
mod request_rows;
mod requests;
mod rows;
mod step;
mod window;

pub(crate) use basis::{About, Lent, Offer};
pub use error::StepError;
pub use grounds::Occasion;
pub(crate) use kept::{Kept, Waiting};
pub use keys::REMEMBERED_KEYS;
pub use needs::Line;
pub(crate) use needs::Needs;
pub use requests::check_by;
pub(crate) use requests::check_request;
pub(crate) use rows::Rows;
pub use step::check_key;
pub use window::LONGEST_WINDOW;

use crate::certificate::Amended;
use crate::event::{Cells, Event, Outcomes, Upgraded};
use crate::policy::{PolicyTable, natural_ridge, read_settled, setting};
use crate::recipe::{Context, Recipe};
use crate::reward::Reward;
use crate::statistics::Statistics;
use decisions::Decisions;
use keys::Keys;
use parts::Parts;
use phases::Phases;
use plausibly::spec::PolicySpec;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::Arc;
use window::Windowed;

/// The outcome of a decision.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Outcome {
    /// The reward has not come yet.
    Pending,
    /// The reward came.
    Settled {
        /// The reward.
        reward: Reward,
        /// The line that recorded it.
        seq: u64,
    },
    /// The reward will never come.
    Dropped {
        /// The line that recorded it.
        seq: u64,
    },
}

impl Outcome {
    /// The outcome of a decision after the event of this line; `None` for events of other kinds.
    pub(crate) fn recorded(seq: u64, event: &Event) -> Option<Self> {
        Some(match event {
            Event::Rewarded { reward, of, .. } | Event::Corrected { reward, of, .. } => {
                Self::Settled { reward: Reward { value: *reward, of: *of }, seq }
            }
            Event::Dropped { .. } => Self::Dropped { seq },
            Event::Retracted { .. } | Event::Undropped { .. } => Self::Pending,
            _ => return None,
        })
    }

    /// Whether the reward will never come.
    pub(crate) fn is_dropped(self) -> bool {
        matches!(self, Self::Dropped { .. })
    }

    /// Whether it is this reward, to the bit.
    pub(crate) fn is_reward(self, reward: Reward) -> bool {
        matches!(self, Self::Settled { reward: own, .. } if own.is(reward))
    }
}

/// A decision.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Decision {
    /// The number of the chosen action.
    pub action: u64,
    /// The number of the set it was chosen from.
    pub set: u64,
    /// Decisions one after the other in the same context have the same number.
    run: u32,
    /// When it was taken, in microseconds since 1970.
    pub at_us: i64,
    /// The line that recorded it.
    pub seq: u64,
    /// The number of bytes of the log before that line.
    begin: u64,
    /// Its outcome.
    pub outcome: Outcome,
}

/// An action.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ActionRecord {
    /// Its name.
    pub label: String,
    /// Its row.
    pub cells: Cells,
    /// Whether it is retired.
    pub retired: bool,
    /// Whether a decision has chosen it.
    taken: bool,
}

/// Everything that the lines of a log say up to one of them. Equal logs give equal states, to the
/// bit.
#[derive(Clone, Debug, PartialEq)]
pub struct State {
    format: u32,
    /// The log of an earlier format that this one continues.
    upgraded: Option<Upgraded>,
    policy: PolicySpec,
    table: PolicyTable,
    reward_range: (f64, f64),
    outcomes: Outcomes,
    amended: Amended,
    horizon: Option<u64>,
    seed: u64,
    recipe: Recipe,
    /// The number of features that the log began with.
    first_dim: usize,
    /// The bound on the norm of θ* that the features of then imply, for rewards scaled to a range
    /// of length one.
    first_bound: f64,
    /// The number of features that the recipe may grow to, if the log says one.
    growth: Option<u64>,
    actions: Vec<ActionRecord>,
    live: BTreeMap<String, u64>,
    sets: Vec<Arc<[u64]>>,
    /// The first set of the same actions.
    set_of: BTreeMap<Arc<[u64]>, u64>,
    /// The set of the last decision.
    last_set: Option<u64>,
    /// The context of the last decision.
    last_context: Context,
    decisions: Decisions,
    keys: Keys,
    /// Whether decisions are refused for now.
    paused: bool,
    /// What has come before and after deadlines, in a log with a window.
    windowed: Option<Windowed>,
    seen: Seen,
    statistics: Statistics,
    /// What each row of features has paid, while that is asked for.
    rows: Option<Rows>,
    committed: Option<Committed>,
    phases: Option<Phases>,
    parts: Parts,
    /// The line that last changed the policy, what an outcome is, or the features.
    terms_at: u64,
    /// The line that last changed the sums over settled decisions, or how they are read.
    settled_at: u64,
}

/// What has ever come in this log.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq, Serialize)]
#[serde(deny_unknown_fields)]
struct Seen {
    /// A count of outcomes.
    counts: bool,
    /// A decision about another set than the first.
    other_sets: bool,
    /// A decision with rows of its own.
    own_rows: bool,
}

/// The sums that explore-then-commit committed to.
#[derive(Clone, Debug, PartialEq)]
struct Committed {
    /// The sums contain the rewards before this line.
    seq: u64,
    statistics: Statistics,
}

/// Read access.
impl State {
    /// The policy that takes the decisions.
    pub fn policy(&self) -> (&PolicySpec, &PolicyTable) {
        (&self.policy, &self.table)
    }

    /// A policy with every field filled in by the rules of a format, for the actions of this log.
    pub(crate) fn resolved(
        &self,
        policy: &PolicyTable,
        horizon: Option<u64>,
        rules: u32,
    ) -> Result<(PolicySpec, PolicyTable), StepError> {
        // Sums and certificates depend on the ridge, so a log keeps the one it began with.
        let own = |spec: &PolicySpec| {
            if self.policy.is_bell() || self.policy.link().is_some() {
                // It has none, or its own.
                natural_ridge(spec, &self.recipe, self.reward_range)
            } else {
                self.policy.ridge()
            }
        };
        Ok(read_settled(policy, setting(self.recipe.dim()), horizon, rules, own)?)
    }

    /// Whether this policy and horizon differ from the current ones.
    ///
    /// # Errors
    /// If it cannot decide here.
    pub fn would_change(
        &self,
        policy: &PolicyTable,
        horizon: Option<u64>,
    ) -> Result<bool, StepError> {
        let (_, table) = self.resolved(policy, horizon, self.rules())?;
        Ok(table != self.table || horizon != self.horizon)
    }

    /// The format that the log began with.
    pub fn format(&self) -> u32 {
        self.format
    }

    /// The log of an earlier format that this one continues.
    pub fn upgraded(&self) -> Option<&Upgraded> {
        self.upgraded.as_ref()
    }

    /// The smallest and the largest reward there can be.
    pub fn reward_range(&self) -> (f64, f64) {
        self.reward_range
    }

    /// What an outcome is.
    pub fn outcomes(&self) -> Outcomes {
        self.outcomes
    }

    /// The number of decisions expected in all, if it was given.
    pub fn horizon(&self) -> Option<u64> {
        self.horizon
    }

    /// The seed of all randomness.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// How rows become features.
    pub fn recipe(&self) -> &Recipe {
        &self.recipe
    }

    /// All actions ever added, by number.
    pub fn actions(&self) -> &[ActionRecord] {
        &self.actions
    }

    /// The number of the action with this name that is not retired.
    pub fn live(&self, label: &str) -> Option<u64> {
        self.live.get(label).copied()
    }

    /// The names of all actions that are not retired, in their order.
    pub(crate) fn live_labels(&self) -> impl Iterator<Item = &str> {
        self.live.keys().map(String::as_str)
    }

    /// The numbers of all actions that are not retired, in the order of their names.
    pub(crate) fn live_actions(&self) -> impl Iterator<Item = u64> {
        self.live.values().copied()
    }

    /// An action.
    ///
    /// # Errors
    /// If there is no action of this number.
    pub(crate) fn action(&self, number: u64) -> Result<&ActionRecord, StepError> {
        at(&self.actions, "action", number)
    }

    /// The numbers of the actions of a set.
    ///
    /// # Errors
    /// If there is no set of this number.
    pub(crate) fn set(&self, number: u64) -> Result<&[u64], StepError> {
        at(&self.sets, "set", number).map(AsRef::as_ref)
    }

    /// All sets offered, by number.
    pub(crate) fn sets(&self) -> &[Arc<[u64]>] {
        &self.sets
    }

    /// The number of the first set of exactly these actions.
    pub(crate) fn set_of_these(&self, actions: &[u64]) -> Option<u64> {
        self.set_of.get(actions).copied()
    }

    /// The set of the last decision, with its number.
    pub fn last_set(&self) -> Option<(u64, &[u64])> {
        let set = self.last_set?;
        Some((set, self.set(set).ok()?))
    }

    /// The number of decisions.
    pub fn count_decisions(&self) -> u64 {
        self.decisions.len()
    }

    /// The decision that was taken with this key, if it has one of the last [`REMEMBERED_KEYS`].
    /// a milestone.
    pub fn decisions(&self) -> impl DoubleEndedIterator<Item = &Decision> {
        self.decisions.iter()
    }

    /// The last decision.
    pub fn last_decision(&self) -> Option<&Decision> {
        self.decisions.get(self.count_decisions())
    }

    /// The context of the last decision; empty if there is none.
    pub fn last_context(&self) -> &Context {
        &self.last_context
    }

    /// A decision.
    ///
    /// # Errors
    /// If there is no decision of this number.
    pub fn decision(&self, number: u64) -> Result<&Decision, StepError> {
        self.decisions.get(number).ok_or(StepError::Unknown { what: "decision", number })
    }

    /// The decision that was taken with this key, if it is one of the last [`REMEMBERED_KEYS`].
    pub fn decision_with_key(&self, key: &str) -> Option<u64> {
        self.keys.decision(key)
    }

    /// The label of the action that a decision chose.
    ///
    /// # Errors
    /// If there is no decision of this number.
    pub fn label_of(&self, decision: u64) -> Result<&str, StepError> {
        Ok(&self.action(self.decision(decision)?.action)?.label)
    }

    /// The context that a decision was taken in; `None` if it is settled, unless the state keeps
    /// all details.
    pub(crate) fn context(&self, decision: u64) -> Option<Context> {
        Some(self.decisions.details(decision)?.facts().context)
    }

    /// The pending decisions, the oldest first.
    pub fn pending(&self) -> impl Iterator<Item = u64> {
        self.decisions.pending()
    }

    /// Whether a decision is pending.
    pub(crate) fn is_pending(&self, decision: u64) -> bool {
        match self.decision(decision) {
            Ok(found) => found.outcome == Outcome::Pending,
            Err(_) => self.decisions.is_pending(decision) == Some(true),
        }
    }

    /// The number of pending decisions.
    pub fn count_pending(&self) -> u64 {
        self.decisions.count_pending() as u64
    }

    /// How much outcomes of the same action in the same context differ from their average: the
    /// standard deviation, in units of reward. `None` while no action has had two outcomes.
    pub fn scatter(&self) -> Option<f64> {
        let mut groups: BTreeMap<(u64, u32), (f64, f64, f64)> = BTreeMap::new();
        for decision in self.decisions() {
            let Outcome::Settled { reward, .. } = decision.outcome else { continue };
            let value = reward.average(self.reward_range);
            let (count, mean, squares) = groups.entry((decision.action, decision.run)).or_default();
            // Running moments, which do not cancel.
            *count += 1.0;
            let off = value - *mean;
            *mean += off / *count;
            *squares += off * (value - *mean);
        }
        let freedom: f64 = groups.values().map(|(count, ..)| count - 1.0).sum();
        let squares: f64 = groups.values().map(|(.., squares)| squares).sum();
        (freedom > 0.0).then(|| (squares / freedom).sqrt())
    }

    /// The line that last changed the policy, what an outcome is, or the features. While it is the
    /// same, decisions are taken on the same terms.
    pub(crate) fn terms_at(&self) -> u64 {
        self.terms_at
    }

    /// The line that last changed what settled decisions say. While it is the same, only pending
    /// decisions and the actions on offer differ.
    pub(crate) fn settled_at(&self) -> u64 {
        self.settled_at
    }

    /// The exact sums.
    pub fn statistics(&self) -> &Statistics {
        &self.statistics
    }

    /// SHA-256 of the exact sums, in hexadecimal. Equal statistics have equal digests.
    pub fn digest(&self) -> String {
        self.statistics.digest(self.rules())
    }
}

pub(super) fn index(number: u64) -> usize {
    usize::try_from(number).expect("numbers count what is in memory")
}

fn at<'a, T>(items: &'a [T], what: &'static str, number: u64) -> Result<&'a T, StepError> {
    let found = usize::try_from(number).ok().and_then(|at| items.get(at));
    found.ok_or(StepError::Unknown { what, number })
}
