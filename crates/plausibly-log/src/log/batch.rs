//! Takes many decisions and outcomes with one write and one sync.

use super::decide::{Asked, Taken};
use super::said::{Said, said};
use super::{Log, LogError, Recorded};
use crate::journal::Storage;
use crate::reward::Reward;
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

    /// The decision whose outcome it is about.
    fn outcome_of(&self) -> Option<u64> {
        match *self {
            Self::Decide(_) => None,
            Self::Reward { decision, .. }
            | Self::Correct { decision, .. }
            | Self::Retract { decision, .. }
            | Self::Drop { decision, .. }
            | Self::Undrop { decision, .. } => Some(decision),
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
    /// request is taken or refused on its own, as if it had come alone after those before it. When
    /// this returns, every request that was taken is on the disk. Deadlines that have passed are
    /// not settled: call [`Log::settle_due`] before.
    ///
    /// # Errors
    /// If the log has not begun, or nothing can be written. In the second case no request is
    /// acknowledged, and the log must be opened again. The error of a single request stands in its
    /// place among the answers.
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
        let said = self.said(at, request)?;
        if let Some(event) = &said.event {
            self.prepare(at, event)?;
        }
        Ok(Answer::Recorded(said.recorded))
    }

    /// Carries out one request about an outcome, and writes its line.
    pub(super) fn answer(&mut self, at: Time, request: &Request<'_>) -> Result<Recorded, LogError> {
        let said = self.said(at, request)?;
        if let Some(event) = &said.event {
            self.record(at, event)?;
        }
        Ok(said.recorded)
    }

    /// What a request about an outcome says at this time of the clock.
    fn said(&mut self, at: Time, request: &Request<'_>) -> Result<Said, LogError> {
        let at_us = at.micros().max(self.journal.prepared().at_us);
        if let Some(decision) = request.outcome_of() {
            self.outcome(decision)?;
        }
        Ok(said(self.begun()?, at_us, request)?)
    }
}
