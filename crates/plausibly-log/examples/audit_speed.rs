//! Measures an audit beside the decisions that it derives again.
//!
//! `cargo run --release -p plausibly-log --example audit_speed -- FOLDER [DECISIONS]`
//!
//! Decides among 50 actions with 32 features, each decision with the outcome of the one before it,
//! in batches of 100. Then audits the log.
#![expect(clippy::print_stdout, reason = "figures are shown")]

#[path = "speed/workload.rs"]
mod workload;

use plausibly_log::journal::{FileStorage, Storage};
use plausibly_log::recipe::Context;
use plausibly_log::{Among, Asked, Log, Request, Reward, audit};
use std::error::Error;
use std::path::PathBuf;
use std::time::Instant;
use workload::{Nowhere, log, table};

/// Decisions in one write.
const BATCH: u64 = 100;

fn main() -> Result<(), Box<dyn Error>> {
    let mut args = std::env::args().skip(1);
    let folder = PathBuf::from(args.next().ok_or("say a folder")?);
    let decisions: u64 = args.next().map_or(Ok(20_000), |text| text.parse())?;
    let path = folder.join("audit.log");
    let table = table((32, 50))?;
    // The same decisions without a disk: what a sync costs depends on the disk.
    let in_memory = decided(&mut log(Nowhere::default(), &table)?, &table, decisions)?;
    let on_disk = decided(&mut log(FileStorage::new(&path), &table)?, &table, decisions)?;
    println!(
        "{decisions} decisions with outcomes: {in_memory:.1} s in memory, {on_disk:.1} s on disk"
    );
    let begun = Instant::now();
    let found = audit(&FileStorage::new(&path))?;
    let seconds = begun.elapsed().as_secs_f64();
    println!(
        "audited {} lines in {seconds:.1} s, {:.2} times as long as deciding in memory",
        found.lines,
        seconds / in_memory
    );
    Ok(())
}

/// Takes decisions with outcomes, and returns the seconds that took.
fn decided<S: Storage>(
    log: &mut Log<S>,
    table: &plausibly_log::table::Table,
    decisions: u64,
) -> Result<f64, Box<dyn Error>> {
    let none = Context::default();
    let asked = Asked { among: Among::Table(table), context: &none, key: None, certificate: None };
    let begun = Instant::now();
    let mut taken = 0;
    while taken < decisions {
        let first = log.state().map_or(0, |state| state.count_decisions()) + 1;
        let count = BATCH.min(decisions - taken);
        let requests: Vec<Request<'_>> = (first..first + count)
            .flat_map(|decision| {
                let reward = Reward::from((decision % 7) as f64 / 7.0);
                [Request::Decide(asked), Request::Reward { decision, reward }]
            })
            .collect();
        for answer in log.batch(2, &requests)? {
            answer?;
        }
        taken += count;
    }
    Ok(begun.elapsed().as_secs_f64())
}
