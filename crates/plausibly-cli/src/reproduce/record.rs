//! A reproduction as tables: for programs, and for the terminal.

use crate::args::{DELAY, FRONTIER};
use crate::output;
use crate::results::{self, Timing};
use plausibly_report::{
    Claim, DelayFinding, Estimate, Evidence, Measured, Reading, Reproduction, STUDIES, Verdict, claims,
    delay_findings, frontier_findings,
};
use plausibly_sim::{ArmsTheory, BoundCheck, Experiment, LinearTheory, Moments};
use serde_json::{Value, json};
use std::path::PathBuf;

fn measured(reproduction: &Reproduction) -> impl Iterator<Item = &Measured> {
    let Reproduction { experiments, policy_readings, ruler_reading, problem_readings, .. } = reproduction;
    let paper = experiments.iter().chain(policy_readings).chain(ruler_reading).chain(problem_readings);
    paper.chain(&reproduction.frontier).chain(reproduction.delay.iter().map(|late| &late.measured))
}

/// `summary.csv`: the curves of every experiment.
pub(super) fn summary_csv(reproduction: &Reproduction) -> String {
    let all: Vec<_> =
        measured(reproduction).map(|measured| (measured.spec_name, &measured.summary)).collect();
    plausibly_sim::summary_csv(&all)
}

/// `manifest.json`: what would be needed to do it again, what was found, and how it went.
pub(super) fn manifest(reproduction: &Reproduction, experiments: &[Experiment], timing: Timing) -> Value {
    let spec = |name: &str| {
        let found = experiments.iter().find(|experiment| experiment.name == name);
        found.map(|experiment| results::to_json(&experiment.resolved))
    };
    let one = |measured: &Measured| {
        json!({
            "name": measured.spec_name,
            "study": measured.study,
            "runs": measured.summary.runs,
            "spec": spec(measured.spec_name),
            "final": results::final_figures(&measured.summary),
            "claims": claims_json(measured),
        })
    };
    let mut theory = serde_json::Map::new();
    for checked in &reproduction.arms_theory {
        theory.insert(
            checked.spec_name.into(),
            json!({ "spec": spec(checked.spec_name), "result": arms_json(&checked.theory) }),
        );
    }
    if let Some(checked) = &reproduction.linear_theory {
        theory.insert(
            checked.spec_name.into(),
            json!({ "spec": spec(checked.spec_name), "result": linear_json(&checked.theory) }),
        );
    }
    json!({
        "version": reproduction.version,
        "command": reproduction.command,
        "seed": reproduction.seed,
        "reading": reading(reproduction),
        "experiments": measured(reproduction).map(one).collect::<Vec<_>>(),
        "frontier": frontier_json(reproduction),
        "delay": delay_json(reproduction),
        "skipped": skipped_json(reproduction),
        "theory": theory,
        "timings": { "seconds": timing.seconds, "threads": timing.threads, "instruction_set": plausibly::Isa::detect().name() },
    })
}

fn reading(reproduction: &Reproduction) -> &'static str {
    match reproduction.reading {
        Reading::Adopted => "adopted",
        Reading::Literal => "literal",
    }
}

fn skipped_json(reproduction: &Reproduction) -> Value {
    let one = |skipped: &plausibly_report::Skipped| json!({ "study": skipped.study, "reason": skipped.reason, "remedy": skipped.remedy });
    reproduction.skipped.iter().map(one).collect()
}

/// The verdicts on an experiment, or on a reading of it whose policies are those of the study.
fn claims_json(measured: &Measured) -> Value {
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
    if [FRONTIER, DELAY].iter().any(|study| measured.spec_name.starts_with(study)) {
        return Value::Array(Vec::new());
    }
    claims(measured.study, &measured.summary).iter().map(one).collect()
}

fn evidence_json(evidence: &Evidence) -> Value {
    let finite = |end: f64| end.is_finite().then_some(end);
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
    json!({ "mean": check.bound.mean(), "runs_above": check.exceeded, "runs_vacuous": check.vacuous })
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

/// The answer for a program.
pub(super) fn closing_json(reproduction: &Reproduction, paths: &[PathBuf]) -> String {
    let one = |measured: &Measured| {
        json!({
            "name": measured.spec_name,
            "runs": measured.summary.runs,
            "policies": results::final_figures(&measured.summary),
            "claims": claims_json(measured),
        })
    };
    let value = json!({
        "command": reproduction.command,
        "reading": reading(reproduction),
        "experiments": reproduction.experiments.iter().map(one).collect::<Vec<_>>(),
        "frontier": frontier_json(reproduction),
        "delay": delay_json(reproduction),
        "skipped": skipped_json(reproduction),
        "files": paths.iter().map(|path| path.display().to_string()).collect::<Vec<_>>(),
    });
    format!("{value:#}\n")
}

/// The answer for a person: every claim of the paper with its verdict, and where the report is.
pub(super) fn closing(reproduction: &Reproduction, address: &str) -> String {
    let mut rows = Vec::new();
    let mut counts = [0_u32; 3];
    for measured in &reproduction.experiments {
        let title = STUDIES
            .iter()
            .find(|study| study.id == measured.study)
            .map_or(measured.study, |study| study.title);
        for claim in claims(measured.study, &measured.summary).iter().filter(|claim| claim.stated) {
            counts[match claim.verdict {
                Verdict::Holds => 0,
                Verdict::DoesNotHold => 1,
                Verdict::Undecided => 2,
            }] += 1;
            rows.push(vec![
                title.to_string(),
                format!("({}) {}", claim.key, claim.statement),
                claim.verdict.name().to_string(),
                claim.deciding().map_or_else(String::new, |evidence| ratio(claim, evidence)),
            ]);
        }
    }
    let [hold, fail, open] = counts;
    let beyond = frontier_table(reproduction) + &delay_table(reproduction);
    let answer = if rows.is_empty() && !beyond.is_empty() {
        String::new()
    } else if rows.is_empty() {
        "The paper makes no claims about what was run.\n".to_string()
    } else {
        let table =
            output::left_table(&["experiment", "claim", "verdict", "decided by, 95 % interval"], &rows);
        format!(
            "{table}\nClaims of the paper: {}. They hold: {hold}, do not hold: {fail}, undecided: {open}.\n",
            rows.len()
        )
    };
    format!("{answer}{beyond}report: {address}\n")
}

/// What was found about the frontier; nothing if it was not run.
fn frontier_table(reproduction: &Reproduction) -> String {
    let mut rows = Vec::new();
    for measured in &reproduction.frontier {
        for finding in frontier_findings(measured) {
            let verdict = finding.verdict.name().to_string();
            rows.push(vec![measured.spec_name.to_string(), finding.statement, verdict]);
        }
    }
    if rows.is_empty() {
        String::new()
    } else {
        output::left_table(&["frontier", "statement", "verdict"], &rows) + "\n"
    }
}

fn frontier_json(reproduction: &Reproduction) -> Value {
    let mut findings = Vec::new();
    for measured in &reproduction.frontier {
        for finding in frontier_findings(measured) {
            let evidence: Vec<Value> = finding.evidence.iter().map(evidence_json).collect();
            findings.push(json!({
                "name": measured.spec_name,
                "statement": finding.statement,
                "verdict": finding.verdict.name(),
                "evidence": evidence,
            }));
        }
    }
    findings.into()
}

/// What was found about pending decisions, one line a delay and policy; nothing if it was not run.
fn delay_table(reproduction: &Reproduction) -> String {
    let mut rows: Vec<Vec<String>> = Vec::new();
    for finding in &delay_findings(&reproduction.delay) {
        let found = if finding.same {
            "identical".to_string()
        } else {
            format!("{}, {}", finding.verdict.name(), interval(&finding.evidence.ratio))
        };
        let key = [finding.spec_name, finding.policy];
        // Regret and model error of one policy follow each other.
        match rows.last_mut().filter(|row| row[..2] == key) {
            Some(row) => row.push(found),
            None => rows.push(vec![key[0].into(), key[1].into(), found]),
        }
    }
    if rows.is_empty() {
        return String::new();
    }
    let columns = ["delay", "policy", "counting pending lowers regret", "counting pending lowers Qₙ"];
    output::left_table(&columns, &rows) + "\nRatios: ignoring / counting; all intervals together at 95 %.\n"
}

fn delay_json(reproduction: &Reproduction) -> Value {
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

fn ratio(claim: &Claim, evidence: &Evidence) -> String {
    let Evidence { over, under, ratio, .. } = evidence;
    format!("{} {over} / {under} = {}", claim.measure.name(), interval(ratio))
}

/// A ratio with its interval: four decimals where two would hide on which side of 1 an end lies.
fn interval(ratio: &Estimate) -> String {
    let end = |x: f64| match x {
        _ if x.is_infinite() => "∞".into(),
        _ if (x - 1.0).abs() < 0.005 => format!("{x:.4}"),
        _ => format!("{x:.2}"),
    };
    format!("{:.2} [{}, {}]", ratio.value, end(ratio.low), end(ratio.high))
}
