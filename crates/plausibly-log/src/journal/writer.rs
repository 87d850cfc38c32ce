//! Appends to a log. Lines are prepared one by one, each with the hash of the line before it, and
//! committed together: in one write and one sync. A journal stops at its first failed commit,
//! because the end of the file is then unknown; opening the log again finds out.

use super::error::JournalError;
use super::holder::Holder;
use super::line::{Line, check_body, write_line};
use super::reader::{Entry, LineAt, LineReader, Scanned, entry_at, io_error, scan};
use super::storage::{Storage, side_path};
use super::tail::{Recovery, Tail};
use super::{Checkpoint, LATEST_US};
use crate::time::Time;
use std::io;

/// A log that only this process appends to.
///
/// The lock is held until the journal is dropped or the process ends.
#[derive(Debug)]
pub struct Journal<S> {
    storage: S,
    /// The last acknowledged line.
    last: Checkpoint,
    /// The last line prepared; the same as `last` if none waits for its commit.
    prepared: Checkpoint,
    recovery: Option<Recovery>,
    /// Set after a failed write: the end of the file is then unknown.
    stopped: bool,
    /// The lines that wait for their commit.
    lines: Vec<u8>,
}

impl<S: Storage> Journal<S> {
    /// Opens a log, creates it if it is missing, and checks every line of it.
    ///
    /// # Errors
    /// As [`Journal::open_from`].
    pub fn open(storage: S) -> Result<Self, JournalError> {
        Self::open_from(storage, &Checkpoint::START, |_, _| Ok(()))
    }

    /// Opens a log, creates it if it is missing, and passes every event behind a checkpoint to
    /// `visit`, as [`read`](super::read) does: the lines before the checkpoint are trusted, and
    /// [`Checkpoint::START`] trusts nothing.
    ///
    /// Repairs what an interrupted write left at the end, see [`Journal::recovery`]. When this
    /// returns, the disk has every line that was visited, including lines never acknowledged.
    ///
    /// # Errors
    /// Another writer, the first damaged line, a checkpoint of another log, a file that cannot be
    /// read or written, or any error of `visit`.
    pub fn open_from<E: From<JournalError>>(
        mut storage: S,
        from: &Checkpoint,
        mut visit: impl FnMut(&S, Entry<'_>) -> Result<(), E>,
    ) -> Result<Self, E> {
        storage.lock().map_err(|source| match source.kind() {
            io::ErrorKind::WouldBlock => JournalError::Locked {
                log: storage.path().into(),
                holder: Holder::in_error(&source),
            },
            _ => JournalError::Io { what: "open", path: storage.path().into(), source },
        })?;
        let mut scanned = scan(&storage, from, u64::MAX, |entry| visit(&storage, entry))?;
        let recovery = recover(&mut storage, &scanned)?;
        if let Tail::Whole(len) = scanned.tail
            && let Ok(line) = Line::parse(&scanned.rest[..len])
        {
            let begin = scanned.last.offset;
            scanned.last = line.ending_at(begin + len as u64 + 1);
            visit(&storage, line.beginning_at(begin))?;
        }
        // Syncs lines that an earlier writer did not get to sync, and the name of a file it had
        // just created.
        let synced = storage.sync().and_then(|()| storage.sync_folder());
        synced.map_err(|source| JournalError::NotSynced { log: storage.path().into(), source })?;
        let last = scanned.last;
        let lines = Vec::new();
        Ok(Self { storage, last, prepared: last, recovery, stopped: false, lines })
    }

    /// Where the log is stored.
    pub(crate) fn storage(&self) -> &S {
        &self.storage
    }

    /// The last acknowledged line; [`Checkpoint::START`] of an empty log.
    pub fn last(&self) -> Checkpoint {
        self.last
    }

    /// How opening repaired the end of an interrupted write, if there was one.
    pub fn recovery(&self) -> Option<&Recovery> {
        self.recovery.as_ref()
    }

    /// The last line prepared, which need not be on the disk yet; [`Journal::last`] if none waits.
    pub fn prepared(&self) -> Checkpoint {
        self.prepared
    }

    /// Appends events as lines in one write, behind those that are prepared, and returns their
    /// places when the disk has them: [`Journal::prepare`] for each, then [`Journal::commit`].
    ///
    /// All lines get this time, or the time of the line before if that is later.
    ///
    /// # Errors
    /// As [`Journal::commit`]. Bodies and time are checked before anything is prepared.
    pub fn append(
        &mut self,
        at: impl Into<Time>,
        bodies: &[&str],
    ) -> Result<Vec<Checkpoint>, JournalError> {
        let (at, count) = (at.into(), bodies.len());
        self.check(at)?;
        for (index, body) in (1..).zip(bodies) {
            check_body(body).map_err(|fault| JournalError::Body { index, count, fault })?;
        }
        let written = bodies.iter().map(|body| self.prepare_checked(at, body)).collect();
        self.commit()?;
        Ok(written)
    }

    /// Prepares the line of an event, and returns the place it will have. Nothing is written before
    /// [`Journal::commit`], and until then the line is not acknowledged.
    ///
    /// # Errors
    /// A text that is not an event, a time that no line can have, or a journal that has stopped.
    /// Lines prepared before stay so.
    pub fn prepare(&mut self, at: impl Into<Time>, body: &str) -> Result<Checkpoint, JournalError> {
        let at = at.into();
        self.check_line(at, body)?;
        Ok(self.prepare_checked(at, body))
    }

    /// Calls `visit` with a line, prepared or written. It is checked by itself.
    pub(crate) fn line_at<T>(
        &self,
        at: LineAt,
        visit: impl FnOnce(Entry<'_>) -> T,
    ) -> Result<T, JournalError> {
        let path = self.storage.path();
        let Some(prepared) = at.begin.checked_sub(self.last.offset) else {
            let opened = self.storage.reader().map_err(io_error(&self.storage, "open"))?;
            return Ok(visit(LineReader::new(opened).line_at(at, path)?));
        };
        let prepared = usize::try_from(prepared).unwrap_or(usize::MAX).min(self.lines.len());
        let rest = &self.lines[prepared..];
        let end = rest.iter().position(|&byte| byte == b'\n').unwrap_or(rest.len());
        Ok(visit(entry_at(&rest[..end], at, path)?))
    }

    /// Checks what [`Journal::prepare`] checks.
    pub(crate) fn check_line(&self, at: Time, body: &str) -> Result<(), JournalError> {
        self.check(at)?;
        check_body(body).map_err(|fault| JournalError::Body { index: 1, count: 1, fault })
    }

    /// Prepares a line that [`Journal::check_line`] has accepted.
    pub(crate) fn prepare_checked(&mut self, at: Time, body: &str) -> Checkpoint {
        let at_us = at.micros().max(self.prepared.at_us);
        self.prepared = write_line(&mut self.lines, &self.prepared, at_us, body);
        self.prepared
    }

    fn check(&self, at: Time) -> Result<(), JournalError> {
        if self.stopped {
            return Err(JournalError::Stopped { log: self.storage.path().into() });
        }
        let at_us = at.micros();
        if (0..=LATEST_US).contains(&at_us) { Ok(()) } else { Err(JournalError::Time { at_us }) }
    }

    /// Writes the prepared lines in one write, and returns when the disk has them. Without prepared
    /// lines there is nothing to do.
    ///
    /// # What a caller may conclude
    /// - `Ok`: all lines are in the log and stay there.
    /// - [`JournalError::NotAcknowledged`]: nothing. Any first part of the lines may be in the log
    ///   when it is opened again, perhaps with a torn last line, which opening cuts off. Do not
    ///   append the events again before looking.
    /// - Any other error: nothing was written.
    ///
    /// After any error no line is prepared. After [`JournalError::NotAcknowledged`] and
    /// [`JournalError::Changed`] the journal takes no more lines ([`JournalError::Stopped`]). It
    /// does not retry a failed sync: the system may have dropped the bytes it could not write, and
    /// would report success for the rest.
    ///
    /// # Errors
    /// See above.
    pub fn commit(&mut self) -> Result<(), JournalError> {
        let committed = self.write_prepared();
        if committed.is_ok() {
            self.last = self.prepared;
        } else {
            self.prepared = self.last;
        }
        self.lines.clear();
        committed
    }

    fn write_prepared(&mut self) -> Result<(), JournalError> {
        if self.stopped {
            return Err(JournalError::Stopped { log: self.storage.path().into() });
        }
        if self.lines.is_empty() {
            return Ok(());
        }
        self.check_length()?;
        if let Err((what, source)) = self.write_and_sync() {
            self.stopped = true;
            let cut_back = self.storage.truncate(self.last.offset).is_ok();
            let (log, first) = (self.storage.path().into(), self.last.seq + 1);
            let count = usize::try_from(self.prepared.seq - self.last.seq).unwrap_or(usize::MAX);
            return Err(JournalError::NotAcknowledged {
                log,
                what,
                first,
                count,
                cut_back,
                source,
            });
        }
        Ok(())
    }

    /// Detects a program that ignores the lock, such as an editor. Its bytes would otherwise be
    /// continued or cut off.
    fn check_length(&mut self) -> Result<(), JournalError> {
        let found = self.storage.length().map_err(io_error(&self.storage, "look at"))?;
        let expected = self.last.offset;
        if found == expected {
            return Ok(());
        }
        self.stopped = true;
        Err(JournalError::Changed { log: self.storage.path().into(), expected, found })
    }

    fn write_and_sync(&mut self) -> Result<(), (&'static str, io::Error)> {
        self.storage.append(&self.lines).map_err(|error| ("write to", error))?;
        self.storage.sync().map_err(|error| ("sync", error))
    }
}

/// Repairs what is behind the last whole line. If the repair is interrupted, the next opening finds
/// the same bytes and repeats it.
fn recover<S: Storage>(
    storage: &mut S,
    scanned: &Scanned,
) -> Result<Option<Recovery>, JournalError> {
    let (seq, end) = (scanned.last.seq + 1, scanned.last.offset);
    match scanned.tail {
        Tail::Empty | Tail::Damaged => Ok(None),
        Tail::Whole(len) => {
            let whole = storage.truncate(end + len as u64).and_then(|()| storage.append(b"\n"));
            whole.map_err(io_error(storage, "write to"))?;
            Ok(Some(Recovery::Completed { seq }))
        }
        Tail::Torn => {
            let suffix = keep(storage, seq, &scanned.rest);
            let suffix = suffix.map_err(io_error(storage, "save, beside it, the torn end of"))?;
            storage.truncate(end).map_err(io_error(storage, "cut the torn end off"))?;
            let kept_in = side_path(storage.path(), &suffix);
            Ok(Some(Recovery::Cut { seq, bytes: scanned.rest.len() as u64, kept_in }))
        }
    }
}

/// Saves bytes beside the log without overwriting other bytes, and returns the suffix used.
fn keep<S: Storage>(storage: &mut S, seq: u64, bytes: &[u8]) -> io::Result<String> {
    let mut suffix = format!("torn-{seq}");
    let mut attempt = 1;
    while let Some(found) = storage.read_side(&suffix)? {
        if found == bytes {
            // An interrupted recovery has saved these bytes already, perhaps before syncing the
            // folder.
            storage.sync_folder()?;
            return Ok(suffix);
        }
        attempt += 1;
        suffix = format!("torn-{seq}-{attempt}");
    }
    // Writes under another name first: a crash must not leave a part of the bytes under this one.
    let temporary = format!("{suffix}.tmp");
    storage.write_side(&temporary, bytes)?;
    storage.rename_side(&temporary, &suffix)?;
    storage.sync_folder()?;
    Ok(suffix)
}
