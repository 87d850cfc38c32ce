//! Why a log refuses, or cannot go on.

use crate::certificate::GroundsError;
use crate::choices::WrongChoice;
use crate::journal::JournalError;
use crate::json::JsonError;
use crate::recipe::RecipeError;
use crate::state::StepError;
use thiserror::Error;

/// Why a log could not be opened, read or written to.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum LogError {
    /// The file failed.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// An event that is not one of this version, or cannot follow those before it.
    #[error("line {seq}: {source}")]
    Line {
        /// Its number.
        seq: u64,
        /// What is wrong.
        source: EventError,
    },
    /// The request cannot follow what the log holds.
    #[error(transparent)]
    Step(#[from] StepError),
    /// The files of milestones, which do not fit the log.
    #[error(
        "the files LOG.milestones and LOG.snapshot do not fit the log; delete them, and they are \
         made again from its lines"
    )]
    Milestones,
    /// One of several outcomes that cannot follow.
    #[error("outcome {}: {source}", .index + 1)]
    Entry {
        /// Which of them, from 0.
        index: usize,
        /// What is wrong.
        source: StepError,
    },
    /// A row or context that the recipe cannot take.
    #[error(transparent)]
    Recipe(#[from] RecipeError),
    /// Grounds that no decision follows from.
    #[error(transparent)]
    Grounds(#[from] GroundsError),
    /// Recorded choices that do not follow from the lines before them.
    #[error(
        "{first}{}: the log was changed, or written by another version",
        of_many(*differing, *checked)
    )]
    Choice {
        /// The first such choice.
        first: WrongChoice,
        /// How many recorded choices do not follow.
        differing: u64,
        /// How many recorded choices were compared.
        checked: u64,
    },
    /// Recorded forecasts that do not follow from the lines before them.
    #[error(
        "line {seq} records forecasts of the reward of decision {decision} that do not follow from \
         the lines before it: the log was changed, or written by another version"
    )]
    Forecast {
        /// The number of the line.
        seq: u64,
        /// The number of the decision.
        decision: u64,
    },
    /// An event that JSON cannot represent; nothing was written.
    #[error("an event cannot be written as JSON ({0}); nothing was written")]
    Unwritable(#[source] serde_json::Error),
    /// An earlier event could not be written.
    #[error(
        "an earlier write failed, so this log takes no more events and gives no answers; open it \
         again"
    )]
    Stopped,
    /// A log without events.
    #[error("the log has no decisions yet: `plausibly decide` begins it")]
    Empty,
    /// A log that has already begun.
    #[error("the log has already begun")]
    Begun,
    /// A log that has nothing to upgrade.
    #[error("the log has format {0} already, so there is nothing to upgrade")]
    Upgraded(u32),
    /// An upgraded log that does not say what the log it was made from says.
    #[error("the upgraded log differs from the old one in its {0}; please report this")]
    Differs(&'static str),
}

fn of_many(differing: u64, checked: u64) -> String {
    if checked < 2 {
        return String::new();
    }
    format!("; {differing} of {checked} recorded choices compared do not follow")
}

/// Why the event of a line was refused.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum EventError {
    /// Not an event.
    #[error("not an event of this version: {0}")]
    Syntax(#[from] JsonError),
    /// The event cannot follow the lines before it.
    #[error(transparent)]
    Step(#[from] StepError),
}
