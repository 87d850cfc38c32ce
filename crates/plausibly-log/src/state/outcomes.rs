//! Applies rewards, corrections, retractions and drops to decisions.

use super::decisions::Facts;
use super::step::check_outcomes;
use super::{Outcome, State, StepError, index};
use crate::event::Outcomes;
use crate::reward::{Reward, Unfit};
use crate::scale::Scale;
use crate::statistics::{Change, Settlement};
use crate::table::brief;
use plausibly::Tally;

impl State {
    pub(super) fn reward(
        &mut self,
        decision: u64,
        reward: Reward,
        seq: u64,
        (at_us, at_deadline): (i64, bool),
    ) -> Result<(), StepError> {
        // What an outcome is may have changed while this one was held.
        if !at_deadline {
            self.check_kind(reward)?;
        }
        let settlement = self.settlement(decision, reward)?;
        if self.decision(decision)?.outcome != Outcome::Pending {
            return Err(self.refusal(decision, "to replace it, add --correct"));
        }
        self.check_settling(decision, Some(reward), (at_us, at_deadline))?;
        self.apply(decision, Change::Settled(settlement))?;
        self.seen.counts |= reward.of.is_some();
        self.hold(decision, None);
        self.set_outcome(decision, Outcome::Settled { reward, seq });
        Ok(())
    }

    pub(super) fn correct(
        &mut self,
        decision: u64,
        reward: Reward,
        seq: u64,
    ) -> Result<(), StepError> {
        self.check_kind(reward)?;
        let settlement = self.settlement(decision, reward)?;
        if self.reported(decision).is_some() {
            self.seen.counts |= reward.of.is_some();
            self.amended.corrected += 1;
            self.hold(decision, Some(reward));
            return Ok(());
        }
        let Outcome::Settled { reward: before, seq: first } = self.decision(decision)?.outcome
        else {
            return Err(self.refusal(decision, "record its first reward without --correct"));
        };
        let before = self.settlement(decision, before)?;
        self.apply(decision, Change::Unsettled(before))?;
        if let Err(refused) = self.apply(decision, Change::Settled(settlement)) {
            self.apply(decision, Change::Settled(before))?;
            return Err(refused);
        }
        // A reward that was committed to keeps its line, so that it stays among those.
        let seq = if self.is_committed(decision) { first } else { seq };
        self.seen.counts |= reward.of.is_some();
        self.amended.corrected += 1;
        self.set_outcome(decision, Outcome::Settled { reward, seq });
        Ok(())
    }

    pub(super) fn retract(&mut self, decision: u64) -> Result<(), StepError> {
        if self.reported(decision).is_some() {
            self.amended.retracted += 1;
            self.hold(decision, None);
            return Ok(());
        }
        let Outcome::Settled { reward, .. } = self.decision(decision)?.outcome else {
            return Err(self.refusal(decision, "there is no reward to retract"));
        };
        self.apply(decision, Change::Unsettled(self.settlement(decision, reward)?))?;
        self.amended.retracted += 1;
        self.set_outcome(decision, Outcome::Pending);
        Ok(())
    }

    pub(super) fn drop_decision(
        &mut self,
        decision: u64,
        seq: u64,
        (at_us, at_deadline): (i64, bool),
    ) -> Result<(), StepError> {
        let is_held = self.reported(decision).is_some();
        if self.decision(decision)?.outcome != Outcome::Pending || is_held {
            return Err(self.refusal(
                decision,
                "if no reward ever came, first retract the reward (`plausibly reward … \
                 --retract`), then drop the decision",
            ));
        }
        self.check_settling(decision, None, (at_us, at_deadline))?;
        self.apply(decision, Change::Dropped)?;
        self.amended.dropped += 1;
        self.set_outcome(decision, Outcome::Dropped { seq });
        Ok(())
    }

    pub(super) fn undrop(&mut self, decision: u64, at_us: i64) -> Result<(), StepError> {
        self.needs_format(2, "undoing a drop")?;
        if !matches!(self.decision(decision)?.outcome, Outcome::Dropped { .. }) {
            return Err(self.refusal(decision, "it was not dropped"));
        }
        if self.phases.is_some() {
            return Err(StepError::Replaced { decision });
        }
        if self.stays_dropped(decision, at_us)? {
            return Err(StepError::StaysDropped { decision });
        }
        self.apply(decision, Change::Taken)?;
        self.amended.dropped -= 1;
        self.set_outcome(decision, Outcome::Pending);
        Ok(())
    }

    fn set_outcome(&mut self, decision: u64, outcome: Outcome) {
        self.decisions.set_outcome(decision, outcome);
    }

    /// Applies a change of a decision to all sums that it is part of.
    fn apply(&mut self, decision: u64, change: Change) -> Result<(), StepError> {
        let action = self.decision(decision)?.action;
        let features = self.features_of(decision)?;
        let is_committed = self.is_committed(decision);
        self.change_rows(&features, change)?;
        if let Err(refused) = self.statistics.apply(index(action), &features, change) {
            self.change_rows(&features, change.undone())?;
            return Err(refused.into());
        }
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
        match (self.decision(decision).map(|found| found.outcome), &self.committed) {
            (Ok(Outcome::Settled { seq, .. }), Some(committed)) => seq < committed.seq,
            _ => false,
        }
    }

    /// Checks that a decision could get this reward.
    pub(super) fn check_reward(&self, decision: u64, reward: Reward) -> Result<(), StepError> {
        self.check_kind(reward)?;
        self.settlement(decision, reward).map(drop)
    }

    /// The error for an outcome that cannot change. `remedy` is for outcomes that can still change.
    pub(super) fn refusal(&self, decision: u64, remedy: &'static str) -> StepError {
        let outcome = match self.decision(decision) {
            Ok(found) => found.outcome,
            Err(unknown) => return unknown,
        };
        let (stored, remedy) = match outcome {
            _ if let Some(reward) = self.reported(decision) => {
                (format!("has the reward {reward}, which counts from its deadline on"), remedy)
            }
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

    /// What only the line of a decision says. For an arm that is nothing, and a settled decision
    /// must have been recalled.
    pub(super) fn facts(&self, decision: u64) -> Result<Facts, StepError> {
        if self.recipe.dim() == 0 {
            return Ok(Facts::default());
        }
        let details = self.decisions.details(decision);
        Ok(details.ok_or(StepError::Forgotten { decision })?.facts())
    }

    /// A reward on the scale of the statistics, with the forecasts of its decision.
    fn settlement(&self, decision: u64, reward: Reward) -> Result<Settlement, StepError> {
        let outcomes = self.scaled(reward)?;
        let (shares, forecasts) = (self.shares(reward)?, self.facts(decision)?.forecasts);
        Ok(Settlement { outcomes, shares, forecasts })
    }

    /// A reward on the scale of the statistics.
    pub(super) fn scaled(&self, reward: Reward) -> Result<Tally, StepError> {
        self.on(Scale::new(self.reward_range, self.recipe.is_given()), reward)
    }

    pub(super) fn on(&self, scale: Scale, reward: Reward) -> Result<Tally, StepError> {
        let (low, high) = self.reward_range;
        reward.tally(scale).map_err(|unfit| match unfit {
            Unfit::Range => StepError::Reward { reward: reward.value, low, high },
            Unfit::Whole => StepError::NotWhole { yes: reward.value },
            Unfit::Counts(source) => StepError::Counts(source),
        })
    }

    /// Refuses a reward of another kind than this log has. It is probably a mistake.
    fn check_kind(&self, reward: Reward) -> Result<(), StepError> {
        if self.format < 2 && reward.of.is_some() {
            return self.needs_format(2, "a count of outcomes");
        }
        if is_of_kind(reward, self.outcomes, self.reward_range) {
            return Ok(());
        }
        Err(StepError::OtherKind { reward: reward.to_string(), outcomes: self.outcomes })
    }

    /// Changes what an outcome is from now on. Earlier rewards stay. The first that contradicts it
    /// is named: counts and yes or no can follow only after yes or no.
    pub(super) fn change_outcomes(&mut self, outcomes: Outcomes) -> Result<(), StepError> {
        self.needs_format(2, "another kind of outcome")?;
        check_outcomes(&self.policy, outcomes)?;
        self.check_window(outcomes)?;
        if outcomes != Outcomes::Number {
            let is_yes_or_no = |reward| is_of_kind(reward, Outcomes::YesNo, self.reward_range);
            let mut settled =
                self.decisions().zip(1..).filter_map(|(one, number)| match one.outcome {
                    Outcome::Settled { reward, .. } if reward.of.is_none() => {
                        Some((reward, number))
                    }
                    _ => None,
                });
            if let Some((reward, decision)) = settled.find(|(reward, _)| !is_yes_or_no(*reward)) {
                let reward = reward.value;
                return Err(StepError::Contradicted { decision, reward, outcomes });
            }
        }
        self.outcomes = outcomes;
        Ok(())
    }
}

/// Whether a reward can be one in a log with such outcomes. Rewards beyond the range are refused
/// elsewhere.
pub(super) fn is_of_kind(reward: Reward, outcomes: Outcomes, (low, high): (f64, f64)) -> bool {
    let is = |end: f64| reward.value.to_bits() == (end + 0.0).to_bits();
    match outcomes {
        Outcomes::Number => reward.of.is_none(),
        Outcomes::YesNo => {
            let beyond = !(low..=high).contains(&reward.value);
            reward.of.is_none() && (is(low) || is(high) || beyond)
        }
        Outcomes::Counts => reward.of.is_some(),
    }
}
