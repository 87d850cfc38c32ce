//! The experiments: figures, tables and claims of each.

use super::answer::{claim_id, ratio};
use super::{Claim, Measured, Reproduction, mean_cells, spec_details, spec_link};
use crate::claim::{Rule, Verdict};
use crate::figure::{Curves, Series};
use crate::number::{figure, percent};
use maud::{Markup, html};
use plausibly_sim::{JointMoments, Moments, Point};

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
        html! { @for measured in &self.experiments { (section(measured)) } }
    }
}

fn section(measured: &Measured) -> Markup {
    let study = measured.study();
    let claims = measured.claims();
    html! {
        section #(study.id) {
            h2 { (study.title) }
            p { (study.problem) " " @if !study.remark.is_empty() { (study.remark) } " (" (study.place) " of the paper.)" }
            div.figures {
                (curves(measured, "Regret", "cumulative regret", |point| point.regret))
                (curves(measured, "Model error Qₙ", "cumulative model error", |point| point.model_error))
            }
            (final_table(measured))
            h3 { "Claims" }
            (claim_table(measured, &claims))
            (spec_details(measured.spec_name, &measured.spec))
        }
    }
}

fn curves(measured: &Measured, title: &str, y_name: &str, pick: fn(&Point) -> Moments) -> Markup {
    let summary = &measured.summary;
    let series = summary.policies.iter().map(|policy| {
        let value = |point: &Point| (pick(point).mean(), pick(point).standard_error());
        Series {
            label: &policy.label,
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
        rounds: &summary.rounds,
        series: series.collect(),
    };
    html! {
        figure {
            figcaption { b { (title) } " by round, " (measured.study().title) "; bands are 95 % intervals" }
            (drawing.svg())
            div.readout aria-hidden="true" {}
        }
    }
}

/// A mean of which a single run makes up this share is not one to rely on.
const HEAVY: f64 = 0.2;

pub(super) fn final_table(measured: &Measured) -> Markup {
    let summary = &measured.summary;
    html! {
        div.scroll {
            table {
                caption {
                    "At the last round, mean ± standard error. “Plausible”: actions that could still be best at the end. “θ* left”: runs in which the truth was ever outside the set that Qₙ is measured with. "
                    (spec_link(measured.spec_name, summary.runs, measured.horizon))
                }
                thead {
                    tr {
                        th scope="col" { "policy" }
                        th.n scope="col" colspan="2" { "regret" }
                        th.n scope="col" colspan="2" { "Qₙ" }
                        th.n scope="col" { "plausible" }
                        th.n scope="col" { "θ* left" }
                    }
                }
                tbody {
                    @for policy in &summary.policies {
                        tr.code[policy.label == "CODE"] {
                            th scope="row" { (policy.label) }
                            (mean_cells(policy.last().regret))
                            (mean_cells(policy.last().model_error))
                            td.n { (figure(policy.last().plausible.mean())) }
                            td.n { (percent(policy.runs_left, summary.runs)) }
                        }
                    }
                }
            }
        }
        @for (label, share, what) in heavy(measured) {
            p.note { "One run of " (summary.runs) " carries " (format!("{:.0}", 100.0 * share)) " % of " (label) "’s summed " (what) ": no interval on its mean can be relied on." }
        }
    }
}

/// Figures of policies that hang on one run, by its share.
pub(super) fn heavy(measured: &Measured) -> Vec<(&str, f64, &'static str)> {
    let summary = &measured.summary;
    let of = |moments: &JointMoments, what: &'static str| -> Vec<(&str, f64, &'static str)> {
        let shares = summary
            .policies
            .iter()
            .enumerate()
            .map(|(i, policy)| (policy.label.as_str(), moments.largest_share(i), what));
        // Of few runs each carries much.
        let usual = 4.0 / summary.runs as f64;
        shares.filter(|(_, share, _)| *share > HEAVY.max(usual)).collect()
    };
    [of(&summary.final_regret, "regret"), of(&summary.final_model_error, "Qₙ")].concat()
}

pub(super) fn verdict(claim_verdict: Verdict, stated: bool) -> Markup {
    let class = match claim_verdict {
        Verdict::Holds => "holds",
        Verdict::DoesNotHold => "fails",
        Verdict::Undecided => "open",
    };
    html! { span class={ "verdict " (class) @if !stated { " unstated" } } { (claim_verdict.name()) } }
}

fn claim_table(measured: &Measured, claims: &[Claim]) -> Markup {
    html! {
        div.scroll {
            table.claims {
                caption { "Ratios of mean figures, each with its interval; the intervals of a claim are simultaneous at 95 %. Outlined: the paper does not say it of this experiment; judged for comparison, not counted." }
                thead { tr { th scope="col" { "" } th scope="col" { "claim" } th scope="col" { "verdict" } th scope="col" { "because" } } }
                tbody {
                    @for claim in claims {
                        tr #(claim_id(measured, claim)) {
                            th scope="row" { "(" (claim.key) ")" }
                            td { (claim.statement) }
                            td { (verdict(claim.verdict, claim.stated)) }
                            td { (because(claim)) }
                        }
                    }
                }
            }
        }
    }
}

fn because(claim: &Claim) -> Markup {
    let rule = |rule: Rule| match rule {
        Rule::Above(bound) => format!("should be above {bound}"),
        Rule::Within(low, high) => format!("should be between {low} and {high}"),
    };
    html! {
        span.note { (claim.measure.name()) ", " (claim.evidence.first().map_or_else(String::new, |evidence| rule(evidence.rule))) ": " }
        @for (position, evidence) in claim.evidence.iter().enumerate() {
            @if position > 0 { ", " }
            span style="white-space: nowrap" {
                (evidence.over) " / " (evidence.under) " = " (ratio(evidence))
                @if evidence.verdict != claim.verdict || claim.verdict != Verdict::Holds {
                    @match evidence.verdict { Verdict::Holds => " ✓", Verdict::DoesNotHold => " ✗", Verdict::Undecided => " ?" }
                }
            }
        }
    }
}
