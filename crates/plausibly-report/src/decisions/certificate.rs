//! Explains a decision on one page.

use super::parts;
use crate::{label, number};
use maud::{Markup, html};
use plausibly_log::Beaten;
use plausibly_log::certificate::Certificate;

/// Rows of a table before the rest is folded away.
const ROWS: usize = 20;
/// Actions out of the race before the rest is folded away.
const CLOSEST: usize = 10;

/// A certificate as one self-contained page for readers who know nothing of bandits: the sentences
/// of [`words`](Certificate::words), with a picture of every action's estimate.
///
/// The page has no script, loads nothing, and shows names from the table as plain text. The same
/// certificate gives the same bytes.
pub fn certificate_page(certificate: &Certificate) -> String {
    let shown = parts::shown(certificate);
    let (words, chosen) = (shown.words(), &shown.findings.chosen);
    let title = format!("Decision {}: {}", shown.grounds.decision, label::cut(&chosen.label, 80));
    let body = html! {
        header.top {
            p.eyebrow {
                "Decision " (number::grouped(shown.grounds.decision as f64)) ", " (words.occasion())
            }
            h1 title=(chosen.label) { (label::cut(&chosen.label, 80)) }
            @for sentence in words.why() { p.lead { (sentence) } }
        }
        main {
            (parts::forest(&shown, "chosen"))
            (race(&shown))
            (out_of_race(&shown))
            div.columns {
                (parts::how_sure(&words))
                @let name = label::cut(&chosen.label, 60);
                (parts::section(&format!("What is known about {name}"), &words.known()))
                (parts::section(
                    &format!("What would put {name} out of the race"),
                    &[words.change()],
                ))
            }
            details.grounds {
                summary { "What this rests on, and how to check it" }
                (parts::grounds(&shown))
                p {
                    "Everything on this page follows from these grounds. To check that, and that "
                    "nothing was changed since:"
                }
                pre { code { "plausibly verify FILE" } }
                p {
                    "FILE is the certificate this page was made from. To check as well that the "
                    "grounds are those of the log:"
                }
                pre { code { "plausibly verify FILE --log LOG" } }
            }
        }
    };
    parts::page(&title, &body)
}

fn race(shown: &Certificate) -> Markup {
    let words = shown.words();
    let unlisted = shown.grounds.unlisted.map_or(0, |unlisted| unlisted.plausible);
    html! {
        section {
            h2 {
                "Still in the race: " (words.plausible()) " of " (shown.grounds.offered()) " could "
                "still be best"
            }
            (parts::folded(&words.racing(), ROWS, |rows| parts::table(shown, rows, "chosen", None)))
            (not_listed(unlisted, true))
        }
    }
}

fn out_of_race(shown: &Certificate) -> Markup {
    let words = shown.words();
    let beaten = words.beaten();
    let list = |beaten: &[Beaten<'_>]| {
        html! {
            ul.beaten {
                @for one in beaten { li { b { (one.action.label) } ": " (words.beaten_by(one)) } }
            }
        }
    };
    html! {
        section {
            (parts::out_heading(words.out(), beaten.len(), "the closest calls first"))
            (parts::folded(&beaten, CLOSEST, list))
            (not_listed(words.out().saturating_sub(beaten.len() as u64), !beaten.is_empty()))
        }
    }
}

/// Says how many actions a partial certificate does not list.
fn not_listed(count: u64, some_listed: bool) -> Markup {
    html! {
        @if count > 0 {
            p.note {
                @if some_listed { "and " } (number::grouped(count as f64))
                @if some_listed { " more" } " that the certificate does not list"
            }
        }
    }
}
