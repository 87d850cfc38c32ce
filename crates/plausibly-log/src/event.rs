//! What can happen in a log.

use crate::policy::PolicyTable;
use crate::recipe::{Context, Extension, Recipe};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The version of the events.
pub const FORMAT: u32 = 1;

/// The cells of an action's row by column; blank ones are `null`.
pub type Cells = BTreeMap<String, Option<String>>;

/// One line of a log.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
#[non_exhaustive]
pub enum Event {
    /// The first: what the log is about.
    Opened {
        /// [`FORMAT`].
        format: u32,
        /// Who decides, every field with its value.
        policy: PolicyTable,
        /// The smallest and the largest reward there can be.
        reward_range: (f64, f64),
        /// Decisions expected in all, for policies that ask.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        horizon: Option<u64>,
        /// From which randomness is drawn.
        seed: u64,
        /// How rows become features.
        recipe: Recipe,
    },
    /// The policy is another from here on.
    PolicyChanged {
        /// Who decides.
        policy: PolicyTable,
        /// Decisions expected in all.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        horizon: Option<u64>,
    },
    /// The recipe has more features from here on; those there were keep their places.
    RecipeExtended {
        /// What it has more.
        extension: Extension,
    },
    /// A new action.
    ActionAdded {
        /// Its number, from 0, in the order of adding.
        action: u64,
        /// Its name; no other action that is not retired has it.
        label: String,
        /// Its row.
        #[serde(skip_serializing_if = "Cells::is_empty", default)]
        cells: Cells,
    },
    /// An action that will not be offered again. Rewards of its decisions still count.
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
    /// An action was chosen, and its reward is outstanding.
    Decided {
        /// Its number, from 1.
        decision: u64,
        /// From which set.
        set: u64,
        /// In which context.
        #[serde(skip_serializing_if = "Context::is_empty", default)]
        context: Context,
        /// What was chosen.
        chosen: u64,
        /// Its name.
        label: String,
    },
    /// The reward of a decision came.
    Rewarded {
        /// Which decision.
        decision: u64,
        /// What it paid.
        reward: f64,
    },
    /// The reward of a decision was another than recorded.
    Corrected {
        /// Which decision.
        decision: u64,
        /// What it paid.
        reward: f64,
    },
    /// The reward of a decision was taken back: it is outstanding again.
    Retracted {
        /// Which decision.
        decision: u64,
    },
    /// The reward of a decision will never come.
    Dropped {
        /// Which decision.
        decision: u64,
    },
}
