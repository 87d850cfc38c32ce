//! The page of the study of yes and no.

use super::{
    Compared, Decided, YesNoFinding, YesNoTold, comparison_findings, table_findings,
    yes_no_findings,
};
use crate::judge::Verdict;
use crate::plan::BETA;
use crate::reproduction::experiments::{verdict, verdict_table};
use crate::reproduction::verdicts::{EVENTS, median_outcomes, part};
use crate::reproduction::{Measure, Reproduction, Topic, spec_link, verdict_word};
use maud::{Markup, html};
use plausibly_report::number::{figure, percent};
use plausibly_report::outcome::mean_cells;
use plausibly_sim::{Moments, PolicySummary};

impl Reproduction {
    /// The head of a report about yes and no alone.
    pub(in crate::reproduction) fn yes_no_answer(&self) -> Markup {
        html! {
            (self.eyebrow("yes or no"))
            h1 { "What is a logistic model worth where rewards are a yes or no?" }
            (self.yes_no_overview())
            nav {
                a href="#yes-no" { "Comparisons" }
                a href="#yes-no-tables" { "Small tables" }
                a href="#method" { "Method" }
                a href="#specs" { "Specs" }
            }
        }
    }

    /// The answer, and which policy is best at what.
    fn yes_no_overview(&self) -> Markup {
        let findings = yes_no_findings(&self.yes_no);
        html! {
            (lead(&findings))
            p {
                "CODE takes the plausible action whose outcome tells most; c=0.3 and κ=4 trade "
                "that for reward, UCB takes the largest upper end, Thompson a draw. All of these "
                "have the logistic set (for counts that of counts) unless they are called linear. "
                "Qₙ is measured for every policy with the logistic set, on its own data."
            }
            (self.best_table())
        }
    }

    /// The policies with the least of each figure, problem by problem.
    fn best_table(&self) -> Markup {
        html! {
            div.scroll {
                table.late {
                    caption { "Which was best at what, by means and medians." }
                    thead {
                        tr {
                            th scope="col" { "problem" }
                            th scope="col" { "least regret" }
                            th scope="col" { "least Qₙ" }
                            th scope="col" { "first action out soonest" }
                        }
                    }
                    tbody {
                        @for Compared { comparison, measured } in &self.yes_no.compared {
                            tr {
                                th scope="row" {
                                    a href={ "#" (comparison.spec_name) } { (comparison.title) }
                                }
                                @for measure in [Measure::Regret, Measure::ModelError] {
                                    td { (least(&measured.summary.policies, measure)) }
                                }
                                td { "–" }
                            }
                        }
                        @for decided in &self.yes_no.tables {
                            tr {
                                th scope="row" {
                                    a href={ "#" (decided.problem().spec_name) } {
                                        (decided.problem().title)
                                    }
                                }
                                td { (least_regret(decided)) }
                                td { "–" }
                                td { (soonest(decided)) }
                            }
                        }
                    }
                }
            }
        }
    }

    pub(in crate::reproduction) fn yes_no_section(&self) -> Markup {
        if self.yes_no.is_empty() {
            return html! {};
        }
        let alone = self.topic() == Topic::YesNo;
        html! {
            h2 #yes-no { @if alone { "Beside the prototype" } @else { "Yes or no" } }
            @if !alone { (self.yes_no_overview()) }
            @for compared in &self.yes_no.compared { (compared_part(compared)) }
            h2 #yes-no-tables { "Small tables" }
            (self.table_statements())
            @for decided in &self.yes_no.tables {
                (part(&decided.watched))
                @if let Some(regret) = decided.beta_regret() { (beta_note(regret)) }
            }
        }
    }

    fn table_statements(&self) -> Markup {
        let caption = html! {
            "“Sooner”: the median over runs of the outcomes of determinant by intervals divided "
            "by those of the set that logs use for yes and no, with its 95 % interval. Coverage: "
            "the share of runs, with the interval of Clopper and Pearson."
        };
        let rows = html! {
            @for decided in &self.yes_no.tables {
                @for finding in table_findings(decided) {
                    tr {
                        th scope="row" { (decided.problem().title) }
                        td { (finding.label) ": " (finding.statement) }
                        td { (verdict(finding.verdict, finding.told == YesNoTold::Sooner)) }
                        td { (decided_by(&finding)) }
                    }
                }
            }
        };
        verdict_table(["problem", "statement"], &caption, &rows)
    }

    /// How the figures were made.
    pub(in crate::reproduction) fn yes_no_method(&self) -> Markup {
        html! {
            p {
                "The prototype is in another language and shares no code with this project. A "
                "figure " (verdict_word("holds", "holds")) " if it is within four joint standard "
                "errors of the prototype’s. On steep problems, and for Qₙ of UCB and Thompson, a "
                "few runs make up the mean; there it holds within a factor of three. In the "
                "comparisons intervals rule actions out, as in the prototype, also in the set "
                "that measures Qₙ. Linear policies need an intercept, so on logistic problems they "
                "play a copy with one: the means are the same, and the set that measures Qₙ there "
                "has one feature more. The prototype’s policies that rank by mean width, by logits "
                "or by another radius are not part of this project."
            }
            p {
                "Small tables are played with the defaults: differences rule actions out, and "
                "pairs do up to 64 actions. “Told” is told the usual rate and a factor of 10. "
                "Without features, a set and Beta Thompson sampling see arms with the same means "
                "and the same luck; the set, which compares all pairs, in the first fifth of the "
                "runs. Times are those of the study of verdicts: outcomes at which a "
                "look finds the action out, in looks that grow by 1 %."
            }
            (self.made_by("Figures are mean ± standard error."))
        }
    }
}

/// Counts what holds.
fn lead(findings: &[YesNoFinding]) -> Markup {
    let count = |told: &[YesNoTold], wanted: Option<Verdict>| {
        let of = |found: &&YesNoFinding| {
            told.contains(&found.told) && wanted.is_none_or(|wanted| found.verdict == wanted)
        };
        findings.iter().filter(of).count()
    };
    let said = |told: &[YesNoTold], what: &str| {
        html! {
            p.lead {
                "Of " (count(told, None)) " statements about " (what) ", "
                b { (count(told, Some(Verdict::Holds))) " hold" } ", "
                (count(told, Some(Verdict::DoesNotHold))) " do not and "
                (count(told, Some(Verdict::Undecided))) " are undecided."
            }
        }
    };
    html! {
        (said(&[YesNoTold::Same, YesNoTold::Order], "figures of the prototype"))
        (said(&[YesNoTold::Sooner], "first exclusions three times sooner than today’s"))
        (said(&[YesNoTold::Coverage], "coverage"))
    }
}

/// The policy with the least mean of a figure.
fn least(policies: &[PolicySummary], measure: Measure) -> String {
    let of = |policy: &PolicySummary| measure.at(policy.last()).mean();
    let least = policies.iter().min_by(|a, b| of(a).total_cmp(&of(b)));
    least.map_or_else(String::new, |policy| format!("{}: {}", policy.label, figure(of(policy))))
}

fn mean_regret(runs: &[plausibly_sim::RunVerdicts]) -> Moments {
    let mut regret = Moments::default();
    for run in runs {
        regret.add(run.regret);
    }
    regret
}

/// The policy with the least regret on a table, Beta Thompson sampling included.
fn least_regret(decided: &Decided) -> String {
    let policies = decided.watched.policies.iter();
    let watched = policies.map(|policy| (policy.label.as_str(), mean_regret(&policy.runs).mean()));
    let beta = decided.beta_regret().map(|regret| (BETA, regret.mean()));
    let least = watched.chain(beta).min_by(|(_, a), (_, b)| a.total_cmp(b));
    least.map_or_else(String::new, |(label, regret)| format!("{label}: {}", figure(regret)))
}

/// The set whose median first exclusion is the soonest.
fn soonest(decided: &Decided) -> String {
    let time = |policy| median_outcomes(policy, EVENTS[0]).value;
    let all = decided.watched.policies.iter();
    let first = all.min_by(|a, b| time(a).total_cmp(&time(b)));
    first.filter(|policy| time(policy).is_finite()).map_or_else(
        || "none within the horizon".into(),
        |policy| format!("{}: {}", policy.label, figure(time(policy))),
    )
}

/// Regret of the policy that has no set.
fn beta_note(regret: Moments) -> Markup {
    let error = regret.standard_error();
    html! {
        p.note {
            (BETA) " on the same means and luck: regret " (figure(regret.mean()))
            @if let Some(error) = error { " ± " (figure(error)) }
            ". It has no set, so it rules nothing out."
        }
    }
}

/// One comparison: every policy with its figures and the prototype's.
fn compared_part(compared: &Compared) -> Markup {
    let Compared { comparison, measured } = compared;
    let findings = comparison_findings(compared);
    let of = |label: &str, measure| {
        findings.iter().find(|found| found.label == label && found.measure == Some(measure))
    };
    html! {
        section #(comparison.spec_name) {
            h3 { (comparison.title) }
            div.scroll {
                table {
                    caption {
                        "Mean ± standard error; beside it the prototype’s, the distance z in joint "
                        "standard errors (×: the ratio), and whether the statement holds. “Left”: "
                        "runs in which a true mean was ever outside the interval of the set that "
                        "measures Qₙ. "
                        (spec_link(comparison.spec_name, measured.summary.runs, measured.horizon))
                    }
                    thead {
                        tr {
                            th scope="col" { "policy" }
                            @for name in ["regret", "Qₙ"] {
                                th.n scope="col" colspan="2" { (name) }
                                th scope="col" { "prototype" }
                                th scope="col" { "z" }
                            }
                            th.n scope="col" { "plausible" }
                            th.n scope="col" { "left" }
                        }
                    }
                    tbody {
                        @for policy in &measured.summary.policies {
                            tr {
                                th scope="row" { (policy.label) }
                                (mean_cells(policy.last().regret))
                                (beside_cells(of(&policy.label, Measure::Regret)))
                                (mean_cells(policy.last().model_error))
                                (beside_cells(of(&policy.label, Measure::ModelError)))
                                td.n { (figure(policy.last().plausible.mean())) }
                                td.n { (percent(policy.runs_left, measured.summary.runs)) }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn beside_cells(finding: Option<&YesNoFinding>) -> Markup {
    let known = finding.and_then(|finding| finding.known);
    html! {
        td { @if let Some((mean, error)) = known { (figure(mean)) " ± " (figure(error)) } }
        td {
            @if let Some(finding) = finding {
                (decided_by(finding)) " " (verdict(finding.verdict, true))
            }
        }
    }
}

/// The figure that decides.
fn decided_by(finding: &YesNoFinding) -> Markup {
    let estimate = finding.estimate;
    let share = |value: f64| format!("{:.1} %", 100.0 * value);
    html! {
        @match finding.told {
            YesNoTold::Same => { (format!("{:.1}", estimate.value).replace('-', "−")) }
            YesNoTold::Order => { "× " (figure(estimate.value)) }
            YesNoTold::Sooner => {
                (figure(estimate.value)) " [" (figure(estimate.low)) ", " (figure(estimate.high))
                "]"
            }
            YesNoTold::Coverage => {
                (share(estimate.value)) " [" (share(estimate.low)) ", " (share(estimate.high)) "]"
            }
        }
    }
}
