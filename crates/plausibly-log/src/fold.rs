//! Reads a log event by event. The state is a function of the lines alone, so reading the same log
//! again always gives the same state.

use crate::certificate::Position;
use crate::event::Event;
use crate::journal::{Checkpoint, End, Entry, JournalError, LineHash, LineReader, Storage, read};
use crate::json;
use crate::log::LogError;
use crate::recipe::Context;
use crate::state::{Line, Needs, Occasion, Rows, State, StepError};
use crate::time::Time;

/// What a state keeps beyond what its next events need.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Keep {
    /// What rows of features have paid, whatever the policy.
    pub(crate) rows: bool,
    /// The contexts and forecasts of settled decisions.
    pub(crate) details: bool,
}

/// The state after the lines read so far.
#[derive(Default)]
pub(crate) struct Folding {
    /// `None` before the first line.
    pub(crate) state: Option<State>,
    /// The hash of the first line, which identifies the log.
    pub(crate) id: LineHash,
    /// Number and hash of the last line.
    last: (u64, LineHash),
    keep: Keep,
}

impl Folding {
    /// Nothing read yet.
    pub(crate) fn keeping(keep: Keep) -> Self {
        Self { keep, ..Self::default() }
    }

    /// Applies the event of the next line of this log.
    pub(crate) fn step<S: Storage>(
        &mut self,
        storage: &S,
        entry: &Entry<'_>,
        event: &Event,
    ) -> Result<(), LogError> {
        let failed = |source: StepError| LogError::Line { seq: entry.seq, source: source.into() };
        let Entry { seq, at_us, begin, hash, .. } = *entry;
        if let Some(state) = &mut self.state {
            if let Some(needs) = state.needs(event) {
                fetch(storage, state, needs, seq)?;
            }
            state.step(Line { seq, at_us, begin }, event).map_err(failed)?;
        } else {
            self.state = Some(begun(event, self.keep).map_err(failed)?);
            self.id = hash;
        }
        self.last = (seq, hash);
        Ok(())
    }
}

/// The state after the first event.
fn begun(opened: &Event, keep: Keep) -> Result<State, StepError> {
    let mut state = State::open(opened)?;
    if keep.rows {
        state.keep_rows();
    }
    if keep.details {
        state.keep_details();
    }
    Ok(state)
}

/// Reads in the log what a state needs for the event of the line with this number.
pub(crate) fn fetch<S: Storage>(
    storage: &S,
    state: &mut State,
    needs: Needs,
    seq: u64,
) -> Result<(), LogError> {
    match needs {
        Needs::Line { decision, at } => {
            let path = storage.path();
            let opened = storage.reader();
            let io = |source| JournalError::Io { what: "open", path: path.into(), source };
            let mut lines = LineReader::new(opened.map_err(io)?);
            let event = parse(&lines.line_at(at, path)?)?;
            state.recall(decision, &event)?;
        }
        Needs::Rows => state.recall_rows(rows_before(storage, seq)?),
    }
    Ok(())
}

/// What each row of features has paid before a line, from all lines before it.
fn rows_before<S: Storage>(storage: &S, seq: u64) -> Result<Option<Rows>, LogError> {
    let mut rows = None;
    let keep = Keep { rows: true, ..Keep::default() };
    let (state, _) = fold_with(storage, Folding::keeping(keep), |step| {
        if step.entry.seq == seq {
            rows = step.state.rows().cloned();
        }
        Ok(())
    })?;
    Ok(rows.or_else(|| state?.rows().cloned()))
}

pub(crate) fn parse(entry: &Entry<'_>) -> Result<Event, LogError> {
    json::read(entry.body)
        .map_err(|source| LogError::Line { seq: entry.seq, source: source.into() })
}

/// An event of a log, and the state before it.
#[derive(Debug)]
pub struct Step<'a> {
    /// The state before the event.
    pub state: &'a State,
    /// The line of the event.
    pub entry: Entry<'a>,
    /// The event.
    pub event: &'a Event,
    position: (LineHash, u64, LineHash),
}

impl<'a> Step<'a> {
    /// The last line that [`Step::state`] includes.
    pub fn position(&self) -> Position {
        let (id, seq, hash) = self.position;
        Position { id: id.to_string(), seq, hash: hash.to_string() }
    }

    /// The occasion of a decision that this event records.
    pub fn occasion(&self, set: u64, context: &'a Context) -> Occasion<'a> {
        let at = Time::from_micros(self.entry.at_us);
        Occasion { position: self.position(), at, set, context }
    }
}

/// Reads a log event by event and calls `visit` for every event but the first. Returns the state
/// after the last event, or `None` for a log without events.
///
/// # Errors
/// If a line is damaged, is not an event or cannot follow the lines before it, or `visit` fails.
pub fn fold<S: Storage>(
    storage: &S,
    visit: impl FnMut(&Step<'_>) -> Result<(), LogError>,
) -> Result<(Option<State>, End), LogError> {
    fold_with(storage, Folding::default(), visit)
}

/// Like [`fold`], from this beginning.
pub(crate) fn fold_with<S: Storage>(
    storage: &S,
    mut folding: Folding,
    mut visit: impl FnMut(&Step<'_>) -> Result<(), LogError>,
) -> Result<(Option<State>, End), LogError> {
    let end = read(storage, &Checkpoint::START, |entry| {
        let event = parse(&entry)?;
        if let Some(state) = &folding.state {
            let position = (folding.id, folding.last.0, folding.last.1);
            visit(&Step { state, entry, event: &event, position })?;
        }
        folding.step(storage, &entry, &event)
    })?;
    Ok((folding.state, end))
}
