//! Logistic CODE, and CODE for counts, beside linear rivals: figures held against those of a
//! prototype, and when tables of few actions are decided.

mod page;

use super::verdicts::{Event, Watched};
use super::{Measure, Measured};
use crate::judge::{CONFIDENCE, Rule, Verdict};
use crate::plan::{
    BETA, Entry, GREEDY_LABELS, Mean, OF_LOGS, VerdictProblem, YesNoComparison, YesNoTable,
};
use crate::quantile::clopper_pearson;
use plausibly_report::number::Estimate;
use plausibly_sim::Moments;

/// Everything that the study measured.
#[derive(Clone, Debug, Default)]
pub struct YesNo {
    /// The comparisons.
    pub compared: Vec<Compared>,
    /// The tables of few actions.
    pub tables: Vec<Decided>,
}

/// A comparison that the prototype made too.
#[derive(Clone, Debug)]
pub struct Compared {
    /// Which.
    pub comparison: &'static YesNoComparison,
    /// What came out.
    pub measured: Measured,
}

/// A table of few actions.
#[derive(Clone, Debug)]
pub struct Decided {
    /// Which.
    pub table: &'static YesNoTable,
    /// What each set ruled out, and when; the set without features is the last one.
    pub watched: Watched,
    /// The spec of the set without features.
    pub arms: Option<(&'static str, String)>,
    /// Beta Thompson sampling, which has no set.
    pub beta: Option<Measured>,
}

impl YesNo {
    /// Whether the study was not run.
    pub fn is_empty(&self) -> bool {
        self.compared.is_empty() && self.tables.is_empty()
    }

    /// Begins a table with the sets that see features.
    pub(crate) fn add_features(&mut self, table: &'static YesNoTable, watched: Watched) {
        self.tables.push(Decided { table, watched, arms: None, beta: None });
    }

    /// Adds the set without features, whose runs have the same means and luck.
    pub(crate) fn add_arms(&mut self, table: &'static YesNoTable, arms: Watched) {
        if let Some(decided) = self.table_mut(table) {
            decided.watched.policies.extend(arms.policies);
            decided.arms = Some((table.arms.spec_name, arms.spec));
        }
    }

    /// Adds Beta Thompson sampling.
    pub(crate) fn add_beta(&mut self, table: &'static YesNoTable, beta: Measured) {
        if let Some(decided) = self.table_mut(table) {
            decided.beta = Some(beta);
        }
    }

    fn table_mut(&mut self, table: &YesNoTable) -> Option<&mut Decided> {
        self.tables.iter_mut().find(|decided| decided.table == table)
    }

    /// The comparisons, those of Beta Thompson sampling included.
    pub(crate) fn measured(&self) -> impl Iterator<Item = &Measured> {
        let compared = self.compared.iter().map(|compared| &compared.measured);
        compared.chain(self.tables.iter().filter_map(|decided| decided.beta.as_ref()))
    }

    /// The specs that are no comparisons.
    pub(crate) fn watched_specs(&self) -> impl Iterator<Item = (&'static str, &str)> {
        self.tables.iter().flat_map(|decided| {
            let shown = (decided.problem().spec_name, decided.watched.spec.as_str());
            let hidden = decided.arms.iter().map(|(name, spec)| (*name, spec.as_str()));
            std::iter::once(shown).chain(hidden)
        })
    }
}

impl Decided {
    fn problem(&self) -> &'static VerdictProblem {
        self.watched.problem
    }

    /// The regret of Beta Thompson sampling.
    pub(crate) fn beta_regret(&self) -> Option<Moments> {
        let beta = self.beta.as_ref()?.policy(BETA)?;
        Some(beta.last().regret)
    }
}

/// What a statement of this study is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum YesNoTold {
    /// A figure is the prototype's, within four joint standard errors.
    Same,
    /// A figure is the prototype's, within a factor of three.
    Order,
    /// The set of logs rules out the first action sooner than today's.
    Sooner,
    /// A true mean leaves its interval in at most 5 % of the runs.
    Coverage,
}

impl YesNoTold {
    /// In JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Same => "same",
            Self::Order => "order",
            Self::Sooner => "sooner",
            Self::Coverage => "coverage",
        }
    }
}

/// A statement about one policy on one problem.
#[derive(Clone, Debug)]
pub struct YesNoFinding {
    /// What it is about.
    pub told: YesNoTold,
    /// Name of the problem's spec, without `.toml`.
    pub spec_name: &'static str,
    /// Label of the policy.
    pub label: String,
    /// What it says.
    pub statement: String,
    /// Regret or model error, if it is about a figure.
    pub measure: Option<Measure>,
    /// What the prototype measured: a mean and its standard error.
    pub known: Option<Mean>,
    /// The figure that decides, with its interval: a distance in joint standard errors, a ratio,
    /// or a share of runs.
    pub estimate: Estimate,
    /// Whether the statement holds.
    pub verdict: Verdict,
}

/// Most joint standard errors between two measurements of the same mean. Of a hundred figures, one
/// is beyond it by chance with a probability of 0.6 % if means of runs are normal.
const FAR: f64 = 4.0;
/// With fewer runs a standard error is itself too rough to tell four of them.
const FEWEST: u64 = 20;
/// An order of magnitude, where a few runs make up a mean.
const FACTOR: f64 = 3.0;
/// What the sets promise.
const DELTA: f64 = 0.05;

/// What a comparison says: both figures of each policy beside the prototype's, and the coverage of
/// the set that measures the model error on the data of the first policy.
pub fn comparison_findings(compared: &Compared) -> Vec<YesNoFinding> {
    let Compared { comparison, measured } = compared;
    let mut findings = Vec::new();
    for entry in comparison.entries {
        let (Some(policy), Some((regret, model_error))) =
            (measured.policy(entry.label), entry.known)
        else {
            continue;
        };
        for (measure, known) in [(Measure::Regret, regret), (Measure::ModelError, model_error)] {
            let found = measure.at(policy.last());
            findings.push(beside(compared, entry, measure, known, found));
        }
    }
    let summary = &measured.summary;
    findings.extend(summary.policies.first().map(|policy| {
        coverage(comparison.spec_name, &policy.label, policy.runs_left, summary.runs)
    }));
    findings
}

/// A figure beside the prototype's.
fn beside(
    Compared { comparison, measured }: &Compared,
    entry: &Entry,
    measure: Measure,
    known: Mean,
    found: Moments,
) -> YesNoFinding {
    let greedy = measure == Measure::ModelError && GREEDY_LABELS.contains(&entry.label);
    let (told, statement, estimate, verdict) = if comparison.heavy || greedy {
        let value = found.mean() / known.0;
        let within = (1.0 / FACTOR..=FACTOR).contains(&value);
        let statement = format!("Within a factor of {FACTOR} of the prototype’s.");
        (YesNoTold::Order, statement, point(value), judged(within))
    } else {
        let statement = format!("At most {FAR} joint standard errors from the prototype’s.");
        match distance(known, found) {
            Some(z) if measured.summary.runs >= FEWEST => {
                (YesNoTold::Same, statement, point(z), judged(z.abs() <= FAR))
            }
            // A single run has no standard error.
            z => (YesNoTold::Same, statement, point(z.unwrap_or(f64::NAN)), Verdict::Undecided),
        }
    };
    YesNoFinding {
        told,
        spec_name: comparison.spec_name,
        label: entry.label.into(),
        statement,
        measure: Some(measure),
        known: Some(known),
        estimate,
        verdict,
    }
}

/// The difference of two means in joint standard errors.
fn distance((mean, error): Mean, found: Moments) -> Option<f64> {
    Some((found.mean() - mean) / found.standard_error()?.hypot(error))
}

fn point(value: f64) -> Estimate {
    Estimate { value, low: value, high: value }
}

fn judged(holds: bool) -> Verdict {
    if holds { Verdict::Holds } else { Verdict::DoesNotHold }
}

fn coverage(spec_name: &'static str, label: &str, missed: u64, runs: u64) -> YesNoFinding {
    let (low, high) = clopper_pearson(missed, runs, CONFIDENCE);
    let estimate = Estimate { value: missed as f64 / runs as f64, low, high };
    YesNoFinding {
        told: YesNoTold::Coverage,
        spec_name,
        label: label.into(),
        statement: "A true mean outside its interval in at most 5 % of the runs.".into(),
        measure: None,
        known: None,
        verdict: Rule::Within(f64::NEG_INFINITY, DELTA).judge(&estimate),
        estimate,
    }
}

/// What a table says: how soon the set of logs rules out the first action, and the coverage of
/// each set.
pub fn table_findings(decided: &Decided) -> Vec<YesNoFinding> {
    let Decided { table, watched, .. } = decided;
    let spec_name = watched.problem.spec_name;
    let mut findings = Vec::new();
    if let (Some(times), Some(estimate)) = (table.sooner, watched.sooner(OF_LOGS, Event::First)) {
        findings.push(YesNoFinding {
            told: YesNoTold::Sooner,
            spec_name,
            label: OF_LOGS.into(),
            statement: format!("First action out at least {times} times sooner than today."),
            measure: None,
            known: None,
            verdict: Rule::Above(f64::from(times)).judge(&estimate),
            estimate,
        });
    }
    findings.extend(watched.policies.iter().map(|policy| {
        let missed = policy.runs.iter().filter(|run| run.truth_left).count();
        coverage(spec_name, &policy.label, missed as u64, policy.runs.len() as u64)
    }));
    findings
}

/// All statements of the study.
pub fn yes_no_findings(yes_no: &YesNo) -> Vec<YesNoFinding> {
    let compared = yes_no.compared.iter().flat_map(comparison_findings);
    compared.chain(yes_no.tables.iter().flat_map(table_findings)).collect()
}
