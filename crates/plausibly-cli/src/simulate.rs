//! `plausibly simulate`.

use crate::args::Simulate;
use crate::exit::Outcome;
use crate::output;
use crate::progress::Progress;
use crate::results::{self, Folder, Timing};
use anyhow::{Context, Result};
use plausibly_sim::{Experiment, Overrides, RunError, SpecError, Summary};
use serde_json::json;
use std::fs;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::time::Instant;

pub(crate) fn run(args: &Simulate) -> Outcome {
    let text = match fs::read_to_string(&args.spec)
        .with_context(|| format!("cannot read {}", args.spec.display()))
    {
        Ok(text) => text,
        Err(error) => return Outcome::Failed(error),
    };
    let overrides = Overrides { runs: args.runs, seed: args.seed };
    match Experiment::from_toml(&text, overrides) {
        Ok(experiment) => simulate(args, &experiment).unwrap_or_else(Outcome::Failed),
        Err(error) => Outcome::Refused(refusal(&args.spec, &error)),
    }
}

fn simulate(args: &Simulate, experiment: &Experiment) -> Result<Outcome> {
    let folder = Folder::open(&args.out.clone().unwrap_or_else(|| default_folder(&args.spec)))?;
    let asked = args.threads.and_then(|threads| NonZeroUsize::new(threads.into()));
    let threads = asked.or_else(|| std::thread::available_parallelism().ok()).unwrap_or(NonZeroUsize::MIN);
    let comparison = experiment.comparison();
    if !args.quiet {
        output::note(&opening(experiment, threads));
    }
    let progress = Progress::start(comparison.total_rounds(), args.quiet).context("cannot catch Ctrl-C")?;
    let begun = Instant::now();
    let result = comparison.run(threads, &progress);
    progress.clear();
    let summary = match result {
        Ok(summary) => summary,
        Err(RunError::Stopped) => {
            return Ok(Outcome::Interrupted("interrupted: nothing was written".into()));
        }
        Err(error) => return Err(error.into()),
    };
    let timing = Timing { seconds: begun.elapsed().as_secs_f64(), threads: threads.get() };
    let manifest = results::manifest(experiment, &summary, timing);
    let paths = folder.write(&[
        ("summary.csv", results::summary_csv(&experiment.name, &summary)?),
        ("manifest.json", format!("{manifest:#}\n").into_bytes()),
    ])?;
    output::data(&closing(args.json, experiment, &summary, &paths));
    if !args.quiet {
        let names: Vec<String> = paths.iter().map(|path| path.display().to_string()).collect();
        output::note(&format!("wrote {} in {:.1} s", names.join(" and "), timing.seconds));
    }
    Ok(Outcome::Done)
}

/// Git-ignored in this project, and out of the way in any other.
fn default_folder(spec: &Path) -> PathBuf {
    Path::new("plausibly-results").join(spec.file_stem().unwrap_or(spec.as_os_str()))
}

fn opening(experiment: &Experiment, threads: NonZeroUsize) -> String {
    let Experiment { name, runs, horizon, policies, seed, .. } = experiment;
    let plural = |count: u64, word: &str| format!("{count} {word}{}", if count == 1 { "" } else { "s" });
    format!(
        "{name}: {} of {} with {} on {}, seed {seed}",
        plural(*runs, "run"),
        plural(*horizon, "round"),
        if policies.len() == 1 { "1 policy".into() } else { format!("{} policies", policies.len()) },
        plural(threads.get() as u64, "thread"),
    )
}

/// The final figures, for a program or for a person.
fn closing(json: bool, experiment: &Experiment, summary: &Summary, paths: &[PathBuf]) -> String {
    if json {
        let value = json!({
            "experiment": experiment.name,
            "runs": summary.runs,
            "horizon": experiment.horizon,
            "seed": experiment.seed,
            "policies": results::final_figures(summary),
            "files": paths.iter().map(|path| path.display().to_string()).collect::<Vec<_>>(),
        });
        return format!("{value:#}\n");
    }
    let row = |policy: &plausibly_sim::PolicySummary| {
        let point = policy.last();
        let error = |error: Option<f64>| error.map_or_else(|| "-".into(), output::figure);
        vec![
            policy.label.clone(),
            output::figure(point.regret.mean()),
            error(point.regret.standard_error()),
            output::figure(point.model_error.mean()),
            error(point.model_error.standard_error()),
            output::figure(point.plausible.mean()),
            format!("{:.0} %", 100.0 * policy.runs_left as f64 / summary.runs as f64),
        ]
    };
    let heading = ["policy", "regret", "± s.e.", "model error", "± s.e.", "plausible", "θ* left set"];
    output::table(&heading, &summary.policies.iter().map(row).collect::<Vec<_>>())
}

/// Everything wrong with a spec, one line each, in the form that editors jump to.
fn refusal(spec: &Path, error: &SpecError) -> String {
    let mut lines: Vec<String> = Vec::new();
    for problem in &error.problems {
        let place = if problem.line > 0 { format!(":{}", problem.line) } else { String::new() };
        let field = if problem.path.is_empty() { String::new() } else { format!("{}: ", problem.path) };
        lines.push(format!("error: {}{place}: {field}{}", spec.display(), problem.complaint));
    }
    lines.push("hint: nothing was run; `plausibly spec` lists every field".into());
    lines.join("\n")
}
