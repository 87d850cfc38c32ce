//! Late rewards: their cost, and whether pending decisions should count.
//!
//! Each policy plays twice on the same problems, once counting and once ignoring pending decisions,
//! so a finding is one paired ratio: ignoring over counting.

mod answer;
mod section;

use super::{Measure, Measured, Study};
use crate::judge::{CONFIDENCE, Evidence, Rule, Verdict};
use plausibly_report::number::Estimate;
use plausibly_sim::Summary;

/// A comparison whose rewards come late.
#[derive(Clone, Debug)]
pub struct Late {
    /// Rounds until a reward comes; 1 means before the next decision.
    pub rounds: u64,
    /// What came out.
    pub measured: Measured,
}

/// A policy played twice: its name, and its labels when it counts and when it ignores pending
/// decisions.
struct Pair {
    name: &'static str,
    /// In addresses within the page.
    slug: &'static str,
    counting: &'static str,
    ignoring: &'static str,
}

const PAIRS: [Pair; 2] = [
    Pair { name: "CODE", slug: "code", counting: "CODE, counting", ignoring: "CODE, ignoring" },
    Pair {
        name: "c=0.3",
        slug: "tempered",
        counting: "c=0.3, counting",
        ignoring: "c=0.3, ignoring",
    },
];

/// A difference of a tenth, as a ratio.
const SMALL: f64 = 1.1;

const MEASURES: [Measure; 2] = [Measure::Regret, Measure::ModelError];

/// Whether counting pending decisions lowers a figure of a policy at a delay.
#[derive(Clone, Debug)]
pub struct DelayFinding {
    /// Rounds until a reward comes.
    pub rounds: u64,
    /// Name of the comparison's spec, without `.toml`.
    pub spec_name: &'static str,
    /// Name of the policy, without its treatment of pending decisions.
    pub policy: &'static str,
    /// Which figure.
    pub measure: Measure,
    /// Whether counting and ignoring gave the same figures to the last bit. Counting then lowers
    /// nothing, and no interval is needed.
    pub same: bool,
    /// Whether counting lowers it.
    pub verdict: Verdict,
    /// Why: pending ignored over pending counted.
    pub evidence: Evidence,
    study: &'static Study,
    variant: &'static str,
    slug: &'static str,
}

impl DelayFinding {
    /// What is judged.
    pub fn statement(&self) -> String {
        format!("Counting pending decisions lowers {}’s {}.", self.policy, self.measure.name())
    }

    /// Whether the difference certainly exceeds a tenth in either direction. Many runs also detect
    /// differences too small to matter.
    pub fn large(&self) -> bool {
        let ratio = &self.evidence.ratio;
        ratio.low > SMALL || ratio.high < 1.0 / SMALL
    }

    /// Whether its verdict is shown filled; outlined verdicts are decided but small.
    fn filled(&self) -> bool {
        self.large() || self.verdict == Verdict::Undecided
    }

    /// Its address within the page.
    fn id(&self) -> String {
        let measure = match self.measure {
            Measure::Regret => "regret",
            Measure::ModelError => "model-error",
        };
        format!("{}-{}-{measure}", self.spec_name, self.slug)
    }
}

/// What the runs say of counting pending decisions: for every comparison and policy that was played
/// both ways, of regret and of model error.
///
/// The intervals of all of them hold together at [`CONFIDENCE`] (Bonferroni). Delays of one round
/// are not counted among them: no decision is pending when the next one is made, so there is
/// nothing to find out.
pub fn delay_findings(late: &[Late]) -> Vec<DelayFinding> {
    let played = |late: &Late| {
        PAIRS.iter().filter(|pair| places(pair, &late.measured.summary).is_some()).count()
    };
    let compared: usize =
        late.iter().filter(|late| late.rounds > 1).map(played).sum::<usize>() * MEASURES.len();
    let confidence = 1.0 - (1.0 - CONFIDENCE) / compared.max(1) as f64;
    let mut findings = Vec::new();
    for late in late {
        for pair in &PAIRS {
            let found = |measure| finding(late, pair, measure, confidence);
            findings.extend(MEASURES.into_iter().filter_map(found));
        }
    }
    findings
}

/// The positions of a policy that counts pending decisions and of one that ignores them.
fn places(pair: &Pair, summary: &Summary) -> Option<(usize, usize)> {
    let place = |label: &str| summary.policies.iter().position(|policy| policy.label == label);
    Some((place(pair.counting)?, place(pair.ignoring)?))
}

fn finding(late: &Late, pair: &Pair, measure: Measure, confidence: f64) -> Option<DelayFinding> {
    let Late { rounds, measured } = late;
    let summary = &measured.summary;
    let (counting, ignoring) = places(pair, summary)?;
    let parts = [(pair.ignoring, pair.counting, Rule::Above(1.0))];
    let mut evidence = measure.judge(summary, &parts, confidence).pop()?;
    let covariance = |i, j| measure.last(summary).covariance(i, j);
    // The same curves, and a difference at the end that has no variance: every run was the same.
    let same = summary.policies[counting].points == summary.policies[ignoring].points
        && covariance(counting, counting) == covariance(counting, ignoring)
        && covariance(ignoring, ignoring) == covariance(counting, ignoring);
    if same {
        evidence.ratio = Estimate { value: 1.0, low: 1.0, high: 1.0 };
        evidence.verdict = Verdict::DoesNotHold;
    }
    Some(DelayFinding {
        rounds: *rounds,
        spec_name: measured.spec_name,
        policy: pair.name,
        measure,
        same,
        verdict: evidence.verdict,
        evidence,
        study: measured.study(),
        variant: measured.variant.unwrap_or_default(),
        slug: pair.slug,
    })
}
