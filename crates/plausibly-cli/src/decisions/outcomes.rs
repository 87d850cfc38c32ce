//! `plausibly reward --csv`: records the outcomes of a file, all of them or none.

use super::args::Reward;
use super::recording::Recording;
use super::reward::change_outcomes;
use super::window::settle;
use super::{must_exist, time_to_record};
use crate::exit::Ending;
use crate::output;
use anyhow::{Context as _, Error, Result, bail};
use plausibly_log::journal::FileStorage;
use plausibly_log::{FormRow, Log, LogError, NewOutcome, Recorded, read_form};
use std::fs::File;
use std::path::Path;

pub(super) fn record(args: &Reward, path: &Path) -> Result<()> {
    let at = time_to_record(args.time.at, args.force)?;
    must_exist(&args.log.path)?;
    let shown = path.display();
    let refusal = |what: String| Ending::Refused(format!("{shown}: {what}. Nothing was recorded."));
    let file = File::open(path).with_context(|| format!("cannot read {shown}"))?;
    let rows = read_form(file).map_err(|error| refusal(error.to_string()))?;
    let recording = Recording::new(&args.log.path, &args.wait)?;
    let mut log = recording.open()?;
    if let Some(mismatch) = rows.iter().find_map(|row| another_label(&log, row)) {
        bail!(refusal(mismatch));
    }
    let outcomes: Vec<(u64, NewOutcome)> =
        rows.iter().map(|row| (row.decision, row.outcome)).collect();
    recording.begin_write()?;
    change_outcomes(&mut log, at, args.outcomes)?;
    let recorded = log.record_all(at, &outcomes, args.correct).map_err(|error| match error {
        LogError::Entry { index, source } => {
            Error::from(refusal(format!("line {}: {source}", rows[index].line)))
        }
        error => error.into(),
    })?;
    settle(&mut log, at)?;
    drop(log);
    let text = summary(&rows, &recorded);
    recording.answer(
        &format!("all of {shown} (\"{text}\") is recorded"),
        &format!("{text}\n"),
        false,
    )
}

/// The message for a row with another action than its decision chose: rows have moved, or the file
/// belongs to another log.
fn another_label(log: &Log<FileStorage>, row: &FormRow) -> Option<String> {
    let chosen = log.state()?.label_of(row.decision).ok()?;
    let found = row.label.as_deref().filter(|found| found.trim() != chosen.trim())?;
    Some(format!(
        "line {}: decision {} chose `{}`, and the file says `{}`; correct the row, or remove the \
         column `label` if a spreadsheet has only changed how it is written",
        row.line,
        row.decision,
        output::inline(chosen),
        output::inline(found)
    ))
}

fn summary(rows: &[FormRow], recorded: &[Recorded]) -> String {
    let count = |which: fn(&NewOutcome) -> bool, when: Recorded| {
        rows.iter()
            .zip(recorded)
            .filter(|(row, recorded)| which(&row.outcome) && **recorded == when)
            .count() as u64
    };
    let rewards = count(|outcome| matches!(outcome, NewOutcome::Reward(_)), Recorded::Now);
    let drops = count(|outcome| matches!(outcome, NewOutcome::Drop), Recorded::Now);
    let before = count(|_| true, Recorded::Before);
    let already = if before > 0 { format!("; {before} already recorded") } else { String::new() };
    let late = count(|_| true, Recorded::Late);
    let late = if late > 0 { format!("; {late} came too late") } else { String::new() };
    format!(
        "recorded {} and {}{already}{late}",
        output::plural(rewards, "reward", "rewards"),
        output::plural(drops, "drop", "drops")
    )
}
