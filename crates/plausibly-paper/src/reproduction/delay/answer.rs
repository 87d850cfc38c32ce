//! Late rewards, the answer first: the effect of counting pending decisions, at a glance.

use super::section::{groups, late_by};
use super::{DelayFinding, MEASURES, Measure, PAIRS, delay_findings};
use crate::judge::Verdict;
use crate::reproduction::answer::ratio;
use crate::reproduction::{Reproduction, verdict_word};
use maud::{Markup, html};
use plausibly_report::number::grouped;

impl Reproduction {
    /// The head of a report about late rewards alone.
    pub(in crate::reproduction) fn delay_answer(&self) -> Markup {
        html! {
            (self.eyebrow("late rewards"))
            h1 { "Should decisions count before their rewards are known?" }
            (self.delay_overview())
            nav {
                @for group in groups(&self.delay) { a href={ "#" (group.id()) } { (group.name()) } }
                @if !self.differences.is_empty() { a href="#differences" { "Differences" } }
                a href="#method" { "Method" }
                a href="#specs" { "Specs" }
            }
        }
    }

    /// The question, the answer, and all verdicts.
    pub(super) fn delay_overview(&self) -> Markup {
        let findings = delay_findings(&self.delay);
        html! {
            div.hero {
                div {
                    (lead(&findings))
                    p {
                        "A reward comes some rounds after its decision; one round late is before "
                        "the next decision. In between the decision is " b { "pending" }
                        ": the choice is known, its reward is not. CODE can " b { "count" }
                        " pending decisions when it looks for the action it knows least about, "
                        "because that depends on choices alone, or "
                        b { "ignore" } " them until their rewards are there. In both cases settled "
                        "rewards decide which actions could still be best. c=0.3 is CODE tempered "
                        "with greed 0.3, with less greed where pending decisions would void its "
                        "bound. Regret is the reward lost against always taking the best action; "
                        "the model "
                        "error Qₙ sums, over rounds, the largest squared error of an estimate "
                        "among the actions that could still be best. "
                        "The paper has no late rewards; this study is this project’s."
                    }
                }
                div { (self.delay_matrix(&findings)) }
            }
            (extremes(&findings))
        }
    }

    /// All verdicts as signs: one row per problem, width and policy.
    fn delay_matrix(&self, findings: &[DelayFinding]) -> Markup {
        let mut delays: Vec<u64> =
            self.delay.iter().map(|late| late.rounds).filter(|rounds| *rounds > 1).collect();
        delays.sort_unstable();
        delays.dedup();
        html! {
            div.scroll {
                table.matrix.delays {
                    caption {
                        "Does counting pending decisions lower the figure when rewards are this "
                        "many rounds late? ✓ yes; ✗ no, it raises it; ? undecided. Outlined: by a "
                        "tenth or less, as far as these runs can tell."
                    }
                    thead {
                        tr {
                            th rowspan="2" { "" }
                            @for measure in MEASURES {
                                th scope="colgroup" colspan=(delays.len()) { (measure.name()) }
                            }
                        }
                        tr {
                            @for _ in MEASURES {
                                @for rounds in &delays {
                                    th scope="col" { (grouped(*rounds as f64)) }
                                }
                            }
                        }
                    }
                    @for group in groups(&self.delay) {
                        tbody {
                            tr {
                                th scope="rowgroup" colspan=(1 + MEASURES.len() * delays.len()) {
                                    a href={ "#" (group.id()) } { (group.name()) }
                                }
                            }
                            @for pair in &PAIRS {
                                tr {
                                    th scope="row" { (pair.name) }
                                    @for measure in MEASURES {
                                        @for rounds in &delays {
                                            td { (group.signs(findings, pair, measure, *rounds)) }
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

    /// How a report about late rewards alone was made.
    pub(in crate::reproduction) fn delay_method(&self) -> Markup {
        let compared =
            delay_findings(&self.delay).iter().filter(|finding| finding.rounds > 1).count();
        html! {
            p {
                "All policies of a problem, a width and a delay play the same problems, action "
                "sets and noise, so they are compared in pairs, run by run. A verdict rests on the "
                "ratio of two mean figures at the last round, "
                "pending ignored over pending counted, with Fieller's interval for paired means by "
                "Student's t. The intervals of all " (compared) " comparisons at delays above one "
                "round hold together with 95 % confidence (Bonferroni). "
                "“Lowers” " (verdict_word("holds", "holds")) " if the interval lies above 1, "
                (verdict_word("fails", "does not hold")) " if it lies below, so that counting "
                "raises the figure, and is "
                (verdict_word("open", "undecided")) " otherwise. Intervals rest on the central "
                "limit theorem; if one run makes up more than a fifth of a sum, a note says so."
            }
            p {
                "Each problem is played with the width of the reproduction (the appendix’s with λ "
                "= 10⁴, L = 1, S = 0, δ = 0.05, which is not a confidence set; for LinUCB the same "
                "form with λ = 1 and δ = 1/n), and with the determinant radius at δ = 0.05, which "
                "gives one (LinUCB then uses it too). The ridge is 1 everywhere. Qₙ is measured "
                "by CODE’s ridge and width on each policy’s own settled rewards. Rewards still "
                "pending at the last round are never learned from."
            }
            (self.made_by("Bars in figures are 95 % intervals of each mean by itself."))
        }
    }
}

/// Counts how often counting lowered, raised or left undecided each figure at delays above one
/// round, and says whether a delay of one round changed nothing.
fn lead(findings: &[DelayFinding]) -> Markup {
    let late = |policy: &'static str, measure: Measure| {
        let of = move |finding: &&DelayFinding| {
            finding.rounds > 1 && finding.policy == policy && finding.measure == measure
        };
        findings.iter().filter(of)
    };
    let word = |count: usize| if count == 0 { "none".to_string() } else { count.to_string() };
    let decided = |policy, measure, wanted| {
        let of = || late(policy, measure).filter(|finding| finding.verdict == wanted);
        let large = of().filter(|finding| finding.large()).count();
        match of().count() {
            0 => "none".to_string(),
            count => format!("{count} (by more than a tenth in {})", word(large)),
        }
    };
    let told = |policy, measure| {
        let open =
            late(policy, measure).filter(|finding| finding.verdict == Verdict::Undecided).count();
        let [lowered, raised] =
            [Verdict::Holds, Verdict::DoesNotHold].map(|wanted| decided(policy, measure, wanted));
        html! { b { (lowered) } ", raised it in " (raised) " and left " (word(open)) " undecided" }
    };
    let at_once = || findings.iter().filter(|finding| finding.rounds <= 1);
    html! {
        @for (position, pair) in PAIRS.iter().enumerate() {
            p.lead[position == 0] {
                "Of " (late(pair.name, Measure::Regret).count()) " comparisons with late rewards, "
                "counting pending decisions lowered " (pair.name) "’s regret in "
                (told(pair.name, Measure::Regret)) ". It lowered the model error Qₙ in "
                (told(pair.name, Measure::ModelError)) "."
            }
        }
        @if at_once().next().is_some() && at_once().all(|finding| finding.same) {
            p.note {
                "At a delay of one round nothing is pending when the next decision is made: both "
                "ways gave the same figures to the last bit, and are not counted."
            }
        }
    }
}

/// The decided comparisons in which counting lowers and raises each figure most.
fn extremes(findings: &[DelayFinding]) -> Markup {
    let most = |measure: Measure, wanted: Verdict| {
        let decided = |finding: &&DelayFinding| {
            finding.measure == measure && finding.verdict == wanted && !finding.same
        };
        let size = |finding: &&DelayFinding| libm::log(finding.evidence.ratio.value).abs();
        findings.iter().filter(decided).max_by(|a, b| size(a).total_cmp(&size(b)))
    };
    let told = |does: &str, measure: Measure, found: Option<&DelayFinding>| {
        html! {
            li {
                @if let Some(finding) = found {
                    "Counting " (does) " the " (measure.name()) " most for " (finding.policy) ", "
                    a href={ "#" (finding.id()) } {
                        (finding.study.title) ", " (finding.variant) ", " (late_by(finding.rounds))
                    }
                    ": ignoring / counting = " (ratio(&finding.evidence)) "."
                } @else {
                    "Counting " (does) " the " (measure.name()) " nowhere for certain."
                }
            }
        }
    };
    html! {
        ul {
            @for measure in MEASURES {
                (told("lowers", measure, most(measure, Verdict::Holds)))
                (told("raises", measure, most(measure, Verdict::DoesNotHold)))
            }
        }
    }
}
