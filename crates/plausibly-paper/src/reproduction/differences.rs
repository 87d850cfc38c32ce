//! CODE that rules actions out by differences beside CODE that does it by intervals, as the paper
//! does.
//!
//! Both policies of a pair play the same problems, and two comparisons measure them: one by a set
//! that rules out by intervals, one by a set that rules out by differences, at the same radius.

use super::answer::{ratio, skipped_box};
use super::experiments::{curves, verdict, verdict_table};
use super::{Measure, Measured, Reproduction, Study, Topic, spec_link, verdict_word};
use crate::judge::{CONFIDENCE, Evidence, Rule, Verdict};
use crate::plan::WIDTHS;
use maud::{Markup, html};
use plausibly_report::number::percent;
use plausibly_report::outcome::mean_cells;

/// A comparison of the two ways, its model error measured by one ruler.
#[derive(Clone, Debug)]
pub struct Ruled {
    /// What rules actions out in the set that measures the model error: `intervals` or
    /// `differences`.
    pub ruler: &'static str,
    /// What came out.
    pub measured: Measured,
}

/// A statement about one figure of a pair.
#[derive(Clone, Debug)]
pub struct DifferencesFinding {
    /// Name of the comparison's spec, without `.toml`.
    pub spec_name: &'static str,
    /// What it says.
    pub statement: String,
    /// Which figure.
    pub measure: Measure,
    /// Differences over intervals, with the verdict.
    pub evidence: Evidence,
    study: &'static Study,
    variant: &'static str,
}

/// Most regret, as a share of CODE's, that is asked of valid radii on the first experiment.
const MOST_REGRET: f64 = 0.35;
/// Most model error, as a multiple of CODE's, by either ruler.
const MOST_ERROR: f64 = 1.3;
/// The figures of a pair: regret, and model error by two rulers.
const FIGURES: f64 = 3.0;

/// Judges for every pair whether differences have less regret than intervals, and by each ruler not
/// much more model error.
///
/// The three intervals of a pair hold together at [`CONFIDENCE`] (Bonferroni).
pub fn differences_findings(ruled: &[Ruled]) -> Vec<DifferencesFinding> {
    let mut findings = Vec::new();
    for Ruled { ruler, measured } in ruled {
        let mut judge = |measure: Measure, most: f64, statement: String| {
            let parts = [("CODE, differences", "CODE", Rule::Within(0.0, most))];
            let confidence = 1.0 - (1.0 - CONFIDENCE) / FIGURES;
            let evidence = measure.judge(&measured.summary, &parts, confidence);
            findings.extend(evidence.into_iter().map(|evidence| DifferencesFinding {
                spec_name: measured.spec_name,
                statement: statement.clone(),
                measure,
                evidence,
                study: measured.study(),
                variant: measured.variant.unwrap_or_default(),
            }));
        };
        // Regret does not depend on the ruler, so it is judged once.
        if *ruler == "intervals" {
            if measured.study == "linear" && measured.variant != Some(WIDTHS[0]) {
                let statement = format!("Regret at most {MOST_REGRET} times CODE’s.");
                judge(Measure::Regret, MOST_REGRET, statement);
            } else {
                judge(Measure::Regret, 1.0, "Less regret than CODE.".into());
            }
        }
        let statement = format!("Qₙ by {ruler} at most {MOST_ERROR} times CODE’s.");
        judge(Measure::ModelError, MOST_ERROR, statement);
    }
    findings
}

impl Reproduction {
    /// The head of a report about differences alone.
    pub(super) fn differences_answer(&self) -> Markup {
        html! {
            (self.eyebrow("differences"))
            h1 { "What changes if differences rule actions out?" }
            (self.differences_lead())
            (words())
            (self.differences_verdicts())
            @for skipped in &self.skipped { (skipped_box(skipped)) }
            nav {
                a href="#differences" { "What was measured" }
                a href="#method" { "Method" }
                a href="#specs" { "Specs" }
            }
        }
    }

    /// Counts the verdicts on regret and on model error.
    fn differences_lead(&self) -> Markup {
        let findings = differences_findings(&self.differences);
        let of = |measure| findings.iter().filter(move |finding| finding.measure == measure);
        let count = |measure, wanted| {
            of(measure).filter(|finding| finding.evidence.verdict == wanted).count()
        };
        let told = |measure, what: &str| {
            html! {
                p.lead {
                    "Of " (of(measure).count()) " statements about " (what) ", "
                    b { (count(measure, Verdict::Holds)) " hold" } ", "
                    (count(measure, Verdict::DoesNotHold)) " do not hold and "
                    (count(measure, Verdict::Undecided)) " are undecided."
                }
            }
        };
        html! {
            (told(Measure::Regret, "regret"))
            (told(Measure::ModelError, "the model error Qₙ"))
        }
    }

    /// How a report about differences was made.
    pub(super) fn differences_method(&self) -> Markup {
        html! {
            p {
                "Both policies of a pair play the same problems, action sets and noise, so they "
                "are compared run by run. A statement rests on the ratio of two means at the last "
                "round, differences over intervals, with Fieller’s interval for paired means by "
                "Student’s t; the three intervals of a pair (regret, and Qₙ by two rulers) hold "
                "together with 95 % confidence (Bonferroni). It " (verdict_word("holds", "holds"))
                " if the interval lies where the statement says, "
                (verdict_word("fails", "does not hold")) " if it lies entirely elsewhere, and is "
                (verdict_word("open", "undecided")) " otherwise."
            }
            (self.made_by("Bands in figures are 95 % intervals of the mean, round by round."))
        }
    }

    pub(super) fn differences_section(&self) -> Markup {
        if self.differences.is_empty() {
            return html! {};
        }
        html! {
            @if self.topic() == Topic::Differences {
                h2 #differences { "What was measured" }
            } @else {
                h2 #differences { "Ruling out by differences" }
                (words())
                (self.differences_verdicts())
            }
            (self.differences_numbers())
            @for pair in self.pairs() {
                h3 { (name(&pair[0].measured)) }
                div.figures {
                    (curves(&pair[0].measured, "Regret", "cumulative regret", Measure::Regret))
                    @for Ruled { ruler, measured } in pair {
                        (curves(
                            measured, &format!("Model error Qₙ by {ruler}"),
                            "cumulative model error", Measure::ModelError,
                        ))
                    }
                }
            }
        }
    }

    /// The comparisons of the same policies on the same problems.
    fn pairs(&self) -> impl Iterator<Item = &[Ruled]> {
        let of = |ruled: &Ruled| (ruled.measured.study, ruled.measured.variant);
        self.differences.chunk_by(move |one, other| of(one) == of(other))
    }

    fn differences_verdicts(&self) -> Markup {
        let caption = html! {
            "Ratios of means, differences over intervals; the three intervals of a pair are "
            "simultaneous at 95 %."
        };
        let rows = html! {
            @for finding in differences_findings(&self.differences) {
                tr {
                    th scope="row" { (finding.study.title) ", " (finding.variant) }
                    td { (finding.statement) }
                    td { (verdict(finding.evidence.verdict, true)) }
                    td { (ratio(&finding.evidence)) }
                }
            }
        };
        verdict_table(["problem", "statement"], &caption, &rows)
    }

    fn differences_numbers(&self) -> Markup {
        html! {
            div.scroll {
                table {
                    caption {
                        "At the last round, mean ± standard error. “θ* left”: share of runs in "
                        "which the truth was ever outside the set that measures Qₙ."
                    }
                    thead {
                        tr {
                            th scope="col" { "problem" }
                            th scope="col" { "policy" }
                            th scope="col" { "ruler" }
                            th.n scope="col" colspan="2" { "regret" }
                            th.n scope="col" colspan="2" { "Qₙ" }
                            th.n scope="col" { "θ* left" }
                            th scope="col" { "runs" }
                        }
                    }
                    tbody {
                        @for Ruled { ruler, measured } in &self.differences {
                            @let summary = &measured.summary;
                            @for policy in &summary.policies {
                                tr {
                                    th scope="row" { (name(measured)) }
                                    td { (policy.label) }
                                    td { (ruler) }
                                    (mean_cells(policy.last().regret))
                                    (mean_cells(policy.last().model_error))
                                    td.n { (percent(policy.runs_left, summary.runs)) }
                                    td {
                                        (spec_link(
                                            measured.spec_name, summary.runs, measured.horizon
                                        ))
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

fn name(measured: &Measured) -> String {
    format!("{}, {}", measured.study().title, measured.variant.unwrap_or_default())
}

/// Explains what is compared.
fn words() -> Markup {
    html! {
        p {
            "In the paper an action is ruled out if its interval lies below the lower end of "
            "another one. CODE, differences rules it out if the other action’s advantage exceeds "
            "the width of their difference, which the same confidence set allows. The rest of CODE "
            "is the same. With the reproduction’s width, which is not a confidence set, both have "
            "the same width and ridge. With valid radii, CODE has the determinant radius and ridge "
            "1, and CODE, differences the additive radius and the ridge that suits it. Qₙ is the "
            "largest squared error among the actions that a set calls plausible, so it depends on "
            "the set: it is measured by intervals and by differences, both times with the radius "
            "and ridge of CODE, differences, on each policy’s own data. The paper has no "
            "differences; this study is this project’s."
        }
    }
}
