//! Prints the results of a reproduction.

use crate::output;
use plausibly_paper::{
    Claim, DIFFERENCES, DifferencesFinding, Evidence, Measure, Measured, Reproduction, STUDIES,
    Tally, Told, VERDICTS, Verdict, VerdictFinding, YES_NO, YesNoFinding, YesNoTold, claims,
    claims_json, delay_findings, delay_json, differences_findings, differences_json,
    frontier_findings, frontier_json, reading_name, skipped_json, verdict_findings, verdicts_json,
    yes_no_findings, yes_no_json,
};
use plausibly_report::number::Estimate;
use plausibly_sim::final_figures;
use serde_json::json;
use std::path::PathBuf;

/// The results as JSON.
pub(super) fn closing_json(reproduction: &Reproduction, paths: &[PathBuf]) -> String {
    let one = |measured: &Measured| {
        json!({
            "name": measured.spec_name,
            "runs": measured.summary.runs,
            "policies": final_figures(&measured.summary),
            "claims": claims_json(measured),
        })
    };
    let mut value = json!({
        "command": reproduction.command,
        "reading": reading_name(reproduction),
        "experiments": reproduction.experiments.iter().map(one).collect::<Vec<_>>(),
        "frontier": frontier_json(reproduction),
        "delay": delay_json(reproduction),
        "skipped": skipped_json(reproduction),
        "files": paths.iter().map(|path| path.display().to_string()).collect::<Vec<_>>(),
    });
    let beyond = [
        (DIFFERENCES, differences_json(reproduction)),
        (VERDICTS, verdicts_json(reproduction)),
        (YES_NO, yes_no_json(reproduction)),
    ];
    for (name, found) in beyond.into_iter().filter_map(|(name, found)| Some((name, found?))) {
        value[name] = found;
    }
    format!("{value:#}\n")
}

/// The results as text: every claim of the paper with its verdict, and the address of the report.
pub(super) fn closing(reproduction: &Reproduction, address: &str) -> String {
    let mut rows = Vec::new();
    for measured in &reproduction.experiments {
        let title = STUDIES
            .iter()
            .find(|study| study.id == measured.study)
            .map_or(measured.study, |study| study.title);
        for claim in claims(measured.study, &measured.summary).iter().filter(|claim| claim.stated) {
            rows.push(vec![
                title.to_string(),
                format!("({}) {}", claim.key, claim.statement),
                if reproduction.counts(measured, claim) {
                    claim.verdict.name().to_string()
                } else {
                    format!("{}, not counted", claim.verdict.name())
                },
                claim.deciding().map_or_else(String::new, |evidence| ratio(claim, evidence)),
            ]);
        }
    }
    let tally = reproduction.tally();
    let Tally { hold, fail, open, chose_reading } = tally;
    let uncounted = if chose_reading {
        "Not counted: (a) on Linear, because we chose the reading that makes it hold.\n"
    } else {
        ""
    };
    let beyond = frontier_table(reproduction)
        + &delay_table(reproduction)
        + &differences_table(reproduction)
        + &verdicts_table(reproduction)
        + &yes_no_table(reproduction);
    let answer = if rows.is_empty() && !beyond.is_empty() {
        String::new()
    } else if rows.is_empty() {
        "The paper makes no claims about these experiments.\n".to_string()
    } else {
        let table = output::left_table(
            &["experiment", "claim", "verdict", "decided by, 95 % interval"],
            &rows,
        );
        format!(
            "{table}\nClaims counted: {}. They hold: {hold}, do not hold: {fail}, undecided: \
             {open}.\n{uncounted}",
            tally.counted()
        )
    };
    format!("{answer}{beyond}report: {address}\n")
}

/// The findings about the frontier; empty if it was not run.
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

/// The findings about pending decisions, one line per delay and policy; empty if it was not run.
fn delay_table(reproduction: &Reproduction) -> String {
    let mut rows: Vec<Vec<String>> = Vec::new();
    for finding in &delay_findings(&reproduction.delay) {
        let found = if finding.same {
            "identical".to_string()
        } else {
            format!("{}, {}", finding.verdict.name(), interval(&finding.evidence.ratio))
        };
        let key = [finding.spec_name, finding.policy];
        // Regret and model error of one policy come one after the other.
        match rows.last_mut().filter(|row| row[..2] == key) {
            Some(row) => row.push(found),
            None => rows.push(vec![key[0].into(), key[1].into(), found]),
        }
    }
    if rows.is_empty() {
        return String::new();
    }
    let columns =
        ["delay", "policy", "counting pending lowers regret", "counting pending lowers Qₙ"];
    output::left_table(&columns, &rows)
        + "\nRatios: ignoring / counting; all intervals together at 95 %.\n"
}

/// The statements about verdicts, and how many medians of the design are matched; empty if it was
/// not run.
fn verdicts_table(reproduction: &Reproduction) -> String {
    let all: Vec<_> = reproduction.verdicts.iter().flat_map(verdict_findings).collect();
    let (design, speed): (Vec<&VerdictFinding>, Vec<_>) =
        all.iter().partition(|finding| finding.told == Told::Design);
    if all.is_empty() {
        return String::new();
    }
    let row = |finding: &&VerdictFinding| {
        let VerdictFinding { spec_name, label, statement, verdict, estimate, .. } = finding;
        let words = [*spec_name, *label, statement.as_str(), verdict.name()].map(String::from);
        [words.as_slice(), &[interval(estimate)]].concat()
    };
    let columns = ["verdicts", "set", "statement", "verdict", "decided by, 95 % interval"];
    let rows = |findings: &[&VerdictFinding]| findings.iter().map(row).collect::<Vec<_>>();
    let off: Vec<_> = design.iter().copied().filter(|finding| !finding.near()).collect();
    let not_matched = if off.is_empty() {
        String::new()
    } else {
        output::left_table(&columns, &rows(&off)) + "\n"
    };
    let certainly = |wanted| design.iter().filter(|finding| finding.verdict == wanted).count();
    format!(
        "{}\nMedians of the prototype: {} of {} matched, from 15 % shorter to 30 % longer; by \
         their intervals {} for certain, {} certainly not.\n{not_matched}",
        output::left_table(&columns, &rows(&speed)),
        design.len() - off.len(),
        design.len(),
        certainly(Verdict::Holds),
        certainly(Verdict::DoesNotHold),
    )
}

/// The findings about differences; empty if it was not run.
fn differences_table(reproduction: &Reproduction) -> String {
    let row = |finding: &DifferencesFinding| {
        let Evidence { ratio, verdict, .. } = &finding.evidence;
        vec![
            finding.spec_name.to_string(),
            finding.statement.clone(),
            verdict.name().to_string(),
            interval(ratio),
        ]
    };
    let rows: Vec<_> = differences_findings(&reproduction.differences).iter().map(row).collect();
    if rows.is_empty() {
        return String::new();
    }
    output::left_table(&["differences", "statement", "verdict", "differences / CODE"], &rows) + "\n"
}

/// The statements of the study of yes and no, those about coverage only where they do not hold;
/// empty if it was not run.
fn yes_no_table(reproduction: &Reproduction) -> String {
    let row = |finding: &YesNoFinding| {
        let what = finding.measure.map_or("", Measure::name);
        let words = [finding.spec_name, &finding.label, what, &finding.statement];
        let by = match finding.told {
            YesNoTold::Same => format!("z = {:.2}", finding.estimate.value),
            YesNoTold::Order => format!("× {:.2}", finding.estimate.value),
            YesNoTold::Sooner | YesNoTold::Coverage => interval(&finding.estimate),
        };
        [words.map(String::from).as_slice(), &[finding.verdict.name().into(), by]].concat()
    };
    let all = yes_no_findings(&reproduction.yes_no);
    let covers = |finding: &&YesNoFinding| {
        finding.told == YesNoTold::Coverage && finding.verdict != Verdict::DoesNotHold
    };
    let rows: Vec<_> = all.iter().filter(|finding| !covers(finding)).map(row).collect();
    if all.is_empty() {
        return String::new();
    }
    format!(
        "{}\nCoverage: {} sets, of which {} miss the truth in more than 5 % of the runs.\n",
        output::left_table(
            &["yes-no", "policy", "figure", "statement", "verdict", "decided by"],
            &rows
        ),
        all.iter().filter(|finding| finding.told == YesNoTold::Coverage).count(),
        rows.len() - all.iter().filter(|finding| finding.told != YesNoTold::Coverage).count(),
    )
}

fn ratio(claim: &Claim, evidence: &Evidence) -> String {
    let Evidence { over, under, ratio, .. } = evidence;
    format!("{} {over} / {under} = {}", claim.measure.name(), interval(ratio))
}

/// A ratio with its interval, with four decimals where two would hide on which side of 1 an end
/// lies.
fn interval(ratio: &Estimate) -> String {
    let end = |x: f64| match x {
        _ if x.is_infinite() => "∞".into(),
        _ if (x - 1.0).abs() < 0.005 => format!("{x:.4}"),
        _ => format!("{x:.2}"),
    };
    let value =
        if ratio.value.is_infinite() { "∞".into() } else { format!("{:.2}", ratio.value) };
    format!("{value} [{}, {}]", end(ratio.low), end(ratio.high))
}
