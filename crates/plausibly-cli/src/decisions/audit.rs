//! `plausibly audit`.

use super::args::Audit;
use super::existing;
use crate::exit;
use crate::output::{self, plural};
use anyhow::{Context as _, Error, Result, bail};
use plausibly_log::{AuditError, Audited, audit};
use serde_json::{Value, json};
use std::path::Path;

pub(crate) fn run(args: &Audit) -> Result<()> {
    let mut failed = 0;
    for log in &args.logs {
        let found = one(log);
        if args.json {
            output::json(&format!("{}\n", report(log, &found)?))?;
        } else if let Ok(found) = &found {
            output::data(&text(log, found))?;
        }
        let Err(error) = found else { continue };
        if args.logs.len() == 1 {
            return Err(error);
        }
        // The other logs are audited nevertheless.
        output::note(&exit::text(&error));
        failed += 1;
    }
    if failed > 0 {
        bail!("{failed} of {} logs did not pass", args.logs.len());
    }
    Ok(())
}

fn one(log: &Path) -> Result<Audited> {
    let audited = audit(&existing(log, 1)?).map_err(|error| match error {
        AuditError::Log(error) => Error::from(error),
        wrong @ AuditError::Line(_) => wrong.into(),
    });
    audited.with_context(|| log.display().to_string())
}

/// What `--json` prints about a log. The flaw of a log that could not be read has no line.
fn report(log: &Path, found: &Result<Audited>) -> Result<Value> {
    let mut report = json!({ "log": log.display().to_string(), "passed": found.is_ok() });
    let (counts, flaw) = match found {
        Ok(found) => (serde_json::to_value(found)?, Value::Null),
        Err(error) => match error.downcast_ref() {
            Some(AuditError::Line(wrong)) => (json!({}), serde_json::to_value(wrong)?),
            _ => {
                let why = exit::message(error);
                (json!({}), json!({ "line": null, "decision": null, "field": null, "why": why }))
            }
        },
    };
    if let (Value::Object(report), Value::Object(counts)) = (&mut report, counts) {
        report.extend(counts);
        report.insert("flaw".into(), flaw);
    }
    Ok(report)
}

fn text(log: &Path, found: &Audited) -> String {
    let mut text = format!(
        "{}: {}, and each follows from those before it\n",
        log.display(),
        plural(found.lines, "line", "lines")
    );
    text += &format!(
        "{} ({} settled, {} pending, {} dropped): every choice{} was derived again, and is right\n",
        plural(found.decisions, "decision", "decisions"),
        found.settled,
        found.pending,
        found.dropped,
        if found.forecasts > 0 { " and every forecast" } else { "" },
    );
    let actions = plural(found.actions, "action", "actions");
    let sets = plural(found.sets, "set", "sets");
    text += &format!("{actions} ({} retired), {sets}\n", found.retired);
    if found.amended > 0 {
        let lines = plural(found.amended, "line changes", "lines change");
        text += &format!("{lines} what was recorded about an earlier outcome\n");
    }
    if found.unfinished > 0 {
        text += &format!(
            "the last {} are of a line that is being written, or that an interrupted write left\n",
            plural(found.unfinished, "byte", "bytes")
        );
    }
    text + &format!("statistics {}\nlast line  {}\n", found.statistics, found.hash)
}
