//! Between CODE and LinUCB: the regret and model error of tempered CODE and of CODE with targets.

use super::answer::{quotient, skipped_box};
use super::experiments::{style, trade_off, verdict, verdict_table};
use super::{Measure, Measured, Reproduction, Topic, spec_link, verdict_word};
use crate::judge::{CONFIDENCE, Evidence, Rule, Verdict};
use maud::{Markup, html};
use plausibly_report::figure::Trail;

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
    let judge = |error: f64, (over, under): (&str, &str), regret: Rule, model_error: Rule| {
        let on = |measure: Measure, rule| {
            // Two figures, so half of the error each.
            measure.judge(&measured.summary, &[(over, under, rule)], 1.0 - error / 2.0)
        };
        [on(Measure::Regret, regret), on(Measure::ModelError, model_error)].concat()
    };
    let finding = |statement: String, evidence: Vec<Evidence>| {
        let verdict = Verdict::of_all(evidence.iter().map(|evidence| evidence.verdict));
        FrontierFinding { statement, verdict, evidence }
    };
    let error = 1.0 - CONFIDENCE;
    let evidence = judge(error, ("LinUCB", GREED), LOWER, NEAR);
    // The statements need both policies.
    if evidence.len() < 2 {
        return Vec::new();
    }
    let statement =
        format!("At {GREED}: less regret than LinUCB, and at most a tenth more model error.");
    let mut findings = vec![finding(statement, evidence)];
    if measured.policy("CODE").is_some() {
        let labels = measured.summary.policies.iter().map(|policy| policy.label.as_str());
        let greeds: Vec<&str> = labels.filter(|label| is_tempered(label)).collect();
        let error = error / greeds.len() as f64;
        let tried = greeds.into_iter().map(|greed| {
            let statement = "For some greed: regret and model error both below CODE’s.".into();
            finding(statement, judge(error, ("CODE", greed), LOWER, LOWER))
        });
        // One greed proves the statement; refuting it takes all of them.
        findings.extend(tried.min_by_key(|tried| tried.verdict));
    }
    findings
}

impl Reproduction {
    /// The head of a report about the frontier alone.
    pub(super) fn frontier_answer(&self) -> Markup {
        html! {
            (self.eyebrow("the frontier"))
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
                @if !self.differences.is_empty() { a href="#differences" { "Differences" } }
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
        html! {
            @for statement in statements {
                @let of = || found.iter().filter(|finding| finding.statement == statement);
                @let count = |wanted| of().filter(|finding| finding.verdict == wanted).count();
                p.lead {
                    "“" (statement) "” This "
                    b { "holds in " (count(Verdict::Holds)) " of " (of().count()) " comparisons" }
                    ", does not hold in " (count(Verdict::DoesNotHold)) " and is undecided in "
                    (count(Verdict::Undecided)) "."
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
            (self.made_by("Bars in figures are standard errors."))
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
        let caption =
            html! { "Ratios of means; the intervals of a statement are simultaneous at 95 %." };
        let rows = html! {
            @for measured in &self.frontier {
                @for finding in frontier_findings(measured) {
                    tr {
                        th scope="row" {
                            (measured.study().title) ", " (measured.variant.unwrap_or_default())
                        }
                        td { (finding.statement) }
                        td { (verdict(finding.verdict, true)) }
                        td {
                            @let both = ["regret ", "; Qₙ "];
                            @for (evidence, what) in finding.evidence.iter().zip(both) {
                                span.note { (what) } (quotient(evidence))
                            }
                        }
                    }
                }
            }
        };
        verdict_table(["problem", "statement"], &caption, &rows)
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
    let labels: Vec<&str> =
        measured.summary.policies.iter().map(|policy| policy.label.as_str()).collect();
    let place = |wanted: &dyn Fn(&str) -> bool| -> Vec<usize> {
        (0..labels.len()).filter(|index| wanted(labels[*index])).collect()
    };
    // With one radius for all policies, greed 1 is LinUCB itself, so both curves end there.
    let end = if labels.contains(&"c=1") { "c=1" } else { "LinUCB" };
    let trail = |style: usize, between: fn(&str) -> bool| {
        let between = place(&|label| between(label) && label != end);
        let (first, last) = (place(&|label| label == "CODE"), place(&|label| label == end));
        Trail { style, through: [first, between, last].concat() }
    };
    let look = |label: &str| match label {
        _ if is_tempered(label) => (0, true),
        _ if is_targeted(label) => (6, true),
        _ => (style(label), false),
    };
    let variant = measured.variant.unwrap_or_default();
    let description = format!(
        "Regret against model error on {} with {variant}: a curve of tempered CODE by greed, one \
         of CODE by target, and the other policies as points.",
        measured.study().title
    );
    let caption = html! {
        b { (variant) } " · "
        (spec_link(measured.spec_name, measured.summary.runs, measured.horizon))
    };
    let trails = vec![trail(0, is_tempered), trail(6, is_targeted)];
    trade_off(measured, description, &caption, trails, look)
}
