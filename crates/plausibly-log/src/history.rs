//! Every decision of a log with what became of it.

use crate::event::Event;
use crate::fold::fold;
use crate::journal::Storage;
use crate::log::LogError;
use crate::recipe::Context;
use crate::state::Outcome;
use crate::time::Time;
use serde::Serialize;
use std::collections::BTreeMap;

/// A decision and what became of it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PastDecision {
    /// Its number, from 1.
    pub decision: u64,
    /// When it was taken, in UTC.
    pub at: String,
    /// What was chosen.
    pub label: String,
    /// What was known about the occasion.
    pub context: Context,
    /// What became of it.
    pub outcome: OutcomeStatus,
    /// The reward as it stands, corrections included.
    pub reward: Option<f64>,
    /// When the outcome that stands was recorded, in UTC.
    pub outcome_at: Option<String>,
}

/// What became of a decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum OutcomeStatus {
    /// Its reward is outstanding.
    Pending,
    /// Its reward has come.
    Rewarded,
    /// Its reward will never come.
    Dropped,
}

/// All decisions of a log, in order.
///
/// # Errors
/// If the log is damaged, or has no line yet.
pub fn history<S: Storage>(storage: &S) -> Result<Vec<PastDecision>, LogError> {
    let mut told = BTreeMap::new();
    let (state, _) = fold(storage, |step| {
        if let Event::Rewarded { decision, .. }
        | Event::Corrected { decision, .. }
        | Event::Dropped { decision } = step.event
        {
            told.insert(*decision, step.entry.at_us);
        }
        Ok(())
    })?;
    let state = state.ok_or(LogError::Empty)?;
    let past = state.decisions().iter().zip(1..).map(|(decision, number)| {
        let (outcome, reward) = match decision.outcome {
            Outcome::Pending => (OutcomeStatus::Pending, None),
            Outcome::Settled { reward, .. } => (OutcomeStatus::Rewarded, Some(reward)),
            Outcome::Dropped { .. } => (OutcomeStatus::Dropped, None),
        };
        // A reward that was retracted has been told too, and stands no longer.
        let told = told.get(&number).filter(|_| outcome != OutcomeStatus::Pending);
        Ok(PastDecision {
            decision: number,
            at: Time::from_micros(decision.at_us).to_string(),
            label: state.label_of(number)?.into(),
            context: state.context(decision).clone(),
            outcome,
            reward,
            outcome_at: told.map(|at_us| Time::from_micros(*at_us).to_string()),
        })
    });
    past.collect()
}
