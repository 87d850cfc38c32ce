//! The report on the paper: what was measured, and what it says about the paper's claims.
//!
//! A [`Reproduction`] holds results only, and [`Reproduction::html`] is a function of them, so the
//! same results always give the same page. Each file below writes one section of it.

mod answer;
mod claims;
mod delay;
mod differences;
mod experiments;
mod frontier;
mod readings;
mod studies;
mod tally;
mod theory;
mod verdicts;
mod yes_no;

pub use claims::{Claim, Measure, claims};
pub use delay::{DelayFinding, Late, delay_findings};
pub use differences::{DifferencesFinding, Ruled, differences_findings};
pub use frontier::{FrontierFinding, frontier_findings};
pub use studies::{STUDIES, Study};
pub use tally::Tally;
pub use verdicts::{EVENTS, median_outcomes};
pub use verdicts::{Event, Told, VerdictFinding, Watched, verdict_findings};
pub use yes_no::{Compared, Decided, YesNo, YesNoFinding, YesNoTold};
pub use yes_no::{comparison_findings, table_findings, yes_no_findings};

use crate::judge::Verdict;
use crate::theory::{ArmsTheory, LinearTheory};
use maud::{Markup, html};
use plausibly_report::number;
use plausibly_sim::{PolicySummary, Summary};

/// How the paper's λ = 10⁴ is read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reading {
    /// A constant of the confidence width alone; the ridge is 1.
    #[default]
    Adopted,
    /// The ridge as well.
    Literal,
}

/// An experiment that was run.
#[derive(Clone, Debug)]
pub struct Measured {
    /// Which study it belongs to: the `id` of one of [`STUDIES`].
    pub study: &'static str,
    /// Name of the variant; `None` for the study's own experiment.
    pub variant: Option<&'static str>,
    /// Name of its spec, without `.toml`.
    pub spec_name: &'static str,
    /// The spec that made it, word for word.
    pub spec: String,
    /// Rounds per run.
    pub horizon: u64,
    /// What came out.
    pub summary: Summary,
}

/// A check of theory that was run.
#[derive(Clone, Debug)]
pub struct Checked<T> {
    /// Name of its spec, without `.toml`.
    pub spec_name: &'static str,
    /// The spec that made it, word for word.
    pub spec: String,
    /// What came out.
    pub theory: T,
}

/// An experiment that was not run.
#[derive(Clone, Debug)]
pub struct Skipped {
    /// Which one.
    pub study: &'static str,
    /// Why not.
    pub reason: String,
    /// What to do about it.
    pub remedy: String,
}

/// Everything the report is made of. The same contents give the same page, byte for byte.
#[derive(Clone, Debug, Default)]
pub struct Reproduction {
    /// Version of the program.
    pub version: &'static str,
    /// The command that gives this report again.
    pub command: String,
    /// Seed of all randomness.
    pub seed: u64,
    /// Whether runs were cut to a tenth.
    pub quick: bool,
    /// How CODE's constants were read in the experiments.
    pub reading: Reading,
    /// The experiments, in the order of [`STUDIES`].
    pub experiments: Vec<Measured>,
    /// The experiments that could not be run.
    pub skipped: Vec<Skipped>,
    /// The policies of the first experiment, read in other ways.
    pub policy_readings: Option<Measured>,
    /// The policies of the first experiment, their model error measured with a valid confidence
    /// set.
    pub ruler_reading: Option<Measured>,
    /// The problems of wine and heart, read in other ways.
    pub problem_readings: Vec<Measured>,
    /// Tempered CODE and targets, each problem with the reproduction's width and with a valid
    /// radius.
    pub frontier: Vec<Measured>,
    /// Late rewards: each problem with both kinds of width, at every delay.
    pub delay: Vec<Late>,
    /// When actions are ruled out, problem by problem.
    pub verdicts: Vec<Watched>,
    /// CODE by differences beside CODE by intervals: each problem with both kinds of width, by both
    /// rulers.
    pub differences: Vec<Ruled>,
    /// Logistic CODE, and CODE for counts, beside linear rivals.
    pub yes_no: YesNo,
    /// K-armed theory.
    pub arms_theory: Vec<Checked<ArmsTheory>>,
    /// Linear theory.
    pub linear_theory: Option<Checked<LinearTheory>>,
}

/// What a report is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Topic {
    Paper,
    Frontier,
    Delay,
    Verdicts,
    Differences,
    YesNo,
}

impl Measured {
    fn study(&self) -> &'static Study {
        STUDIES.iter().find(|study| study.id == self.study).expect("a study of the list")
    }

    fn claims(&self) -> Vec<Claim> {
        claims(self.study, &self.summary)
    }

    fn verdict(&self, claim: &str) -> Option<Verdict> {
        Some(self.claims().iter().find(|known| known.key == claim)?.verdict)
    }

    fn policy(&self, label: &str) -> Option<&PolicySummary> {
        self.summary.policies.iter().find(|policy| policy.label == label)
    }
}

impl Reproduction {
    /// The report.
    pub fn html(&self) -> String {
        let (title, answer) = match self.topic() {
            Topic::Paper => ("The paper, re-measured", self.answer()),
            Topic::Frontier => ("Between CODE and LinUCB", self.frontier_answer()),
            Topic::Delay => ("Late rewards", self.delay_answer()),
            Topic::Verdicts => ("How soon actions are ruled out", self.verdicts_answer()),
            Topic::Differences => ("Ruling out by differences", self.differences_answer()),
            Topic::YesNo => ("Yes or no", self.yes_no_answer()),
        };
        let body = html! {
            header.top { (answer) }
            main {
                (self.experiment_sections())
                (self.reading_section())
                (self.frontier_section())
                (self.delay_section())
                (self.verdicts_section())
                (self.differences_section())
                (self.yes_no_section())
                (self.theory_section())
                (self.method_section())
            }
            footer {
                p {
                    "Made by Plausibly " (self.version) ". The same command gives this page again, "
                    "byte for byte, on any number of threads. "
                    "The paper: S. Mukherjee, R. Zhu, B. Kveton. Efficient and Interpretable "
                    "Bandit Algorithms."
                }
            }
        };
        plausibly_report::page(&format!("{title} – Plausibly"), &body)
    }

    /// The topic of the report's head. If experiments of the paper were run, they are the topic and
    /// the other studies are sections.
    fn topic(&self) -> Topic {
        let beyond = [
            (self.frontier.is_empty(), Topic::Frontier),
            (self.delay.is_empty(), Topic::Delay),
            (self.differences.is_empty(), Topic::Differences),
            (self.verdicts.is_empty(), Topic::Verdicts),
            (self.yes_no.is_empty(), Topic::YesNo),
        ];
        let run = beyond.into_iter().find(|(empty, _)| !empty);
        run.filter(|_| self.experiments.is_empty()).map_or(Topic::Paper, |(_, topic)| topic)
    }

    /// Whether the page has a section on readings of the paper.
    fn has_readings(&self) -> bool {
        self.policy_readings.is_some() || !self.problem_readings.is_empty()
    }

    /// The paper's first experiment.
    fn linear(&self) -> Option<&Measured> {
        self.experiments.iter().find(|measured| measured.study == "linear")
    }

    fn is_literal(&self) -> bool {
        self.reading == Reading::Literal
    }

    /// The line above the title: the version, the subject, and how the run differs from a full one.
    fn eyebrow(&self, subject: &str) -> Markup {
        html! {
            p.eyebrow {
                "Plausibly " (self.version) " · " (subject)
                @if self.quick { " " span.badge { "quick run: a tenth of the runs" } }
                @if self.is_literal() { " " span.badge { "literal reading" } }
            }
        }
    }

    fn method_section(&self) -> Markup {
        html! {
            h2 #method { "How it was measured" }
            @match self.topic() {
                Topic::Paper => (self.paper_method()),
                Topic::Frontier => {
                    (self.frontier_method())
                    @if !self.delay.is_empty() { h3 { "Late rewards" } (self.delay_method()) }
                }
                Topic::Delay => (self.delay_method()),
                Topic::Differences | Topic::Verdicts | Topic::YesNo => {}
            }
            @if !self.differences.is_empty() {
                @if self.topic() != Topic::Differences { h3 { "Differences" } }
                (self.differences_method())
            }
            @if !self.verdicts.is_empty() {
                @if self.topic() != Topic::Verdicts { h3 { "Verdicts" } }
                (self.verdicts_method())
            }
            @if !self.yes_no.is_empty() {
                @if self.topic() != Topic::YesNo { h3 { "Yes or no" } }
                (self.yes_no_method())
            }
            h3 #specs { "Specs" }
            p {
                "Every number comes from a spec, and the same spec gives the same number. Save one "
                "as a file and run " code { "plausibly simulate FILE.toml" } "."
                @if !self.experiments.is_empty() {
                    " The specs of the experiments are at the end of their sections: "
                    @for (position, measured) in self.experiments.iter().enumerate() {
                        @if position > 0 { ", " }
                        a href={ "#spec-" (measured.spec_name) } { (measured.spec_name) }
                    }
                    "."
                    @if self.specs().len() > self.experiments.len() { " These are the others:" }
                }
            }
            @for (name, text) in self.specs().into_iter().skip(self.experiments.len()) {
                (spec_details(name, text))
            }
        }
    }

    /// Says how to read the figures, and which command and seed made them.
    fn made_by(&self, figures: &str) -> Markup {
        html! { p { (figures) " Seed " (self.seed) ". Made by " code { (self.command) } "." } }
    }

    fn paper_method(&self) -> Markup {
        html! {
            p {
                "All policies of an experiment play the same problems, action sets and noise, so "
                "they are compared in pairs, run by run. A claim rests on one or more ratios of "
                "mean figures at the last round. Each ratio "
                "has Fieller's interval for paired means by Student's t; the intervals of "
                "a claim hold together with 95 % confidence (Bonferroni). A ratio of 1 is outside "
                "its interval exactly if the paired difference is significant."
            }
            p {
                "A claim " (verdict_word("holds", "holds")) " if every interval lies where the "
                "claim says, " (verdict_word("fails", "does not hold"))
                " if one lies entirely elsewhere, and is " (verdict_word("open", "undecided"))
                " otherwise. The rules are part of the program and do not depend on the seed: "
                "“comparable” is a ratio between ½ and 2, “lower” a ratio above 1, “by a large "
                "margin” a ratio above 2. If the paper says that only one method is lower, the "
                "others must be higher. Each claim is judged separately: of twenty claims exactly "
                "on the border, about one would be misjudged. The numbers of runs are the paper’s. "
                "Intervals rest on the central limit theorem; if one run makes up more than a "
                "fifth of a sum, the table says so."
            }
            p {
                "Data: MovieLens 1M (Harper, Konstan 2015), white wine quality (Cortez et al. "
                "2009) and heart failure records (Chicco, Jurman 2020), each file checked by its "
                "SHA-256 before use. On data, θ* is a least-squares fit without an intercept."
            }
            (self.made_by("Bands in figures are 95 % intervals of the mean, round by round."))
            h3 #constants { "Constants of the policies" }
            ul {
                li {
                    "CODE: the appendix’s width with λ = 10⁴, L = 1, S = 0, δ = 0.05 and R the "
                    "scale of the noise, as in the paper; ridge "
                    (if self.is_literal() { "10⁴" } else { "1" }) "."
                }
                li {
                    "LinUCB: the same form with λ = ridge = 1, δ = 1/n, L the largest norm of an "
                    "action, and S = √d on random problems or ‖θ*‖ on problems from data. LinTS: "
                    "ridge 1, sampling at the scale of the noise."
                }
                li {
                    "Elim: δ = 0.05, a D-optimal design in every phase, played in random order. "
                    "ε-greedy and EtC: ε = 0.05, exploring uniformly; EtC keeps the estimates it "
                    "had when it committed."
                }
                li {
                    "K-armed: CODE’s interval is √(2·log(1/δ)/T) with δ = n⁻³; the second CODE has "
                    "δ = 0.05, and its Qₙ is measured with the first one’s interval."
                }
                li {
                    "Qₙ is measured the same way for all policies of an experiment: with CODE’s "
                    "ridge and width, on each policy’s own data."
                }
            }
        }
    }

    /// All experiments with curves, in the order of the report.
    pub fn measured(&self) -> impl Iterator<Item = &Measured> {
        let Self { experiments, policy_readings, ruler_reading, problem_readings, .. } = self;
        let paper =
            experiments.iter().chain(policy_readings).chain(ruler_reading).chain(problem_readings);
        paper
            .chain(&self.frontier)
            .chain(self.delay.iter().map(|late| &late.measured))
            .chain(self.differences.iter().map(|ruled| &ruled.measured))
            .chain(self.yes_no.measured())
    }

    /// All specs by name.
    pub fn specs(&self) -> Vec<(&'static str, &str)> {
        let measured = self.measured().map(|measured| (measured.spec_name, measured.spec.as_str()));
        let arms =
            self.arms_theory.iter().map(|checked| (checked.spec_name, checked.spec.as_str()));
        let linear =
            self.linear_theory.iter().map(|checked| (checked.spec_name, checked.spec.as_str()));
        let verdicts =
            self.verdicts.iter().map(|watched| (watched.problem.spec_name, watched.spec.as_str()));
        measured
            .chain(arms)
            .chain(linear)
            .chain(verdicts)
            .chain(self.yes_no.watched_specs())
            .collect()
    }
}

/// A spec, folded up.
fn spec_details(name: &str, text: &str) -> Markup {
    html! {
        div #{ "spec-" (name) } {
            details { summary { "Settings: " (name) ".toml" } pre { code { (text) } } }
        }
    }
}

/// The size of an experiment, with a link to its spec.
fn spec_link(name: &str, runs: u64, horizon: u64) -> Markup {
    html! {
        (number::grouped(runs as f64)) " runs of " (number::grouped(horizon as f64)) " rounds · "
        a href={ "#spec-" (name) } { (name) ".toml" }
    }
}

fn verdict_word(class: &str, word: &str) -> Markup {
    html! { span class={ "verdict " (class) } { (word) } }
}
