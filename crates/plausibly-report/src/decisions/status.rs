//! The status of a log as a page.

use super::parts;
use crate::figure::Steps;
use crate::label::{self, readable};
use crate::number;
use maud::{Markup, html};
use plausibly_log::certificate::{Certificate, Finding};
use plausibly_log::{OutSince, Status, Tried};

/// Pending decisions listed one by one.
const PENDING: usize = 20;

/// Actions out of the race before the rest is folded away.
const OUT: usize = 15;

/// The status of a log as one self-contained page: every action's estimate, the history of the race
/// and of its precision, pending decisions, and since when and because of which action others are
/// out.
///
/// The page has no script, loads nothing, and shows names from the table as plain text. The same
/// status gives the same bytes.
pub fn status_page(status: &Status) -> String {
    let shown = parts::shown(&status.now);
    let (words, chosen) = (shown.words(), &shown.findings.chosen);
    let title = headline(status, &shown);
    let body = html! {
        header.top {
            p.eyebrow { "How the log stands, " (day(&shown)) }
            h1 { (title) }
            p.lead {
                "Next would be " b title=(chosen.label) { (label::cut(&chosen.label, 80)) } ". "
                (words.why().join(" "))
                @if let Some(outlook) = words.outlook() { " " (outlook) }
            }
            ul.numbers {
                @for (count, what) in [
                    (status.decisions, number::plural(status.decisions, "decision", "decisions")),
                    (status.settled, "settled"),
                    (status.pending.len() as u64, "pending"),
                    (status.dropped, "dropped"),
                ] {
                    li { b { (number::grouped(count as f64)) } " " (what) }
                }
            }
        }
        main {
            (parts::forest(&shown, "would be next"))
            details {
                summary { "Everything still in the race as a table" }
                (parts::table(&shown, &words.racing(), "would be next", Some(&status.tried)))
            }
            (history(status, &shown))
            (out(status, &shown))
            (pending(status))
            div.columns {
                (parts::how_sure(&words))
                section { h2 { "The policy that decides" } p { (parts::policy(&shown)) } }
            }
            details.grounds {
                summary { "What this rests on" }
                (parts::grounds(&shown))
            }
        }
    };
    parts::page(&title, &body)
}

/// The status in one line.
pub(super) fn headline(status: &Status, shown: &Certificate) -> String {
    format!(
        "{} of {} could still be best after {}",
        shown.words().plausible(),
        shown.grounds.offered(),
        number::counted(status.decisions, "decision", "decisions")
    )
}

fn day(shown: &Certificate) -> String {
    let at = shown.grounds.at.replace('T', " ");
    format!("{} UTC", at.split('.').next().unwrap_or(&at))
}

/// The number of actions in the race at each decision, and now.
pub(super) fn race_curve(status: &Status, size: (f64, f64), font: f64) -> Steps<'static> {
    let now = &status.now;
    let (plausible, offered) = (now.words().plausible(), now.grounds.offered() as u64);
    let looks = status.history.iter().map(|point| (point.decision, point.plausible, point.offered));
    let points: Vec<_> = looks.chain([(now.grounds.decision, plausible, offered)]).collect();
    Steps {
        points: points.iter().map(|point| (point.0, Some(point.1 as f64))).collect(),
        ceiling: Some(points.iter().map(|point| point.2 as f64).collect()),
        last: plausible.to_string(),
        name: "still in the race",
        counts: true,
        size,
        font,
    }
}

/// How precisely the actions in the race were known at each decision, and now.
pub(super) fn known_curve(status: &Status, size: (f64, f64), font: f64) -> Steps<'static> {
    let now = &status.now;
    let within = now.findings.known_within;
    let looks = status.history.iter().map(|point| (point.decision, point.known_within));
    Steps {
        points: looks.chain([(now.grounds.decision, within)]).collect(),
        ceiling: None,
        last: within.map(|within| format!("±{}", now.gap(within))).unwrap_or_default(),
        name: "known to within ±",
        counts: false,
        size,
        font,
    }
}

fn history(status: &Status, shown: &Certificate) -> Markup {
    let size = (440.0, 250.0);
    let (race, known) = (race_curve(status, size, 12.5), known_curve(status, size, 12.5));
    let race_said = format!(
        "How many actions could still be best at each of {} decisions; now {} of {}.",
        status.decisions,
        shown.words().plausible(),
        shown.grounds.offered()
    );
    let within = |within| format!("±{}", shown.gap(within));
    let now = shown.findings.known_within.map_or("some have no outcome yet".into(), within);
    let known_said = format!(
        "How precisely every action still in the race was known at each decision; now {now}."
    );
    let figure = |title: &str, note: &str, said: &str, curve: &Steps<'_>| {
        html! {
            figure {
                figcaption { b { (title) } (note) }
                svg viewBox={ "0 0 " (size.0) " " (size.1) } role="img" aria-label=(said) {
                    (curve.drawing())
                }
            }
        }
    };
    let offered = " Dashed: how many were on offer.";
    let shaded = if known.has_gaps() { " Shaded: one of them had no outcome yet." } else { "" };
    html! {
        section {
            h2 { "How the race went" }
            div.figures {
                (figure("How many could still be best.", offered, &race_said, &race))
                (figure(
                    "How precisely their averages were known (±).", shaded, &known_said, &known,
                ))
            }
            p { (checked(status)) }
        }
    }
}

/// Says how many recorded choices were derived again.
fn checked(status: &Status) -> String {
    if status.complete {
        return "Each choice was derived again from the log, and agrees with the record.".into();
    }
    format!(
        "{} of the {} choices were derived again from the log, and agree with the record.",
        number::grouped(status.checked as f64),
        number::grouped(status.decisions as f64)
    )
}

fn out(status: &Status, shown: &Certificate) -> Markup {
    let named = |id: u64| shown.findings.actions.iter().find(|action| action.id == id);
    let mut out: Vec<_> =
        status.out_since.iter().filter_map(|(id, since)| Some((named(*id)?, since))).collect();
    out.sort_by_key(|(_, since)| std::cmp::Reverse(since.decision));
    let list = |out: &[(&Finding, &OutSince)]| {
        html! {
            ul.beaten {
                @for (action, since) in out {
                    li {
                        b { (action.label) } ": " (out_when(status, since))
                        @if let Some(by) = named(since.by) { ", by " (by.label) } "."
                        @if let Some(tried) = status.tried.get(&action.id) { " " (tries(tried)) }
                    }
                }
            }
        }
    };
    html! {
        section {
            (parts::out_heading(shown.words().out(), out.len(), "the latest first"))
            (parts::folded(&out, OUT, list))
        }
    }
}

/// The number of tries of an action, in words.
fn tries(tried: &Tried) -> String {
    let count = number::counted(tried.tries, "try", "tries");
    match tried.last_outcome {
        Some(reward) => format!("{count}, last outcome {}.", number::minus(&reward.to_string())),
        None => format!("{count}, no outcome."),
    }
}

/// Since which decision an action is out, as precisely as the history shows.
fn out_when(status: &Status, since: &OutSince) -> String {
    let OutSince { decision, last_plausible, .. } = *since;
    if decision > status.decisions {
        "out as of now".into()
    } else if last_plausible == 0 {
        format!("out since it was first considered, at decision {decision}")
    } else if status.complete || decision == last_plausible + 1 {
        format!("out since decision {decision}")
    } else {
        format!("went out between decisions {last_plausible} and {decision}")
    }
}

fn pending(status: &Status) -> Markup {
    let more = status.pending.len().saturating_sub(PENDING);
    html! {
        section {
            h2 {
                "Rewards still to come: " @if status.pending.is_empty() { "none" } @else {
                    (status.pending.len()) ", the oldest first"
                }
            }
            @if !status.pending.is_empty() {
                div.scroll {
                    table.actions {
                        thead {
                            tr { th.n { "decision" } th { "what was chosen" } th { "waiting for" } }
                        }
                        tbody {
                            @for one in status.pending.iter().take(PENDING) {
                                tr {
                                    td.n { (one.decision) }
                                    th scope="row" title=(readable(&one.label)) {
                                        (label::cut(&readable(&one.label), 60))
                                    }
                                    td title=(one.at) { (number::age(one.age_seconds)) }
                                }
                            }
                        }
                    }
                }
                @if more > 0 { p.note { "and " (more) " more" } }
            }
            @if !status.waiting.is_empty() {
                p {
                    "A phase of the elimination has made all its tries and waits for "
                    (status.waiting.len())
                    (number::plural(status.waiting.len() as u64, " outcome", " outcomes"))
                    ". The next decision is possible once all of them are rewarded or dropped. The "
                    "next choice shown here assumes that they are dropped."
                }
            }
        }
    }
}
