//! `plausibly reward` and `plausibly drop`.

use super::args::{Drop, Reward, Wait};
use super::recording::Recording;
use super::{must_exist, outcomes, time_to_record};
use crate::output;
use anyhow::Result;
use plausibly_log::journal::FileStorage;
use plausibly_log::{Log, Recorded};
use std::path::Path;

pub(crate) fn run(args: &Reward) -> Result<()> {
    if let Some(file) = &args.csv {
        return outcomes::record(args, file);
    }
    // The command line requires a decision or `--csv`.
    let Some(decision) = args.decision else { return Ok(()) };
    let at = time_to_record(args.time.at, args.force)?;
    record(&args.log.path, &args.wait, decision, |log| {
        Ok(match args.value {
            None => (
                log.retract(at, decision)?,
                "its outcome was taken back; the decision is pending again".into(),
            ),
            Some(value) if args.correct => {
                (log.correct(at, decision, value)?, format!("corrected to {value}"))
            }
            Some(value) => (log.reward(at, decision, value)?, format!("recorded {value}")),
        })
    })
}

pub(crate) fn drop_decision(args: &Drop) -> Result<()> {
    let at = time_to_record(args.time.at, args.force)?;
    record(&args.log.path, &args.wait, args.decision, |log| {
        Ok(if args.undo {
            let recorded = log.undrop(at, args.decision)?;
            (recorded, "no longer dropped; the decision is pending again".into())
        } else {
            let recorded = log.drop_decision(at, args.decision)?;
            (recorded, "dropped; its outcome will never come".into())
        })
    })
}

/// Records an event of a decision and confirms it in the words that `event` returns. Names the
/// action, so that the user notices a wrong number.
fn record(
    path: &Path,
    wait: &Wait,
    decision: u64,
    event: impl FnOnce(&mut Log<FileStorage>) -> Result<(Recorded, String)>,
) -> Result<()> {
    must_exist(path)?;
    let recording = Recording::new(path, wait)?;
    let mut log = recording.open()?;
    recording.begin_write()?;
    let (recorded, what) = event(&mut log)?;
    let label = log.state().and_then(|state| state.label_of(decision).ok()).unwrap_or_default();
    let already =
        if recorded == Recorded::Before { " (already recorded; nothing was written)" } else { "" };
    let text = format!("decision {decision} ({}): {what}{already}", output::inline(label));
    drop(log);
    recording.answer(&format!("\"{text}\" is recorded"), &format!("{text}\n"), false)
}
