//! The paper's theorems beside measurements.

use super::{Checked, Reproduction, spec_link, verdict_word};
use crate::judge::CONFIDENCE;
use crate::quantile::clopper_pearson;
use crate::theory::{ArmsTheory, BoundCheck, LinearTheory};
use maud::{Markup, html};
use plausibly_report::number::{constant, figure, grouped, percent};
use plausibly_report::outcome::mean_cells;
use plausibly_sim::Moments;

impl Reproduction {
    pub(super) fn theory_section(&self) -> Markup {
        if self.arms_theory.is_empty() && self.linear_theory.is_none() {
            return html! {};
        }
        html! {
            h2 #theory { "Theory, beside measurements" }
            p {
                "Each bound is computed for the problem of each run and compared with that run: as "
                "printed, and with the errors in its proof corrected. A bound is called "
                (vacuous_word()) " if its guarantee needs no proof: a regret of at most n times "
                "the largest gap, or a probability of at least zero."
            }
            (self.theory_answer())
            @if !self.arms_theory.is_empty() { (arms(&self.arms_theory)) }
            @if let Some(checked) = &self.linear_theory { (linear(checked)) }
        }
    }

    /// Says which corrected bounds no run could have exceeded.
    fn vacuous_corrections(&self) -> String {
        let vacuous = |check: fn(&ArmsTheory) -> &BoundCheck| {
            let always = |theory: &ArmsTheory| check(theory).vacuous == theory.runs;
            !self.arms_theory.is_empty()
                && self.arms_theory.iter().all(|checked| always(&checked.theory))
        };
        let theorem_1 = vacuous(|theory| &theory.theorem_1_corrected);
        let (which, it) = match (theorem_1, vacuous(|theory| &theory.gap_free_corrected)) {
            (true, true) => ("those of Theorem 1 and the gap-free bound are", "them"),
            (true, false) => ("that of Theorem 1 is", "it"),
            (false, true) => ("the gap-free one is", "it"),
            (false, false) => return String::new(),
        };
        format!("; {which} vacuous at this size, so this says little about {it}")
    }

    /// A summary of the tables below.
    fn theory_answer(&self) -> Markup {
        let arms = || self.arms_theory.iter().map(|checked| &checked.theory);
        let linear = || self.linear_theory.iter().map(|checked| &checked.theory);
        let of_arms = arms().flat_map(|theory| {
            [theory.theorem_1_corrected, theory.gap_free_corrected, theory.model_error_corrected]
        });
        let of_linear = linear().flat_map(|theory| {
            [theory.theorem_2_corrected, theory.model_error_bound, theory.potential_corrected]
        });
        let corrected = of_arms.chain(of_linear).map(|check| check.exceeded).sum::<u64>();
        html! {
            ul {
                li {
                    @if corrected == 0 {
                        "No corrected bound was exceeded in any run" (self.vacuous_corrections())
                        "."
                    } @else {
                        "Corrected bounds were exceeded in " (grouped(corrected as f64)) " cases; "
                        "the tables say where."
                    }
                }
                @if let Some(theory) = arms().next() {
                    li {
                        "Theorem 1 as printed was exceeded in "
                        (percent(theory.theorem_1_log_n.exceeded, theory.runs)) " of runs with log "
                        "n, and in "
                        (percent(theory.theorem_1_printed.exceeded, theory.runs)) " with log(1/δ); "
                        "the assumption of Section 4.2 failed in "
                        (percent(theory.premise_failed, theory.runs)) "."
                    }
                }
                @for theory in linear() {
                    li {
                        "The regret of a round exceeded the bound in the proof of Theorem 2 in "
                        (grouped(theory.rounds_above_printed as f64)) " of "
                        (grouped((theory.runs * theory.horizon) as f64)) " rounds, and the "
                        "corrected bound in " (grouped(theory.rounds_above_corrected as f64)) "."
                    }
                }
            }
        }
    }
}

fn vacuous_word() -> Markup {
    verdict_word("open", "vacuous")
}

/// The name of a bound, what it bounds, and the check of it.
type BoundRow<'a> = (&'static str, Moments, &'a BoundCheck);

/// What was measured beside the bounds on it.
fn bound_table(caption: &Markup, rows: &[BoundRow<'_>], runs: u64) -> Markup {
    html! {
        div.scroll {
            table.bounds {
                caption { (caption) }
                thead {
                    tr {
                        th scope="col" { "bound" }
                        th.n scope="col" colspan="2" { "measured" }
                        th.n scope="col" { "mean bound" }
                        th.n scope="col" { "runs above it" }
                        th.n scope="col" { "runs where vacuous" }
                    }
                }
                tbody {
                    @for (name, measured, check) in rows {
                        tr {
                            th scope="row" { (name) }
                            (mean_cells(*measured))
                            td.n { (figure(check.bound.mean())) }
                            td.n { (percent(check.exceeded, runs)) }
                            td.n {
                                @if check.vacuous == runs { (vacuous_word()) } @else {
                                    (percent(check.vacuous, runs))
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn arms(checks: &[Checked<ArmsTheory>]) -> Markup {
    html! {
        h3 #theory-arms { "K-armed: Theorem 1, the gap-free bound, Section 4.2" }
        p {
            "With gaps Δ between the best arm and each other one, K arms and n rounds: Theorem 1 "
            "bounds the expected regret by O(K·log n) over the smallest gap, through Σ(Δ + "
            "8·log(1/δ)/Δ) at δ = n⁻³; one line of its proof has log n where the next has "
            "log(1/δ). "
            "One run above a bound on the expectation is no contradiction; many runs are. The "
            "gap-free bound is O(√(Kn·log n)), and Section 4.2 bounds Qₙ."
        }
        ul {
            li {
                "The proof of Theorem 1 drops a factor of 4 in its third step; with it, an arm of "
                "gap Δ is taken up to 1 + 32·log(1/δ)/Δ² times. The smallest gap must be that of "
                "the suboptimal arms: over all arms it is zero."
            }
            li {
                "Section 4.2 assumes that every plausible arm was taken at least ⌊(t−1)/K⌋ times. "
                "Arms return to the plausible set, so the assumption fails. A bound without it: "
                "2K·log(1/δ)·(1 + log(n/K)) after the K initial rounds."
            }
        }
        // Lemma 1 has a problem of its own, on which the other bounds say nothing new.
        @let long = |checked: &&Checked<ArmsTheory>| checked.theory.horizon > 1000;
        @for Checked { spec_name, theory, .. } in checks.iter().filter(long) {
            @let caption = html! {
                "K = " (theory.arms) ", δ = " (constant(theory.delta)) ". "
                (spec_link(spec_name, theory.runs, theory.horizon))
            };
            (bound_table(&caption, &arms_bounds(theory), theory.runs))
            p.note {
                "The assumption of Section 4.2 failed in "
                (percent(theory.premise_failed, theory.runs)) " of these runs."
            }
        }
        h3 #theory-coverage { "K-armed: Lemma 1, joint coverage" }
        p {
            "The lemma bounds the probability that any arm’s mean is ever outside its interval. "
            "The paper states it in three ways; the strongest, 2Knδ, follows from counting arms, "
            "plays and both sides."
        }
        div.scroll {
            table.bounds {
                caption {
                    "Share of runs in which an interval failed, with its 95 % interval (Clopper "
                    "and Pearson), beside the three statements."
                }
                thead {
                    tr {
                        th scope="col" { "problem" }
                        th.n scope="col" { "measured failure" }
                        th scope="col" { "" }
                        th.n scope="col" { "2n²δ" }
                        th.n scope="col" { "2Kn²δ" }
                        th.n scope="col" { "2Knδ" }
                        th scope="col" { "verdict on 2Knδ" }
                    }
                }
                tbody { @for checked in checks { (coverage_row(checked)) } }
            }
        }
    }
}

fn coverage_row(Checked { spec_name, theory, .. }: &Checked<ArmsTheory>) -> Markup {
    let (low, high) = clopper_pearson(theory.left, theory.runs, CONFIDENCE);
    let bounds = theory.failure_bounds();
    let [.., strongest] = bounds;
    html! {
        tr {
            th scope="row" {
                "K = " (theory.arms) ", n = " (grouped(theory.horizon as f64)) ", δ = "
                (constant(theory.delta)) " · " a href={ "#spec-" (spec_name) } { (spec_name) }
            }
            td.n { (grouped(theory.left as f64)) " of " (grouped(theory.runs as f64)) }
            td {
                span.range {
                    "[" (format!("{:.2}", 100.0 * low)) " %, " (format!("{:.2}", 100.0 * high))
                    " %]"
                }
            }
            @for bound in bounds {
                td.n { @if bound >= 1.0 { (vacuous_word()) } @else { (figure(bound)) } }
            }
            td {
                @if strongest >= 1.0 { (vacuous_word()) }
                @else if high <= strongest { (verdict_word("holds", "holds")) }
                @else if low > strongest { (verdict_word("fails", "does not hold")) }
                @else { (verdict_word("open", "too few runs to tell")) }
            }
        }
    }
}

fn linear(Checked { spec_name, theory, .. }: &Checked<LinearTheory>) -> Markup {
    let caption = html! {
        "δ = " (constant(theory.delta)) ". " (spec_link(spec_name, theory.runs, theory.horizon))
    };
    html! {
        h3 #theory-linear { "Linear: Theorem 2" }
        p {
            "Theorem 2 needs a confidence set that holds, so CODE runs here with the determinant "
            "radius of Abbasi-Yadkori, Pál and Szepesvári and a bound S on ‖θ*‖ that holds, not "
            "with the experiments’ width. The paper prints the theorem in three forms: Õ(d√n), a "
            "restatement, and the last line of its proof. We correct two things: the regret of a "
            "round is at most 4·√β·‖Aₜ‖, not 2·√β·‖Aₜ‖ (an action and its negative attain the 4), "
            "and the log-determinant inequality is used without its premise λ ≥ L². The corrected "
            "bound is still below the printed one, because it uses the radius reached in the run "
            "and not a bound on it. (√β is the radius of the confidence set, L the largest norm of "
            "an action, λ the ridge; ‖Aₜ‖ is the norm in which the radius is measured, so √β·‖Aₜ‖ "
            "is half the interval of the action taken.)"
        }
        (bound_table(&caption, &linear_bounds(theory), theory.runs))
        ul {
            li {
                "θ* left the confidence set in " (percent(theory.left, theory.runs)) " of runs (at "
                "most " (format!("{:.0}", 100.0 * theory.delta)) " % is promised), and ‖θ*‖ "
                "exceeded S in " (percent(theory.norm_exceeded, theory.runs)) "."
            }
        }
    }
}

fn arms_bounds(theory: &ArmsTheory) -> [BoundRow<'_>; 7] {
    let regret = theory.regret;
    let (gap_free, model_error) = (
        "gap-free, √(Kn·log n); its constant is not given, 1 is only a yardstick",
        "Section 4.2 on Qₙ, corrected (without the K initial rounds)",
    );
    [
        ("Theorem 1, printed with 8·log n/Δ", regret, &theory.theorem_1_log_n),
        ("Theorem 1, printed with 8·log(1/δ)/Δ", regret, &theory.theorem_1_printed),
        ("Theorem 1, corrected", regret, &theory.theorem_1_corrected),
        (gap_free, regret, &theory.gap_free_printed),
        ("gap-free, corrected", regret, &theory.gap_free_corrected),
        ("Section 4.2 on Qₙ, printed", theory.model_error, &theory.model_error_printed),
        (model_error, theory.later_model_error, &theory.model_error_corrected),
    ]
}

fn linear_bounds(theory: &LinearTheory) -> [BoundRow<'_>; 6] {
    let (regret, potential) = (theory.regret, theory.potential);
    let ours = "Qₙ (the paper has no bound; this one is ours)";
    [
        ("Theorem 2, restated in the appendix", regret, &theory.theorem_2_restated),
        ("Theorem 2, last line of its proof", regret, &theory.theorem_2_proved),
        ("Theorem 2, corrected", regret, &theory.theorem_2_corrected),
        (ours, theory.model_error, &theory.model_error_bound),
        ("Σ‖Aₜ‖², printed", potential, &theory.potential_printed),
        ("Σ‖Aₜ‖², for any λ", potential, &theory.potential_corrected),
    ]
}
