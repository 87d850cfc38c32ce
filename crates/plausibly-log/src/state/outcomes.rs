//! Applies rewards, corrections, retractions and drops to decisions.

use super::{Decision, Encoded, Outcome, State, StepError, index};
use crate::scale::Scale;
use crate::statistics::Change;
use crate::table::brief;
use std::collections::BTreeMap;

impl State {
    pub(super) fn reward(&mut self, decision: u64, reward: f64, seq: u64) -> Result<(), StepError> {
        let scaled = self.scaled(reward)?;
        let stored = self.decision(decision)?;
        if stored.outcome != Outcome::Pending {
            return Err(self.refusal(decision, "correct it if it is wrong (--correct)"));
        }
        self.apply(decision, Change::Settled(scaled))?;
        self.set_outcome(decision, Outcome::Settled { reward, seq });
        Ok(())
    }

    pub(super) fn correct(
        &mut self,
        decision: u64,
        reward: f64,
        seq: u64,
    ) -> Result<(), StepError> {
        let scaled = self.scaled(reward)?;
        let Outcome::Settled { reward: before, .. } = self.decision(decision)?.outcome else {
            return Err(self.refusal(decision, "record its first reward without --correct"));
        };
        let before = self.scaled(before)?;
        self.apply(decision, Change::Unsettled(before))?;
        self.apply(decision, Change::Settled(scaled))?;
        if self.is_committed(decision) {
            self.apply_committed(decision, Change::Unsettled(before))?;
            self.apply_committed(decision, Change::Settled(scaled))?;
            // The reward keeps its line, so that it stays among those committed to.
            let Outcome::Settled { seq, .. } = self.decision(decision)?.outcome else {
                unreachable!("checked above")
            };
            self.set_outcome(decision, Outcome::Settled { reward, seq });
        } else {
            self.set_outcome(decision, Outcome::Settled { reward, seq });
        }
        Ok(())
    }

    pub(super) fn retract(&mut self, decision: u64) -> Result<(), StepError> {
        let Outcome::Settled { reward, .. } = self.decision(decision)?.outcome else {
            return Err(self.refusal(decision, "there is no reward to retract"));
        };
        let before = self.scaled(reward)?;
        self.apply(decision, Change::Unsettled(before))?;
        if self.is_committed(decision) {
            self.apply_committed(decision, Change::Unsettled(before))?;
        }
        self.set_outcome(decision, Outcome::Pending);
        Ok(())
    }

    pub(super) fn drop_decision(&mut self, decision: u64, seq: u64) -> Result<(), StepError> {
        if self.decision(decision)?.outcome != Outcome::Pending {
            return Err(self.refusal(
                decision,
                "if no reward ever came, retract it (--retract), then drop the decision",
            ));
        }
        self.apply(decision, Change::Dropped)?;
        self.set_outcome(decision, Outcome::Dropped { seq });
        Ok(())
    }

    pub(super) fn set_outcome(&mut self, decision: u64, outcome: Outcome) {
        if outcome == Outcome::Pending {
            self.pending.insert(decision);
        } else {
            self.pending.remove(&decision);
        }
        self.decisions[index(decision) - 1].outcome = outcome;
    }

    pub(super) fn apply(&mut self, decision: u64, change: Change) -> Result<(), StepError> {
        let (action, features) = self.taken(decision)?;
        self.statistics.apply(action, &features, change)?;
        if let Some(phases) = &mut self.phases {
            phases.apply(decision, action as u64, change)?;
        }
        Ok(())
    }

    pub(super) fn apply_committed(
        &mut self,
        decision: u64,
        change: Change,
    ) -> Result<(), StepError> {
        let (action, features) = self.taken(decision)?;
        match &mut self.committed {
            Some(committed) => Ok(committed.statistics.apply(action, &features, change)?),
            None => Ok(()),
        }
    }

    pub(super) fn is_committed(&self, decision: u64) -> bool {
        let settled = match self.decisions[index(decision) - 1].outcome {
            Outcome::Settled { seq, .. } => seq,
            Outcome::Pending | Outcome::Dropped { .. } => return false,
        };
        self.committed.as_ref().is_some_and(|committed| settled < committed.seq)
    }

    pub(super) fn taken(&mut self, decision: u64) -> Result<(usize, Vec<f64>), StepError> {
        let &Decision { action, context, .. } = self.decision(decision)?;
        Ok((index(action), self.encode(action, context as usize)?))
    }

    /// The features of an action in a context, both given by number.
    pub(super) fn encode(&mut self, action: u64, context: usize) -> Result<Vec<f64>, StepError> {
        let number = u32::try_from(context).ok();
        if self.encoded.context != number {
            self.encoded = Encoded { context: number, rows: BTreeMap::new() };
        }
        if let Some(features) = self.encoded.rows.get(&action) {
            return Ok(features.clone());
        }
        let record = &self.actions[index(action)];
        let features = self.recipe.encode(&record.label, &record.cells, &self.contexts[context])?;
        self.encoded.rows.insert(action, features.clone());
        Ok(features)
    }

    /// The error for an outcome that cannot change. `remedy` is for outcomes that can still change.
    pub(super) fn refusal(&self, decision: u64, remedy: &'static str) -> StepError {
        let (stored, remedy) = match self.decisions[index(decision) - 1].outcome {
            Outcome::Pending => ("has no reward yet".into(), remedy),
            Outcome::Settled { reward, .. } => (format!("has the reward {reward}"), remedy),
            Outcome::Dropped { .. } => (
                "was dropped, and drops are final: it cannot get a reward".into(),
                "the rewards of all other decisions still count, and a later decision can try the \
                 same action again",
            ),
        };
        let label = self.label_of(decision).map(brief).unwrap_or_default();
        StepError::Outcome { decision, label, stored, remedy }
    }

    /// A reward on the scale of the statistics.
    pub(super) fn scaled(&self, reward: f64) -> Result<f64, StepError> {
        let (low, high) = self.reward_range;
        let scale = Scale::new(self.reward_range, self.recipe.is_given());
        scale.scaled(reward).ok_or(StepError::Reward { reward, low, high })
    }
}
