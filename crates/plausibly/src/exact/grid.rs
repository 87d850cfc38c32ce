//! The grid of exact statistics: values are checked and rounded once, here and nowhere else.

use thiserror::Error;

/// The grid has 2²⁴ steps per unit. A power of two, so scaling by it is exact.
pub(super) const STEPS: f64 = (1_u64 << 24) as f64;
/// The largest magnitude on the grid.
const LARGEST: f64 = 1024.0;
/// The largest magnitude on the grid in steps: 2¹⁰·2²⁴.
pub(super) const LARGEST_STEPS: i64 = 1 << 34;
/// The largest square is 2 to this power in steps of 2⁻⁴⁸: (2¹⁰·2²⁴)².
pub(super) const LARGEST_SQUARE_BITS: u32 = 68;

/// A value outside the grid.
#[derive(Clone, Copy, Debug, Error, PartialEq)]
#[error("{value} is not on the grid: it must be finite and at most 1024 in magnitude")]
pub struct OffGrid {
    /// The value refused.
    pub value: f64,
}

/// The multiple of 2⁻²⁴ nearest to `value`, ties to the even one.
///
/// Round the features of actions with this function before scoring them, since a
/// [`Ledger`](super::Ledger) learns from rounded features. The result differs from `value` by at
/// most 2⁻²⁵ and is never `-0.0`; rounding it again changes nothing.
///
/// # Errors
/// If `value` is not finite or beyond 1024 = 2¹⁰ in magnitude. Nothing is clamped: a model
/// would learn from a clamped feature as if it had been observed.
///
/// # Example
/// ```
/// assert_eq!(plausibly::quantise(0.5)?, 0.5);
/// assert_eq!(plausibly::quantise(1.0 + 2.0_f64.powi(-25))?, 1.0);
/// assert!(plausibly::quantise(1024.1).is_err());
/// # Ok::<(), plausibly::OffGrid>(())
/// ```
pub fn quantise(value: f64) -> Result<f64, OffGrid> {
    Ok(from_steps(to_steps(value)?))
}

/// The value in steps of the grid: at most 2³⁴.
pub(super) fn to_steps(value: f64) -> Result<i64, OffGrid> {
    // This comparison is false for NaN too.
    let within = value.abs() <= LARGEST;
    if !within {
        return Err(OffGrid { value });
    }
    #[expect(clippy::cast_possible_truncation, reason = "an integer of at most 2³⁴ in magnitude")]
    let steps = (value * STEPS).round_ties_even() as i64;
    Ok(steps)
}

/// The value of a number of steps.
pub(super) fn from_steps(steps: i64) -> f64 {
    steps as f64 / STEPS
}

/// The double nearest to a sum of products: the conversion rounds to nearest, and division by a
/// power of two is exact.
pub(super) fn from_square_steps(sum: i128) -> f64 {
    sum as f64 / (STEPS * STEPS)
}
