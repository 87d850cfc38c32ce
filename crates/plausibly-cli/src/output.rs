//! The only place that writes to the terminal: data on stdout, everything else on stderr.
#![expect(clippy::print_stderr, reason = "this is the output module")]

use std::io::{ErrorKind, Write};

/// Data, as is.
pub(crate) fn data(text: &str) {
    let mut out = std::io::stdout().lock();
    let written = out.write_all(text.as_bytes()).and_then(|()| out.flush());
    // A reader that has seen enough (`| head`) is no failure; nothing else can be said of a broken stdout.
    if let Err(error) = written
        && error.kind() != ErrorKind::BrokenPipe
    {
        eprintln!("error: cannot write to standard output: {error}");
    }
}

/// A line for the person at the terminal.
pub(crate) fn note(text: &str) {
    eprintln!("{text}");
}

/// A table of cells under a heading, the first column to the left, the others to the right.
pub(crate) fn table(heading: &[&str], rows: &[Vec<String>]) -> String {
    let width = |column: usize| {
        let cells = rows.iter().map(|row| row[column].chars().count());
        cells.chain([heading[column].chars().count()]).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..heading.len()).map(width).collect();
    let line = |cells: &mut dyn Iterator<Item = &str>| {
        let padded = cells.enumerate().map(|(column, cell)| match column {
            0 => format!("{cell:<width$}", width = widths[0]),
            _ => format!("{cell:>width$}", width = widths[column]),
        });
        padded.collect::<Vec<_>>().join("  ").trim_end().to_string() + "\n"
    };
    let mut text = line(&mut heading.iter().copied());
    for row in rows {
        text += &line(&mut row.iter().map(String::as_str));
    }
    text
}

/// A figure with about four significant digits.
pub(crate) fn figure(x: f64) -> String {
    let decimals = match x.abs() {
        size if size >= 1000.0 => 0,
        size if size >= 100.0 => 1,
        size if size >= 1.0 => 2,
        _ => 4,
    };
    format!("{x:.decimals$}")
}
