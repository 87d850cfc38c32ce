//! The errors of recipes.

use crate::table::{MOST_CHARACTERS, NumberError, NumberFormat, listed, read_number};
use std::fmt;
use thiserror::Error;

/// The place of a value.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Place {
    /// In a table.
    Cell {
        /// The line of the file, from 1; 0 if the cell comes from a log.
        line: u64,
        /// The name of the column.
        column: String,
    },
    /// In the context.
    Context {
        /// The key.
        key: String,
    },
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cell { line: 0, column } => write!(f, "column `{column}`"),
            Self::Cell { line, column } => write!(f, "line {line}, column `{column}`"),
            Self::Context { key } => write!(f, "context `{key}`"),
        }
    }
}

/// What to do about a part that a recipe does not have. Logs do it by themselves.
const EXTEND: &str = "call `Recipe::extension` first";

/// Why a table, context or stored recipe was refused: what is wrong, where, and how to correct it.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum RecipeError {
    /// Numbers that can be read in two ways.
    #[error(
        "{place}: the comma in `{value}` may separate thousands or decimals; write such numbers \
         without a separator of thousands and with a point before the decimals"
    )]
    Ambiguous {
        /// The place of the first of them.
        place: Place,
        /// The value.
        value: String,
    },
    /// A value of a feature that is too long.
    #[error(
        "{place}: the value has {characters} characters, more than {MOST_CHARACTERS}; shorten it, \
         or leave out the column"
    )]
    LongValue {
        /// The place of the value.
        place: Place,
        /// The number of characters.
        characters: usize,
    },
    /// A number in the context, written with a comma.
    #[error("{place}: {source}")]
    WithComma {
        /// The place of the value.
        place: Place,
        /// How to write it.
        source: NumberError,
    },
    /// More features than a recipe may have.
    #[error(
        "{total} features are too many, at most {most} are allowed: {}; leave out {}",
        most_expensive(.costs), listed(.leave_out)
    )]
    TooManyFeatures {
        /// The number of features there would be.
        total: usize,
        /// The largest number allowed.
        most: usize,
        /// Columns and context keys with the number of features of each, products included; the
        /// largest first.
        costs: Vec<(String, usize)>,
        /// The columns and keys to leave out, if those with most features go first.
        leave_out: Vec<String>,
    },
    /// An extension that makes more features than a recipe may have.
    #[error(
        "the recipe has {features} features, and with {} it would have more than {most}; use \
         values that the recipe knows, or begin a new log with fewer columns",
        listed(.new)
    )]
    NoRoom {
        /// The number of features it has.
        features: usize,
        /// The largest number allowed.
        most: usize,
        /// The names of the new parts.
        new: Vec<String>,
    },
    /// Too many features with a block for every action.
    #[error(
        "{actions} actions without usable columns would have {each} features each, {total} in all \
         and more than {most}; describe actions by columns, or leave out context keys"
    )]
    TooManyBlocks {
        /// The number of actions.
        actions: usize,
        /// The number of features of each.
        each: usize,
        /// The number of features there would be.
        total: usize,
        /// The largest number allowed.
        most: usize,
    },
    /// A column to leave out that does not exist.
    #[error(
        "there is no column or context key `{name}` to leave out; the names are {}",
        listed(.names)
    )]
    NothingToLeaveOut {
        /// The name given.
        name: String,
        /// The existing names.
        names: Vec<String>,
    },
    /// A column of the recipe that a table does not have.
    #[error(
        "the table has no column `{column}`, which the recipe needs{}; add it, with blanks where \
         values are unknown",
        similar.as_ref().map_or_else(String::new, |name| format!(" (there is `{name}`)"))
    )]
    MissingColumn {
        /// The name.
        column: String,
        /// A column whose name differs in case only.
        similar: Option<String>,
    },
    /// Labels from another column than in the first table.
    #[error(
        "the log takes labels from {}, and this table from {}; labels must come from the same \
         place as in the first table",
        source_of_labels(.expected.as_ref()), source_of_labels(.found.as_ref())
    )]
    Label {
        /// The column of the recipe; `None` for positions.
        expected: Option<String>,
        /// The column of the table.
        found: Option<String>,
    },
    /// Text in a column of numbers.
    #[error(
        "{place}: `{value}` is not a number (numbers look like {example} here); {}, or leave it \
         blank if it is unknown",
        correction(.value, .example)
    )]
    NotANumber {
        /// The place of the value.
        place: Place,
        /// The value.
        value: String,
        /// How numbers are written there.
        example: &'static str,
    },
    /// A blank or a text in a vector as given.
    #[error(
        "{place}: {}, but vectors as given need a number such as -0.25 in every cell; {}, or \
         leave out the column or the row",
        .value.as_ref().map_or("the cell is blank".into(), |value| {
            format!("`{value}` is not a number")
        }),
        .value.as_ref().map_or("fill it in".into(), |value| {
            correction(value, NumberFormat::Plain.example())
        })
    )]
    NotInAVector {
        /// The place of the value.
        place: Place,
        /// The value; `None` if it is blank.
        value: Option<String>,
    },
    /// A number of a vector that exact sums cannot hold.
    #[error(
        "{place}: `{value}` is not between -1024 and 1024, the limits of exact sums; use a larger \
         unit for the column"
    )]
    TooLarge {
        /// The place of the value.
        place: Place,
        /// The value.
        value: String,
    },
    /// A bound on the parameters that is out of range, as declared or after scaling.
    #[error(
        "the bound on the norm of the parameters must be above zero and at most 1e50, got {bound}; \
         give the largest length that θ* can have, in units of reward"
    )]
    Bound {
        /// What was given.
        bound: f64,
    },
    /// Vectors without numbers.
    #[error(
        "the table has labels only; for vectors as given it needs at least one column of numbers"
    )]
    NoVector,
    /// Zero or a negative number on a logarithmic scale.
    #[error(
        "{place}: `{value}` is not above zero, and all values of the first table were; leave it \
         blank if it is unknown"
    )]
    NotPositive {
        /// The place of the value.
        place: Place,
        /// The value.
        value: String,
    },
    /// A number too far from those of the first table.
    #[error(
        "{place}: `{value}` is too far outside the range {low} to {high} of the first table; \
         correct it, or begin a new log with a table that contains such values"
    )]
    TooFar {
        /// The place of the value.
        place: Place,
        /// The value.
        value: String,
        /// The lower end of the range.
        low: f64,
        /// The upper end of the range.
        high: f64,
    },
    /// A product that exact sums cannot hold.
    #[error(
        "{action} and {context} are both so far out of range that their product, the feature \
         `{feature}`, is beyond 1024; correct one of them"
    )]
    Product {
        /// The feature.
        feature: String,
        /// The place of the factor of the action.
        action: Place,
        /// The place of the factor of the context.
        context: Place,
    },
    /// A category that the recipe does not have.
    #[error("{place}: the recipe has no category `{value}`; {EXTEND}")]
    Unseen {
        /// The place of the value.
        place: Place,
        /// The value.
        value: String,
    },
    /// A first blank.
    #[error("{place}: the value is blank, and the recipe has no feature for blanks; {EXTEND}")]
    Blank {
        /// The place of the value.
        place: Place,
    },
    /// A context key that the recipe does not have.
    #[error("the recipe has no context key `{key}`; {EXTEND}")]
    UnknownKey {
        /// The key.
        key: String,
    },
    /// An action that has no block.
    #[error("{}the recipe has no action `{label}`; {EXTEND}", at_line(*.line))]
    UnknownAction {
        /// The line of its row, from 1; 0 if it comes from a log.
        line: u64,
        /// Its label.
        label: String,
    },
    /// A context for plain arms.
    #[error(
        "the log decides among plain arms and cannot use the context `{key}`; leave out the \
         context, or begin a new log with it"
    )]
    ContextForArms {
        /// The first key.
        key: String,
    },
    /// A context for vectors as given.
    #[error(
        "the log takes vectors as given and cannot use the context `{key}`; include it in the \
         vectors"
    )]
    ContextForVectors {
        /// The first key.
        key: String,
    },
    /// An extension of another recipe.
    #[error(
        "the extension is for a recipe of {expected} features, and this one has {found}; apply \
         extensions in order"
    )]
    OutOfOrder {
        /// Features of the recipe it is for.
        expected: usize,
        /// Features of this one.
        found: usize,
    },
    /// A stored recipe or extension that is not valid.
    #[error("not a valid recipe: {what}")]
    Malformed {
        /// What is wrong with it.
        what: String,
    },
}

fn most_expensive(costs: &[(String, usize)]) -> String {
    const MOST: usize = 5;
    let mut text = costs
        .iter()
        .take(MOST)
        .map(|(name, cost)| format!("`{name}` takes {cost}"))
        .collect::<Vec<_>>()
        .join(", ");
    if costs.len() > MOST {
        text = format!("{text} and {} others take fewer each", costs.len() - MOST);
    }
    text
}

/// How to correct a cell that is not a number, in a column with numbers written like `example`.
fn correction(value: &str, example: &str) -> String {
    match read_number(value) {
        Err(error) if example == NumberFormat::Plain.example() && !error.instead.is_empty() => {
            format!("write {}", error.instead.join(" or "))
        }
        _ => "correct it".into(),
    }
}

fn at_line(line: u64) -> String {
    if line == 0 { String::new() } else { format!("line {line}: ") }
}

fn source_of_labels(column: Option<&String>) -> String {
    column.map_or_else(|| "their position".into(), |name| format!("column `{name}`"))
}
