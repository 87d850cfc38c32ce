//! What a ridge estimator refuses.

use crate::linalg::NotPositive;
use thiserror::Error;

/// Why a ridge estimator was refused.
#[derive(Clone, Copy, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum RidgeError {
    /// Zero, negative, not finite, or so extreme that squares would overflow.
    #[error("ridge must be between 1e-100 and 1e100, got {ridge}")]
    Ridge {
        /// The value refused.
        ridge: f64,
    },
    /// No features.
    #[error("a linear model needs at least one feature")]
    ZeroDim,
    /// Statistics of other lengths than `dim × dim` and `dim`.
    #[error(
        "statistics of dimension {dim} need {dim}×{dim} and {dim} entries, got {gram} and {moment}"
    )]
    Shape {
        /// The dimension asked for.
        dim: usize,
        /// Entries of the gram matrix.
        gram: usize,
        /// Entries of the moment.
        moment: usize,
    },
    /// Statistics that are not finite, or a gram matrix that is not symmetric.
    #[error(
        "statistics must be finite and the gram matrix symmetric; entry ({row}, {column}) is not"
    )]
    Malformed {
        /// Row of the first culprit.
        row: usize,
        /// Its column; `dim` stands for the moment.
        column: usize,
    },
    /// A gram matrix without an inverse.
    #[error("the gram matrix is not positive definite (pivot {pivot} is {value})")]
    Singular {
        /// Which pivot failed.
        pivot: usize,
        /// Its value.
        value: f64,
    },
}

impl From<NotPositive> for RidgeError {
    fn from(error: NotPositive) -> Self {
        Self::Singular { pivot: error.index, value: error.pivot }
    }
}
