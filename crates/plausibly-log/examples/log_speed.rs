//! Measures how long it takes to open a log of a million decisions, and to take the next decision.
//!
//! `cargo run --release -p plausibly-log --example log_speed -- FOLDER [DECISIONS]`
#![expect(clippy::print_stdout, reason = "figures are shown")]

use plausibly::Stream;
use plausibly_log::event::{Event, FORMAT, Outcomes, RecordedForecasts};
use plausibly_log::journal::{FileStorage, Journal};
use plausibly_log::recipe::{Context, Recipe};
use plausibly_log::table::Table;
use plausibly_log::{Log, LogError};
use std::error::Error;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Lines in one write.
const BATCH: usize = 20_000;
const ROWS: u64 = 50;
const COLUMNS: usize = 15;

fn main() -> Result<(), Box<dyn Error>> {
    let mut args = std::env::args().skip(1);
    let folder = PathBuf::from(args.next().ok_or("say a folder")?);
    let decisions: u64 = args.next().map_or(Ok(1_000_000), |text| text.parse())?;
    let path = folder.join("speed.log");
    let table = table()?;
    if !path.exists() {
        let begun = Instant::now();
        write(&path, &table, decisions)?;
        println!(
            "wrote {decisions} decisions with their rewards in {:.1} s",
            begun.elapsed().as_secs_f64()
        );
    }
    println!("{} MB", std::fs::metadata(&path)?.len() / 1_000_000);
    for _ in 0..3 {
        timed(&path, &table)?;
    }
    Ok(())
}

/// Opens the log and takes a decision.
fn timed(path: &Path, table: &Table) -> Result<(), Box<dyn Error>> {
    let begun = Instant::now();
    let mut log = Log::open(FileStorage::new(path))?;
    let opened = begun.elapsed();
    let begun = Instant::now();
    let certificate = log.decide(i64::MAX / 40_000, table, &Context::default(), 200)?;
    println!(
        "opened in {:.2} s; decision {} took {:.2} ms",
        opened.as_secs_f64(),
        certificate.grounds.decision,
        1000.0 * begun.elapsed().as_secs_f64()
    );
    Ok(())
}

fn table() -> Result<Table, Box<dyn Error>> {
    let mut text = String::from("name");
    for column in 0..COLUMNS {
        write!(text, ",x{column}")?;
    }
    let mut rng = Stream::new(1, 0, "table");
    for row in 0..ROWS {
        write!(text, "\naction {row}")?;
        for _ in 0..COLUMNS {
            write!(text, ",{:.3}", rng.normal())?;
        }
    }
    Ok(Table::read(text.as_bytes())?)
}

fn write(path: &PathBuf, table: &Table, decisions: u64) -> Result<(), Box<dyn Error>> {
    let recipe = Recipe::infer(table, &Context::default())?;
    let policy = serde_json::json!({ "kind": "code" }).as_object().cloned().unwrap_or_default();
    let mut events = vec![Event::Opened {
        format: FORMAT,
        policy,
        reward_range: (0.0, 1.0),
        horizon: None,
        seed: 1,
        outcomes: Outcomes::Number,
        assumed: Vec::new(),
        upgraded: None,
        growth: None,
        window: None,
        recipe: recipe.clone(),
    }];
    for (action, row) in (0..).zip(table.rows()) {
        let cells = recipe.cells(row)?;
        events.push(Event::ActionAdded { action, label: row.label().into(), cells });
    }
    events.push(Event::SetOffered { set: 0, actions: (0..ROWS).collect() });
    let mut journal = Journal::open(FileStorage::new(path))?;
    let mut rng = Stream::new(1, 0, "history");
    for decision in 1..=decisions {
        let chosen = rng.below(ROWS);
        let label = format!("action {chosen}");
        events.push(Event::Decided {
            decision,
            set: 0,
            context: Context::default(),
            chosen,
            label,
            key: None,
            request: None,
            by: None,
            rows: None,
            forecasts: Some(RecordedForecasts { steps: [0; 3], counts: 0 }),
        });
        events.push(Event::Rewarded {
            decision,
            reward: rng.uniform(),
            of: None,
            at_deadline: false,
            by: None,
        });
        if events.len() >= BATCH || decision == decisions {
            append(&mut journal, i64::try_from(decision)?, &events)?;
            events.clear();
        }
    }
    Ok(())
}

fn append(
    journal: &mut Journal<FileStorage>,
    at_us: i64,
    events: &[Event],
) -> Result<(), Box<dyn Error>> {
    let bodies = events.iter().map(serde_json::to_string).collect::<Result<Vec<_>, _>>()?;
    let bodies: Vec<&str> = bodies.iter().map(String::as_str).collect();
    journal.append(at_us, &bodies).map_err(LogError::from)?;
    Ok(())
}
