//! Measures the memory of a log with many decisions, each in a context of four keys that no other
//! decision has: all pending, all settled, or all settled and each with a key.
//!
//! `cargo run --release -p plausibly-log --example log_memory -- pending|settled|keyed [DECISIONS]`
//!
//! Reads the resident memory from `/proc`, so it needs Linux.
#![expect(clippy::print_stdout, reason = "figures are shown")]

#[path = "speed/workload.rs"]
#[expect(dead_code, reason = "other examples use the rest")]
mod workload;

use plausibly_log::recipe::{Context, Recipe};
use plausibly_log::table::Table;
use plausibly_log::{Among, Asked, Log, Opening, Request};
use std::error::Error;
use workload::Nowhere;

fn main() -> Result<(), Box<dyn Error>> {
    let mut args = std::env::args().skip(1);
    let (settles, keyed) = match args.next().as_deref() {
        Some("pending") => (false, false),
        Some("settled") => (true, false),
        Some("keyed") => (true, true),
        _ => return Err("say pending, settled or keyed".into()),
    };
    let decisions: u64 = args.next().map_or(Ok(1_000_000), |text| text.parse())?;
    let table = Table::read(b"name,size\nsmall,1\nlarge,2\n".as_slice())?;
    let mut log = Log::open(Nowhere::default())?;
    let recipe = Recipe::infer(&table, &context(999_999)?)?;
    log.begin(1, Opening::new(recipe, (0.0, 1.0), 1))?;
    for decision in 1..=decisions {
        let (context, among) = (context(decision)?, Among::Table(&table));
        let key = format!("a request with a name of some length {decision}");
        let key = keyed.then_some(key.as_str());
        let asked = Asked { key, ..Asked::among(among, &context) };
        let mut requests = vec![Request::Decide(asked)];
        if settles {
            requests.push(Request::Reward { decision, reward: 0.5.into(), by: None });
        }
        for answer in log.batch(1, &requests)? {
            answer?;
        }
    }
    let state = log.state().ok_or("no state")?;
    println!(
        "{} decisions, {} pending: {} MiB resident, {} at most",
        state.count_decisions(),
        state.count_pending(),
        resident("VmRSS:")? / 1024,
        resident("VmHWM:")? / 1024
    );
    Ok(())
}

fn context(decision: u64) -> Result<Context, Box<dyn Error>> {
    let (hour, minute) = (decision % 24, decision % 60);
    let visitor = format!("visitor={decision}");
    let pairs = [format!("hour={hour}"), format!("minute={minute}"), "weight=70.5".into(), visitor];
    Ok(Context::parse(pairs)?)
}

/// A figure of this process, in KiB.
fn resident(name: &str) -> Result<u64, Box<dyn Error>> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix(name)).ok_or("no such figure")?;
    Ok(line.trim().trim_end_matches(" kB").parse()?)
}
