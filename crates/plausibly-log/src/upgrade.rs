//! Continues a log of format 1 in a log of format 2.
//!
//! The new log repeats every line of the old one and adds the forecasts that each decision would
//! have recorded, from what had been settled before it. They are functions of the past by a rule
//! that was fixed in advance, so confidence sets made of them are valid. A last line changes the
//! policy to the sets of today.

use crate::certificate::Sums;
use crate::event::{Event, FORMAT, Upgraded};
use crate::fold::{Folding, Keep, fold, fold_keeping, parse};
use crate::forecast::check_forecasts;
use crate::journal::{Checkpoint, Fresh, Storage, read};
use crate::log::LogError;
use crate::policy;
use crate::recipe::Context;
use crate::state::{About, Decision, Line, Outcome, State};
use crate::time::Time;
use std::io::Write;
use std::path::Path;

/// What an upgrade did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Upgrade {
    /// The number of decisions repeated.
    pub decisions: u64,
    /// The number of lines repeated.
    pub lines: u64,
    /// The bytes behind the last line of the old log, which an interrupted write left; they are not
    /// repeated.
    pub unfinished: u64,
    /// What is assumed from now on; empty if the policy goes on unchanged.
    pub assumed: Vec<String>,
}

/// Writes the log of format 2 that continues one of format 1. It will have this path.
///
/// # Cost
/// Two readings of the old log, and O(d³) for each decision.
///
/// # Errors
/// If the old log is damaged, empty or not of format 1, or the new one cannot be written. What was
/// written is then not a log.
pub fn upgrade<S: Storage>(
    old: &S,
    at: impl Into<Time>,
    out: impl Write,
    path: &Path,
) -> Result<Upgrade, LogError> {
    let (before, end) = fold(old, |_| Ok(()))?;
    let before = before.ok_or(LogError::Empty)?;
    if before.format() >= FORMAT {
        return Err(LogError::Upgraded(before.format()));
    }
    let mut made = Made { fresh: Fresh::new(out, path), state: None };
    let origin = Upgraded {
        from: before.format(),
        decisions: before.count_decisions(),
        seq: end.last.seq,
        hash: end.last.hash.to_string(),
    };
    read(old, &Checkpoint::START, |entry| {
        // Another process may have added lines since.
        if entry.seq > origin.seq {
            return Ok(());
        }
        let event = made.upgraded(parse(&entry)?, &origin)?;
        made.add(entry.seq, entry.at_us, &event)
    })?;
    let state = made.state.as_ref().ok_or(LogError::Empty)?;
    let mut assumed = Vec::new();
    if let Some(table) = policy::upgraded(state) {
        let changed = state.policy_changed(&table, state.horizon())?;
        if let Event::PolicyChanged { assumed: said, .. } = &changed {
            assumed.clone_from(said);
        }
        made.add(origin.seq + 1, at.into().micros(), &changed)?;
    }
    made.fresh.finish()?;
    let Upgraded { decisions, seq, .. } = origin;
    Ok(Upgrade { decisions, lines: seq, unfinished: end.unfinished, assumed })
}

/// The upgraded log as far as it was made.
struct Made<'a, W> {
    fresh: Fresh<'a, W>,
    /// `None` before the first line.
    state: Option<State>,
}

impl<W: Write> Made<'_, W> {
    /// An event of the old log as the new one records it.
    fn upgraded(&self, mut event: Event, origin: &Upgraded) -> Result<Event, LogError> {
        match &mut event {
            Event::Opened { format, upgraded, .. } => {
                *format = FORMAT;
                *upgraded = Some(origin.clone());
            }
            Event::Decided { set, chosen, context, forecasts, .. } => {
                let state = self.state.as_ref().ok_or(LogError::Empty)?;
                if state.forecasts() {
                    *forecasts =
                        Some(state.forecast(*chosen, About { set: *set, context, rows: None })?);
                }
            }
            _ => {}
        }
        Ok(event)
    }

    fn add(&mut self, seq: u64, at_us: i64, event: &Event) -> Result<(), LogError> {
        match &mut self.state {
            // A state that keeps all details needs nothing from a log.
            Some(state) => state.step(Line { seq, at_us, begin: 0 }, event)?,
            none => {
                let state = none.insert(State::open(event)?);
                state.keep_details();
            }
        }
        let body = serde_json::to_string(event).map_err(LogError::Unwritable)?;
        Ok(self.fresh.add(at_us, &body)?)
    }
}

/// Checks an upgraded log against the old one, line for line: the same decisions, outcomes and
/// sums, and forecasts that follow from the lines before them.
///
/// # Errors
/// If a log is damaged, or the two differ.
pub fn check_upgrade<S: Storage, T: Storage>(old: &S, new: &T) -> Result<(), LogError> {
    let keep = Keep { details: true, ..Keep::default() };
    let (before, _) = fold_keeping(old, keep, |_| Ok(()))?;
    let before = before.ok_or(LogError::Empty)?;
    let mut after = Folding::keeping(keep);
    let mut seen = None;
    read(new, &Checkpoint::START, |entry| {
        after.step(new, &entry, &parse(&entry)?)?;
        let state = after.state.as_ref();
        let origin = state.and_then(State::upgraded).ok_or(LogError::Differs("origin"))?;
        if entry.seq == origin.seq {
            seen.clone_from(&after.state);
        }
        Ok::<(), LogError>(())
    })?;
    let after = seen.ok_or(LogError::Differs("length"))?;
    let sums = |state: &State| -> Sums {
        let all: Vec<usize> = (0..state.actions().len()).collect();
        state.statistics().settled(&all, 0.0).of_format(before.format())
    };
    let same = [
        ("decisions", after.decisions().map(told).eq(before.decisions().map(told))),
        ("contexts", contexts(&before).eq(contexts(&after))),
        ("actions", before.actions() == after.actions()),
        ("sums", sums(&before) == sums(&after)),
        ("pending decisions", before.pending().eq(after.pending())),
        ("features", before.recipe() == after.recipe()),
    ];
    if let Some((what, _)) = same.into_iter().find(|(_, same)| !same) {
        return Err(LogError::Differs(what));
    }
    check_forecasts(new, u64::MAX)
}

/// A decision without its place in the file.
fn told(one: &Decision) -> (u64, u64, i64, u64, Outcome) {
    let Decision { action, set, at_us, seq, outcome, .. } = *one;
    (action, set, at_us, seq, outcome)
}

fn contexts(state: &State) -> impl Iterator<Item = Option<Context>> {
    (1..=state.count_decisions()).map(|decision| state.context(decision))
}
