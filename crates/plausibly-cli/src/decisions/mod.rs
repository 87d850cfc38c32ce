//! Decisions from a table: `decide`, `reward`, `drop`, `history`, `status`, `explain`, `verify`, `replay`.

pub(crate) mod args;
mod decide;
mod explain;
mod history;
mod outcomes;
mod policy;
mod replay;
mod reward;
mod status;
mod verify;
mod watched;

pub(crate) use decide::run as decide;
pub(crate) use explain::run as explain;
pub(crate) use history::run as history;
pub(crate) use replay::run as replay;
pub(crate) use reward::{drop_decision, reward};
pub(crate) use status::run as status;
pub(crate) use verify::run as verify;

use crate::exit::Outcome;
use crate::output;
use crate::results;
use anyhow::{Context as _, Result};
use plausibly_log::certificate::Certificate;
use plausibly_log::input::{Limit, read_text};
use plausibly_log::journal::FileStorage;
use plausibly_log::{Log, LogError};
use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::time::SystemTime;
use watched::Watched;

/// What is wrong with what was asked is a refusal; what is wrong with the file is a failure.
fn ended(result: Result<Outcome>) -> Outcome {
    result.unwrap_or_else(|error| match error.downcast_ref::<LogError>() {
        Some(
            LogError::Step(_)
            | LogError::Recipe(_)
            | LogError::Begun
            | LogError::Empty
            | LogError::Grounds(_),
        ) => Outcome::Refused(format!("error: {error:#}")),
        _ => Outcome::Failed(error),
    })
}

/// The time given, or now.
#[expect(
    clippy::disallowed_methods,
    reason = "the one place of the command where a clock is read; `--at` stands in for it"
)]
fn moment(given: Option<i64>) -> i64 {
    given.unwrap_or_else(|| {
        let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        i64::try_from(since.as_micros()).unwrap_or(i64::MAX)
    })
}

/// Opens a log for writing, and says what had to be done for it.
fn open(path: &Path) -> Result<Log<FileStorage>> {
    let log = Log::open(FileStorage::new(path)).with_context(|| format!("cannot open {}", path.display()))?;
    if let Some(recovery) = log.recovery() {
        output::note(&format!("note: {recovery}"));
    }
    Ok(log)
}

/// That a log is there already: a mistyped name must not begin a new one.
fn must_exist(path: &Path) -> Result<()> {
    fs::metadata(path).with_context(|| format!("there is no log {}", path.display()))?;
    Ok(())
}

/// A log to be read so many times over.
fn existing(path: &Path, passes: u64) -> Result<Watched> {
    must_exist(path)?;
    Ok(Watched::new(path, passes))
}

/// Ends the use of a log whose lines took long to read by saving what came of them, so that it takes less the next time.
fn put_away(mut log: Log<FileStorage>) {
    // Read in about a tenth of a second: below that a snapshot is not worth its file.
    const MANY_LINES: u64 = 50_000;
    if log.read_on_opening() >= MANY_LINES
        && let Err(error) = log.save_snapshot()
    {
        output::note(&format!(
            "note: everything is recorded; only the snapshot that makes opening faster was not saved: {error}"
        ));
    }
}

fn read_certificate(path: &Path) -> Result<Certificate> {
    let text = read_text(path, Limit::CERTIFICATE)?;
    Certificate::from_json(&text).with_context(|| format!("{} is not a certificate", path.display()))
}

/// Writes a file complete or not at all.
fn write(path: &Path, content: &str) -> Result<()> {
    let failed = || format!("cannot write {}", path.display());
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut file = results::temporary_in(folder)?;
    file.write_all(content.as_bytes()).and_then(|()| file.as_file().sync_all()).with_context(failed)?;
    file.persist(path).with_context(failed)?;
    Ok(())
}

/// JSON, with what could steer a terminal written as escapes, which are the same to whoever reads it.
fn print_json(text: &str) -> Result<()> {
    let escaped = |c: char| {
        if ('\u{7f}'..='\u{9f}').contains(&c) { format!("\\u{:04x}", u32::from(c)) } else { c.to_string() }
    };
    output::data(&text.chars().map(escaped).collect::<String>()).context("cannot write to standard output")
}

/// A name on one line, so that it cannot be taken for another line of the output.
fn line(name: &str) -> String {
    name.chars().map(|c| if c.is_control() { char::REPLACEMENT_CHARACTER } else { c }).collect()
}

/// Names come from people's tables, and must not steer the terminal.
fn print(text: &str) -> Result<()> {
    let harmless = |c: char| if c.is_control() && c != '\n' { char::REPLACEMENT_CHARACTER } else { c };
    output::data(&text.chars().map(harmless).collect::<String>()).context("cannot write to standard output")
}
