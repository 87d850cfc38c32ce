//! Files from outside, read to a limit: a device or a file of another kind must not fill the
//! memory.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use thiserror::Error;

/// A kind of file, and the most bytes that one of it has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limit {
    /// What such a file is, with its article.
    pub kind: &'static str,
    /// Most mebibytes.
    pub mebibytes: u64,
}

impl Limit {
    /// A certificate has about 500 bytes per action with five features, and lists 200 of them
    /// unless more are asked for: this is room for every action of the largest table.
    pub const CERTIFICATE: Self = Self { kind: "a certificate", mebibytes: 256 };
    /// A spec is written by hand.
    pub const SPEC: Self = Self { kind: "a spec", mebibytes: 4 };
    /// The table of one policy is a spec of a few lines.
    pub const POLICY: Self = Self { kind: "the file of a policy", mebibytes: 1 };
    /// A table has one row per action.
    pub const TABLE: Self = Self { kind: "a table", mebibytes: 256 };
    /// A saved policy carries the action sets it remembers: ten million features have about 200 MB
    /// as text.
    pub const SAVED_POLICY: Self = Self { kind: "a saved policy", mebibytes: 512 };
}

/// Why a file could not be read as text.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum InputError {
    /// The system.
    #[error("cannot read {path}")]
    Io {
        /// The file.
        path: String,
        /// What the system says.
        source: io::Error,
    },
    /// More bytes than such a file has.
    #[error("{path} has more than {} MiB, the limit of {}: is it the right file?", .limit.mebibytes, .limit.kind)]
    TooLarge {
        /// The file.
        path: String,
        /// What it was read as.
        limit: Limit,
    },
    /// Another encoding.
    #[error("{path} is not UTF-8 text; save it as UTF-8")]
    NotUtf8 {
        /// The file.
        path: String,
        /// Where.
        source: std::string::FromUtf8Error,
    },
}

/// The text of a file, read no further than its limit: also of a device, which has no end.
///
/// # Errors
/// If it cannot be read, is larger than its kind may be, or is not UTF-8.
pub fn read_text(path: &Path, limit: Limit) -> Result<String, InputError> {
    let name = || path.display().to_string();
    let failed = |source| InputError::Io { path: name(), source };
    let file = File::open(path).map_err(failed)?;
    let most = limit.mebibytes << 20;
    let mut bytes = Vec::new();
    file.take(most + 1).read_to_end(&mut bytes).map_err(failed)?;
    if bytes.len() as u64 > most {
        return Err(InputError::TooLarge { path: name(), limit });
    }
    String::from_utf8(bytes).map_err(|source| InputError::NotUtf8 { path: name(), source })
}
