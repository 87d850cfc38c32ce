//! `plausibly history`.

use super::args::History;
use super::existing;
use crate::output;
use anyhow::Result;
use plausibly_log::{OutcomeStatus, PastDecision, form, history};

pub(crate) fn run(args: &History) -> Result<()> {
    let mut past = history(&existing(&args.log.path, 1)?)?;
    past.retain(|one| !args.pending || one.outcome == OutcomeStatus::Pending);
    let last = args.last.and_then(|last| usize::try_from(last).ok()).unwrap_or(usize::MAX);
    let passed_over = past.len().saturating_sub(last);
    let past = &past[passed_over..];
    if args.csv {
        // Prints every byte unchanged: the file must contain the labels themselves.
        output::document(&form(past))
    } else if args.json {
        let lines: Result<String> =
            past.iter().map(|one| Ok(serde_json::to_string(one)? + "\n")).collect();
        output::json(&lines?)
    } else {
        output::data(&table(past))
    }
}

fn table(past: &[PastDecision]) -> String {
    if past.is_empty() {
        return "no such decisions\n".into();
    }
    let any_context = past.iter().any(|one| !one.context.is_empty());
    let row = |one: &PastDecision| {
        let mut row = vec![one.decision.to_string(), seconds(&one.at), one.label.clone()];
        if any_context {
            let pairs: Vec<String> =
                one.context.iter().map(|(key, value)| format!("{key}={value}")).collect();
            row.push(pairs.join(", "));
        }
        let outcome = match one.outcome {
            OutcomeStatus::Dropped => "dropped".into(),
            OutcomeStatus::Pending => "pending".into(),
            OutcomeStatus::Reported => format!("{}, held until its deadline", one.told_reward()),
            OutcomeStatus::Rewarded => one.told_reward(),
        };
        row.push(if one.late { outcome + "; another came too late" } else { outcome });
        row
    };
    let rows: Vec<Vec<String>> = past.iter().map(row).collect();
    let with_context = ["decision", "time (UTC)", "action", "context", "outcome"];
    let without = ["decision", "time (UTC)", "action", "outcome"];
    output::left_table(if any_context { &with_context } else { &without }, &rows)
}

/// A time without its fraction of a second.
fn seconds(at: &str) -> String {
    at.split('.').next().unwrap_or(at).replace('T', " ")
}
