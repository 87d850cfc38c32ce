//! Reads a log event by event. The state is a function of the lines alone, so reading the same log
//! again always gives the same state.

use crate::certificate::Position;
use crate::event::Event;
use crate::journal::{Checkpoint, End, Entry, LineHash, Storage, read};
use crate::json;
use crate::log::LogError;
use crate::recipe::Context;
use crate::state::{Occasion, State, StepError};
use crate::time::Time;

/// The state after the lines read so far.
#[derive(Default)]
pub(crate) struct Folding {
    /// `None` before the first line.
    pub(crate) state: Option<State>,
    /// The hash of the first line, which identifies the log.
    pub(crate) id: LineHash,
    /// Number and hash of the last line.
    last: (u64, LineHash),
    /// Whether the state keeps what rows of features have paid, whatever the policy.
    keeps_rows: bool,
}

impl Folding {
    /// Nothing read yet; the state may keep what rows of features have paid, whatever the policy.
    pub(crate) fn keeping_rows(keeps_rows: bool) -> Self {
        Self { keeps_rows, ..Self::default() }
    }

    /// Applies the event of the next line.
    pub(crate) fn step(&mut self, entry: &Entry<'_>, event: &Event) -> Result<(), LogError> {
        let failed = |source: StepError| LogError::Line { seq: entry.seq, source: source.into() };
        if let Some(state) = &mut self.state {
            state.step(entry.seq, entry.at_us, event).map_err(failed)?;
        } else {
            let mut state = State::open(event).map_err(failed)?;
            if self.keeps_rows {
                state.keep_rows().map_err(failed)?;
            }
            self.state = Some(state);
            self.id = entry.hash;
        }
        self.last = (entry.seq, entry.hash);
        Ok(())
    }
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
        let rows = match self.event {
            Event::Decided { rows, .. } => rows.as_ref(),
            _ => None,
        };
        Occasion { position: self.position(), at, set, context, rows }
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
        folding.step(&entry, &event)
    })?;
    Ok((folding.state, end))
}
