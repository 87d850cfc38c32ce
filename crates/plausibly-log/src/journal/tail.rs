//! Decides whether the bytes after the last newline are an interrupted write or damage.
//!
//! Lines are written as one run of bytes, and the newline is the last byte of each. If the write is
//! interrupted, file systems leave a beginning of the run; after a power failure the file may also
//! have grown, with zeros where bytes are missing. So an interrupted write ends in
//!
//! 1. a whole line without its newline, which can be checked, so it is kept and its newline is
//!    added; or
//! 2. a part of the next line, whose number and `prev` are known, perhaps with zeros behind.
//!
//! Everything else is damage, even a wrong last line that has its newline: the newline is written
//! last, so the beginning of a run never has it. Blocks that reach the disk out of order could
//! leave such a line with zeros in it, and so could an acknowledged line that lost a block later. A
//! person must decide between the two: a refused line can still be cut off by hand, but cutting off
//! an acknowledged line would break the promise.

use super::Checkpoint;
use super::civil;
use super::line::{BODY, EVENT, HASH, HEX, LINE_END, Line, LineHash, PREV, head};
use serde::de::IgnoredAny;
use std::fmt;
use std::path::PathBuf;

/// How opening a log repaired an unfinished last line, as an interrupted write leaves it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Recovery {
    /// Part of a line was cut off.
    Cut {
        /// The number of the line; the next line appended gets it again.
        seq: u64,
        /// The number of bytes cut off.
        bytes: u64,
        /// The file that keeps them.
        kept_in: PathBuf,
    },
    /// A line lacked only its newline, which was added.
    Completed {
        /// The number of the line.
        seq: u64,
    },
}

impl fmt::Display for Recovery {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cut { seq, bytes, kept_in } => write!(
                f,
                "line {seq} was unfinished, as after an interrupted write; its {bytes} bytes were \
                 cut off and are kept in {}",
                kept_in.display()
            ),
            Self::Completed { seq } => write!(
                f,
                "an earlier write of line {seq} was interrupted just before its end: the line is \
                 complete and kept"
            ),
        }
    }
}

/// The kind of bytes after the last newline.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Tail {
    /// Nothing.
    Empty,
    /// This many bytes are a line without its newline; only zeros follow, if anything.
    Whole(usize),
    /// Part of a line, as an interrupted write leaves it.
    Torn,
    /// Bytes that no write has left there.
    Damaged,
}

/// Classifies the bytes after the newline of the line `last`.
pub(super) fn classify(bytes: &[u8], last: &Checkpoint) -> Tail {
    if bytes.is_empty() {
        return Tail::Empty;
    }
    let written = bytes.iter().rposition(|&byte| byte != 0).map_or(0, |at| at + 1);
    let text = &bytes[..written];
    if Line::parse(text).is_ok_and(|line| line.follows(last).is_ok()) {
        Tail::Whole(written)
    } else if is_beginning(text, last) {
        Tail::Torn
    } else {
        Tail::Damaged
    }
}

/// Whether a text is the beginning of a line after `last`. Only the time and the bytes of the event
/// are free.
fn is_beginning(text: &[u8], last: &Checkpoint) -> bool {
    let head = head(last, last.at_us).into_bytes();
    let time_end = head.len() - BODY.len() - HEX - PREV.len();
    let time = time_end - civil::WIDTH..time_end;
    let fits = |(at, &byte): (usize, &u8)| {
        if time.contains(&at) && civil::TEMPLATE[at - time.start] == b'0' {
            byte.is_ascii_digit()
        } else {
            byte == head[at]
        }
    };
    if !text.iter().take(head.len()).enumerate().all(fits) {
        return false;
    }
    let Some(rest) = text.get(head.len()..) else { return true };
    let (digits, rest) = rest.split_at(rest.len().min(HEX));
    if !digits.iter().all(|digit| matches!(digit, b'0'..=b'9' | b'a'..=b'f')) {
        return false;
    }
    let opening = [b"\"", EVENT.as_bytes()].concat();
    let Some(event) = rest.strip_prefix(&opening[..]) else { return opening.starts_with(rest) };
    let hashed = &text[..=head.len() + HEX];
    event.is_empty() || event.starts_with(b"{") && is_event_and_foot(event, digits, hashed)
}

/// Whether bytes are a part of an event, or a whole event with the right hash and a beginning of
/// the end of its line.
fn is_event_and_foot(bytes: &[u8], body_hash: &[u8], head: &[u8]) -> bool {
    let mut values = serde_json::Deserializer::from_slice(bytes).into_iter::<IgnoredAny>();
    match values.next() {
        Some(Err(error)) => error.is_eof() || ends_inside_a_number(bytes),
        Some(Ok(_)) => {
            let (event, rest) = bytes.split_at(values.byte_offset());
            let foot = [HASH.as_bytes(), &LineHash::of(head).hex(), LINE_END.as_bytes()].concat();
            LineHash::of(event).hex() == body_hash && foot.starts_with(rest)
        }
        None => true,
    }
}

/// Whether bytes are a part of an event that ends where a number needs a digit: after `-`, `.`,
/// `e`, `e-` or `e+`.
///
/// The parser reports this as a wrong number, not as an early end. Adding a digit turns it into an
/// early end, if the bytes are part of an event.
fn ends_inside_a_number(bytes: &[u8]) -> bool {
    let with_digit = [bytes, b"0"].concat();
    serde_json::from_slice::<IgnoredAny>(&with_digit).is_err_and(|error| error.is_eof())
}
