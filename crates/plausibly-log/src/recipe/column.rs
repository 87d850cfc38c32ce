//! The encoding of a column or context key, and the parts it adds to a vector.

use super::error::{Place, RecipeError};
use super::logarithm::log2;
use crate::table::{NumberFormat, brief};
use serde::{Deserialize, Serialize};

/// A column of the table or a key of the context, with its encoding.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Column {
    /// Its name.
    pub name: String,
    /// How its values become parts.
    pub encoding: Encoding,
    /// Whether this is a context key added by an extension. While it is absent all its parts are 0,
    /// as they must be for decisions from before it was known.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub late: bool,
    /// A note to the user. Notes are stored in logs, so their wording is part of the format.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// How the values of a column become parts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Encoding {
    /// `low` becomes −1, `high` becomes 1, and other values follow the line through both.
    Linear {
        /// How numbers are written.
        numbers: NumberFormat,
        /// The smallest value of the first table.
        low: f64,
        /// The largest.
        high: f64,
    },
    /// Like [`Encoding::Linear`], applied to the logarithms.
    Log {
        /// How numbers are written.
        numbers: NumberFormat,
        /// The smallest value of the first table, above zero.
        low: f64,
        /// The largest.
        high: f64,
    },
    /// The value divided by a power of ten, for a context key: only one value of it is known.
    Magnitude {
        /// The power of ten.
        scale: f64,
    },
    /// The number as it is.
    AsGiven {},
    /// Two words, in upper or lower case: 1 and −1.
    Flag {
        /// The word that becomes 1.
        yes: String,
        /// The word that becomes −1.
        no: String,
    },
    /// One part per category, 1 where the value is that category.
    Categories {},
    /// No parts.
    LeftOut {
        /// The reason.
        why: Why,
    },
}

/// Why a column is not a feature.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Why {
    /// No cell has a value.
    Blank,
    /// All values are this one, so the column cannot tell actions apart.
    Constant(String),
    /// All values are this number or blank.
    ConstantOrBlank(String),
    /// Almost every value is different, so a value says little more than which action it is.
    Identifier {
        /// The number of different values.
        values: usize,
        /// The number of cells with a value.
        cells: usize,
    },
    /// The user left it out.
    Asked,
}

/// One number from a row or a context. Features are products of parts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "part", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Part {
    /// The scaled number or the flag; 0 if there is none.
    Value {
        /// Of this column.
        column: String,
    },
    /// 1 if the value is this category.
    Category {
        /// Of this column.
        column: String,
        /// The category.
        category: String,
    },
    /// 1 if there is no value.
    Missing {
        /// In this column.
        column: String,
    },
    /// 1 if there is a number, for context keys added by an extension.
    Given {
        /// In this column.
        column: String,
    },
    /// 1 for this action.
    Action {
        /// Its label.
        label: String,
    },
}

impl Part {
    /// The column or key it comes from; `None` for parts of actions.
    pub fn column(&self) -> Option<&str> {
        match self {
            Self::Value { column }
            | Self::Category { column, .. }
            | Self::Missing { column }
            | Self::Given { column } => Some(column),
            Self::Action { .. } => None,
        }
    }

    /// Whether it is 0 or 1.
    pub(super) fn is_indicator(&self) -> bool {
        !matches!(self, Self::Value { .. })
    }
}

/// A value as its column reads it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Reading<'a> {
    Missing,
    /// A scaled number or a flag.
    Number(f64),
    Category(&'a str),
}

/// The columns that add parts.
pub(super) fn used(columns: &[Column]) -> impl Iterator<Item = &Column> {
    columns.iter().filter(|column| column.is_used())
}

/// The parts of a column or key.
pub(super) fn parts_of<'a>(parts: &'a [Part], name: &str) -> impl Iterator<Item = &'a Part> {
    parts.iter().filter(move |part| part.column() == Some(name))
}

impl Column {
    /// A column of a first table, or a key of a first context.
    pub(super) fn new(name: &str, encoding: Encoding) -> Self {
        Self { name: name.into(), encoding, late: false, note: None }
    }

    /// A column or key that the user left out.
    pub(super) fn left_out(name: &str) -> Self {
        Self::new(name, Encoding::LeftOut { why: Why::Asked })
    }

    /// Whether it adds any parts.
    pub fn is_used(&self) -> bool {
        !matches!(self.encoding, Encoding::LeftOut { .. })
    }

    /// Reads a value; errors say where it is through `place`.
    pub(super) fn read<'a>(
        &self,
        value: Option<&'a str>,
        place: impl Fn() -> Place,
    ) -> Result<Reading<'a>, RecipeError> {
        if matches!(self.encoding, Encoding::AsGiven {}) {
            return as_given(value, place);
        }
        let Some(text) = value else { return Ok(Reading::Missing) };
        let number = |format: NumberFormat| {
            format.parse(text).ok_or_else(|| {
                let (value, example) = (brief(text), format.example());
                RecipeError::NotANumber { place: place(), value, example }
            })
        };
        let (scaled, low, high) = match &self.encoding {
            Encoding::Linear { numbers, low, high } => {
                (affine(number(*numbers)?, *low, *high), *low, *high)
            }
            Encoding::Log { numbers, low, high } => {
                let x = number(*numbers)?;
                if x <= 0.0 {
                    return Err(RecipeError::NotPositive { place: place(), value: brief(text) });
                }
                (affine(log2(x), log2(*low), log2(*high)), *low, *high)
            }
            Encoding::Magnitude { scale } => (number(NumberFormat::Plain)? / scale, -scale, *scale),
            Encoding::Flag { yes, .. } if text.eq_ignore_ascii_case(yes) => {
                return Ok(Reading::Number(1.0));
            }
            Encoding::Flag { no, .. } if text.eq_ignore_ascii_case(no) => {
                return Ok(Reading::Number(-1.0));
            }
            _ => return Ok(Reading::Category(text)),
        };
        // `quantise` refuses numbers beyond 1024 and NaN.
        let too_far =
            |_beyond| RecipeError::TooFar { place: place(), value: brief(text), low, high };
        plausibly::quantise(scaled).map(Reading::Number).map_err(too_far)
    }

    /// Whether two values are the same, however they are written.
    pub(super) fn is_same(&self, one: Option<&str>, other: Option<&str>) -> bool {
        let (Some(a), Some(b)) = (one, other) else { return one == other };
        match &self.encoding {
            Encoding::Linear { numbers, .. } | Encoding::Log { numbers, .. } => {
                a == b || numbers.parse(a).is_some_and(|a| Some(a) == numbers.parse(b))
            }
            Encoding::Flag { .. } => a.eq_ignore_ascii_case(b),
            _ => a == b,
        }
    }

    /// Undoes the scaling: the value in the user's units, with as many digits as the grid can tell
    /// apart.
    pub(super) fn unscaled(&self, scaled: f64) -> String {
        match &self.encoding {
            Encoding::Linear { low, high, .. } => {
                let half = high / 2.0 - low / 2.0;
                shortest(low / 2.0 + high / 2.0 + scaled * half, half * STEP)
            }
            Encoding::Log { low, high, .. } => {
                let (low, high) = (log2(*low), log2(*high));
                let half = high / 2.0 - low / 2.0;
                let x = (low / 2.0 + high / 2.0 + scaled * half).exp2();
                shortest(x, x * half * STEP)
            }
            Encoding::Magnitude { scale } => shortest(scaled * scale, scale * STEP),
            Encoding::Flag { yes, .. } if scaled >= 1.0 => yes.clone(),
            Encoding::Flag { no, .. } if scaled <= -1.0 => no.clone(),
            _ => on_the_grid(scaled),
        }
    }
}

/// Reads a number of a vector as given. Refuses blanks, text and numbers that exact sums cannot
/// hold.
fn as_given<'a>(
    value: Option<&str>,
    place: impl Fn() -> Place,
) -> Result<Reading<'a>, RecipeError> {
    let number = value.and_then(|text| NumberFormat::Plain.parse(text));
    let refused = || RecipeError::NotInAVector { place: place(), value: value.map(brief) };
    let too_large = |_beyond| RecipeError::TooLarge {
        place: place(),
        value: value.map(brief).unwrap_or_default(),
    };
    plausibly::quantise(number.ok_or_else(refused)?).map(Reading::Number).map_err(too_large)
}

/// The grid of features has steps of 2⁻²⁴.
const STEP: f64 = 1.0 / (1_u32 << 24) as f64;

/// Maps `low` to −1 and `high` to 1, exactly. Works with quarters, so that the widest range of
/// doubles does not overflow.
fn affine(x: f64, low: f64, high: f64) -> f64 {
    2.0 * ((x / 4.0 - low / 4.0) / range(low, high)) - 1.0
}

/// A quarter of the distance; also zero where subnormal numbers are too close.
pub(super) fn range(low: f64, high: f64) -> f64 {
    high / 4.0 - low / 4.0
}

/// A number with as many digits as the grid can tell apart.
pub(super) fn on_the_grid(value: f64) -> String {
    shortest(value, STEP)
}

/// The number with the fewest digits within `tolerance` of `x`.
fn shortest(x: f64, tolerance: f64) -> String {
    for digits in 0..17 {
        let text = format!("{x:.digits$e}");
        let near = text.parse::<f64>().is_ok_and(|near| (near - x).abs() <= tolerance);
        if near {
            return shown(text.parse().unwrap_or(x));
        }
    }
    shown(x)
}

/// A number for people: an exponent only where it is needed, and never −0.
pub(super) fn shown(x: f64) -> String {
    let x = x + 0.0;
    let plain = x == 0.0 || (1e-5..1e16).contains(&x.abs());
    if plain { format!("{x}") } else { format!("{x:e}") }
}
