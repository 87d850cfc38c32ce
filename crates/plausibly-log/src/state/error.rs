//! Why an event cannot follow.

use crate::event::{FIRST_FORMAT, FORMAT, LONGEST_KEY};
use crate::policy::PolicyRefusal;
use crate::recipe::RecipeError;
use crate::statistics::StatisticsError;
use crate::table::first_few;
use thiserror::Error;

/// Why an event cannot follow those before it. The state is unchanged.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum StepError {
    /// A first event that is not `opened`, or `opened` again later.
    #[error("the first event of a log must be `opened`, and no later event may be")]
    Opening,
    /// A format of a newer version.
    #[error(
        "the events have format {found}, and this version reads {FIRST_FORMAT} and {FORMAT}; use \
         the version that wrote them"
    )]
    Format {
        /// The format found.
        found: u32,
    },
    /// An event that the format of the log does not have.
    #[error(
        "{what} needs a log of format {format}, and this one has format {own}; begin a new log to \
         use it"
    )]
    Earlier {
        /// What was asked for.
        what: &'static str,
        /// The first format that has it.
        format: u32,
        /// The format of the log.
        own: u32,
    },
    /// A key that is empty, too long or has control characters.
    #[error(
        "a key has 1 to {LONGEST_KEY} bytes without control characters; this one has {}",
        if (1..=LONGEST_KEY).contains(.length) {
            "a control character".to_string()
        } else {
            format!("{length} bytes")
        }
    )]
    Key {
        /// Its number of bytes.
        length: usize,
    },
    /// A key that an earlier decision has.
    #[error("the key \"{key}\" already belongs to decision {decision}")]
    KeyTaken {
        /// The key.
        key: String,
        /// That decision.
        decision: u64,
    },
    /// A policy that cannot decide here.
    #[error(transparent)]
    Policy(#[from] PolicyRefusal),
    /// A range of rewards that is not one.
    #[error(
        "the range of rewards must be two numbers, the smaller one first, got {low} and {high}"
    )]
    Range {
        /// The smaller one, supposedly.
        low: f64,
        /// The larger one, supposedly.
        high: f64,
    },
    /// A range of rewards too far from zero for vectors as given.
    #[error(
        "for vectors as given, rewards from {low} to {high} are too far from zero for such a \
         narrow range: divided by its length they must lie between -1024 and 1024; give a \
         wider range, or \
         subtract the usual level from the rewards and add a column of ones to the vectors"
    )]
    FarRange {
        /// The smallest reward.
        low: f64,
        /// The largest.
        high: f64,
    },
    /// Features that cannot be encoded.
    #[error(transparent)]
    Features(#[from] RecipeError),
    /// A number out of sequence.
    #[error("{what} {found} is out of sequence: the next is {next}")]
    OutOfTurn {
        /// What is numbered.
        what: &'static str,
        /// The number found.
        found: u64,
        /// The next one.
        next: u64,
    },
    /// A number that does not exist.
    #[error("there is no {what} {number}")]
    Unknown {
        /// What.
        what: &'static str,
        /// Its number.
        number: u64,
    },
    /// A name that is taken.
    #[error("there already is an action \"{label}\"")]
    Taken {
        /// The name.
        label: String,
    },
    /// An action that was retired, or not in the set.
    #[error("action {action} cannot be {done}: {why}")]
    Unfit {
        /// Which.
        action: u64,
        /// What cannot be done.
        done: &'static str,
        /// Why not.
        why: &'static str,
    },
    /// An action that the last decision did not offer.
    #[error(
        "\"{label}\" is not among the actions that the last decision offered; `plausibly status` \
         lists them"
    )]
    NotOffered {
        /// The name given.
        label: String,
    },
    /// A set without actions.
    #[error("there is nothing to choose from")]
    NoActions,
    /// Phased elimination about other actions than those it began with.
    #[error(
        "phased elimination needs the same actions in the same context from its first decision on, \
         but {what}; offer the same again, or change the policy (--policy code). Changing back to \
         elimination later starts with the first phase again"
    )]
    OtherActions {
        /// What is different.
        what: String,
    },
    /// A finished phase of elimination with pending rewards.
    #[error(
        "phase {phase} of the elimination has made all its tries, and needs their outcomes to \
         decide which actions go on; reward or drop {} first",
        numbered(.decisions)
    )]
    Outstanding {
        /// Which phase.
        phase: u32,
        /// The pending decisions.
        decisions: Vec<u64>,
    },
    /// An outcome that cannot change as requested.
    #[error("decision {decision} ({label}) {stored}; {remedy}")]
    Outcome {
        /// Which decision.
        decision: u64,
        /// The name of the chosen action.
        label: String,
        /// The recorded outcome.
        stored: String,
        /// What can be done instead.
        remedy: &'static str,
    },
    /// A dropped decision of phased elimination.
    #[error(
        "the drop of decision {decision} cannot be undone: phased elimination plays a fixed number \
         of times, and replaces a dropped play by another"
    )]
    Replaced {
        /// Which decision.
        decision: u64,
    },
    /// A reward beyond the range.
    #[error(
        "a reward must be from {low} to {high}, got {reward}; the range was fixed when the log \
         began"
    )]
    Reward {
        /// What was given.
        reward: f64,
        /// The smallest.
        low: f64,
        /// The largest.
        high: f64,
    },
    /// Sums that do not fit.
    #[error(transparent)]
    Statistics(#[from] StatisticsError),
}

/// Lists the first ten decisions by number, and counts the rest.
fn numbered(decisions: &[u64]) -> String {
    let what = if decisions.len() == 1 { "decision" } else { "decisions" };
    format!("{what} {}", first_few(decisions, 10, ToString::to_string))
}
