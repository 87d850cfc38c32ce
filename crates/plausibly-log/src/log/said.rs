//! What a log records for an outcome. In a log with a window that depends on when the outcome
//! comes: before the deadline it is held, from the deadline on it is late.

use super::Recorded;
use super::batch::Request;
use crate::event::Event;
use crate::form::NewOutcome;
use crate::reward::Reward;
use crate::state::{Outcome, State, StepError};

/// What an outcome says: its event, if it is new to the log, and the answer.
pub(super) struct Said {
    pub(super) event: Option<Event>,
    pub(super) recorded: Recorded,
}

impl Said {
    /// An event, unless the log holds it already.
    fn new(event: Option<Event>) -> Self {
        let recorded = if event.is_some() { Recorded::Now } else { Recorded::Before };
        Self { event, recorded }
    }

    /// An outcome that came too late; `None` if it came like that before.
    fn late(event: Option<Event>) -> Self {
        Self { event, recorded: Recorded::Late }
    }
}

/// What a request about an outcome says in a line of this time.
pub(super) fn said(state: &State, at_us: i64, request: &Request<'_>) -> Result<Said, StepError> {
    let mut said = match *request {
        Request::Decide(_) => Said::new(None),
        Request::Reward { decision, reward, .. } => {
            outcome(state, at_us, (decision, NewOutcome::Reward(reward)), false)?
        }
        Request::Drop { decision, .. } => {
            outcome(state, at_us, (decision, NewOutcome::Drop), false)?
        }
        Request::Correct { decision, reward, .. } => {
            let same = is_recorded(state, decision, reward)?;
            Said::new((!same).then(|| reward.corrected(decision)))
        }
        Request::Retract { decision, .. } => {
            Said::new(Some(Event::Retracted { decision, by: None }))
        }
        Request::Undrop { decision, .. } => {
            let is_pending = state.decision(decision)?.outcome == Outcome::Pending;
            Said::new((!is_pending).then_some(Event::Undropped { decision, by: None }))
        }
    };
    said.event = said.event.map(|event| event.said_by(request.by()));
    Ok(said)
}

/// What the outcome of a decision says in a line of this time. With `correct` it replaces another
/// one.
pub(super) fn outcome(
    state: &State,
    at_us: i64,
    (decision, new): (u64, NewOutcome),
    correct: bool,
) -> Result<Said, StepError> {
    let recorded = state.decision(decision)?.outcome;
    let NewOutcome::Reward(reward) = new else {
        let event = Event::Dropped { decision, at_deadline: false, by: None };
        return Ok(Said::new((!recorded.is_dropped()).then_some(event)));
    };
    if is_recorded(state, decision, reward)? {
        return Ok(Said::new(None));
    }
    let has_one = matches!(recorded, Outcome::Settled { .. }) || state.reported(decision).is_some();
    if correct && has_one {
        return Ok(Said::new(Some(reward.corrected(decision))));
    }
    Ok(match state.deadline(decision)? {
        None => Said::new(Some(reward.came(decision))),
        Some(deadline) if at_us < deadline.micros() => Said::new(Some(reward.reported(decision))),
        Some(_) => {
            let again = state.late(decision).is_some_and(|before| before.is(reward));
            Said::late((!again).then(|| reward.late(decision)))
        }
    })
}

/// Whether a decision has this reward already.
fn is_recorded(state: &State, decision: u64, reward: Reward) -> Result<bool, StepError> {
    let is_held = state.reported(decision).is_some_and(|held| held.is(reward));
    Ok(is_held || state.decision(decision)?.outcome.is_reward(reward))
}
