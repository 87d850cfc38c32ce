//! Loads a decision service on this machine, and measures what it cannot be faster than.
//!
//! Prints a line for people on the standard error, and one line of JSON.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "figures are shown")]

#[path = "../../../plausibly-log/examples/speed/workload.rs"]
mod workload;

use clap::{Parser, Subcommand, ValueEnum};
use plausibly_bench::load::{
    ACTIONS, Bare, Closed, DIM, Full, Limit, Mode, Open, Requests, Tally, Target, append_at_rate,
    append_in_turn, append_side_by_side, drive, flood, names, prepare, prepare_rival,
};
use plausibly_log::recipe::Context;
use plausibly_log::{Among, Asked};
use serde_json::{Value, json};
use std::error::Error;
use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};
use workload::Nowhere;

type Outcome<T> = Result<T, Box<dyn Error>>;

/// Loads a decision service on this machine, and measures what it cannot be faster than.
#[derive(Parser)]
struct Args {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Sends the next request of each connection when its last one is answered
    Closed {
        #[command(flatten)]
        service: Service,
        #[arg(long, value_enum, default_value_t = What::Decide)]
        mode: What,
        /// The page of mode `constant`
        #[arg(long, default_value = "/healthz")]
        path: String,
        /// Ends after this number of requests instead of a time
        #[arg(long)]
        count: Option<u64>,
    },
    /// Starts requests at fixed times, and counts latencies from these times
    Open {
        #[command(flatten)]
        service: Service,
        /// Decisions per second
        #[arg(long, default_value_t = 3_000.0)]
        decisions: f64,
        /// Rewards per second
        #[arg(long, default_value_t = 3_000.0)]
        rewards: f64,
        /// Sends no request that finds every connection taken, and counts latencies from the
        /// sending: for more load than can be sent
        #[arg(long)]
        overload: bool,
    },
    /// Holds connections that sent half a request
    Flood {
        /// The service, as http://127.0.0.1:PORT
        url: String,
        #[arg(long, default_value_t = 5_000)]
        connections: usize,
        #[arg(long, default_value_t = 20.0)]
        seconds: f64,
        /// Make connections again that the service has ended, each after a second
        #[arg(long)]
        again: bool,
    },
    /// Appends lines to new files in a folder and syncs them
    Bare {
        folder: PathBuf,
        /// The length of a line
        #[arg(long, default_value_t = 420)]
        bytes: usize,
        #[arg(long, default_value_t = 2.0)]
        seconds: f64,
        /// Lines per second, all that are due with one sync; one line per sync unless given
        #[arg(long, conflicts_with = "files")]
        rate: Option<f64>,
        /// Loops at once, each on a file of its own
        #[arg(long, default_value_t = 1)]
        files: usize,
    },
    /// Takes decisions in this process without a disk, and shows the smallest time
    Lean {
        #[arg(long, default_value_t = 300)]
        turns: u32,
    },
}

#[derive(clap::Args)]
struct Service {
    /// The service, as http://127.0.0.1:PORT
    url: String,
    #[arg(long, default_value_t = 32)]
    connections: usize,
    #[arg(long, default_value_t = 5.0)]
    seconds: f64,
    /// Names of experiments begin with this; they are created unless they exist
    #[arg(long, default_value = "load")]
    prefix: String,
    /// Decisions take turns with this number of experiments
    #[arg(long, default_value_t = 1)]
    experiments: usize,
    /// The key that requests carry
    #[arg(long)]
    key: Option<String>,
    /// The service is a BanditDB 2.0.0
    #[arg(long, conflicts_with = "experiments")]
    rival: bool,
}

#[derive(Clone, Copy, PartialEq, ValueEnum)]
enum What {
    /// Decisions
    Decide,
    /// A decision, then its reward
    Pairs,
    /// A page that is always the same
    Constant,
}

fn main() -> ExitCode {
    match measured(Args::parse().task) {
        Ok(figures) => {
            eprintln!("{}", summary(&figures));
            println!("{figures}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("service_load: {error}");
            ExitCode::FAILURE
        }
    }
}

fn measured(task: Task) -> Outcome<Value> {
    Ok(match task {
        Task::Closed { service, mode, path, count } => closed(&service, mode, &path, count)?,
        Task::Open { service, decisions, rewards, overload } => {
            open(&service, (decisions, rewards), overload)?
        }
        Task::Flood { url, connections, seconds, again } => {
            more_files(connections)?;
            flood(&Target::parse(&url)?, connections, time(seconds)?, again)?.to_json()
        }
        Task::Bare { folder, bytes, seconds, rate, files } => {
            bare(&folder, bytes, time(seconds)?, rate, files)?.to_json()
        }
        Task::Lean { turns } => lean(turns)?,
    })
}

impl Service {
    fn target(&self) -> Outcome<Target> {
        more_files(self.connections)?;
        Ok(Target::parse(&self.url)?.with_key(self.key.clone()))
    }

    /// Requests about experiments, which exist from then on.
    fn requests(&self, target: &Target) -> Outcome<Requests> {
        if self.rival {
            prepare_rival(target, &self.prefix)?;
            return Ok(Requests::rival(target, &self.prefix));
        }
        let names = names(&self.prefix, self.experiments);
        prepare(target, &names)?;
        Ok(Requests::new(target, &names))
    }
}

fn closed(service: &Service, mode: What, path: &str, count: Option<u64>) -> Outcome<Value> {
    let target = service.target()?;
    let mode = match mode {
        What::Decide => Mode::Decide(service.requests(&target)?),
        What::Pairs => Mode::Pairs(service.requests(&target)?),
        What::Constant => Mode::page(&target, path),
    };
    let limit = count.map_or(Limit::Time(time(service.seconds)?), Limit::Count);
    let mut traffic = Closed::new(mode, service.connections, limit);
    Ok(Tally::to_json(&drive(&target, service.connections, &mut traffic)?))
}

fn open(service: &Service, rates: (f64, f64), overload: bool) -> Outcome<Value> {
    let rated = |rate: f64| (0.0..=1e6).contains(&rate);
    if !rated(rates.0) || !rated(rates.1) || rates.0 + rates.1 < 1.0 {
        return Err("rates are from 0 to 1,000,000 per second, and at least 1 together".into());
    }
    let target = service.target()?;
    let requests = service.requests(&target)?;
    let full = if overload { Full::Skip } else { Full::Wait };
    let mut traffic = Open::new(requests, rates, time(service.seconds)?, full);
    Ok(Tally::to_json(&drive(&target, service.connections, &mut traffic)?))
}

fn bare(
    folder: &Path,
    bytes: usize,
    time: Duration,
    rate: Option<f64>,
    files: usize,
) -> Outcome<Bare> {
    Ok(match rate {
        Some(rate) if (1.0..=1e6).contains(&rate) => {
            append_at_rate(&folder.join("bare-rate"), bytes, rate, time)?
        }
        Some(_) => return Err("a rate is from 1 to 1,000,000 lines per second".into()),
        None if files > 1 => append_side_by_side(folder, files, bytes, time)?,
        None => append_in_turn(&folder.join("bare"), bytes, time)?,
    })
}

/// Decisions of a log that is in memory, as the example `decide_speed` takes them.
fn lean(turns: u32) -> Outcome<Value> {
    let table = workload::table((DIM, ACTIONS))?;
    let mut log = workload::log(Nowhere::default(), &table)?;
    let context = Context::default();
    let asked = Asked::among(Among::Table(&table), &context);
    let mut smallest = Duration::MAX;
    for _ in 0..turns.max(1) {
        let begun = Instant::now();
        black_box(log.take(2, &asked)?);
        smallest = smallest.min(begun.elapsed());
    }
    Ok(json!({ "smallest_us": 1e6 * smallest.as_secs_f64(), "turns": turns.max(1) }))
}

/// Lets this process hold a socket for each connection.
fn more_files(connections: usize) -> Outcome<()> {
    let wanted = connections as u64 + 100;
    let got = rlimit::increase_nofile_limit(wanted)?;
    if got < wanted {
        return Err(format!(
            "{connections} connections need {wanted} open files, and the system allows {got}; \
             raise `ulimit -n`"
        )
        .into());
    }
    Ok(())
}

fn time(seconds: f64) -> Outcome<Duration> {
    if !(0.01..=600.0).contains(&seconds) {
        return Err(format!("{seconds} seconds: use 0.01 to 600").into());
    }
    Ok(Duration::from_secs_f64(seconds))
}

/// The figures in words.
fn summary(figures: &Value) -> String {
    let line = |name: &str, kind: &Value| {
        format!(
            "{name}: {} at {}/s, p50 {} ms, p99 {} ms, at most {} ms",
            kind["count"], kind["per_second"], kind["p50_ms"], kind["p99_ms"], kind["max_ms"]
        )
    };
    if let Some(kinds) = figures["kinds"].as_object() {
        let lines: Vec<String> = kinds.iter().map(|(name, kind)| line(name, kind)).collect();
        format!("{}; statuses {}; {}", lines.join("; "), figures["statuses"], figures["errors"])
    } else if figures["syncs"].is_u64() {
        format!("{}; {} syncs", line("lines", figures), figures["syncs"])
    } else {
        figures.to_string()
    }
}
