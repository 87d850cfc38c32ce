//! Writes a log from its first line on, without a lock: for a file that gets its name only when it
//! is complete.

use super::Checkpoint;
use super::error::JournalError;
use super::line::{check_body, write_line};
use std::io::Write;
use std::path::Path;

/// Writes in pieces of 1 MiB.
const PIECE: usize = 1 << 20;

/// A log that is being written from its first line on.
#[derive(Debug)]
pub(crate) struct Fresh<'a, W> {
    out: W,
    /// The path that the log will have, for messages.
    path: &'a Path,
    last: Checkpoint,
    lines: Vec<u8>,
}

impl<'a, W: Write> Fresh<'a, W> {
    pub(crate) fn new(out: W, path: &'a Path) -> Self {
        Self { out, path, last: Checkpoint::START, lines: Vec::new() }
    }

    /// Adds a line, with this time or that of the line before if that is later.
    pub(crate) fn add(&mut self, at_us: i64, body: &str) -> Result<(), JournalError> {
        check_body(body).map_err(|fault| JournalError::Body { index: 1, count: 1, fault })?;
        self.last = write_line(&mut self.lines, &self.last, at_us.max(self.last.at_us), body);
        if self.lines.len() < PIECE { Ok(()) } else { self.write() }
    }

    /// Writes what is still in memory, and returns the last line.
    pub(crate) fn finish(mut self) -> Result<Checkpoint, JournalError> {
        self.write()?;
        Ok(self.last)
    }

    fn write(&mut self) -> Result<(), JournalError> {
        self.out.write_all(&self.lines).map_err(|source| JournalError::Io {
            what: "write",
            path: self.path.into(),
            source,
        })?;
        self.lines.clear();
        Ok(())
    }
}
