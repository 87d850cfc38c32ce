//! Recipes of vectors as given: numbers that are used without scaling or an intercept.

use super::infer::check_names;
use super::{Column, Context, Encoding, Part, Recipe, RecipeError, Shape, Why};
use crate::table::Table;

pub(super) fn recipe(
    table: &Table,
    leave_out: &[&str],
    theta_norm_bound: f64,
) -> Result<Recipe, RecipeError> {
    check_bound(theta_norm_bound)?;
    let names: Vec<&String> =
        table.columns().iter().filter(|name| Some(name.as_str()) != table.label_column()).collect();
    check_names(names.iter().copied().cloned().collect(), leave_out)?;
    let column = |name: &String| {
        let left_out = leave_out.contains(&name.as_str());
        let encoding =
            if left_out { Encoding::LeftOut { why: Why::Asked } } else { Encoding::AsGiven {} };
        Column { name: name.clone(), encoding, late: false, note: None }
    };
    let columns: Vec<Column> = names.into_iter().map(column).collect();
    let used = columns.iter().filter(|column| column.is_used());
    let parts: Vec<Part> = used.map(|column| Part::Value { column: column.name.clone() }).collect();
    if parts.is_empty() {
        return Err(RecipeError::NoVector);
    }
    let mut recipe = Recipe {
        shape: Shape::Given,
        label: table.label_column().map(str::to_string),
        columns,
        context: Vec::new(),
        action_parts: parts,
        context_parts: Vec::new(),
        features: Vec::new(),
        declared_bound: Some(theta_norm_bound),
    };
    recipe.check_lengths(table)?;
    recipe.grow()?;
    // Reports a wrong cell before a log begins with it.
    recipe.check_rows(table, &Context::default())?;
    Ok(recipe)
}

/// A radius accepts bounds up to this one.
const MOST: f64 = 1e50;

fn check_bound(bound: f64) -> Result<(), RecipeError> {
    if bound > 0.0 && bound <= MOST { Ok(()) } else { Err(RecipeError::Bound { bound }) }
}

impl Recipe {
    /// Checks that a radius accepts the declared bound, scaled by a range of rewards of this
    /// length.
    pub(crate) fn check_scaled_bound(&self, range: f64) -> Result<(), RecipeError> {
        self.declared_bound.map_or(Ok(()), |bound| check_bound(bound / range))
    }

    /// Checks what is special about vectors as given: a declared bound, only numbers, and no
    /// context.
    pub(super) fn check_given(&self) -> Result<(), RecipeError> {
        let given = self.shape == Shape::Given;
        let malformed = |what: &str| Err(RecipeError::Malformed { what: what.into() });
        if given != self.declared_bound.is_some() {
            return malformed("a bound must be declared for vectors as given, and only for those");
        }
        self.check_scaled_bound(1.0)?;
        let mut all = self.columns.iter().chain(&self.context);
        let as_given = |column: &Column| matches!(column.encoding, Encoding::AsGiven {});
        if all.any(|column| column.is_used() && as_given(column) != given) {
            return malformed(
                "only vectors as given may have columns as given, and they have no other columns",
            );
        }
        if given && (!self.context.is_empty() || self.action_parts.is_empty()) {
            return malformed("vectors as given must have numbers and no context");
        }
        Ok(())
    }
}
