//! Reading a log: in big pieces, each line checked where it stands.

use super::Checkpoint;
use super::error::{Damage, JournalError};
use super::line::{Line, LineHash, MAX_LINE};
use super::storage::Storage;
use super::tail::{Tail, classify};
use std::io::{self, BufRead, Read, Seek, SeekFrom};
use std::ops::Range;

/// Bytes asked of the system at once.
const PIECE: usize = 1 << 20;

/// An event in its place in the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry<'a> {
    /// Its number, from 1, without gaps.
    pub seq: u64,
    /// Its time in microseconds since 1970, never before that of the entry before.
    pub at_us: i64,
    /// The event: a JSON object in one line.
    pub body: &'a str,
    /// The hash of its line, which stands for all lines up to it.
    pub hash: LineHash,
}

impl<'a> Entry<'a> {
    pub(super) fn of(line: &Line<'a>) -> Self {
        Self { seq: line.seq, at_us: line.at_us, body: line.body, hash: line.hash }
    }
}

/// Where reading ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct End {
    /// The last whole line.
    pub last: Checkpoint,
    /// Bytes after it: a line that is being written at this moment, or that was when its writer was
    /// interrupted.
    pub unfinished: u64,
}

/// Reads a log from behind a line on, checks every line, and hands each event to `visit`.
///
/// From [`Checkpoint::START`] all lines are checked. From a later checkpoint, that line is checked
/// to be the one it names, and those before it are taken on trust.
///
/// It takes no lock and changes nothing, so it may run beside a writer: it ends at the last whole
/// line it finds. The last lines it then shows may not be acknowledged yet, and a crash may still
/// undo those.
///
/// # Cost
/// One pass with two SHA-256 per line; a buffer of 1 MiB, or of the longest line if that is longer.
///
/// # Errors
/// The first damaged line, a checkpoint that is not of this log, a file that cannot be read, or
/// whatever error `visit` returns; entries before it have been visited.
pub fn read<S: Storage, E: From<JournalError>>(
    storage: &S,
    from: &Checkpoint,
    visit: impl FnMut(Entry<'_>) -> Result<(), E>,
) -> Result<End, E> {
    let Scanned { last, rest, .. } = scan(storage, from, visit)?;
    Ok(End { last, unfinished: rest.len() as u64 })
}

/// What a scan found behind the lines.
pub(super) struct Scanned {
    pub(super) last: Checkpoint,
    /// Bytes behind the last whole line.
    pub(super) rest: Vec<u8>,
    /// What they are; never [`Tail::Damaged`].
    pub(super) tail: Tail,
}

/// Reads and checks all lines behind `from`.
pub(super) fn scan<S: Storage, E: From<JournalError>>(
    storage: &S,
    from: &Checkpoint,
    mut visit: impl FnMut(Entry<'_>) -> Result<(), E>,
) -> Result<Scanned, E> {
    let io = |what| move |source| JournalError::Io { what, path: storage.path().into(), source };
    let mut log = storage.reader().map_err(io("open"))?;
    if !holds(&mut log, from).map_err(io("read"))? {
        let (log, Checkpoint { seq, offset, .. }) = (storage.path().into(), *from);
        return Err(JournalError::Checkpoint { log, seq, offset }.into());
    }
    let mut last = *from;
    let mut lines = Lines::new(log, last.offset).map_err(io("read"))?;
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
        // Beside us a writer may have cut off part of a line and written another over it, and we
        // read some of both. What is damaged stays so at a second look.
        if doubted != Some(last.offset) {
            doubted = Some(last.offset);
            lines.restart(last.offset).map_err(io("read"))?;
            continue;
        }
        let (log, seq, offset) = (storage.path().into(), last.seq + 1, last.offset);
        return Err(JournalError::Damaged { log, seq, offset, damage }.into());
    }
}

/// The entry in a line after `last`, newline included, and its place.
fn next_entry<'a>(bytes: &'a [u8], last: &Checkpoint) -> Result<(Entry<'a>, Checkpoint), Damage> {
    let line = Line::parse(&bytes[..bytes.len() - 1])?;
    line.follows(last)?;
    Ok((Entry::of(&line), line.ending_at(last.offset + bytes.len() as u64)))
}

/// Whether the log holds the line that a checkpoint names, where it says.
pub(super) fn holds(log: &mut (impl Read + Seek), checkpoint: &Checkpoint) -> io::Result<bool> {
    if checkpoint.seq == 0 {
        return Ok(*checkpoint == Checkpoint::START);
    }
    if checkpoint.offset > log.seek(SeekFrom::End(0))? {
        return Ok(false);
    }
    // The line begins behind the newline before it: look for that one in longer and longer pieces.
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
    /// All that is behind the last newline.
    Rest(Range<usize>),
    /// More than a line can have, without a newline.
    Endless,
}

/// The log in a buffer that moves along it.
struct Lines<R> {
    log: R,
    buffer: Vec<u8>,
    /// What of the buffer is filled and not yet handed out.
    filled: Range<usize>,
}

impl<R: Read + Seek> Lines<R> {
    fn new(mut log: R, offset: u64) -> io::Result<Self> {
        log.seek(SeekFrom::Start(offset))?;
        Ok(Self { log, buffer: vec![0; PIECE], filled: 0..0 })
    }

    /// Forgets what it has read, and goes on from `offset`.
    fn restart(&mut self, offset: u64) -> io::Result<()> {
        self.filled = 0..0;
        self.log.seek(SeekFrom::Start(offset)).map(drop)
    }

    fn next(&mut self) -> io::Result<Piece> {
        let mut searched = 0;
        loop {
            let begin = self.filled.start;
            let mut rest = &self.buffer[begin + searched..self.filled.end];
            // The standard library's own fast search for a byte.
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

    /// Reads more behind what is there; says how much.
    fn fill(&mut self) -> io::Result<usize> {
        self.buffer.copy_within(self.filled.clone(), 0);
        self.filled = 0..self.filled.len();
        if self.filled.end == self.buffer.len() {
            self.buffer.resize(2 * self.buffer.len(), 0);
        }
        loop {
            match self.log.read(&mut self.buffer[self.filled.end..]) {
                Ok(count) => {
                    self.filled.end += count;
                    return Ok(count);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }
}
