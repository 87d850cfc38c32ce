//! Converts rows and contexts to features, and features back to the user's units.

use super::column::{Reading, on_the_grid, used};
use super::{Column, Context, Part, Place, Recipe, RecipeError, Shape};
use crate::event::Cells;
use crate::table::{Row, Table, brief, too_long};

impl Recipe {
    /// The features of an action in a context: one value per [name](Recipe::feature_names), each a
    /// multiple of 2⁻²⁴ and at most 1024 in magnitude. Plain arms have none.
    ///
    /// # Errors
    /// If the table lacks a column or takes its labels from another column; if a number cannot be
    /// read or is too far out of range; and for values that need an [extension](Recipe::extension)
    /// first.
    pub fn features(&self, row: Row<'_>, context: &Context) -> Result<Vec<f64>, RecipeError> {
        self.check_table(row.table())?;
        let context_parts = self.context_values(context)?;
        self.row_products(row, &context_parts)
    }

    /// Like [`Recipe::features`], from the [cells](Recipe::cells) that a log has kept of a row.
    ///
    /// # Errors
    /// As [`Recipe::features`].
    pub fn encode(
        &self,
        label: &str,
        cells: &Cells,
        context: &Context,
    ) -> Result<Vec<f64>, RecipeError> {
        let context_parts = self.context_values(context)?;
        self.products(0, &self.parts(label, cells)?, &context_parts)
    }

    /// The parts of an action, from the cells that a log has kept of its row.
    ///
    /// # Errors
    /// As [`Recipe::features`].
    pub(crate) fn parts(&self, label: &str, cells: &Cells) -> Result<Vec<f64>, RecipeError> {
        // A cell that the log has not kept is not a blank one.
        if let Some(lost) = used(&self.columns).find(|column| !cells.contains_key(&column.name)) {
            return Err(RecipeError::MissingColumn { column: lost.name.clone(), similar: None });
        }
        let cell = |name: &str| cells.get(name).and_then(Option::as_deref);
        self.action_values(label, 0, cell)
    }

    /// The parts of an action, from the cells of a row with these columns.
    ///
    /// # Errors
    /// As [`Recipe::features`].
    pub(crate) fn parts_of_cells<'a>(
        &self,
        label: &str,
        columns: &[String],
        cell: impl Fn(&str) -> Option<&'a str>,
    ) -> Result<Vec<f64>, RecipeError> {
        if let Some(lost) = used(&self.columns).find(|column| !columns.contains(&column.name)) {
            return Err(RecipeError::MissingColumn { column: lost.name.clone(), similar: None });
        }
        self.action_values(label, 0, cell)
    }

    /// The number of parts of an action.
    pub(crate) fn action_parts(&self) -> usize {
        self.action_parts.len()
    }

    /// Whether features come from any column.
    pub(crate) fn uses_columns(&self) -> bool {
        used(&self.columns).next().is_some()
    }

    /// The names of the columns that features come from.
    pub(crate) fn used_columns(&self) -> Vec<String> {
        used(&self.columns).map(|column| column.name.clone()).collect()
    }

    /// The cells of a row that features come from, by column.
    ///
    /// # Errors
    /// If the table lacks a column or takes its labels from another column.
    pub fn cells(&self, row: Row<'_>) -> Result<Cells, RecipeError> {
        self.check_table(row.table())?;
        let cell = |name: &String| (name.clone(), row.cell(name).flatten().map(Into::into));
        Ok(used(&self.columns).map(|column| cell(&column.name)).collect())
    }

    /// Whether two rows have the same values, however they are written: `4` and `4.0` are one
    /// number, `yes` and `Yes` one answer.
    pub fn is_same_row(&self, one: &Cells, other: &Cells) -> bool {
        one.len() == other.len() && self.differing(one, other).is_empty()
    }

    /// The columns in which two rows differ, with both values.
    pub(crate) fn differing(
        &self,
        one: &Cells,
        other: &Cells,
    ) -> Vec<(String, Option<String>, Option<String>)> {
        let said = |cells: &Cells, name: &str| cells.get(name).cloned().flatten();
        used(&self.columns)
            .map(|column| (column, said(one, &column.name), said(other, &column.name)))
            .filter(|(column, one, other)| !column.is_same(one.as_deref(), other.as_deref()))
            .map(|(column, one, other)| (column.name.clone(), one, other))
            .collect()
    }

    /// The features of all actions of a table, in the order of rows.
    ///
    /// # Errors
    /// As [`Recipe::features`].
    pub fn features_of_all(
        &self,
        table: &Table,
        context: &Context,
    ) -> Result<Vec<Vec<f64>>, RecipeError> {
        self.check_table(table)?;
        let context_parts = self.context_values(context)?;
        table.rows().map(|row| self.row_products(row, &context_parts)).collect()
    }

    /// Checks that every row of a table can be encoded, without keeping the features in memory.
    ///
    /// # Errors
    /// As [`Recipe::features`].
    pub(crate) fn check_rows(&self, table: &Table, context: &Context) -> Result<(), RecipeError> {
        self.check_table(table)?;
        let context_parts = self.context_values(context)?;
        table.rows().try_for_each(|row| self.row_products(row, &context_parts).map(drop))
    }

    /// Checks that every row of a table can be encoded in some context.
    ///
    /// # Errors
    /// As [`Recipe::features`].
    pub(crate) fn check_actions(&self, table: &Table) -> Result<(), RecipeError> {
        self.check_table(table)?;
        let bare = vec![0.0; self.context_parts.len()];
        table.rows().try_for_each(|row| self.row_products(row, &bare).map(drop))
    }

    fn row_products(&self, row: Row<'_>, context_parts: &[f64]) -> Result<Vec<f64>, RecipeError> {
        let action_parts =
            self.action_values(row.label(), row.line(), |name| row.cell(name).flatten())?;
        self.products(row.line(), &action_parts, context_parts)
    }

    /// The features of an action with these parts, from this line of a table, in a context with
    /// those.
    ///
    /// # Errors
    /// If a product is too far out of range.
    pub(crate) fn products(
        &self,
        line: u64,
        action_parts: &[f64],
        context_parts: &[f64],
    ) -> Result<Vec<f64>, RecipeError> {
        let mut features = Vec::with_capacity(self.dim());
        self.combine_into(&mut features, line, action_parts, context_parts)?;
        Ok(features)
    }

    /// Appends the features of an action with these parts.
    pub(crate) fn combine_into(
        &self,
        features: &mut Vec<f64>,
        line: u64,
        action_parts: &[f64],
        context_parts: &[f64],
    ) -> Result<(), RecipeError> {
        for &[i, k] in &self.features {
            let product = factor(action_parts, i) * factor(context_parts, k);
            let feature = plausibly::quantise(product);
            features.push(feature.map_err(|_beyond| self.product_error(line, [i, k]))?);
        }
        Ok(())
    }

    fn product_error(&self, line: u64, [i, k]: [usize; 2]) -> RecipeError {
        let column =
            |part: Option<&Part>| part.and_then(Part::column).unwrap_or_default().to_string();
        RecipeError::Product {
            feature: self.name([i, k]),
            action: Place::Cell { line, column: column(self.action_part(i)) },
            context: Place::Context { key: column(self.context_part(k)) },
        }
    }

    /// Checks that no cell which the log would keep is too long.
    pub(super) fn check_lengths(&self, table: &Table) -> Result<(), RecipeError> {
        for Column { name, .. } in used(&self.columns) {
            let Some(position) = table.position(name) else { continue };
            for (cell, row) in table.cells(position).zip(table.rows()) {
                if let Some(characters) = cell.and_then(too_long) {
                    let place = Place::Cell { line: row.line(), column: name.clone() };
                    return Err(RecipeError::LongValue { place, characters });
                }
            }
        }
        Ok(())
    }

    /// Checks that a table has the columns that the recipe needs.
    pub(super) fn check_table(&self, table: &Table) -> Result<(), RecipeError> {
        if table.label_column() != self.label() {
            let found = table.label_column().map(str::to_string);
            return Err(RecipeError::Label { expected: self.label.clone(), found });
        }
        for Column { name, .. } in used(&self.columns) {
            if table.position(name).is_none() {
                let similar = |other: &&String| other.to_lowercase() == name.to_lowercase();
                let similar = table.columns().iter().find(similar).cloned();
                return Err(RecipeError::MissingColumn { column: name.clone(), similar });
            }
        }
        Ok(())
    }

    fn action_values<'a>(
        &self,
        label: &str,
        line: u64,
        cell: impl Fn(&str) -> Option<&'a str>,
    ) -> Result<Vec<f64>, RecipeError> {
        if self.shape == Shape::Blocks {
            let own = |part: &Part| matches!(part, Part::Action { label: own } if own == label);
            if !self.action_parts.iter().any(own) {
                return Err(RecipeError::UnknownAction { line, label: brief(label) });
            }
            let value = |part| f64::from(u8::from(own(part)));
            return Ok(self.action_parts.iter().map(value).collect());
        }
        let place = |name: &str| Place::Cell { line, column: name.into() };
        values(&self.action_parts, &self.columns, cell, place)
    }

    /// The parts of a context.
    ///
    /// # Errors
    /// If it has a key that the recipe does not have, or a value that it cannot read.
    pub(crate) fn context_values(&self, context: &Context) -> Result<Vec<f64>, RecipeError> {
        if let Some((key, _)) = self.unknown_pairs(context).next() {
            return Err(self.unknown_key(key));
        }
        let place = |name: &str| Place::Context { key: name.into() };
        values(&self.context_parts, &self.context, |name| context.get(name), place)
    }

    /// The pairs of a context with keys that the recipe does not have.
    pub(super) fn unknown_pairs<'a>(
        &self,
        context: &'a Context,
    ) -> impl Iterator<Item = (&'a str, &'a str)> {
        context.iter().filter(|(key, _)| !self.context.iter().any(|column| column.name == *key))
    }

    /// The error for a context key that the recipe does not have.
    pub(super) fn unknown_key(&self, key: &str) -> RecipeError {
        let key = key.into();
        match self.shape {
            Shape::Arms => RecipeError::ContextForArms { key },
            Shape::Given => RecipeError::ContextForVectors { key },
            Shape::Blocks | Shape::Shared => RecipeError::UnknownKey { key },
        }
    }

    /// A value of a feature in the user's units, as a phrase: `price = 12.5`, `colour = red` or
    /// `colour ≠ red`, `price missing` or `price known`. A product of two numbers stays a product,
    /// and so does a zero that either factor may explain. `None` if there is no such feature.
    ///
    /// Numbers have as many digits as the grid can tell apart. A missing number is encoded as the
    /// middle of its range and shown as that; the feature `price missing` marks it as unknown.
    pub fn display(&self, feature: usize, value: f64) -> Option<String> {
        let &[i, k] = self.features.get(feature)?;
        let of_context = |part: &Part, value| {
            format!("{}{}", self.prefix(part), phrase(part, &self.context, value))
        };
        Some(match (self.action_part(i), self.context_part(k)) {
            (None, None) => self.name([i, k]),
            (Some(part), None) => phrase(part, &self.columns, value),
            (None, Some(part)) => of_context(part, value),
            (Some(action), Some(context)) if action.is_indicator() && value != 0.0 => {
                format!("{}{}{}", action.name(), self.separator(), of_context(context, value))
            }
            (Some(action), Some(context)) if context.is_indicator() && value != 0.0 => {
                format!("{} × {}", phrase(action, &self.columns, value), of_context(context, 1.0))
            }
            _ => format!("({}) = {}", self.name([i, k]), on_the_grid(value)),
        })
    }
}

/// The value of a part by its number in a pair.
fn factor(parts: &[f64], number: usize) -> f64 {
    number.checked_sub(1).map_or(1.0, |index| parts[index])
}

/// One value per part.
fn values<'a>(
    parts: &[Part],
    columns: &[Column],
    value: impl Fn(&str) -> Option<&'a str>,
    place: impl Fn(&str) -> Place,
) -> Result<Vec<f64>, RecipeError> {
    let mut values = vec![0.0; parts.len()];
    for column in used(columns) {
        let reading = column.read(value(&column.name), || place(&column.name))?;
        // A category or blank without a part would be lost silently, so it is refused.
        let mut understood =
            matches!(reading, Reading::Number(_)) || (reading == Reading::Missing && column.late);
        let own =
            parts.iter().zip(&mut values).filter(|(part, _)| part.column() == Some(&column.name));
        for (part, value) in own {
            *value = match (part, reading) {
                (Part::Value { .. }, Reading::Number(number)) => number,
                (Part::Category { category, .. }, Reading::Category(found))
                    if category == found =>
                {
                    1.0
                }
                (Part::Missing { .. }, Reading::Missing)
                | (Part::Given { .. }, Reading::Number(_)) => 1.0,
                _ => continue,
            };
            understood = true;
        }
        match reading {
            Reading::Missing if !understood => {
                return Err(RecipeError::Blank { place: place(&column.name) });
            }
            Reading::Category(found) if !understood => {
                return Err(RecipeError::Unseen {
                    place: place(&column.name),
                    value: brief(found),
                });
            }
            _ => {}
        }
    }
    Ok(values)
}

/// A value of a part in words.
fn phrase(part: &Part, columns: &[Column], value: f64) -> String {
    let is = value != 0.0;
    match part {
        Part::Value { column: name } => {
            let column = columns.iter().find(|column| column.name == *name);
            let shown = column.map_or_else(|| on_the_grid(value), |own| own.unscaled(value));
            format!("{name} = {shown}")
        }
        Part::Category { column, category } if !is => format!("{column} ≠ {category}"),
        Part::Missing { column } if !is => format!("{column} known"),
        Part::Given { column } if !is => format!("{column} not given"),
        Part::Action { label } if !is => format!("not {label}"),
        _ => part.name(),
    }
}
