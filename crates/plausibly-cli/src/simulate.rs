//! `plausibly simulate`.

use crate::args::Simulate;
use crate::data;
use crate::exit::{Outcome, of_input};
use crate::files::{Kind, Outputs};
use crate::interrupt::Interrupt;
use crate::output;
use crate::progress::Progress;
use crate::results::{self, Folder, Timing};
use anyhow::{Context, Result};
use plausibly_log::input::{Limit, read_text};
use plausibly_paper::final_figures;
use plausibly_sim::{Experiment, Overrides, RunError, SpecError, Summary, summary_csv};
use serde_json::json;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

pub(crate) fn run(args: &Simulate) -> Outcome {
    let text = match read_text(&args.spec, Limit::SPEC) {
        Ok(text) => text,
        Err(error) => return of_input(error).into(),
    };
    let overrides = Overrides { runs: args.runs, seed: args.seed };
    match Experiment::from_toml(&text, overrides, &data::pools(&args.cache)) {
        Ok(experiment) => simulate(args, &experiment).unwrap_or_else(Outcome::from),
        Err(error) => Outcome::Refused(refusal(&args.spec, &error)),
    }
}

const FILES: [(&str, Kind); 2] = [("summary.csv", Kind::Summary), ("manifest.json", Kind::Manifest)];

fn simulate(args: &Simulate, experiment: &Experiment) -> Result<Outcome> {
    let mut outputs = Outputs::new(args.force).reading("the spec", &args.spec);
    let folder = args.out.clone().unwrap_or_else(|| default_folder(&args.spec));
    outputs.allow_all(&folder, &FILES)?;
    let folder = Folder::open(&folder)?;
    let replacing = FILES.iter().any(|(name, _)| folder.holds(name));
    let folder = Arc::new(folder);
    let interrupt = Interrupt::catch().context("cannot catch Ctrl-C")?;
    interrupt.guard(&folder);
    let threads = results::threads(args.threads);
    if !args.quiet {
        output::note(&opening(experiment, threads));
    }
    let comparison = experiment.comparison();
    let progress = Progress::new(comparison.total_rounds(), args.quiet, interrupt.clone());
    let begun = Instant::now();
    let result = comparison.run(threads, &progress);
    progress.clear();
    let summary = match result {
        Ok(summary) if interrupt.close() => summary,
        Ok(_) | Err(RunError::Stopped) => return Ok(interrupt.outcome()),
        Err(error) => return Err(error.into()),
    };
    let timing = Timing { seconds: begun.elapsed().as_secs_f64(), threads: threads.get() };
    let manifest = format!("{:#}\n", results::manifest(experiment, &summary, timing));
    let contents = [summary_csv(&[(&experiment.name, &summary)]).into_bytes(), manifest.into_bytes()];
    let files: Vec<(&str, Vec<u8>)> = FILES.into_iter().map(|(name, _)| name).zip(contents).collect();
    let paths = folder.write(files)?;
    let text = closing(args.json, experiment, &summary, &paths);
    let printed = if args.json { output::json(&text) } else { output::data(&text) };
    printed.context("cannot write to standard output")?;
    if !args.quiet {
        let names: Vec<String> = paths.iter().map(|path| path.display().to_string()).collect();
        let wrote = if replacing { "replaced" } else { "wrote" };
        output::note(&format!("{wrote} {} in {:.1} s", names.join(" and "), timing.seconds));
    }
    Ok(Outcome::Done)
}

/// Git-ignored in this project, and out of the way in any other.
fn default_folder(spec: &Path) -> PathBuf {
    Path::new("plausibly-results").join(spec.file_stem().unwrap_or(spec.as_os_str()))
}

fn opening(experiment: &Experiment, threads: NonZeroUsize) -> String {
    let Experiment { name, runs, horizon, policies, seed, .. } = experiment;
    format!(
        "{name}: {} of {} with {} on {}, seed {seed}",
        output::plural(*runs, "run", "runs"),
        output::plural(*horizon, "round", "rounds"),
        output::plural(policies.len() as u64, "policy", "policies"),
        output::plural(threads.get() as u64, "thread", "threads"),
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
            "policies": final_figures(summary),
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
