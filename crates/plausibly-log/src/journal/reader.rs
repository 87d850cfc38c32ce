//! Reads a log in pieces of 1 MiB, and checks each line in the buffer without copying it.

use super::Checkpoint;
use super::error::{Damage, JournalError};
use super::line::{Line, LineHash, MAX_LINE};
use super::storage::Storage;
use super::tail::{Tail, classify};
use std::io::{self, BufRead, Read, Seek, SeekFrom};
use std::ops::Range;
use std::path::Path;

/// Reads 1 MiB from the system at once.
const PIECE: usize = 1 << 20;

/// An event in its place in the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry<'a> {
    /// Its number, from 1, without gaps.
    pub seq: u64,
    /// Its time in microseconds since 1970, never earlier than the previous entry's.
    pub at_us: i64,
    /// The number of bytes of the log before its line.
    pub begin: u64,
    /// The event: a JSON object on one line.
    pub body: &'a str,
    /// The hash of its line, which covers all lines up to it.
    pub hash: LineHash,
}

/// Where reading ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct End {
    /// The last whole line.
    pub last: Checkpoint,
    /// The number of bytes after it: a line that is being written now, or that an interrupted write
    /// left.
    pub unfinished: u64,
}

/// Reads a log from a checkpoint on, checks every line, and passes each event to `visit`.
///
/// From [`Checkpoint::START`] all lines are checked. From a later checkpoint, its own line is
/// checked, and those before it are trusted.
///
/// It takes no lock and changes nothing, so it may run beside a writer. It ends at the last whole
/// line it finds; the writer may not have acknowledged that line yet, and a crash may still undo
/// it.
///
/// # Cost
/// One pass with two SHA-256 per line. The buffer takes 1 MiB, or the longest line if that is
/// longer.
///
/// # Errors
/// The first damaged line, a checkpoint of another log, a file that cannot be read, or any error of
/// `visit`. Entries before it have been visited.
pub fn read<S: Storage, E: From<JournalError>>(
    storage: &S,
    from: &Checkpoint,
    visit: impl FnMut(Entry<'_>) -> Result<(), E>,
) -> Result<End, E> {
    let Scanned { last, rest, .. } = scan(storage, from, u64::MAX, visit)?;
    Ok(End { last, unfinished: rest.len() as u64 })
}

/// Like [`read`] from the first line, up to the length that the log has when this begins. So it
/// ends, also if a writer appends as fast as `visit` takes entries.
///
/// # Errors
/// As [`read`].
pub(crate) fn read_present<S: Storage, E: From<JournalError>>(
    storage: &S,
    visit: impl FnMut(Entry<'_>) -> Result<(), E>,
) -> Result<End, E> {
    let length = storage.reader().and_then(|mut log| log.seek(SeekFrom::End(0)));
    let length = length.map_err(io_error(storage, "open"))?;
    let Scanned { last, rest, .. } = scan(storage, &Checkpoint::START, length, visit)?;
    Ok(End { last, unfinished: rest.len() as u64 })
}

/// Where a line stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LineAt {
    /// Its number.
    pub(crate) seq: u64,
    /// The number of bytes of the log before it.
    pub(crate) begin: u64,
}

/// Reads single lines of a log.
#[derive(Debug)]
pub(crate) struct LineReader<R> {
    log: R,
    buffer: Vec<u8>,
}

impl<R: Read + Seek> LineReader<R> {
    pub(crate) fn new(log: R) -> Self {
        Self { log, buffer: Vec::new() }
    }

    /// Reads a line, and checks it by itself: its number and its hashes, and not the chain. `path`
    /// is for messages.
    pub(crate) fn line_at(&mut self, at: LineAt, path: &Path) -> Result<Entry<'_>, JournalError> {
        let io = |source| JournalError::Io { what: "read", path: path.into(), source };
        self.log.seek(SeekFrom::Start(at.begin)).map_err(io)?;
        self.buffer.clear();
        // Most lines fit into the first piece.
        let mut piece = 1024;
        let end = loop {
            let searched = self.buffer.len();
            let read = self.log.by_ref().take(piece).read_to_end(&mut self.buffer).map_err(io)?;
            let newline = self.buffer[searched..].iter().position(|&byte| byte == b'\n');
            if let Some(found) = newline {
                break searched + found;
            }
            if read == 0 || self.buffer.len() > MAX_LINE {
                break self.buffer.len();
            }
            piece *= 4;
        };
        entry_at(&self.buffer[..end], at, path)
    }
}

/// The entry of a line without its newline, which stands here.
pub(super) fn entry_at<'a>(
    line: &'a [u8],
    at: LineAt,
    path: &Path,
) -> Result<Entry<'a>, JournalError> {
    let LineAt { seq, begin } = at;
    let damaged = |damage| JournalError::Damaged { log: path.into(), seq, offset: begin, damage };
    let entry = Line::parse(line).map_err(damaged)?.beginning_at(begin);
    if entry.seq == seq { Ok(entry) } else { Err(damaged(Damage::Gap { found: entry.seq })) }
}

/// The end of a scanned log.
pub(super) struct Scanned {
    pub(super) last: Checkpoint,
    /// The bytes behind the last whole line.
    pub(super) rest: Vec<u8>,
    /// The kind of those bytes; never [`Tail::Damaged`].
    pub(super) tail: Tail,
}

/// Reads and checks all lines behind `from` and before the byte `until`.
pub(super) fn scan<S: Storage, E: From<JournalError>>(
    storage: &S,
    from: &Checkpoint,
    until: u64,
    mut visit: impl FnMut(Entry<'_>) -> Result<(), E>,
) -> Result<Scanned, E> {
    let io = |what| io_error(storage, what);
    let mut log = storage.reader().map_err(io("open"))?;
    if !holds(&mut log, from).map_err(io("read"))? {
        let (log, Checkpoint { seq, offset, .. }) = (storage.path().into(), *from);
        return Err(JournalError::Checkpoint { log, seq, offset }.into());
    }
    let mut last = *from;
    let mut lines = Lines { log, buffer: vec![0; PIECE], filled: 0..0, at: 0, until };
    lines.restart(last.offset).map_err(io("read"))?;
    let mut doubted = None;
    loop {
        let damage = match lines.next().map_err(io("read"))? {
            Piece::Line(range) => match next_entry(&lines.buffer[range], &last) {
                Ok((entry, after)) => {
                    visit(entry)?;
                    last = after;
                    continue;
                }
                Err(damage) => damage,
            },
            Piece::Rest(range) => match classify(&lines.buffer[range.clone()], &last) {
                Tail::Damaged => Damage::Unended,
                tail => return Ok(Scanned { last, rest: lines.buffer[range].to_vec(), tail }),
            },
            Piece::Endless => Damage::TooLong,
        };
        // A writer beside us may have cut off part of a line and written another one over it, so
        // that we read some of both. A damaged line is still damaged when it is read a second time.
        if doubted != Some(last.offset) {
            doubted = Some(last.offset);
            lines.restart(last.offset).map_err(io("read"))?;
            continue;
        }
        let (log, seq, offset) = (storage.path().into(), last.seq + 1, last.offset);
        return Err(JournalError::Damaged { log, seq, offset, damage }.into());
    }
}

pub(crate) fn io_error<S: Storage>(
    storage: &S,
    what: &'static str,
) -> impl FnOnce(io::Error) -> JournalError {
    let path = storage.path().into();
    move |source| JournalError::Io { what, path, source }
}

/// Parses the line after `last`, newline included.
fn next_entry<'a>(bytes: &'a [u8], last: &Checkpoint) -> Result<(Entry<'a>, Checkpoint), Damage> {
    let line = Line::parse(&bytes[..bytes.len() - 1])?;
    line.follows(last)?;
    let after = line.ending_at(last.offset + bytes.len() as u64);
    Ok((line.beginning_at(last.offset), after))
}

/// Whether a log has the line of a checkpoint at its place.
pub(crate) fn holds_line<S: Storage>(storage: &S, checkpoint: &Checkpoint) -> bool {
    storage.reader().and_then(|mut log| holds(&mut log, checkpoint)).unwrap_or(false)
}

/// Whether the log has the line of a checkpoint at its place.
pub(super) fn holds(log: &mut (impl Read + Seek), checkpoint: &Checkpoint) -> io::Result<bool> {
    if checkpoint.seq == 0 {
        return Ok(*checkpoint == Checkpoint::START);
    }
    if checkpoint.offset > log.seek(SeekFrom::End(0))? {
        return Ok(false);
    }
    // The line begins behind the previous newline, which is searched backwards in growing pieces.
    let mut window = 4096;
    loop {
        let len = checkpoint.offset.min(window);
        log.seek(SeekFrom::Start(checkpoint.offset - len))?;
        let mut bytes = Vec::new();
        log.by_ref().take(len).read_to_end(&mut bytes)?;
        let Some((b'\n', text)) = bytes.split_last() else { return Ok(false) };
        let newline = text.iter().rposition(|&byte| byte == b'\n');
        if newline.is_some() || len == checkpoint.offset {
            let line = Line::parse(&text[newline.map_or(0, |at| at + 1)..]);
            return Ok(line.is_ok_and(|line| line.ending_at(checkpoint.offset) == *checkpoint));
        }
        if len > MAX_LINE as u64 {
            return Ok(false);
        }
        window *= 8;
    }
}

/// A part of the buffer.
enum Piece {
    /// A line with its newline.
    Line(Range<usize>),
    /// Everything behind the last newline.
    Rest(Range<usize>),
    /// More bytes than a line can have, without a newline.
    Endless,
}

/// Splits the log into lines, in a buffer that moves along it.
struct Lines<R> {
    log: R,
    buffer: Vec<u8>,
    /// The part of the buffer that is filled and not yet returned.
    filled: Range<usize>,
    /// The byte of the log behind that part.
    at: u64,
    /// The byte of the log to stop at.
    until: u64,
}

impl<R: Read + Seek> Lines<R> {
    /// Discards what the buffer holds, and continues from `offset`.
    fn restart(&mut self, offset: u64) -> io::Result<()> {
        (self.filled, self.at) = (0..0, offset);
        self.log.seek(SeekFrom::Start(offset)).map(drop)
    }

    fn next(&mut self) -> io::Result<Piece> {
        let mut searched = 0;
        loop {
            let begin = self.filled.start;
            let mut rest = &self.buffer[begin + searched..self.filled.end];
            // `skip_until` is the fast search for a byte in the standard library.
            searched += rest.skip_until(b'\n')?;
            if searched > 0 && self.buffer[begin + searched - 1] == b'\n' {
                self.filled.start += searched;
                return Ok(Piece::Line(begin..begin + searched));
            }
            if searched > MAX_LINE {
                return Ok(Piece::Endless);
            }
            if self.fill()? == 0 {
                return Ok(Piece::Rest(self.filled.clone()));
            }
        }
    }

    /// Reads more bytes into the buffer, and returns how many.
    fn fill(&mut self) -> io::Result<usize> {
        self.buffer.copy_within(self.filled.clone(), 0);
        self.filled = 0..self.filled.len();
        if self.filled.end == self.buffer.len() {
            self.buffer.resize(2 * self.buffer.len(), 0);
        }
        let left = usize::try_from(self.until.saturating_sub(self.at)).unwrap_or(usize::MAX);
        let end = self.buffer.len().min(self.filled.end.saturating_add(left));
        loop {
            match self.log.read(&mut self.buffer[self.filled.end..end]) {
                Ok(count) => {
                    self.filled.end += count;
                    self.at += count as u64;
                    return Ok(count);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }
}
