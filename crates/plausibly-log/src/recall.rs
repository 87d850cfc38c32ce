//! Reads again in the log what a state has forgotten.

use crate::event::Event;
use crate::fold::{Keep, fold_keeping, parse};
use crate::journal::{LineAt, LineReader, Storage, io_error};
use crate::log::LogError;
use crate::milestones::Index;
use crate::state::{Line, Needs, Outcome, Rows, State};

/// A log, and an index of its lines before the milestone where a state was rebuilt.
#[derive(Debug)]
pub(crate) struct Recall<'a, S> {
    pub(crate) storage: &'a S,
    pub(crate) index: Option<&'a Index>,
}

impl<S: Storage> Recall<'_, S> {
    /// Gives a state what it needs for the event of the line with this number.
    pub(crate) fn fetch(&self, state: &mut State, needs: Needs, seq: u64) -> Result<(), LogError> {
        let index = || self.index.ok_or(LogError::Milestones);
        match needs {
            Needs::Line { decision, at } => {
                let (_, event) = self.event(at)?;
                self.fetch_set_of(state, &event, seq)?;
                state.recall(decision, &event)?;
            }
            Needs::Rows => state.recall_rows(rows_before(self.storage, seq)?),
            Needs::Set { set } => {
                let at = index()?.set(self.storage, set)?;
                state.recall_set(set, &self.event(at)?.1)?;
            }
            Needs::Decision { decision, is_pending } => {
                let changed =
                    if is_pending { None } else { index()?.outcome(self.storage, decision)? };
                let outcome = match changed {
                    None => Outcome::Pending,
                    Some(at) => {
                        let (line, event) = self.event(at)?;
                        Outcome::recorded(line.seq, &event).ok_or(LogError::Milestones)?
                    }
                };
                let (line, event) = self.event(index()?.decided(self.storage, decision)?)?;
                self.fetch_set_of(state, &event, seq)?;
                state.recall_decision(decision, (line, &event), outcome)?;
            }
        }
        Ok(())
    }

    /// Gives a state the set of a decision with rows of its own: they stand in its order.
    fn fetch_set_of(&self, state: &mut State, event: &Event, seq: u64) -> Result<(), LogError> {
        let Event::Decided { set, rows: Some(_), .. } = event else { return Ok(()) };
        state.needs_set(*set).map_or(Ok(()), |needs| self.fetch(state, needs, seq))
    }

    /// Reads single lines.
    pub(crate) fn lines(&self) -> Result<LineReader<S::Reader>, LogError> {
        let opened = self.storage.reader().map(LineReader::new);
        Ok(opened.map_err(io_error(self.storage, "open"))?)
    }

    /// The event of a line, and its frame.
    pub(crate) fn event(&self, at: LineAt) -> Result<(Line, Event), LogError> {
        let mut lines = self.lines()?;
        let entry = lines.line_at(at, self.storage.path())?;
        Ok((Line { seq: entry.seq, at_us: entry.at_us, begin: entry.begin }, parse(&entry)?))
    }
}

/// What each row of features has paid before a line, from all lines before it.
fn rows_before<S: Storage>(storage: &S, seq: u64) -> Result<Option<Rows>, LogError> {
    let mut found = None;
    let keep = Keep { rows: true, ..Keep::default() };
    let (state, end) = fold_keeping(storage, keep, |step| {
        if step.entry.seq == seq {
            found = Some(step.state.rows().cloned());
        }
        Ok(())
    })?;
    match found {
        Some(rows) => Ok(rows),
        // The line is the next one.
        None if end.last.seq + 1 == seq => Ok(state.and_then(|state| state.rows().cloned())),
        None => Err(LogError::Milestones),
    }
}
