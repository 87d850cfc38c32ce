//! Measures how long it takes to replay a log, to make two certificates per decision, and to
//! explain a decision.
//!
//! `cargo run --release -p plausibly-log --example replay_speed -- FOLDER [DECISIONS [ROWS
//! [HOURS]]]`
//!
//! With HOURS, decisions alternate between that many contexts. A folder in memory (`/dev/shm`)
//! saves the time of writing to a disk.
#![expect(clippy::print_stdout, reason = "figures are shown")]

use plausibly::Stream;
use plausibly_log::certificate::Certificate;
use plausibly_log::event::Event;
use plausibly_log::journal::FileStorage;
use plausibly_log::recipe::{Context, Recipe};
use plausibly_log::table::Table;
use plausibly_log::{Log, Opening, certificate, fold, replay};
use std::error::Error;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// With the intercept, 22 features; with a context, half as many columns, each also by the hour.
const COLUMNS: usize = 21;
/// Makes certificates of this many decisions.
const CERTIFIED: u64 = 1_000;

fn main() -> Result<(), Box<dyn Error>> {
    let mut args = std::env::args().skip(1);
    let folder = PathBuf::from(args.next().ok_or("say a folder")?);
    let decisions: u64 = args.next().map_or(Ok(25_000), |text| text.parse())?;
    let rows: usize = args.next().map_or(Ok(12), |text| text.parse())?;
    let hours: u64 = args.next().map_or(Ok(0), |text| text.parse())?;
    let path = folder.join(format!("replay-{decisions}-{rows}-{hours}.log"));
    if !path.exists() {
        let columns = if hours > 0 { COLUMNS / 2 } else { COLUMNS };
        write(&path, &table(rows, columns)?, decisions, hours)?;
    }
    let storage = FileStorage::new(&path);
    let begun = Instant::now();
    let (state, _) = fold(&storage, |_| Ok(()))?;
    println!("read in {:.2} s", begun.elapsed().as_secs_f64());
    let own = state.ok_or("no state")?.policy().1.clone();

    let mut last = None;
    let begun = Instant::now();
    fold(&storage, |step| {
        if let Event::Decided { decision, set, context, .. } = step.event
            && *decision <= CERTIFIED
        {
            let occasion = step.occasion(*set, context);
            for _ in 0..2 {
                last = Some(Certificate::new(step.state.grounds(&occasion, None)?)?);
            }
        }
        Ok(())
    })?;
    let certified = begun.elapsed().as_secs_f64() / CERTIFIED.min(decisions) as f64;
    println!("two certificates: {:.1} µs per decision", 1e6 * certified);

    let mut other = own.clone();
    other.insert("greed".into(), 0.5.into());
    for (name, policy) in [("its own settings", &own), ("greed = 0.5", &other)] {
        let begun = Instant::now();
        let mut differing = 0;
        replay(&storage, policy, None, |replayed| differing += u64::from(replayed.differs()))?;
        let taken = begun.elapsed().as_secs_f64();
        let each = 1e6 * taken / decisions as f64;
        println!(
            "replay under {name}: {taken:.2} s, {each:.1} µs per decision; {differing} differ"
        );
    }
    for decision in [1, decisions / 2, decisions] {
        let begun = Instant::now();
        certificate(&storage, decision, 200)?;
        println!("explained decision {decision} in {:.2} s", begun.elapsed().as_secs_f64());
    }
    Ok(())
}

fn table(rows: usize, columns: usize) -> Result<Table, Box<dyn Error>> {
    let mut text = String::from("name");
    for column in 0..columns {
        write!(text, ",x{column}")?;
    }
    let mut rng = Stream::new(1, 0, "table");
    for row in 0..rows {
        write!(text, "\naction {row}")?;
        for _ in 0..columns {
            write!(text, ",{:.3}", rng.normal())?;
        }
    }
    Ok(Table::read(text.as_bytes())?)
}

/// Writes a log in which every choice follows from the lines before it.
fn write(path: &Path, table: &Table, decisions: u64, hours: u64) -> Result<(), Box<dyn Error>> {
    let context = |decision: u64| match hours {
        0 => Ok(Context::default()),
        _ => Context::parse([format!("hour={}", decision % hours)]),
    };
    let recipe = Recipe::infer(table, &context(1)?)?;
    let policy = serde_json::json!({ "kind": "code" }).as_object().cloned().unwrap_or_default();
    let mut log = Log::open(FileStorage::new(path))?;
    let opening = Opening { policy, ..Opening::new(recipe, (0.0, 1.0), 1) };
    log.begin(1, opening)?;
    let mut rng = Stream::new(1, 0, "history");
    for decision in 1..=decisions {
        log.decide(2, table, &context(decision)?, 1)?;
        log.reward(3, decision, rng.uniform())?;
    }
    Ok(())
}
