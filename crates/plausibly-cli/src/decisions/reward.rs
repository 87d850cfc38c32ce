//! `plausibly reward` and `plausibly drop`.

use super::args::{Drop, Reward, Wait};
use super::recording::Recording;
use super::window::settle;
use super::{must_exist, outcomes, time_to_record};
use crate::exit::refuse;
use crate::output;
use anyhow::Result;
use plausibly_log::event::Outcomes;
use plausibly_log::journal::FileStorage;
use plausibly_log::{Log, Recorded, Reward as Paid};
use std::path::Path;

pub(crate) fn run(args: &Reward) -> Result<()> {
    if let Some(file) = &args.csv {
        return outcomes::record(args, file);
    }
    // The command line requires a decision or `--csv`.
    let Some(decision) = args.decision else { return Ok(()) };
    let at = time_to_record(args.time.at, args.force)?;
    let reward = args.value.map(|value| paid(value, args.of)).transpose()?;
    record(&args.log.path, &args.wait, decision, |log| {
        change_outcomes(log, at, args.outcomes)?;
        settle(log, at)?;
        Ok(match reward {
            None => (
                log.retract(at, decision)?,
                "its outcome was taken back; the decision is pending again".into(),
            ),
            Some(reward) if args.correct => {
                (log.correct(at, decision, reward)?, format!("corrected to {reward}"))
            }
            Some(reward) => {
                let recorded = log.reward(at, decision, reward)?;
                (recorded, came(log, decision, reward, recorded))
            }
        })
    })
}

/// What has become of a reward.
fn came(log: &Log<FileStorage>, decision: u64, reward: Paid, recorded: Recorded) -> String {
    let state = log.state();
    let deadline = state.and_then(|state| state.deadline(decision).ok()?);
    match deadline {
        Some(deadline) if recorded == Recorded::Late => format!(
            "{reward} came after its deadline, {deadline}: it is recorded, and counts for nothing"
        ),
        Some(deadline) if state.is_some_and(|state| state.reported(decision).is_some()) => {
            format!("recorded {reward}, which counts from its deadline on, {deadline}")
        }
        _ => format!("recorded {reward}"),
    }
}

/// One reward, or a count.
fn paid(value: f64, of: Option<u64>) -> Result<Paid> {
    let Some(of) = of else { return Ok(value.into()) };
    // A whole number is written without a point.
    match value.to_string().parse() {
        Ok(yes) => Ok(Paid::counts(yes, of)),
        Err(_) => refuse!("with --of, VALUE counts how many outcomes were yes, got {value}"),
    }
}

/// Changes what an outcome is from now on, if that was asked for.
pub(super) fn change_outcomes(
    log: &mut Log<FileStorage>,
    at: i64,
    outcomes: Option<Outcomes>,
) -> Result<()> {
    if let Some(outcomes) = outcomes
        && log.change_outcomes(at, outcomes)? == Recorded::Now
    {
        output::note(&format!("note: from now on the outcomes of this log are {outcomes}"));
    }
    Ok(())
}

pub(crate) fn drop_decision(args: &Drop) -> Result<()> {
    let at = time_to_record(args.time.at, args.force)?;
    record(&args.log.path, &args.wait, args.decision, |log| {
        Ok(if args.undo {
            let recorded = log.undrop(at, args.decision)?;
            (recorded, "no longer dropped; the decision is pending again".into())
        } else {
            let recorded = log.drop_decision(at, args.decision)?;
            // Not before: what is dropped need not be settled.
            settle(log, at)?;
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
