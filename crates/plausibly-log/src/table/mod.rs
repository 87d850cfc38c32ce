//! The user's table of actions: one row per action, as a spreadsheet saves it. Nothing that can be
//! read in two ways is guessed; it is refused with a way to correct it.

mod error;
mod header;
mod label;
mod number;
mod plain;
mod read;

pub use error::TableError;
pub(crate) use error::{first_few, listed};
pub use header::FirstLine;
pub use number::{ColumnKind, NumberFormat};
pub use plain::{NumberError, read_number};
pub(crate) use read::{Records, Size, records};

use csv::StringRecord;
use std::collections::BTreeMap;
use std::io::Read;
use std::sync::Arc;

/// Cells that count as blank, in upper or lower case.
const MISSING: [&str; 6] = ["", "na", "n/a", "null", "nan", "-"];

/// The trimmed value of a cell; `None` for a blank, `NA`, `N/A`, `null`, `nan` and `-`, in upper or
/// lower case.
///
/// # Example
/// ```
/// assert_eq!(plausibly_log::table::present(" red "), Some("red"));
/// assert_eq!(plausibly_log::table::present("N/A"), None);
/// ```
pub fn present(cell: &str) -> Option<&str> {
    let cell = cell.trim();
    (!MISSING.iter().any(|missing| cell.eq_ignore_ascii_case(missing))).then_some(cell)
}

/// A label, the name of a column or context key, and a value of a feature have at most 256
/// characters.
///
/// People read names, one per line; a longer text is probably in the wrong column.
pub const MOST_CHARACTERS: usize = 256;

/// The number of characters of a text, if it is more than [`MOST_CHARACTERS`].
pub(crate) fn too_long(text: &str) -> Option<usize> {
    // A character has at least one byte, so most texts need no counting.
    let characters = (text.len() > MOST_CHARACTERS).then(|| text.chars().count());
    characters.filter(|characters| *characters > MOST_CHARACTERS)
}

/// A value quoted in a message: on one line, and cut to 60 characters.
pub(crate) fn brief(value: &str) -> String {
    const MOST: usize = 60;
    let mut text: String =
        value.chars().take(MOST).map(|c| if c.is_control() { ' ' } else { c }).collect();
    if value.chars().nth(MOST).is_some() {
        text.push('…');
    }
    text
}

/// Actions with their properties: a header, one row per action, one label per row.
///
/// # Reading
/// Cells are separated by commas, semicolons or tabs. The header shows which, and the rows decide
/// if the header contains several. Quotes, byte order marks and all line endings are understood.
/// Empty rows are skipped. Nothing that could be read in two ways is guessed: see [`TableError`],
/// and [`NumberFormat`] for what counts as a number.
///
/// # Labels
/// A log identifies actions by their labels. They come from the first of
///
/// 1. a column called `label`, which must then be complete and unique;
/// 2. the columns called `name`, `id`, `action`, `arm`, `item`, `title`, `variant`, `treatment`, in
///    this order and any case, that is complete and unique;
/// 3. the first text column that is complete and unique;
/// 4. the position: `row 1`, `row 2`, …
///
/// [`Table::with_label`] overrides that.
///
/// # Example
/// ```
/// use plausibly_log::table::Table;
/// let table = Table::read("name;price;colour\nmug;4.5;red\nbowl;NA;blue\n".as_bytes())?;
/// assert_eq!(table.label_column(), Some("name"));
/// let bowl = table.find("bowl").unwrap();
/// assert_eq!((bowl.line(), bowl.cell("price")), (3, Some(None)));
/// assert_eq!(bowl.cell("colour"), Some(Some("blue")));
/// # Ok::<(), plausibly_log::table::TableError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    columns: Vec<String>,
    kinds: Vec<ColumnKind>,
    /// Shared by copies, and so are the labels: a table equals its copy at no cost.
    rows: Arc<Vec<StringRecord>>,
    lines: Vec<u64>,
    label_column: Option<usize>,
    labels: Arc<Vec<String>>,
    /// The positions of rows, sorted by label.
    by_label: Vec<usize>,
    notes: Vec<String>,
}

impl Table {
    /// Reads a table, to its end.
    ///
    /// # Errors
    /// What is wrong, where, and how to correct it.
    pub fn read(reader: impl Read) -> Result<Self, TableError> {
        Self::build(read::records(reader, Size::ACTIONS)?, None)
    }

    /// Reads a table with its labels from this column.
    ///
    /// # Errors
    /// As [`Table::read`], and if there is no such column, or it is not complete and unique.
    pub fn read_labelled(reader: impl Read, column: &str) -> Result<Self, TableError> {
        Self::build(read::records(reader, Size::ACTIONS)?, Some(column))
    }

    /// A table from cells in memory; lines are numbered as if the header were line 1.
    ///
    /// # Errors
    /// As [`Table::read`].
    pub fn from_rows<S: AsRef<str>>(
        columns: &[S],
        rows: impl IntoIterator<Item = Vec<S>>,
    ) -> Result<Self, TableError> {
        Self::build(Self::records(columns, rows)?, None)
    }

    /// The records of cells in memory.
    fn records<S: AsRef<str>>(
        columns: &[S],
        rows: impl IntoIterator<Item = Vec<S>>,
    ) -> Result<Records, TableError> {
        let header: Vec<_> = columns.iter().map(|name| name.as_ref().trim().to_string()).collect();
        let mut records = Records { header, header_line: 1, rows: Vec::new(), lines: Vec::new() };
        if records.header.is_empty() {
            return Err(TableError::NoHeader);
        }
        for (row, line) in rows.into_iter().zip(2..) {
            let (expected, found) = (records.header.len(), row.len());
            if found != expected {
                return Err(TableError::Ragged { line, expected, found, separator: "none" });
            }
            Size::ACTIONS.room(&records, line)?;
            records.rows.push(row.iter().map(AsRef::as_ref).collect());
            records.lines.push(line);
        }
        Ok(records)
    }

    /// Like [`Table::from_rows`], with positions for labels until [`Table::with_label`] says where
    /// they come from.
    ///
    /// # Errors
    /// As [`Table::from_rows`], but for labels.
    pub fn unlabelled<S: AsRef<str>>(
        columns: &[S],
        rows: impl IntoIterator<Item = Vec<S>>,
    ) -> Result<Self, TableError> {
        Self::parsed(Self::records(columns, rows)?)?.with_label(None)
    }

    fn build(records: Records, label: Option<&str>) -> Result<Self, TableError> {
        let mut table = Self::parsed(records)?;
        if label.is_some() {
            return table.with_label(label);
        }
        let column = table.choose_label()?;
        table.set_label(column)?;
        Ok(table)
    }

    /// A table without labels.
    fn parsed(records: Records) -> Result<Self, TableError> {
        let Records { header: columns, header_line: line, rows, lines } = records;
        if columns.is_empty() {
            return Err(TableError::NoHeader);
        }
        let mut seen = BTreeMap::new();
        for (name, column) in columns.iter().zip(1..) {
            if name.is_empty() {
                return Err(TableError::UnnamedColumn { line, column });
            }
            if let Some(characters) = too_long(name) {
                return Err(TableError::LongColumn { line, column, characters });
            }
            if let Some(first) = seen.insert(name.clone(), column) {
                return Err(TableError::DuplicateColumn {
                    line,
                    name: name.clone(),
                    first,
                    second: column,
                });
            }
        }
        if rows.is_empty() {
            return Err(TableError::NoRows);
        }
        let kind =
            |column: usize| number::kind(rows.iter().filter_map(|row| present(&row[column])));
        let kinds = (0..columns.len()).map(kind).collect();
        Ok(Self {
            columns,
            kinds,
            rows: Arc::new(rows),
            lines,
            label_column: None,
            labels: Arc::default(),
            by_label: Vec::new(),
            notes: Vec::new(),
        })
    }

    /// The table with its labels from this column, or from positions for `None`. A log does this
    /// with later tables, so that an action keeps its name.
    ///
    /// # Errors
    /// If there is no such column, or it is not complete and unique.
    pub fn with_label(mut self, column: Option<&str>) -> Result<Self, TableError> {
        let no_such = |name: &str| TableError::NoSuchColumn {
            name: name.into(),
            columns: self.columns.clone(),
        };
        let position =
            column.map(|name| self.position(name).ok_or_else(|| no_such(name))).transpose()?;
        self.set_label(position)?;
        self.notes.clear();
        Ok(self)
    }

    /// The number of actions.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Always false: a table has at least one row.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The names of all columns, including the labels.
    pub fn columns(&self) -> &[String] {
        &self.columns
    }

    /// The kind of a column; `None` if there is no such column.
    pub fn kind(&self, column: &str) -> Option<ColumnKind> {
        Some(self.kinds[self.position(column)?])
    }

    /// The column that labels come from; `None` if they are positions.
    pub fn label_column(&self) -> Option<&str> {
        self.label_column.map(|column| self.columns[column].as_str())
    }

    /// One label per action, in the order of rows.
    pub fn labels(&self) -> &[String] {
        &self.labels
    }

    /// Notes on the choice of labels: which columns were passed over, and why.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// A row, by its position from 0.
    pub fn row(&self, index: usize) -> Option<Row<'_>> {
        (index < self.rows.len()).then_some(Row { table: self, index })
    }

    /// All rows.
    pub fn rows(&self) -> impl ExactSizeIterator<Item = Row<'_>> {
        (0..self.rows.len()).map(|index| Row { table: self, index })
    }

    /// The row of an action, by its label.
    pub fn find(&self, label: &str) -> Option<Row<'_>> {
        let found = self
            .by_label
            .binary_search_by_key(&label, |&index| self.labels[index].as_str())
            .ok()?;
        self.row(self.by_label[found])
    }

    /// Whether it has the same columns, rows and labels.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        self.columns == other.columns && self.labels == other.labels && self.rows == other.rows
    }

    /// The names of all columns but that of the labels.
    pub(crate) fn other_columns(&self) -> impl Iterator<Item = &String> {
        self.columns.iter().filter(|name| Some(name.as_str()) != self.label_column())
    }

    /// The position of a column.
    pub(crate) fn position(&self, column: &str) -> Option<usize> {
        self.columns.iter().position(|name| name == column)
    }

    /// The cells of a column, from the first row to the last.
    pub(crate) fn cells(&self, column: usize) -> impl Iterator<Item = Option<&str>> {
        self.rows.iter().map(move |row| present(&row[column]))
    }
}

/// One action of a [`Table`].
#[derive(Clone, Copy, Debug)]
pub struct Row<'a> {
    table: &'a Table,
    index: usize,
}

impl<'a> Row<'a> {
    /// Its label.
    pub fn label(&self) -> &'a str {
        &self.table.labels[self.index]
    }

    /// Its position among the rows, from 0.
    pub fn index(&self) -> usize {
        self.index
    }

    /// The line of the file at which it begins, from 1.
    pub fn line(&self) -> u64 {
        self.table.lines[self.index]
    }

    /// The value of a cell: `None` if there is no such column, `Some(None)` if the value is
    /// missing.
    pub fn cell(&self, column: &str) -> Option<Option<&'a str>> {
        let position = self.table.position(column)?;
        Some(present(&self.table.rows[self.index][position]))
    }

    /// The table it is from.
    pub fn table(&self) -> &'a Table {
        self.table
    }
}
