//! Laws of the journal.

mod batching; // processes that take batches, killed and traced
mod damage; // flipped bytes, cut files, forged lines: found, and the right line named
pub(crate) mod disk; // a disk in memory that fails and loses power
mod faults; // every step of a scenario failed in turn
mod format; // the format as documented, checked by a program that is not ours
mod laws; // what goes in comes out
mod processes; // writers that are killed, traced, locked out and read beside

use disk::Disk;
use plausibly_log::journal::{Checkpoint, Journal, JournalError, Storage, read};

/// 2026-11-15, in microseconds.
const NOW: i64 = 1_794_700_000_000_000;

/// The bodies in a log, all lines checked.
fn bodies(storage: &impl Storage) -> Result<Vec<String>, JournalError> {
    let mut found = Vec::new();
    read(storage, &Checkpoint::START, |entry| {
        found.push(entry.body.to_owned());
        Ok::<(), JournalError>(())
    })?;
    Ok(found)
}

/// Bodies of all kinds: short, long, with text that looks like a frame, beyond ASCII, with escapes.
fn varied(count: usize) -> Vec<String> {
    let body = |number: usize| match number % 5 {
        0 => format!(r#"{{"n":{number}}}"#),
        1 => format!(r#"{{"n":{number},"text":"zwölf Boxkämpfer 🦊 \u00e4 \n \"quoted\" \\"}}"#),
        2 => format!(r#"{{"n":{number},"event":{{}},"hash":"{}"}}"#, "0".repeat(64)),
        3 => format!(r#"{{"n": {number}, "list": [1.5e-3, true, null, {{"deep": [[]]}}]}}"#),
        _ => format!(r#"{{"n":{number},"pad":"{}"}}"#, "x".repeat(30 * number)),
    };
    (0..count).map(body).collect()
}

/// A log in memory with these bodies, in batches of three.
fn log_of(bodies: &[String]) -> Disk {
    let disk = Disk::new();
    let mut journal = Journal::open(disk.storage()).unwrap();
    for (batch, bodies) in (0..).zip(bodies.chunks(3)) {
        let bodies: Vec<&str> = bodies.iter().map(String::as_str).collect();
        journal.append(NOW + batch, &bodies).unwrap();
    }
    drop(journal);
    disk
}

/// How many newlines there are.
pub(crate) fn newlines(bytes: &[u8]) -> usize {
    bytes.split(|&byte| byte == b'\n').count() - 1
}

/// A small random generator (`SplitMix64`) for places and lengths.
pub(crate) struct Draws(pub(crate) u64);

impl Draws {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((z ^ z >> 31) % bound as u64).unwrap()
    }
}
