//! Why a recipe refused.

use crate::table::{MOST_CHARACTERS, NumberError, NumberFormat, listed, read_number};
use std::fmt;
use thiserror::Error;

/// Where a value stands.
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

/// Why a table, context or stored recipe was refused: what is wrong, where, and how to put it
/// right.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum RecipeError {
    /// Numbers that can be read in two ways.
    #[error(
        "{place}: `{value}` can be read with a comma between thousands or before the decimals; \
         write such numbers without separators between thousands and with a point before the decimals"
    )]
    Ambiguous {
        /// Where the first of them is.
        place: Place,
        /// What stands there.
        value: String,
    },
    /// A value that becomes a feature, and is too long for one.
    #[error(
        "{place}: a value of {characters} characters, more than {MOST_CHARACTERS}; shorten it, or leave the column out"
    )]
    LongValue {
        /// Where it is.
        place: Place,
        /// How many characters it has.
        characters: usize,
    },
    /// A number of the context that is written with a comma.
    #[error("{place}: {source}")]
    WithComma {
        /// Where it is.
        place: Place,
        /// How to write it.
        source: NumberError,
    },
    /// More features than a model is made for.
    #[error(
        "{total} features are more than {most}: {}; leave out {}",
        most_expensive(.costs), listed(.leave_out)
    )]
    TooManyFeatures {
        /// How many there would be.
        total: usize,
        /// The most there may be.
        most: usize,
        /// Columns and context keys with the features of each, crosses included; the most expensive
        /// first.
        costs: Vec<(String, usize)>,
        /// The fewest that would have to go if the most expensive go first.
        leave_out: Vec<String>,
    },
    /// More features than a model is made for, by an extension.
    #[error(
        "the recipe has {features} features, and with {} it would have more than {most}; \
         write new values as ones that it knows, or begin a new log with fewer columns",
        listed(.new)
    )]
    NoRoom {
        /// How many it has.
        features: usize,
        /// The most there may be.
        most: usize,
        /// The names of what is new.
        new: Vec<String>,
    },
    /// A block for every action, and too many of them.
    #[error(
        "{actions} actions without usable columns would have {each} features each, {total} in all and more than {most}; \
         describe actions by columns, or leave out context keys"
    )]
    TooManyBlocks {
        /// How many actions.
        actions: usize,
        /// Features of each.
        each: usize,
        /// How many there would be.
        total: usize,
        /// The most there may be.
        most: usize,
    },
    /// A column to leave out that does not exist.
    #[error("there is no column or context key `{name}` to leave out; there are {}", listed(.names))]
    NothingToLeaveOut {
        /// The name given.
        name: String,
        /// The names there are.
        names: Vec<String>,
    },
    /// A column of the recipe that a table does not have.
    #[error(
        "the table has no column `{column}`, which the recipe needs{}; add it, with blanks where values are unknown",
        similar.as_ref().map_or_else(String::new, |name| format!(" (there is `{name}`)"))
    )]
    MissingColumn {
        /// The name.
        column: String,
        /// A column whose name differs in case only.
        similar: Option<String>,
    },
    /// Labels from another column than those of the first table.
    #[error(
        "actions are labelled by {}, here by {}; labels must come from where they came from first",
        source_of_labels(.expected.as_ref()), source_of_labels(.found.as_ref())
    )]
    Label {
        /// The column of the recipe; none for positions.
        expected: Option<String>,
        /// The column of the table.
        found: Option<String>,
    },
    /// Text where numbers were.
    #[error(
        "{place}: `{value}` is not a number such as {example}; {}, or leave it blank if it is unknown",
        correction(.value, .example)
    )]
    NotANumber {
        /// Where.
        place: Place,
        /// What stands there.
        value: String,
        /// How numbers are written there.
        example: &'static str,
    },
    /// A blank or a word in a vector that is taken as it is given.
    #[error(
        "{place}: {} is not a number such as -0.25, and vectors taken as they are given have one in every cell; {}, or leave out the column or the row",
        .value.as_ref().map_or_else(|| "the cell is blank and".into(), |value| format!("`{value}`")),
        correction(.value.as_deref().unwrap_or_default(), NumberFormat::Plain.example())
    )]
    NotInAVector {
        /// Where.
        place: Place,
        /// What stands there; none if it is blank.
        value: Option<String>,
    },
    /// A number of a vector that exact sums cannot hold.
    #[error(
        "{place}: `{value}` is beyond 1024 in magnitude, the most that exact sums hold; give the column in a larger unit"
    )]
    TooLarge {
        /// Where.
        place: Place,
        /// What stands there.
        value: String,
    },
    /// A bound on the parameters that is none, as it was declared or scaled by the range of
    /// rewards.
    #[error(
        "a bound on the norm of the parameters must be above zero and at most 1e50, got {bound}; it is the largest length that θ*, in units of reward, can have"
    )]
    Bound {
        /// What was given.
        bound: f64,
    },
    /// Vectors without numbers.
    #[error(
        "the table has no column to make vectors of; beside its labels it needs at least one column of numbers"
    )]
    NoVector,
    /// Zero or less on a logarithmic scale.
    #[error(
        "{place}: `{value}` is not above zero, as all values of the first table were; leave it blank if it is unknown"
    )]
    NotPositive {
        /// Where.
        place: Place,
        /// What stands there.
        value: String,
    },
    /// A number too far from those of the first table.
    #[error(
        "{place}: `{value}` is too far from the range {low} to {high} that the recipe was made for; \
         correct it, or begin a new log with a table that contains such values"
    )]
    TooFar {
        /// Where.
        place: Place,
        /// What stands there.
        value: String,
        /// The lowest value the recipe was made for.
        low: f64,
        /// The highest.
        high: f64,
    },
    /// A product of two features too large for the grid.
    #[error(
        "{action} and {context} are each so far out of range that the feature `{feature}`, their product, is beyond 1024"
    )]
    Product {
        /// The feature.
        feature: String,
        /// Where the one factor stands.
        action: Place,
        /// Where the other stands.
        context: Place,
    },
    /// A category that the recipe does not have.
    #[error("{place}: `{value}` is new to the recipe; extend the recipe first")]
    Unseen {
        /// Where.
        place: Place,
        /// What stands there.
        value: String,
    },
    /// A blank where there never was one.
    #[error("{place}: the value is missing, for the first time; extend the recipe first")]
    Blank {
        /// Where.
        place: Place,
    },
    /// A context key that the recipe does not have.
    #[error("context `{key}` is new to the recipe; extend the recipe first")]
    UnknownKey {
        /// The key.
        key: String,
    },
    /// An action that has no block.
    #[error("{}the action `{label}` is new to the recipe; extend the recipe first", at_line(*.line))]
    UnknownAction {
        /// The line of its row, from 1; 0 if it comes from a log.
        line: u64,
        /// Its label.
        label: String,
    },
    /// A context for plain arms.
    #[error(
        "the log decides among plain arms and has no place for the context `{key}`; \
         leave the context away, or begin a new log with it"
    )]
    ContextForArms {
        /// The first key.
        key: String,
    },
    /// A context for vectors that are taken as they are.
    #[error(
        "the log takes vectors as they are given and has no place for the context `{key}`; \
         give vectors in which it is contained"
    )]
    ContextForVectors {
        /// The first key.
        key: String,
    },
    /// An extension of another recipe.
    #[error(
        "the extension is for a recipe of {expected} features, not of {found}; apply extensions in their order"
    )]
    OutOfOrder {
        /// Features of the recipe it is for.
        expected: usize,
        /// Features of this one.
        found: usize,
    },
    /// A stored recipe or extension that no inference makes.
    #[error("not a recipe: {what}")]
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
        text = format!("{text} and {} others less each", costs.len() - MOST);
    }
    text
}

/// What to do about a cell that is no number, in a column whose numbers are written like the
/// example.
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
