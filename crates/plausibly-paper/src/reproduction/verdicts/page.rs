//! The page of the study of verdicts.

use super::{EVENTS, Event, Told, VerdictFinding, Watched, median_outcomes, verdict_findings};
use crate::judge::Verdict;
use crate::plan::Source;
use crate::reproduction::experiments::{verdict, verdict_table};
use crate::reproduction::{Reproduction, Topic, spec_link, verdict_word};
use maud::{Markup, html};
use plausibly_report::number::{Estimate, figure, grouped, percent};
use plausibly_report::outcome::mean_cells;
use plausibly_sim::{Moments, PolicyVerdicts};

impl Reproduction {
    /// The head of a report about verdicts alone.
    pub(in crate::reproduction) fn verdicts_answer(&self) -> Markup {
        html! {
            (self.eyebrow("verdicts"))
            h1 { "How soon are actions ruled out, and how rightly?" }
            (self.verdicts_overview())
            nav {
                a href="#verdicts" { "Problems" }
                a href="#method" { "Method" }
                a href="#specs" { "Specs" }
            }
        }
    }

    /// The answer, and the statements with their verdicts.
    fn verdicts_overview(&self) -> Markup {
        let findings: Vec<_> = self.verdicts.iter().flat_map(verdict_findings).collect();
        html! {
            (lead(&findings))
            p {
                "Each set plays CODE with δ = 0.05 on the same problems and noise, until one "
                "action is left. " b { "Today" } " is the set that logs use now. "
                b { "Two-point" } " and " b { "forecast" } " need only a range of rewards, "
                b { "with pairs" } " gives half of δ to direct evidence between two actions, and "
                b { "bell" } " assumes normal noise of unknown scale."
            }
            (self.statement_table(&findings))
        }
    }

    fn statement_table(&self, findings: &[VerdictFinding]) -> Markup {
        let caption = html! {
            "“Sooner”: the median over runs of today’s outcomes divided by those of the set, with "
            "its 95 % interval. “At most”: the median outcomes with their interval."
        };
        let rows = html! {
            @for finding in findings.iter().filter(|found| found.told != Told::Design) {
                tr {
                    th scope="row" {
                        a href={ "#" (finding.spec_name) } { (self.title(finding)) }
                    }
                    td { (finding.label) ": " (finding.statement) }
                    td { (verdict(finding.verdict, true)) }
                    td { (interval(&finding.estimate, figure)) }
                }
            }
        };
        verdict_table(["problem", "statement"], &caption, &rows)
    }

    fn title(&self, finding: &VerdictFinding) -> &'static str {
        let of = |watched: &&Watched| watched.problem.spec_name == finding.spec_name;
        self.verdicts.iter().find(of).map_or("", |watched| watched.problem.title)
    }

    pub(in crate::reproduction) fn verdicts_section(&self) -> Markup {
        if self.verdicts.is_empty() {
            return html! {};
        }
        html! {
            h2 #verdicts {
                @if self.topic() == Topic::Verdicts { "Problem by problem" } @else { "Verdicts" }
            }
            @if self.topic() != Topic::Verdicts { (self.verdicts_overview()) }
            @for watched in &self.verdicts { (part(watched)) }
        }
    }

    /// How the figures were made.
    pub(in crate::reproduction) fn verdicts_method(&self) -> Markup {
        html! {
            p {
                "The set is looked at after 0, 1, 2, … outcomes, and from 100 on at outcomes that "
                "grow by 1 %. An action is out if the policy’s own explanation rules it out in a "
                "look; later looks may find it plausible again. “Half” is half of the actions that "
                "can go, rounded up. A run ends when one action is left or at its horizon; a "
                "median beyond the horizon is written as such. “Missed” counts runs in which a "
                "true mean was outside its interval in some look, “best lost” those in which the "
                "best action was ruled out; each should be in at most 5 % of the runs. Regret is "
                "that of the whole run, and a run that ended has almost none left to come."
            }
            p {
                "Medians have the interval between two order statistics that holds the median at "
                "95 %, and so have the ratios, run by run. A run without an event enters a ratio "
                "by the value that proves less at each end of the interval. A statement "
                (verdict_word("holds", "holds")) " if its whole interval lies where it says, "
                (verdict_word("fails", "does not hold")) " if none of it does, and is "
                (verdict_word("open", "undecided")) " otherwise. Each is judged separately."
            }
            p {
                "The prototype’s medians come from simulations that share no code with this "
                "project, and are matched if ours are from 15 % shorter to 30 % longer. They keep "
                "exclusions for good and look after every outcome."
            }
            (self.made_by("Regret is mean ± standard error."))
        }
    }
}

/// Counts what holds.
fn lead(findings: &[VerdictFinding]) -> Markup {
    let of = |design: bool| findings.iter().filter(move |it| (it.told == Told::Design) == design);
    let count = |design, wanted| of(design).filter(|found| found.verdict == wanted).count();
    let near = of(true).filter(|found| found.near()).count();
    html! {
        p.lead {
            "Of " (of(false).count()) " statements about speed, "
            b { (count(false, Verdict::Holds)) " hold" } ", " (count(false, Verdict::DoesNotHold))
            " do not and " (count(false, Verdict::Undecided)) " are undecided. "
            "Of " (of(true).count()) " medians of the prototype that the sets were designed with, "
            b { (near) " are matched" }
            " (by their intervals " (count(true, Verdict::Holds)) " for certain, and "
            (count(true, Verdict::DoesNotHold)) " certainly not)."
        }
    }
}

/// One problem: every set with its figures.
pub(in crate::reproduction) fn part(watched: &Watched) -> Markup {
    let problem = watched.problem;
    let findings = verdict_findings(watched);
    html! {
        section #(problem.spec_name) {
            h3 { (problem.title) }
            @if let Source::Chosen(reason) = problem.source {
                p { "Chosen before any result was seen. " (reason) }
            }
            div.scroll {
                table.late {
                    caption {
                        "Median outcomes, with 95 % intervals; below them the ratio to the "
                        "prototype’s median, where there is one. "
                        (spec_link(problem.spec_name, watched.runs() as u64, watched.horizon))
                    }
                    thead {
                        tr {
                            th { "" }
                            @for event in EVENTS { th scope="col" { (event.name()) } }
                            th scope="col" { "first, times sooner than today" }
                            th.n scope="col" colspan="2" { "regret" }
                            th.n scope="col" { "missed" }
                            th.n scope="col" { "best lost" }
                        }
                    }
                    tbody {
                        @for policy in &watched.policies { (row(watched, policy, &findings)) }
                    }
                }
            }
        }
    }
}

fn row(watched: &Watched, policy: &PolicyVerdicts, findings: &[VerdictFinding]) -> Markup {
    let mut regret = Moments::default();
    policy.runs.iter().for_each(|run| regret.add(run.regret));
    let runs = policy.runs.len() as u64;
    let missed = policy.runs.iter().filter(|run| run.truth_left).count() as u64;
    let lost = policy.runs.iter().filter(|run| run.best_lost).count() as u64;
    let designed = |event: Event| {
        findings.iter().find(|found| {
            (found.told, found.label, found.event) == (Told::Design, policy.label.as_str(), event)
        })
    };
    let outcomes = |value: f64| {
        if value.is_finite() {
            grouped(value)
        } else {
            format!("> {}", grouped(watched.horizon as f64))
        }
    };
    html! {
        tr {
            th scope="row" { (policy.label) }
            @for event in EVENTS {
                td {
                    (interval(&median_outcomes(policy, event), outcomes))
                    @if let Some(found) = designed(event) {
                        br;
                        span.note { "× " (figure(found.estimate.value)) " " }
                        (verdict(found.verdict, false))
                    }
                }
            }
            td {
                @if let Some(ratio) = watched.sooner(&policy.label, Event::First) {
                    (interval(&ratio, figure))
                }
            }
            (mean_cells(regret))
            td.n { (percent(missed, runs)) }
            td.n { (percent(lost, runs)) }
        }
    }
}

/// A figure with its interval.
fn interval(estimate: &Estimate, written: impl Fn(f64) -> String) -> Markup {
    let Estimate { value, low, high } = *estimate;
    html! {
        span.ratio {
            (written(value)) " " span.range { "[" (written(low)) ", " (written(high)) "]" }
        }
    }
}
