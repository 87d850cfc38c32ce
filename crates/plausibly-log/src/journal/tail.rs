//! Bytes after the last newline: an interrupted write, or damage?
//!
//! A write of lines is one run of bytes, each line's newline its last. If it is interrupted, file
//! systems leave a beginning of the run, and after a loss of power perhaps a file that has grown
//! already with zeros where the rest has not arrived. So an interrupted write ends in
//!
//! 1. a whole line without its newline: all of it can be checked, so it is kept and its end is
//!    added; or
//! 2. a part of *the* line that was due there, whose number and `prev` are known, perhaps with
//!    zeros behind.
//!
//! Everything else is damage, also a last line that has its newline and is wrong: the newline is
//! written last, so a beginning of the run never has it. Blocks that reach the disk out of order
//! could leave such a line, with zeros in it; so could a block of an acknowledged line that was
//! lost later. Where both are possible, a person decides: what is refused can still be cut off by
//! hand, what was cut off wrongly was a promise broken.

use super::Checkpoint;
use super::civil;
use super::line::{BODY, EVENT, HASH, HEX, LINE_END, Line, LineHash, PREV, write_head};
use serde::de::IgnoredAny;
use std::fmt;
use std::path::PathBuf;

/// What opening a log did about the end of an interrupted write, whose last line had not been
/// acknowledged.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Recovery {
    /// Part of a line was cut off.
    Cut {
        /// The line it would have been; the next one to be appended has this number again.
        seq: u64,
        /// How many bytes were cut off.
        bytes: u64,
        /// Where they are kept.
        kept_in: PathBuf,
    },
    /// A line was whole but for its newline, which was added.
    Completed {
        /// Which line.
        seq: u64,
    },
}

impl fmt::Display for Recovery {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cut { seq, bytes, kept_in } => write!(
                f,
                "writing line {seq} had been interrupted: its {bytes} bytes, never acknowledged, were cut off and are kept in {}",
                kept_in.display()
            ),
            Self::Completed { seq } => {
                write!(
                    f,
                    "writing line {seq} had been interrupted at its very end: the line is whole and kept"
                )
            }
        }
    }
}

/// What stands after the last newline.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Tail {
    /// Nothing.
    Empty,
    /// This many bytes are a line but for its newline; only zeros follow, if anything.
    Whole(usize),
    /// What an interrupted write leaves of a line.
    Torn,
    /// Something that was never written there.
    Damaged,
}

/// Judges the bytes after the last newline, which ends the line `last`.
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

/// Whether text is the beginning of a line after `last`. Generous only about the time and the
/// event's own bytes.
fn is_beginning(text: &[u8], last: &Checkpoint) -> bool {
    let mut head = Vec::new();
    write_head(&mut head, last, last.at_us);
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

/// Whether bytes are a part of an event, or a whole one with the right hash and a beginning of what
/// must follow it.
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

/// Whether bytes are a part of an event that ends where a number needs a digit: behind its `-`,
/// `.`, `e`, `e-` or `e+`.
///
/// The parser calls that a wrong number, and not an end that came too early. With a digit behind
/// it, it is the latter; and a part of a part of an event is a part of one.
fn ends_inside_a_number(bytes: &[u8]) -> bool {
    let with_digit = [bytes, b"0"].concat();
    serde_json::from_slice::<IgnoredAny>(&with_digit).is_err_and(|error| error.is_eof())
}
