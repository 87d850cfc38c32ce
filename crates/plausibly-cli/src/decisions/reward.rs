//! `plausibly reward` and `plausibly drop`.

use super::args::{Drop, Reward};
use super::recording::Recording;
use super::{ended, must_exist, outcomes, time_to_record};
use crate::exit::Outcome;
use crate::output;
use anyhow::Result;
use plausibly_log::journal::FileStorage;
use plausibly_log::{Log, Recorded};

pub(crate) fn reward(args: &Reward) -> Outcome {
    ended(record(args))
}

fn record(args: &Reward) -> Result<Outcome> {
    if let Some(file) = &args.csv {
        return outcomes::record(args, file);
    }
    // The command line requires a decision or `--csv`.
    let Some(decision) = args.decision else { return Ok(Outcome::Done) };
    let at = time_to_record(args.time.at, args.force)?;
    must_exist(&args.log.path)?;
    let recording = Recording::new(&args.log.path, &args.wait)?;
    let mut log = recording.open()?;
    recording.begin_write()?;
    let (recorded, what) = match args.value {
        None => (
            log.retract(at, decision)?,
            "its outcome was taken back; the decision is pending again".into(),
        ),
        Some(value) if args.correct => {
            (log.correct(at, decision, value)?, format!("corrected to {value}"))
        }
        Some(value) => (log.reward(at, decision, value)?, format!("recorded {value}")),
    };
    acknowledge(&recording, log, decision, recorded, &what)
}

pub(crate) fn drop_decision(args: &Drop) -> Outcome {
    ended((|| {
        let at = time_to_record(args.time.at, args.force)?;
        must_exist(&args.log.path)?;
        let recording = Recording::new(&args.log.path, &args.wait)?;
        let mut log = recording.open()?;
        recording.begin_write()?;
        let recorded = log.drop_decision(at, args.decision)?;
        acknowledge(
            &recording,
            log,
            args.decision,
            recorded,
            "dropped; its outcome will never come",
        )
    })())
}

/// Confirms what was recorded. Names the action, so that the user notices a wrong number.
fn acknowledge(
    recording: &Recording<'_>,
    log: Log<FileStorage>,
    decision: u64,
    recorded: Recorded,
    what: &str,
) -> Result<Outcome> {
    let label = log.state().and_then(|state| state.label_of(decision).ok()).unwrap_or_default();
    let already =
        if recorded == Recorded::Before { " (already recorded; nothing was written)" } else { "" };
    let text = format!("decision {decision} ({}): {what}{already}", output::inline(label));
    drop(log);
    recording.answer(&format!("\"{text}\" is recorded"), &format!("{text}\n"), false)?;
    Ok(Outcome::Done)
}
