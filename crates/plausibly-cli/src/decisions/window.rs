//! Windows: how they are given, and settling what is due. Also `plausibly pause` and `plausibly
//! resume`.

use super::args::{Pause, WindowArgs};
use super::recording::Recording;
use super::{must_exist, time_to_record};
use crate::output;
use anyhow::Result;
use plausibly_log::event::{Unreported, Window};
use plausibly_log::journal::FileStorage;
use plausibly_log::{Log, Recorded};

impl WindowArgs {
    /// The window that was asked for.
    pub(super) fn window(&self) -> Option<Window> {
        let unreported = self.default.map_or(Unreported::Drop, Unreported::Reward);
        self.window.map(|seconds| Window { seconds, unreported })
    }
}

/// Parses a span such as `7d`, `12h`, `30min` or `90s`, in seconds.
pub(super) fn span(text: &str) -> Result<u64, String> {
    let usage = "must be a whole number of days, hours, minutes or seconds: 7d, 12h, 30min or 90s";
    let text = text.trim();
    let digits = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let (count, unit) = text.split_at(digits);
    let size: u64 = match unit.trim() {
        "d" => 86_400,
        "h" => 3_600,
        "min" => 60,
        "s" => 1,
        _ => return Err(usage.into()),
    };
    let count: u64 = count.parse().map_err(|_unusable| usage)?;
    count.checked_mul(size).filter(|seconds| *seconds > 0).ok_or_else(|| usage.into())
}

/// Settles the decisions of a log whose deadlines have passed, and says so.
pub(super) fn settle(log: &mut Log<FileStorage>, at: i64) -> Result<()> {
    if log.state().is_none_or(|state| state.window().is_none()) {
        return Ok(());
    }
    let settled = log.settle_due(at)?;
    if settled > 0 {
        let decisions = output::plural(settled, "decision was", "decisions were");
        output::note(&format!("note: {decisions} settled, because the deadline has passed"));
    }
    Ok(())
}

pub(crate) fn pause(args: &Pause, pause: bool) -> Result<()> {
    let at = time_to_record(args.time.at, args.force)?;
    must_exist(&args.log.path)?;
    let recording = Recording::new(&args.log.path, &args.wait)?;
    let mut log = recording.open()?;
    recording.begin_write()?;
    let by = args.by.as_deref();
    let recorded = if pause { log.pause(at, by)? } else { log.resume(at, by)? };
    drop(log);
    let text = match (pause, recorded) {
        (true, Recorded::Before) => "paused already; nothing was written",
        (true, _) => "paused: outcomes are still taken, and no decisions until `plausibly resume`",
        (false, Recorded::Before) => "not paused; nothing was written",
        (false, _) => "resumed: the log takes decisions again",
    };
    recording.answer(&format!("\"{text}\" is recorded"), &format!("{text}\n"), false)
}
