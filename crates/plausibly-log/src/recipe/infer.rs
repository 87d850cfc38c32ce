//! Infers a recipe from the first table and context.

use super::column::range;
use super::{Column, Context, Encoding, Part, Place, Recipe, RecipeError, Shape, Why};
use crate::table::{ColumnKind, NumberFormat, Table, brief, read_number};
use std::collections::BTreeSet;

/// Text with more than 50 categories counts as an identifier.
const MOST_CATEGORIES: usize = 50;
/// In a table of at most 20 rows no column counts as an identifier.
const FEW_ROWS: usize = 20;
/// Positive numbers get a logarithmic scale if the largest is over 100 times the median.
const SKEWED: f64 = 100.0;
/// Pairs of words that become 1 and −1.
const FLAGS: [[&str; 2]; 2] = [["yes", "no"], ["true", "false"]];

impl Recipe {
    /// Infers a recipe from the first table and context.
    ///
    /// # Errors
    /// If numbers can be read in two ways, or there would be more than
    /// [`MAX_FEATURES`](super::MAX_FEATURES) features.
    pub fn infer(table: &Table, context: &Context) -> Result<Self, RecipeError> {
        Self::infer_without(table, context, &[])
    }

    /// Infers a recipe without some of the columns and context keys.
    ///
    /// # Errors
    /// As [`Recipe::infer`], and if one of them does not exist.
    pub fn infer_without(
        table: &Table,
        context: &Context,
        leave_out: &[&str],
    ) -> Result<Self, RecipeError> {
        let keys = context.iter().map(|(key, _)| key.into());
        check_names(table.other_columns().cloned().chain(keys).collect(), leave_out)?;
        let mut recipe = Self::without_features(table, Shape::Shared);
        for name in table.other_columns() {
            let (encoding, parts, note) = if leave_out.contains(&name.as_str()) {
                left_out(Why::Asked)
            } else {
                column(table, name)?
            };
            recipe.columns.push(Column { name: name.clone(), encoding, late: false, note });
            recipe.action_parts.extend(parts);
        }
        for (key, value) in context.iter() {
            let (column, parts) = if leave_out.contains(&key) {
                (Column::left_out(key), Vec::new())
            } else {
                key_of_context(key, value, false)?
            };
            recipe.context.push(column);
            recipe.context_parts.extend(parts);
        }
        if recipe.action_parts.is_empty() && recipe.context_parts.is_empty() {
            recipe.shape = Shape::Arms;
        } else if recipe.action_parts.is_empty() {
            recipe.shape = Shape::Blocks;
            recipe.action_parts = recipe.new_action_parts(table);
        }
        recipe.check_lengths(table)?;
        recipe.grow()?;
        Ok(recipe)
    }
}

pub(super) fn check_names(names: Vec<String>, leave_out: &[&str]) -> Result<(), RecipeError> {
    match leave_out.iter().find(|name| !names.iter().any(|known| known == *name)) {
        Some(&name) => Err(RecipeError::NothingToLeaveOut { name: name.into(), names }),
        None => Ok(()),
    }
}

/// The encoding, parts and note of a column.
type Inferred = (Encoding, Vec<Part>, Option<String>);

fn column(table: &Table, name: &str) -> Result<Inferred, RecipeError> {
    // The name comes from the table, so it is always found.
    let Some(position) = table.position(name) else { return Ok(left_out(Why::Blank)) };
    let cells: Vec<&str> = table.cells(position).flatten().collect();
    let blanks = cells.len() < table.len();
    let (encoding, mut parts, note) = match table.kind(name) {
        None | Some(ColumnKind::Blank) => left_out(Why::Blank),
        Some(ColumnKind::Ambiguous) => return Err(ambiguous(table, name)),
        Some(ColumnKind::Numbers(format)) => numbers(name, format, &cells, blanks),
        Some(ColumnKind::Text) => text(name, &cells, table.len()),
    };
    if blanks && !matches!(encoding, Encoding::LeftOut { .. }) {
        parts.push(Part::Missing { column: name.into() });
    }
    Ok((encoding, parts, note))
}

fn left_out(why: Why) -> Inferred {
    (Encoding::LeftOut { why }, Vec::new(), None)
}

fn ambiguous(table: &Table, name: &str) -> RecipeError {
    let with_comma = table.rows().find_map(|row| {
        row.cell(name).flatten().filter(|cell| cell.contains(',')).map(|cell| (row, cell))
    });
    let (line, value) = with_comma.map_or((0, ""), |(row, cell)| (row.line(), cell));
    RecipeError::Ambiguous { place: Place::Cell { line, column: name.into() }, value: brief(value) }
}

fn numbers(name: &str, format: NumberFormat, cells: &[&str], blanks: bool) -> Inferred {
    let mut values: Vec<f64> = cells.iter().filter_map(|cell| format.parse(cell)).collect();
    values.sort_by(f64::total_cmp);
    let (Some(&low), Some(&high)) = (values.first(), values.last()) else {
        return left_out(Why::Blank);
    };
    if range(low, high) <= 0.0 {
        // The number may be written in several ways; the smallest text does not depend on the order
        // of rows.
        let value = cells.iter().min().map_or_else(String::new, |cell| (*cell).to_string());
        return left_out(if blanks { Why::ConstantOrBlank(value) } else { Why::Constant(value) });
    }
    let middle = values.len() / 2;
    let median = values[middle] / 2.0 + values[values.len() - 1 - middle] / 2.0;
    let parts = vec![Part::Value { column: name.into() }];
    if low > 0.0 && high / median > SKEWED {
        let note = format!(
            "logarithmic: the largest value is over {SKEWED} times the median, {}",
            super::column::shown(median)
        );
        return (Encoding::Log { numbers: format, low, high }, parts, Some(note));
    }
    let counts_up = values.len() > FEW_ROWS
        && values.windows(2).all(|pair| (pair[1] - pair[0]).to_bits() == 1.0_f64.to_bits());
    let note = counts_up
        .then(|| "counts up by one: leave it out if it is a number given to rows".to_string());
    (Encoding::Linear { numbers: format, low, high }, parts, note)
}

fn text(name: &str, cells: &[&str], rows: usize) -> Inferred {
    let categories: BTreeSet<&str> = cells.iter().copied().collect();
    let lower: BTreeSet<String> =
        categories.iter().map(|category| category.to_ascii_lowercase()).collect();
    for [yes, no] in FLAGS {
        if lower.len() == 2 && lower.contains(yes) && lower.contains(no) {
            let encoding = Encoding::Flag { yes: yes.into(), no: no.into() };
            return (encoding, vec![Part::Value { column: name.into() }], None);
        }
    }
    let nearly_unique = 10 * categories.len() >= 9 * cells.len();
    let many = categories.len() > MOST_CATEGORIES || categories.len() > 1 && nearly_unique;
    if rows > FEW_ROWS && many {
        let (encoding, parts, _) =
            left_out(Why::Identifier { values: categories.len(), cells: cells.len() });
        return (encoding, parts, not_quite_numbers(cells));
    }
    if let (Some(only), 1, true) = (categories.first(), categories.len(), cells.len() == rows) {
        return left_out(Why::Constant((*only).into()));
    }
    let case = "some categories differ in upper and lower case only, and count as different";
    let own = "every action has its own value: nothing is learned from one action for another";
    let note = not_quite_numbers(cells)
        .or_else(|| (lower.len() < categories.len()).then(|| case.into()))
        .or_else(|| (categories.len() == rows && rows > 2).then(|| own.into()));
    let part = |category: &str| Part::Category { column: name.into(), category: category.into() };
    (Encoding::Categories {}, categories.into_iter().map(part).collect(), note)
}

/// A note on a column of text that is mostly numbers. It names the smallest text that is not a
/// number, so it does not depend on the order of rows.
fn not_quite_numbers(cells: &[&str]) -> Option<String> {
    let (numbers, mut others): (Vec<&str>, Vec<&str>) =
        cells.iter().partition(|cell| NumberFormat::Plain.parse(cell).is_some());
    others.sort_unstable();
    let example = brief(others.first().filter(|_| 2 * numbers.len() > cells.len())?);
    Some(format!(
        "text, because `{example}` is not a number; {} of {} values are",
        numbers.len(),
        cells.len()
    ))
}

/// Infers the encoding of a context key from its only known value.
pub(super) fn key_of_context(
    key: &str,
    value: &str,
    late: bool,
) -> Result<(Column, Vec<Part>), RecipeError> {
    let place = || Place::Context { key: key.into() };
    let with_comma = [NumberFormat::Grouped, NumberFormat::Comma]
        .iter()
        .any(|format| format.parse(value).is_some());
    let (encoding, parts) = if let Some(number) = NumberFormat::Plain.parse(value) {
        let value_part = Part::Value { column: key.into() };
        let given = late.then(|| Part::Given { column: key.into() });
        let (low, high) = (-1e308, 1e308);
        let too_far = || RecipeError::TooFar { place: place(), value: brief(value), low, high };
        let scale = power_of_ten(number.abs()).ok_or_else(too_far)?;
        (Encoding::Magnitude { scale }, given.into_iter().chain([value_part]).collect())
    } else {
        if let (true, Err(source)) = (with_comma, read_number(value)) {
            return Err(RecipeError::WithComma { place: place(), source });
        }
        let part = Part::Category { column: key.into(), category: value.into() };
        (Encoding::Categories {}, vec![part])
    };
    Ok((Column { late, ..Column::new(key, encoding) }, parts))
}

/// The smallest power of ten at or above a magnitude, at least 1. Each power is parsed from text,
/// which rounds it correctly.
fn power_of_ten(magnitude: f64) -> Option<f64> {
    (0..=308)
        .filter_map(|power| format!("1e{power}").parse().ok())
        .find(|&scale| scale >= magnitude)
}
