//! Errors of data sets.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;
use thiserror::Error;

/// Why data are not available.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum DataError {
    /// Not in the cache.
    #[error("the data set {name} is not in the cache; `plausibly data fetch {name}` gets it")]
    NotFetched {
        /// Which.
        name: &'static str,
    },
    /// The bytes are not the published ones.
    #[error("{path}: {member} has SHA-256 {found}, not {expected}: damaged, or another version")]
    Checksum {
        /// Path in the archive.
        member: &'static str,
        /// Where the bytes came from.
        path: PathBuf,
        /// The published checksum.
        expected: &'static str,
        /// Theirs.
        found: String,
    },
    /// An archive cannot be opened, or lacks a member.
    #[error("{path} is not the archive it should be: {source}")]
    Archive {
        /// Which file.
        path: PathBuf,
        /// What is wrong with it.
        source: zip::result::ZipError,
    },
    /// A file or folder cannot be used.
    #[error("cannot {what} {path}: {source}")]
    Io {
        /// What was tried.
        what: &'static str,
        /// On what.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// An address does not answer with the archive or the page that links to it.
    #[error("cannot fetch {url}: {reason}")]
    Fetch {
        /// Which.
        url: String,
        /// What came instead.
        reason: String,
    },
    /// A server sends more bytes than the file can have.
    #[error(
        "cannot fetch {url}: the server sends more than {limit} bytes, the most this file can \
         have; nothing was kept"
    )]
    TooLarge {
        /// The address.
        url: String,
        /// The most bytes the file can have.
        limit: u64,
    },
    /// A download takes longer than its time limit.
    #[error(
        "cannot fetch {url}: not complete within the time limit of {} s; what came is kept, \
         and the next fetch continues from there", limit.as_secs_f64()
    )]
    TooSlow {
        /// The address.
        url: String,
        /// The time limit.
        limit: Duration,
    },
    /// The caller stopped a download.
    #[error("stopped fetching {url}: what came is kept, and the next fetch continues from there")]
    Stopped {
        /// The address.
        url: String,
    },
    /// A checked file does not have the expected form: a bug in the parser, not in the data.
    #[error("line {line} of {member} is not in the expected form: {text:?}")]
    Form {
        /// Which file.
        member: &'static str,
        /// Which line, from 1.
        line: usize,
        /// Text of the line.
        text: String,
    },
}

impl DataError {
    /// Makes the error of something that was tried on a path from what the system says.
    pub(crate) fn io(what: &'static str, path: &Path) -> impl Fn(io::Error) -> Self {
        move |source| Self::Io { what, path: path.into(), source }
    }
}
