//! What cannot follow.

use crate::event::FORMAT;
use crate::policy::PolicyRefusal;
use crate::recipe::RecipeError;
use crate::statistics::StatisticsError;
use thiserror::Error;

/// Why an event cannot follow what came before. The state is as it was.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum StepError {
    /// An event before the first, or a first that is not one.
    #[error("a log begins with the event `opened`, once")]
    Opening,
    /// A format of a newer version.
    #[error(
        "the events have format {found}, and this version reads {FORMAT}; use the version that wrote them"
    )]
    Format {
        /// The format found.
        found: u32,
    },
    /// A policy that cannot decide here.
    #[error(transparent)]
    Policy(#[from] PolicyRefusal),
    /// A range that is none.
    #[error(
        "the range of rewards must be two numbers, the smaller one first, got {low} and {high}"
    )]
    Range {
        /// The smaller one, supposedly.
        low: f64,
        /// The larger one, supposedly.
        high: f64,
    },
    /// A range that vectors as given cannot have.
    #[error(
        "for vectors as they are given, rewards from {low} to {high} are too far from zero for so narrow a range: they are divided by its length and then must be within 1024; give a wider range, or rewards less their usual level and vectors with a column of ones"
    )]
    FarRange {
        /// The smallest reward.
        low: f64,
        /// The largest.
        high: f64,
    },
    /// Features that cannot be had.
    #[error(transparent)]
    Features(#[from] RecipeError),
    /// A number out of turn.
    #[error("{what} {found} is out of turn: the next is {next}")]
    OutOfTurn {
        /// What is numbered.
        what: &'static str,
        /// The number found.
        found: u64,
        /// The next one.
        next: u64,
    },
    /// Something that is not there.
    #[error("there is no {what} {number}")]
    Unknown {
        /// What.
        what: &'static str,
        /// Its number.
        number: u64,
    },
    /// A name that is taken.
    #[error("there is an action \"{label}\" already")]
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
    /// A set without actions.
    #[error("there is nothing to choose from")]
    NoActions,
    /// Phased elimination about other actions than it began with.
    #[error(
        "phased elimination is about the same actions in the same context from its first decision on, and {what}; offer the same again, or change the policy (--policy code): elimination that is changed to again begins its phases anew"
    )]
    OtherActions {
        /// What is different.
        what: String,
    },
    /// A phase of elimination that is played, and whose rewards are not in.
    #[error(
        "phase {phase} of the elimination is played, and who goes on is decided by all of its rewards: reward or drop {} first",
        numbered(.decisions)
    )]
    Outstanding {
        /// Which phase.
        phase: u32,
        /// The decisions whose rewards are outstanding.
        decisions: Vec<u64>,
    },
    /// A change that the outcome of a decision does not allow.
    #[error("decision {decision} ({label}) {stored}; {remedy}")]
    Outcome {
        /// Which decision.
        decision: u64,
        /// What it chose.
        label: String,
        /// What is stored.
        stored: String,
        /// What can be done instead.
        remedy: &'static str,
    },
    /// A reward beyond the range.
    #[error(
        "a reward must be from {low} to {high}, got {reward}; the range was fixed when the log began"
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

/// Some decisions, the first few by their numbers.
fn numbered(decisions: &[u64]) -> String {
    const MOST: usize = 10;
    let some = decisions.iter().take(MOST).map(ToString::to_string).collect::<Vec<_>>().join(", ");
    let what = if decisions.len() == 1 { "decision" } else { "decisions" };
    match decisions.len().saturating_sub(MOST) {
        0 => format!("{what} {some}"),
        more => format!("{what} {some} and {more} more"),
    }
}
