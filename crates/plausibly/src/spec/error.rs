//! Errors of specs, as data: front ends decide how to show them.

use super::node::Number;
use std::fmt;
use thiserror::Error;

/// One error of a spec: its line, its field, and what is wrong.
#[derive(Clone, Debug, Error, PartialEq)]
#[error("{path}: {complaint}")]
pub struct FieldError {
    /// Line in the source, from 1; 0 if it has none.
    pub line: usize,
    /// The field, as in `policy[2].radius.delta`, lists counted from 1.
    pub path: String,
    /// What is wrong with it.
    pub complaint: Complaint,
}

/// What can be wrong with a field.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum Complaint {
    /// The source does not parse.
    #[error("{message}")]
    Syntax {
        /// The message of the parser.
        message: String,
    },
    /// A field that this table does not have.
    #[error(
        "unknown field{}{}; allowed here: {}",
        did_you_mean(suggestion.as_ref()),
        outside(*belongs_outside),
        known.join(", ")
    )]
    Unknown {
        /// The field that was probably meant.
        suggestion: Option<&'static str>,
        /// Whether the table around this one has such a field, which must then be written above it.
        belongs_outside: bool,
        /// The fields that this table has.
        known: Vec<&'static str>,
    },
    /// A word that is not one of the options.
    #[error("{found:?} is not one of {}{}", options.join(", "), did_you_mean(suggestion.as_ref()))]
    Choice {
        /// The word found.
        found: String,
        /// The words that are allowed.
        options: Vec<&'static str>,
        /// The word that was probably meant.
        suggestion: Option<&'static str>,
    },
    /// A value of the wrong type.
    #[error("expected {expected}, found {found}")]
    Type {
        /// What the field takes.
        expected: String,
        /// What was found.
        found: String,
    },
    /// A number outside its range.
    #[error("{found} is out of range: must be {allowed}")]
    OutOfRange {
        /// The number found.
        found: String,
        /// The range that is allowed.
        allowed: String,
    },
    /// A required field that is not set.
    #[error("missing: {expected}")]
    Missing {
        /// What the field takes.
        expected: String,
    },
    /// Two policies with the same label.
    #[error(
        "{label:?} is already the label of the policy on line {first}; \
         give one of them another label"
    )]
    DuplicateLabel {
        /// The label.
        label: String,
        /// The line of the policy that has it already.
        first: usize,
    },
    /// Something that the spec names and that is not available, such as a data set.
    #[error("{reason}")]
    Unavailable {
        /// Why not, and what to do.
        reason: String,
    },
    /// A policy, radius or setting that does not fit the rest of the spec.
    #[error("{what} {reason}")]
    Misfit {
        /// What does not fit.
        what: String,
        /// Why not, and what to use instead.
        reason: &'static str,
    },
}

fn did_you_mean(suggestion: Option<&&'static str>) -> String {
    suggestion.map(|name| format!(" (did you mean {name}?)")).unwrap_or_default()
}

fn outside(belongs_outside: bool) -> &'static str {
    if belongs_outside {
        " (it belongs to the table around this one: put it above this table's heading)"
    } else {
        ""
    }
}

/// The option closest to what was written, if they are close enough to be a typing mistake.
/// Capitals and hyphens do not count.
pub(crate) fn closest(written: &str, options: &[&'static str]) -> Option<&'static str> {
    let plain = |text: &str| text.to_lowercase().replace(['-', '_', ' '], "");
    let written = plain(written);
    let scored =
        options.iter().map(|option| (strsim::jaro_winkler(&written, &plain(option)), *option));
    scored
        .filter(|(score, _)| *score > 0.8)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, option)| option)
}

/// The numbers a field takes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Range {
    low: f64,
    high: f64,
    low_excluded: bool,
    high_excluded: bool,
}

impl Range {
    /// `low < x < high`.
    pub const fn between(low: f64, high: f64) -> Self {
        Self { low, high, low_excluded: true, high_excluded: true }
    }

    /// `low < x ≤ high`.
    pub const fn above_to(low: f64, high: f64) -> Self {
        Self { low, high, low_excluded: true, high_excluded: false }
    }

    /// `low ≤ x ≤ high`.
    pub const fn from_to(low: f64, high: f64) -> Self {
        Self { low, high, low_excluded: false, high_excluded: false }
    }

    /// Positive, and far enough from the ends of `f64` that a product of a few such numbers does
    /// not overflow.
    pub const POSITIVE: Self = Self::from_to(1e-50, 1e50);

    /// Like [`Range::POSITIVE`], and zero.
    pub const NOT_NEGATIVE: Self = Self::from_to(0.0, 1e50);

    /// Whether a number is allowed; NaN never is.
    pub fn contains(&self, x: f64) -> bool {
        let above = if self.low_excluded { x > self.low } else { x >= self.low };
        let below = if self.high_excluded { x < self.high } else { x <= self.high };
        above && below
    }
}

impl fmt::Display for Range {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let low = if self.low_excluded { "above" } else { "at least" };
        let high = if self.high_excluded { "below" } else { "at most" };
        write!(f, "{low} {} and {high} {}", Number(self.low), Number(self.high))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_read_as_they_test() {
        assert_eq!(Range::between(0.0, 1.0).to_string(), "above 0 and below 1");
        assert_eq!(Range::POSITIVE.to_string(), "at least 1e-50 and at most 1e50");
        assert!(!Range::NOT_NEGATIVE.contains(f64::INFINITY) && Range::NOT_NEGATIVE.contains(0.0));
        assert!(!Range::POSITIVE.contains(f64::NAN) && !Range::between(0.0, 1.0).contains(1.0));
        assert!(Range::above_to(0.0, 1.0).contains(1.0));
    }

    #[test]
    fn slips_are_recognised_and_strangers_are_not() {
        assert_eq!(closest("horizn", &["horizon", "runs"]), Some("horizon"));
        assert_eq!(closest("LinUCB", &["lin-ucb", "lin-ts", "code"]), Some("lin-ucb"));
        assert_eq!(closest("CODE", &["lin-ucb", "lin-ts", "code"]), Some("code"));
        assert_eq!(closest("colour", &["horizon", "runs"]), None);
    }
}
