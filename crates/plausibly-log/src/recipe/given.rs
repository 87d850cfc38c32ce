//! Recipes of vectors as given: numbers that are used without scaling or an intercept.

use super::column::used;
use super::infer::check_names;
use super::stored::require;
use super::{Column, Context, Encoding, Part, Recipe, RecipeError, Shape};
use crate::table::Table;

/// A radius accepts bounds up to this one.
const MOST: f64 = 1e50;

fn check_bound(bound: f64) -> Result<(), RecipeError> {
    if bound > 0.0 && bound <= MOST { Ok(()) } else { Err(RecipeError::Bound { bound }) }
}

impl Recipe {
    /// A recipe for a researcher's vectors: every column but those left out is a feature as it is.
    /// No intercept is added, nothing is scaled, and there is no context.
    ///
    /// For such vectors the range of rewards says nothing about θ*, so a bound on its norm, in
    /// units of reward, must be declared. Rewards are then scaled by their range but not shifted.
    ///
    /// # Errors
    /// If the bound is not positive or above 1e50, a cell is blank, not a number or beyond 1024, no
    /// column is left, a column to leave out does not exist, or there are more than
    /// [`MAX_FEATURES`](super::MAX_FEATURES) columns.
    ///
    /// # Example
    /// ```
    /// use plausibly_log::recipe::{Context, Recipe};
    /// use plausibly_log::table::Table;
    /// let table = Table::read("name,x,y\na,0.5,-3\nb,0,7\n".as_bytes())?;
    /// let recipe = Recipe::given(&table, &[], 2.0)?;
    /// assert_eq!(recipe.features(table.find("a").unwrap(), &Context::default())?, [0.5, -3.0]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn given(
        table: &Table,
        leave_out: &[&str],
        theta_norm_bound: f64,
    ) -> Result<Self, RecipeError> {
        check_bound(theta_norm_bound)?;
        check_names(table.other_columns().cloned().collect(), leave_out)?;
        let mut recipe = Self::without_features(table, Shape::Given);
        recipe.declared_bound = Some(theta_norm_bound);
        for name in table.other_columns() {
            recipe.columns.push(if leave_out.contains(&name.as_str()) {
                Column::left_out(name)
            } else {
                recipe.action_parts.push(Part::Value { column: name.clone() });
                Column::new(name, Encoding::AsGiven {})
            });
        }
        if recipe.action_parts.is_empty() {
            return Err(RecipeError::NoVector);
        }
        recipe.check_lengths(table)?;
        recipe.grow()?;
        // Reports a wrong cell before a log begins with it.
        recipe.check_rows(table, &Context::default())?;
        Ok(recipe)
    }

    /// Checks that a radius accepts the declared bound, scaled by a range of rewards of this
    /// length.
    pub(crate) fn check_scaled_bound(&self, range: f64) -> Result<(), RecipeError> {
        self.declared_bound.map_or(Ok(()), |bound| check_bound(bound / range))
    }

    /// Checks what is special about vectors as given: a declared bound, only numbers, and no
    /// context.
    pub(super) fn check_given(&self) -> Result<(), RecipeError> {
        let given = self.shape == Shape::Given;
        let what = "a bound must be declared for vectors as given, and only for those";
        require(given == self.declared_bound.is_some(), what)?;
        self.check_scaled_bound(1.0)?;
        let mut all = used(&self.columns).chain(used(&self.context));
        let as_given = |column: &Column| matches!(column.encoding, Encoding::AsGiven {});
        let what =
            "only vectors as given may have columns as given, and they have no other columns";
        require(all.all(|column| as_given(column) == given), what)?;
        let numbers_alone = self.context.is_empty() && !self.action_parts.is_empty();
        require(!given || numbers_alone, "vectors as given must have numbers and no context")
    }
}
