//! The commands about decisions: `decide`, `reward`, `drop`, `history`, `status`, `explain`,
//! `verify`, `replay`.

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
use plausibly_log::certificate::Certificate;
use plausibly_log::input::{Limit, read_text};
use plausibly_log::state::StepError;
use plausibly_log::{LogError, Time};
use progress_log::ProgressLog;
use std::fs;
use std::path::Path;
use std::time::SystemTime;

/// The outcome of a command: a wrong request is a refusal, a problem with the file is a failure.
fn ended(result: Result<Outcome>) -> Outcome {
    result.unwrap_or_else(|error| {
        let wrong_request = match error.downcast_ref() {
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
        if wrong_request && !error.is::<Ending>() {
            return Outcome::Refused(format!("error: {}", message(&error)));
        }
        error.into()
    })
}

/// Now, in microseconds since 1970.
#[expect(
    clippy::disallowed_methods,
    reason = "the only place of the command that reads a clock; `--at` replaces it"
)]
fn now() -> i64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_micros()).unwrap_or(i64::MAX)
}

/// The given time, or now.
fn time_or_now(given: Option<i64>) -> i64 {
    given.unwrap_or_else(now)
}

/// The given time, or now, for an event. The time of a log never goes back, so a mistyped year
/// could not be corrected.
fn time_to_record(given: Option<i64>, force: bool) -> Result<i64> {
    const DAY_US: i64 = 86_400_000_000;
    let now = now();
    let at = given.unwrap_or(now);
    if at > now.saturating_add(DAY_US) && !force {
        let shown = Time::from_micros;
        bail!(Ending::Refused(format!(
            "--at {} is more than a day ahead of the clock ({}), and no later event of the log \
             could have an earlier time; add --force if you mean it. Nothing was written.",
            shown(at),
            shown(now)
        )));
    }
    Ok(at)
}

/// Checks that a log exists: a mistyped name must not begin a new one.
fn must_exist(path: &Path) -> Result<()> {
    fs::metadata(path).with_context(|| format!("there is no log {}", path.display()))?;
    Ok(())
}

/// An existing log, to be read `passes` times.
fn existing(path: &Path, passes: u64) -> Result<ProgressLog> {
    must_exist(path)?;
    Ok(ProgressLog::new(path, passes))
}

fn read_certificate(path: &Path) -> Result<Certificate> {
    let text = read_text(path, Limit::CERTIFICATE)?;
    Certificate::from_json(&text)
        .with_context(|| format!("{} is not a certificate", path.display()))
}

/// Prints JSON on stdout.
fn print_json(text: &str) -> Result<()> {
    output::json(text).context("cannot write to standard output")
}

/// Prints text on stdout.
fn print(text: &str) -> Result<()> {
    output::data(text).context("cannot write to standard output")
}
