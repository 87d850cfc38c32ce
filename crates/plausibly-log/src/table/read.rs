//! Splits bytes into records: checks the encoding, finds the separator, and refuses open quotes and
//! rows of another width than the header.

use super::error::TableError;
use crate::input::Limit;
use csv::{ReaderBuilder, StringRecord};
use std::io::{Cursor, Read};

/// The largest table that is read.
#[derive(Clone, Copy)]
pub(crate) struct Size {
    rows: usize,
    cells: usize,
}

/// A table has at most 4096 columns, as many features as a model is made for.
pub(super) const MOST_COLUMNS: usize = 4096;

impl Size {
    /// A table of actions. A decision keeps it in memory several times (the rows, their lines of
    /// the log, the state): about 1.5 kB per row and 350 bytes per cell, so at most about 1 GB.
    pub(crate) const ACTIONS: Self = Self { rows: 200_000, cells: 2_000_000 };
    /// A form of outcomes, of which only a number per row is kept.
    pub(crate) const OUTCOMES: Self = Self { rows: 1_000_000, cells: 10_000_000 };

    /// Checks that one more row, in this line, is within the limits.
    pub(super) fn room(self, records: &Records, line: u64) -> Result<(), TableError> {
        let (rows, columns) = (records.rows.len() + 1, records.header.len());
        if rows > self.rows {
            return Err(TableError::TooManyRows { line, most: self.rows });
        }
        if rows.saturating_mul(columns) > self.cells {
            return Err(TableError::TooManyCells { line, columns, most: self.cells });
        }
        Ok(())
    }
}

/// A row added at the end. If the reader does not return it alone, a quote before it was never
/// closed. A row of the table may have the same text: only the one at the very end counts.
const END: &str = "\n\u{1}end of table\n";

/// A header and rows of the same width, each with its line.
pub(crate) struct Records {
    pub(crate) header: Vec<String>,
    pub(crate) header_line: u64,
    pub(crate) rows: Vec<StringRecord>,
    pub(crate) lines: Vec<u64>,
}

/// A separator and its name.
type Separator = (u8, &'static str);
const SEPARATORS: [Separator; 3] = [(b',', "`,`"), (b';', "`;`"), (b'\t', "tab")];

pub(crate) fn records(reader: impl Read, size: Size) -> Result<Records, TableError> {
    let mut bytes = Vec::new();
    let limit = Limit::TABLE.mebibytes << 20;
    reader.take(limit + 1).read_to_end(&mut bytes).map_err(|source| TableError::Io { source })?;
    if bytes.len() as u64 > limit {
        return Err(TableError::TooLarge);
    }
    let text = text(&bytes)?;
    let found = separators(text);
    let (&first, others) = found.split_first().unwrap_or((&SEPARATORS[0], &[]));
    let result = split(text, first, size);
    let mut fitting = others
        .iter()
        .filter_map(|&other| split(text, other, size).ok().map(|records| (records, other)));
    match (result, fitting.next()) {
        (Ok(_), Some((_, second))) => {
            Err(TableError::Separator { first: first.1, second: second.1 })
        }
        (Err(_), Some((records, second))) => match fitting.next() {
            Some((_, third)) => Err(TableError::Separator { first: second.1, second: third.1 }),
            None => Ok(records),
        },
        (result, None) => result,
    }
}

/// The bytes as text, without a byte order mark.
fn text(bytes: &[u8]) -> Result<&str, TableError> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let utf16 = bytes.starts_with(b"\xff\xfe") || bytes.starts_with(b"\xfe\xff");
    str::from_utf8(bytes).map_err(|error| {
        let mut lines = Lines { rest: bytes, passed: 0, line: 1 };
        let line = lines.of(error.valid_up_to() as u64);
        TableError::NotUtf8 { line, utf16 }
    })
}

/// The separators in the header outside quotes, the most frequent first; ties keep the order of the
/// list.
fn separators(text: &str) -> Vec<Separator> {
    let mut counts = [0_usize; SEPARATORS.len()];
    let mut quoted = false;
    for byte in text.trim_start_matches(['\r', '\n']).bytes() {
        match byte {
            b'"' => quoted = !quoted,
            b'\r' | b'\n' if !quoted => break,
            _ if quoted => {}
            _ => {
                for (count, (separator, _)) in counts.iter_mut().zip(SEPARATORS) {
                    *count += usize::from(byte == separator);
                }
            }
        }
    }
    let mut found: Vec<_> =
        counts.into_iter().zip(SEPARATORS).filter(|(count, _)| *count > 0).collect();
    found.sort_by_key(|(count, _)| std::cmp::Reverse(*count));
    found.into_iter().map(|(_, separator)| separator).collect()
}

/// Splits a text with one separator. Skips rows with only empty cells: spreadsheets leave them
/// behind.
fn split(text: &str, (separator, name): Separator, size: Size) -> Result<Records, TableError> {
    let mut reader = ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .delimiter(separator)
        .from_reader(Cursor::new(text).chain(END.as_bytes()));
    let mut records =
        Records { header: Vec::new(), header_line: 1, rows: Vec::new(), lines: Vec::new() };
    let mut record = StringRecord::new();
    let mut lines = Lines { rest: text.as_bytes(), passed: 0, line: 1 };
    let mut ended = false;
    let mut last_line = 1;
    // The text is UTF-8 and rows may have any width, so reading from memory does not fail.
    while reader
        .read_record(&mut record)
        .map_err(|error| TableError::Io { source: error.into() })?
    {
        let line = lines.of(record.position().map_or(0, csv::Position::byte));
        last_line = line;
        let at_end = reader.position().byte() == (text.len() + END.len()) as u64;
        if at_end && record.len() == 1 && &record[0] == END.trim() {
            ended = true;
            break;
        }
        if record.iter().all(|cell| cell.trim().is_empty()) {
            continue;
        }
        if records.header.is_empty() {
            if record.len() > MOST_COLUMNS {
                return Err(TableError::TooManyColumns { columns: record.len() });
            }
            records.header = record.iter().map(|name| name.trim().to_string()).collect();
            records.header_line = line;
            continue;
        }
        let (expected, found) = (records.header.len(), record.len());
        if found != expected && !(at_end && record[found - 1].contains(END.trim())) {
            return Err(TableError::Ragged { line, expected, found, separator: name });
        }
        size.room(&records, line)?;
        // Collects instead of cloning: a clone would keep the capacity of the longest row so far.
        records.rows.push(record.iter().collect());
        records.lines.push(line);
    }
    if ended { Ok(records) } else { Err(TableError::OpenQuote { line: last_line }) }
}

/// Counts lines along a text. The reader's own count refers to the end of the record before, and so
/// misses blank lines in between.
struct Lines<'a> {
    rest: &'a [u8],
    passed: u64,
    line: u64,
}

impl Lines<'_> {
    /// The line of the first byte at or after `at` that is not part of a line end. `at` must not
    /// decrease between calls.
    fn of(&mut self, at: u64) -> u64 {
        while let Some((byte, rest)) = self.rest.split_first() {
            let ends_a_line = matches!(byte, b'\r' | b'\n');
            if self.passed >= at && !ends_a_line {
                break;
            }
            // The two bytes of a Windows line end count as one.
            let whole = *byte == b'\n' || rest.first() != Some(&b'\n');
            self.line += u64::from(ends_a_line && whole);
            self.passed += 1;
            self.rest = rest;
        }
        self.line
    }
}
