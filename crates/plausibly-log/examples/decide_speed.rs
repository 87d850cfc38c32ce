//! Measures decisions and rewards of a log beside the work they cannot do without, interleaved in
//! one run. Every decision measured is pending when the next one is taken.
//!
//! `cargo run --release -p plausibly-log --example decide_speed -- [--beside PROGRAM] [FOLDER]`
//!
//! `PROGRAM` is `decide_turns` of another version. `FOLDER` is where syncs are measured; a
//! temporary folder unless given.
#![expect(clippy::print_stdout, reason = "figures are shown")]

#[path = "speed/workload.rs"]
mod workload;

use plausibly::{ActionSet, Ledger, Observation, Ridge, Scores, Stream, score_by_design};
use plausibly_log::journal::{FileStorage, Journal};
use plausibly_log::recipe::Context;
use plausibly_log::table::Table;
use plausibly_log::{Among, Asked, Request};
use std::error::Error;
use std::hint::black_box;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};
use workload::{Nowhere, Size, log, table};

type Outcome<T> = Result<T, Box<dyn Error>>;

/// The sizes measured.
const SIZES: [Size; 4] = [(32, 50), (32, 1_000), (64, 50), (0, 50)];
/// The number of turns; each time is the smallest of them.
const TURNS: u64 = 300;
/// The number of decisions that share a sync.
const BATCH: u64 = 100;

fn main() -> Outcome<()> {
    let (mut beside, mut folder) = (None, None);
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--beside" => beside = Some(args.next().ok_or("--beside needs a program")?),
            _ => folder = Some(PathBuf::from(arg)),
        }
    }
    println!("Smallest times in microseconds of {TURNS} interleaved turns.\n");
    println!(
        "{:>4} {:>6} {:>8} {:>8} {:>8} {:>10} {:>8} {:>10}",
        "d", "K", "floor", "lean", "/ floor", "with cert", "reward", "beside"
    );
    for size in SIZES {
        let rival = beside.as_deref().map(|program| Rival::start(program, size)).transpose()?;
        in_memory(size, rival)?;
    }
    let temporary = tempfile::tempdir()?;
    let folder = folder.unwrap_or_else(|| temporary.path().to_owned());
    println!("\nWith a sync, {BATCH} decisions in a batch, microseconds per decision:");
    on_disk(SIZES[0], &folder)
}

/// Measures without a disk.
fn in_memory(size: Size, mut rival: Option<Rival>) -> Outcome<()> {
    let table = table(size)?;
    let none = Context::default();
    let mut floor = Floor::new(size)?;
    let (mut lean, mut dressed) =
        (log(Nowhere::default(), &table)?, log(Nowhere::default(), &table)?);
    let mut rewarded = log(Nowhere::default(), &table)?;
    let mut smallest = [Duration::MAX; 5];
    for turn in 0..TURNS {
        let mut best = |which: usize, taken: Duration| {
            smallest[which] = smallest[which].min(taken);
        };
        best(0, timed(|| floor.work())?);
        best(1, timed(|| Ok(lean.take(2, &asked(&table, &none, None))?))?);
        let certificate = || -> Outcome<String> {
            let taken = dressed.take(2, &asked(&table, &none, Some(size.1)))?;
            Ok(taken.certificate.map_or_else(String::new, |certificate| certificate.to_json()))
        };
        best(2, timed(certificate)?);
        let taken = rewarded.take(2, &asked(&table, &none, None))?;
        let reward = (turn % 7) as f64 / 7.0;
        best(3, timed(|| Ok(rewarded.reward(2, taken.decision, reward)?))?);
        if let Some(rival) = &mut rival {
            best(4, rival.turn()?);
        }
    }
    let [floor, lean, dressed, reward, beside] = smallest.map(micros);
    let ratio = lean / floor;
    let beside = if rival.is_some() {
        format!("{beside:.1} ({:.0} times the lean)", beside / lean)
    } else {
        "not run".into()
    };
    println!(
        "{:>4} {:>6} {floor:>8.1} {lean:>8.1} {ratio:>8.2} {dressed:>10.1} {reward:>8.1} \
         {beside:>10}",
        size.0, size.1
    );
    Ok(())
}

/// Measures batches on a disk, beside a bare append with its sync.
fn on_disk(size: Size, folder: &Path) -> Outcome<()> {
    let table = table(size)?;
    let none = Context::default();
    let mut lean = log(Nowhere::default(), &table)?;
    let mut batched = log(FileStorage::new(folder.join("batched.log")), &table)?;
    let mut bare = Journal::open(FileStorage::new(folder.join("bare.log")))?;
    let request = Request::Decide(asked(&table, &none, None));
    let requests = vec![request; usize::try_from(BATCH)?];
    let line = format!("{{\"decided\":\"{}\"}}", "x".repeat(120));
    let mut smallest = [Duration::MAX; 3];
    for _ in 0..TURNS / 3 {
        let mut best = |which: usize, taken: Duration| {
            smallest[which] = smallest[which].min(taken);
        };
        best(0, timed(|| Ok(lean.take(2, &asked(&table, &none, None))?))?);
        best(1, timed(|| Ok(batched.batch(2, &requests)?))?);
        best(2, timed(|| Ok(bare.append(2, &[&line])?))?);
    }
    let [lean, batched, bare] = smallest.map(micros);
    let (each, sum) = (batched / BATCH as f64, lean + bare / BATCH as f64);
    println!(
        "batched {each:.1}; lean decision {lean:.1} + a hundredth of append and sync {bare:.1}: \
         {:.2} times",
        each / sum
    );
    Ok(())
}

fn asked<'a>(table: &'a Table, context: &'a Context, certificate: Option<usize>) -> Asked<'a> {
    Asked { certificate, ..Asked::among(Among::Table(table), context) }
}

fn timed<T>(work: impl FnOnce() -> Outcome<T>) -> Outcome<Duration> {
    let begun = Instant::now();
    black_box(work()?);
    Ok(begun.elapsed())
}

fn micros(time: Duration) -> f64 {
    1e6 * time.as_secs_f64()
}

/// What a decision cannot do without: from exact sums to a factor to scores, once for settled
/// decisions and once with pending ones.
struct Floor {
    sums: Sums,
    set: ActionSet,
    scores: Scores,
}

enum Sums {
    Ridge(Box<Ledger>),
    Arms(Vec<u64>, Vec<f64>),
}

impl Floor {
    fn new((dim, actions): Size) -> Outcome<Self> {
        let mut rng = Stream::new(3, 0, "floor");
        if dim == 0 {
            let paid = (0..actions).map(|_| rng.uniform()).collect();
            let (sums, set) = (Sums::Arms(vec![4; actions], paid), ActionSet::arms(actions)?);
            return Ok(Self { sums, set, scores: Scores::new() });
        }
        let rows: Vec<f64> = (0..dim * actions).map(|_| rng.uniform()).collect();
        let mut ledger = Ledger::new(dim)?;
        for row in rows.chunks_exact(dim) {
            ledger.add(&Observation::new(row, rng.uniform())?)?;
        }
        let (sums, set) = (Sums::Ridge(Box::new(ledger)), ActionSet::from_flat(rows, dim)?);
        Ok(Self { sums, set, scores: Scores::new() })
    }

    fn work(&mut self) -> Outcome<()> {
        let Self { sums, set, scores } = self;
        for _ in 0..2 {
            match sums {
                Sums::Ridge(ledger) => {
                    let model: Ridge = ledger.ridge(1.0)?;
                    score_by_design(&model, set.view(), scores);
                }
                Sums::Arms(plays, paid) => {
                    let model = plausibly::ArmMeans::from_statistics(plays, paid);
                    score_by_design(&model, set.view(), scores);
                }
            }
            black_box(&*scores);
        }
        Ok(())
    }
}

/// Another version of the library in a process of its own.
struct Rival {
    child: Child,
    to: ChildStdin,
    from: BufReader<ChildStdout>,
}

impl Rival {
    fn start(program: &str, (dim, actions): Size) -> Outcome<Self> {
        let mut command = Command::new(program);
        command.args([dim.to_string(), actions.to_string()]);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let (to, from) = (child.stdin.take(), child.stdout.take());
        let (to, from) = to.zip(from).ok_or("no pipes")?;
        Ok(Self { child, to, from: BufReader::new(from) })
    }

    fn turn(&mut self) -> Outcome<Duration> {
        writeln!(self.to)?;
        self.to.flush()?;
        let mut line = String::new();
        self.from.read_line(&mut line)?;
        Ok(Duration::from_nanos(line.trim().parse()?))
    }
}

impl Drop for Rival {
    fn drop(&mut self) {
        // The process may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
