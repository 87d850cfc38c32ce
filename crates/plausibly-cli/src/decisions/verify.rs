//! `plausibly verify`.

use super::args::Verify;
use super::{existing, read_certificate};
use crate::output;
use anyhow::{Result, bail};
use plausibly_log::certificate::{Certificate, Flaw};
use plausibly_log::journal::Storage;
use plausibly_log::{LogError, certificate, check_forecasts};
use serde_json::json;

pub(crate) fn run(args: &Verify) -> Result<()> {
    let found = read_certificate(&args.certificate)?;
    let flaw = match (found.check(), &args.log) {
        (Err(flaw), _) => Some(flaw.to_string()),
        (Ok(()), None) => None,
        (Ok(()), Some(log)) => against_log(&found, &existing(log, 1)?)?,
    };
    let decision = found.grounds.decision;
    if args.json {
        let verdict = json!({
            "decision": decision,
            "valid": flaw.is_none(),
            "checked": if args.log.is_some() { "certificate and log" } else { "certificate" },
            "flaw": flaw,
        });
        output::json(&format!("{verdict:#}\n"))?;
    } else if flaw.is_none() {
        output::data(&passed(&found, args.log.is_some()))?;
    }
    if let Some(flaw) = flaw {
        let other = flaw.starts_with("grounds.log.id:");
        let verdict = if other { "from another log" } else { "wrong" };
        bail!("the certificate of decision {decision} is {verdict}: {flaw}");
    }
    Ok(())
}

/// The first difference from the log, if any. A decision that the log does not have is a flaw of
/// the certificate.
fn against_log(found: &Certificate, storage: &impl Storage) -> Result<Option<String>> {
    let most =
        if found.grounds.unlisted.is_some() { found.grounds.actions.len() } else { usize::MAX };
    match certificate(storage, found.grounds.decision, most) {
        Ok(true_one) => {
            check_forecasts(storage, found.grounds.decision)?;
            Ok(found.check_against(&true_one).err().map(|flaw: Flaw| flaw.to_string()))
        }
        Err(LogError::Step(unknown)) => Ok(Some(format!("grounds.decision: {unknown} in the log"))),
        Err(error) => Err(error.into()),
    }
}

fn passed(found: &Certificate, with_log: bool) -> String {
    let grounds = &found.grounds;
    let follows = format!(
        "decision {}: every statement follows from the statistics in the certificate ({}, {})",
        grounds.decision,
        output::plural(grounds.actions.len() as u64, "action", "actions"),
        output::plural(grounds.statistics.observations, "reward", "rewards")
    );
    let truth = if with_log {
        format!(
            "and these statistics are those of the log at line {}: nothing was left out, added or \
             changed",
            grounds.log.seq
        )
    } else if grounds.unlisted.is_some() {
        "only the log can show whether these statistics, and the statements about unlisted \
         actions, are true: add --log LOG"
            .into()
    } else {
        "only the log can show whether these statistics are true: add --log LOG".into()
    };
    format!("{follows}\n{truth}\n")
}
