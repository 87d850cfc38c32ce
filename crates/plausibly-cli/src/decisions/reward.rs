//! `plausibly reward` and `plausibly drop`.

use super::args::{Drop, Reward};
use super::{ended, moment, must_exist, open, print, put_away};
use crate::exit::Outcome;
use anyhow::Result;
use plausibly_log::Recorded;

pub(crate) fn reward(args: &Reward) -> Outcome {
    ended(record(args))
}

fn record(args: &Reward) -> Result<Outcome> {
    must_exist(&args.log.path)?;
    let mut log = open(&args.log.path)?;
    let (at, decision) = (moment(args.time.at), args.decision);
    let (recorded, what) = match args.value {
        None => (log.retract(at, decision)?, "its outcome was taken back and is outstanding again".into()),
        Some(value) if args.correct => {
            (log.correct(at, decision, value)?, format!("its outcome is now {value}"))
        }
        Some(value) => (log.reward(at, decision, value)?, format!("it paid {value}")),
    };
    acknowledge(decision, recorded, &what)?;
    put_away(log);
    Ok(Outcome::Done)
}

pub(crate) fn drop_decision(args: &Drop) -> Outcome {
    ended((|| {
        must_exist(&args.log.path)?;
        let mut log = open(&args.log.path)?;
        let recorded = log.drop_decision(moment(args.time.at), args.decision)?;
        acknowledge(args.decision, recorded, "its outcome will never come")?;
        put_away(log);
        Ok(Outcome::Done)
    })())
}

fn acknowledge(decision: u64, recorded: Recorded, what: &str) -> Result<()> {
    let already = if recorded == Recorded::Before { " (recorded before; nothing was written)" } else { "" };
    print(&format!("decision {decision}: {what}{already}\n"))
}
