//! Why a ledger refuses.

use thiserror::Error;

/// Why a ledger refused an operation. A refusal leaves it unchanged.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum LedgerError {
    /// No features, or more than 4096.
    #[error("a ledger has between 1 and 4096 features, not {dim}")]
    Dim {
        /// The dimension asked for.
        dim: usize,
    },
    /// An observation or ledger of another dimension.
    #[error("a ledger of {expected} features was given {found}")]
    Mismatch {
        /// Features of this ledger.
        expected: usize,
        /// Features of what it was given.
        found: usize,
    },
    /// More observations than the sums have room for.
    #[error("a ledger holds at most 2^58 observations; it has {observations} and was given {more}")]
    Full {
        /// How many it holds.
        observations: u64,
        /// How many were to be added.
        more: u64,
    },
    /// More observations with forecasts than the sums have room for.
    #[error(
        "a ledger holds at most 2^56 observations with forecasts; \
         it has {forecasts} and was given {more}"
    )]
    ForecastsFull {
        /// How many it holds.
        forecasts: u64,
        /// How many were to be added.
        more: u64,
    },
    /// A retraction of more observations than there are.
    #[error("a ledger of {observations} observations cannot lose {fewer}")]
    TooFew {
        /// How many it holds.
        observations: u64,
        /// How many were to be retracted.
        fewer: u64,
    },
    /// A retraction that would leave sums which no observations have, so the observation was never
    /// added.
    #[error(
        "the observation was never added: without it, the sum ({row}, {column}) would be one that \
         no {left} observations can have"
    )]
    NeverAdded {
        /// How many observations would be left.
        left: u64,
        /// Row of the impossible sum; `dim` stands for the reward.
        row: usize,
        /// Its column; `dim` stands for the reward.
        column: usize,
    },
    /// A retraction that would leave sums over forecasts which no observations have, so the
    /// observation was never added with these forecasts.
    #[error(
        "the observation was never added with these forecasts: without it, the sums over forecasts \
         would be ones that no {left} observations can have"
    )]
    NeverForecast {
        /// How many observations would be left.
        left: u64,
    },
}
