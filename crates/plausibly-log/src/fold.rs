//! Reads a log event by event. The state is a function of the lines alone, so reading the same log
//! again always gives the same state.

use crate::certificate::Position;
use crate::event::Event;
use crate::journal::{Checkpoint, End, Entry, JournalError, LineHash, Storage, read};
use crate::json;
use crate::log::LogError;
use crate::milestones::Index;
use crate::recall::Recall;
use crate::recipe::Context;
use crate::state::{Line, Occasion, State, StepError};
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
    /// The last line.
    last: Checkpoint,
    keep: Keep,
    /// Finds lines before the milestone where reading began.
    pub(crate) index: Option<Index>,
}

impl Folding {
    /// The state at a milestone, which is the last line of this index.
    pub(crate) fn from_milestone(
        state: State,
        id: LineHash,
        at: &Checkpoint,
        index: Index,
    ) -> Self {
        Self { state: Some(state), id, last: *at, index: Some(index), ..Self::default() }
    }

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
        self.fetch(storage, entry, event)?;
        let failed = |source: StepError| LogError::Line { seq: entry.seq, source: source.into() };
        let Entry { seq, at_us, begin, hash, .. } = *entry;
        if let Some(state) = &mut self.state {
            state.step(Line { seq, at_us, begin }, event).map_err(failed)?;
        } else {
            self.state = Some(begun(event, self.keep).map_err(failed)?);
            self.id = hash;
        }
        // Where the line ends is where the next one begins.
        self.last = Checkpoint { seq, hash, offset: begin, at_us };
        Ok(())
    }
}

impl Folding {
    /// Reads in the log what the state needs for the event of its next line.
    fn fetch<S: Storage>(
        &mut self,
        storage: &S,
        entry: &Entry<'_>,
        event: &Event,
    ) -> Result<(), LogError> {
        let Some(state) = &mut self.state else { return Ok(()) };
        let recall = Recall { storage, index: self.index.as_ref() };
        state.needs(event).map_or(Ok(()), |needs| recall.fetch(state, needs, entry.seq))
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
    /// The first line of the log, and the last one before the event.
    id: LineHash,
    last: Checkpoint,
}

impl<'a> Step<'a> {
    /// The last line that [`Step::state`] includes.
    pub fn position(&self) -> Position {
        let Checkpoint { seq, hash, .. } = self.last;
        Position { id: self.id.to_string(), seq, hash: hash.to_string() }
    }

    /// That line.
    pub(crate) fn last_line(&self) -> Checkpoint {
        self.last
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
    let (folding, end) = fold_from(storage, Folding::default(), &Checkpoint::START, visit)?;
    Ok((folding.state, end))
}

/// Like [`fold`], with a state that keeps more.
pub(crate) fn fold_keeping<S: Storage>(
    storage: &S,
    keep: Keep,
    visit: impl FnMut(&Step<'_>) -> Result<(), LogError>,
) -> Result<(Option<State>, End), LogError> {
    let (folding, end) = fold_from(storage, Folding::keeping(keep), &Checkpoint::START, visit)?;
    Ok((folding.state, end))
}

/// Like [`fold`], behind this line. An error of any kind ends the reading.
pub(crate) fn fold_from<S: Storage, E: From<LogError> + From<JournalError>>(
    storage: &S,
    mut folding: Folding,
    from: &Checkpoint,
    mut visit: impl FnMut(&Step<'_>) -> Result<(), E>,
) -> Result<(Folding, End), E> {
    let end = read(storage, from, |entry| {
        let event = parse(&entry)?;
        folding.fetch(storage, &entry, &event)?;
        if let Some(state) = &folding.state {
            let last = Checkpoint { offset: entry.begin, ..folding.last };
            visit(&Step { state, entry, event: &event, id: folding.id, last })?;
        }
        folding.step(storage, &entry, &event)?;
        Ok::<(), E>(())
    })?;
    Ok((folding, end))
}
