//! Settles decisions at the deadlines of their windows.

use super::{Log, LogError};
use crate::journal::Storage;
use crate::time::Time;

impl<S: Storage> Log<S> {
    /// Settles all decisions whose deadlines have passed, in their order and with one sync: with
    /// the outcome that was reported, or else as the window says. Returns how many. Nothing is
    /// written if there are none, or the log has no window.
    ///
    /// Deadlines pass by the times of lines, which never go back: an earlier time than that of the
    /// last line counts as that one.
    ///
    /// # Errors
    /// If the log has not begun, or cannot be written.
    pub fn settle_due(&mut self, at: impl Into<Time>) -> Result<u64, LogError> {
        let at = at.into();
        let due = self.begun()?.due(at.micros().max(self.journal.prepared().at_us));
        let settled = due.iter().try_for_each(|event| self.prepare(at, event).map(drop));
        // Also after a refusal, because the lines before it are in the state by then.
        if !self.stopped {
            self.commit()?;
        }
        settled.map(|()| due.len() as u64)
    }
}
