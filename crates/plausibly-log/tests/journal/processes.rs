//! Real processes on a real disk: killed, traced, locked out, and read at the same time.
//!
//! A child is this test program with an environment that makes it a writer.

use super::{Draws, NOW, bodies, log_of, newlines, varied};
use plausibly_log::journal::{Checkpoint, FileStorage, Journal, JournalError, LineHash, read};
use std::env;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

const LOG: &str = "PLAUSIBLY_LOG_TEST_LOG";
const LINES: &str = "PLAUSIBLY_LOG_TEST_LINES";
/// A checkpoint that was checked before: a writer that is killed soon has no time to read all
/// lines.
const FROM: &str = "PLAUSIBLY_LOG_TEST_FROM";

/// This program, as a writer of a log.
fn writer(log: &Path, lines: usize) -> Command {
    let mut command = Command::new(env::current_exe().unwrap());
    command.args(["--exact", "journal::processes::be_a_writer", "--nocapture"]);
    command
        .env(LOG, log)
        .env(LINES, lines.to_string())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped());
    command
}

/// A checkpoint as text, and back.
fn text_of(Checkpoint { seq, hash, offset, at_us }: &Checkpoint) -> String {
    format!("{seq} {hash} {offset} {at_us}")
}

fn checkpoint(text: &str) -> Checkpoint {
    let parts: Vec<&str> = text.split(' ').collect();
    Checkpoint {
        seq: parts[0].parse().unwrap(),
        hash: LineHash::parse(parts[1]).unwrap(),
        offset: parts[2].parse().unwrap(),
        at_us: parts[3].parse().unwrap(),
    }
}

pub(super) fn say(what: &str) {
    let mut out = io::stdout().lock();
    writeln!(out, "{what}").and_then(|()| out.flush()).unwrap();
}

/// The body of a line, by its number: some are longer than a page, so that a write takes its time.
fn body(number: u64) -> String {
    let pad = if number % 8 == 5 { 60_000 } else { number % 500 };
    format!(r#"{{"n":{number},"pad":"{}"}}"#, "p".repeat(usize::try_from(pad).unwrap()))
}

/// Not a test unless its environment is set: appends lines, reports them, and waits until its input
/// ends.
#[test]
fn be_a_writer() {
    let Some(log) = env::var_os(LOG) else { return };
    let lines: usize = env::var_os(LINES).unwrap().to_str().unwrap().parse().unwrap();
    let from =
        env::var_os(FROM).map_or(Checkpoint::START, |text| checkpoint(text.to_str().unwrap()));
    let mut journal =
        Journal::open_from(FileStorage::new(log), &from, |_, _| Ok::<(), JournalError>(()))
            .unwrap();
    say(&format!("\nopened {}", journal.last().seq));
    let mut left = lines;
    while left > 0 {
        let next = journal.last().seq;
        let batch = left.min(1 + usize::try_from(next % 3).unwrap());
        let texts: Vec<String> = (next..).take(batch).map(body).collect();
        journal.append(NOW, &texts.iter().map(String::as_str).collect::<Vec<_>>()).unwrap();
        say(&format!("acknowledged {}", journal.last().seq));
        left -= batch;
    }
    io::stdin().read_to_end(&mut Vec::new()).unwrap();
}

/// Ends a running child, and returns the rest of its output.
pub(super) fn kill(mut child: Child, mut out: impl Read) -> String {
    child.kill().unwrap();
    child.wait().unwrap();
    let mut said = String::new();
    out.read_to_string(&mut said).unwrap();
    said
}

/// The last line that was acknowledged, if one was.
fn last_acknowledged(said: &str) -> Option<u64> {
    said.lines().filter_map(|line| line.strip_prefix("acknowledged ")?.parse().ok()).next_back()
}

/// Kills writers of one log: nothing acknowledged may be lost or doubled, and each continues where
/// the log ends.
fn kill_writers(times: usize) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log.ndjson");
    let mut draws = Draws(6);
    let (mut checked, mut recovered, mut in_a_write) = (Checkpoint::START, 0, 0);
    for _ in 0..times {
        let mut child = writer(&path, usize::MAX).env(FROM, text_of(&checked)).spawn().unwrap();
        let out = child.stdout.take().unwrap();
        // From before it opens the log to a dozen lines later.
        std::thread::sleep(Duration::from_micros(draws.below(60_000) as u64));
        let acknowledged = last_acknowledged(&kill(child, out));
        if !path.exists() {
            assert_eq!(acknowledged, None);
            continue;
        }
        let mut next = checked.seq;
        let end = read(&FileStorage::new(&path), &checked, |entry| {
            assert_eq!(
                entry.body,
                body(next),
                "line {} is not the one that was written there",
                entry.seq
            );
            next += 1;
            Ok::<(), JournalError>(())
        });
        let end = end.unwrap();
        assert!(
            end.last.seq >= acknowledged.unwrap_or(checked.seq),
            "an acknowledged line is lost"
        );
        in_a_write += usize::from(acknowledged.is_some_and(|line| line < end.last.seq));
        recovered += usize::from(end.unfinished > 0);
        checked = end.last;
    }
    assert!(checked.seq > times as u64, "the writers came to write");
    eprintln!(
        "{times} writers killed at {} lines: {recovered} within a line, {in_a_write} between write \
         and word",
        checked.seq
    );
    let journal = Journal::open(FileStorage::new(&path)).unwrap();
    assert!(journal.last().seq >= checked.seq);
}

#[test]
fn a_hundred_killed_writers_lose_nothing() {
    kill_writers(100);
}

mod full {
    #[test]
    fn five_hundred_killed_writers_lose_nothing() {
        super::kill_writers(500);
    }
}

/// The system's trace of what a writer writes and syncs, which is also written to a file in this
/// folder; `None` where nothing can be traced.
pub(super) fn traced(writer: &Command, folder: &Path) -> Option<String> {
    let trace = folder.join("trace");
    let mut command = Command::new("strace");
    command
        .args(["-f", "-y", "-s", "24", "-e", "trace=write,pwrite64,fsync,fdatasync", "-o"])
        .arg(&trace);
    command.arg(writer.get_program()).args(writer.get_args()).stdin(Stdio::null());
    command.envs(writer.get_envs().filter_map(|(name, value)| Some((name, value?))));
    match command.output() {
        Ok(output) if output.status.success() => Some(std::fs::read_to_string(trace).unwrap()),
        Ok(output) => {
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            assert!(said.contains("ptrace") || said.contains("PTRACE"), "{said}");
            eprintln!("skipped: strace may not trace here");
            None
        }
        Err(error) => {
            eprintln!("skipped: there is no strace ({error})");
            None
        }
    }
}

/// Checks the trace: each acknowledgement follows a successful sync after the last write.
#[test]
fn a_trace_shows_the_sync_before_the_acknowledgement() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log.ndjson");
    let Some(trace) = traced(&writer(&path, 9), folder.path()) else { return };
    let (mut written, mut synced, mut words) = (0, 0, 0);
    for call in trace.lines() {
        let of_log = call.contains("log.ndjson>");
        if of_log && call.contains("write") {
            written += 1;
        } else if of_log && call.contains("sync(") && call.ends_with("= 0") {
            synced = written;
        } else if call.contains("\"acknowledged ") {
            words += 1;
            assert_eq!((written, synced), (words, words), "{call}\n{trace}");
        }
    }
    assert!(words >= 3, "{trace}");
    let folder_synced = trace.lines().any(|call| {
        call.contains("fsync(") && call.contains(&format!("{}>", folder.path().display()))
    });
    assert!(folder_synced, "the name of a new log is synced too\n{trace}");
}

#[test]
fn a_second_writer_is_told_to_wait_and_readers_are_not() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log.ndjson");
    let mut child = writer(&path, 2).spawn().unwrap();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    let mut said = String::new();
    while !said.contains("acknowledged 2") {
        assert!(out.read_line(&mut said).unwrap() > 0, "{said}");
    }
    let error = Journal::open(FileStorage::new(&path)).unwrap_err();
    let said = error.to_string();
    let advice = format!(
        "is writing to {}; wait for it to end, or stop it, then try again (reading needs no lock)",
        path.display()
    );
    assert!(said.ends_with(&advice), "{said}");
    let holder = if cfg!(target_os = "linux") {
        format!("process {} (", child.id())
    } else {
        "another".into()
    };
    assert!(said.starts_with(&holder), "{said}");
    // Retries as often as the caller says, and no longer.
    let mut tries = 0;
    let mut storage = FileStorage::new(&path);
    let refused = storage.lock_or_wait(|_| {
        tries += 1;
        tries < 3
    });
    assert_eq!((refused.unwrap_err().kind(), tries), (io::ErrorKind::WouldBlock, 3));
    assert_eq!(bodies(&FileStorage::new(&path)).unwrap(), [body(0), body(1)]);
    let mut ended = false;
    let waited = storage.lock_or_wait(|_| {
        assert!(!ended, "the lock ends with its process");
        child.kill().unwrap();
        child.wait().unwrap();
        ended = true;
        true
    });
    waited.unwrap();
    assert_eq!(Journal::open(storage).unwrap().last().seq, 2, "a lock that was waited for is used");
}

#[test]
fn reading_beside_a_writer_shows_whole_lines_only() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log.ndjson");
    let mut journal = Journal::open(FileStorage::new(&path)).unwrap();
    std::thread::scope(|scope| {
        let writing = scope.spawn(|| {
            while journal.last().seq < 300 {
                let next = journal.last().seq;
                let texts = [body(next), body(next + 1), body(next + 2)];
                journal.append(NOW, &texts.each_ref().map(String::as_str)).unwrap();
            }
        });
        let mut from = Checkpoint::START;
        while !writing.is_finished() || from.seq < 300 {
            let mut next = from.seq;
            let end = read(&FileStorage::new(&path), &from, |entry| {
                assert_eq!(entry.body, body(next));
                next += 1;
                Ok::<(), JournalError>(())
            });
            from = end.unwrap().last;
        }
    });
}

/// Bytes arrive in pieces of any size: a reader never takes an unfinished line for damage.
#[test]
fn reading_beside_a_slow_writer_ends_at_the_last_whole_line() {
    let all = varied(60);
    let log = log_of(&all).log();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log.ndjson");
    let mut file = std::fs::File::create(&path).unwrap();
    let (mut draws, mut written) = (Draws(7), 0);
    while written < log.len() {
        let piece = (1 + draws.below(100)).min(log.len() - written);
        file.write_all(&log[written..written + piece]).unwrap();
        written += piece;
        let whole = newlines(&log[..written]);
        assert_eq!(bodies(&FileStorage::new(&path)).unwrap(), all[..whole]);
    }
}
