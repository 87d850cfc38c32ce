//! Parts shared by the page of a certificate and the page of a log.

use crate::figure::{Forest, ForestMark, Layout};
use crate::label::readable;
use crate::number;
use crate::page::{Page, Script};
use maud::{Markup, html};
use plausibly_log::certificate::{Certificate, Finding};
use plausibly_log::{Tried, Words};
use std::collections::BTreeMap;

/// A page about decisions. It has no script and forbids any, because its words come from users'
/// tables.
pub(super) fn page(title: &str, body: &Markup) -> String {
    Page { title, style: include_str!("decisions.css"), script: Script::None }.with(body)
}

/// The certificate with every name made safe to show.
pub(super) fn shown(certificate: &Certificate) -> Certificate {
    let mut shown = certificate.clone();
    let (grounds, findings) = (&mut shown.grounds, &mut shown.findings);
    findings.chosen.label = readable(&findings.chosen.label);
    for action in &mut findings.actions {
        action.label = readable(&action.label);
    }
    for direction in &mut findings.chosen.directions {
        direction.feature = readable(&direction.feature);
    }
    grounds.context.clear();
    for (key, value) in &certificate.grounds.context {
        let value = value.as_str().map_or_else(|| value.clone(), |text| readable(text).into());
        grounds.context.insert(readable(key), value);
    }
    shown
}

/// A section with one paragraph per sentence.
pub(super) fn section(title: &str, sentences: &[String]) -> Markup {
    html! {
        section {
            h2 { (title) }
            @for sentence in sentences { p { (sentence) } }
        }
    }
}

/// How sure the statements are, and a list of what that assumes.
pub(super) fn how_sure(words: &Words<'_>) -> Markup {
    let conditions = words.conditions();
    html! {
        section {
            h2 { "How sure" }
            @for sentence in words.how_sure() { p { (sentence) } }
            @if !conditions.is_empty() {
                p { (words.assumes()) }
                ul { @for condition in conditions { li { (condition) } } }
            }
        }
    }
}

/// The picture of all estimates, once for wide and once for narrow screens; the style shows one of
/// them.
pub(super) fn forest(certificate: &Certificate, chosen: &str) -> Markup {
    let wide = Forest::new(certificate, Layout::WIDE);
    let narrow = Forest::new(certificate, Layout::NARROW);
    html! {
        figure.forest {
            figcaption {
                b { "What each one pays on average, as far as it is known." }
                " A bar shows where the true average may lie, and its mark shows the estimate. "
                "Where a bar ends in an arrow, only the range of rewards limits it."
                @if !certificate.words().compares_intervals() && certificate.words().out() > 0 {
                    " An action is out once outcomes show that another one is better; their bars "
                    "may still overlap."
                }
            }
            (legend(&wide, chosen))
            @for (class, forest) in [("wide", &wide), ("narrow", &narrow)] {
                svg class=(class)
                    viewBox={ "0 0 " (forest.layout.width) " " (forest.height().ceil()) }
                    role="img" aria-label=(forest.description()) {
                    (forest.drawing())
                }
            }
            @if let Some(more) = wide.left_out() { p.note { (more) } }
        }
    }
}

fn legend(forest: &Forest<'_>, chosen: &str) -> Markup {
    html! {
        ul.legend {
            @for mark in forest.marks() {
                li {
                    svg viewBox="0 0 34 14" aria-hidden="true" { (mark.sample(34.0, 14.0)) }
                    (meaning(mark, chosen))
                }
            }
            @if forest.line.is_some() {
                li {
                    svg viewBox="0 0 34 14" aria-hidden="true" {
                        line.best x1="17" x2="17" y1="0" y2="14" {}
                    }
                    "the highest “at least” of all"
                }
            }
        }
    }
}

/// The meaning of a mark.
pub(super) fn meaning(mark: ForestMark, chosen: &str) -> &str {
    match mark {
        ForestMark::Chosen => chosen,
        ForestMark::Racing => "could still be best",
        ForestMark::Out => "out of the race",
        ForestMark::Unknown => "no outcome yet",
    }
}

/// The first `most` of some entries as shown by `list`, and the others folded away.
pub(super) fn folded<T>(entries: &[T], most: usize, list: impl Fn(&[T]) -> Markup) -> Markup {
    let (first, rest) = entries.split_at(entries.len().min(most));
    html! {
        @if !first.is_empty() { (list(first)) }
        @if !rest.is_empty() { details { summary { "and " (rest.len()) " more" } (list(rest)) } }
    }
}

/// The heading above the actions that are out of the race; `order` says how they are sorted.
pub(super) fn out_heading(out: u64, listed: usize, order: &str) -> Markup {
    html! {
        h2 {
            "Out of the race: " @if out == 0 { "none" } @else {
                (out) @if listed > 1 { ", " (order) }
            }
        }
    }
}

/// A table of actions with their estimates and bounds; `word` marks the chosen one. If the numbers
/// of tries are given, they follow the names.
pub(super) fn table(
    certificate: &Certificate,
    rows: &[&Finding],
    mark: &str,
    tried: Option<&BTreeMap<u64, Tried>>,
) -> Markup {
    let words = certificate.words();
    let chosen = certificate.findings.chosen.id;
    html! {
        div.scroll {
            table.actions {
                thead {
                    tr {
                        th { "" }
                        @if tried.is_some() { th.n { "tries" } th.n { "last outcome" } }
                        th.n { "estimate" } th.n { "at least" } th.n { "at most" }
                    }
                }
                tbody {
                    @for row in rows {
                        tr.chosen[row.id == chosen] {
                            th scope="row" {
                                (row.label) @if row.id == chosen { " " span.badge { (mark) } }
                            }
                            @if let Some(tried) = tried { (tries(tried.get(&row.id))) }
                            td.n { (number::minus(&words.estimate(row.mean))) }
                            td.n { (number::minus(&certificate.number(row.lower))) }
                            td.n { (number::minus(&certificate.number(row.upper))) }
                        }
                    }
                }
            }
        }
    }
}

/// The number of tries of an action, and its last recorded outcome.
fn tries(tried: Option<&Tried>) -> Markup {
    let tried = tried.copied().unwrap_or_default();
    let last = match tried.last_outcome {
        Some(reward) => number::minus(&reward.to_string()),
        None if tried.pending > 0 => "pending".into(),
        None => "–".into(),
    };
    html! { td.n { (number::grouped(tried.tries as f64)) } td.n { (last) } }
}

/// The settings of a policy, with a dot between nested names.
pub(super) fn policy(certificate: &Certificate) -> Markup {
    let mut rows: Vec<(String, String)> = Vec::new();
    for (key, value) in &certificate.grounds.policy {
        match value.as_object() {
            Some(inner) => {
                rows.extend(
                    inner.iter().map(|(name, value)| (format!("{key}.{name}"), value.to_string())),
                );
            }
            None => rows.push((key.clone(), value.to_string())),
        }
    }
    html! {
        code.policy { @for (key, value) in &rows { span { (key) " = " (value) } " " } }
    }
}

/// The grounds of a certificate.
pub(super) fn grounds(certificate: &Certificate) -> Markup {
    let (grounds, words) = (&certificate.grounds, certificate.words());
    let (low, high) = grounds.reward_range;
    let plain = |text: String| html! { (number::minus(&text)) };
    let rows = [
        ("Log", html! { code { (grounds.log.id) } }),
        (
            "Up to line",
            html! {
                (number::grouped(grounds.log.seq as f64)) ", whose hash is "
                code { (grounds.log.hash) }
            },
        ),
        ("Digest of the exact sums", html! { code { (grounds.digest) } }),
        ("Seal", html! { code { (certificate.seal) } }),
        ("Policy", policy(certificate)),
        (
            "Radius",
            html! {
                @match certificate.findings.sqrt_beta {
                    Some(sqrt_beta) => {
                        "√β = " (number::figure(sqrt_beta)) ", for rewards scaled to an interval "
                        "of length one"
                    }
                    None => "none yet",
                }
            },
        ),
        ("Rewards", plain(format!("from {low} to {high}"))),
        ("Rewards that have come", plain(grounds.statistics.observations.to_string())),
        ("Rewards still to come", plain(words.pending().to_string())),
        (
            "Actions on offer",
            plain(match grounds.unlisted {
                Some(unlisted) => format!(
                    "{}, {} of them listed here",
                    grounds.offered(),
                    grounds.offered() as u64 - unlisted.actions
                ),
                None => grounds.offered().to_string(),
            }),
        ),
    ];
    html! { dl.facts { @for (name, value) in rows { div { dt { (name) } dd { (value) } } } } }
}
