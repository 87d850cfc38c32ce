//! Chooses the column of labels.

use super::{ColumnKind, Table, TableError, brief, too_long};
use std::collections::BTreeMap;
use std::sync::Arc;

/// A column of this name holds the labels.
const DECLARED: &str = "label";
/// Usual names of columns of labels, in order of preference.
const USUAL: [&str; 8] = ["name", "id", "action", "arm", "item", "title", "variant", "treatment"];

impl Table {
    /// Chooses the column of labels by the rules of [`Table`], and notes which columns were passed
    /// over.
    pub(super) fn choose_label(&mut self) -> Result<Option<usize>, TableError> {
        let called =
            |name: &str| self.columns.iter().position(|column| column.eq_ignore_ascii_case(name));
        if let Some(column) = called(DECLARED) {
            return self.labels_from(column).map(|_| Some(column));
        }
        for column in USUAL.iter().filter_map(|name| called(name)) {
            let Some(error) = self.labels_from(column).err() else { return Ok(Some(column)) };
            self.notes.push(format!("`{}` cannot name the actions: {error}", self.columns[column]));
        }
        let text = |&column: &usize| self.kinds[column] == ColumnKind::Text;
        Ok((0..self.columns.len()).filter(text).find(|&column| self.labels_from(column).is_ok()))
    }

    /// Takes labels from this column, or from positions.
    pub(super) fn set_label(&mut self, column: Option<usize>) -> Result<(), TableError> {
        let labels: Vec<String> = match column {
            Some(column) => self.labels_from(column)?.into_iter().map(str::to_string).collect(),
            None => (1..=self.rows.len()).map(|position| format!("row {position}")).collect(),
        };
        self.by_label = (0..labels.len()).collect();
        self.by_label.sort_unstable_by_key(|&index| &labels[index]);
        (self.label_column, self.labels) = (column, Arc::new(labels));
        Ok(())
    }

    /// The values of a column, if they are complete and unique.
    fn labels_from(&self, column: usize) -> Result<Vec<&str>, TableError> {
        let name = || self.columns[column].clone();
        let mut seen = BTreeMap::new();
        let mut labels = Vec::with_capacity(self.rows.len());
        for (cell, &line) in self.cells(column).zip(&self.lines) {
            let label = cell.ok_or_else(|| TableError::MissingLabel { line, column: name() })?;
            if let Some(characters) = too_long(label) {
                return Err(TableError::LongLabel { line, column: name(), characters });
            }
            if let Some(first) = seen.insert(label, line) {
                return Err(TableError::DuplicateLabel {
                    label: brief(label),
                    column: name(),
                    first,
                    second: line,
                });
            }
            labels.push(label);
        }
        Ok(labels)
    }
}
