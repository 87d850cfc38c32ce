//! Guesses whether the first line of a table names its columns or is already a row.

use super::{NumberFormat, Table};

/// Whether a first line looks like names of columns or like a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FirstLine {
    /// It looks like names of columns.
    Names,
    /// All of its cells except that of the labels look like values.
    PerhapsData,
    /// All of its cells look like values.
    Data,
}

impl Table {
    /// Judges the first line. A cell of it looks like a value if it is a number, or occurs again in
    /// its column.
    ///
    /// # Example
    /// ```
    /// use plausibly_log::table::{FirstLine, Table};
    /// let of = |text: &str| Table::read(text.as_bytes()).unwrap().first_line();
    /// assert_eq!(of("name,price\nmug,4\njug,6\n"), FirstLine::Names);
    /// assert_eq!(of("4,red\n6,blue\n5,red\n"), FirstLine::Data);
    /// assert_eq!(of("mug,4,red\njug,6,blue\ncup,5,red\n"), FirstLine::PerhapsData);
    /// ```
    pub fn first_line(&self) -> FirstLine {
        let formats = [NumberFormat::Plain, NumberFormat::Comma, NumberFormat::Grouped];
        let is_value = |column: usize| {
            let name = self.columns[column].as_str();
            let number = || formats.iter().any(|format| format.parse(name).is_some());
            number() || self.cells(column).flatten().any(|cell| cell == name)
        };
        let label = self.label_column;
        let others: Vec<usize> =
            (0..self.columns.len()).filter(|&column| Some(column) != label).collect();
        match (label.is_none_or(is_value), others.iter().all(|&column| is_value(column))) {
            (true, true) => FirstLine::Data,
            (false, true) if !others.is_empty() => FirstLine::PerhapsData,
            _ => FirstLine::Names,
        }
    }
}
