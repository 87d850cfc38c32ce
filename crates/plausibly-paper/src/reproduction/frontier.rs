//! Between CODE and LinUCB: the regret and model error of tempered CODE and of CODE with targets.

use super::answer::{ratio, skipped_box};
use super::experiments::{style, verdict};
use super::{Measured, Reproduction, Topic, spec_link, verdict_word};
use crate::judge::{CONFIDENCE, Evidence, Paired, Rule, Verdict};
use maud::{Markup, html};
use plausibly_report::figure::{Mark, TradeOff, Trail};
use plausibly_sim::Moments;

/// The greed that is judged beside LinUCB.
const GREED: &str = "c=0.3";
/// “LinUCB's model error”: at most a tenth above it.
const NEAR: Rule = Rule::Above(1.0 / 1.1);
const LOWER: Rule = Rule::Above(1.0);

/// Whether a label belongs to a tempered CODE: it names the greed.
fn is_tempered(label: &str) -> bool {
    label.starts_with("c=")
}

fn is_targeted(label: &str) -> bool {
    label.starts_with("κ=")
}

/// A statement about the frontier of one experiment.
#[derive(Clone, Debug)]
pub struct FrontierFinding {
    /// What it says.
    pub statement: String,
    /// Whether it holds.
    pub verdict: Verdict,
    /// Why: ratios of regrets, then of model errors.
    pub evidence: Vec<Evidence>,
}

/// Judges two statements about the frontier: LinUCB's model error at less regret, and CODE beaten
/// in both figures.
pub fn frontier_findings(measured: &Measured) -> Vec<FrontierFinding> {
    let summary = &measured.summary;
    let labels: Vec<String> = summary.policies.iter().map(|policy| policy.label.clone()).collect();
    let judge =
        |error: f64, over: &str, under: &str, regret: Rule, model_error: Rule| -> Vec<Evidence> {
            // Two figures, so half of the error each.
            let confidence = 1.0 - error / 2.0;
            let on = |moments, rule| {
                Paired { labels: &labels, moments }.judge_at(&[(over, under, rule)], confidence)
            };
            [on(&summary.final_regret, regret), on(&summary.final_model_error, model_error)]
                .concat()
        };
    let error = 1.0 - CONFIDENCE;
    let evidence = judge(error, "LinUCB", GREED, LOWER, NEAR);
    // The statements need both policies.
    if evidence.len() < 2 {
        return Vec::new();
    }
    let near = FrontierFinding {
        statement: format!(
            "At {GREED}: less regret than LinUCB, and at most a tenth more model error."
        ),
        verdict: Verdict::of_all(evidence.iter().map(|evidence| evidence.verdict)),
        evidence,
    };
    let greeds: Vec<&String> = labels.iter().filter(|label| is_tempered(label)).collect();
    if !labels.iter().any(|label| label == "CODE") {
        return vec![near];
    }
    let tried: Vec<(&String, Vec<Evidence>)> = greeds
        .iter()
        .map(|label| (*label, judge(error / greeds.len() as f64, "CODE", label, LOWER, LOWER)))
        .collect();
    let of =
        |evidence: &[Evidence]| Verdict::of_all(evidence.iter().map(|evidence| evidence.verdict));
    // One greed proves the statement; refuting it takes all of them.
    let best = tried.iter().find(|(_, evidence)| of(evidence) == Verdict::Holds);
    let (some, shown) = match best {
        Some((_, evidence)) => (Verdict::Holds, evidence.clone()),
        None if tried.iter().all(|(_, evidence)| of(evidence) == Verdict::DoesNotHold) => (
            Verdict::DoesNotHold,
            tried.first().map(|(_, evidence)| evidence.clone()).unwrap_or_default(),
        ),
        None => {
            let open = tried.iter().find(|(_, evidence)| of(evidence) == Verdict::Undecided);
            (Verdict::Undecided, open.map(|(_, evidence)| evidence.clone()).unwrap_or_default())
        }
    };
    let both = FrontierFinding {
        statement: "For some greed: regret and model error both below CODE’s.".into(),
        verdict: some,
        evidence: shown,
    };
    vec![near, both]
}

impl Reproduction {
    /// The head of a report about the frontier alone.
    pub(super) fn frontier_answer(&self) -> Markup {
        html! {
            p.eyebrow {
                "Plausibly " (self.version) " · the frontier"
                @if self.quick { " " span.badge { "quick run: a tenth of the runs" } }
            }
            h1 { "Is there something better between CODE and LinUCB?" }
            (self.frontier_lead())
            (words())
            (self.frontier_table())
            @for skipped in &self.skipped { (skipped_box(skipped)) }
            nav {
                @for measured in self.frontier_studies() {
                    a href={ "#frontier-" (measured.study) } { (measured.study().title) }
                }
                @if !self.delay.is_empty() { a href="#delay" { "Late rewards" } }
                a href="#method" { "Method" }
                a href="#specs" { "Specs" }
            }
        }
    }

    /// Counts the comparisons in which each statement holds.
    fn frontier_lead(&self) -> Markup {
        let found: Vec<FrontierFinding> =
            self.frontier.iter().flat_map(frontier_findings).collect();
        let mut statements: Vec<&str> = Vec::new();
        for finding in &found {
            if !statements.contains(&finding.statement.as_str()) {
                statements.push(&finding.statement);
            }
        }
        let count = |statement: &str, wanted: Option<Verdict>| {
            let of = |finding: &&FrontierFinding| {
                finding.statement == statement
                    && wanted.is_none_or(|wanted| finding.verdict == wanted)
            };
            found.iter().filter(of).count()
        };
        html! {
            @for statement in statements {
                p.lead {
                    "“" (statement) "” This "
                    b {
                        "holds in " (count(statement, Some(Verdict::Holds))) " of "
                        (count(statement, None)) " comparisons"
                    }
                    ", does not hold in " (count(statement, Some(Verdict::DoesNotHold))) " and is "
                    "undecided in " (count(statement, Some(Verdict::Undecided))) "."
                }
            }
        }
    }

    /// How a report about the frontier was made.
    pub(super) fn frontier_method(&self) -> Markup {
        html! {
            p {
                "All policies of a comparison play the same problems, action sets and noise, so "
                "they are compared in pairs, run by run. A statement rests on ratios of mean "
                "regret and of mean model error at the last round, each with Fieller’s interval "
                "for "
                "paired means by Student’s t; the intervals of a statement hold together with 95 % "
                "confidence (Bonferroni, also over the greeds that are tried). It "
                (verdict_word("holds", "holds"))
                " if every interval lies where the statement says, "
                (verdict_word("fails", "does not hold")) " if one lies entirely elsewhere, and is "
                (verdict_word("open", "undecided")) " otherwise."
            }
            p {
                "Bars in figures are standard errors. Seed " (self.seed) ". Made by "
                code { (self.command) } "."
            }
        }
    }

    /// The first comparison of every problem.
    fn frontier_studies(&self) -> impl Iterator<Item = &Measured> {
        let mut seen: Vec<&str> = Vec::new();
        self.frontier.iter().filter(move |measured| {
            let new = !seen.contains(&measured.study);
            seen.push(measured.study);
            new
        })
    }

    pub(super) fn frontier_section(&self) -> Markup {
        if self.frontier.is_empty() {
            return html! {};
        }
        html! {
            @if self.topic() == Topic::Frontier {
                h2 #frontier { "What was measured" }
            } @else {
                h2 #frontier { "The frontier between CODE and LinUCB" }
                (words())
                (self.frontier_table())
            }
            @for first in self.frontier_studies() {
                h3 #{ "frontier-" (first.study) } { (first.study().title) }
                div.figures {
                    @let of_study = |measured: &&Measured| measured.study == first.study;
                    @for measured in self.frontier.iter().filter(of_study) {
                        (figure(measured))
                    }
                }
            }
        }
    }

    fn frontier_table(&self) -> Markup {
        html! {
            div.scroll {
                table.claims {
                    caption {
                        "Ratios of means; the intervals of a statement are simultaneous at 95 %."
                    }
                    thead {
                        tr {
                            th scope="col" { "problem" } th scope="col" { "statement" }
                            th scope="col" { "verdict" } th scope="col" { "because" }
                        }
                    }
                    tbody {
                        @for measured in &self.frontier {
                            @for finding in frontier_findings(measured) {
                                tr {
                                    th scope="row" {
                                        (measured.study().title) ", "
                                        (measured.variant.unwrap_or_default())
                                    }
                                    td { (finding.statement) }
                                    td { (verdict(finding.verdict, true)) }
                                    td {
                                        @let both = ["regret ", "; Qₙ "];
                                        @for (evidence, what) in finding.evidence.iter().zip(both) {
                                            span.note { (what) } (evidence.over) " / "
                                            (evidence.under) " = " (ratio(evidence))
                                        }
                                    }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// Explains what is compared.
fn words() -> Markup {
    html! {
        p {
            "Tempered CODE takes, among the plausible actions, the one with the largest c·estimate "
            "+ half-interval: c = 0 is CODE, c = 1 is LinUCB with CODE’s width. CODE with a target "
            "explores only while a plausible action’s squared width is above κ·d/t, and otherwise "
            "plays c = 1. Both are this project’s; the paper has neither. Down and left is better. "
            "Each problem is shown with the width of the reproduction, which is not a confidence "
            "set, and with the determinant radius, which gives one (LinUCB then uses it too, and "
            "both curves end at LinUCB). Qₙ is measured with the set in use."
        }
    }
}

fn figure(measured: &Measured) -> Markup {
    let policies = &measured.summary.policies;
    let of = |moments: Moments| (moments.mean(), moments.standard_error().unwrap_or(0.0));
    let marks: Vec<Mark<'_>> = policies
        .iter()
        .map(|policy| {
            let label = policy.label.as_str();
            let style = if is_tempered(label) {
                0
            } else if is_targeted(label) {
                6
            } else {
                style(label)
            };
            let hollow = is_tempered(label) || is_targeted(label);
            Mark {
                label,
                style,
                x: of(policy.last().regret),
                y: of(policy.last().model_error),
                hollow,
            }
        })
        .collect();
    let place = |wanted: &dyn Fn(&str) -> bool| -> Vec<usize> {
        (0..marks.len()).filter(|index| wanted(marks[*index].label)).collect()
    };
    // With one radius for all policies, greed 1 is LinUCB itself, so both curves end there.
    let end = if marks.iter().any(|mark| mark.label == "c=1") { "c=1" } else { "LinUCB" };
    let through = |wanted: &dyn Fn(&str) -> bool| -> Vec<usize> {
        [
            place(&|label| label == "CODE"),
            place(&|label| wanted(label) && label != end),
            place(&|label| label == end),
        ]
        .concat()
    };
    let trails = vec![
        Trail { style: 0, through: through(&is_tempered) },
        Trail { style: 6, through: through(&is_targeted) },
    ];
    let variant = measured.variant.unwrap_or_default();
    let drawing = TradeOff {
        description: format!(
            "Regret against model error on {} with {variant}: a curve of tempered CODE by greed, \
             one of CODE by target, and the other policies as points.",
            measured.study().title
        ),
        x_name: "regret at the last round",
        y_name: "model error Qₙ",
        marks,
        trails,
    };
    html! {
        figure {
            figcaption {
                b { (variant) } " · "
                (spec_link(measured.spec_name, measured.summary.runs, measured.horizon))
            }
            div.scroll { (drawing.svg()) }
        }
    }
}
