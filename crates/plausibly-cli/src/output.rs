//! Writes everything that the command prints: data to stdout, everything else to stderr.
//!
//! Labels, keys, file names and specs come from other people. All text goes through here, so that
//! characters which could control a terminal are shown as escapes.

use anyhow::{Context, Result};
use std::borrow::Cow;
use std::io::{self, BufRead, ErrorKind, IsTerminal, Write};

/// Prints text. A reader that has closed the pipe (`| head`) is not an error.
pub(crate) fn data(text: &str) -> Result<()> {
    unless_closed(write(&plain(text)))
}

/// Prints JSON. Escapes in it mean the same to every reader.
pub(crate) fn json(text: &str) -> Result<()> {
    unless_closed(write(&escaped_json(text)))
}

/// Prints text for a file or another program, which get every byte unchanged. A terminal gets
/// escapes.
pub(crate) fn document(text: &str) -> Result<()> {
    let shown = std::io::stdout().is_terminal();
    unless_closed(if shown { write(&plain(text)) } else { write(text) })
}

/// Prints the answer after something was recorded, as text or JSON. Here a closed pipe is an error:
/// the reader does not know what was recorded.
pub(crate) fn answer(text: &str, is_json: bool) -> io::Result<()> {
    write(&if is_json { escaped_json(text) } else { plain(text) })
}

fn write(text: &str) -> io::Result<()> {
    let mut out = std::io::stdout().lock();
    out.write_all(text.as_bytes()).and_then(|()| out.flush())
}

fn unless_closed(written: io::Result<()>) -> Result<()> {
    match written {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        written => written.context("cannot write to standard output"),
    }
}

/// Prints a line on stderr. Errors are ignored: notes are not results.
pub(crate) fn note(text: &str) {
    let _ = writeln!(std::io::stderr().lock(), "{}", plain(text));
}

/// Asks a question on the terminal. Only `y` and `yes` mean yes.
pub(crate) fn ask(question: &str) -> io::Result<bool> {
    note(&format!("{question} [y/N]"));
    let mut answer = String::new();
    io::stdin().lock().read_line(&mut answer)?;
    Ok(matches!(answer.trim().to_lowercase().as_str(), "y" | "yes"))
}

/// Asks a question on the terminal, and returns the answer without blanks around it; `None` at the
/// end of the input.
pub(crate) fn question(question: &str) -> io::Result<Option<String>> {
    note(question);
    let mut answer = String::new();
    let read = io::stdin().lock().read_line(&mut answer)?;
    Ok((read > 0).then(|| answer.trim().to_string()))
}

/// Whether a character can control a terminal: control characters, and formats that change the
/// direction of text or end a line.
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

/// Replaces characters that could control a terminal by escapes such as `\u{1b}`, except newlines.
fn plain(text: &str) -> Cow<'_, str> {
    escaped(text, |c| steers(c) && c != '\n', |c| c.escape_default().to_string())
}

/// Like [`plain`] for text within a line: newlines are escaped too.
pub(crate) fn inline(text: &str) -> Cow<'_, str> {
    escaped(text, steers, |c| c.escape_default().to_string())
}

/// Escapes characters in JSON text. Its only control characters are newlines between tokens.
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

/// A table of figures with a heading: the first column left-aligned, the others right-aligned.
pub(crate) fn table(heading: &[&str], rows: &[Vec<String>]) -> String {
    aligned(heading, rows, |column, cell, width| match column {
        0 => format!("{cell:<width$}"),
        _ => format!("{cell:>width$}"),
    })
}

/// A table of words with a heading, all columns left-aligned.
pub(crate) fn left_table(heading: &[&str], rows: &[Vec<String>]) -> String {
    aligned(heading, rows, |_, cell, width| format!("{cell:<width$}"))
}

/// Columns are padded to at most 512 characters.
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
        // A longer cell exceeds its column: a width of the formatter has 16 bits, and names in logs
        // of earlier versions may be longer.
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

/// A number with the singular or plural of a noun.
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
