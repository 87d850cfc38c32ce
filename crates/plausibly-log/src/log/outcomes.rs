//! Records many outcomes at once.

use super::{Log, LogError, Recorded};
use crate::event::Event;
use crate::form::NewOutcome;
use crate::journal::Storage;
use crate::state::{Outcome, State};
use crate::time::Time;

impl<S: Storage> Log<S> {
    /// Records an outcome, unless the log already holds it.
    pub(super) fn record_outcome(
        &mut self,
        at: impl Into<Time>,
        decision: u64,
        new: NewOutcome,
    ) -> Result<Recorded, LogError> {
        let recorded = self.begun()?.decision(decision)?.outcome;
        match event(decision, new, recorded, false) {
            Some(event) => self.record(at.into().micros(), &[event]),
            None => Ok(Recorded::Before),
        }
    }

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
        let (at_us, last) = (at.into().micros(), self.journal.last());
        // Steps a copy of the state, so that a refusal in the middle changes nothing.
        let mut ahead = self.begun()?.clone();
        let (mut events, mut recorded) = (Vec::new(), Vec::with_capacity(outcomes.len()));
        for (index, &(decision, new)) in outcomes.iter().enumerate() {
            let refused = |source| LogError::Entry { index, source };
            let outcome = ahead.decision(decision).map_err(refused)?.outcome;
            let Some(event) = event(decision, new, outcome, correct) else {
                recorded.push(Recorded::Before);
                continue;
            };
            let seq = last.seq + 1 + events.len() as u64;
            State::step(&mut ahead, seq, at_us.max(last.at_us), &event).map_err(refused)?;
            events.push(event);
            recorded.push(Recorded::Now);
        }
        self.append(at_us, &events)?;
        self.state = Some(ahead);
        Ok(recorded)
    }
}

/// The event to write; `None` if the outcome is already recorded.
fn event(decision: u64, new: NewOutcome, recorded: Outcome, correct: bool) -> Option<Event> {
    let NewOutcome::Reward(reward) = new else {
        let dropped = matches!(recorded, Outcome::Dropped { .. });
        return (!dropped).then_some(Event::Dropped { decision });
    };
    match recorded {
        _ if recorded.is_reward(reward) => None,
        Outcome::Settled { .. } if correct => Some(reward.corrected(decision)),
        _ => Some(reward.came(decision)),
    }
}
