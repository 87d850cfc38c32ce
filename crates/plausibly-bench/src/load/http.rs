//! Reads answers of HTTP/1.1: as much as a service on the same machine sends, and no more.

use std::fmt;

/// Longer answers are refused.
const LONGEST: usize = 64 << 20;

/// An answer that has arrived in full. Its body is where [`parse`] was told to put it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The status code.
    pub status: u16,
    /// The number of bytes of head and body.
    pub length: usize,
    /// Whether the server closes the connection.
    pub close: bool,
}

/// Why bytes are no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Malformed {
    /// The first line has no status.
    Status,
    /// A header is not text, or has no colon.
    Header,
    /// The length is not a number, too large, or not given.
    Length,
    /// The body is not made of chunks as announced.
    Chunk,
}

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Status => "an answer without a status",
            Self::Header => "a malformed header",
            Self::Length => "no usable length",
            Self::Chunk => "a malformed chunk",
        })
    }
}

impl std::error::Error for Malformed {}

/// The first answer in these bytes, with its body in `body`; `None` if more bytes are needed.
///
/// # Errors
/// If the bytes cannot be the beginning of an answer.
pub fn parse(bytes: &[u8], body: &mut Vec<u8>) -> Result<Option<Answer>, Malformed> {
    body.clear();
    let Some(end) = find(bytes, b"\r\n\r\n") else {
        return if bytes.len() > LONGEST { Err(Malformed::Header) } else { Ok(None) };
    };
    let head = Head::parse(&bytes[..end])?;
    let (start, rest) = (end + 4, &bytes[end + 4..]);
    if (100..200).contains(&head.status) {
        // The answer itself comes after an interim one.
        let answer = parse(rest, body)?;
        return Ok(answer.map(|answer| Answer { length: answer.length + start, ..answer }));
    }
    let length = if head.chunked {
        join_chunks(rest, body)?
    } else if matches!(head.status, 204 | 304) {
        Some(0)
    } else {
        let length = head.length.ok_or(Malformed::Length)?;
        rest.get(..length).map(|whole| {
            body.extend_from_slice(whole);
            length
        })
    };
    let Head { status, close, .. } = head;
    Ok(length.map(|length| Answer { status, length: start + length, close }))
}

struct Head {
    status: u16,
    length: Option<usize>,
    chunked: bool,
    close: bool,
}

impl Head {
    /// Reads a head without its empty line.
    fn parse(head: &[u8]) -> Result<Self, Malformed> {
        let mut lines = head.split(|&byte| byte == b'\n');
        let status = status(lines.next().unwrap_or_default()).ok_or(Malformed::Status)?;
        let mut read = Self { status, length: None, chunked: false, close: false };
        for line in lines {
            let colon = line.iter().position(|&byte| byte == b':').ok_or(Malformed::Header)?;
            let (name, value) = (&line[..colon], line[colon + 1..].trim_ascii());
            // Only names of these lengths are compared, since most headers do not matter here.
            match name.len() {
                14 if name.eq_ignore_ascii_case(b"content-length") => {
                    let length = number(value, 10).ok_or(Malformed::Length)?;
                    read.length = Some(length).filter(|&length| length <= LONGEST);
                }
                17 if name.eq_ignore_ascii_case(b"transfer-encoding") => {
                    read.chunked = value.eq_ignore_ascii_case(b"chunked");
                }
                10 if name.eq_ignore_ascii_case(b"connection") => {
                    read.close = value.eq_ignore_ascii_case(b"close");
                }
                _ => {}
            }
        }
        Ok(read)
    }
}

fn status(line: &[u8]) -> Option<u16> {
    let digits = line.strip_prefix(b"HTTP/1.")?.get(2..5)?;
    number(digits, 10)?.try_into().ok()
}

fn number(digits: &[u8], radix: u32) -> Option<usize> {
    usize::from_str_radix(std::str::from_utf8(digits).ok()?, radix).ok()
}

/// Joins the chunks of a body. Returns the number of bytes read, up to the end of the trailers.
fn join_chunks(bytes: &[u8], body: &mut Vec<u8>) -> Result<Option<usize>, Malformed> {
    let mut at = 0;
    loop {
        let Some(end) = find(&bytes[at..], b"\r\n") else { return Ok(None) };
        let line = &bytes[at..at + end];
        let size = line.split(|&byte| byte == b';').next().unwrap_or_default().trim_ascii();
        let size = number(size, 16).ok_or(Malformed::Chunk)?;
        at += end + 2;
        if size == 0 {
            return Ok(trailers(&bytes[at..]).map(|length| at + length));
        }
        if body.len() + size > LONGEST {
            return Err(Malformed::Length);
        }
        let Some(chunk) = bytes.get(at..at + size + 2) else { return Ok(None) };
        if !chunk.ends_with(b"\r\n") {
            return Err(Malformed::Chunk);
        }
        body.extend_from_slice(&chunk[..size]);
        at += size + 2;
    }
}

/// The number of bytes up to the empty line.
fn trailers(bytes: &[u8]) -> Option<usize> {
    if bytes.starts_with(b"\r\n") {
        return Some(2);
    }
    find(bytes, b"\r\n\r\n").map(|end| end + 4)
}

fn find(bytes: &[u8], what: &[u8]) -> Option<usize> {
    // The first byte is found fast, and is rare outside of line ends.
    let mut from = 0;
    while let Some(at) = bytes[from..].iter().position(|&byte| byte == what[0]) {
        if bytes[from + at..].starts_with(what) {
            return Some(from + at);
        }
        from += at + 1;
    }
    None
}
