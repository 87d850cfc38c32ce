//! `plausibly reward` and `plausibly drop`.

use super::args::{Drop, Reward};
use super::{ended, line, moment, must_exist, open, outcomes, print, put_away};
use crate::exit::Outcome;
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
    // The command line has one or the other.
    let Some(decision) = args.decision else { return Ok(Outcome::Done) };
    must_exist(&args.log.path)?;
    let mut log = open(&args.log.path)?;
    let at = moment(args.time.at);
    let (recorded, what) = match args.value {
        None => (log.retract(at, decision)?, "its outcome was taken back and is outstanding again".into()),
        Some(value) if args.correct => (log.correct(at, decision, value)?, format!("corrected to {value}")),
        Some(value) => (log.reward(at, decision, value)?, format!("recorded {value}")),
    };
    acknowledge(&log, decision, recorded, &what)?;
    put_away(log);
    Ok(Outcome::Done)
}

pub(crate) fn drop_decision(args: &Drop) -> Outcome {
    ended((|| {
        must_exist(&args.log.path)?;
        let mut log = open(&args.log.path)?;
        let recorded = log.drop_decision(moment(args.time.at), args.decision)?;
        acknowledge(&log, args.decision, recorded, "dropped, its outcome will never come")?;
        put_away(log);
        Ok(Outcome::Done)
    })())
}

/// Names the action that is credited, so that a wrong number of a decision is noticed.
fn acknowledge(log: &Log<FileStorage>, decision: u64, recorded: Recorded, what: &str) -> Result<()> {
    let label = log.state().and_then(|state| state.label_of(decision).ok()).unwrap_or_default();
    let already = if recorded == Recorded::Before { " (already recorded; nothing was written)" } else { "" };
    print(&format!("decision {decision} ({}): {what}{already}\n", line(label)))
}
