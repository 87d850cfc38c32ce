//! Observations on the grid: checked and rounded once, here and nowhere else.

use thiserror::Error;

/// The grid has 2²⁴ steps per unit. A power of two, so scaling by it is exact.
pub(super) const STEPS: f64 = (1_u64 << 24) as f64;
/// The largest magnitude on the grid.
const LARGEST: f64 = 1024.0;

/// A value outside the grid.
#[derive(Clone, Copy, Debug, Error, PartialEq)]
#[error("{value} is not on the grid: it must be finite and at most 1024 in magnitude")]
pub struct OffGrid {
    /// The value refused.
    pub value: f64,
}

/// Why an observation was refused.
#[derive(Clone, Copy, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum ObservationError {
    /// A feature that is not finite or beyond 1024.
    #[error(
        "feature {feature} is {}; \
         on the exact grid it must be finite and at most 1024 in magnitude",
        .source.value
    )]
    Feature {
        /// Its position among the features, from 0.
        feature: usize,
        /// The value refused.
        source: OffGrid,
    },
    /// A reward that is not finite or beyond 1024.
    #[error(
        "the reward is {}; on the exact grid it must be finite and at most 1024 in magnitude",
        .source.value
    )]
    Reward {
        /// The value refused.
        source: OffGrid,
    },
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
fn to_steps(value: f64) -> Result<i64, OffGrid> {
    // This comparison is false for NaN too.
    let within = value.abs() <= LARGEST;
    if !within {
        return Err(OffGrid { value });
    }
    #[expect(clippy::cast_possible_truncation, reason = "an integer of at most 2³⁴ in magnitude")]
    let steps = (value * STEPS).round_ties_even() as i64;
    Ok(steps)
}

fn from_steps(steps: i64) -> f64 {
    steps as f64 / STEPS
}

/// Features and a reward on the grid of multiples of 2⁻²⁴ up to 1024.
///
/// Values are rounded to the nearest multiple, ties to the even one, so rounding has no preferred
/// direction. No other code rounds: a [`Ledger`](super::Ledger) takes observations that are already
/// on the grid, so it retracts exactly what it added.
///
/// # Cost
/// O(d), and one allocation.
///
/// # Example
/// ```
/// use plausibly::Observation;
/// let seen = Observation::new(&[0.25, -3.0], 1.0)?;
/// assert_eq!(seen.features().collect::<Vec<_>>(), [0.25, -3.0]);
/// let error = Observation::new(&[0.25, f64::NAN], 1.0).unwrap_err();
/// assert!(error.to_string().starts_with("feature 1 is NaN"));
/// # Ok::<(), plausibly::ObservationError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Observation {
    /// The features, then the reward: a ledger sums the products of all of them.
    steps: Vec<i64>,
}

impl Observation {
    /// Checks the values and puts them on the grid.
    ///
    /// # Errors
    /// Names the first value that is not finite or beyond 1024 in magnitude.
    pub fn new(features: &[f64], reward: f64) -> Result<Self, ObservationError> {
        let mut steps = Vec::with_capacity(features.len() + 1);
        for (feature, &value) in features.iter().enumerate() {
            steps.push(
                to_steps(value).map_err(|source| ObservationError::Feature { feature, source })?,
            );
        }
        steps.push(to_steps(reward).map_err(|source| ObservationError::Reward { source })?);
        Ok(Self { steps })
    }

    /// d.
    pub fn dim(&self) -> usize {
        self.steps.len() - 1
    }

    /// The rounded features.
    pub fn features(&self) -> impl ExactSizeIterator<Item = f64> {
        self.steps[..self.dim()].iter().map(|&steps| from_steps(steps))
    }

    /// The rounded reward.
    pub fn reward(&self) -> f64 {
        from_steps(self.steps[self.dim()])
    }

    /// Features, then the reward, in steps of 2⁻²⁴: the integers that a ledger
    /// multiplies and sums.
    pub fn steps(&self) -> &[i64] {
        &self.steps
    }
}
