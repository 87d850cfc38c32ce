//! The status of a log as one picture for a slide.

use super::parts;
use super::status::{headline, known_curve, race_curve};
use crate::figure::{Forest, Layout};
use crate::label;
use maud::{Markup, PreEscaped, html};
use plausibly_log::Status;
use plausibly_log::certificate::Certificate;

const WIDTH: f64 = 1600.0;
const HEIGHT: f64 = 900.0;
const MARGIN: f64 = 60.0;
/// Where the panels begin.
const TOP: f64 = 166.0;
/// Height the rows of the forest share.
const ROWS: f64 = 522.0;

/// Identifies a picture written by plausibly; the version follows it.
pub const PICTURE_MARK: &str = r#"data-generator="plausibly "#;

/// The status of a log as one SVG of 1600 by 900 units: every action's current estimate, and, by
/// decision, how many actions could still be best and how precisely they were known.
///
/// It refers to nothing outside, and both browsers and drawing programs understand its style. The
/// same status gives the same bytes.
pub fn status_svg(status: &Status) -> String {
    let shown = parts::shown(&status.now);
    let title = headline(status, &shown);
    let listed = shown.findings.actions.len();
    let most = 18;
    let row = (ROWS / listed.clamp(1, most) as f64).min(56.0);
    let layout = Layout { width: 940.0, row, font: 20.0, letters: 26, above: false, most };
    let forest = Forest::new(&shown, layout);
    let (curve, right) = ((500.0, 300.0), WIDTH - MARGIN - 500.0);
    let (race, known) = (race_curve(status, curve, 19.0), known_curve(status, curve, 19.0));
    let second = TOP + curve.1 + 60.0;
    let markup = html! {
        svg xmlns="http://www.w3.org/2000/svg"
            data-generator={ "plausibly " (env!("CARGO_PKG_VERSION")) }
            viewBox={ "0 0 " (WIDTH) " " (HEIGHT) } width=(WIDTH) height=(HEIGHT) role="img" {
            title { (title) }
            desc { (forest.description()) }
            style { (PreEscaped(include_str!("slide.css"))) }
            rect.paper width=(WIDTH) height=(HEIGHT) {}
            text.heading x=(MARGIN) y="84" { (title) }
            text.sub x=(MARGIN) y="124" { (subtitle(&shown)) }
            @let averages = "What each one pays on average, as far as it is known";
            (panel(averages, MARGIN, TOP, &forest.drawing()))
            (panel("How many could still be best", right, TOP, &race.drawing()))
            @let within = if known.has_gaps() { " (grey: not yet)" } else { "" };
            (panel(&format!("Known to within ±{within}"), right, second, &known.drawing()))
            (legend(&forest))
        }
    };
    markup.into_string()
}

fn panel(title: &str, x: f64, y: f64, drawing: &Markup) -> Markup {
    html! {
        g transform={ "translate(" (x) " " (y) ")" } {
            text.panel x="0" y="18" { (title) }
            g transform="translate(0 34)" { (drawing) }
        }
    }
}

/// The next choice, and the confidence of everything shown.
fn subtitle(shown: &Certificate) -> String {
    let (findings, words) = (&shown.findings, shown.words());
    let next = format!("Next: {}", label::cut(&findings.chosen.label, 44));
    let known =
        findings.known_within.map(|within| format!("known to within ±{}", shown.gap(within)));
    let sure = words.confidence().map(|confidence| format!("{confidence} sure"));
    [Some(next), known, sure].into_iter().flatten().collect::<Vec<_>>().join(" · ")
}

/// The legend, in a line at the bottom.
fn legend(forest: &Forest<'_>) -> Markup {
    let mut x = MARGIN;
    let entries: Vec<(f64, _, &str)> = forest
        .marks()
        .into_iter()
        .map(|mark| {
            let text = parts::meaning(mark, "would be next");
            let at = x;
            x += 76.0 + 9.6 * label::columns(text) as f64;
            (at, mark, text)
        })
        .collect();
    html! {
        g font-size="18" {
            @for (x, mark, text) in &entries {
                g transform={ "translate(" (x) " 858)" } {
                    (mark.sample(44.0, 20.0))
                    text.tick x="54" y="16" { (text) }
                }
            }
            @if let Some(more) = forest.left_out() { text.tick x=(x) y="874" { (more) } }
        }
    }
}
