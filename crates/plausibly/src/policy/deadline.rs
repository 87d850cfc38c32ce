//! A target with a deadline: what can be promised in advance, and what became of it.

use crate::actions::{ActionIndex, Actions, SetId};
use crate::confidence::{ConfidenceRadius, Plausible, Reach};
use crate::estimator::{Estimator, Evidence, Scores};
use crate::state::{DeadlineState, StateError, at, holds, place};

/// What is known of a deadline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeadlineStatus {
    /// The round whose decision shall find the target met.
    pub by_round: u64,
    /// Whether that was certain in advance, while the confidence set holds the truth and rewards
    /// come before the next decision. Never on changing sets.
    pub promised: bool,
    /// What became of it.
    pub outcome: DeadlineOutcome,
}

/// What became of a deadline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeadlineOutcome {
    /// It is still to come.
    Open,
    /// At the deadline the target was met.
    Met,
    /// At the deadline it was not. Exploration goes on until it is.
    Missed,
}

/// Follows one deadline.
///
/// On a fixed set it keeps the *running intersection* of the plausible sets, which only shrinks; so
/// the largest width over it only falls, and exploring in every round is bound to bring it down in
/// time if [`Estimator::forecast`] says so.
#[derive(Clone, Debug)]
pub(super) struct Deadline {
    accuracy: f64,
    status: DeadlineStatus,
    /// The set it began with.
    of: Option<SetId>,
    /// By index, on that set; empty once another set was offered.
    survivors: Vec<bool>,
    /// How far intervals will reach at the deadline, at most.
    final_reach: Option<Reach>,
}

impl Deadline {
    pub(super) fn new(accuracy: f64, by_round: u64) -> Self {
        let status = DeadlineStatus { by_round, promised: false, outcome: DeadlineOutcome::Open };
        Self { accuracy, status, of: None, survivors: Vec::new(), final_reach: None }
    }

    pub(super) fn status(&self) -> DeadlineStatus {
        self.status
    }

    /// Before the round's decision. On the first set, whether the deadline can be promised; on
    /// another, that it cannot.
    pub(super) fn offered<E: Estimator>(
        &mut self,
        model: &E,
        radius: &impl ConfidenceRadius,
        actions: Actions<'_>,
    ) {
        if self.of.is_none() {
            self.of = Some(actions.id());
            self.survivors = vec![true; actions.len()];
            if let Some(forecast) = model.forecast(actions, self.status.by_round) {
                let reach = radius.reach(&forecast.evidence);
                self.status.promised = reach.half_width(forecast.width_sq) <= self.accuracy;
                self.final_reach = Some(reach);
            }
        } else if self.of != Some(actions.id()) {
            self.survivors.clear();
            self.final_reach = None;
            self.status.promised = false;
        }
    }

    /// What to explore with, if the target asks for it.
    pub(super) fn explore(
        &mut self,
        plausible: &Plausible,
        scores: &Scores,
        design: &Scores,
        reach: Reach,
        evidence: &Evidence,
    ) -> Option<ActionIndex> {
        for (action, survives) in self.survivors.iter_mut().enumerate() {
            *survives = *survives && plausible.contains(scores, action);
        }
        // Beside the truth every set holds the best action. Where the truth has left, they can run
        // out of common members.
        if !self.survivors.contains(&true) {
            self.survivors.clear();
        }
        let round = evidence.observations + 1;
        let known = self.widest(plausible, scores, scores);
        if round >= self.status.by_round && self.status.outcome == DeadlineOutcome::Open {
            let met = reach.half_width(scores.width_sq[known]) <= self.accuracy;
            self.status.outcome = if met { DeadlineOutcome::Met } else { DeadlineOutcome::Missed };
        }
        let level = self.final_reach.filter(|_| round < self.status.by_round).unwrap_or(reach);
        let widest = self.widest(plausible, scores, design);
        (level.half_width(design.width_sq[widest]) > self.accuracy).then_some(widest)
    }

    /// The widest by `design` of the survivors, or of the plausible actions where there are none;
    /// the lowest index among equals.
    fn widest(&self, plausible: &Plausible, scores: &Scores, design: &Scores) -> ActionIndex {
        let candidates = (0..self.survivors.len()).filter(|action| self.survivors[*action]);
        let wider = |best: ActionIndex, next| {
            if design.width_sq[next] > design.width_sq[best] { next } else { best }
        };
        candidates.reduce(wider).unwrap_or_else(|| plausible.widest_by(scores, &design.width_sq))
    }
}

impl Deadline {
    pub(super) fn state(&self, sets: &[Actions<'_>]) -> DeadlineState {
        DeadlineState {
            begun: self.of.is_some(),
            set: self.of.and_then(|id| place(sets, id)),
            foreseen: self.final_reach.is_some(),
            promised: self.status.promised,
            met: match self.status.outcome {
                DeadlineOutcome::Open => None,
                DeadlineOutcome::Met => Some(true),
                DeadlineOutcome::Missed => Some(false),
            },
            survivors: (0..self.survivors.len()).filter(|action| self.survivors[*action]).collect(),
        }
    }

    /// With `model` one that has learned nothing: how far intervals reach at the deadline does not
    /// depend on rewards.
    pub(super) fn restored<E: Estimator>(
        &self,
        state: &DeadlineState,
        model: &E,
        radius: &impl ConfidenceRadius,
        sets: &[Actions<'_>],
    ) -> Result<Self, StateError> {
        let mut restored = self.clone();
        restored.status.promised = state.promised;
        restored.status.outcome = state.outcome();
        let Some(set) = state.set else {
            holds("deadline.survivors", state.survivors.is_empty() && !state.foreseen)?;
            // Known by an identity that no set has: whatever comes is another one.
            restored.of = state.begun.then(SetId::fresh);
            return Ok(restored);
        };
        let actions = at(sets, set)?;
        restored.of = Some(actions.id());
        holds("deadline.survivors", state.survivors.iter().all(|action| *action < actions.len()))?;
        if !state.survivors.is_empty() {
            restored.survivors = vec![false; actions.len()];
            state.survivors.iter().for_each(|action| restored.survivors[*action] = true);
        }
        if state.foreseen {
            let forecast = model.forecast(actions, restored.status.by_round);
            restored.final_reach = forecast.map(|forecast| radius.reach(&forecast.evidence));
        }
        Ok(restored)
    }

    pub(super) fn remembers(&self, set: SetId) -> bool {
        self.of == Some(set)
    }
}
