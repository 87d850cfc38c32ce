//! `plausibly simulate`.

use crate::args::Simulate;
use crate::data;
use crate::exit::{Ending, of_input};
use crate::files::{Kind, Outputs};
use crate::interrupt::Interrupt;
use crate::output;
use crate::own_table::SpecPools;
use crate::progress::Progress;
use crate::results::{self, Folder, Timing};
use crate::verdicts::Verdicts;
use anyhow::{Result, bail};
use plausibly::spec::FieldError;
use plausibly_log::input::{Limit, read_text};
use plausibly_report::Simulation;
use plausibly_sim::{
    Experiment, Overrides, RunError, RunsCsv, SpecError, Summary, final_figures, summary_csv,
};
use serde_json::json;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

pub(crate) fn run(args: &Simulate) -> Result<()> {
    let text = read_text(&args.spec, Limit::SPEC).map_err(of_input)?;
    let overrides = Overrides { runs: args.runs, seed: args.seed };
    let pools = SpecPools::new(data::pools(&args.cache), &args.spec);
    let experiment = Experiment::from_toml(&text, overrides, &pools)
        .map_err(|error| refusal(&args.spec, &error))?;
    if args.verdicts {
        Verdicts::check(&experiment)?;
    }
    simulate(args, &experiment, &text)
}

/// Files that are always written.
const FILES: [(&str, Kind); 5] = [
    ("index.html", Kind::Page),
    ("figures/regret.svg", Kind::Picture),
    ("figures/model-error.svg", Kind::Picture),
    ("summary.csv", Kind::Summary),
    ("manifest.json", Kind::Manifest),
];
/// Files that are written only with a flag.
const PER_RUN: (&str, &str) = ("--per-run", "runs.csv");
const LATEX: (&str, &str) = ("--latex", "table.tex");
const VERDICTS: (&str, &str) = ("--verdicts", "verdicts.csv");

/// Opens the folder of results, if every file that will be written there may be.
fn results_folder(args: &Simulate, experiment: &Experiment) -> Result<Folder> {
    // This folder is ignored by git in this project, and out of the way in any other.
    let usual = || Path::new("plausibly-results").join(short_name(experiment, &args.spec));
    let folder = args.out.clone().unwrap_or_else(usual);
    let mut outputs = Outputs::new(args.force).reading("the spec", &args.spec);
    outputs.allow_all(&folder, &FILES)?;
    for (asked, name, kind) in [
        (args.per_run, PER_RUN.1, Kind::Runs),
        (args.latex, LATEX.1, Kind::Table),
        (args.verdicts, VERDICTS.1, Kind::Runs),
    ] {
        if asked {
            outputs.allow_all(&folder, &[(name, kind)])?;
        }
    }
    Folder::open(&folder)
}

fn simulate(args: &Simulate, experiment: &Experiment, spec: &str) -> Result<()> {
    let folder = results_folder(args, experiment)?;
    let replacing = FILES.iter().any(|(name, _)| folder.holds(name));
    let folder = Arc::new(folder);
    let interrupt = Interrupt::catch()?;
    interrupt.guard(&folder);
    let threads = results::threads(args.threads);
    if !args.quiet {
        output::note(&opening(experiment, threads));
    }
    let comparison = experiment.comparison();
    let watched = if args.verdicts { Verdicts::rounds(experiment) } else { 0 };
    let rounds = comparison.total_rounds().saturating_add(watched);
    let progress = Progress::new(rounds, args.quiet, interrupt.clone());
    let begun = Instant::now();
    let mut runs =
        RunsCsv::new(&experiment.name, experiment.policies.iter().map(|policy| &policy.label));
    let result = comparison.run_each(threads, &progress, &mut |run, policies| {
        if args.per_run {
            runs.add(run, policies);
        }
    });
    let result = result.and_then(|summary| {
        let watch = || Verdicts::watch(experiment, threads, &progress);
        Ok((summary, args.verdicts.then(watch).transpose()?))
    });
    progress.clear();
    let (summary, verdicts) = match result {
        Ok(measured) if interrupt.close() => measured,
        Ok(_) | Err(RunError::Stopped) => bail!(interrupt.ending()),
        Err(error) => return Err(error.into()),
    };
    let timing = Timing { seconds: begun.elapsed().as_secs_f64(), threads: threads.get() };
    let mut files = pictured(args, experiment, spec, &summary);
    files.push(("summary.csv", summary_csv(&[(&experiment.name, &summary)])));
    if args.per_run {
        files.push((PER_RUN.1, runs.finish()));
    }
    if let Some(verdicts) = &verdicts {
        files.push((VERDICTS.1, verdicts.csv(&experiment.name)));
    }
    files.push((
        "manifest.json",
        format!("{:#}\n", results::manifest(experiment, &summary, timing)),
    ));
    let names: Vec<&str> = files.iter().map(|(name, _)| *name).collect();
    let paths = folder.write(files)?;
    if args.json {
        output::json(&closing_json(experiment, &summary, verdicts.as_ref(), &paths))?;
    } else {
        let verdicts =
            verdicts.map_or_else(String::new, |verdicts| format!("\n{}", verdicts.table()));
        output::data(&(closing(&summary) + &verdicts))?;
    }
    if !args.quiet {
        let (wrote, to) = if replacing { ("replaced", "in") } else { ("wrote", "to") };
        let (names, place) = (names.join(", "), folder.path.display());
        output::note(&format!("{wrote} {names} {to} {place} in {:.1} s", timing.seconds));
        for (flag, name) in [PER_RUN, LATEX, VERDICTS] {
            if !names.contains(name) && folder.holds(name) {
                output::note(&format!("{name} is from an earlier run; add {flag} to replace it"));
            }
        }
    }
    Ok(())
}

/// The page, its pictures, and the LaTeX table if requested.
fn pictured(
    args: &Simulate,
    experiment: &Experiment,
    spec: &str,
    summary: &Summary,
) -> Vec<(&'static str, String)> {
    let Experiment { name, seed, horizon, .. } = experiment;
    let spec_file = format!("{}.toml", short_name(experiment, &args.spec));
    let flags = [("--runs", args.runs), ("--seed", args.seed)];
    let given = flags.iter().filter_map(|(flag, value)| Some(format!(" {flag} {}", (*value)?)));
    let command = format!("plausibly simulate {spec_file}{}", given.collect::<String>());
    let (seed, horizon) = (*seed, *horizon);
    let shown =
        Simulation { name, spec, spec_file: &spec_file, command: &command, seed, horizon, summary };
    let mut files = vec![
        ("index.html", shown.html()),
        ("figures/regret.svg", shown.regret_svg()),
        ("figures/model-error.svg", shown.model_error_svg()),
    ];
    if args.latex {
        files.push((LATEX.1, shown.latex()));
    }
    files
}

/// The name of an experiment as a file name: from the spec, or else from the name of its file.
fn short_name(experiment: &Experiment, spec: &Path) -> String {
    let stem = spec.file_stem().unwrap_or(spec.as_os_str()).to_string_lossy();
    // The default name of a spec; two specs without names should not share a folder.
    let name = if experiment.name == "experiment" { &*stem } else { &experiment.name };
    let kept = name.split(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '.')));
    let kept = kept.filter(|part| part.contains(|c| c != '.')).collect::<Vec<_>>().join("-");
    let short: String = kept.trim_start_matches('.').chars().take(80).collect();
    match short.trim_end_matches('.') {
        "" => "experiment".into(),
        // This is the folder of `plausibly reproduce`.
        "reproduce" => "reproduce-spec".into(),
        short => short.into(),
    }
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

/// The final figures as JSON.
fn closing_json(
    experiment: &Experiment,
    summary: &Summary,
    verdicts: Option<&Verdicts>,
    paths: &[PathBuf],
) -> String {
    let mut value = json!({
        "experiment": experiment.name,
        "runs": summary.runs,
        "horizon": experiment.horizon,
        "seed": experiment.seed,
        "policies": final_figures(summary),
        "files": paths.iter().map(|path| path.display().to_string()).collect::<Vec<_>>(),
    });
    if let Some(verdicts) = verdicts {
        value["verdicts"] = verdicts.json();
    }
    format!("{value:#}\n")
}

/// The final figures as a table.
fn closing(summary: &Summary) -> String {
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
    let heading =
        ["policy", "regret", "± s.e.", "model error", "± s.e.", "plausible", "θ* left set"];
    output::table(&heading, &summary.policies.iter().map(row).collect::<Vec<_>>())
}

/// All problems of a spec, one per line, as <FILE:LINE>, which editors can jump to.
fn refusal(spec: &Path, error: &SpecError) -> Ending {
    let line = |problem: &FieldError| {
        let place = if problem.line > 0 { format!(":{}", problem.line) } else { String::new() };
        let field =
            if problem.path.is_empty() { String::new() } else { format!("{}: ", problem.path) };
        format!("{}{place}: {field}{}", spec.display(), problem.complaint)
    };
    let lines: Vec<String> = error.problems.iter().map(line).collect();
    Ending::Refused(format!(
        "{}\nhint: nothing was run; `plausibly spec` lists every field",
        lines.join("\nerror: ")
    ))
}
