//! Applies rewards, corrections, retractions and drops to decisions.

use super::{Decision, Encoded, Outcome, State, StepError, index};
use crate::scale::Scale;
use crate::statistics::Change;
use crate::table::brief;
use std::collections::BTreeMap;

impl State {
    pub(super) fn reward(&mut self, decision: u64, reward: f64, seq: u64) -> Result<(), StepError> {
        let scaled = self.scaled(reward)?;
        if self.decision(decision)?.outcome != Outcome::Pending {
            return Err(self.refusal(decision, "to replace it, add --correct"));
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
        let Outcome::Settled { reward: before, seq: first } = self.decision(decision)?.outcome
        else {
            return Err(self.refusal(decision, "record its first reward without --correct"));
        };
        let before = self.scaled(before)?;
        self.apply(decision, Change::Unsettled(before))?;
        self.apply(decision, Change::Settled(scaled))?;
        // A reward that was committed to keeps its line, so that it stays among those.
        let seq = if self.is_committed(decision) { first } else { seq };
        self.set_outcome(decision, Outcome::Settled { reward, seq });
        Ok(())
    }

    pub(super) fn retract(&mut self, decision: u64) -> Result<(), StepError> {
        let Outcome::Settled { reward, .. } = self.decision(decision)?.outcome else {
            return Err(self.refusal(decision, "there is no reward to retract"));
        };
        self.apply(decision, Change::Unsettled(self.scaled(reward)?))?;
        self.set_outcome(decision, Outcome::Pending);
        Ok(())
    }

    pub(super) fn drop_decision(&mut self, decision: u64, seq: u64) -> Result<(), StepError> {
        if self.decision(decision)?.outcome != Outcome::Pending {
            return Err(self.refusal(
                decision,
                "if no reward ever came, first retract the reward (`plausibly reward … \
                 --retract`), then drop the decision",
            ));
        }
        self.apply(decision, Change::Dropped)?;
        self.set_outcome(decision, Outcome::Dropped { seq });
        Ok(())
    }

    pub(super) fn undrop(&mut self, decision: u64) -> Result<(), StepError> {
        self.needs_format(2, "undoing a drop")?;
        if !matches!(self.decision(decision)?.outcome, Outcome::Dropped { .. }) {
            return Err(self.refusal(decision, "it was not dropped"));
        }
        if self.phases.is_some() {
            return Err(StepError::Replaced { decision });
        }
        self.apply(decision, Change::Taken)?;
        self.set_outcome(decision, Outcome::Pending);
        Ok(())
    }

    fn set_outcome(&mut self, decision: u64, outcome: Outcome) {
        if outcome == Outcome::Pending {
            self.pending.insert(decision);
        } else {
            self.pending.remove(&decision);
        }
        self.decisions[index(decision) - 1].outcome = outcome;
    }

    /// Applies a change of a decision to all sums that it is part of.
    fn apply(&mut self, decision: u64, change: Change) -> Result<(), StepError> {
        let &Decision { action, context, .. } = self.decision(decision)?;
        let features = self.encode(action, context as usize)?;
        let is_committed = self.is_committed(decision);
        self.statistics.apply(index(action), &features, change)?;
        if let Some(committed) = self.committed.as_mut().filter(|_| is_committed) {
            committed.statistics.apply(index(action), &features, change)?;
        }
        if let Some(phases) = &mut self.phases {
            phases.apply(decision, action, change)?;
        }
        Ok(())
    }

    /// Whether the reward of a decision is among those that the policy has committed to.
    fn is_committed(&self, decision: u64) -> bool {
        match (self.decisions[index(decision) - 1].outcome, &self.committed) {
            (Outcome::Settled { seq, .. }, Some(committed)) => seq < committed.seq,
            _ => false,
        }
    }

    /// The features of an action in a context, both given by number.
    pub(super) fn encode(&mut self, action: u64, context: usize) -> Result<Vec<f64>, StepError> {
        if self.encoded.context != Some(context) {
            self.encoded = Encoded { context: Some(context), rows: BTreeMap::new() };
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
    fn refusal(&self, decision: u64, remedy: &'static str) -> StepError {
        let (stored, remedy) = match self.decisions[index(decision) - 1].outcome {
            Outcome::Pending => ("has no reward yet".into(), remedy),
            Outcome::Settled { reward, .. } => (format!("has the reward {reward}"), remedy),
            Outcome::Dropped { .. } if self.format >= 2 => (
                "was dropped, so it cannot get a reward".into(),
                "if the reward can come after all, first undo the drop (`plausibly drop … --undo`)",
            ),
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
    fn scaled(&self, reward: f64) -> Result<f64, StepError> {
        let (low, high) = self.reward_range;
        let scale = Scale::new(self.reward_range, self.recipe.is_given());
        scale.scaled(reward).ok_or(StepError::Reward { reward, low, high })
    }
}
