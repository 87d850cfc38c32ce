//! A real process that takes batches on a real disk, killed and traced.

use super::Draws;
use super::processes::{kill, say, traced};
use plausibly_log::event::Event;
use plausibly_log::journal::{Checkpoint, FileStorage, JournalError, LineHash, read};
use plausibly_log::recipe::{Context, Recipe};
use plausibly_log::table::Table;
use plausibly_log::{Among, Answer, Asked, Log, Opening, Request, Reward};
use std::collections::BTreeMap;
use std::env;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

const LOG: &str = "PLAUSIBLY_LOG_TEST_BATCHED";
/// The name of the writer, in the keys of its decisions.
const RUN: &str = "PLAUSIBLY_LOG_TEST_RUN";
const BATCHES: &str = "PLAUSIBLY_LOG_TEST_BATCHES";

/// This program, as a process that takes batches.
fn batcher(log: &Path, run: usize, batches: usize) -> Command {
    let mut command = Command::new(env::current_exe().unwrap());
    command.args(["--exact", "journal::batching::be_a_batcher", "--nocapture"]);
    command.env(LOG, log).env(RUN, run.to_string()).env(BATCHES, batches.to_string());
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    command
}

/// The number of decisions in a batch: some batches are longer than a page.
fn size(batch: usize) -> usize {
    1 + 37 * batch % 60
}

fn key(run: usize, number: usize) -> String {
    format!("{run} {number}")
}

/// Not a test unless its environment is set: takes batches, each of decisions with their rewards,
/// and reports what was answered.
#[test]
fn be_a_batcher() {
    let Some(path) = env::var_os(LOG) else { return };
    let number = |name| env::var_os(name).unwrap().to_str().unwrap().parse::<usize>().unwrap();
    let (run, batches) = (number(RUN), number(BATCHES));
    let table = Table::read(&b"name\na\nb\nc\n"[..]).unwrap().with_label(Some("name")).unwrap();
    let none = Context::default();
    let mut log = Log::open(FileStorage::new(path)).unwrap();
    if log.state().is_none() {
        let recipe = Recipe::infer(&table, &none).unwrap();
        log.begin(1, Opening::new(recipe, (0.0, 1.0), 1)).unwrap();
    }
    say("\nbegun");
    let mut taken = 0;
    for batch in 0..batches {
        let keys: Vec<String> = (taken..).take(size(batch)).map(|at| key(run, at)).collect();
        let decided = log.state().unwrap().count_decisions();
        let asked = |key| Asked { key, ..Asked::among(Among::Table(&table), &none) };
        let requests: Vec<Request<'_>> = (decided + 1..)
            .zip(&keys)
            .flat_map(|(decision, key)| {
                let reward = Reward::from((decision % 5) as f64 / 5.0);
                [Request::Decide(asked(Some(key))), Request::Reward { decision, reward, by: None }]
            })
            .collect();
        let answers = log.batch(2, &requests).unwrap();
        assert!(answers.iter().all(Result::is_ok));
        taken += keys.len();
        let last = answers.iter().rev().find_map(|answer| match answer {
            Ok(Answer::Taken(taken)) => Some(taken.line),
            _ => None,
        });
        let last = last.unwrap();
        say(&format!("acknowledged {taken} {} {}", last.seq, last.hash));
    }
    // Waits to be killed, or for the end of its input.
    std::io::stdin().lock().skip_until(0).unwrap();
}

/// The last answer of a batcher: the number of its decisions, and the line of the last of them.
fn last_answer(said: &str) -> Option<(usize, u64, LineHash)> {
    let parse = |line: &str| {
        let mut parts = line.strip_prefix("acknowledged ")?.split(' ');
        let (taken, seq) = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
        Some((taken, seq, LineHash::parse(parts.next()?)?))
    };
    // The last line may be cut off.
    said.split_inclusive('\n').filter_map(|line| parse(line.strip_suffix('\n')?)).next_back()
}

/// What a log holds.
#[derive(Default)]
struct Held {
    hashes: BTreeMap<u64, LineHash>,
    /// The number of decisions of each run.
    taken: BTreeMap<usize, usize>,
    unfinished: u64,
}

/// Reads a log, and checks that the lines of each run are a first part of what it asked for: each
/// decision once, in its turn, and behind it its reward.
fn held(path: &Path) -> Held {
    let mut held = Held::default();
    let mut waits_for_reward = None;
    let end = read(&FileStorage::new(path), &Checkpoint::START, |entry| {
        held.hashes.insert(entry.seq, entry.hash);
        match serde_json::from_str(entry.body).unwrap() {
            Event::Decided { decision, key: Some(found), .. } => {
                let run = found.split(' ').next().unwrap().parse().unwrap();
                // The reward of the last decision of a killed writer may never have been written.
                assert!(
                    waits_for_reward.is_none_or(|(_, last)| last != run),
                    "{found} stands before the reward of the decision before it"
                );
                let taken = held.taken.entry(run).or_default();
                assert_eq!(found, key(run, *taken), "lost, doubled or out of turn");
                *taken += 1;
                waits_for_reward = Some((decision, run));
            }
            Event::Rewarded { decision, .. } => {
                assert_eq!(waits_for_reward.take().map(|(decision, _)| decision), Some(decision));
            }
            _ => {}
        }
        Ok::<(), JournalError>(())
    });
    held.unfinished = end.unwrap().unfinished;
    held
}

/// Kills processes that take batches.
fn kill_batchers(times: usize) {
    let folder = tempfile::tempdir().unwrap();
    let mut draws = Draws(11);
    let (mut decisions, mut within_a_line, mut unanswered) = (0, 0, 0);
    for run in 0..times {
        // A log that grows for ever would take ever longer to open.
        let path = folder.path().join(format!("{}.log", run / 25));
        let mut child = batcher(&path, run, usize::MAX).spawn().unwrap();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        let mut said = String::new();
        while !said.contains("begun\n") {
            assert!(out.read_line(&mut said).unwrap() > 0, "{said}");
        }
        std::thread::sleep(Duration::from_micros(draws.below(30_000) as u64));
        let said = kill(child, out);
        let held = held(&path);
        let taken = held.taken.get(&run).copied().unwrap_or_default();
        let answered = last_answer(&said);
        if let Some((answered, seq, hash)) = answered {
            assert!(taken >= answered, "run {run}: {answered} answered, {taken} in the log");
            assert_eq!(held.hashes.get(&seq), Some(&hash), "run {run}: another line");
        }
        decisions += taken;
        within_a_line += usize::from(held.unfinished > 0);
        unanswered += usize::from(taken > answered.map_or(0, |(answered, ..)| answered));
    }
    assert!(decisions > times, "the batchers came to decide: {decisions}");
    eprintln!(
        "{times} batchers killed after {decisions} decisions: {within_a_line} within a line, \
         {unanswered} between write and answer"
    );
}

#[test]
fn twenty_killed_batchers_lose_nothing() {
    kill_batchers(20);
}

mod full {
    #[test]
    fn five_hundred_killed_batchers_lose_nothing() {
        super::kill_batchers(500);
    }
}

/// Checks the system's trace: each batch is one write and, behind it, one successful sync, and only
/// then comes its answer.
#[test]
fn a_trace_shows_the_sync_between_the_last_write_and_the_answer_of_a_batch() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log.ndjson");
    let Some(trace) = traced(&batcher(&path, 0, 6), folder.path()) else { return };
    let (mut calls, mut answers) = (Vec::new(), 0);
    for call in trace.lines() {
        let of_log = call.contains("log.ndjson>");
        if call.contains("\"begun") || call.contains("\"\\nbegun") {
            calls.clear();
        } else if of_log && call.contains("write") {
            calls.push("write");
        } else if of_log && call.contains("sync(") {
            calls.push(if call.ends_with("= 0") { "sync" } else { "failed sync" });
        } else if call.contains("\"acknowledged ") {
            answers += 1;
            assert_eq!(calls, ["write", "sync"], "{call}\n{trace}");
            calls.clear();
        }
    }
    assert_eq!(answers, 6, "{trace}");
}
