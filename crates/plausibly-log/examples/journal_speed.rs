//! Measures the speed of a journal: `cargo run --release -p plausibly-log --example journal_speed
//! -- FOLDER [LINES]`.
//!
//! Writes a log with lines of about 350 bytes into the folder, reads it with all checks, and
//! appends to it with a sync for each line. Choose a folder on the disk to be measured.
#![expect(clippy::print_stdout, reason = "figures are what it is for")]

use plausibly_log::journal::{Checkpoint, FileStorage, Journal, JournalError, read};
use std::error::Error;
use std::path::PathBuf;
use std::time::Instant;

const BATCH: usize = 10_000;
const SYNCED: u32 = 200;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args_os().skip(1);
    let folder = arguments.next().ok_or("usage: journal_speed FOLDER [LINES]")?;
    let lines =
        arguments.next().map_or(Ok(2_000_000), |text| text.to_string_lossy().parse::<usize>())?;
    let path = PathBuf::from(folder).join("journal_speed.ndjson");
    if path.exists() {
        return Err(format!("{} is in the way", path.display()).into());
    }

    let begun = Instant::now();
    let mut journal = Journal::open(FileStorage::new(&path))?;
    for batch in 0..lines.div_ceil(BATCH) {
        let numbers = batch * BATCH..lines.min((batch + 1) * BATCH);
        let body =
            |number| format!(r#"{{"kind":"decided","id":"{number:08}","chosen":3,"p":[0.25]}}"#);
        let bodies: Vec<String> = numbers.map(body).collect();
        let bodies: Vec<&str> = bodies.iter().map(String::as_str).collect();
        journal.append(1_794_000_000_000_000, &bodies)?;
    }
    let (last, elapsed) = (journal.last(), begun.elapsed().as_secs_f64());
    let megabytes = last.offset as f64 / 1e6;
    println!("wrote {} lines, {megabytes:.0} MB, {BATCH} a sync, in {elapsed:.2} s", last.seq);

    for _ in 0..3 {
        let begun = Instant::now();
        let mut bytes = 0;
        let end = read(&FileStorage::new(&path), &Checkpoint::START, |entry| {
            bytes += entry.body.len();
            Ok::<(), JournalError>(())
        })?;
        let elapsed = begun.elapsed().as_secs_f64();
        println!(
            "read {} lines, all checks, in {elapsed:.2} s: {:.0} MB/s",
            end.last.seq,
            megabytes / elapsed
        );
    }

    let begun = Instant::now();
    for _ in 0..SYNCED {
        journal.append(1_794_000_000_000_000, &[r#"{"kind":"reward","value":0.5}"#])?;
    }
    println!(
        "append with its sync: {:.2} ms",
        begun.elapsed().as_secs_f64() * 1e3 / f64::from(SYNCED)
    );
    std::fs::remove_file(path)?;
    Ok(())
}
