//! The experiments: figures, tables and claims of each.

use super::answer::{claim_id, ratio};
use super::{Claim, Measured, Reproduction, spec_details, spec_link};
use crate::judge::{Rule, Verdict};
use maud::{Markup, html};
use plausibly_report::figure::{Curves, Series};
use plausibly_report::number::figure;
use plausibly_report::outcome::{FinalTable, curves_figure};
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
                    (curves(measured, "Regret", "cumulative regret", |point| point.regret))
                    (curves(
                        measured, "Model error Qₙ", "cumulative model error",
                        |point| point.model_error,
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
        html! {
            div.scroll {
                table.claims {
                    caption {
                        "Ratios of mean figures, each with its interval; the intervals of a claim "
                        "are simultaneous at 95 %. Outlined: not counted, because the paper does "
                        "not say it about this experiment"
                        @if claims.iter().any(|claim| self.chose_reading(measured, claim)) {
                            ", or, as (a) here, because it chose the reading"
                        }
                        "."
                    }
                    thead {
                        tr {
                            th scope="col" { "" } th scope="col" { "claim" }
                            th scope="col" { "verdict" } th scope="col" { "because" }
                        }
                    }
                    tbody {
                        @for claim in claims {
                            tr #(claim_id(measured, claim)) {
                                th scope="row" { "(" (claim.key) ")" }
                                td { (claim.statement) }
                                td { (verdict(claim.verdict, self.counts(measured, claim))) }
                                td { (because(claim)) }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn curves(measured: &Measured, title: &str, y_name: &str, pick: fn(&Point) -> Moments) -> Markup {
    let summary = &measured.summary;
    let series = summary.policies.iter().map(|policy| {
        let value = |point: &Point| (pick(point).mean(), pick(point).standard_error());
        Series {
            label: policy.label.as_str().into(),
            style: style(&policy.label),
            points: policy.points.iter().map(value).collect(),
        }
    });
    let finals: Vec<String> = summary
        .policies
        .iter()
        .map(|policy| format!("{} {}", policy.label, figure(pick(policy.last()).mean())))
        .collect();
    let drawing = Curves {
        description: format!(
            "{title} by round, logarithmic scales; at the last round: {}.",
            finals.join(", ")
        ),
        y_name,
        label_room: Curves::LABEL_ROOM,
        rounds: &summary.rounds,
        series: series.collect(),
    };
    curves_figure(&drawing, title, measured.study().title)
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

pub(super) fn verdict(claim_verdict: Verdict, stated: bool) -> Markup {
    let class = match claim_verdict {
        Verdict::Holds => "holds",
        Verdict::DoesNotHold => "fails",
        Verdict::Undecided => "open",
    };
    html! {
        span class={ "verdict " (class) @if !stated { " unstated" } } { (claim_verdict.name()) }
    }
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
                (evidence.over) " / " (evidence.under) " = " (ratio(evidence))
                @if evidence.verdict != claim.verdict || claim.verdict != Verdict::Holds {
                    @match evidence.verdict {
                        Verdict::Holds => " ✓",
                        Verdict::DoesNotHold => " ✗",
                        Verdict::Undecided => " ?",
                    }
                }
            }
        }
    }
}
