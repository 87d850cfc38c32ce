//! Choices that the paper leaves open, and how each of them changes the results.

use super::answer::{quotient, ratio, sign};
use super::experiments::{final_table, style, trade_off, verdict};
use super::{Measure, Measured, Reproduction, spec_link};
use crate::judge::{CONFIDENCE, Evidence, Rule, Verdict};
use maud::{Markup, html};
use plausibly_report::number::figure;
use plausibly_sim::Summary;

impl Reproduction {
    pub(super) fn reading_section(&self) -> Markup {
        if !self.has_readings() {
            return html! {};
        }
        html! {
            h2 #readings { "How the paper can be read" }
            p {
                "The paper leaves several choices open. This section says what we chose, what the "
                "alternatives are, and what each would change."
            }
            @if let Some(measured) = &self.policy_readings { (policies(measured)) }
            @if let Some(measured) = &self.ruler_reading { (ruler(measured)) }
            @if !self.problem_readings.is_empty() { (self.problems()) }
        }
    }

    /// Wine and heart under other noise, scaling and direction.
    fn problems(&self) -> Markup {
        let studied = |id: &str| self.problem_readings.iter().any(|measured| measured.study == id);
        let of = |id: &'static str| {
            let all = self.experiments.iter().chain(&self.problem_readings);
            all.filter(move |measured| measured.study == id).collect::<Vec<_>>()
        };
        html! {
            h3 #readings-problems { "Noise, scaling and direction on wine and heart" }
            p {
                "For these two experiments the paper gives neither the noise (only that it is "
                "1-sub-Gaussian, as N(0, 0.5²) and N(0, 1) both are) nor the scaling of the "
                "features. On heart, the file’s outcome is 1 for a death; maximising it follows "
                "the text but is no sensible aim, so survival is shown as well."
            }
            @for id in ["wine", "heart"] {
                @if studied(id) { (variants(&of(id))) }
            }
        }
    }
}

/// The model error measured by another ruler.
fn ruler(measured: &Measured) -> Markup {
    let claims = measured.claims();
    let found = |key: &str| {
        let claim = claims.iter().find(|claim| claim.key == key);
        html! {
            @if let Some(claim) = claim {
                (verdict(claim.verdict, true))
                @if let Some(evidence) = claim.deciding() { " (" (quotient(evidence)) ")" }
            }
        }
    };
    html! {
        h3 #readings-ruler { "The ruler of Qₙ" }
        p {
            "Qₙ covers the actions that could still be best, and a confidence set decides which "
            "ones those are. The paper’s experiments use CODE’s set, which does not hold. With the "
            "same policies and plays, but measured with a set that holds (the determinant radius "
            "at δ = 0.05, S = 6), claim (d) " (found("d")) ", and claim (e) " (found("e"))
            ". CODE decides by its own narrow set. It learns little about actions that could be "
            "best only according to a wider set, and the wider ruler counts them."
        }
        details { summary { "All figures by this ruler" } (final_table(measured)) }
    }
}

/// The readings of one study, of which there is at least one.
fn variants(measured: &[&Measured]) -> Markup {
    let keys: Vec<&str> = measured[0].claims().iter().map(|claim| claim.key).collect();
    html! {
        div.scroll {
            table.readings {
                caption {
                    (measured[0].study().title) ": verdicts and final figures by reading. "
                    "Outlined: judged for comparison, not counted."
                }
                thead {
                    tr {
                        th scope="col" { "reading" }
                        @for key in &keys { th scope="col" { "(" (key) ")" } }
                        @for label in ["CODE", "LinUCB", "LinTS"] {
                            th.n scope="col" { "regret " (label) }
                        }
                        @for label in ["CODE", "LinUCB"] { th.n scope="col" { "Qₙ " (label) } }
                        th scope="col" { "spec" }
                    }
                }
                tbody {
                    @for measured in measured {
                        tr {
                            th scope="row" { (measured.variant.unwrap_or("as adopted")) }
                            @for claim in measured.claims() {
                                td { (sign(claim.verdict, claim.stated)) }
                            }
                            @for label in ["CODE", "LinUCB", "LinTS"] {
                                td.n { (final_mean(measured, label, Measure::Regret)) }
                            }
                            @for label in ["CODE", "LinUCB"] {
                                td.n { (final_mean(measured, label, Measure::ModelError)) }
                            }
                            td { a href={ "#spec-" (measured.spec_name) } { (measured.spec_name) } }
                        }
                    }
                }
            }
        }
    }
}

fn final_mean(measured: &Measured, label: &str, measure: Measure) -> String {
    let policy = measured.policy(label);
    policy.map_or_else(String::new, |policy| figure(measure.at(policy.last()).mean()))
}

/// The policies of the first experiment, read in other ways.
fn policies(measured: &Measured) -> Markup {
    let summary = &measured.summary;
    let judge = |measure: Measure, over, under, rule| {
        measure.judge(summary, &[(over, under, rule)], CONFIDENCE).pop()
    };
    let regret = |over, under| judge(Measure::Regret, over, under, Rule::Above(1.0));
    let error = |over, under| judge(Measure::ModelError, over, under, Rule::Above(1.0));
    let times =
        |evidence: Option<Evidence>| html! { @if let Some(found) = &evidence { (ratio(found)) } };
    html! {
        p {
            "Four of these choices concern the policies; they are shown on the linear experiment. "
            (spec_link(measured.spec_name, summary.runs, measured.horizon))
        }
        (policy_trade_off(measured))
        h3 #readings-literal { "λ = 10⁴, literal beside adopted" }
        p {
            "Read literally, the ridge of CODE’s regression is 10⁴. Compared with that, 10,000 "
            "rounds weigh little: estimates are shrunk towards zero, the confidence set shrinks "
            "around "
            "them, and CODE rules out the best actions. Its regret is "
            (times(regret("CODE, literal", "LinUCB"))) " times LinUCB’s in these runs; under the "
            "adopted reading it is " (times(regret("CODE", "LinUCB"))) " times. The paper calls "
            "the two comparable. The printed width has "
            "log((1 + tL²/λ)·δ), which at the paper’s constants is negative in all 10,000 rounds; "
            "both readings use the appendix’s form, which divides by δ."
        }
        h3 #readings-width { "LinUCB’s width" }
        p {
            "The paper does not give it. We use the standard one (ridge 1, δ = 1/n, S = √d or "
            "‖θ*‖, L the largest norm). With CODE’s own narrow width, LinUCB’s regret becomes "
            (times(regret("LinUCB, CODE’s width", "LinUCB")))
            " times, and its Qₙ " (times(error("LinUCB, CODE’s width", "LinUCB"))) " times what it "
            "is with the standard one: less exploration costs less and teaches less. CODE’s regret "
            "is then "
            (times(regret("CODE", "LinUCB, CODE’s width"))) " times LinUCB’s, and claim (a) would "
            "be: "
            (would_be(judge(
                Measure::Regret, "CODE", "LinUCB, CODE’s width", Rule::Within(0.5, 2.0),
            )))
            "."
        }
        h3 #readings-scale { "LinTS’s scale" }
        p {
            "We sample at the scale of the noise, σ = 0.5. At scale 1 its regret becomes "
            (times(regret("LinTS, scale 1", "LinTS"))) " times, and its Qₙ "
            (times(error("LinTS, scale 1", "LinTS"))) " times what it is. Claim (c), that it has "
            "the lowest regret, would be: "
            (would_be(regret("CODE", "LinTS, scale 1"))) " against CODE, and "
            (would_be(regret("LinUCB", "LinTS, scale 1"))) " against LinUCB."
        }
        h3 #readings-design { "Exploration by design" }
        p {
            "ε-greedy and EtC explore uniformly. If they explore by a D-optimal design instead, "
            "their Qₙ becomes " (times(error("ε-greedy, by design", "ε-greedy"))) " and "
            (times(error("EtC, by design", "EtC")))
            " times what it is, which is " (times(error("ε-greedy, by design", "CODE"))) " and "
            (times(error("EtC, by design", "CODE"))) " times CODE’s. "
            (design_claim(summary))
        }
        details { summary { "All figures of this comparison" } (final_table(measured)) }
    }
}

/// What one ratio alone would make of a claim.
fn would_be(evidence: Option<Evidence>) -> Markup {
    html! { @if let Some(evidence) = evidence { (verdict(evidence.verdict, true)) } }
}

/// Claim (e) if the baselines explored by design.
fn design_claim(summary: &Summary) -> Markup {
    let parts = [
        ("ε-greedy, by design", "Elim", Rule::Above(1.0)),
        ("ε-greedy, by design", "EtC, by design", Rule::Above(1.0)),
    ];
    let evidence = Measure::ModelError.judge(summary, &parts, CONFIDENCE);
    let overall = Verdict::of_all(evidence.iter().map(|evidence| evidence.verdict));
    html! {
        "Claim (e), that Elim and EtC come before ε-greedy, then " (verdict(overall, true)) " ("
        @for (position, evidence) in evidence.iter().enumerate() {
            @if position > 0 { ", " }
            (quotient(evidence))
        }
        ")."
    }
}

fn policy_trade_off(measured: &Measured) -> Markup {
    let description = "Regret against model error of every policy and its other readings, \
                       logarithmic scales; the table below has the figures.";
    let caption = html! {
        b { "What each policy paid, and how well it knew the actions that could still be best." }
        " Down and left is better; hollow points are other readings of the policy of that "
        "colour; bars are standard errors."
    };
    let look = |label: &str| {
        (if label.starts_with("CODE") { 0 } else { style(label) }, label.contains(','))
    };
    trade_off(measured, description.into(), &caption, Vec::new(), look)
}
