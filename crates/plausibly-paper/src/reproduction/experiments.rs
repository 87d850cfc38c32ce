//! The experiments: figures, tables and claims of each.

use super::answer::{claim_id, look, quotient};
use super::{Claim, Measure, Measured, Reproduction, spec_details, spec_link};
use crate::judge::{Rule, Verdict};
use maud::{Markup, html};
use plausibly_report::figure::{Mark, TradeOff, Trail};
use plausibly_report::outcome::{self, FinalTable, curves_figure};
use plausibly_sim::{Moments, Point};

/// The style of a policy, the same in every figure; variants share their policy's.
pub(super) fn style(label: &str) -> usize {
    match label {
        "CODE" => 0,
        label if label.starts_with("CODE") => 6,
        label if label.starts_with("LinUCB") || label == "UCB1" => 1,
        label if label.starts_with("LinTS") || label == "Thompson" => 2,
        label if label.starts_with("Elim") => 3,
        label if label.starts_with("ε-greedy") => 4,
        label if label.starts_with("EtC") => 5,
        _ => 7,
    }
}

impl Reproduction {
    pub(super) fn experiment_sections(&self) -> Markup {
        html! { @for measured in &self.experiments { (self.experiment_section(measured)) } }
    }

    fn experiment_section(&self, measured: &Measured) -> Markup {
        let study = measured.study();
        let claims = measured.claims();
        html! {
            section #(study.id) {
                h2 { (study.title) }
                p {
                    (study.problem) " " @if !study.remark.is_empty() { (study.remark) } " ("
                    (study.place) " of the paper.)"
                }
                div.figures {
                    (curves(measured, "Regret", "cumulative regret", Measure::Regret))
                    (curves(
                        measured, "Model error Qₙ", "cumulative model error", Measure::ModelError,
                    ))
                }
                (final_table(measured))
                h3 { "Claims" }
                (self.claim_table(measured, &claims))
                (spec_details(measured.spec_name, &measured.spec))
            }
        }
    }

    fn claim_table(&self, measured: &Measured, claims: &[Claim]) -> Markup {
        let caption = html! {
            "Ratios of mean figures, each with its interval; the intervals of a claim are "
            "simultaneous at 95 %. Outlined: not counted, because the paper does not say it about "
            "this experiment"
            @if claims.iter().any(|claim| self.chose_reading(measured, claim)) {
                ", or, for (a) here, because we chose the reading that makes it hold"
            }
            "."
        };
        let rows = html! {
            @for claim in claims {
                tr #(claim_id(measured, claim)) {
                    th scope="row" { "(" (claim.key) ")" }
                    td { (claim.statement) }
                    td { (verdict(claim.verdict, self.counts(measured, claim))) }
                    td { (because(claim)) }
                }
            }
        };
        verdict_table(["", "claim"], &caption, &rows)
    }
}

/// Statements with their verdicts and the reasons.
pub(super) fn verdict_table(columns: [&str; 2], caption: &Markup, rows: &Markup) -> Markup {
    html! {
        div.scroll {
            table.claims {
                caption { (caption) }
                thead {
                    tr {
                        @for name in columns { th scope="col" { (name) } }
                        th scope="col" { "verdict" } th scope="col" { "because" }
                    }
                }
                tbody { (rows) }
            }
        }
    }
}

pub(super) fn curves(measured: &Measured, title: &str, y_name: &str, measure: Measure) -> Markup {
    let pick = |point: &Point| measure.at(point);
    let by_label = |_, label: &str| style(label);
    let drawing = outcome::curves(&measured.summary, title, y_name, pick, by_label);
    curves_figure(&drawing, title, measured.study().title)
}

/// Regret against model error at the last round, one point per policy. `look` gives a policy's
/// style, and whether it is hollow.
pub(super) fn trade_off(
    measured: &Measured,
    description: String,
    caption: &Markup,
    trails: Vec<Trail>,
    look: impl Fn(&str) -> (usize, bool),
) -> Markup {
    let of = |moments: Moments| (moments.mean(), moments.standard_error().unwrap_or(0.0));
    let marks = measured.summary.policies.iter().map(|policy| {
        let (style, hollow) = look(&policy.label);
        let last = policy.last();
        Mark { label: &policy.label, style, x: of(last.regret), y: of(last.model_error), hollow }
    });
    let drawing = TradeOff {
        description,
        x_name: "regret at the last round",
        y_name: "model error Qₙ",
        marks: marks.collect(),
        trails,
    };
    html! { figure { figcaption { (caption) } div.scroll { (drawing.svg()) } } }
}

pub(super) fn final_table(measured: &Measured) -> Markup {
    let summary = &measured.summary;
    let caption = html! {
        "At the last round, mean ± standard error. “Plausible”: actions that could still be best "
        "at the end. “θ* left”: share of runs in which the truth was ever outside the set used to "
        "measure Qₙ. "
        (spec_link(measured.spec_name, summary.runs, measured.horizon))
    };
    FinalTable { summary, caption, model_error: "Qₙ", highlighted: Some("CODE") }.markup()
}

pub(super) fn verdict(verdict: Verdict, stated: bool) -> Markup {
    let (class, _) = look(verdict, stated);
    html! { span class=(class) { (verdict.name()) } }
}

fn because(claim: &Claim) -> Markup {
    let rule = |rule: Rule| match rule {
        Rule::Above(bound) => format!("should be above {bound}"),
        Rule::Within(low, high) => format!("should be between {low} and {high}"),
    };
    html! {
        span.note {
            (claim.measure.name()) ", "
            (claim.evidence.first().map_or_else(String::new, |evidence| rule(evidence.rule))) ": "
        }
        @for (position, evidence) in claim.evidence.iter().enumerate() {
            @if position > 0 { ", " }
            span.nowrap {
                (quotient(evidence))
                @if evidence.verdict != claim.verdict || claim.verdict != Verdict::Holds {
                    " " (look(evidence.verdict, true).1)
                }
            }
        }
    }
}
