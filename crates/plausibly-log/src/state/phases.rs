//! Tracks the phases of phased elimination. A phase plays a fixed mix of the surviving actions;
//! once all its rewards are in, it ends, and what is corrected later does not change who survived.

use super::{State, StepError, index};
use crate::certificate::{Frozen, Phase, Played};
use crate::recipe::Context;
use crate::statistics::{Arm, Change, Statistics, StatisticsError};
use plausibly::spec::PolicyKind;
use plausibly::{ActionSet, Plays};
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
    seen: Statistics,
}

impl Running {
    fn arms(&self) -> &[Arm] {
        match &self.seen {
            Statistics::Arms(arms) => arms,
            Statistics::Features { .. } => unreachable!("made of arms below"),
        }
    }

    fn of(phase: &plausibly::Phase) -> Self {
        let seen = Statistics::Arms(vec![Arm::default(); phase.plays.len()]);
        Self { number: phase.number, survivors: phase.survivors.clone(), seen }
    }

    fn phase(&self) -> plausibly::Phase {
        let plays =
            |arm: &Arm| Plays { taken: arm.taken(), settled: arm.settled, paid: arm.paid() };
        plausibly::Phase {
            number: self.number,
            survivors: self.survivors.clone(),
            plays: self.arms().iter().map(plays).collect(),
        }
    }

    fn survivors(&self, set: &[u64]) -> Vec<u64> {
        self.survivors.iter().map(|place| set[*place]).collect()
    }

    fn plays(&self, set: &[u64]) -> Vec<Played> {
        let taken = set.iter().zip(self.arms()).filter(|(_, arm)| arm.taken() > 0);
        taken
            .map(|(&action, arm)| Played {
                action,
                taken: arm.taken(),
                settled: arm.settled,
                paid: arm.paid(),
            })
            .collect()
    }
}

impl Phases {
    fn new(phase: &plausibly::Phase, set: &[u64], context: &Context) -> Self {
        let (set, context) = (set.to_vec(), context.clone());
        Self {
            set,
            context,
            current: Running::of(phase),
            frozen: None,
            quota: Vec::new(),
            first: 0,
        }
    }

    /// Starts the current phase with this decision: sets its quota.
    fn begun(mut self, actions: &ActionSet, delta: f64, decision: u64) -> Self {
        let quota = self.current.phase().quota(actions.view(), delta);
        self.quota = (0..self.set.len()).map(|place| quota.left(place)).collect();
        self.first = decision;
        self
    }

    fn is_played(&self) -> bool {
        self.quota.iter().zip(self.current.arms()).all(|(quota, arm)| arm.taken() >= *quota)
    }

    /// Applies a change to a decision. Changes to decisions of ended phases are ignored.
    pub(super) fn apply(
        &mut self,
        decision: u64,
        action: u64,
        change: Change,
    ) -> Result<(), StatisticsError> {
        match self.set.binary_search(&action) {
            Ok(place) if decision >= self.first => self.current.seen.apply(place, &[], change),
            _ => Ok(()),
        }
    }

    /// The phase as certificates contain it.
    pub(super) fn grounds(&self) -> Phase {
        let Running { number, .. } = self.current;
        let frozen = |running: &Running| Frozen {
            survivors: running.survivors(&self.set),
            plays: running.plays(&self.set),
        };
        Phase {
            number,
            survivors: self.current.survivors(&self.set),
            plays: self.current.plays(&self.set),
            frozen: self.frozen.as_ref().map(frozen),
        }
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
        played.map_or_else(Vec::new, |phases| self.pending.range(phases.first..).copied().collect())
    }

    /// The state as if the decisions that a phase waits for were dropped.
    pub(crate) fn not_waiting(&self) -> Cow<'_, Self> {
        let waiting = self.waiting();
        if waiting.is_empty() {
            return Cow::Borrowed(self);
        }
        let mut state = self.clone();
        for decision in waiting {
            let action = self.decisions[index(decision) - 1].action;
            if let Some(phases) = &mut state.phases {
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
        let decision = self.decisions.len() as u64 + 1;
        let offered = || -> Result<ActionSet, StepError> {
            let rows = actions.iter().map(|action| {
                let record = &self.actions[index(*action)];
                Ok(self.recipe.encode(&record.label, &record.cells, context)?)
            });
            let rows = rows.collect::<Result<Vec<_>, StepError>>()?;
            ActionSet::from_rows(&rows).map_err(|_empty| StepError::NoActions)
        };
        Ok(Some(match &self.phases {
            None => {
                let phases = Phases::new(&plausibly::Phase::first(actions.len()), actions, context);
                phases.begun(&offered()?, delta, decision)
            }
            Some(phases) if phases.is_played() => {
                let offered = offered()?;
                let next = Running::of(&phases.current.phase().next(offered.view()));
                let frozen = Some(phases.current.clone());
                Phases { current: next, frozen, ..phases.clone() }.begun(&offered, delta, decision)
            }
            Some(phases) => phases.clone(),
        }))
    }
}
