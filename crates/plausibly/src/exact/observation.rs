//! What was seen, on the grid: checked and rounded once.

use thiserror::Error;

/// Steps of the grid to a unit. A power of two, so scaling by it is exact.
pub(super) const STEPS: f64 = (1_u64 << 24) as f64;
/// The largest magnitude on the grid.
const LARGEST: f64 = 1024.0;

/// A value that the grid does not hold.
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
    #[error("feature {feature} is {}; on the exact grid it must be finite and at most 1024 in magnitude", .source.value)]
    Feature {
        /// Its position among the features, from 0.
        feature: usize,
        /// The value refused.
        source: OffGrid,
    },
    /// A reward that is not finite or beyond 1024.
    #[error("the reward is {}; on the exact grid it must be finite and at most 1024 in magnitude", .source.value)]
    Reward {
        /// The value refused.
        source: OffGrid,
    },
}

/// The multiple of 2⁻²⁴ nearest to `value`, ties to the even one.
///
/// Score actions by features that went through this, since those are what the
/// [`Ledger`](super::Ledger) learns from. The result differs from `value` by at most 2⁻²⁵, is never
/// `-0.0`, and is its own image.
///
/// # Errors
/// If `value` is not finite or beyond 1024 = 2¹⁰ in magnitude. Nothing is clamped: a clamped
/// feature would teach the model something that was not seen.
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
    // Written so that NaN fails too.
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
/// Rounding is to the nearest multiple, ties to the even one, so it has no preferred direction. It
/// happens here and nowhere else: what a [`Ledger`](super::Ledger) gets is already exact, so adding
/// and taking back cannot disagree about it.
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
    /// The features and, last, the reward: the sums treat them alike.
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

    /// The features as they were rounded.
    pub fn features(&self) -> impl ExactSizeIterator<Item = f64> {
        self.steps[..self.dim()].iter().map(|&steps| from_steps(steps))
    }

    /// The reward as it was rounded.
    pub fn reward(&self) -> f64 {
        from_steps(self.steps[self.dim()])
    }

    /// Features, then the reward, in steps of 2⁻²⁴: the integers that are multiplied and summed.
    pub fn steps(&self) -> &[i64] {
        &self.steps
    }
}
