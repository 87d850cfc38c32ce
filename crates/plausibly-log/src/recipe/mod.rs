//! Turns the rows of a user's table into feature vectors.
//!
//! A [`Recipe`] is inferred once, from the first [`Table`] and [`Context`], shown to the user
//! before it is used, and stored in the log. Later it only grows: new features come at the end, so
//! that earlier statistics stay valid.

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

/// A recipe makes at most 256 features: more than a table should need, and few enough to decide in
/// microseconds.
pub const MAX_FEATURES: usize = 256;

/// How features are combined.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Shape {
    /// No features: actions are plain arms.
    Arms,
    /// One model per action: each has its own copy of an intercept and of the context.
    Blocks,
    /// One model for all: an intercept, the parts of actions, the parts of the context, and all
    /// products of the two.
    Shared,
    /// One model for all, of vectors as given: no intercept and no context.
    Given,
}

/// How rows of a table and a context become features.
///
/// ```text
/// action parts   a = (1, one or more numbers per column)
/// context parts  c = (1, one or more numbers per key)
/// features       a_i·c_k for pairs (i, k), rounded to multiples of 2⁻²⁴;
///                the first pair is (0, 0), the intercept
/// ```
///
/// | a column with | becomes | parts |
/// | --- | --- | --- |
/// | numbers | −1 at the smallest value of the first table, 1 at the largest, linear beyond | 1 |
/// | numbers above 0, the largest over 100 times the median | the same of their logarithms | 1 |
/// | `yes`/`no` or `true`/`false` | 1 and −1 | 1 |
/// | other text | one part per category, sorted: 1 or 0 | categories |
/// | one value only, or none | nothing | 0 |
/// | over 50 categories, or 90 % different values, in more than 20 rows | nothing | 0 |
/// | blanks, besides | 0 for the value, and 1 in a part that says it is missing | 1 more |
///
/// A context has one value per key: a number is divided by the power of ten at or above its
/// magnitude (at least 1), anything else is a category. A context alone cannot change which action
/// is best, so its parts are multiplied with those of actions. Without usable columns there is
/// nothing to multiply with: actions are then plain arms ([`Recipe::is_arms`]), or with a context
/// each action has [a block](Shape::Blocks) of its own.
///
/// # Growth
/// A new category, a first blank, a new context key or a new action with a block need an
/// [extension](Recipe::extension): features are appended, and everything encoded before has 0 in
/// them. So the statistics of old decisions equal those of the new recipe with zeros in the new
/// coordinates. A number never needs an extension.
///
/// # Order
/// The recipe depends on the order of columns, but not on the order of rows.
///
/// # Example
/// ```
/// use plausibly_log::recipe::{Context, Recipe};
/// use plausibly_log::table::Table;
/// let table = Table::read("name,price,colour\nmug,4,red\nbowl,8,blue\njug,6,red\n".as_bytes())?;
/// let recipe = Recipe::infer(&table, &Context::default())?;
/// assert_eq!(recipe.feature_names(), ["intercept", "price", "colour = blue", "colour = red"]);
/// let jug = recipe.features(table.find("jug").unwrap(), &Context::default())?;
/// assert_eq!(jug, [1.0, 0.0, 0.0, 1.0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Recipe {
    /// The version of its form in the log.
    version: u32,
    shape: Shape,
    /// The column of labels; `None` if labels are positions.
    label: Option<String>,
    columns: Vec<Column>,
    context: Vec<Column>,
    action_parts: Vec<Part>,
    context_parts: Vec<Part>,
    /// Pairs of an action part and a context part, numbered from 1; number 0 is the constant 1.
    features: Vec<[usize; 2]>,
    /// The declared bound on ‖θ*‖ in units of reward, for vectors as given only.
    declared_bound: Option<f64>,
}

impl Recipe {
    /// A recipe for the labels of a table, before any column is added.
    fn without_features(table: &Table, shape: Shape) -> Self {
        Self {
            version: stored::VERSION,
            shape,
            label: table.label_column().map(str::to_string),
            columns: Vec::new(),
            context: Vec::new(),
            action_parts: Vec::new(),
            context_parts: Vec::new(),
            features: Vec::new(),
            declared_bound: None,
        }
    }

    /// Whether features are vectors as given.
    pub fn is_given(&self) -> bool {
        self.shape == Shape::Given
    }

    /// Whether the first feature is 1 in every action.
    pub(crate) fn has_intercept(&self) -> bool {
        self.shape == Shape::Shared
    }

    /// Whether actions are plain arms, without features.
    pub fn is_arms(&self) -> bool {
        self.shape == Shape::Arms
    }

    /// How features are combined.
    pub fn shape(&self) -> Shape {
        self.shape
    }

    /// The number of features d; 0 for plain arms.
    pub fn dim(&self) -> usize {
        self.features.len()
    }

    /// The column that labels come from; `None` if they are positions. Later tables take their
    /// labels from the same column, with [`Table::with_label`].
    pub fn label(&self) -> Option<&str> {
        self.label.as_deref()
    }

    /// The columns of the first table, with their encodings.
    pub fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// The context keys known so far, with their encodings.
    pub fn context(&self) -> &[Column] {
        &self.context
    }

    /// The recipe as a table for the user to check.
    pub fn describe(&self) -> Description<'_> {
        Description(self)
    }

    /// One name per feature, such as `price`, `colour = red`, `price missing` or `colour = red ×
    /// device = mobile`.
    pub fn feature_names(&self) -> Vec<String> {
        self.features.iter().map(|&pair| self.name(pair)).collect()
    }

    fn name(&self, [i, k]: [usize; 2]) -> String {
        let of_context = |part: &Part| format!("{}{}", self.prefix(part), part.name());
        match (self.action_part(i), self.context_part(k)) {
            (None, None) => "intercept".into(),
            (Some(Part::Action { label }), None) => format!("{label}: intercept"),
            (Some(action), None) => action.name(),
            (None, Some(context)) => of_context(context),
            (Some(action), Some(context)) => {
                format!("{}{}{}", action.name(), self.separator(), of_context(context))
            }
        }
    }

    /// The separator between the part of an action and that of the context in a name.
    fn separator(&self) -> &'static str {
        if self.shape == Shape::Blocks { ": " } else { " × " }
    }

    /// The prefix that tells a context key from a column of the same name. Columns never change, so
    /// names do not either.
    fn prefix(&self, part: &Part) -> &'static str {
        let is_a_column = self.columns.iter().any(|column| part.column() == Some(&column.name));
        if is_a_column { "context " } else { "" }
    }

    /// An action part by its number in a pair; `None` for the constant.
    fn action_part(&self, i: usize) -> Option<&Part> {
        i.checked_sub(1).map(|i| &self.action_parts[i])
    }

    fn context_part(&self, k: usize) -> Option<&Part> {
        k.checked_sub(1).map(|k| &self.context_parts[k])
    }

    /// The number of the first action part in any pair: only shared models have an intercept.
    fn first_part(&self) -> usize {
        usize::from(matches!(self.shape, Shape::Blocks | Shape::Given))
    }

    /// Appends the features of parts that have none yet.
    ///
    /// # Errors
    /// If there would be more than [`MAX_FEATURES`] features.
    fn grow(&mut self) -> Result<(), RecipeError> {
        self.check_size()?;
        if self.is_arms() {
            return Ok(());
        }
        let (actions, contexts) = (self.action_parts.len(), self.context_parts.len());
        let all = (self.first_part()..=actions).flat_map(|i| (0..=contexts).map(move |k| [i, k]));
        let mut new: Vec<_> = all.filter(|pair| !self.features.contains(pair)).collect();
        if self.shape == Shape::Shared {
            // Parts of actions, then of the context, then their products, grouped by context part.
            // Blocks keep their order.
            new.sort_by_key(|&[i, k]| (k > 0, i > 0 && k > 0, k, i));
        }
        self.features.append(&mut new);
        Ok(())
    }
}

impl Part {
    /// Its name for a person.
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
