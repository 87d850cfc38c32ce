//! Writes and parses one line. Every part of the frame but the sequence number has a fixed width,
//! so a line is read by position and the event needs no search for its end.

use super::error::{BodyFault, Damage};
use super::{Checkpoint, Entry, civil};
use serde::de::IgnoredAny;
use sha2::{Digest, Sha256};
use std::fmt;

/// An event has at most 16 MiB.
pub const MAX_BODY: usize = 16 << 20;
/// A line with its newline has at most this many bytes: the frame, a sequence number of
/// [`SEQ_DIGITS`] and the event.
pub(super) const MAX_LINE: usize = MAX_BODY + 296;
/// Sequence numbers have at most 15 digits: no log reaches 10¹⁵ lines, and every JSON reader holds
/// such numbers exactly.
const SEQ_DIGITS: usize = 15;
/// The largest sequence number.
pub(crate) const MAX_SEQ: u64 = 999_999_999_999_999;

// The parts of the frame, in order.
const VERSION: &str = "{\"v\":";
const SEQ: &str = ",\"seq\":";
const AT: &str = ",\"at\":\"";
pub(super) const PREV: &str = "\",\"prev\":\"";
pub(super) const BODY: &str = "\",\"body\":\"";
const HEAD_END: &str = "\"";
pub(super) const EVENT: &str = ",\"event\":";
pub(super) const HASH: &str = ",\"hash\":\"";
pub(super) const LINE_END: &str = "\"}";
/// The width of the end of a line, from `,"hash":"` to the closing brace.
const FOOT: usize = HASH.len() + HEX + LINE_END.len();
/// A hash has 64 hexadecimal digits.
pub(super) const HEX: usize = 64;
const DIGITS: &[u8; 16] = b"0123456789abcdef";

/// SHA-256 of the frame of a line, which contains the hash of its event and that of the line
/// before.
///
/// Displays as 64 hexadecimal digits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LineHash([u8; 32]);

impl LineHash {
    /// The `prev` of the first line.
    pub const ZERO: Self = Self([0; 32]);

    /// Parses 64 hexadecimal digits in lower case, the form of its `Display`.
    pub fn parse(text: &str) -> Option<Self> {
        let digit = |byte: u8| (0_u8..).zip(DIGITS).find(|(_, digit)| **digit == byte);
        let text: &[u8; HEX] = text.as_bytes().try_into().ok()?;
        let mut bytes = [0; 32];
        for (byte, pair) in bytes.iter_mut().zip(text.chunks_exact(2)) {
            *byte = digit(pair[0])?.0 << 4 | digit(pair[1])?.0;
        }
        Some(Self(bytes))
    }

    /// The SHA-256 of any bytes.
    pub(crate) fn of(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }

    /// The first sixteen bytes as a number.
    pub(crate) fn first_half(&self) -> u128 {
        let (half, _) = self.0.split_at(16);
        u128::from_be_bytes(half.try_into().expect("sixteen bytes"))
    }

    pub(super) fn hex(&self) -> [u8; HEX] {
        let mut hex = [0; HEX];
        for (pair, byte) in hex.chunks_exact_mut(2).zip(self.0) {
            pair[0] = DIGITS[usize::from(byte >> 4)];
            pair[1] = DIGITS[usize::from(byte & 15)];
        }
        hex
    }
}

impl fmt::Display for LineHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&String::from_utf8_lossy(&self.hex()))
    }
}

/// Appends the line of an event that [`check_body`] has accepted, with its newline, and returns its
/// place.
pub(super) fn write_line(
    out: &mut Vec<u8>,
    last: &Checkpoint,
    at_us: i64,
    body: &str,
) -> Checkpoint {
    let body_hash = LineHash::of(body.as_bytes());
    let head = format!("{}{body_hash}{HEAD_END}", head(last, at_us));
    let hash = LineHash::of(head.as_bytes());
    let line = format!("{head}{EVENT}{body}{HASH}{hash}{LINE_END}\n");
    out.extend_from_slice(line.as_bytes());
    Checkpoint { seq: last.seq + 1, hash, offset: last.offset + line.len() as u64, at_us }
}

/// The line after `last`, up to the digits of its `body`.
pub(super) fn head(last: &Checkpoint, at_us: i64) -> String {
    let (seq, at, prev) = (last.seq + 1, civil::text(at_us), last.hash);
    format!("{VERSION}1{SEQ}{seq}{AT}{at}{PREV}{prev}{BODY}")
}

/// Checks that a text is an event.
pub(super) fn check_body(body: &str) -> Result<(), BodyFault> {
    let bytes = body.as_bytes();
    if bytes.len() > MAX_BODY {
        return Err(BodyFault::TooLong { len: bytes.len() });
    }
    if body == "null" {
        return Err(BodyFault::Null);
    }
    if !(bytes.starts_with(b"{") && bytes.ends_with(b"}")) {
        return Err(BodyFault::NotAnObject);
    }
    // A loop without early exit compiles to a vector minimum, which is faster than a search.
    if bytes.iter().fold(u8::MAX, |least, &byte| least.min(byte)) < b' ' {
        let at = bytes.iter().position(|&byte| byte < b' ').unwrap_or_default();
        return Err(BodyFault::Control { at, byte: bytes[at] });
    }
    let json = serde_json::from_str::<IgnoredAny>(body);
    json.map(drop).map_err(|error| BodyFault::Json { reason: error.to_string() })
}

/// A line with correct hashes, without its newline.
#[derive(Debug)]
pub(super) struct Line<'a> {
    pub(super) entry: Entry<'a>,
    prev: &'a [u8],
}

impl<'a> Line<'a> {
    /// Parses a line, and checks everything that does not need the line before it.
    pub(super) fn parse(line: &'a [u8]) -> Result<Self, Damage> {
        let mut frame = Frame { line, at: 0 };
        frame.literal(VERSION)?;
        let version = frame.number("a version")?;
        if version != 1 {
            return Err(Damage::Version { found: version });
        }
        frame.literal(SEQ)?;
        let seq = frame.number("a sequence number")?;
        frame.literal(AT)?;
        let column = frame.at;
        let at_us = civil::parse(frame.take(civil::WIDTH, "a time")?);
        let at_us = at_us.ok_or(Damage::Frame { column, expected: "a time" })?;
        frame.literal(PREV)?;
        let prev = frame.take(HEX, "a hash")?;
        frame.literal(BODY)?;
        let body_hash = frame.take(HEX, "a hash")?;
        frame.literal(HEAD_END)?;
        let head = &line[..frame.at];
        frame.literal(EVENT)?;
        let begin = frame.at;
        // The end of a line has a fixed width, so the event ends before it, whatever the event
        // contains.
        let end = line.len().checked_sub(FOOT).filter(|&end| end >= begin);
        let end = end.ok_or(Damage::Frame { column: line.len(), expected: HASH })?;
        frame.at = end;
        frame.literal(HASH)?;
        let hash_text = frame.take(HEX, "a hash")?;
        frame.literal(LINE_END)?;

        let hash = LineHash::of(head);
        if hash.hex() != hash_text {
            return Err(Damage::LineHash);
        }
        let body = checked_body(&line[begin..end], begin, body_hash)?;
        Ok(Self { entry: Entry { seq, at_us, begin: 0, body, hash }, prev })
    }

    /// Checks that it is the line after `last`.
    pub(super) fn follows(&self, last: &Checkpoint) -> Result<(), Damage> {
        let Entry { seq, at_us, .. } = self.entry;
        if seq != last.seq + 1 {
            return Err(Damage::Gap { found: seq });
        }
        if self.prev != last.hash.hex() {
            let found = String::from_utf8_lossy(self.prev).into_owned();
            return Err(Damage::Chain { expected: last.hash.to_string(), found });
        }
        if at_us < last.at_us {
            let text = |at_us| civil::utc(at_us).unwrap_or_default();
            return Err(Damage::Backwards { before: text(last.at_us), found: text(at_us) });
        }
        Ok(())
    }

    /// Its entry, given where the line begins.
    pub(super) fn beginning_at(self, begin: u64) -> Entry<'a> {
        Entry { begin, ..self.entry }
    }

    /// The checkpoint of the line, given where it ends.
    pub(super) fn ending_at(&self, offset: u64) -> Checkpoint {
        let Entry { seq, hash, at_us, .. } = self.entry;
        Checkpoint { seq, hash, offset, at_us }
    }
}

/// The event as text, if it matches its hash. `begin` is its position in the line.
fn checked_body<'a>(event: &'a [u8], begin: usize, hash: &[u8]) -> Result<&'a str, Damage> {
    // Checked before the hash, which a removed event no longer matches.
    if event == b"null" {
        return Err(Damage::Body(BodyFault::Null));
    }
    let text = std::str::from_utf8(event);
    let body = text.map_err(|error| Damage::NotUtf8 { column: begin + error.valid_up_to() })?;
    if LineHash::of(event).hex() != hash {
        return Err(Damage::BodyHash);
    }
    check_body(body).map_err(Damage::Body)?;
    Ok(body)
}

/// A position in the frame of a line.
struct Frame<'a> {
    line: &'a [u8],
    at: usize,
}

impl<'a> Frame<'a> {
    fn literal(&mut self, expected: &'static str) -> Result<(), Damage> {
        if !self.line[self.at..].starts_with(expected.as_bytes()) {
            return Err(Damage::Frame { column: self.at, expected });
        }
        self.at += expected.len();
        Ok(())
    }

    fn take(&mut self, count: usize, expected: &'static str) -> Result<&'a [u8], Damage> {
        let line = self.line;
        let taken = line.get(self.at..self.at + count);
        let taken = taken.ok_or(Damage::Frame { column: self.at, expected })?;
        self.at += count;
        Ok(taken)
    }

    /// Parses a number from 1 on, without leading zeros.
    fn number(&mut self, expected: &'static str) -> Result<u64, Damage> {
        let rest = &self.line[self.at..];
        let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        if digits == 0 || digits > SEQ_DIGITS || rest[0] == b'0' {
            return Err(Damage::Frame { column: self.at, expected });
        }
        self.at += digits;
        Ok(rest[..digits].iter().fold(0, |number, digit| 10 * number + u64::from(digit - b'0')))
    }
}
