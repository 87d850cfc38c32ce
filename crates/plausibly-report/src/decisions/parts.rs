//! What the page of a certificate and that of a log have in common.

use crate::figure::{Forest, ForestMark, Layout};
use crate::label::readable;
use crate::number;
use crate::page::{Page, Script};
use maud::{Markup, html};
use plausibly_log::Tried;
use plausibly_log::certificate::{Certificate, Finding};
use std::collections::BTreeMap;

/// A page about decisions. It has no script, and lets none in: its words come from other people's
/// tables.
pub(super) fn page(title: &str, body: &Markup) -> String {
    Page { title, style: include_str!("decisions.css"), script: Script::None }.with(body)
}

/// The same certificate with every name fit to be shown.
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

/// Sentences of a section, each a paragraph.
pub(super) fn section(title: &str, sentences: &[String]) -> Markup {
    html! {
        section {
            h2 { (title) }
            @for sentence in sentences { p { (sentence) } }
        }
    }
}

/// The picture of what is known, once for wide screens and once for narrow ones; the style shows
/// one of them.
pub(super) fn forest(certificate: &Certificate, chosen: &str) -> Markup {
    let wide = Forest::new(certificate, Layout::WIDE);
    let narrow = Forest::new(certificate, Layout::NARROW);
    html! {
        figure.forest {
            figcaption {
                b { "What each one pays on average, as far as it is known." }
                " A bar shows where the true average may lie, its mark the estimate. An arrow at "
                "its end: no more is known there than what rewards can be."
            }
            (legend(&wide, chosen))
            @for (class, forest) in [("wide", &wide), ("narrow", &narrow)] {
                svg class=(class) viewBox={ "0 0 " (forest.width()) " " (forest.height().ceil()) }
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
            @if forest.has_line() {
                li {
                    svg viewBox="0 0 34 14" aria-hidden="true" {
                        line.best x1="17" x2="17" y1="0" y2="14" {}
                    }
                    "the best “at least” of all"
                }
            }
        }
    }
}

/// What a mark stands for.
pub(super) fn meaning(mark: ForestMark, chosen: &str) -> &str {
    match mark {
        ForestMark::Chosen => chosen,
        ForestMark::Racing => "could still be best",
        ForestMark::Out => "out of the race",
        ForestMark::Unknown => "never tried",
    }
}

/// Actions with their estimates and bounds; the chosen one is marked with this word. Where it is
/// known how often each was tried, that stands behind the names.
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

/// How often an action was tried, and its last outcome as it was recorded.
fn tries(tried: Option<&Tried>) -> Markup {
    let tried = tried.copied().unwrap_or_default();
    let last = match tried.last_outcome {
        Some(reward) => number::minus(&reward.to_string()),
        None if tried.pending > 0 => "outstanding".into(),
        None => "–".into(),
    };
    html! { td.n { (number::grouped(tried.tries as f64)) } td.n { (last) } }
}

/// Names and values, for what a page rests on.
pub(super) fn facts(rows: &[(&str, Markup)]) -> Markup {
    html! {
        dl.facts {
            @for (name, value) in rows { div { dt { (name) } dd { (value) } } }
        }
    }
}

/// Big numbers with what they count.
pub(super) fn figures(numbers: &[(String, &str)]) -> Markup {
    html! {
        ul.numbers { @for (number, what) in numbers { li { b { (number) } " " (what) } } }
    }
}

/// A policy as its table says it, tables in it with a dot.
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

/// What a certificate rests on.
pub(super) fn grounds(certificate: &Certificate) -> Markup {
    let (grounds, words) = (&certificate.grounds, certificate.words());
    let (low, high) = grounds.reward_range;
    let plain = |text: String| html! { (number::minus(&text)) };
    facts(&[
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
                "√β = " (number::figure(certificate.findings.sqrt_beta)) ", for rewards scaled to "
                "an interval of length one"
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
    ])
}
