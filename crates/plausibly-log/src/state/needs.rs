//! What a state needs from the log before it can take an event. A state forgets the details of
//! settled decisions, so before such an outcome changes, the line of its decision is read again. A
//! state itself reads nothing.

use super::decisions::{Details, Facts, read_forecasts};
use super::{Decision, Outcome, Rows, State, StepError, index};
use crate::event::Event;
use crate::journal::LineAt;
use std::sync::Arc;

/// The frame of an event.
#[derive(Clone, Copy, Debug)]
pub struct Line {
    /// The number of the line.
    pub seq: u64,
    /// Its time in microseconds since 1970.
    pub at_us: i64,
    /// The number of bytes of the log before it.
    pub begin: u64,
}

/// Something to read in the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Needs {
    /// The line of a decision. Give its event to [`State::recall`].
    Line { decision: u64, at: LineAt },
    /// What each row of features has paid up to now. Give it to [`State::recall_rows`].
    Rows,
    /// A decision that is in the log alone. Give it to [`State::recall_decision`].
    Decision { decision: u64, is_pending: bool },
    /// The actions of a set that is in the log alone. Give them to [`State::recall_set`].
    Set { set: u64 },
}

impl State {
    /// What this event needs before [`State::step`]; `None` also for events that it refuses anyway.
    pub(crate) fn needs(&self, event: &Event) -> Option<Needs> {
        if let Some(decision) = event.outcome_of() {
            // A line that is in the log followed the lines before it.
            let presumed = matches!(
                event,
                Event::Rewarded { .. } | Event::Dropped { .. } | Event::Reported { .. }
            );
            if let Some(needs) = self.needs_decision(decision, presumed) {
                return Some(needs);
            }
            let at = self.line_of(decision).ok()?;
            let is_known = self.recipe.dim() == 0 || self.decisions.details(decision).is_some();
            return (!is_known).then_some(Needs::Line { decision, at });
        }
        match event {
            Event::PolicyChanged { policy, horizon, .. } => {
                let (spec, _) = self.resolved(policy, *horizon, self.rules()).ok()?;
                let is_known = self.rows.is_some() || self.recipe.dim() == 0;
                (spec.link().is_some() && !is_known).then_some(Needs::Rows)
            }
            Event::Decided { set, .. } => self.needs_set(*set),
            _ => None,
        }
    }

    /// Where the line of a decision stands.
    ///
    /// # Errors
    /// If there is no decision of this number.
    pub(crate) fn line_of(&self, decision: u64) -> Result<LineAt, StepError> {
        let Decision { seq, begin, .. } = *self.decision(decision)?;
        Ok(LineAt { seq, begin })
    }

    /// Whether all decisions are in memory.
    pub(crate) fn is_whole(&self) -> bool {
        self.decisions.is_whole()
    }

    /// Forgets what the line of a decision says, unless it is pending.
    pub(crate) fn forget(&mut self, decision: u64) {
        self.decisions.forget(decision);
    }

    /// What anything about this decision needs. If the state does not know which decisions are
    /// pending, `presumed` says whether this one is.
    pub(crate) fn needs_decision(&self, decision: u64, presumed: bool) -> Option<Needs> {
        let is_pending = self.decisions.is_pending(decision).unwrap_or(presumed);
        let unread = self.decisions.is_unread(decision);
        unread.then_some(Needs::Decision { decision, is_pending })
    }

    /// What a decision about this set needs.
    pub(crate) fn needs_set(&self, set: u64) -> Option<Needs> {
        self.set(set).ok()?.is_empty().then_some(Needs::Set { set })
    }

    /// Takes a decision back, from the event of its line, with its outcome.
    ///
    /// # Errors
    /// If that is not the event of the decision.
    pub(crate) fn recall_decision(
        &mut self,
        decision: u64,
        (line, event): (Line, &Event),
        outcome: Outcome,
    ) -> Result<(), StepError> {
        self.recall(decision, event)?;
        let Event::Decided { set, chosen, .. } = event else {
            return Err(StepError::Unknown { what: "decision", number: decision });
        };
        let Line { seq, at_us, begin } = line;
        let (action, set) = (*chosen, *set);
        let taken = Decision { action, set, run: 0, at_us, seq, begin, outcome };
        self.decisions.add_early(decision, taken);
        Ok(())
    }

    /// Takes the actions of a set back, from the event of its line.
    ///
    /// # Errors
    /// If that is not the event of the set.
    pub(crate) fn recall_set(&mut self, set: u64, event: &Event) -> Result<(), StepError> {
        let unknown = StepError::Unknown { what: "set", number: set };
        let Event::SetOffered { set: number, actions } = event else { return Err(unknown) };
        if *number != set || set >= self.sets.len() as u64 {
            return Err(unknown);
        }
        let actions: Arc<[u64]> = actions.as_slice().into();
        self.set_of.entry(Arc::clone(&actions)).or_insert(set);
        self.sets[index(set)] = actions;
        Ok(())
    }

    /// Takes back what a decision forgot, from the event of its line. The set of a decision with
    /// rows of its own must be there.
    ///
    /// # Errors
    /// If that is not the event of the decision.
    pub(crate) fn recall(&mut self, decision: u64, event: &Event) -> Result<(), StepError> {
        let unknown = StepError::Unknown { what: "decision", number: decision };
        let Event::Decided { decision: number, set, context, chosen, rows, forecasts, .. } = event
        else {
            return Err(unknown);
        };
        if *number != decision {
            return Err(unknown);
        }
        let own_parts = match rows {
            None => None,
            Some(rows) => {
                let place = self.set(*set)?.binary_search(chosen).map_err(|_missing| unknown)?;
                Some(self.parts_of_row(*chosen, rows, place)?)
            }
        };
        let forecasts = forecasts.map(read_forecasts).transpose()?;
        let facts = Facts { context: context.clone(), forecasts, own_parts };
        self.decisions.recall(decision, Details::new(&facts));
        Ok(())
    }

    /// Takes what each row of features has paid up to now.
    pub(crate) fn recall_rows(&mut self, rows: Option<Rows>) {
        self.rows = rows;
    }

    /// Keeps what the lines of decisions say from now on, also once they are settled. Then every
    /// event can follow without reading the log again.
    pub fn keep_details(&mut self) {
        self.decisions.keep_all();
    }
}
