//! `plausibly reproduce`.

mod plan;
mod record;

use crate::args::{DELAY, FRONTIER, ReadingArg, Reproduce};
use crate::data::{self, Fetching, Obtained};
use crate::exit::Outcome;
use crate::interrupt::Interrupt;
use crate::output;
use crate::pools::DataPools;
use crate::progress::Progress;
use crate::results::{Folder, Timing, threads};
use anyhow::{Context, Result};
use plan::{Job, Role, Scale, plan};
use plausibly_data::{DATA_SETS, Status};
use plausibly_report::{Checked, Late, Measured, Reading, Reproduction, STUDIES, Skipped};
use plausibly_sim::{ArmsTheory, Experiment, LinearTheory, Overrides, RunError, TheoryError};
use std::fmt::Write;
use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

pub(crate) fn run(args: &Reproduce) -> Outcome {
    // What is not the paper's has no literal reading of it.
    let beyond = [
        (FRONTIER, "the frontier", "tempered CODE and targets are not the paper's"),
        (DELAY, "the delay study", "late rewards are not the paper's"),
    ];
    for (study, what, because) in beyond {
        if args.reading == ReadingArg::Literal && args.named(study) {
            return Outcome::Refused(format!(
                "error: {what} has no literal reading: {because}; leave out --reading or {study}"
            ));
        }
    }
    reproduce(args).unwrap_or_else(Outcome::Failed)
}

const DEFAULT_FOLDER: &str = "plausibly-results/reproduce";

fn reproduce(args: &Reproduce) -> Result<Outcome> {
    let skipped = obtain_data(args)?;
    let folder = args.out.as_deref().unwrap_or(Path::new(DEFAULT_FOLDER));
    let folder = Arc::new(Folder::open(folder)?);
    let jobs = chosen_jobs(args, &skipped);
    let pools = DataPools::new(&args.cache);
    let mut experiments = Vec::new();
    for job in &jobs {
        let experiment = Experiment::from_toml(&job.spec, Overrides::default(), &pools);
        experiments.push(experiment.with_context(|| format!("{} cannot be run", job.spec_name))?);
    }

    let interrupt = Interrupt::catch(&folder).context("cannot catch Ctrl-C")?;
    let threads = threads(args.threads);
    if !args.quiet {
        output::note(&format!(
            "{}: {} in all, {}, seed {}",
            jobs_of(&jobs),
            output::plural(jobs.len() as u64, "comparison or check", "comparisons and checks"),
            output::plural(threads.get() as u64, "thread", "threads"),
            args.seed
        ));
    }
    let begun = Instant::now();
    let mut reproduction = Reproduction {
        version: env!("CARGO_PKG_VERSION"),
        command: command(args),
        seed: args.seed,
        quick: args.quick && args.runs.is_none(),
        reading: if args.reading == ReadingArg::Literal { Reading::Literal } else { Reading::Adopted },
        experiments: Vec::new(),
        skipped,
        policy_readings: None,
        ruler_reading: None,
        problem_readings: Vec::new(),
        frontier: Vec::new(),
        delay: Vec::new(),
        arms_theory: Vec::new(),
        linear_theory: None,
    };
    let work =
        |experiment: &Experiment| experiment.runs * experiment.horizon * experiment.policies.len() as u64;
    let progress = Progress::new(experiments.iter().map(work).sum(), args.quiet, interrupt.clone());
    for (job, experiment) in jobs.into_iter().zip(&experiments) {
        match run_job(job, experiment, threads, &progress, &mut reproduction) {
            Ok(()) => {}
            Err(TheoryError::Run(RunError::Stopped)) => {
                progress.clear();
                folder.clear();
                return Ok(Outcome::interrupted());
            }
            Err(error) => return Err(error.into()),
        }
    }
    progress.clear();
    if !interrupt.close() {
        folder.clear();
        return Ok(Outcome::interrupted());
    }
    let timing = Timing { seconds: begun.elapsed().as_secs_f64(), threads: threads.get() };
    finish(args, &folder, &experiments, &reproduction, timing)
}

/// What to run: what was asked for and can be had.
fn chosen_jobs(args: &Reproduce, skipped: &[Skipped]) -> Vec<Job> {
    let there = |id: &&'static str| skipped.iter().all(|skipped| skipped.study != *id);
    let there: Vec<_> = STUDIES.map(|study| study.id).into_iter().filter(there).collect();
    let named = |id: &&'static str| args.experiments.is_empty() || args.named(id);
    let studies: Vec<_> = there.iter().copied().filter(named).collect();
    let scale = Scale { runs: args.runs, quick: args.quick };
    let mut jobs = plan(&studies, scale, args.seed, args.reading);
    if args.named(FRONTIER) {
        jobs.extend(plan::frontier(&there, scale, args.seed));
    }
    if args.named(DELAY) {
        jobs.extend(plan::delay(scale, args.seed));
    }
    jobs
}

/// What is run, by the names of the command line.
fn jobs_of(jobs: &[Job]) -> String {
    let mut names: Vec<&str> = Vec::new();
    for job in jobs {
        let name = match job.role {
            Role::Frontier(_) => FRONTIER,
            Role::Delay { .. } => DELAY,
            _ => job.study,
        };
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names.join(", ")
}

/// Brings in what is missing of the data, unless there shall be no network. What cannot be had is skipped, or fails if it was asked for by name.
fn obtain_data(args: &Reproduce) -> Result<Vec<Skipped>> {
    let store = data::store(&args.cache)?;
    let wanted = |name: &str| args.experiments.is_empty() || args.named(name) || args.named(FRONTIER);
    let mut skipped = Vec::new();
    for set in DATA_SETS.iter().filter(|set| wanted(set.name)) {
        let mut remedy = format!("`plausibly data fetch {}` brings it into the cache.", set.name);
        let reason = if args.quick {
            match store.status(set)? {
                Status::Ready => None,
                _ => Some("Its data is not in the cache, and --quick uses no network.".to_string()),
            }
        } else {
            let fetching = Fetching::new(args.mirror.as_deref(), args.accept_licence, args.quiet);
            match fetching.obtain(&store, set) {
                Ok(Obtained::Already | Obtained::Fetched) => None,
                Ok(Obtained::Refused) => {
                    remedy = "Read it, and add --accept-licence if you do.".into();
                    Some("The licence of its data was not accepted.".to_string())
                }
                Err(error) => Some(format!("Its data could not be had: {error:#}.")),
            }
        };
        let Some(reason) = reason else { continue };
        if args.named(set.name) {
            anyhow::bail!("{} cannot be run. {reason} {remedy}", set.name);
        }
        skipped.push(Skipped { study: set.name, reason, remedy });
    }
    Ok(skipped)
}

/// Runs one thing and puts it where it belongs.
fn run_job(
    job: Job,
    experiment: &Experiment,
    threads: NonZeroUsize,
    progress: &Progress,
    into: &mut Reproduction,
) -> Result<(), TheoryError> {
    let Job { study, role, spec_name, spec } = job;
    let part = progress.part(spec_name, experiment.policies.len() as u64);
    let variant = match role {
        Role::ArmsTheory => {
            let theory = ArmsTheory::check(experiment, threads, &part)?;
            into.arms_theory.push(Checked { spec_name, spec, theory });
            return Ok(());
        }
        Role::LinearTheory => {
            let theory = LinearTheory::check(experiment, threads, &part)?;
            into.linear_theory = Some(Checked { spec_name, spec, theory });
            return Ok(());
        }
        Role::ProblemReading(variant) | Role::Frontier(variant) | Role::Delay { variant, .. } => {
            Some(variant)
        }
        Role::PolicyReadings => Some("policies read in other ways"),
        Role::RulerReading => Some("Qₙ measured by another ruler"),
        Role::Experiment => None,
    };
    let summary = experiment.comparison().run(threads, &part)?;
    let measured = Measured { study, variant, spec_name, spec, horizon: experiment.horizon, summary };
    match role {
        Role::PolicyReadings => into.policy_readings = Some(measured),
        Role::RulerReading => into.ruler_reading = Some(measured),
        Role::ProblemReading(_) => into.problem_readings.push(measured),
        Role::Frontier(_) => into.frontier.push(measured),
        Role::Delay { rounds, .. } => into.delay.push(Late { rounds, measured }),
        _ => into.experiments.push(measured),
    }
    Ok(())
}

fn finish(
    args: &Reproduce,
    folder: &Folder,
    experiments: &[Experiment],
    reproduction: &Reproduction,
    timing: Timing,
) -> Result<Outcome> {
    let manifest = record::manifest(reproduction, experiments, timing);
    let mut files = vec![
        ("index.html".to_string(), reproduction.html().into_bytes()),
        ("summary.csv".to_string(), record::summary_csv(reproduction).into_bytes()),
        ("manifest.json".to_string(), format!("{manifest:#}\n").into_bytes()),
    ];
    for (name, text) in reproduction.specs() {
        files.push((format!("specs/{name}.toml"), text.as_bytes().to_vec()));
    }
    let paths = folder.write(&files)?;
    let address = file_address(&paths[0])?;
    let text = if args.json {
        record::closing_json(reproduction, &paths)
    } else {
        record::closing(reproduction, &address)
    };
    output::data(&text).context("cannot write to standard output")?;
    if !args.quiet {
        for Skipped { study, reason, remedy } in &reproduction.skipped {
            output::note(&format!("skipped {study}: {reason} {remedy}"));
        }
        output::note(&format!("{} files written in {:.1} s", paths.len(), timing.seconds));
    }
    if args.open
        && let Err(error) = open::that(&paths[0])
    {
        output::note(&format!("the report could not be opened ({error}); its address is {address}"));
    }
    Ok(Outcome::Done)
}

/// The command that gives the same report, without what does not change it.
fn command(args: &Reproduce) -> String {
    let mut words = vec!["plausibly reproduce".to_string()];
    words.extend(args.experiments.iter().cloned());
    if args.quick {
        words.push("--quick".into());
    }
    words.extend(args.runs.map(|runs| format!("--runs {runs}")));
    words.push(format!("--seed {}", args.seed));
    if args.reading == ReadingArg::Literal {
        words.push("--reading literal".into());
    }
    words.join(" ")
}

/// The address at which a browser finds a file.
fn file_address(path: &Path) -> Result<String> {
    let path = std::fs::canonicalize(path).with_context(|| format!("cannot find {}", path.display()))?;
    let mut address = String::from("file://");
    for byte in path.to_string_lossy().replace('\\', "/").bytes() {
        if byte.is_ascii_alphanumeric() || b"/-_.~:".contains(&byte) {
            address.push(char::from(byte));
        } else {
            let _ = write!(address, "%{byte:02X}");
        }
    }
    Ok(address)
}
