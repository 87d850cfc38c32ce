//! An append-only file of lines, chained by hashes, so that damage is found and an acknowledged
//! line is never lost.
//!
//! A line holds one event, which is a JSON object that this module does not interpret, and a frame
//! that makes it part of a log: a number without gaps, a time that never goes back, and the hash of
//! the line before. `docs/reference/log-format.md` gives the format, with a checker that shares no
//! code with this one.
//!
//! # What is promised
//! - **Acknowledged lines are kept.** [`Journal::append`] returns only when the disk has confirmed
//!   the lines. From then on, a crash of the process or the machine neither loses nor doubles them.
//! - **Other lines may be there or not.** After an error of [`Journal::append`], or a crash during
//!   it, some first part of its lines may be in the log, but never a line without those before it.
//!   Opening the log settles which: the lines it shows are on the disk.
//! - **Damage is reported, not repaired.** Any changed, missing, doubled or moved line is an error
//!   that names it. Opening cuts off only what an interrupted write leaves, and keeps that in a
//!   file beside the log.
//!
//! The hashes protect against accidents and silent edits. Someone who rewrites a log from some line
//! on can make a chain that checks, but not one that ends in a hash noted earlier elsewhere.
//!
//! ```
//! use plausibly_log::journal::{Checkpoint, FileStorage, Journal, JournalError, read};
//! # let folder = tempfile::tempdir()?;
//! # let path = folder.path().join("log.ndjson");
//! let mut journal = Journal::open(FileStorage::new(&path))?;
//! journal.append(1_794_000_000_000_000, &[r#"{"kind":"reward","value":0.5}"#])?;
//!
//! let mut seen = Vec::new();
//! let end = read(&FileStorage::new(&path), &Checkpoint::START, |entry| {
//!     seen.push(entry.body.to_owned());
//!     Ok::<(), JournalError>(())
//! })?;
//! assert_eq!(seen, [r#"{"kind":"reward","value":0.5}"#]);
//! assert_eq!(end.last, journal.last());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod civil;
mod error;
mod fresh;
mod holder;
mod line;
mod reader;
mod storage;
mod tail;
mod writer;

pub use civil::{LATEST_US, parse_utc, utc};
pub use error::{BodyFault, Damage, JournalError};
pub(crate) use fresh::Fresh;
pub use holder::Holder;
pub(crate) use line::MAX_SEQ;
pub use line::{LineHash, MAX_BODY};
pub(crate) use reader::read_present;
pub use reader::{End, Entry, read};
pub(crate) use reader::{LineAt, LineReader, holds_line, io_error};
pub use storage::{FileStorage, LogReader, Storage};
pub use tail::Recovery;
pub use writer::Journal;

/// Identifies a line of a log, and where to find it.
///
/// The hash covers all lines up to this one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Checkpoint {
    /// Its number, from 1.
    pub seq: u64,
    /// Its hash.
    pub hash: LineHash,
    /// The number of bytes of the log up to and including its newline.
    pub offset: u64,
    /// Its time, in microseconds since 1970.
    pub at_us: i64,
}

impl Checkpoint {
    /// Before the first line.
    pub const START: Self = Self { seq: 0, hash: LineHash::ZERO, offset: 0, at_us: 0 };
}
