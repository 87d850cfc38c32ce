//! Records many outcomes: all of them, or none.

use super::said::outcome;
use super::{Log, LogError, Recorded};
use crate::form::NewOutcome;
use crate::journal::Storage;
use crate::time::Time;

impl<S: Storage> Log<S> {
    /// Records many outcomes in one write: all of them, or none if one of them is refused.
    ///
    /// An outcome that is already recorded is not written again. A reward that differs from the
    /// recorded one is refused, or replaces it if `correct` is set. Only a crash during the write
    /// can record a first part of the outcomes; repeating the call then records the rest.
    ///
    /// # Errors
    /// [`LogError::Entry`] names the first outcome that cannot be recorded; the log is then
    /// unchanged.
    pub fn record_all(
        &mut self,
        at: impl Into<Time>,
        outcomes: &[(u64, NewOutcome)],
        correct: bool,
    ) -> Result<Vec<Recorded>, LogError> {
        let (at, last) = (at.into(), self.journal.prepared());
        // Steps a copy of the state, so that a refusal in the middle changes nothing.
        let mut ahead = self.begun()?.clone();
        let (mut events, mut recorded) = (Vec::new(), Vec::with_capacity(outcomes.len()));
        for (index, &(decision, new)) in outcomes.iter().enumerate() {
            let refused = |source| LogError::Entry { index, source };
            let at_us = at.micros().max(last.at_us);
            let said = outcome(&ahead, at_us, (decision, new), correct).map_err(refused)?;
            recorded.push(said.recorded);
            let Some(event) = said.event else { continue };
            let seq = last.seq + 1 + events.len() as u64;
            ahead.step(seq, at_us, &event).map_err(refused)?;
            events.push(event);
        }
        self.state = Some(ahead);
        for event in &events {
            self.prepare_stepped(at, event)?;
        }
        self.commit()?;
        Ok(recorded)
    }
}
