//! A reproduction as CSV and JSON, for programs.

use crate::judge::Evidence;
use crate::reproduction::{
    Claim, Decided, DelayFinding, DifferencesFinding, EVENTS, Event, Measure, Measured, Reading,
    Reproduction, Skipped, VerdictFinding, Watched, YesNoFinding, claims, delay_findings,
    differences_findings, frontier_findings, median_outcomes, verdict_findings, yes_no_findings,
};
use crate::request::{DELAY, DIFFERENCES, FRONTIER, VERDICTS, YES_NO};
use crate::theory::{ArmsTheory, BoundCheck, LinearTheory};
use plausibly_report::number::Estimate;
use plausibly_sim::{Experiment, Moments, PolicyVerdicts, final_figures, spec_json};
use serde_json::{Map, Value, json};

/// `summary.csv`: the curves of every experiment.
pub fn summary_csv(reproduction: &Reproduction) -> String {
    let all: Vec<_> =
        reproduction.measured().map(|measured| (measured.spec_name, &measured.summary)).collect();
    plausibly_sim::summary_csv(&all)
}

/// `manifest.json`: everything needed to repeat the reproduction, and its findings. The caller adds
/// the timing.
pub fn manifest<'a>(
    reproduction: &Reproduction,
    experiments: impl IntoIterator<Item = &'a Experiment>,
) -> Map<String, Value> {
    let experiments: Vec<&Experiment> = experiments.into_iter().collect();
    let spec = |name: &str| {
        let found = experiments.iter().find(|experiment| experiment.name == name);
        found.map(|experiment| spec_json(&experiment.resolved))
    };
    let one = |measured: &Measured| {
        json!({
            "name": measured.spec_name,
            "study": measured.study,
            "runs": measured.summary.runs,
            "spec": spec(measured.spec_name),
            "final": final_figures(&measured.summary),
            "claims": claims_json(measured),
        })
    };
    let arms = reproduction.arms_theory.iter();
    let arms = arms.map(|checked| (checked.spec_name, arms_json(&checked.theory)));
    let linear = reproduction.linear_theory.iter();
    let linear = linear.map(|checked| (checked.spec_name, linear_json(&checked.theory)));
    let theory: Map<_, _> = arms
        .chain(linear)
        .map(|(name, result)| (name.into(), json!({ "spec": spec(name), "result": result })))
        .collect();
    let manifest = json!({
        "version": reproduction.version,
        "command": reproduction.command,
        "seed": reproduction.seed,
        "reading": reading_name(reproduction),
        "experiments": reproduction.measured().map(one).collect::<Vec<_>>(),
        "frontier": frontier_json(reproduction),
        "delay": delay_json(reproduction),
        "skipped": skipped_json(reproduction),
        "theory": theory,
    });
    let Value::Object(mut manifest) = manifest else { unreachable!("it was made as an object") };
    // Only there if they were run, so that the manifest of the paper's reproduction stays the same.
    let beyond = [
        (DIFFERENCES, differences_json(reproduction)),
        (VERDICTS, verdicts_json(reproduction)),
        (YES_NO, yes_no_json(reproduction)),
    ];
    let run = beyond.into_iter().filter_map(|(name, found)| Some((name.into(), found?)));
    manifest.extend(run);
    manifest
}

/// How it reads the paper's λ = 10⁴.
pub fn reading_name(reproduction: &Reproduction) -> &'static str {
    match reproduction.reading {
        Reading::Adopted => "adopted",
        Reading::Literal => "literal",
    }
}

/// Skipped experiments, with the reason and the remedy.
pub fn skipped_json(reproduction: &Reproduction) -> Value {
    let one = |Skipped { study, reason, remedy }: &Skipped| {
        json!({
            "study": study,
            "reason": reason,
            "remedy": remedy,
        })
    };
    reproduction.skipped.iter().map(one).collect()
}

/// The verdicts on an experiment, or on a reading of it with the same policies.
pub fn claims_json(measured: &Measured) -> Value {
    let one = |claim: &Claim| {
        json!({
            "claim": claim.key,
            "statement": claim.statement,
            "stated_by_the_paper": claim.stated && measured.variant.is_none(),
            "measure": claim.measure.name(),
            "verdict": claim.verdict.name(),
            "evidence": claim.evidence.iter().map(evidence_json).collect::<Vec<_>>(),
        })
    };
    // Studies beyond the paper have statements of their own: their policies are not the paper's.
    let beyond = [FRONTIER, DELAY, DIFFERENCES, YES_NO];
    if beyond.iter().any(|study| measured.spec_name.starts_with(study)) {
        return Value::Array(Vec::new());
    }
    claims(measured.study, &measured.summary).iter().map(one).collect()
}

/// JSON has no infinity.
fn finite(end: f64) -> Option<f64> {
    end.is_finite().then_some(end)
}

fn evidence_json(evidence: &Evidence) -> Value {
    json!({
        "over": evidence.over,
        "under": evidence.under,
        "ratio": evidence.ratio.value,
        "interval": [finite(evidence.ratio.low), finite(evidence.ratio.high)],
        "verdict": evidence.verdict.name(),
    })
}

fn moments_json(moments: &Moments) -> Value {
    json!({ "mean": moments.mean(), "se": moments.standard_error() })
}

fn bound_json(check: &BoundCheck) -> Value {
    json!({
        "mean": check.bound.mean(),
        "runs_above": check.exceeded,
        "runs_vacuous": check.vacuous,
    })
}

fn arms_json(theory: &ArmsTheory) -> Value {
    json!({
        "runs": theory.runs,
        "regret": moments_json(&theory.regret),
        "theorem_1_log_n": bound_json(&theory.theorem_1_log_n),
        "theorem_1_printed": bound_json(&theory.theorem_1_printed),
        "theorem_1_corrected": bound_json(&theory.theorem_1_corrected),
        "gap_free_printed": bound_json(&theory.gap_free_printed),
        "gap_free_corrected": bound_json(&theory.gap_free_corrected),
        "model_error": moments_json(&theory.model_error),
        "later_model_error": moments_json(&theory.later_model_error),
        "model_error_printed": bound_json(&theory.model_error_printed),
        "model_error_corrected": bound_json(&theory.model_error_corrected),
        "premise_failed": theory.premise_failed,
        "intervals_failed": theory.left,
        "failure_bounds": theory.failure_bounds(),
    })
}

fn linear_json(theory: &LinearTheory) -> Value {
    json!({
        "runs": theory.runs,
        "regret": moments_json(&theory.regret),
        "theorem_2_restated": bound_json(&theory.theorem_2_restated),
        "theorem_2_proved": bound_json(&theory.theorem_2_proved),
        "theorem_2_corrected": bound_json(&theory.theorem_2_corrected),
        "model_error": moments_json(&theory.model_error),
        "model_error_bound": bound_json(&theory.model_error_bound),
        "exploring": moments_json(&theory.exploring),
        "exploring_bound": bound_json(&theory.exploring_bound),
        "potential": moments_json(&theory.potential),
        "potential_printed": bound_json(&theory.potential_printed),
        "potential_corrected": bound_json(&theory.potential_corrected),
        "rounds_above_printed": theory.rounds_above_printed,
        "rounds_above_corrected": theory.rounds_above_corrected,
        "theta_star_left": theory.left,
        "norm_exceeded": theory.norm_exceeded,
    })
}

/// The findings about the frontier.
pub fn frontier_json(reproduction: &Reproduction) -> Value {
    let mut findings = Vec::new();
    for measured in &reproduction.frontier {
        for finding in frontier_findings(measured) {
            findings.push(json!({
                "name": measured.spec_name,
                "statement": finding.statement,
                "verdict": finding.verdict.name(),
                "evidence": finding.evidence.iter().map(evidence_json).collect::<Vec<_>>(),
            }));
        }
    }
    findings.into()
}

/// The findings about pending decisions.
pub fn delay_json(reproduction: &Reproduction) -> Value {
    let one = |finding: &DelayFinding| {
        json!({
            "name": finding.spec_name,
            "rounds": finding.rounds,
            "statement": finding.statement(),
            "measure": finding.measure.name(),
            "verdict": finding.verdict.name(),
            "same": finding.same,
            "evidence": [evidence_json(&finding.evidence)],
        })
    };
    delay_findings(&reproduction.delay).iter().map(one).collect()
}

/// The problems of the study of verdicts: every set with its figures, and the statements; `None` if
/// the study was not run.
pub fn verdicts_json(reproduction: &Reproduction) -> Option<Value> {
    let one = |watched: &Watched| {
        let policies = watched.policies.iter();
        let findings = verdict_findings(watched);
        json!({
            "name": watched.problem.spec_name,
            "title": watched.problem.title,
            "runs": watched.runs(),
            "horizon": watched.horizon,
            "sets": policies.map(|policy| set_json(watched, policy)).collect::<Vec<_>>(),
            "statements": findings.iter().map(statement_json).collect::<Vec<_>>(),
        })
    };
    let watched = &reproduction.verdicts;
    (!watched.is_empty()).then(|| watched.iter().map(one).collect())
}

fn estimate_json(estimate: &Estimate) -> Value {
    let Estimate { value, low, high } = *estimate;
    json!({ "value": finite(value), "interval": [finite(low), finite(high)] })
}

/// The figures of one set; `null` stands for beyond the horizon.
fn set_json(watched: &Watched, policy: &PolicyVerdicts) -> Value {
    let mut regret = Moments::default();
    policy.runs.iter().for_each(|run| regret.add(run.regret));
    let [first, half, one_left] =
        EVENTS.map(|event| estimate_json(&median_outcomes(policy, event)));
    json!({
        "label": policy.label,
        "first_out": first,
        "half_out": half,
        "one_left": one_left,
        "first_out_sooner": watched.sooner(&policy.label, Event::First).as_ref().map(estimate_json),
        "regret": moments_json(&regret),
        "runs_missed": policy.runs.iter().filter(|run| run.truth_left).count(),
        "runs_best_lost": policy.runs.iter().filter(|run| run.best_lost).count(),
    })
}

fn statement_json(finding: &VerdictFinding) -> Value {
    json!({
        "about": finding.told.name(),
        "set": finding.label,
        "statement": finding.statement,
        "verdict": finding.verdict.name(),
        "evidence": estimate_json(&finding.estimate),
    })
}

/// The findings about differences; `None` if the study was not run, so that the files of the
/// paper's reproduction are those of before the study.
pub fn differences_json(reproduction: &Reproduction) -> Option<Value> {
    let one = |finding: &DifferencesFinding| {
        json!({
            "name": finding.spec_name,
            "statement": finding.statement,
            "measure": finding.measure.name(),
            "verdict": finding.evidence.verdict.name(),
            "evidence": [evidence_json(&finding.evidence)],
        })
    };
    let ruled = &reproduction.differences;
    (!ruled.is_empty()).then(|| differences_findings(ruled).iter().map(one).collect())
}

/// The study of yes and no: every table with its sets, and the statements; `None` if it was not
/// run. The comparisons are among the experiments.
pub fn yes_no_json(reproduction: &Reproduction) -> Option<Value> {
    let yes_no = &reproduction.yes_no;
    let statement = |finding: &YesNoFinding| {
        json!({
            "about": finding.told.name(),
            "name": finding.spec_name,
            "policy": finding.label,
            "statement": finding.statement,
            "measure": finding.measure.map(Measure::name),
            "prototype": finding.known.map(|(mean, se)| json!({ "mean": mean, "se": se })),
            "verdict": finding.verdict.name(),
            "evidence": estimate_json(&finding.estimate),
        })
    };
    let table = |decided: &Decided| {
        let Decided { watched, .. } = decided;
        json!({
            "name": watched.problem.spec_name,
            "title": watched.problem.title,
            "runs": watched.runs(),
            "horizon": watched.horizon,
            "sets": watched.policies.iter().map(|it| set_json(watched, it)).collect::<Vec<_>>(),
            "beta_regret": decided.beta_regret().as_ref().map(moments_json),
        })
    };
    (!yes_no.is_empty()).then(|| {
        json!({
            "tables": yes_no.tables.iter().map(table).collect::<Vec<_>>(),
            "statements": yes_no_findings(yes_no).iter().map(statement).collect::<Vec<_>>(),
        })
    })
}
