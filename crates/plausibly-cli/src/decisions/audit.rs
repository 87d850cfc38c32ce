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
        Err(error) => (json!({}), flaw(error)?),
    };
    if let (Value::Object(report), Value::Object(counts)) = (&mut report, counts) {
        report.extend(counts);
        report.insert("flaw".into(), flaw);
    }
    Ok(report)
}

fn flaw(error: &Error) -> Result<Value> {
    if let Some(AuditError::Line(wrong)) = error.downcast_ref() {
        return Ok(serde_json::to_value(wrong)?);
    }
    let why = exit::message(error);
    Ok(json!({ "line": null, "decision": null, "field": null, "why": why }))
}

fn text(log: &Path, found: &Audited) -> String {
    let (log, lines) = (log.display(), plural(found.lines, "line", "lines"));
    let decisions = plural(found.decisions, "decision", "decisions");
    let Audited { settled, pending, dropped, retired, .. } = found;
    let forecasts = if found.forecasts > 0 { " and every forecast" } else { "" };
    let actions = plural(found.actions, "action", "actions");
    let sets = plural(found.sets, "set", "sets");
    let mut text = vec![
        format!("{log}: {lines}, and each follows from those before it"),
        format!(
            "{decisions} ({settled} settled, {pending} pending, {dropped} dropped): every \
             choice{forecasts} was derived again, and is right"
        ),
        format!("{actions} ({retired} retired), {sets}"),
    ];
    if found.amended > 0 {
        let lines = plural(found.amended, "line changes", "lines change");
        text.push(format!("{lines} what was recorded about an earlier outcome"));
    }
    if found.unfinished > 0 {
        let bytes = plural(found.unfinished, "byte", "bytes");
        text.push(format!(
            "the last {bytes} are of a line that is being written, or that an interrupted write \
             left"
        ));
    }
    text.push(format!("statistics {}", found.statistics));
    text.push(format!("last line  {}\n", found.hash));
    text.join("\n")
}
