//! A target with a deadline: whether it can be promised in advance, and whether it was met.

use crate::actions::{Action, ActionIndex, ActionSet, ActionSetError, Actions, SetId};
use crate::confidence::{ConfidenceRadius, Plausible, Reach};
use crate::model::{Estimator, Evidence, Scores};
use crate::search::Few;
use crate::state::{Reader, StateError, Writer, holds};

/// The status of a deadline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeadlineStatus {
    /// The target must be met when this round is decided.
    pub by_round: u64,
    /// Whether that was certain in advance, as long as the confidence set holds the truth and
    /// rewards come before the next decision. Never on changing sets.
    pub promised: bool,
    /// The outcome.
    pub outcome: DeadlineOutcome,
}

/// The outcome of a deadline.
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
/// On a fixed set it keeps the *running intersection* of the plausible sets, which only shrinks. So
/// the largest width over it only falls, and exploring in every round brings it down in time for
/// sure if [`Estimator::guarantee`] says so.
#[derive(Clone, Debug)]
pub(super) struct Deadline {
    accuracy: f64,
    status: DeadlineStatus,
    /// The set it began with.
    first: Option<FirstSet>,
    /// By index, on that set; empty once another set was offered.
    survivors: Vec<bool>,
    /// An upper limit of the reach of intervals at the deadline.
    final_reach: Option<Reach>,
}

/// A set, known by its rows: the same rows in another set are the same actions.
#[derive(Clone, Debug)]
struct FirstSet {
    /// Where the rows were seen last, so that they are compared once per set.
    id: Option<SetId>,
    len: usize,
    rows: Vec<f64>,
}

impl FirstSet {
    fn new(actions: Actions<'_>) -> Self {
        let rows = actions.iter().flat_map(|action| action.features().iter().copied()).collect();
        Self { id: Some(actions.id()), len: actions.len(), rows }
    }

    fn as_set(&self) -> Result<ActionSet, ActionSetError> {
        if self.rows.is_empty() {
            return ActionSet::arms(self.len);
        }
        ActionSet::from_flat(self.rows.clone(), self.rows.len() / self.len)
    }

    fn is(&mut self, actions: Actions<'_>) -> bool {
        if self.id == Some(actions.id()) {
            return true;
        }
        let rows = || actions.iter().flat_map(Action::features);
        let same = self.len == actions.len()
            && self.rows.len() == actions.len() * actions.dim()
            && rows().zip(&self.rows).all(|(x, y)| x.to_bits() == y.to_bits());
        if same {
            self.id = Some(actions.id());
        }
        same
    }
}

impl Deadline {
    pub(super) fn new(accuracy: f64, by_round: u64) -> Self {
        let status = DeadlineStatus { by_round, promised: false, outcome: DeadlineOutcome::Open };
        Self { accuracy, status, first: None, survivors: Vec::new(), final_reach: None }
    }

    pub(super) fn status(&self) -> DeadlineStatus {
        self.status
    }

    /// Before the round's decision: on the first set, whether the deadline can be promised; on
    /// another, that it cannot.
    pub(super) fn offered<E: Estimator>(
        &mut self,
        model: &E,
        radius: &impl ConfidenceRadius,
        actions: Actions<'_>,
    ) {
        let Some(first) = &mut self.first else {
            self.first = Some(FirstSet::new(actions));
            self.survivors = vec![true; actions.len()];
            if let Some(guarantee) = model.guarantee(actions, self.status.by_round) {
                let reach = radius.reach(&guarantee.evidence);
                self.status.promised = reach.half_width(guarantee.width_sq) <= self.accuracy;
                self.final_reach = Some(reach);
            }
            return;
        };
        if !first.is(actions) {
            self.forget_set();
        }
    }

    /// Another set was offered, on which nothing was promised.
    pub(super) fn forget_set(&mut self) {
        self.survivors.clear();
        self.final_reach = None;
        self.status.promised = false;
    }

    /// The action to explore with, if the target asks for it. `few` are the plausible actions and
    /// perhaps others; `design` has their widths with pending decisions counted.
    pub(super) fn explore(
        &mut self,
        few: &Few,
        plausible: &Plausible,
        design: &Scores,
        reach: Reach,
        evidence: &Evidence,
    ) -> Option<ActionIndex> {
        let mut listed = few.indices().iter().enumerate().peekable();
        for (action, survives) in self.survivors.iter_mut().enumerate() {
            let position = listed.next_if(|(_, index)| **index == action);
            let could_be_best = |(position, _)| plausible.contains(position);
            *survives = position.is_some_and(could_be_best) && *survives;
        }
        // While the truth is in the sets, all hold the best action. Without it they can run out of
        // common members.
        if !self.survivors.contains(&true) {
            self.survivors.clear();
        }
        let round = evidence.observations + 1;
        let known = self.widest(few, plausible, few.scores());
        if round >= self.status.by_round && self.status.outcome == DeadlineOutcome::Open {
            let met = reach.half_width(few.scores().width_sq[known]) <= self.accuracy;
            self.status.outcome = if met { DeadlineOutcome::Met } else { DeadlineOutcome::Missed };
        }
        let level = self.final_reach.filter(|_| round < self.status.by_round).unwrap_or(reach);
        let widest = self.widest(few, plausible, design);
        let missed = level.half_width(design.width_sq[widest]) > self.accuracy;
        missed.then_some(few.indices()[widest])
    }

    /// The position of the widest by `design` of the survivors, or of the plausible actions where
    /// there are none; the first among equals.
    fn widest(&self, few: &Few, plausible: &Plausible, design: &Scores) -> usize {
        let survives =
            |position: &usize| self.survivors.get(few.indices()[*position]) == Some(&true);
        let wider = |best: usize, next| {
            if design.width_sq[next] > design.width_sq[best] { next } else { best }
        };
        let survivors = (0..few.indices().len()).filter(survives);
        let widest = survivors.reduce(wider);
        widest.unwrap_or_else(|| plausible.widest_by(few.scores(), &design.width_sq))
    }
}

impl Deadline {
    pub(super) fn write(&self, out: &mut Writer) {
        let outcome = match self.status.outcome {
            DeadlineOutcome::Open => 0,
            DeadlineOutcome::Met => 1,
            DeadlineOutcome::Missed => 2,
        };
        out.count(outcome);
        out.flag(self.status.promised);
        out.flag(self.final_reach.is_some());
        out.flag(self.first.is_some());
        if let Some(first) = &self.first {
            out.count(first.len as u64);
            out.numbers(&first.rows);
        }
        out.counts(self.survivors.iter().map(|survives| u64::from(*survives)));
    }

    /// With `model` one that has learned nothing: the reach of intervals at the deadline does not
    /// depend on rewards.
    pub(super) fn read<E: Estimator>(
        &mut self,
        from: &mut Reader<'_>,
        model: &E,
        radius: &impl ConfidenceRadius,
    ) -> Result<(), StateError> {
        self.status.outcome = match from.count("deadline.outcome")? {
            0 => DeadlineOutcome::Open,
            1 => DeadlineOutcome::Met,
            2 => DeadlineOutcome::Missed,
            _ => return Err(StateError::Number { what: "deadline.outcome" }),
        };
        self.status.promised = from.flag("deadline.promised")?;
        let foreseen = from.flag("deadline.foreseen")?;
        if from.flag("deadline.first")? {
            let len = usize::try_from(from.count("deadline.first")?).unwrap_or(usize::MAX);
            let rows = from.some_numbers("deadline.first")?;
            holds("deadline.first", len > 0 && rows.len().is_multiple_of(len))?;
            self.first = Some(FirstSet { id: None, len, rows });
        }
        let survivors = from.places("deadline.survivors", 2)?;
        let len = self.first.as_ref().map_or(0, |first| first.len);
        holds("deadline.survivors", survivors.is_empty() || survivors.len() == len)?;
        self.survivors = survivors.into_iter().map(|survives| survives == 1).collect();
        if foreseen {
            let guarantee = self.first.as_ref().and_then(|first| {
                let actions = first.as_set().ok()?;
                model.guarantee(actions.view(), self.status.by_round)
            });
            let guarantee = guarantee.ok_or(StateError::Number { what: "deadline.foreseen" })?;
            self.final_reach = Some(radius.reach(&guarantee.evidence));
        }
        Ok(())
    }
}
