//! Settles decisions at the deadlines of their windows.

use super::{Log, LogError};
use crate::journal::Storage;
use crate::time::Time;

impl<S: Storage> Log<S> {
    /// Settles all decisions whose deadlines have passed, in their order and with one sync.
    ///
    /// Each gets the outcome that is held for it, or else what the window says. Returns how many
    /// were settled. Nothing is written if there are none, or the log has no window. No other
    /// method settles anything, so call this at [`Log::next_deadline`] or before each decision.
    ///
    /// Deadlines pass by the times of lines, which never go back: an earlier time than that of the
    /// last line counts as that one.
    ///
    /// # Errors
    /// If the log has not begun, or cannot be written.
    pub fn settle_due(&mut self, at: impl Into<Time>) -> Result<u64, LogError> {
        let at = at.into();
        let settled = self.prepare_due(at);
        // Also after a refusal, because the lines before it are in the state by then.
        if !self.stopped {
            self.commit()?;
        }
        settled
    }

    /// Settles decisions without writing their lines, the oldest first: times of lines never go
    /// back, so the oldest has the first deadline.
    fn prepare_due(&mut self, at: Time) -> Result<u64, LogError> {
        let mut settled = 0;
        loop {
            let at_us = at.micros().max(self.journal.prepared().at_us);
            let Some(oldest) = self.begun()?.pending().next() else { return Ok(settled) };
            self.outcome(oldest)?;
            let Some(event) = self.begun()?.due(oldest, at_us)? else { return Ok(settled) };
            self.prepare(at, &event)?;
            settled += 1;
        }
    }

    /// The next deadline of a decision that is not settled, which may have passed; `None` without
    /// such a decision, or without a window.
    ///
    /// # Errors
    /// If the log has not begun, or cannot be read.
    pub fn next_deadline(&mut self) -> Result<Option<Time>, LogError> {
        let oldest = self.begun()?.pending().next();
        if let Some(oldest) = oldest {
            self.outcome(oldest)?;
        }
        Ok(self.begun()?.next_deadline())
    }
}
