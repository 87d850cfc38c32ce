//! The errors of tables.

use super::MOST_CHARACTERS;
use super::read::MOST_COLUMNS;
use crate::input::Limit;
use thiserror::Error;

/// Why a table was refused: what is wrong, where, and how to correct it. Lines and columns are
/// numbered from 1.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum TableError {
    /// The file or stream failed.
    #[error("cannot read the table: {source}")]
    Io {
        /// The error of the system.
        source: std::io::Error,
    },
    /// Too large to be a table of actions.
    #[error(
        "the table has more than {} MiB, the limit of a table; a table has one row per action, so \
         leave out other rows, and columns that are not features",
        Limit::TABLE.mebibytes
    )]
    TooLarge,
    /// Bytes of another encoding.
    #[error(
        "line {line}: the text is not UTF-8{}; save the table as \"CSV UTF-8\"",
        if *.utf16 { " but looks like UTF-16" } else { "" }
    )]
    NotUtf8 {
        /// The line of the first byte that is not UTF-8.
        line: u64,
        /// Whether the file begins like UTF-16.
        utf16: bool,
    },
    /// An empty file, or only blank lines.
    #[error(
        "the table is empty; its first line must name the columns, such as `label,price,colour`"
    )]
    NoHeader,
    /// A header without rows.
    #[error("the table has a header and no rows; it must have one row per action")]
    NoRows,
    /// A column without a name.
    #[error("line {line}: column {column} has no name; give it one, or remove the extra separator")]
    UnnamedColumn {
        /// The line of the header.
        line: u64,
        /// Its position, from 1.
        column: usize,
    },
    /// A column with too long a name.
    #[error(
        "line {line}: the name of column {column} has {characters} characters, more than \
         {MOST_CHARACTERS}; shorten it"
    )]
    LongColumn {
        /// The line of the header.
        line: u64,
        /// Its position, from 1.
        column: usize,
        /// Characters of the name.
        characters: usize,
    },
    /// Two columns of one name.
    #[error(
        "line {line}: columns {first} and {second} are both called `{name}`; rename one of them"
    )]
    DuplicateColumn {
        /// The line of the header.
        line: u64,
        /// The name.
        name: String,
        /// Position of the first, from 1.
        first: usize,
        /// Position of the second.
        second: usize,
    },
    /// A row with more or fewer cells than the header.
    #[error(
        "line {line} has {found} cells, and the header has {expected} columns, with the separator \
         {separator}; add or remove a cell, and put quotes around text that contains the separator"
    )]
    Ragged {
        /// The line of the row.
        line: u64,
        /// Columns of the header.
        expected: usize,
        /// Cells of the row.
        found: usize,
        /// The name of the separator.
        separator: &'static str,
    },
    /// Two separators that both fit.
    #[error(
        "{first} and {second} could both be the separator, with different results; put quotes \
         around column names that contain one of them"
    )]
    Separator {
        /// One.
        first: &'static str,
        /// The other.
        second: &'static str,
    },
    /// A quote that is never closed.
    #[error(
        "line {line}: a quote opens in this row and never closes; close it, or write \"\" for a \
         quote inside quotes"
    )]
    OpenQuote {
        /// The line at which the row begins.
        line: u64,
    },
    /// More rows than a table may have.
    #[error(
        "line {line}: the table has more than {most} rows; a row is an action to choose from, not \
         a record of the past"
    )]
    TooManyRows {
        /// The line of the first row too many.
        line: u64,
        /// The largest number allowed.
        most: usize,
    },
    /// More cells than a table may have.
    #[error(
        "line {line}: with {columns} columns, the table has more than {most} cells up to here; \
         leave out columns that are not features"
    )]
    TooManyCells {
        /// The line of the first row too many.
        line: u64,
        /// Columns of the table.
        columns: usize,
        /// The largest number of cells allowed.
        most: usize,
    },
    /// More columns than a table may have.
    #[error(
        "the table has {columns} columns, and at most {MOST_COLUMNS} are allowed; leave out \
         columns that are not features"
    )]
    TooManyColumns {
        /// Columns of the table.
        columns: usize,
    },
    /// No such column.
    #[error(
        "there is no column `{name}` to take labels from; the columns are {}",
        listed(.columns)
    )]
    NoSuchColumn {
        /// The requested name.
        name: String,
        /// The existing names.
        columns: Vec<String>,
    },
    /// Two actions of one label.
    #[error(
        "lines {first} and {second}, column `{column}`: both actions are labelled `{label}`; make \
         labels unique, or rename the column if it is not meant as the label"
    )]
    DuplicateLabel {
        /// The label.
        label: String,
        /// The column of the labels.
        column: String,
        /// The line of the first.
        first: u64,
        /// The line of the second.
        second: u64,
    },
    /// An action with too long a label.
    #[error(
        "line {line}, column `{column}`: the label has {characters} characters, more than \
         {MOST_CHARACTERS}; shorten it, or rename the column if it is not meant as the label"
    )]
    LongLabel {
        /// The line.
        line: u64,
        /// The column.
        column: String,
        /// Characters of the label.
        characters: usize,
    },
    /// An action without a label.
    #[error(
        "line {line}, column `{column}`: the label is missing; fill it in, or rename the column if \
         it is not meant as the label"
    )]
    MissingLabel {
        /// The line.
        line: u64,
        /// The column.
        column: String,
    },
}

/// The first twelve names in backquotes, and the number of others.
pub(crate) fn listed(names: &[String]) -> String {
    first_few(names, 12, |name| format!("`{name}`"))
}

/// The first `most` items of a list as text, and the number of others.
pub(crate) fn first_few<T>(items: &[T], most: usize, text: impl Fn(&T) -> String) -> String {
    let some = items.iter().take(most).map(text).collect::<Vec<_>>().join(", ");
    match items.len().saturating_sub(most) {
        0 => some,
        more => format!("{some} and {more} more"),
    }
}
