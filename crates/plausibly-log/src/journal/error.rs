//! What can go wrong with a journal.

use super::holder::Holder;
use super::{LATEST_US, MAX_BODY};
use std::io;
use std::path::PathBuf;
use thiserror::Error;

/// Why a journal could not be opened, read or appended to.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum JournalError {
    /// Another writer has the lock.
    #[error(
        "{holder} is writing to {log}; wait for it to end, or stop it, then try again (reading needs no lock)"
    )]
    Locked {
        /// Which log.
        log: PathBuf,
        /// Which writer.
        holder: Holder,
    },
    /// A line that is not what was written there. Nothing was changed.
    #[error(
        "{log} is damaged in line {seq} (seq {seq}, byte {offset}): {damage}; all lines before it are intact: {}",
        damage.way_out()
    )]
    Damaged {
        /// Which log.
        log: PathBuf,
        /// The line, from 1, which is also the sequence number it must have.
        seq: u64,
        /// Where the line begins.
        offset: u64,
        /// What is wrong with it.
        damage: Damage,
    },
    /// A checkpoint that names no line of this log.
    #[error(
        "{log} has no line {seq} that ends at byte {offset} with the hash and time of the checkpoint; read from the start"
    )]
    Checkpoint {
        /// Which log.
        log: PathBuf,
        /// The line it names.
        seq: u64,
        /// Where that line should end.
        offset: u64,
    },
    /// Text that cannot be an event. Nothing was written.
    #[error("event {index} of {count} cannot be appended: {fault}")]
    Body {
        /// Which of the bodies, from 1.
        index: usize,
        /// How many were given.
        count: usize,
        /// What is wrong with it.
        fault: BodyFault,
    },
    /// A time that has no text. Nothing was written.
    #[error("{at_us} µs since 1970 is not within the years 1970 to 9999 (0 to {LATEST_US})")]
    Time {
        /// The time given.
        at_us: i64,
    },
    /// The lines may or may not be in the log when it is opened again: they were not acknowledged.
    #[error(
        "cannot {what} {log}: {source}; {} not acknowledged: see to the disk, {} the log again, and look what is in it",
        lines(*first, *count), if *cut_back { "open" } else { "restart the machine, open" }
    )]
    NotAcknowledged {
        /// Which log.
        log: PathBuf,
        /// What failed.
        what: &'static str,
        /// The first line that was to be written.
        first: u64,
        /// How many lines were to be written.
        count: usize,
        /// Whether the log could be cut back to the last acknowledged line. If not, restart the
        /// machine before the log is opened: after a failed sync the system may go on showing bytes
        /// that the disk does not have.
        cut_back: bool,
        /// What the system says.
        source: io::Error,
    },
    /// Opening could not make sure that the disk has the lines it found.
    #[error(
        "cannot sync {log}: {source}; see to the disk and restart the machine before it is opened again: the system may show lines the disk does not have"
    )]
    NotSynced {
        /// Which log.
        log: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// An earlier append failed, so nothing is known about the end of the file. Nothing was
    /// written.
    #[error(
        "{log} takes no more lines after a failure; open it again: that finds out what was written"
    )]
    Stopped {
        /// Which log.
        log: PathBuf,
    },
    /// The file is not as long as this journal left it. Nothing was written.
    #[error(
        "{log} has {found} bytes where this process left {expected}: another program changed it; open it again to check it"
    )]
    Changed {
        /// Which log.
        log: PathBuf,
        /// Bytes up to the last acknowledged line.
        expected: u64,
        /// Bytes there are.
        found: u64,
    },
    /// A file that cannot be used.
    #[error("cannot {what} {path}: {source}")]
    Io {
        /// What was tried.
        what: &'static str,
        /// On what.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
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
    /// Something else than the frame has in this place.
    #[error("byte {column} of the line should be {expected}")]
    Frame {
        /// Where in the line, from 0.
        column: usize,
        /// What every line has there.
        expected: &'static str,
    },
    /// A version this library does not know.
    #[error(
        "it says version {found}, and this library reads version 1: this log was written by a newer version"
    )]
    Version {
        /// The version found.
        found: u64,
    },
    /// A sequence number that is not one more than the one before.
    #[error("its sequence number is {found}: lines are missing, doubled or out of order")]
    Gap {
        /// The number found.
        found: u64,
    },
    /// A hash of the line before that is not its.
    #[error(
        "it does not continue the line before: its `prev` is {found}, and that line's hash is {expected}"
    )]
    Chain {
        /// The hash of the line before.
        expected: String,
        /// The one this line was written after.
        found: String,
    },
    /// A time earlier than that of the line before.
    #[error("its time {found} is earlier than {before}, that of the line before")]
    Backwards {
        /// The time of the line before.
        before: String,
        /// Its own.
        found: String,
    },
    /// The frame is not the one its `hash` was made of.
    #[error("its `hash` is not that of the line up to the event")]
    LineHash,
    /// The event is not the one its `body` was made of.
    #[error("its `body` is not the hash of its event")]
    BodyHash,
    /// Bytes that are no text.
    #[error("its event is not UTF-8 from byte {column} of the line on")]
    NotUtf8 {
        /// Where in the line, from 0.
        column: usize,
    },
    /// Text that cannot be an event, with the right hash.
    #[error("its event is not one: {0}")]
    Body(BodyFault),
    /// Bytes without an end of line that no interrupted write leaves.
    #[error(
        "it has no end, and it is not the beginning of the line due there, as an interrupted write would leave"
    )]
    Unended,
    /// No end of line for longer than a line can be.
    #[error("it has no end within the {MAX_BODY} bytes that an event may have")]
    TooLong,
}

impl Damage {
    fn way_out(&self) -> &'static str {
        match self {
            Self::Version { .. } => {
                "update this program, or restore the log from a copy if there is no newer one"
            }
            _ => "restore it from a copy",
        }
    }
}

/// Why text is not an event.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum BodyFault {
    /// The word reserved for events that were taken out.
    #[error("`null` is reserved for events that were taken out, which this version does not know")]
    Null,
    /// Not between braces.
    #[error("an event is a JSON object, from its first byte `{{` to its last `}}`")]
    NotAnObject,
    /// An end of line or another control character between tokens, or unescaped in a string.
    #[error(
        "it has the control character {byte:#04x} at byte {at}; write it as an escape, and the object in one line"
    )]
    Control {
        /// Where, from 0.
        at: usize,
        /// Which.
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
        /// What the parser says.
        reason: String,
    },
}
