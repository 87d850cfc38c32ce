//! The only place that writes to the terminal: data on stdout, everything else on stderr.

use std::io::{ErrorKind, Result, Write};

/// Data, as is. A reader that has seen enough (`| head`) is no failure.
pub(crate) fn data(text: &str) -> Result<()> {
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        written => written,
    }
}

/// A line for the person at the terminal. If nobody can read it, nothing is lost.
pub(crate) fn note(text: &str) {
    let _ = writeln!(std::io::stderr().lock(), "{text}");
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

fn aligned(heading: &[&str], rows: &[Vec<String>], pad: impl Fn(usize, &str, usize) -> String) -> String {
    let width = |column: usize| {
        let cells = rows.iter().map(|row| row[column].chars().count());
        // A cell that is longer sticks out: a width has 16 bits, and names in logs of earlier versions may have more.
        cells.chain([heading[column].chars().count()]).max().unwrap_or(0).min(WIDEST)
    };
    let widths: Vec<usize> = (0..heading.len()).map(width).collect();
    let line = |cells: &mut dyn Iterator<Item = &str>| {
        let padded = cells.enumerate().map(|(column, cell)| pad(column, cell, widths[column]));
        padded.collect::<Vec<_>>().join("  ").trim_end().to_string() + "\n"
    };
    let mut text = line(&mut heading.iter().copied());
    for row in rows {
        text += &line(&mut row.iter().map(String::as_str));
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
