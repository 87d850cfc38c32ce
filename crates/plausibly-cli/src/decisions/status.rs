//! `plausibly status`.

use super::args::StatusArgs;
use super::{existing, now};
use crate::files::{Kind, Outputs};
use crate::output;
use anyhow::Result;
use plausibly_log::certificate::{Finding, RuledOut, Standing};
use plausibly_log::{Status, Tried, status};
use std::path::PathBuf;

/// A picture shows up to 200 points of history.
const POINTS: u64 = 200;
/// Prints at most 30 rows of a table, and counts the rest.
const ROWS: usize = 30;

pub(crate) fn run(args: &StatusArgs) -> Result<()> {
    let mut outputs = Outputs::new(args.force).with_log(&args.log.path);
    let mut target = |path: &Option<PathBuf>, kind| {
        path.as_deref().map(|path| outputs.file(path, kind)).transpose()
    };
    let (page, picture) = (target(&args.html, Kind::Page)?, target(&args.svg, Kind::Picture)?);
    let found = status(&existing(&args.log.path, 2)?, args.time.at.unwrap_or_else(now), POINTS)?;
    for (target, content) in [
        (page, plausibly_report::status_page as fn(&Status) -> String),
        (picture, plausibly_report::status_svg),
    ] {
        if let Some(target) = target {
            target.write(&content(&found))?;
            output::note(&format!("wrote {target}"));
        }
    }
    if args.json {
        output::json(&format!("{}\n", serde_json::to_string(&found)?))?;
    } else if args.html.is_none() && args.svg.is_none() {
        output::data(&text(&found))?;
    }
    Ok(())
}

fn text(status: &Status) -> String {
    let now = &status.now;
    let (averages, some) = match now.findings.plausible {
        1 => ("its average is", "it has"),
        _ => ("their averages are", "some of these have"),
    };
    let within = match now.findings.known_within {
        Some(within) => format!("{averages} known to within ±{}", now.gap(within)),
        None => format!("{some} no outcome yet"),
    };
    let mut text = format!(
        "{}: {} settled, {} pending{}, {} dropped\n{}{} of {} could still be best; {within}\n",
        output::plural(status.decisions, "decision", "decisions"),
        status.settled,
        status.pending.len(),
        held(status),
        status.dropped,
        if status.paused {
            "paused: the log takes no decisions (`plausibly resume`)\n"
        } else {
            ""
        },
        now.findings.plausible,
        now.grounds.offered(),
    );
    text += &now.words().outlook().map_or_else(String::new, |outlook| outlook + "\n");
    text += "\n";
    let mut actions: Vec<&Finding> = now.findings.actions.iter().collect();
    let out = |action: &Finding| action.standing != Standing::Plausible;
    let mean = |action: &Finding| action.mean.unwrap_or(f64::INFINITY);
    actions.sort_by(|a, b| out(a).cmp(&out(b)).then(mean(b).total_cmp(&mean(a))));
    let rows: Vec<Vec<String>> =
        actions.iter().take(ROWS).map(|action| row(status, action)).collect();
    let heading = ["action", "tries", "last outcome", "estimate", "at least", "at most", ""];
    text += &output::left_table(&heading, &rows);
    text += &more(actions.len(), ROWS);
    text += "\n";
    text += &narrowed(status);
    text + &checked(status) + &pending(status) + &waiting(status)
}

/// How many outcomes are held until their deadlines, and when the next one counts.
fn held(status: &Status) -> String {
    let next = status.next_deadline.as_deref().map_or_else(String::new, |deadline| {
        format!("; the next deadline is {}", deadline.split('.').next().unwrap_or(deadline))
    });
    match (status.reported, next.is_empty()) {
        (0, true) => String::new(),
        (reported, _) => format!(" ({reported} reported{next})"),
    }
}

fn row(status: &Status, action: &Finding) -> Vec<String> {
    let now = &status.now;
    let standing = match action.standing {
        Standing::Plausible if action.id == now.findings.chosen.id => {
            "in the race; the next choice".into()
        }
        Standing::Plausible => "in the race".into(),
        Standing::RuledOut(RuledOut { by, .. }) => {
            let label = |id| {
                now.findings
                    .actions
                    .iter()
                    .find(|other| other.id == id)
                    .map_or("", |other| &other.label)
            };
            let since = status.out_since.get(&action.id).map_or_else(String::new, |since| {
                // It went out after the last decision.
                if since.decision > status.decisions {
                    " since the last outcome".into()
                } else if status.complete {
                    format!(" since decision {}", since.decision)
                } else {
                    format!(
                        " since a decision between {} and {}",
                        since.last_plausible, since.decision
                    )
                }
            });
            format!("out{since}: {} is better", label(by))
        }
    };
    let estimate = action.mean.map_or_else(|| "no outcome yet".into(), |mean| now.number(mean));
    let tried = status.tried.get(&action.id).copied().unwrap_or_default();
    vec![
        action.label.clone(),
        tried.tries.to_string(),
        last_outcome(&tried),
        estimate,
        now.number(action.lower),
        now.number(action.upper),
        standing,
    ]
}

/// The last outcome; without one, "pending" or "-".
fn last_outcome(tried: &Tried) -> String {
    match tried.last_outcome {
        Some(reward) => reward.to_string(),
        None if tried.pending > 0 => "pending".into(),
        None => "-".into(),
    }
}

/// How the race and the uncertainty have narrowed.
fn narrowed(status: &Status) -> String {
    let points = &status.history;
    let stride = points.len().div_ceil(8).max(1);
    let last = points.len().saturating_sub(1);
    let shown = points.iter().enumerate().filter(|(at, _)| at % stride == 0 || *at == last);
    let rows: Vec<Vec<String>> = shown
        .map(|(_, point)| {
            vec![
                point.decision.to_string(),
                format!("{} of {}", point.plausible, point.offered),
                point
                    .known_within
                    .map_or_else(|| "open".into(), |within| format!("±{}", status.now.gap(within))),
            ]
        })
        .collect();
    output::table(&["decision", "in the race", "known within"], &rows)
}

/// Says how many recorded choices were derived again.
fn checked(status: &Status) -> String {
    let Status { checked, decisions, complete, .. } = status;
    if *complete {
        "\nevery recorded choice was derived again from the log, and is right\n".into()
    } else {
        format!(
            "\n{checked} of the {decisions} recorded choices were derived again from the log, and \
             are right (`plausibly replay` checks all)\n"
        )
    }
}

fn pending(status: &Status) -> String {
    let Some(oldest) = status.pending.first() else {
        return String::new();
    };
    let rows: Vec<Vec<String>> = status
        .pending
        .iter()
        .take(10)
        .map(|pending| {
            vec![pending.decision.to_string(), pending.label.clone(), age(pending.age_seconds)]
        })
        .collect();
    let mut text = format!("\npending, the oldest ({}) first\n", age(oldest.age_seconds));
    text += &output::left_table(&["decision", "action", "age"], &rows);
    text + &more(status.pending.len(), rows.len())
}

/// Says which outcomes the next decision waits for.
fn waiting(status: &Status) -> String {
    match status.waiting.len() {
        0 => String::new(),
        count => format!(
            "\na phase of the elimination has made all its tries and waits for {}; the next \
             decision is possible once all of them are rewarded or dropped (the next choice shown \
             above assumes that they are dropped)\n",
            output::plural(count as u64, "outcome", "outcomes")
        ),
    }
}

/// Counts the rows that are not shown.
fn more(all: usize, shown: usize) -> String {
    if all > shown { format!("and {} more\n", all - shown) } else { String::new() }
}

fn age(seconds: f64) -> String {
    let (size, unit) = match seconds {
        s if s < 120.0 => (s, "s"),
        s if s < 7200.0 => (s / 60.0, "min"),
        s if s < 172_800.0 => (s / 3600.0, "h"),
        s => (s / 86_400.0, "days"),
    };
    format!("{size:.0} {unit}")
}
