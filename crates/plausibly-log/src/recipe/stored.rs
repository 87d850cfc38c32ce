//! The form of a recipe in the log, and the checks when it is read back.

use super::column::{range, used};
use super::{Column, Encoding, MAX_FEATURES, Part, Recipe, RecipeError, Shape};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::collections::BTreeSet;
use std::fmt::Display;

pub(super) const VERSION: u32 = 1;

/// Version 1 of the form. It contains everything that encoding depends on, so nothing is computed
/// again from data.
#[derive(Serialize, Deserialize)]
#[serde(remote = "Recipe", deny_unknown_fields)]
struct Stored {
    version: u32,
    shape: Shape,
    label: Option<String>,
    columns: Vec<Column>,
    context: Vec<Column>,
    action_parts: Vec<Part>,
    context_parts: Vec<Part>,
    features: Vec<[usize; 2]>,
    #[serde(rename = "theta_norm_bound", default, skip_serializing_if = "Option::is_none")]
    declared_bound: Option<f64>,
}

impl Serialize for Recipe {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        Stored::serialize(self, to)
    }
}

impl<'de> Deserialize<'de> for Recipe {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let recipe = Stored::deserialize(from)?;
        recipe.check().map_err(D::Error::custom)?;
        Ok(recipe)
    }
}

/// Refuses a recipe for which a requirement does not hold.
pub(super) fn require(holds: bool, what: impl Display) -> Result<(), RecipeError> {
    if holds { Ok(()) } else { Err(RecipeError::Malformed { what: what.to_string() }) }
}

impl Recipe {
    /// Checks what every recipe obeys, so that encoding can rely on it.
    pub(super) fn check(&self) -> Result<(), RecipeError> {
        let version = self.version;
        let what =
            format_args!("version {version} is not known; this library reads version {VERSION}");
        require(version == VERSION, what)?;
        check_columns(&self.columns)?;
        check_columns(&self.context)?;
        let late = self.columns.iter().any(|column| column.late);
        require(!late, "only context keys can be late, not columns of the table")?;
        self.check_given()?;
        let blocks = self.shape == Shape::Blocks;
        check_parts(&self.action_parts, if blocks { &[] } else { &self.columns }, blocks)?;
        check_parts(&self.context_parts, &self.context, false)?;
        let columns = self.columns.iter().any(Column::is_used);
        let context = self.context.iter().any(Column::is_used);
        let arms_alone = !self.is_arms() || !(columns || context);
        require(arms_alone, "plain arms have neither columns nor context in use")?;
        require(!(blocks && columns), "blocks are for tables without columns in use")?;
        let (actions, contexts) = (self.action_parts.len(), self.context_parts.len());
        let (first, expected) = (self.first_part(), self.size());
        let distinct: BTreeSet<_> = self.features.iter().collect();
        let in_range = |&[i, k]: &[usize; 2]| (first..=actions).contains(&i) && k <= contexts;
        let whole = self.features.len() == expected
            && distinct.len() == expected
            && self.features.iter().all(in_range)
            && self.features.first().is_none_or(|&pair| pair == [first, 0]);
        require(whole, "the features must be each pair of parts once, the intercept first")?;
        let what = format_args!("{expected} features are more than {MAX_FEATURES}");
        require(expected <= MAX_FEATURES, what)
    }
}

fn check_columns(columns: &[Column]) -> Result<(), RecipeError> {
    let mut names = BTreeSet::new();
    for Column { name, encoding, .. } in columns {
        let what = format_args!("`{name}` occurs twice among the columns or the context");
        require(names.insert(name), what)?;
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
        require(sound, format_args!("the scale of `{name}` is empty"))?;
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
        let what = format_args!("the part `{}` fits no column, or occurs twice", part.name());
        require(suits && names.insert(format!("{part:?}")), what)?;
    }
    for Column { name, encoding, late, .. } in used(columns) {
        let value = Part::Value { column: name.clone() };
        let given = Part::Given { column: name.clone() };
        let numeric = !matches!(encoding, Encoding::Categories {});
        let complete = parts.contains(&value) && (!late || parts.contains(&given));
        require(!numeric || complete, format_args!("`{name}` lacks a part"))?;
    }
    Ok(())
}
