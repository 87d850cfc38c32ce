//! Copies lines of a log as they stand in the file, for mirrors.

use crate::journal::{Checkpoint, Entry, JournalError, Storage, io_error, read};
use crate::log::LogError;
use crate::milestones::checkpoint_before;
use std::io::{Read, Seek, SeekFrom};

/// Lines of a log.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lines {
    /// Their bytes, each line with its newline.
    pub bytes: Vec<u8>,
    /// The number of the line behind them.
    pub next: u64,
}

/// A reading that ends early.
enum Halt {
    Done,
    Failed(LogError),
}

impl From<JournalError> for Halt {
    fn from(failed: JournalError) -> Self {
        Self::Failed(failed.into())
    }
}

/// Copies the lines from one number on up to another, as many as fit into this number of bytes, but
/// one at least. Begins to read at the milestone before them.
///
/// Someone who has the lines from the first on has the log: a first part of a log is a log.
///
/// # Errors
/// If the log cannot be read, or one of the lines read is damaged.
pub fn lines<S: Storage>(
    storage: &S,
    from: u64,
    until: u64,
    most_bytes: u64,
) -> Result<Lines, LogError> {
    let from = from.max(1);
    // The lines seen: the first byte, the byte behind them, and the number behind them.
    let (mut begin, mut end, mut next) = (None, 0, from);
    let mut visit = |entry: Entry<'_>| {
        if let Some(first) = begin {
            // Now it is known where the line before ends.
            let is_full = next > from && entry.begin - first > most_bytes;
            if is_full {
                return Err(Halt::Done);
            }
            (end, next) = (entry.begin, entry.seq);
        }
        if entry.seq > until {
            return Err(Halt::Done);
        }
        if entry.seq >= from && begin.is_none() {
            (begin, end) = (Some(entry.begin), entry.begin);
        }
        Ok(())
    };
    let start = checkpoint_before(storage, from).unwrap_or(Checkpoint::START);
    match read(storage, &start, &mut visit) {
        Ok(last) => {
            let behind = last.last.offset;
            if begin.is_some_and(|first| next == from || behind - first <= most_bytes) {
                (end, next) = (behind, last.last.seq + 1);
            }
        }
        Err(Halt::Done) => {}
        Err(Halt::Failed(failed)) => return Err(failed),
    }
    let Some(begin) = begin else { return Ok(Lines { bytes: Vec::new(), next: from }) };
    let mut bytes = Vec::new();
    let copied = storage.reader().and_then(|mut log| {
        log.seek(SeekFrom::Start(begin))?;
        log.take(end - begin).read_to_end(&mut bytes)
    });
    copied.map_err(io_error(storage, "read"))?;
    Ok(Lines { bytes, next })
}
