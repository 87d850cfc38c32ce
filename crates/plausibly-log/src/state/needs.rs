//! What a state needs from the log before it can take an event: settled decisions are forgotten up
//! to their sums, so a change of such an outcome first reads the line of its decision again. A
//! state itself reads nothing.

use super::decisions::Details;
use super::{Decision, Rows, State, StepError};
use crate::event::Event;
use crate::journal::LineAt;

/// The frame of an event.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Line {
    /// The number of the line.
    pub(crate) seq: u64,
    /// Its time in microseconds since 1970.
    pub(crate) at_us: i64,
    /// The number of bytes of the log before it.
    pub(crate) begin: u64,
}

/// Something to read in the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Needs {
    /// The line of a decision. Give its event to [`State::recall`].
    Line { decision: u64, at: LineAt },
    /// What each row of features has paid up to now. Give it to [`State::recall_rows`].
    Rows,
}

impl State {
    /// What this event needs before [`State::step`]; `None` also for events that it refuses anyway.
    pub(crate) fn needs(&self, event: &Event) -> Option<Needs> {
        match event {
            Event::Rewarded { decision, .. }
            | Event::Corrected { decision, .. }
            | Event::Retracted { decision }
            | Event::Dropped { decision }
            | Event::Undropped { decision } => {
                let Decision { seq, begin, .. } = *self.decision(*decision).ok()?;
                let at = LineAt { seq, begin };
                let is_known =
                    self.recipe.dim() == 0 || self.decisions.details(*decision).is_some();
                (!is_known).then_some(Needs::Line { decision: *decision, at })
            }
            Event::PolicyChanged { policy, horizon, .. } => {
                let (spec, _) = self.resolved(policy, *horizon, self.rules()).ok()?;
                let is_known = self.rows.is_some() || self.recipe.dim() == 0;
                (spec.link().is_some() && !is_known).then_some(Needs::Rows)
            }
            _ => None,
        }
    }

    /// Takes back what a decision forgot, from the event of its line.
    ///
    /// # Errors
    /// If that is not the event of the decision.
    pub(crate) fn recall(&mut self, decision: u64, event: &Event) -> Result<(), StepError> {
        self.decisions.recall(decision, Details::recorded(event, decision)?);
        Ok(())
    }

    /// Takes what each row of features has paid up to now.
    pub(crate) fn recall_rows(&mut self, rows: Option<Rows>) {
        self.rows = rows;
    }

    /// Keeps the contexts and forecasts of all decisions from now on.
    pub(crate) fn keep_details(&mut self) {
        self.decisions.keep_all();
    }
}
