//! The work a durable service cannot do without: append lines to a file, and sync them.

use super::Histogram;
use super::open::Schedule;
use super::tally::figures;
use serde_json::Value;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::Path;
use std::time::{Duration, Instant};

/// What a bare loop did.
#[derive(Clone, Debug, Default)]
pub struct Bare {
    /// From the beginning to the last sync.
    pub lasted: Duration,
    /// The number of syncs.
    pub syncs: u64,
    /// One latency per line.
    pub latencies: Histogram,
}

impl Bare {
    /// Everything as JSON; latencies in milliseconds.
    pub fn to_json(&self) -> Value {
        let mut json = figures(&self.latencies, self.lasted);
        json["seconds"] = self.lasted.as_secs_f64().into();
        json["syncs"] = self.syncs.into();
        json
    }
}

/// Appends lines of this many bytes one after the other, each with its own sync.
///
/// # Errors
/// Whatever the disk reports.
pub fn append_in_turn(path: &Path, bytes: usize, time: Duration) -> io::Result<Bare> {
    let (mut file, line) = (create(path)?, line(bytes));
    let (mut bare, begun) = (Bare::default(), Instant::now());
    while bare.lasted < time {
        let since = Instant::now();
        append(&mut file, &line)?;
        bare.syncs += 1;
        bare.latencies.record(since.elapsed());
        bare.lasted = begun.elapsed();
    }
    Ok(bare)
}

/// Appends lines that are due at a fixed rate, all that are due with one sync, as a service does
/// that shares syncs. Latencies count from the time a line was due.
///
/// # Errors
/// Whatever the disk reports.
pub fn append_at_rate(path: &Path, bytes: usize, rate: f64, time: Duration) -> io::Result<Bare> {
    let (mut file, line) = (create(path)?, line(bytes));
    let begun = Instant::now();
    let (mut bare, mut schedule) = (Bare::default(), Schedule::new(begun, rate, time));
    let (mut due, mut lines) = (Vec::new(), Vec::new());
    while let Some(next) = schedule.upcoming() {
        std::thread::sleep(next.saturating_duration_since(Instant::now()));
        let now = Instant::now();
        while let Some(one) = schedule.due(now) {
            schedule.next += 1;
            due.push(one);
            lines.extend_from_slice(&line);
        }
        append(&mut file, &lines)?;
        lines.clear();
        bare.syncs += 1;
        for since in due.drain(..) {
            bare.latencies.record(since.elapsed());
        }
        bare.lasted = begun.elapsed();
    }
    Ok(bare)
}

/// Runs this many loops of [`append_in_turn`] at once, on files of their own.
///
/// # Errors
/// Whatever the disk reports.
pub fn append_side_by_side(
    folder: &Path,
    files: usize,
    bytes: usize,
    time: Duration,
) -> io::Result<Bare> {
    let loops: Vec<io::Result<Bare>> = std::thread::scope(|scope| {
        let begin = |index| {
            let path = folder.join(format!("bare-{index}"));
            scope.spawn(move || append_in_turn(&path, bytes, time))
        };
        let loops: Vec<_> = (0..files).map(begin).collect();
        let ended = |one: std::thread::ScopedJoinHandle<'_, io::Result<Bare>>| {
            one.join().unwrap_or_else(|_| Err(io::Error::other("a loop panicked")))
        };
        loops.into_iter().map(ended).collect()
    });
    let mut sum = Bare::default();
    for one in loops {
        let one = one?;
        sum.syncs += one.syncs;
        sum.lasted = sum.lasted.max(one.lasted);
        sum.latencies.merge(&one.latencies);
    }
    Ok(sum)
}

/// An empty file, whose name is on the disk.
fn create(path: &Path) -> io::Result<File> {
    let file = OpenOptions::new().append(true).create_new(true).open(path)?;
    file.sync_all()?;
    Ok(file)
}

/// As a log does it: one write, and a sync of the data with its length.
fn append(file: &mut File, lines: &[u8]) -> io::Result<()> {
    file.write_all(lines)?;
    file.sync_data()
}

fn line(bytes: usize) -> Vec<u8> {
    let mut line = vec![b'x'; bytes.max(1)];
    line[bytes.max(1) - 1] = b'\n';
    line
}
