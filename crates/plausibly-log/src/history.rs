//! Lists every decision of a log with its outcome.

use crate::event::Event;
use crate::fold::{Keep, fold_keeping};
use crate::journal::Storage;
use crate::log::LogError;
use crate::recipe::Context;
use crate::reward::Reward;
use crate::state::Outcome;
use crate::time::Time;
use serde::Serialize;
use std::collections::BTreeMap;

/// A decision and its outcome.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PastDecision {
    /// Its number, from 1.
    pub decision: u64,
    /// When the decision was taken, in UTC.
    pub at: String,
    /// The name of the chosen action.
    pub label: String,
    /// The context of the decision.
    pub context: Context,
    /// The kind of its outcome.
    pub outcome: OutcomeStatus,
    /// The current reward, corrections included, also while it is held; with `of`, how many
    /// outcomes were yes.
    pub reward: Option<f64>,
    /// The number of outcomes, where they are counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub of: Option<u64>,
    /// When the current outcome was recorded, in UTC.
    pub outcome_at: Option<String>,
    /// Whether an outcome came after the deadline. It counts for nothing.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub late: bool,
}

impl PastDecision {
    /// The reward as a person writes it; blank while there is none.
    pub fn told_reward(&self) -> String {
        let reward = self.reward.map(|value| Reward { value, of: self.of });
        reward.map_or_else(String::new, |reward| reward.to_string())
    }
}

/// The kind of outcome of a decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum OutcomeStatus {
    /// The reward has not come yet.
    Pending,
    /// The reward has come, and counts from the deadline of its decision on.
    Reported,
    /// The reward has come.
    Rewarded,
    /// The reward will never come.
    Dropped,
}

/// All decisions of a log, in order.
///
/// # Errors
/// If the log is damaged, or has no line yet.
pub fn history<S: Storage>(storage: &S) -> Result<Vec<PastDecision>, LogError> {
    let mut recorded_at = BTreeMap::new();
    let keep = Keep { details: true, ..Keep::default() };
    let (state, _) = fold_keeping(storage, keep, |step| {
        if let Event::Reported { decision, .. }
        | Event::Rewarded { decision, .. }
        | Event::Corrected { decision, .. }
        | Event::Dropped { decision, .. } = step.event
        {
            recorded_at.insert(*decision, step.entry.at_us);
        }
        Ok(())
    })?;
    let state = state.ok_or(LogError::Empty)?;
    let past = state.decisions().zip(1..).map(|(decision, number)| {
        let held = state.reported(number);
        let (outcome, reward) = match decision.outcome {
            Outcome::Pending if held.is_some() => (OutcomeStatus::Reported, held),
            Outcome::Pending => (OutcomeStatus::Pending, None),
            Outcome::Settled { reward, .. } => (OutcomeStatus::Rewarded, Some(reward)),
            Outcome::Dropped { .. } => (OutcomeStatus::Dropped, None),
        };
        // A retracted reward has a time too, but no longer counts.
        let recorded_at = recorded_at.get(&number).filter(|_| outcome != OutcomeStatus::Pending);
        Ok(PastDecision {
            decision: number,
            at: Time::from_micros(decision.at_us).to_string(),
            label: state.label_of(number)?.into(),
            context: state.context(number).unwrap_or_default(),
            outcome,
            reward: reward.map(|reward| reward.value),
            of: reward.and_then(|reward| reward.of),
            outcome_at: recorded_at.map(|at_us| Time::from_micros(*at_us).to_string()),
            late: state.late(number).is_some(),
        })
    });
    past.collect()
}
