//! The only place that writes to the terminal: data on stdout, everything else on stderr.
//!
//! Labels, keys, file names and specs come from other people. Characters of theirs that could steer
//! a terminal are shown as escapes, in all text that goes through here.

use std::borrow::Cow;
use std::io::{ErrorKind, IsTerminal, Result, Write};

/// Text for people. A reader that has seen enough (`| head`) is no failure.
pub(crate) fn data(text: &str) -> Result<()> {
    unless_closed(write(&plain(text)))
}

/// JSON, in which escapes are the same to every reader.
pub(crate) fn json(text: &str) -> Result<()> {
    unless_closed(write(&escaped_json(text)))
}

/// What is meant for a file or another program, which must get every byte as it is. A terminal gets
/// escapes.
pub(crate) fn document(text: &str) -> Result<()> {
    let shown = std::io::stdout().is_terminal();
    unless_closed(if shown { write(&plain(text)) } else { write(text) })
}

/// The answer after something was recorded, as text or JSON. Here a reader that is gone is a
/// failure: it does not know what was recorded.
pub(crate) fn answer(text: &str, is_json: bool) -> Result<()> {
    write(&if is_json { escaped_json(text) } else { plain(text) })
}

fn write(text: &str) -> Result<()> {
    let mut out = std::io::stdout().lock();
    out.write_all(text.as_bytes()).and_then(|()| out.flush())
}

fn unless_closed(written: Result<()>) -> Result<()> {
    match written {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        written => written,
    }
}

/// A line for the person at the terminal. If nobody can read it, nothing is lost.
pub(crate) fn note(text: &str) {
    let _ = writeln!(std::io::stderr().lock(), "{}", plain(text));
}

/// Whether a character can do more to a terminal than stand there: controls, and formats that turn
/// the direction of text or end a line.
fn steers(c: char) -> bool {
    matches!(
        c,
        '\0'..='\x1f'
            | '\x7f'..='\u{9f}'
            | '\u{61c}'
            | '\u{200e}' | '\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2066}'..='\u{206f}'
            | '\u{feff}'
            | '\u{fff9}'..='\u{fffb}'
    )
}

/// Text with everything that could steer a terminal as escapes, such as `\u{1b}`, but for ends of
/// lines.
fn plain(text: &str) -> Cow<'_, str> {
    escaped(text, |c| steers(c) && c != '\n', |c| c.escape_default().to_string())
}

/// A label or name, which is part of a line: ends of lines are escapes too.
pub(crate) fn inline(text: &str) -> Cow<'_, str> {
    escaped(text, steers, |c| c.escape_default().to_string())
}

/// The same JSON. Characters below a space stand in it only between tokens, as ends of lines.
fn escaped_json(text: &str) -> Cow<'_, str> {
    escaped(text, |c| steers(c) && c != '\n', |c| format!("\\u{:04x}", u32::from(c)))
}

fn escaped(
    text: &str,
    bad: impl Fn(char) -> bool,
    escape: impl Fn(char) -> String,
) -> Cow<'_, str> {
    if !text.contains(&bad) {
        return text.into();
    }
    text.chars().map(|c| if bad(c) { escape(c) } else { c.to_string() }).collect::<String>().into()
}

/// A table of figures under a heading: the first column to the left, the others to the right.
pub(crate) fn table(heading: &[&str], rows: &[Vec<String>]) -> String {
    aligned(heading, rows, |column, cell, width| match column {
        0 => format!("{cell:<width$}"),
        _ => format!("{cell:>width$}"),
    })
}

/// A table of words under a heading, all columns to the left.
pub(crate) fn left_table(heading: &[&str], rows: &[Vec<String>]) -> String {
    aligned(heading, rows, |_, cell, width| format!("{cell:<width$}"))
}

/// Most characters of a column that others are aligned to.
const WIDEST: usize = 512;

fn aligned(
    heading: &[&str],
    rows: &[Vec<String>],
    pad: impl Fn(usize, &str, usize) -> String,
) -> String {
    let rows: Vec<Vec<_>> =
        rows.iter().map(|row| row.iter().map(|cell| inline(cell)).collect()).collect();
    let width = |column: usize| {
        let cells = rows.iter().map(|row| row[column].chars().count());
        // A cell that is longer sticks out: a width has 16 bits, and names in logs of earlier
        // versions may have more.
        cells.chain([heading[column].chars().count()]).max().unwrap_or(0).min(WIDEST)
    };
    let widths: Vec<usize> = (0..heading.len()).map(width).collect();
    let line = |cells: &mut dyn Iterator<Item = &str>| {
        let padded = cells.enumerate().map(|(column, cell)| pad(column, cell, widths[column]));
        padded.collect::<Vec<_>>().join("  ").trim_end().to_string() + "\n"
    };
    let mut text = line(&mut heading.iter().copied());
    for row in &rows {
        text += &line(&mut row.iter().map(|cell| &**cell));
    }
    text
}

/// So many of something.
pub(crate) fn plural(count: u64, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

/// A figure with about four significant digits.
pub(crate) fn figure(x: f64) -> String {
    let decimals = match x.abs() {
        size if size >= 1e7 => return format!("{x:.3e}"),
        size if size >= 1000.0 => 0,
        size if size >= 100.0 => 1,
        size if size >= 1.0 => 2,
        _ => 4,
    };
    format!("{x:.decimals$}")
}
