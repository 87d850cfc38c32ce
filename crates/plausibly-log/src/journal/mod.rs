//! An append-only file of lines, chained by their hashes.
//!
//! A line holds one event, a JSON object this module does not look into, and what makes it part of
//! a log: a number without gaps, a time that never goes back, and the hash of the line before. The
//! format is in `docs/reference/log-format.md`, with a checker that shares nothing with this code.
//!
//! # What is promised
//! - **Acknowledged is kept.** [`Journal::append`] returns lines only when the disk has said that
//!   it has them. From then on, a crash of the process or the machine loses none and doubles none.
//! - **Not acknowledged is open.** After an error of [`Journal::append`], or a crash during it,
//!   each of its lines may be in the log or not, from the first up to some line; never one without
//!   those before it. Opening the log finds out and settles it: what it shows is on the disk.
//! - **Damage is found, not repaired.** Any changed, missing, doubled or moved line is an error
//!   that names it. The one thing that opening cuts off is what only an interrupted write leaves,
//!   and that is kept beside the log.
//!
//! The hashes are against accidents and against silent edits: whoever rewrites a log from some line
//! on can make a chain that checks, but not one that ends in a hash somebody has noted.
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
mod holder;
mod line;
mod reader;
mod storage;
mod tail;
mod writer;

pub use civil::{LATEST_US, parse_utc, utc};
pub use error::{BodyFault, Damage, JournalError};
pub use holder::Holder;
pub(crate) use line::MAX_SEQ;
pub use line::{LineHash, MAX_BODY};
pub use reader::{End, Entry, read};
pub use storage::{FileStorage, Storage};
pub use tail::Recovery;
pub use writer::Journal;

/// A line of a log, by what it takes to find it again and be sure that it is the one.
///
/// The hash stands for all lines up to this one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Checkpoint {
    /// Its number, from 1.
    pub seq: u64,
    /// Its hash.
    pub hash: LineHash,
    /// Where it ends, behind its newline: bytes of the log up to here.
    pub offset: u64,
    /// Its time, in microseconds since 1970.
    pub at_us: i64,
}

impl Checkpoint {
    /// Before the first line.
    pub const START: Self = Self { seq: 0, hash: LineHash::ZERO, offset: 0, at_us: 0 };
}
