//! Late rewards in full: figures, verdicts and numbers for each problem and width.

use super::{DelayFinding, Late, MEASURES, Measure, PAIRS, Pair, delay_findings};
use crate::quantile::student_t;
use crate::reproduction::answer::{ratio, sign};
use crate::reproduction::experiments::{style, verdict};
use crate::reproduction::{Reproduction, Topic};
use maud::{Markup, html};
use plausibly_report::figure::{Levels, Line, Shape};
use plausibly_report::number::{Estimate, counted, figure, grouped};
use plausibly_report::outcome::{heavy, mean_cells};
use plausibly_sim::Moments;

/// A problem with one kind of width, at all its delays.
pub(super) struct Group<'a> {
    pub(super) title: &'static str,
    pub(super) variant: &'static str,
    late: Vec<&'a Late>,
}

pub(super) fn groups(late: &[Late]) -> Vec<Group<'_>> {
    let mut groups: Vec<Group<'_>> = Vec::new();
    for one in late {
        let (title, variant) =
            (one.measured.study().title, one.measured.variant.unwrap_or_default());
        match groups.iter_mut().find(|group| (group.title, group.variant) == (title, variant)) {
            Some(group) => group.late.push(one),
            None => groups.push(Group { title, variant, late: vec![one] }),
        }
    }
    groups
}

impl Group<'_> {
    pub(super) fn name(&self) -> String {
        format!("{}, {}", self.title, self.variant)
    }

    /// Its address within the page.
    pub(super) fn id(&self) -> String {
        format!("at-{}", self.late[0].measured.spec_name)
    }

    /// The findings about one figure of a policy, delay by delay.
    pub(super) fn findings<'f>(
        &self,
        findings: &'f [DelayFinding],
        pair: &Pair,
        measure: Measure,
    ) -> impl Iterator<Item = &'f DelayFinding> {
        findings.iter().filter(move |finding| {
            (finding.study.title, finding.variant) == (self.title, self.variant)
                && (finding.policy, finding.measure) == (pair.name, measure)
        })
    }

    /// The verdict at one delay as a sign, linked to its figures.
    pub(super) fn signs(
        &self,
        findings: &[DelayFinding],
        pair: &Pair,
        measure: Measure,
        rounds: u64,
    ) -> Markup {
        let found = self.findings(findings, pair, measure);
        html! {
            @for finding in found.filter(|finding| finding.rounds == rounds) {
                a href={ "#" (finding.id()) } { (sign(finding.verdict, finding.filled())) }
            }
        }
    }
}

/// A delay in words.
pub(super) fn late_by(rounds: u64) -> String {
    counted(rounds, "round", "rounds") + " late"
}

impl Reproduction {
    pub(in crate::reproduction) fn delay_section(&self) -> Markup {
        if self.delay.is_empty() {
            return html! {};
        }
        let findings = delay_findings(&self.delay);
        html! {
            h2 #delay {
                @if self.topic() == Topic::Delay { "What was measured" } @else { "Late rewards" }
            }
            @if self.topic() != Topic::Delay { (self.delay_overview()) }
            p {
                "In the figures the marks of one delay stand side by side, so that equal marks are "
                "all visible; a mark hides an interval smaller than itself."
            }
            @for group in groups(&self.delay) { (part(&group, &findings)) }
        }
    }
}

fn part(group: &Group<'_>, findings: &[DelayFinding]) -> Markup {
    let first = &group.late[0].measured;
    html! {
        section #(group.id()) {
            h3 { (group.name()) }
            p {
                (first.study().problem) " " (grouped(first.summary.runs as f64)) " runs of "
                (grouped(first.horizon as f64)) " rounds; settings: "
                @for (position, late) in group.late.iter().enumerate() {
                    @if position > 0 { ", " }
                    a href={ "#spec-" (late.measured.spec_name) } { (late_by(late.rounds)) }
                }
                "."
            }
            div.figures {
                (drawing(group, "Regret", "regret at the last round", Measure::Regret))
                (drawing(group, "Model error Qₙ", "model error Qₙ", Measure::ModelError))
            }
            (verdict_table(group, findings))
            (number_table(group))
            @for late in &group.late {
                @for (label, share, what) in heavy(&late.measured.summary, "Qₙ") {
                    p.note {
                        "One run of " (late.measured.summary.runs) " carries "
                        (format!("{:.0}", 100.0 * share)) " % of the summed " (what) " of " (label)
                        ", "
                        (late_by(late.rounds)) ": no interval on its mean can be relied on."
                    }
                }
            }
        }
    }
}

/// Colour and shape show the policy; hollow and dashed means that it ignores pending decisions.
fn look(label: &str) -> (usize, Shape, bool) {
    let ignoring = PAIRS.iter().any(|pair| pair.ignoring == label);
    match PAIRS.iter().position(|pair| pair.counting == label || pair.ignoring == label) {
        Some(0) => (0, Shape::Circle, ignoring),
        Some(_) => (3, Shape::Square, ignoring),
        None => (style(label), Shape::Diamond, ignoring),
    }
}

fn drawing(group: &Group<'_>, title: &str, y_name: &str, measure: Measure) -> Markup {
    let levels: Vec<f64> = group.late.iter().map(|late| late.rounds as f64).collect();
    let policies = group.late[0].measured.summary.policies.iter().enumerate();
    let lines: Vec<Line<'_>> = policies
        .map(|(place, policy)| {
            let label = policy.label.as_str();
            let (style, shape, variant) = look(label);
            let points = group.late.iter().map(|late| {
                let summary = &late.measured.summary;
                interval_of(measure.at(summary.policies[place].last()), summary.runs)
            });
            Line { label, style, shape, variant, points: points.collect() }
        })
        .collect();
    let list = |numbers: &mut dyn Iterator<Item = String>| numbers.collect::<Vec<_>>().join(", ");
    let told = |line: &Line<'_>| {
        let means = list(&mut line.points.iter().map(|point| figure(point.value)));
        format!("{}: {means}", line.label)
    };
    let drawing = Levels {
        description: format!(
            "{title} at the last round on {}, rewards {} rounds late. {}.",
            group.name(),
            list(&mut levels.iter().map(|level| grouped(*level))),
            lines.iter().map(told).collect::<Vec<_>>().join("; ")
        ),
        x_name: "rounds until a reward comes",
        y_name,
        levels: &levels,
        lines,
    };
    html! {
        figure {
            figcaption {
                b { (title) } " by delay; bars are 95 % intervals; hollow: pending ignored"
            }
            (drawing.svg())
        }
    }
}

/// A mean with its 95 % interval; a single run has none.
fn interval_of(moments: Moments, runs: u64) -> Estimate {
    let value = moments.mean();
    let half =
        moments.standard_error().map_or(0.0, |error| error * student_t(0.975, runs as f64 - 1.0));
    Estimate { value, low: value - half, high: value + half }
}

fn verdict_table(group: &Group<'_>, findings: &[DelayFinding]) -> Markup {
    html! {
        div.scroll {
            table.late {
                caption {
                    "Does counting pending decisions lower the figure? The ratio is the mean with "
                    "pending decisions ignored over the mean with them counted; all intervals of "
                    "the study are simultaneous at 95 %. Outlined: by a tenth or less, as far as "
                    "these runs can tell. “Identical”: the same to the last bit in every run."
                }
                thead {
                    tr {
                        th { "" }
                        @for late in &group.late {
                            th.nowrap scope="col" { (late_by(late.rounds)) }
                        }
                    }
                }
                tbody {
                    @for pair in &PAIRS {
                        @for measure in MEASURES {
                            tr {
                                th scope="row" { (pair.name) ", " (measure.name()) }
                                @for finding in group.findings(findings, pair, measure) {
                                    td #(finding.id()) {
                                        @if finding.same { "identical" } @else {
                                            (verdict(finding.verdict, finding.filled()))
                                            " " (ratio(&finding.evidence))
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

fn number_table(group: &Group<'_>) -> Markup {
    let policies = &group.late[0].measured.summary.policies;
    html! {
        div.scroll {
            table.late {
                caption {
                    "At the last round, mean ± standard error, by rounds until a reward comes."
                }
                thead {
                    tr {
                        th { "" }
                        @for measure in MEASURES {
                            th.n scope="colgroup" colspan=(2 * group.late.len()) {
                                (measure.name())
                            }
                        }
                    }
                    tr {
                        th { "" }
                        @for _ in MEASURES {
                            @for late in &group.late {
                                th.n scope="col" colspan="2" { (grouped(late.rounds as f64)) }
                            }
                        }
                    }
                }
                tbody {
                    @for (place, policy) in policies.iter().enumerate() {
                        tr {
                            th scope="row" { (policy.label) }
                            @for measure in MEASURES {
                                @for late in &group.late {
                                    @let policy = &late.measured.summary.policies[place];
                                    (mean_cells(measure.at(policy.last())))
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}
