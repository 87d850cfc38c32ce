//! Tracks the phases of phased elimination. A phase plays a fixed mix of the surviving actions;
//! once all its rewards are in, it ends, and what is corrected later does not change who survived.

use super::{Decision, State, StepError, index};
use crate::certificate::{Frozen, Phase, Played};
use crate::recipe::Context;
use crate::statistics::{Arm, Change, StatisticsError};
use plausibly::Plays;
use plausibly::spec::PolicyKind;
use std::borrow::Cow;

/// The current phase. All decisions of an elimination are about the same actions in the same
/// context.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Phases {
    set: Vec<u64>,
    context: Context,
    current: Running,
    /// The previous phase, as it ended.
    frozen: Option<Running>,
    /// The number of plays that the current phase needs, by place in the set.
    quota: Vec<u64>,
    /// The first decision of the current phase; all later ones belong to it.
    first: u64,
}

#[derive(Clone, Debug, PartialEq)]
struct Running {
    number: u32,
    /// The surviving actions, by place in the set.
    survivors: Vec<usize>,
    /// Exact sums by place in the set.
    arms: Vec<Arm>,
}

impl Running {
    /// A phase that begins.
    fn new(phase: plausibly::Phase) -> Self {
        let plausibly::Phase { number, survivors, plays } = phase;
        Self { number, survivors, arms: vec![Arm::default(); plays.len()] }
    }

    fn phase(&self) -> plausibly::Phase {
        let plays =
            |arm: &Arm| Plays { taken: arm.taken(), settled: arm.settled(), paid: arm.paid() };
        plausibly::Phase {
            number: self.number,
            survivors: self.survivors.clone(),
            plays: self.arms.iter().map(plays).collect(),
        }
    }

    /// The phase as certificates contain it, with the actions of the set by their numbers.
    fn frozen(&self, set: &[u64]) -> Frozen {
        let taken = set.iter().zip(&self.arms).filter(|(_, arm)| arm.taken() > 0);
        let played = |(&action, arm): (&u64, &Arm)| {
            let (taken, settled, paid) = (arm.taken(), arm.settled(), arm.paid());
            Played { action, taken, settled, paid }
        };
        let survivors = self.survivors.iter().map(|place| set[*place]).collect();
        Frozen { survivors, plays: taken.map(played).collect() }
    }
}

impl Phases {
    fn is_played(&self) -> bool {
        self.quota.iter().zip(&self.current.arms).all(|(quota, arm)| arm.taken() >= *quota)
    }

    /// Applies a change to a decision. Changes to decisions of ended phases are ignored.
    pub(super) fn apply(
        &mut self,
        decision: u64,
        action: u64,
        change: Change,
    ) -> Result<(), StatisticsError> {
        match self.set.binary_search(&action) {
            Ok(place) if decision >= self.first => self.current.arms[place].apply(place, change),
            _ => Ok(()),
        }
    }

    /// The phase as certificates contain it.
    pub(super) fn grounds(&self) -> Phase {
        let Frozen { survivors, plays } = self.current.frozen(&self.set);
        let frozen = self.frozen.as_ref().map(|ended| ended.frozen(&self.set));
        Phase { number: self.current.number, survivors, plays, frozen }
    }
}

impl State {
    /// Whether a decision about these actions in this context could be taken now. Only phased
    /// elimination ever refuses.
    ///
    /// # Errors
    /// If the actions or the context differ from those its phases began with, or a finished phase
    /// waits for rewards.
    pub(crate) fn may_decide(&self, actions: &[u64], context: &Context) -> Result<(), StepError> {
        let Some(phases) = &self.phases else { return Ok(()) };
        let gone = phases.set.iter().find(|action| actions.binary_search(action).is_err());
        if let Some(gone) = gone {
            let label = &self.actions[index(*gone)].label;
            return Err(StepError::OtherActions {
                what: format!("\"{label}\" is missing or has changed"),
            });
        }
        if phases.set.len() != actions.len() {
            return Err(StepError::OtherActions { what: "there are new actions".into() });
        }
        if phases.context != *context {
            return Err(StepError::OtherActions { what: "the context differs".into() });
        }
        let waiting = self.waiting();
        if waiting.is_empty() {
            Ok(())
        } else {
            Err(StepError::Outstanding { phase: phases.current.number, decisions: waiting })
        }
    }

    /// The pending decisions that a finished phase waits for. No decision can be taken before they
    /// are rewarded or dropped.
    pub fn waiting(&self) -> Vec<u64> {
        let played = self.phases.as_ref().filter(|phases| phases.is_played());
        played.map_or_else(Vec::new, |phases| {
            self.pending().filter(|decision| *decision >= phases.first).collect()
        })
    }

    /// The state as if the decisions that a phase waits for were dropped.
    pub(crate) fn not_waiting(&self) -> Cow<'_, Self> {
        let waiting = self.waiting();
        if waiting.is_empty() {
            return Cow::Borrowed(self);
        }
        let mut state = self.clone();
        for decision in waiting {
            let found = self.decisions.get(decision);
            if let (Some(phases), Some(&Decision { action, .. })) = (&mut state.phases, found) {
                // Cannot fail: the decision is pending.
                let _ = phases.apply(decision, action, Change::Dropped);
            }
        }
        Cow::Owned(state)
    }

    /// The phase that a decision about these actions in this context belongs to: the current one,
    /// the next if the current one has ended, or the first. `None` for other policies.
    ///
    /// # Errors
    /// As [`State::may_decide`], or if a row cannot be encoded.
    pub(super) fn phases_for(
        &self,
        kind: &PolicyKind,
        actions: &[u64],
        context: &Context,
    ) -> Result<Option<Phases>, StepError> {
        let PolicyKind::Elimination { delta, .. } = *kind else { return Ok(None) };
        self.may_decide(actions, context)?;
        if let Some(phases) = self.phases.as_ref().filter(|phases| !phases.is_played()) {
            return Ok(Some(phases.clone()));
        }
        let offered = self.set_of(actions, context)?;
        let ended = self.phases.as_ref().map(|phases| phases.current.clone());
        let phase = match &ended {
            Some(ended) => ended.phase().next(offered.view()),
            None => plausibly::Phase::first(actions.len()),
        };
        let quota = phase.quota(offered.view(), delta);
        Ok(Some(Phases {
            set: actions.to_vec(),
            context: context.clone(),
            quota: (0..actions.len()).map(|place| quota.left(place)).collect(),
            current: Running::new(phase),
            frozen: ended,
            first: self.next_decision(),
        }))
    }
}
