//! Takes many decisions and outcomes with one write and one sync.

use super::decide::{Asked, Taken};
use super::{Log, LogError, Recorded};
use crate::event::Event;
use crate::form::NewOutcome;
use crate::journal::Storage;
use crate::reward::Reward;
use crate::state::{Outcome, State, StepError};
use crate::time::Time;

/// Something to record.
#[derive(Clone, Copy, Debug)]
pub enum Request<'a> {
    /// Take a decision.
    Decide(Asked<'a>),
    /// The reward of a decision came.
    Reward {
        /// The decision.
        decision: u64,
        /// Its reward.
        reward: Reward,
        /// Who says so.
        by: Option<&'a str>,
    },
    /// Replace the reward of a decision.
    Correct {
        /// The decision.
        decision: u64,
        /// Its true reward.
        reward: Reward,
        /// Who says so.
        by: Option<&'a str>,
    },
    /// Take the reward of a decision back.
    Retract {
        /// The decision.
        decision: u64,
        /// Who says so.
        by: Option<&'a str>,
    },
    /// The reward of a decision will never come.
    Drop {
        /// The decision.
        decision: u64,
        /// Who says so.
        by: Option<&'a str>,
    },
    /// Undo a drop.
    Undrop {
        /// The decision.
        decision: u64,
        /// Who says so.
        by: Option<&'a str>,
    },
}

impl Request<'_> {
    /// Who asks, or says so.
    pub fn by(&self) -> Option<&str> {
        match *self {
            Self::Decide(Asked { by, .. })
            | Self::Reward { by, .. }
            | Self::Correct { by, .. }
            | Self::Retract { by, .. }
            | Self::Drop { by, .. }
            | Self::Undrop { by, .. } => by,
        }
    }
}

/// What became of a [`Request`].
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    /// A decision.
    Taken(Taken),
    /// An outcome.
    Recorded(Recorded),
}

impl<S: Storage> Log<S> {
    /// Carries out requests one after the other, then writes all their lines with one sync. Each
    /// request is taken or refused on its own, as if it had come alone, and sees what those before
    /// it changed. When this returns, every request that was taken is on the disk.
    ///
    /// # Errors
    /// If nothing can be written. Then no request is acknowledged, and the log must be opened
    /// again. The error of a single request stands in its place among the answers.
    pub fn batch(
        &mut self,
        at: impl Into<Time>,
        requests: &[Request<'_>],
    ) -> Result<Vec<Result<Answer, LogError>>, LogError> {
        let at = at.into();
        self.begun()?;
        let mut answers = Vec::with_capacity(requests.len());
        for request in requests {
            let answer = self.carry_out(at, request);
            if self.stopped {
                return Err(answer.err().unwrap_or(LogError::Stopped));
            }
            answers.push(answer);
        }
        self.commit()?;
        Ok(answers)
    }

    /// Carries out a request without writing its lines.
    fn carry_out(&mut self, at: Time, request: &Request<'_>) -> Result<Answer, LogError> {
        if let Request::Decide(asked) = request {
            return Ok(Answer::Taken(self.prepare_decision(at, asked)?));
        }
        match event(self.begun()?, request)? {
            Some(event) => self.prepare(at, &event).map(|_| Answer::Recorded(Recorded::Now)),
            None => Ok(Answer::Recorded(Recorded::Before)),
        }
    }

    /// Carries out one request about an outcome, and writes its line.
    pub(super) fn answer(&mut self, at: Time, request: &Request<'_>) -> Result<Recorded, LogError> {
        match event(self.begun()?, request)? {
            Some(event) => self.record(at, &event),
            None => Ok(Recorded::Before),
        }
    }
}

/// The event that a request about an outcome needs; `None` if the log says the same already.
fn event(state: &State, request: &Request<'_>) -> Result<Option<Event>, StepError> {
    let outcome = |decision: u64| Ok::<_, StepError>(state.decision(decision)?.outcome);
    let said = match *request {
        Request::Decide(_) => None,
        Request::Reward { decision, reward, .. } => {
            outcome_event(decision, NewOutcome::Reward(reward), outcome(decision)?, false)
        }
        Request::Drop { decision, .. } => {
            outcome_event(decision, NewOutcome::Drop, outcome(decision)?, false)
        }
        Request::Correct { decision, reward, .. } => {
            let same = outcome(decision)?.is_reward(reward);
            (!same).then(|| reward.corrected(decision))
        }
        Request::Retract { decision, .. } => Some(Event::Retracted { decision, by: None }),
        Request::Undrop { decision, .. } => {
            let is_pending = outcome(decision)? == Outcome::Pending;
            (!is_pending).then_some(Event::Undropped { decision, by: None })
        }
    };
    Ok(said.map(|event| event.said_by(request.by())))
}

/// The event of an outcome; `None` if it is already recorded.
pub(super) fn outcome_event(
    decision: u64,
    new: NewOutcome,
    recorded: Outcome,
    correct: bool,
) -> Option<Event> {
    let NewOutcome::Reward(reward) = new else {
        return (!recorded.is_dropped()).then_some(Event::Dropped { decision, by: None });
    };
    match recorded {
        _ if recorded.is_reward(reward) => None,
        Outcome::Settled { .. } if correct => Some(reward.corrected(decision)),
        _ => Some(reward.came(decision)),
    }
}
