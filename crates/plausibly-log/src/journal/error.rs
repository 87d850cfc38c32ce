//! The errors of a journal.

use super::holder::Holder;
use super::{LATEST_US, MAX_BODY};
use std::io;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// Why a journal could not be opened, read or appended to.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum JournalError {
    /// Another process has the lock.
    #[error(
        "{holder} is writing to {log}; wait for it to end, or stop it, then try again (reading \
         needs no lock)"
    )]
    Locked {
        /// The path of the log.
        log: PathBuf,
        /// The process that has the lock.
        holder: Holder,
    },
    /// A line that is not as it was written. Nothing was changed.
    #[error("{}", damaged(log, *seq, *offset, damage))]
    Damaged {
        /// The path of the log.
        log: PathBuf,
        /// The number of the line, from 1, which must also be its sequence number.
        seq: u64,
        /// The byte at which the line begins.
        offset: u64,
        /// What is wrong with it.
        damage: Damage,
    },
    /// A checkpoint of a line that this log does not have.
    #[error(
        "{log} has no line {seq} that ends at byte {offset} with the hash and time of the \
         checkpoint; read from the start"
    )]
    Checkpoint {
        /// The path of the log.
        log: PathBuf,
        /// The line of the checkpoint.
        seq: u64,
        /// The byte at which that line should end.
        offset: u64,
    },
    /// A text that is not an event. Nothing was written.
    #[error("event {index} of {count} cannot be appended: {fault}")]
    Body {
        /// The number of the text among those given, from 1.
        index: usize,
        /// How many were given.
        count: usize,
        /// What is wrong with it.
        fault: BodyFault,
    },
    /// A time out of range. Nothing was written.
    #[error("{at_us} µs since 1970 is not within the years 1970 to 9999 (0 to {LATEST_US})")]
    Time {
        /// The time given.
        at_us: i64,
    },
    /// A write failed, and its lines may or may not be in the log when it is opened again.
    #[error(
        "cannot {what} {log}: {source}; {} not acknowledged: check the disk, {} the log again, and \
         see which lines it has",
        lines(*first, *count), if *cut_back { "open" } else { "restart the machine, open" }
    )]
    NotAcknowledged {
        /// The path of the log.
        log: PathBuf,
        /// What failed.
        what: &'static str,
        /// The first line that was to be written.
        first: u64,
        /// How many lines were to be written.
        count: usize,
        /// Whether the log could be cut back to the last acknowledged line. If not, the machine
        /// must be restarted before the log is opened: after a failed sync the system may show
        /// bytes that the disk does not have.
        cut_back: bool,
        /// The error of the system.
        source: io::Error,
    },
    /// The disk did not confirm the lines found on opening.
    #[error(
        "cannot sync {log}: {source}; check the disk and restart the machine before you open the \
         log again: the system may show lines that the disk does not have"
    )]
    NotSynced {
        /// The path of the log.
        log: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// An earlier append failed, so the end of the file is unknown. Nothing was written.
    #[error(
        "{log} takes no more lines after a failed write; open it again, which finds out which \
         lines were written"
    )]
    Stopped {
        /// The path of the log.
        log: PathBuf,
    },
    /// The length of the file has changed. Nothing was written.
    #[error(
        "{log} has {found} bytes, but this process left {expected}: another program has changed \
         it; open it again, which checks every line"
    )]
    Changed {
        /// The path of the log.
        log: PathBuf,
        /// The bytes up to the last acknowledged line.
        expected: u64,
        /// The bytes of the file.
        found: u64,
    },
    /// A file that cannot be used.
    #[error("cannot {what} {path}: {source}")]
    Io {
        /// The operation.
        what: &'static str,
        /// The file.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
}

fn damaged(log: &Path, seq: u64, offset: u64, damage: &Damage) -> String {
    let log = log.display();
    if let (1, Damage::Frame { column: 0, expected }) = (seq, damage) {
        return format!(
            "{log} is not a log, or its first line is damaged: it does not begin with `{expected}`"
        );
    }
    let before = if seq == 1 { "" } else { "all lines before it are intact; " };
    let way_out = damage.way_out();
    format!(
        "{log} is damaged in line {seq} (seq {seq}, byte {offset}): {damage}; {before}{way_out}"
    )
}

/// "line 7 was", or "lines 7 to 9 were".
fn lines(first: u64, count: usize) -> String {
    match count {
        1 => format!("line {first} was"),
        _ => format!("lines {first} to {} were", first + count as u64 - 1),
    }
}

/// What is wrong with a line.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum Damage {
    /// Bytes that differ from the frame of every line.
    #[error("byte {column} of the line should be `{expected}`")]
    Frame {
        /// The byte of the line, from 0.
        column: usize,
        /// The bytes that every line has there.
        expected: &'static str,
    },
    /// A version that this library cannot read.
    #[error(
        "its version is {found}, and this library reads version 1: a newer version wrote this log"
    )]
    Version {
        /// The version found.
        found: u64,
    },
    /// A sequence number that is not the next one.
    #[error("its sequence number is {found}: lines are missing, doubled or out of order")]
    Gap {
        /// The number found.
        found: u64,
    },
    /// A `prev` that is not the hash of the line before.
    #[error(
        "it does not continue the line before: its `prev` is {found}, and that line's hash is \
         {expected}"
    )]
    Chain {
        /// The hash of the line before.
        expected: String,
        /// The `prev` of this line.
        found: String,
    },
    /// A time earlier than that of the line before.
    #[error("its time {found} is earlier than {before}, that of the line before")]
    Backwards {
        /// The time of the line before.
        before: String,
        /// The time of this line.
        found: String,
    },
    /// A frame that does not match its `hash`.
    #[error("its `hash` is not the hash of the line up to the event")]
    LineHash,
    /// An event that does not match its `body`.
    #[error("its `body` is not the hash of its event")]
    BodyHash,
    /// An event that is not text.
    #[error("its event is not UTF-8 from byte {column} of the line on")]
    NotUtf8 {
        /// The byte of the line, from 0.
        column: usize,
    },
    /// An event with the right hash that is not valid.
    #[error("its event is not valid: {0}")]
    Body(BodyFault),
    /// A line without an end that no interrupted write leaves.
    #[error(
        "it has no newline at its end, and an interrupted write cannot be the reason, because it \
         is not the beginning of a valid line"
    )]
    Unended,
    /// A line longer than any line can be.
    #[error("it does not end within the {MAX_BODY} bytes that its event may have")]
    TooLong,
}

impl Damage {
    /// What a person can do.
    pub(crate) fn way_out(&self) -> &'static str {
        match self {
            Self::Version { .. } => {
                "update this program; if it has no newer version, restore the log from a copy"
            }
            _ => "restore it from a copy",
        }
    }
}

/// Why a text is not an event.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum BodyFault {
    /// The word reserved for removed events.
    #[error("`null` is reserved for removed events, which this version cannot read")]
    Null,
    /// Text that is not between braces.
    #[error("an event is a JSON object, from its first byte `{{` to its last `}}`")]
    NotAnObject,
    /// A newline or another control character, between tokens or unescaped in a string.
    #[error(
        "it has the control character {byte:#04x} at byte {at}; write it as an escape, and the \
         whole object on one line"
    )]
    Control {
        /// The byte, from 0.
        at: usize,
        /// The character.
        byte: u8,
    },
    /// More than 16 MiB.
    #[error("it has {len} bytes, and an event has at most {MAX_BODY}")]
    TooLong {
        /// Its length.
        len: usize,
    },
    /// Not JSON.
    #[error("it is not JSON: {reason}")]
    Json {
        /// The error of the parser.
        reason: String,
    },
}
