//! Derives a whole log from nothing: checks every line and hash, folds every event into the state
//! of the lines before it, and derives every recorded choice and forecast from the numbers of its
//! decision. What people gave, such as settings, rows and outcomes, follows from nothing and is
//! taken as it stands.

use crate::certificate::GroundsError;
use crate::desk::Desk;
use crate::event::{Event, RecordedForecasts};
use crate::fold::{Folding, parse};
use crate::journal::{Damage, Entry, JournalError, Storage, read_present};
use crate::log::LogError;
use crate::state::{About, State};
use serde::Serialize;
use std::fmt;
use thiserror::Error;

/// What a log that passed its audit holds: every line follows from those before it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Audited {
    /// The number of lines.
    pub lines: u64,
    /// The hash of the last line, which covers all lines.
    pub hash: String,
    /// The digest of the exact sums after the last line.
    pub statistics: String,
    /// The number of decisions. Each records the choice that follows.
    pub decisions: u64,
    /// The number of decisions with forecasts. Each records those that follow.
    pub forecasts: u64,
    /// The number of decisions with a reward.
    pub settled: u64,
    /// The number of decisions whose reward may still come.
    pub pending: u64,
    /// The number of decisions whose reward will never come.
    pub dropped: u64,
    /// The number of lines that replaced or took back a reward, or undid a drop.
    pub amended: u64,
    /// The number of actions ever added.
    pub actions: u64,
    /// The number of these that are retired.
    pub retired: u64,
    /// The number of sets offered.
    pub sets: u64,
    /// The number of bytes behind the last whole line: a line that is being written, or that an
    /// interrupted write left. They do not belong to the log.
    pub unfinished: u64,
}

/// Why a log did not pass.
#[derive(Debug, Error)]
pub enum AuditError {
    /// A line that does not follow.
    #[error(transparent)]
    Line(#[from] WrongLine),
    /// A log that cannot be read, or has no line.
    #[error(transparent)]
    Log(#[from] LogError),
}

/// The first line of a log that does not follow from those before it.
#[derive(Clone, Debug, Error, PartialEq, Eq, Serialize)]
#[error("line {line}{}{}: {why}", of_decision(*decision), in_field(*field))]
pub struct WrongLine {
    /// Its number, from 1.
    pub line: u64,
    /// The decision that it is about, if its event can be read and is about one.
    pub decision: Option<u64>,
    /// The part of the line that does not follow.
    pub field: LineField,
    /// What the line says, and what follows.
    pub why: String,
}

/// A part of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum LineField {
    /// The line as a whole: it does not have the form of a line.
    Line,
    /// The version.
    V,
    /// The number.
    Seq,
    /// The time.
    At,
    /// The hash of the line before.
    Prev,
    /// The hash of the event.
    Body,
    /// The event: it cannot be read, or cannot follow.
    Event,
    /// The hash of the line.
    Hash,
    /// The action that a decision chose.
    Chosen,
    /// The name of that action.
    Label,
    /// What the reward of a decision was forecast to be.
    Forecasts,
}

impl fmt::Display for LineField {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Line => "line",
            Self::V => "v",
            Self::Seq => "seq",
            Self::At => "at",
            Self::Prev => "prev",
            Self::Body => "body",
            Self::Event => "event",
            Self::Hash => "hash",
            Self::Chosen => "chosen",
            Self::Label => "label",
            Self::Forecasts => "forecasts",
        })
    }
}

fn of_decision(decision: Option<u64>) -> String {
    decision.map_or_else(String::new, |decision| format!(", decision {decision}"))
}

fn in_field(field: LineField) -> String {
    if field == LineField::Line { String::new() } else { format!(", `{field}`") }
}

/// Derives every line of a log from those before it, and compares. Decisions are derived by the
/// code that takes them.
///
/// It takes no lock and may run beside a writer. It ends at the last line that is whole when it
/// begins.
///
/// # Cost
/// One pass. A decision costs as much as taking it did, without its certificate and its sync.
///
/// # Errors
/// [`AuditError::Line`] names the first line that does not follow. [`AuditError::Log`] if the log
/// cannot be read, or has no line.
pub fn audit<S: Storage>(storage: &S) -> Result<Audited, AuditError> {
    let mut auditing = Auditing::default();
    let end = read_present(storage, |entry| auditing.check(storage, &entry))?;
    let Auditing { folding, forecasts, amended, .. } = auditing;
    let state = folding.state.ok_or(LogError::Empty)?;
    let (decisions, pending) = (state.count_decisions(), state.count_pending());
    let dropped = state.decisions().filter(|one| one.outcome.is_dropped()).count() as u64;
    Ok(Audited {
        lines: end.last.seq,
        hash: end.last.hash.to_string(),
        statistics: state.digest(),
        decisions,
        forecasts,
        settled: decisions - pending - dropped,
        pending,
        dropped,
        amended,
        actions: state.actions().len() as u64,
        retired: state.actions().iter().filter(|action| action.retired).count() as u64,
        sets: state.sets().len() as u64,
        unfinished: end.unfinished,
    })
}

/// The audit of the lines read so far.
#[derive(Default)]
struct Auditing {
    folding: Folding,
    desk: Desk,
    forecasts: u64,
    amended: u64,
}

impl Auditing {
    /// Checks the next line.
    fn check<S: Storage>(&mut self, storage: &S, entry: &Entry<'_>) -> Result<(), AuditError> {
        let wrong = |decision, field, why| WrongLine { line: entry.seq, decision, field, why };
        let event = parse(entry).map_err(|error| wrong(None, LineField::Event, reason(error)))?;
        let decision = decision_of(&event);
        if let Some(state) = &self.folding.state {
            match difference(&mut self.desk, state, &event) {
                Ok(None) => {}
                Ok(Some((field, why))) => return Err(wrong(decision, field, why).into()),
                Err(error) => return Err(wrong(decision, LineField::Event, reason(error)).into()),
            }
        }
        let stepped = self.folding.step(storage, entry, &event);
        stepped.map_err(|error| wrong(decision, LineField::Event, reason(error)))?;
        match event {
            Event::Decided { forecasts, .. } => self.forecasts += u64::from(forecasts.is_some()),
            Event::Corrected { .. } | Event::Retracted { .. } | Event::Undropped { .. } => {
                self.amended += 1;
            }
            _ => {}
        }
        Ok(())
    }
}

/// The first field of a decision that differs from what follows in the state before it. Other
/// events record nothing that could be derived.
///
/// # Errors
/// If no decision follows.
fn difference(
    desk: &mut Desk,
    state: &State,
    event: &Event,
) -> Result<Option<(LineField, String)>, LogError> {
    let Event::Decided { set, context, chosen, label, rows, forecasts, .. } = event else {
        return Ok(None);
    };
    let about = About { set: *set, context, rows: rows.as_ref() };
    let numbers = desk.derive(state, about, None)?;
    let place = numbers.choose()?.place;
    let follows = numbers.basis.ids[place];
    let name = &state.action(follows)?.label;
    if *chosen != follows {
        let why = format!(
            "it records action {chosen} (\"{label}\"), but action {follows} (\"{name}\") follows \
             from the lines before it"
        );
        return Ok(Some((LineField::Chosen, why)));
    }
    if label != name {
        let why = format!("it records \"{label}\", but action {follows} is \"{name}\"");
        return Ok(Some((LineField::Label, why)));
    }
    let made = match numbers.forecast(place).map_err(GroundsError::from)? {
        // The rules of the first format have none, but its upgraded logs do.
        None if state.forecasts() => Some(state.forecast(follows, about)?),
        made => made,
    };
    if *forecasts != made {
        let why = format!(
            "it records {}, but {} follow from the lines before it",
            said(*forecasts),
            said(made)
        );
        return Ok(Some((LineField::Forecasts, why)));
    }
    Ok(None)
}

/// The decision that an event is about.
fn decision_of(event: &Event) -> Option<u64> {
    match event {
        Event::Decided { decision, .. } => Some(*decision),
        other => other.outcome_of(),
    }
}

fn said(forecasts: Option<RecordedForecasts>) -> String {
    let Some(RecordedForecasts { steps: [a, b, c], counts }) = forecasts else {
        return "none".into();
    };
    format!("[{a}, {b}, {c}] with {counts} counting")
}

/// An error about a line, without the number of the line.
fn reason(error: LogError) -> String {
    match error {
        LogError::Line { source, .. } => source.to_string(),
        other => other.to_string(),
    }
}

impl From<JournalError> for AuditError {
    fn from(error: JournalError) -> Self {
        let JournalError::Damaged { seq: line, offset, damage, .. } = error else {
            return Self::Log(error.into());
        };
        let way_out = damage.way_out();
        let why = format!("{damage} (the line begins at byte {offset}); {way_out}");
        WrongLine { line, decision: None, field: field_of(&damage), why }.into()
    }
}

/// The part of a line that is damaged.
fn field_of(damage: &Damage) -> LineField {
    match damage {
        Damage::Version { .. } => LineField::V,
        Damage::Gap { .. } => LineField::Seq,
        Damage::Chain { .. } => LineField::Prev,
        Damage::Backwards { .. } => LineField::At,
        Damage::LineHash => LineField::Hash,
        Damage::BodyHash => LineField::Body,
        Damage::NotUtf8 { .. } | Damage::Body(_) => LineField::Event,
        Damage::Frame { .. } | Damage::Unended | Damage::TooLong => LineField::Line,
    }
}
