//! From a person's table to vectors.
//!
//! A [`Recipe`] is inferred once, from the first [`Table`] and [`Context`], shown before it is
//! used, and stored in the log. From then on it turns rows into features, and grows only at the
//! end, so that what was learned stays true.

mod bound;
mod column;
mod context;
mod describe;
mod doubt;
mod encode;
mod error;
mod extend;
mod given;
mod infer;
mod logarithm;
mod stored;

pub use column::{Column, Encoding, Part, Why};
pub use context::{Context, ContextError};
pub use describe::Description;
pub use doubt::Doubt;
pub use error::{Place, RecipeError};
pub use extend::Extension;

use crate::table::Table;
use serde::{Deserialize, Serialize};
use stored::Stored;

/// The most features a recipe makes: more than a table should need, and few enough to decide in
/// microseconds.
pub const MAX_FEATURES: usize = 256;

/// How features are put together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Shape {
    /// No features: actions are plain arms.
    Arms,
    /// A model an action: each has its own copy of an intercept and of the context.
    Blocks,
    /// One model for all: an intercept, the parts of actions, the parts of the context, and each
    /// with each.
    Shared,
    /// One model for all, of vectors as they are given: no intercept, and no context.
    Given,
}

/// How rows of a table and a context become features.
///
/// ```text
/// action parts   a = (1, one number or more a column)        features = a_i·c_k for pairs (i, k), rounded to multiples of 2⁻²⁴
/// context parts  c = (1, one number or more a key)           the first pair is (0, 0), the intercept
/// ```
///
/// | a column with | becomes | parts |
/// | --- | --- | --- |
/// | numbers | −1 at the smallest value of the first table, 1 at the largest, straight on beyond | 1 |
/// | numbers above 0, the largest over 100 times the median | the same of their logarithms | 1 |
/// | `yes`/`no` or `true`/`false` | 1 and −1 | 1 |
/// | other text | one part a category, sorted: 1 or 0 | categories |
/// | one value only, or none | nothing | 0 |
/// | text of more than 50 categories, or at least nine in ten values different, in more than 20 rows | nothing | 0 |
/// | blanks, besides | 0 for the value, and 1 in a part that says it is missing | 1 more |
///
/// A context is one value a key: a number is divided by the power of ten at or above its magnitude
/// (at least 1), anything else is a category. As a context alone cannot change which action is
/// best, its parts are multiplied with those of actions. Without usable columns there is nothing to
/// multiply with; then actions are plain arms ([`Recipe::is_arms`]), or with a context each action
/// has [a block](Shape::Blocks) of its own.
///
/// # Growth
/// A new category, a first blank, a new context key or a new action with a block are
/// [extensions](Recipe::extension): features are appended, and what was encoded before has 0 in
/// each of them. So statistics of old decisions stay exactly those of the new recipe with zeros in
/// the new coordinates. A number never needs an extension.
///
/// # Order
/// The recipe depends on the order of columns, and not on that of rows.
///
/// # Example
/// ```
/// use plausibly_log::recipe::{Context, Recipe};
/// use plausibly_log::table::Table;
/// let table = Table::read("name,price,colour\nmug,4,red\nbowl,8,blue\njug,6,red\n".as_bytes())?;
/// let recipe = Recipe::infer(&table, &Context::default())?;
/// assert_eq!(recipe.feature_names(), ["intercept", "price", "colour = blue", "colour = red"]);
/// assert_eq!(recipe.features(table.find("jug").unwrap(), &Context::default())?, [1.0, 0.0, 0.0, 1.0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Stored", into = "Stored")]
pub struct Recipe {
    shape: Shape,
    /// The column of labels; none if labels are positions.
    label: Option<String>,
    columns: Vec<Column>,
    context: Vec<Column>,
    action_parts: Vec<Part>,
    context_parts: Vec<Part>,
    /// Pairs of an action part and a context part, counted from 1; 0 is the constant 1.
    features: Vec<[usize; 2]>,
    /// Declared, in units of reward; of vectors as they are given only.
    declared_bound: Option<f64>,
}

impl Recipe {
    /// Infers a recipe from the first table and context.
    ///
    /// # Errors
    /// If numbers can be read in two ways, or there would be more than [`MAX_FEATURES`].
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
        infer::recipe(table, context, leave_out)
    }

    /// A recipe that takes every column of numbers, but for some, as a feature just as it is: a
    /// researcher's vectors. No intercept is added, nothing is scaled, and there is no context.
    ///
    /// For such vectors the range of rewards says nothing about θ*, so a bound on its norm, in
    /// units of reward, is declared. Rewards are then scaled by their range and not moved.
    ///
    /// # Errors
    /// If the bound is not positive or above 1e50, a cell is blank, no number or beyond 1024, no
    /// column is left, a column to leave out does not exist, or there are more than
    /// [`MAX_FEATURES`].
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
        given::recipe(table, leave_out, theta_norm_bound)
    }

    /// Whether features are vectors as they were given.
    pub fn is_given(&self) -> bool {
        self.shape == Shape::Given
    }

    /// Whether actions are plain arms, without features.
    pub fn is_arms(&self) -> bool {
        self.shape == Shape::Arms
    }

    /// How features are put together.
    pub fn shape(&self) -> Shape {
        self.shape
    }

    /// d; 0 for plain arms.
    pub fn dim(&self) -> usize {
        self.features.len()
    }

    /// The column that labels come from, none if they are positions. Later tables take theirs from
    /// there too, by [`Table::with_label`].
    pub fn label(&self) -> Option<&str> {
        self.label.as_deref()
    }

    /// The columns of the first table and what becomes of each.
    pub fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// The context keys known so far and what becomes of each.
    pub fn context(&self) -> &[Column] {
        &self.context
    }

    /// What a person should know before it is used, as a table.
    pub fn describe(&self) -> Description<'_> {
        Description(self)
    }

    /// One name a feature, such as `price`, `colour = red`, `price missing` or `colour = red ×
    /// device = mobile`.
    pub fn feature_names(&self) -> Vec<String> {
        self.features.iter().map(|&pair| self.name(pair)).collect()
    }

    fn name(&self, [i, k]: [usize; 2]) -> String {
        let of_context = |part: &Part| format!("{}{}", self.prefix(part), part.name());
        match (self.action_part(i), self.context_part(k)) {
            (None, None) => "intercept".into(),
            (Some(Part::Action { label }), None) => format!("{label}: intercept"),
            (Some(Part::Action { label }), Some(context)) => {
                format!("{label}: {}", of_context(context))
            }
            (Some(action), None) => action.name(),
            (None, Some(context)) => of_context(context),
            (Some(action), Some(context)) => format!("{} × {}", action.name(), of_context(context)),
        }
    }

    /// What tells a context key from a column of the same name. Columns never change, so names do
    /// not either.
    fn prefix(&self, part: &Part) -> &'static str {
        let is_a_column = self.columns.iter().any(|column| part.column() == Some(&column.name));
        if is_a_column { "context " } else { "" }
    }

    /// An action part by its number in a pair; none for the constant.
    fn action_part(&self, i: usize) -> Option<&Part> {
        i.checked_sub(1).map(|i| &self.action_parts[i])
    }

    fn context_part(&self, k: usize) -> Option<&Part> {
        k.checked_sub(1).map(|k| &self.context_parts[k])
    }

    /// Appends the features of parts that have none yet.
    ///
    /// # Errors
    /// If there would be more than [`MAX_FEATURES`].
    fn grow(&mut self) -> Result<(), RecipeError> {
        self.check_size()?;
        let first = match self.shape {
            Shape::Arms => return Ok(()),
            Shape::Blocks | Shape::Given => 1,
            Shape::Shared => 0,
        };
        let (actions, contexts) = (self.action_parts.len(), self.context_parts.len());
        let all = (first..=actions).flat_map(|i| (0..=contexts).map(move |k| [i, k]));
        let mut new: Vec<_> = all.filter(|pair| !self.features.contains(pair)).collect();
        if self.shape == Shape::Shared {
            // Actions, then the context, then crosses, those of one context part together; blocks
            // stay whole as they are.
            new.sort_by_key(|&[i, k]| (k > 0, i > 0 && k > 0, k, i));
        }
        self.features.append(&mut new);
        Ok(())
    }
}

impl Part {
    /// What a person calls it.
    pub fn name(&self) -> String {
        match self {
            Self::Value { column } => column.clone(),
            Self::Category { column, category } => format!("{column} = {category}"),
            Self::Missing { column } => format!("{column} missing"),
            Self::Given { column } => format!("{column} given"),
            Self::Action { label } => label.clone(),
        }
    }
}
