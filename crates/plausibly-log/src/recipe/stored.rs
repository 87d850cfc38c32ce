//! The form of a recipe in the log, and the checks when it is read back.

use super::column::range;
use super::{Column, Encoding, MAX_FEATURES, Part, Recipe, RecipeError, Shape};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

const VERSION: u32 = 1;

/// Version 1 of the form. It contains everything that encoding depends on, so nothing is computed
/// again from data.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Stored {
    version: u32,
    shape: Shape,
    label: Option<String>,
    columns: Vec<Column>,
    context: Vec<Column>,
    action_parts: Vec<Part>,
    context_parts: Vec<Part>,
    features: Vec<[usize; 2]>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    theta_norm_bound: Option<f64>,
}

impl From<Recipe> for Stored {
    fn from(recipe: Recipe) -> Self {
        let Recipe {
            shape,
            label,
            columns,
            context,
            action_parts,
            context_parts,
            features,
            declared_bound,
        } = recipe;
        Self {
            version: VERSION,
            shape,
            label,
            columns,
            context,
            action_parts,
            context_parts,
            features,
            theta_norm_bound: declared_bound,
        }
    }
}

impl TryFrom<Stored> for Recipe {
    type Error = RecipeError;

    fn try_from(stored: Stored) -> Result<Self, RecipeError> {
        let version = stored.version;
        if version != VERSION {
            return Err(malformed(format!(
                "version {version} is not known; this library reads version {VERSION}"
            )));
        }
        let recipe = Self {
            shape: stored.shape,
            label: stored.label,
            columns: stored.columns,
            context: stored.context,
            action_parts: stored.action_parts,
            context_parts: stored.context_parts,
            features: stored.features,
            declared_bound: stored.theta_norm_bound,
        };
        recipe.check()?;
        Ok(recipe)
    }
}

fn malformed(what: impl Into<String>) -> RecipeError {
    RecipeError::Malformed { what: what.into() }
}

impl Recipe {
    /// Checks what every recipe obeys, so that encoding can rely on it.
    pub(super) fn check(&self) -> Result<(), RecipeError> {
        check_columns(&self.columns)?;
        check_columns(&self.context)?;
        if self.columns.iter().any(|column| column.late) {
            return Err(malformed("only context keys can be late, not columns of the table"));
        }
        self.check_given()?;
        let blocks = self.shape == Shape::Blocks;
        check_parts(&self.action_parts, if blocks { &[] } else { &self.columns }, blocks)?;
        check_parts(&self.context_parts, &self.context, false)?;
        let used = |columns: &[Column]| columns.iter().any(Column::is_used);
        let (actions, contexts) = (self.action_parts.len(), self.context_parts.len());
        let (first, expected) = match self.shape {
            Shape::Arms if used(&self.columns) || used(&self.context) => {
                return Err(malformed("plain arms have neither columns nor context in use"));
            }
            Shape::Blocks if used(&self.columns) => {
                return Err(malformed("blocks are for tables without columns in use"));
            }
            Shape::Arms => ([0, 0], 0),
            Shape::Blocks => ([1, 0], actions * (contexts + 1)),
            Shape::Shared => ([0, 0], (actions + 1) * (contexts + 1)),
            Shape::Given => ([1, 0], actions),
        };
        let distinct: BTreeSet<_> = self.features.iter().collect();
        let in_range = |&[i, k]: &[usize; 2]| (first[0]..=actions).contains(&i) && k <= contexts;
        let whole = self.features.len() == expected
            && distinct.len() == expected
            && self.features.iter().all(in_range)
            && self.features.first().is_none_or(|&pair| pair == first);
        if !whole {
            return Err(malformed(
                "the features must be each pair of parts once, the intercept first",
            ));
        }
        if expected > MAX_FEATURES {
            return Err(malformed(format!("{expected} features are more than {MAX_FEATURES}")));
        }
        Ok(())
    }
}

fn check_columns(columns: &[Column]) -> Result<(), RecipeError> {
    let mut names = BTreeSet::new();
    for Column { name, encoding, .. } in columns {
        if !names.insert(name) {
            return Err(malformed(format!(
                "`{name}` occurs twice among the columns or the context"
            )));
        }
        let sound = match encoding {
            Encoding::Linear { low, high, .. } => {
                low.is_finite() && high.is_finite() && range(*low, *high) > 0.0
            }
            Encoding::Log { low, high, .. } => {
                *low > 0.0 && high.is_finite() && range(*low, *high) > 0.0
            }
            Encoding::Magnitude { scale } => scale.is_finite() && *scale >= 1.0,
            Encoding::Flag { yes, no } => !yes.eq_ignore_ascii_case(no),
            Encoding::AsGiven {} | Encoding::Categories {} | Encoding::LeftOut { .. } => true,
        };
        if !sound {
            return Err(malformed(format!("the scale of `{name}` is empty")));
        }
    }
    Ok(())
}

/// Checks that every part fits its column and occurs once, and that every column in use has the
/// parts it needs.
fn check_parts(parts: &[Part], columns: &[Column], blocks: bool) -> Result<(), RecipeError> {
    let mut names = BTreeSet::new();
    for part in parts {
        let column = columns.iter().find(|column| Some(column.name.as_str()) == part.column());
        let numeric = |column: &Column| !matches!(column.encoding, Encoding::Categories {});
        let suits = match (part, column.filter(|column| column.is_used())) {
            (Part::Action { .. }, _) => blocks,
            (_, None) => false,
            (Part::Value { .. }, Some(column)) => numeric(column),
            (Part::Category { .. }, Some(column)) => {
                matches!(column.encoding, Encoding::Categories {} | Encoding::Flag { .. })
            }
            (Part::Missing { .. }, Some(column)) => {
                !column.late && !matches!(column.encoding, Encoding::AsGiven {})
            }
            (Part::Given { .. }, Some(column)) => column.late && numeric(column),
        };
        let key = format!("{part:?}");
        if !suits || !names.insert(key) {
            return Err(malformed(format!(
                "the part `{}` fits no column, or occurs twice",
                part.name()
            )));
        }
    }
    for Column { name, encoding, late, .. } in columns.iter().filter(|column| column.is_used()) {
        let value = Part::Value { column: name.clone() };
        let given = Part::Given { column: name.clone() };
        let numeric = !matches!(encoding, Encoding::Categories {});
        if numeric && !(parts.contains(&value) && (!late || parts.contains(&given))) {
            return Err(malformed(format!("`{name}` lacks a part")));
        }
    }
    Ok(())
}
