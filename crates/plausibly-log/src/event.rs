//! The events of a log. Each is one line of the file, so this is the format: names and fields never
//! change, and [`FORMAT`] counts up if they must.
//!
//! Logs of earlier formats are read, and go on in their own format. Fields that an event may lack
//! are optional, and a later version may add more of them to format 2.

use crate::policy::PolicyTable;
use crate::recipe::{Context, Extension, Recipe};
use crate::time::Time;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;

/// The format of new logs.
pub const FORMAT: u32 = 2;
/// The first format. It has no keys, and its drops are final.
pub const FIRST_FORMAT: u32 = 1;
/// A key has at most this many bytes.
pub const LONGEST_KEY: usize = 256;
/// The name of who asks or records (`by`) has at most this many bytes.
pub const LONGEST_NAME: usize = 256;
/// The number of features that the recipe of a new log may grow to, unless the log says another.
pub const GROWTH: u64 = 64;

/// What an outcome of a log is. Other outcomes are refused, because they are probably mistakes.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcomes {
    /// A number in the range of rewards.
    #[default]
    Number,
    /// The smallest reward for a no, the largest for a yes.
    YesNo,
    /// How many of many were yes.
    Counts,
}

impl Outcomes {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "as serde calls it")]
    pub(crate) fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

impl fmt::Display for Outcomes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Number => "single numbers",
            Self::YesNo => "yes or no",
            Self::Counts => "counts of yes",
        })
    }
}

/// Three forecasts of a reward, and which of them counts. They stand in the log before the reward
/// does, and stay as they are however the reward is corrected.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct RecordedForecasts {
    /// The forecasts of the scaled reward, in steps of 2⁻²⁴.
    pub steps: [i64; 3],
    /// The position of the forecast that counts.
    pub counts: u8,
}

/// The log of an earlier format whose events this one repeats, in the same order.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Upgraded {
    /// Its format. The choices of its decisions follow by the rules of that format.
    pub from: u32,
    /// The number of its decisions.
    pub decisions: u64,
    /// The number of its last line.
    pub seq: u64,
    /// The hash of that line, by which the log is recognised.
    pub hash: String,
}

/// How long after a decision its outcome may come. Outcomes that come before the deadline count
/// from the deadline on; those that come at the deadline or later count for nothing.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Window {
    /// The seconds from a decision to its deadline.
    pub seconds: u64,
    /// What happens at the deadline to a decision without an outcome.
    pub unreported: Unreported,
}

/// What happens at the deadline to a decision without an outcome.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Unreported {
    /// It is dropped.
    Drop,
    /// It gets this reward.
    Reward(f64),
}

impl Window {
    /// The deadline of a decision that was taken at this time, in microseconds since 1970.
    pub fn deadline(&self, at_us: i64) -> Time {
        let seconds = i64::try_from(self.seconds).unwrap_or(i64::MAX);
        Time::from_micros(at_us.saturating_add(seconds.saturating_mul(1_000_000)))
    }
}

/// The cells of a row by column; blank cells are `null`.
pub type Cells = BTreeMap<String, Option<String>>;

/// The rows of the actions of one decision, where they are for this decision alone.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct RequestRows {
    /// The columns that features come from.
    pub columns: Vec<String>,
    /// The cells of each action of the set, in the order of the set; blank cells are `null`.
    pub cells: Vec<Vec<Option<String>>>,
}

/// One line of a log.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
#[non_exhaustive]
pub enum Event {
    /// The first event: the settings of the log.
    Opened {
        /// [`FORMAT`], or the earlier format that the log began with.
        format: u32,
        /// The policy that takes the decisions, every field with its value.
        policy: PolicyTable,
        /// The smallest and the largest reward there can be.
        reward_range: (f64, f64),
        /// The number of decisions expected in all, for policies that need it.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        horizon: Option<u64>,
        /// The seed of all randomness.
        seed: u64,
        /// What an outcome is, unless it is any number in the range. From format 2 on.
        #[serde(skip_serializing_if = "Outcomes::is_default", default)]
        outcomes: Outcomes,
        /// What is assumed, in words that a person agreed to. From format 2 on.
        #[serde(skip_serializing_if = "Vec::is_empty", default)]
        assumed: Vec<String>,
        /// The log of an earlier format that this one continues. From format 2 on.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        upgraded: Option<Upgraded>,
        /// The number of features that the recipe may grow to; without it,
        /// [`MAX_FEATURES`](crate::recipe::MAX_FEATURES). From format 2 on.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        growth: Option<u64>,
        /// How long outcomes count, if that is limited. From format 2 on.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        window: Option<Window>,
        /// How rows become features.
        recipe: Recipe,
    },
    /// Another policy takes the decisions from here on.
    PolicyChanged {
        /// The new policy.
        policy: PolicyTable,
        /// The number of decisions expected in all.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        horizon: Option<u64>,
        /// What is assumed from here on, in words. From format 2 on.
        #[serde(skip_serializing_if = "Vec::is_empty", default)]
        assumed: Vec<String>,
    },
    /// From here on an outcome is something else. From format 2 on.
    OutcomesChanged {
        /// What an outcome is.
        outcomes: Outcomes,
        /// What is assumed from here on, in words.
        #[serde(skip_serializing_if = "Vec::is_empty", default)]
        assumed: Vec<String>,
    },
    /// The recipe has more features from here on; the earlier ones keep their places.
    RecipeExtended {
        /// The added features.
        extension: Extension,
    },
    /// A new action.
    ActionAdded {
        /// Its number, from 0, in the order of addition.
        action: u64,
        /// Its name, unique among the actions that are not retired.
        label: String,
        /// Its row.
        #[serde(skip_serializing_if = "Cells::is_empty", default)]
        cells: Cells,
    },
    /// An action that will not be offered again. Rewards of earlier decisions for it still count.
    ActionRetired {
        /// Its number.
        action: u64,
    },
    /// A new set of actions to choose from.
    SetOffered {
        /// Its number, from 0.
        set: u64,
        /// The actions in it, in the order of their numbers.
        actions: Vec<u64>,
    },
    /// An action was chosen; its reward is pending.
    Decided {
        /// Its number, from 1.
        decision: u64,
        /// The set it was chosen from.
        set: u64,
        /// The context of the decision.
        #[serde(skip_serializing_if = "Context::is_empty", default)]
        context: Context,
        /// The number of the chosen action.
        chosen: u64,
        /// The name of the chosen action.
        label: String,
        /// The key of the request, by which a repeated request is recognised. From format 2 on.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        key: Option<String>,
        /// SHA-256 of what was asked with this key, in hexadecimal. From format 2 on.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        request: Option<String>,
        /// Who asked. From format 2 on.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        by: Option<String>,
        /// The rows of the actions of the set, if they are for this decision alone. From format 2
        /// on.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        rows: Option<RequestRows>,
        /// What the reward was forecast to be; for actions with features, from format 2 on.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        forecasts: Option<RecordedForecasts>,
    },
    /// The outcome of a decision came, and is held until its deadline. Only in a log with a window.
    Reported {
        /// The number of the decision.
        decision: u64,
        /// The reward; with `of`, how many outcomes were yes.
        reward: f64,
        /// The number of outcomes, where they are counted.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        of: Option<u64>,
        /// Who said so.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        by: Option<String>,
    },
    /// An outcome came at the deadline of its decision or later, and counts for nothing. Only in a
    /// log with a window.
    Late {
        /// The number of the decision.
        decision: u64,
        /// The reward; with `of`, how many outcomes were yes.
        reward: f64,
        /// The number of outcomes, where they are counted.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        of: Option<u64>,
        /// Who said so.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        by: Option<String>,
    },
    /// The reward of a decision came.
    Rewarded {
        /// The number of the decision.
        decision: u64,
        /// The reward; with `of`, how many outcomes were yes.
        reward: f64,
        /// The number of outcomes, where they are counted. From format 2 on.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        of: Option<u64>,
        /// Whether this settles the decision at its deadline. From format 2 on.
        #[serde(skip_serializing_if = "std::ops::Not::not", default)]
        at_deadline: bool,
        /// Who said so. From format 2 on.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        by: Option<String>,
    },
    /// The recorded reward of a decision was wrong, and is replaced.
    Corrected {
        /// The number of the decision.
        decision: u64,
        /// The reward; with `of`, how many outcomes were yes.
        reward: f64,
        /// The number of outcomes, where they are counted. From format 2 on.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        of: Option<u64>,
        /// Who said so. From format 2 on.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        by: Option<String>,
    },
    /// The reward of a decision was taken back; the decision is pending again.
    Retracted {
        /// The number of the decision.
        decision: u64,
        /// Who said so. From format 2 on.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        by: Option<String>,
    },
    /// The reward of a decision will never come.
    Dropped {
        /// The number of the decision.
        decision: u64,
        /// Whether this settles the decision at its deadline. From format 2 on.
        #[serde(skip_serializing_if = "std::ops::Not::not", default)]
        at_deadline: bool,
        /// Who said so. From format 2 on.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        by: Option<String>,
    },
    /// The reward of a dropped decision may come after all; the decision is pending again. From
    /// format 2 on.
    Undropped {
        /// The number of the decision.
        decision: u64,
        /// Who said so. From format 2 on.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        by: Option<String>,
    },
    /// No decisions are taken from here on. Outcomes are. From format 2 on.
    Paused {
        /// Who said so. From format 2 on.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        by: Option<String>,
    },
    /// Decisions are taken again from here on. From format 2 on.
    Resumed {
        /// Who said so. From format 2 on.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        by: Option<String>,
    },
}

impl Event {
    /// Who asked for it, or said so.
    pub fn by(&self) -> Option<&str> {
        match self {
            Self::Decided { by, .. }
            | Self::Reported { by, .. }
            | Self::Late { by, .. }
            | Self::Rewarded { by, .. }
            | Self::Corrected { by, .. }
            | Self::Retracted { by, .. }
            | Self::Dropped { by, .. }
            | Self::Undropped { by, .. }
            | Self::Paused { by }
            | Self::Resumed { by } => by.as_deref(),
            Self::Opened { .. }
            | Self::PolicyChanged { .. }
            | Self::OutcomesChanged { .. }
            | Self::RecipeExtended { .. }
            | Self::ActionAdded { .. }
            | Self::ActionRetired { .. }
            | Self::SetOffered { .. } => None,
        }
    }

    /// The decision whose outcome the event is about.
    pub(crate) fn outcome_of(&self) -> Option<u64> {
        match self {
            Self::Reported { decision, .. }
            | Self::Late { decision, .. }
            | Self::Rewarded { decision, .. }
            | Self::Corrected { decision, .. }
            | Self::Retracted { decision, .. }
            | Self::Dropped { decision, .. }
            | Self::Undropped { decision, .. } => Some(*decision),
            _ => None,
        }
    }

    /// The same event, asked for or said by this one.
    pub(crate) fn said_by(mut self, who: Option<&str>) -> Self {
        if let Self::Decided { by, .. }
        | Self::Reported { by, .. }
        | Self::Late { by, .. }
        | Self::Rewarded { by, .. }
        | Self::Corrected { by, .. }
        | Self::Retracted { by, .. }
        | Self::Dropped { by, .. }
        | Self::Undropped { by, .. }
        | Self::Paused { by }
        | Self::Resumed { by } = &mut self
        {
            *by = who.map(Into::into);
        }
        self
    }
}
