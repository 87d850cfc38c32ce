//! Reads files up to a limit of size, so that a device or a wrong file cannot fill the memory.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use thiserror::Error;

/// A kind of file, and how large such a file may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limit {
    /// The kind with its article, such as "a spec".
    pub kind: &'static str,
    /// The largest size, in MiB.
    pub mebibytes: u64,
}

impl Limit {
    /// A certificate takes about 500 bytes per action with five features, and lists 200 actions
    /// unless more are requested. This limit has room for every action of the largest table.
    pub const CERTIFICATE: Self = Self { kind: "a certificate", mebibytes: 256 };
    /// A spec is written by hand.
    pub const SPEC: Self = Self { kind: "a spec", mebibytes: 4 };
    /// The table of one policy is a spec of a few lines.
    pub const POLICY: Self = Self { kind: "the file of a policy", mebibytes: 1 };
    /// A table has one row per action.
    pub const TABLE: Self = Self { kind: "a table", mebibytes: 256 };
    /// A saved policy contains the action sets it remembers: ten million features take about 200 MB
    /// as text.
    pub const SAVED_POLICY: Self = Self { kind: "a saved policy", mebibytes: 512 };
}

/// Why a file could not be read as text.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum InputError {
    /// The system could not read the file.
    #[error("cannot read {path}")]
    Io {
        /// The file.
        path: String,
        /// What the system says.
        source: io::Error,
    },
    /// The file is larger than its kind may be.
    #[error(
        "{path} has more than {} MiB, the limit of {}: is it the right file?",
        .limit.mebibytes, .limit.kind
    )]
    TooLarge {
        /// The file.
        path: String,
        /// The limit that applied.
        limit: Limit,
    },
    /// The text has another encoding.
    #[error("{path} is not UTF-8 text; save it as UTF-8")]
    NotUtf8 {
        /// The file.
        path: String,
        /// Where the text stops being UTF-8.
        source: std::string::FromUtf8Error,
    },
}

/// The text of a file. Reads no further than the limit, also from a device that never ends.
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
