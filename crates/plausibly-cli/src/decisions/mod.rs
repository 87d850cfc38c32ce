//! The commands about decisions: `decide`, `reward`, `drop`, `pause`, `resume`, `history`,
//! `status`, `compare`, `explain`, `verify`, `audit`, `replay`, `upgrade`, and `plan` before them.

mod announce;
pub(crate) mod args;
pub(crate) mod audit;
pub(crate) mod compare;
pub(crate) mod decide;
pub(crate) mod explain;
mod fields;
mod first_table;
pub(crate) mod history;
mod outcomes;
pub(crate) mod plan;
mod policy;
mod progress_log;
mod questions;
mod recording;
pub(crate) mod replay;
pub(crate) mod reward;
pub(crate) mod status;
pub(crate) mod upgrade;
pub(crate) mod verify;
pub(crate) mod window;

use crate::exit::refuse;
use anyhow::{Context as _, Result, anyhow};
use plausibly_log::Time;
use plausibly_log::certificate::Certificate;
use plausibly_log::input::{Limit, read_text};
use plausibly_log::json::JsonError;
use progress_log::ProgressLog;
use std::fs;
use std::path::Path;
use std::time::SystemTime;

/// Now, in microseconds since 1970.
#[expect(
    clippy::disallowed_methods,
    reason = "the only place of the command that reads a clock; `--at` replaces it"
)]
pub(crate) fn now() -> i64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_micros()).unwrap_or(i64::MAX)
}

/// The given time, or now, for an event. The time of a log never goes back, so a mistyped year
/// could not be corrected.
fn time_to_record(given: Option<i64>, force: bool) -> Result<i64> {
    const DAY_US: i64 = 86_400_000_000;
    let now = now();
    let at = given.unwrap_or(now);
    if at > now.saturating_add(DAY_US) && !force {
        let shown = Time::from_micros;
        refuse!(
            "--at {} is more than a day ahead of the clock ({}), and no later event of the log \
             could have an earlier time; add --force if you mean it. Nothing was written.",
            shown(at),
            shown(now)
        );
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
        .map_err(|error| match error {
            JsonError::Syntax(error) if !error.is_data() => {
                anyhow!("it is not JSON (line {}, column {})", error.line(), error.column())
            }
            error => error.into(),
        })
        .with_context(|| format!("{} is not a certificate", path.display()))
}
