//! Looks up a decision.

use super::{Log, LogError};
use crate::event::Event;
use crate::fold::parse;
use crate::journal::{LineHash, Storage};
use crate::recipe::Context;
use crate::reward::Reward;
use crate::state::{Outcome, StepError};
use crate::time::Time;

/// What a log holds about a decision.
#[derive(Clone, Debug, PartialEq)]
pub struct Looked {
    /// Its number.
    pub decision: u64,
    /// The name of the chosen action.
    pub label: String,
    /// When it was taken.
    pub at: Time,
    /// Its context.
    pub context: Context,
    /// Who asked for it.
    pub by: Option<String>,
    /// The number of its line.
    pub seq: u64,
    /// The hash of its line.
    pub hash: LineHash,
    /// Its outcome.
    pub outcome: Outcome,
    /// The outcome that is held until its deadline.
    pub reported: Option<Reward>,
    /// The last outcome that came too late.
    pub late: Option<Reward>,
    /// Its deadline, in a log with a window.
    pub deadline: Option<Time>,
}

impl<S: Storage> Log<S> {
    /// What the log holds about a decision. Reads its line; nothing is written.
    ///
    /// # Errors
    /// If there is no such decision, or its line cannot be read.
    pub fn look(&mut self, decision: u64) -> Result<Looked, LogError> {
        let outcome = self.outcome(decision)?;
        let state = self.begun()?;
        let unknown = StepError::Unknown { what: "decision", number: decision };
        let taken = *state.decision(decision)?;
        let (hash, event) =
            self.journal.line_at(state.line_of(decision)?, |entry| (entry.hash, parse(&entry)))?;
        let Event::Decided { label, context, by, .. } = event? else { return Err(unknown.into()) };
        Ok(Looked {
            decision,
            label,
            at: Time::from_micros(taken.at_us),
            context,
            by,
            seq: taken.seq,
            hash,
            outcome,
            reported: state.reported(decision),
            late: state.late(decision),
            deadline: state.deadline(decision)?,
        })
    }
}
