//! Compares the choices that a log records with the choices that follow from the lines before them.

use crate::fold::Step;
use crate::log::LogError;
use thiserror::Error;

/// A recorded choice that does not follow from the lines before it.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error(
    "line {seq} records that decision {decision} chose \"{recorded}\", but \
     \"{follows}\" follows from the lines before it"
)]
pub struct WrongChoice {
    /// The number of the line.
    pub seq: u64,
    /// The number of the decision.
    pub decision: u64,
    /// The name of the action recorded as chosen.
    pub recorded: String,
    /// The name of the action that follows from the lines before.
    pub follows: String,
}

/// Counts comparisons, and keeps the first choice that does not follow.
#[derive(Debug, Default)]
pub(crate) struct Choices {
    checked: u64,
    differing: u64,
    first: Option<WrongChoice>,
}

impl Choices {
    /// Compares the choice that a step records with the choice that follows; each is the number and
    /// the name of an action.
    pub(crate) fn compare(&mut self, step: &Step<'_>, recorded: (u64, &str), follows: (u64, &str)) {
        self.checked += 1;
        if recorded.0 == follows.0 {
            return;
        }
        self.differing += 1;
        self.first.get_or_insert_with(|| WrongChoice {
            seq: step.entry.seq,
            decision: step.state.count_decisions() + 1,
            recorded: recorded.1.into(),
            follows: follows.1.into(),
        });
    }

    /// The number of choices compared.
    ///
    /// # Errors
    /// If one of them does not follow.
    pub(crate) fn all_follow(self) -> Result<u64, LogError> {
        let Self { checked, differing, first } = self;
        first.map_or(Ok(checked), |first| Err(LogError::Choice { first, differing, checked }))
    }
}
