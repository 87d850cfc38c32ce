//! Decisions from a table: `decide`, `reward`, `drop`, `history`, `status`, `explain`, `verify`,
//! `replay`.

mod announce;
pub(crate) mod args;
mod decide;
mod explain;
mod fields;
mod first_table;
mod history;
mod outcomes;
mod policy;
mod progress_log;
mod recording;
mod replay;
mod reward;
mod status;
mod verify;

pub(crate) use decide::run as decide;
pub(crate) use explain::run as explain;
pub(crate) use history::run as history;
pub(crate) use replay::run as replay;
pub(crate) use reward::{drop_decision, reward};
pub(crate) use status::run as status;
pub(crate) use verify::run as verify;

use crate::exit::{Ending, Outcome, message};
use crate::output;
use anyhow::{Context as _, Result, bail};
use plausibly_log::LogError;
use plausibly_log::certificate::Certificate;
use plausibly_log::input::{Limit, read_text};
use plausibly_log::state::StepError;
use progress_log::ProgressLog;
use std::fs;
use std::path::Path;
use std::time::SystemTime;

/// What is wrong with what was asked is a refusal; what is wrong with the file is a failure.
fn ended(result: Result<Outcome>) -> Outcome {
    result.unwrap_or_else(|error| {
        let wrongly_asked = match error.downcast_ref() {
            Some(error) => matches!(
                error,
                LogError::Step(_)
                    | LogError::Recipe(_)
                    | LogError::Grounds(_)
                    | LogError::Begun
                    | LogError::Empty
            ),
            None => error.is::<StepError>(),
        };
        if wrongly_asked && !error.is::<Ending>() {
            return Outcome::Refused(format!("error: {}", message(&error)));
        }
        error.into()
    })
}

/// Now, in microseconds since 1970.
#[expect(
    clippy::disallowed_methods,
    reason = "the one place of the command where a clock is read; `--at` stands in for it"
)]
fn now() -> i64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_micros()).unwrap_or(i64::MAX)
}

/// The time given, or now.
fn time_or_now(given: Option<i64>) -> i64 {
    given.unwrap_or_else(now)
}

/// The time given, or now, for an event. The time of a log never goes back, so a mistyped year
/// would stay.
fn time_to_record(given: Option<i64>, force: bool) -> Result<i64> {
    const DAY_US: i64 = 86_400_000_000;
    let now = now();
    let at = given.unwrap_or(now);
    if at > now.saturating_add(DAY_US) && !force {
        let shown = |at| plausibly_log::journal::utc(at).unwrap_or_default();
        bail!(Ending::Refused(format!(
            "--at {} is more than a day ahead of the clock ({}), and no later event of the log could be earlier; \
             add --force if this is meant. Nothing was written.",
            shown(at),
            shown(now)
        )));
    }
    Ok(at)
}

/// That a log is there already: a mistyped name must not begin a new one.
fn must_exist(path: &Path) -> Result<()> {
    fs::metadata(path).with_context(|| format!("there is no log {}", path.display()))?;
    Ok(())
}

/// A log to be read so many times over.
fn existing(path: &Path, passes: u64) -> Result<ProgressLog> {
    must_exist(path)?;
    Ok(ProgressLog::new(path, passes))
}

fn read_certificate(path: &Path) -> Result<Certificate> {
    let text = read_text(path, Limit::CERTIFICATE)?;
    Certificate::from_json(&text)
        .with_context(|| format!("{} is not a certificate", path.display()))
}

/// JSON on stdout.
fn print_json(text: &str) -> Result<()> {
    output::json(text).context("cannot write to standard output")
}

/// Text on stdout.
fn print(text: &str) -> Result<()> {
    output::data(text).context("cannot write to standard output")
}
