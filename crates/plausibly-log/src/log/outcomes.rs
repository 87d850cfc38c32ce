//! Records many outcomes: all of them, or none.

use super::said::outcome;
use super::{Log, LogError, Recorded, next_line, recall};
use crate::form::NewOutcome;
use crate::journal::Storage;
use crate::state::Line;
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
        let at = at.into();
        // Steps a copy of the state, so that a refusal in the middle changes nothing.
        let mut ahead = self.begun()?.clone();
        let (mut bodies, mut recorded) = (Vec::new(), Vec::with_capacity(outcomes.len()));
        for (index, &(decision, new)) in outcomes.iter().enumerate() {
            let refused = |source| LogError::Entry { index, source };
            let index_of = self.index.as_ref();
            let needs = ahead.needs_decision(decision, false);
            recall(&self.journal, index_of, &mut ahead, needs)?;
            let next = next_line(&self.journal, at);
            let said = outcome(&ahead, next.at_us, (decision, new), correct).map_err(refused)?;
            recorded.push(said.recorded);
            let Some(event) = said.event else { continue };
            let needs = ahead.needs(&event);
            recall(&self.journal, index_of, &mut ahead, needs)?;
            let line = Line { seq: next.seq + bodies.len() as u64, ..next };
            let body = self.checked_body(at, &event)?;
            ahead.step(line, &event).map_err(refused)?;
            bodies.push(body);
        }
        self.state = Some(ahead);
        for body in &bodies {
            self.journal.prepare_checked(at, body);
        }
        self.commit()?;
        Ok(recorded)
    }
}
