//! Measures a long log of 50 actions with 32 features: deciding it in batches, reading and auditing
//! it, opening it from its snapshot, and the certificates of random decisions.
//!
//! `cargo run --release -p plausibly-log --example log_scale -- FOLDER [DECISIONS]`
#![expect(clippy::print_stdout, reason = "figures are shown")]

#[path = "speed/workload.rs"]
#[expect(dead_code, reason = "other examples use the rest")]
mod workload;

use plausibly::Stream;
use plausibly_log::event::Event;
use plausibly_log::journal::FileStorage;
use plausibly_log::recipe::{Context, Recipe};
use plausibly_log::{
    Among, Asked, Log, Opening, Request, audit, certificate_near, certify, fold, keep_milestones,
};
use std::collections::BTreeMap;
use std::error::Error;
use std::path::{Path, PathBuf};
use std::time::Instant;
use workload::table;

type Outcome<T> = Result<T, Box<dyn Error>>;

/// Decisions in a batch, with as many outcomes of earlier ones.
const BATCH: u64 = 100;
/// Random decisions whose certificates are compared.
const CERTIFICATES: usize = 1_000;
/// The number of actions that a certificate lists at most.
const MOST: usize = 50;

fn main() -> Outcome<()> {
    let mut args = std::env::args().skip(1);
    let folder = PathBuf::from(args.next().ok_or("say a folder")?);
    let decisions: u64 = args.next().map_or(Ok(1_000_000), |text| text.parse())?;
    let path = folder.join("scale.log");
    let mut deciding = None;
    if !path.exists() {
        deciding = Some(timed("decided", || decide(&path, decisions))?.0);
    }
    println!("{} MB", std::fs::metadata(&path)?.len() / 1_000_000);
    let (reading, _) =
        timed("read from the first line", || Ok(Log::open(FileStorage::new(&path))?))?;
    let auditing = timed("audited", || Ok(audit(&FileStorage::new(&path))?))?.0;
    if let Some(deciding) = deciding {
        println!("  {:.2} times as long as deciding", auditing / deciding);
    }
    let mut storage = FileStorage::new(&path);
    let kept = timed("milestones made", || Ok(keep_milestones(&mut storage)?))?.1;
    println!("  {} milestones", kept.milestones);
    timed("milestones brought up to date", || Ok(keep_milestones(&mut storage)?))?;
    let (opening, _) = timed("opened from the snapshot", || {
        Ok(Log::open_from_snapshot(FileStorage::new(&path))?)
    })?;
    println!("  {:.0} times as fast as reading", reading / opening);
    certificates(&path, decisions, reading)
}

/// Takes decisions in batches; outcomes come some batches later.
fn decide(path: &Path, decisions: u64) -> Outcome<()> {
    let (table, none) = (table((32, 50))?, Context::default());
    let mut log = Log::open(FileStorage::new(path))?;
    log.begin(1, Opening::new(Recipe::infer(&table, &none)?, (0.0, 1.0), 1))?;
    let mut rng = Stream::new(2, 0, "outcomes");
    let among = Among::Table(&table);
    let asked = Asked::among(among, &none);
    let (mut taken, mut settled) = (0, 0);
    while settled < decisions {
        let mut requests = Vec::new();
        let until = settled + BATCH;
        while settled < until.min(taken) {
            settled += 1;
            let reward = rng.uniform().into();
            requests.push(Request::Reward { decision: settled, reward, by: None });
        }
        let until = (taken + BATCH).min(decisions);
        requests.extend((taken..until).map(|_| Request::Decide(asked)));
        for answer in log.batch(i64::try_from(taken)?, &requests)? {
            answer?;
        }
        taken = until;
    }
    Ok(())
}

/// Compares certificates made near milestones with those of one reading from the first line.
fn certificates(path: &Path, decisions: u64, reading: f64) -> Outcome<()> {
    let storage = FileStorage::new(path);
    let mut rng = Stream::new(4, 0, "certificates");
    let mut whole = BTreeMap::new();
    while whole.len() < CERTIFICATES.min(usize::try_from(decisions)?) {
        whole.insert(1 + rng.below(decisions), String::new());
    }
    fold(&storage, |step| {
        if let Event::Decided { decision, set, context, .. } = step.event
            && let Some(made) = whole.get_mut(decision)
        {
            *made = certify(step.state, &step.occasion(*set, context), MOST)?.to_json();
        }
        Ok(())
    })?;
    let (mut longest, mut sum, mut same) = (0.0_f64, 0.0, 0);
    for (decision, made) in &whole {
        let begun = Instant::now();
        let (near, _) = certificate_near(&storage, *decision, MOST)?;
        let taken = begun.elapsed().as_secs_f64();
        (longest, sum) = (longest.max(taken), sum + taken);
        same += usize::from(near.to_json() == *made);
    }
    let average = sum / whole.len() as f64;
    println!(
        "certificates near milestones: {same} of {} equal; {:.1} ms on average, {:.1} at most; \
         reading takes {:.0} times the average, {:.0} times the longest",
        whole.len(),
        1e3 * average,
        1e3 * longest,
        reading / average,
        reading / longest
    );
    Ok(())
}

fn timed<T>(what: &str, work: impl FnOnce() -> Outcome<T>) -> Outcome<(f64, T)> {
    let begun = Instant::now();
    let made = work()?;
    let taken = begun.elapsed().as_secs_f64();
    println!("{what}: {taken:.3} s");
    Ok((taken, made))
}
