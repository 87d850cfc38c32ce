//! The answer first: which claims hold, and how the paper was read.

use super::{Claim, Measured, Reproduction, STUDIES, Skipped, Tally};
use crate::judge::{Evidence, Verdict};
use maud::{Markup, html};
use plausibly_report::number::{figure, interval, percent};

/// Columns of the matrix: the claims made of more than one experiment.
const SHARED: [(&str, &str); 5] = [
    ("a", "regret comparable to LinUCB’s"),
    ("b", "regret below every interpretable baseline’s"),
    ("c", "LinTS has the lowest regret"),
    ("d", "CODE has the lowest Qₙ"),
    ("e", "of the interpretable baselines, Elim and EtC come next in Qₙ"),
];

impl Reproduction {
    pub(super) fn answer(&self) -> Markup {
        let judged: Vec<(&Measured, Vec<Claim>)> =
            self.experiments.iter().map(|measured| (measured, measured.claims())).collect();
        html! {
            (self.eyebrow(
                "a re-measurement of “Efficient and Interpretable Bandit Algorithms”"
            ))
            h1 { "Does the paper hold up?" }
            div.hero {
                div {
                    (self.lead(&judged))
                    p {
                        "The paper proposes CODE, a bandit algorithm: among all actions that could "
                        "still be best, it plays the one it knows least about. It should lose "
                        "little reward ("
                        b { "regret" } ", against always taking the best action) and know the "
                        "serious candidates well (" b { "model error" } " Qₙ: summed over rounds, "
                        "the largest squared error of "
                        "an estimate among the actions that could still be best). LinUCB and LinTS "
                        "are strong baselines that are not meant to be interpretable; elimination "
                        "(Elim), ε-greedy and explore-then-commit (EtC) are the “interpretable” "
                        "ones."
                    }
                    (Self::caveats(&judged))
                }
                @if !judged.is_empty() { div { (self.matrix(&judged)) } }
            }
            (self.listed(&judged, Verdict::DoesNotHold, "What does not hold"))
            (self.listed(&judged, Verdict::Undecided, "What these runs leave open"))
            (self.reading_box())
            @for skipped in &self.skipped { (skipped_box(skipped)) }
            nav {
                @for (measured, _) in &judged {
                    a href={ "#" (measured.study) } { (measured.study().title) }
                }
                @if self.has_readings() { a href="#readings" { "Readings" } }
                @if !self.frontier.is_empty() { a href="#frontier" { "Frontier" } }
                @if !self.delay.is_empty() { a href="#delay" { "Late rewards" } }
                @if !self.verdicts.is_empty() { a href="#verdicts" { "Verdicts" } }
                @if !self.differences.is_empty() { a href="#differences" { "Differences" } }
                @if !self.yes_no.is_empty() { a href="#yes-no" { "Yes or no" } }
                @if !self.arms_theory.is_empty() || self.linear_theory.is_some() {
                    a href="#theory" { "Theory" }
                }
                a href="#method" { "Method" }
                a href="#specs" { "Specs" }
            }
        }
    }

    /// How many claims hold.
    fn lead(&self, judged: &[(&Measured, Vec<Claim>)]) -> Markup {
        let tally = self.tally();
        let Tally { hold, fail, open, chose_reading } = tally;
        let about = self.stated_experiments(judged);
        html! {
            p.lead {
                @if tally.counted() == 0 && !chose_reading {
                    "The paper makes no claims about what was run here; the measurements are below."
                } @else {
                    "Of " (tally.counted()) " claims that the paper makes about " (about) " and "
                    "that count as evidence, "
                    b { (hold) (if hold == 1 { " holds" } else { " hold" }) } ", "
                    b { (fail) (if fail == 1 { " does not" } else { " do not" }) } " and "
                    b { (open) " cannot be decided" } " from these runs."
                }
            }
            @if chose_reading {
                p {
                    b { "Not counted: (a) on Linear." } " The "
                    a href="#reading" { "reading of the paper" }
                    " was chosen to make this claim hold, so its verdict is no evidence."
                }
            }
        }
    }

    /// A caveat on the count of claims.
    fn caveats(judged: &[(&Measured, Vec<Claim>)]) -> Markup {
        let to_the_letter = || {
            let of = judged.iter().filter(|(measured, _)| {
                matches!(measured.study, "linear" | "changing" | "movielens")
            });
            of.flat_map(|(_, claims)| claims).filter(|claim| claim.key == "e′")
        };
        let fail = to_the_letter().filter(|claim| claim.verdict == Verdict::DoesNotHold).count();
        html! {
            @if fail > 0 {
                p.note {
                    "We read claim (e) as one about the interpretable baselines, like the "
                    "sentences around it. Read literally, as one about all methods, it does not "
                    "hold in "
                    (fail) " of " (to_the_letter().count()) " experiments that the paper makes it "
                    "about: LinUCB comes before Elim and EtC. That is (e′) below, and is not "
                    "counted."
                }
            }
        }
    }

    /// The matrix row of the linear experiment with Qₙ measured by a valid confidence set, and a
    /// note if it turns claim (d).
    fn ruler_rows(&self) -> Markup {
        let (Some(_), Some(measured)) = (self.linear(), &self.ruler_reading) else {
            return html! {};
        };
        let claims = measured.claims();
        let by_model_error =
            |key: &str| claims.iter().find(|claim| claim.key == key && matches!(key, "d" | "e"));
        html! {
            tr {
                th scope="row" { a href="#readings-ruler" { "Linear, valid ruler" } }
                @for (key, _) in SHARED {
                    td {
                        @if let Some(claim) = by_model_error(key) {
                            a href="#readings-ruler" { (sign(claim.verdict, false)) }
                        }
                    }
                }
                td {}
            }
            @if self.ruler_turns_d() {
                tr {
                    td.said colspan=(SHARED.len() + 2) {
                        b { "(d) depends on the ruler." } " With Qₙ measured by a valid confidence "
                        "set instead of CODE’s own narrow one, its verdict on Linear turns: see "
                        a href="#readings-ruler" { "the ruler of Qₙ" } "."
                    }
                }
            }
        }
    }

    /// Whether claim (d) on the linear experiment turns when measured with a valid confidence set.
    fn ruler_turns_d(&self) -> bool {
        let verdict = |measured: Option<&Measured>| measured?.verdict("d");
        let both = verdict(self.linear()).zip(verdict(self.ruler_reading.as_ref()));
        !self.is_literal() && both.is_some_and(|(linear, ruled)| linear != ruled)
    }

    fn matrix(&self, judged: &[(&Measured, Vec<Claim>)]) -> Markup {
        html! {
            div.scroll {
                table.matrix {
                    caption {
                        "✓ holds, ✗ does not hold, ? undecided. Outlined: judged, but not counted, "
                        "because the paper does not say it about this experiment"
                        @if self.tally().chose_reading {
                            " or, for (a) on Linear, because we chose the reading that makes "
                            "it hold"
                        }
                        "."
                    }
                    thead {
                        tr {
                            th scope="col" { "" }
                            @for (key, meaning) in SHARED {
                                th scope="col" title=(meaning) { "(" (key) ")" }
                            }
                            th scope="col" { "its own" }
                        }
                    }
                    tbody {
                        @for (measured, claims) in judged {
                            tr {
                                th scope="row" {
                                    a href={ "#" (measured.study) } { (measured.study().title) }
                                }
                                @for (key, _) in SHARED {
                                    td {
                                        @let of_key = |claim: &&Claim| claim.key == key;
                                        @for claim in claims.iter().filter(of_key) {
                                            (self.linked_sign(measured, claim))
                                        }
                                    }
                                }
                                td {
                                    @let own = |it: &&Claim| matches!(it.key, "w" | "h" | "m");
                                    @for claim in claims.iter().filter(own) {
                                        span.nowrap {
                                            "(" (claim.key) ") "
                                            (self.linked_sign(measured, claim)) " "
                                        }
                                    }
                                }
                            }
                        }
                        (self.ruler_rows())
                    }
                }
            }
            p.note {
                @for (position, (key, meaning)) in SHARED.iter().enumerate() {
                    @if position > 0 { "; " }
                    "(" (key) ") " (meaning)
                }
                ". Wine and heart have claims of their own: (w), (h) and (m). On K-armed problems, "
                "UCB1 and Thompson sampling take the places of LinUCB and LinTS."
                @if self.ruler_reading.is_some() {
                    " Valid ruler: Qₙ measured with a valid confidence set instead of CODE’s own."
                }
            }
        }
    }

    /// The verdict on a claim as a sign that leads to its row.
    fn linked_sign(&self, measured: &Measured, claim: &Claim) -> Markup {
        let sign = sign(claim.verdict, self.counts(measured, claim));
        html! { a href={ "#" (claim_id(measured, claim)) } { (sign) } }
    }

    /// The paper's claims that have this verdict, each with the ratio that decides it.
    fn listed(&self, judged: &[(&Measured, Vec<Claim>)], verdict: Verdict, title: &str) -> Markup {
        let found = || {
            judged.iter().flat_map(|(measured, claims)| {
                let wanted =
                    move |claim: &&Claim| self.counts(measured, claim) && claim.verdict == verdict;
                claims.iter().filter(wanted).map(move |claim| (measured, claim))
            })
        };
        html! {
            @if found().next().is_some() {
                p { b { (title) } }
                ul {
                    @for (measured, claim) in found() {
                        li {
                            a href={ "#" (claim_id(measured, claim)) } {
                                (measured.study().title) ", (" (claim.key) ")"
                            }
                            ": " (claim.statement) " "
                            @if let Some(evidence) = claim.deciding() {
                                "The " (claim.measure.name()) " of " (evidence.over) " is "
                                (ratio(evidence)) " times that of " (evidence.under) "."
                            }
                            (elsewhere(measured, claim, &self.problem_readings))
                        }
                    }
                }
            }
        }
    }

    fn stated_experiments(&self, judged: &[(&Measured, Vec<Claim>)]) -> &'static str {
        let stated =
            judged.iter().filter(|(_, claims)| claims.iter().any(|claim| claim.stated)).count();
        if self.skipped.is_empty() && stated == 5 {
            "its five experiments"
        } else {
            "the experiments that were run here"
        }
    }

    fn reading_box(&self) -> Markup {
        html! {
            section.box #reading {
                @if self.is_literal() {
                    p {
                        b { "How the paper was read: literally. " }
                        "λ = 10⁴ is both the constant in CODE’s confidence width and the ridge in "
                        "its regression, and in the regression used to measure Qₙ. The shrinkage "
                        "is so strong that CODE rules out good actions; the report without "
                        code { "--reading literal" }
                        " has the reading under which the paper’s own sentence about this setting "
                        "holds."
                    }
                } @else {
                    p {
                        b { "How the paper was read. " }
                        "The paper sets λ = 10⁴ and says that this makes CODE comparable to "
                        "LinUCB. If 10⁴ is also the ridge of the regression, that sentence is false"
                        @if let Some(ratio) = self.literal_ratio() {
                            " (CODE’s regret is " (figure(ratio)) " times LinUCB’s)"
                        }
                        "; if it is a constant of the confidence width alone and the ridge is 1, "
                        "the sentence holds on the first experiment. "
                        b { "This second reading is the one adopted" } ", because of that "
                        "sentence, with LinUCB at its standard width. The resulting set is not a "
                        "confidence set at its nominal 95 %"
                        @if let Some((left, runs)) = self.code_left() {
                            " (on Linear the truth left it in " (percent(left, runs)) " of CODE’s "
                            "runs)"
                        }
                        ", so the paper’s theorems do not apply to these experiments; they are "
                        "checked separately."
                        @if self.has_readings() {
                            " Both readings, and the other things the paper leaves open, are under "
                            a href="#readings" { "readings" } "."
                        }
                    }
                }
            }
        }
    }

    /// The number of runs of the linear experiment in which `θ*` left CODE's set, and of all its
    /// runs.
    fn code_left(&self) -> Option<(u64, u64)> {
        let linear = self.linear()?;
        Some((linear.policy("CODE")?.runs_left, linear.summary.runs))
    }

    /// The regret of CODE read literally, divided by LinUCB's.
    fn literal_ratio(&self) -> Option<f64> {
        let readings = self.policy_readings.as_ref()?;
        let regret = |label: &str| Some(readings.policy(label)?.last().regret.mean());
        Some(regret("CODE, literal")? / regret("LinUCB")?)
    }
}

pub(super) fn skipped_box(skipped: &Skipped) -> Markup {
    let title = STUDIES
        .iter()
        .find(|study| study.id == skipped.study)
        .map_or(skipped.study, |study| study.title);
    html! {
        section.box.skipped {
            p { b { (title) " was skipped. " } (skipped.reason) " " (skipped.remedy) }
        }
    }
}

/// The class and the sign of a verdict; outlined if it is not counted.
pub(super) fn look(verdict: Verdict, stated: bool) -> (String, &'static str) {
    let (class, sign) = match verdict {
        Verdict::Holds => ("holds", "✓"),
        Verdict::Undecided => ("open", "?"),
        Verdict::DoesNotHold => ("fails", "✗"),
    };
    (format!("verdict {class}{}", if stated { "" } else { " unstated" }), sign)
}

/// A verdict as a sign, with its word for readers who cannot see colours.
pub(super) fn sign(verdict: Verdict, stated: bool) -> Markup {
    let ((class, sign), word) = (look(verdict, stated), verdict.name());
    html! { span class=(class) title=(word) aria-label=(word) { (sign) } }
}

pub(super) fn claim_id(measured: &Measured, claim: &Claim) -> String {
    format!("{}-{}", measured.study, claim.key.replace('′', "-all"))
}

/// The readings of the problem under which a claim gets another verdict, if any.
fn elsewhere(measured: &Measured, claim: &Claim, others: &[Measured]) -> Markup {
    let turned: Vec<String> = others
        .iter()
        .filter(|other| other.study == measured.study)
        .filter_map(|other| {
            let verdict = other.verdict(claim.key)?;
            (verdict != claim.verdict).then(|| {
                format!("{} with {}", verdict.name(), other.variant.unwrap_or("another reading"))
            })
        })
        .collect();
    html! {
        @if !turned.is_empty() {
            " In other " a href="#readings-problems" { "readings" } " of the problem: "
            (turned.join(", ")) "."
        }
    }
}

/// The ratio of two policies, with their names.
pub(super) fn quotient(evidence: &Evidence) -> Markup {
    html! { (evidence.over) " / " (evidence.under) " = " (ratio(evidence)) }
}

/// A ratio with its interval.
pub(super) fn ratio(evidence: &Evidence) -> Markup {
    let (value, range) = interval(&evidence.ratio);
    html! { span.ratio { (value) " " span.range { (range) } } }
}
