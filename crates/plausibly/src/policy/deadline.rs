//! A target with a deadline: what can be promised in advance, and what became of it.

use crate::actions::{ActionIndex, Actions, SetId};
use crate::confidence::{ConfidenceRadius, Plausible, Reach};
use crate::estimator::{Estimator, Evidence, Scores};

/// What is known of a deadline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeadlineStatus {
    /// The round whose decision shall find the target met.
    pub by_round: u64,
    /// Whether that was certain in advance, while the confidence set holds the truth and rewards come before the next decision. Never on changing sets.
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
/// On a fixed set it keeps the *running intersection* of the plausible sets, which only shrinks; so the largest width over it only falls, and exploring in every
/// round is bound to bring it down in time if [`Estimator::forecast`] says so.
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

    /// Before the round's decision. On the first set, whether the deadline can be promised; on another, that it cannot.
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
        // Beside the truth every set holds the best action. Where the truth has left, they can run out of common members.
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

    /// The widest by `design` of the survivors, or of the plausible actions where there are none; the lowest index among equals.
    fn widest(&self, plausible: &Plausible, scores: &Scores, design: &Scores) -> ActionIndex {
        let candidates = (0..self.survivors.len()).filter(|action| self.survivors[*action]);
        let wider = |best: ActionIndex, next| {
            if design.width_sq[next] > design.width_sq[best] { next } else { best }
        };
        candidates.reduce(wider).unwrap_or_else(|| plausible.widest_by(scores, &design.width_sq))
    }
}
