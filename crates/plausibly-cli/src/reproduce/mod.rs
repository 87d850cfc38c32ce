//! `plausibly reproduce`.

mod record;

use crate::args::{ReadingArg, Reproduce};
use crate::data::{self, Fetching, Obtained};
use crate::exit::{Ending, message, refuse};
use crate::files::{Kind, Outputs};
use crate::interrupt::Interrupt;
use crate::output;
use crate::progress::Progress;
use crate::results::{Folder, Timing, threads};
use anyhow::{Context, Result, bail};
use plausibly_data::Status;
use plausibly_paper::{
    PaperError, Prepared, Reading, Reproduction, Request, RequestError, Skipped, manifest,
    summary_csv,
};
use serde_json::json;
use std::fmt::Write;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

pub(crate) fn run(args: &Reproduce) -> Result<()> {
    let request = request(args);
    match request.check() {
        Ok(()) => reproduce(args, &request),
        Err(error @ RequestError::NoLiteralReading { name, .. }) => {
            refuse!("{error}; leave out --reading or {name}")
        }
        Err(error) => refuse!("{error}"),
    }
}

fn request(args: &Reproduce) -> Request {
    Request {
        experiments: args.experiments.clone(),
        runs: args.runs,
        quick: args.quick,
        seed: args.seed,
        reading: if args.reading == ReadingArg::Literal {
            Reading::Literal
        } else {
            Reading::Adopted
        },
    }
}

const DEFAULT_FOLDER: &str = "plausibly-results/reproduce";
/// The files written beside the specs.
const FILES: [(&str, Kind); 3] =
    [("index.html", Kind::Page), ("summary.csv", Kind::Summary), ("manifest.json", Kind::Manifest)];

fn reproduce(args: &Reproduce, request: &Request) -> Result<()> {
    let interrupt = Interrupt::catch()?;
    let folder = args.out.as_deref().unwrap_or(Path::new(DEFAULT_FOLDER));
    let mut outputs = Outputs::new(args.force);
    outputs.allow_all(folder, &FILES)?;
    outputs.allow_below(folder, "specs")?;
    let skipped = obtain_data(args, request, &interrupt)?;
    let folder = Arc::new(Folder::open(folder)?);
    interrupt.guard(&folder);
    let prepared = Prepared::new(request, skipped, &data::pools(&args.cache))?;

    let threads = threads(args.threads);
    if !args.quiet {
        output::note(&format!(
            "{}: {} in all, {}, seed {}",
            prepared.names().join(", "),
            output::plural(
                prepared.experiments().len() as u64,
                "comparison or check",
                "comparisons and checks"
            ),
            output::plural(threads.get() as u64, "thread", "threads"),
            args.seed
        ));
    }
    let begun = Instant::now();
    let progress = Progress::new(prepared.total_rounds(), args.quiet, interrupt.clone());
    let outcome = prepared.run(threads, &progress, |name| progress.name(name));
    progress.clear();
    let reproduction = match outcome {
        Ok(reproduction) if interrupt.close() => reproduction,
        Ok(_) | Err(PaperError::Stopped) => bail!(interrupt.ending()),
        Err(error) => return Err(error.into()),
    };
    let timing = Timing { seconds: begun.elapsed().as_secs_f64(), threads: threads.get() };
    finish(args, &folder, &prepared, &reproduction, timing)
}

/// Fetches missing data, except with `--quick`. An experiment whose data cannot be fetched is
/// skipped, or fails if the user named it.
fn obtain_data(args: &Reproduce, request: &Request, interrupt: &Interrupt) -> Result<Vec<Skipped>> {
    let store = data::store(&args.cache)?;
    let mut skipped = Vec::new();
    for set in request.data_sets() {
        let mut remedy =
            format!("`plausibly data fetch {}` downloads it into the cache.", set.name);
        let reason = if args.quick {
            match store.status(set)? {
                Status::Ready => None,
                _ => Some("Its data is not in the cache, and --quick uses no network.".to_string()),
            }
        } else {
            let fetching =
                Fetching::new(args.mirror.as_deref(), args.accept_licence, args.quiet, interrupt)?;
            match fetching.obtain(&store, set) {
                Ok(Obtained::Already | Obtained::Fetched) => None,
                Ok(Obtained::Refused) => {
                    remedy = "Read it, and add --accept-licence if you accept it.".into();
                    Some("The licence of its data was not accepted.".to_string())
                }
                Err(stopped) if stopped.is::<Ending>() => return Err(stopped),
                Err(error) => Some(format!("Its data could not be fetched: {}.", message(&error))),
            }
        };
        let Some(reason) = reason else { continue };
        if request.is_named(set.name) {
            bail!("{} cannot be run. {reason} {remedy}", set.name);
        }
        skipped.push(Skipped { study: set.name, reason, remedy });
    }
    Ok(skipped)
}

fn finish(
    args: &Reproduce,
    folder: &Folder,
    prepared: &Prepared,
    reproduction: &Reproduction,
    timing: Timing,
) -> Result<()> {
    let mut manifest = manifest(reproduction, prepared.experiments());
    let Timing { seconds, threads } = timing;
    let instruction_set = plausibly::Isa::detect().name();
    let timings =
        json!({ "seconds": seconds, "threads": threads, "instruction_set": instruction_set });
    manifest.insert("timings".into(), timings);
    let manifest = serde_json::Value::from(manifest);
    let contents = [reproduction.html(), summary_csv(reproduction), format!("{manifest:#}\n")];
    let named = FILES.into_iter().zip(contents);
    let mut files: Vec<(String, String)> =
        named.map(|((name, _), content)| (name.into(), content)).collect();
    for (name, text) in reproduction.specs() {
        files.push((format!("specs/{name}.toml"), text.to_string()));
    }
    let paths = folder.write(files)?;
    let address = file_address(&paths[0])?;
    if args.json {
        output::json(&record::closing_json(reproduction, &paths))?;
    } else {
        output::data(&record::closing(reproduction, &address))?;
    }
    if !args.quiet {
        for Skipped { study, reason, remedy } in &reproduction.skipped {
            output::note(&format!("skipped {study}: {reason} {remedy}"));
        }
        output::note(&format!("{} files written in {:.1} s", paths.len(), timing.seconds));
    }
    if args.open
        && let Err(error) = open::that(&paths[0])
    {
        output::note(&format!(
            "the report could not be opened ({error}); its address is {address}"
        ));
    }
    Ok(())
}

/// The `file://` address of a file.
fn file_address(path: &Path) -> Result<String> {
    let path =
        std::fs::canonicalize(path).with_context(|| format!("cannot find {}", path.display()))?;
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
