//! Sums over observations, as integers.

use super::forecasts::ForecastSums;
use super::grid::{LARGEST_SQUARE_BITS, from_square_steps};
use super::ledger_error::LedgerError;
use super::observation::Observation;
use super::tally::MAX_OUTCOMES;
use crate::model::{Ridge, RidgeError};

/// A ledger has at most this many features: 134 MB of sums. A larger dimension is a mistake, or an
/// attack on the reader of bytes.
pub(super) const MAX_DIM: usize = 4096;
/// A ledger has at most this many observations. A product is at most 2⁶⁸ in magnitude, so sums stay
/// within 2¹²⁶, half of what an `i128` holds.
pub(super) const MAX_OBSERVATIONS: u64 = MAX_OUTCOMES;

/// Exact sums over observations: how many, `Σ x·xᵀ`, `Σ x·y` and `Σ y²`.
///
/// ```text
/// z = 2²⁴·(x, y), integers      S = Σ z·zᵀ, the upper triangle
/// Σ x·xᵀ = 2⁻⁴⁸·S_xx            Σ x·y = 2⁻⁴⁸·S_xy
/// ```
///
/// The reward is treated as one more feature. That costs one sum more than a ridge needs, `Σ y²`,
/// and gives the residual sum of squares of any `θ`, from which the noise can be estimated.
///
/// # Guarantee
/// A ledger depends only on which observations are in it, and how often. Their order, splits and
/// merges, and observations that were added and retracted leave no trace: ledgers of the same
/// observations are equal, with equal [bytes](Ledger::to_bytes) and [digests](Ledger::digest). Sums
/// cannot overflow: a product is at most 2⁶⁸, and a ledger refuses more than 2⁵⁸ of them.
///
/// Do not retract an observation that was never added: sums alone cannot always show that. A
/// retraction is refused if it would leave an impossible ledger: a sum of squares below zero or
/// above `n·2⁶⁸`, `2·|Σzᵢzⱼ| > Σzᵢ² + Σzⱼ²`, or no observations and a sum that is not zero. An
/// observation and its negative have the same products, so a ledger cannot tell them apart.
///
/// # Cost
/// `(d+1)(d+2)/2` sums of 16 bytes. Adding costs one widening multiplication and one addition per
/// sum, less than an update of a [`Ridge`] (`docs/benchmarks`). Retracting costs the same and a
/// check, merging one addition per sum. Only the check allocates, `d+1` numbers.
///
/// # Example
/// ```
/// use plausibly::{Ledger, Observation};
/// let seen = [Observation::new(&[1.0, 0.1], 0.7)?, Observation::new(&[0.3, 1.0], -0.2)?];
/// let (mut here, mut there) = (Ledger::new(2)?, Ledger::new(2)?);
/// here.add(&seen[0])?;
/// here.add(&seen[1])?;
/// there.add(&seen[1])?;
/// there.add(&seen[0])?;
/// assert_eq!(here.to_bytes(), there.to_bytes());
/// there.retract(&seen[0])?;
/// assert_eq!(there.observations(), 1);
/// let model = here.ridge(1.0)?;
/// assert_eq!(model.theta_hat().len(), 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Reference
/// Floating-point sums can be made independent of order too, but they still round, so nothing could
/// be retracted exactly: \[DN15\] Demmel, Nguyen: Parallel Reproducible Summation.
/// IEEE Transactions on Computers 64, 2015.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ledger {
    pub(super) dim: usize,
    pub(super) observations: u64,
    /// Row by row from the diagonal on, the reward last, in steps of 2⁻⁴⁸. [`Ledger::impossible`]
    /// finds nothing in them.
    pub(super) sums: Vec<i128>,
    /// Zero for observations without forecasts.
    pub(super) forecasts: ForecastSums,
}

impl Ledger {
    /// An empty ledger for observations of `dim` features.
    ///
    /// # Errors
    /// If `dim` is zero or above 4096.
    pub fn new(dim: usize) -> Result<Self, LedgerError> {
        if !(1..=MAX_DIM).contains(&dim) {
            return Err(LedgerError::Dim { dim });
        }
        let (sums, forecasts) = (vec![0; triangle(dim)], ForecastSums::default());
        Ok(Self { dim, observations: 0, sums, forecasts })
    }

    /// d.
    pub fn dim(&self) -> usize {
        self.dim
    }

    /// n.
    pub fn observations(&self) -> u64 {
        self.observations
    }

    /// `Σ zᵢ·zⱼ` in steps of 2⁻⁴⁸, where index `dim` stands for the reward.
    ///
    /// # Panics
    /// If an index is above `dim`.
    pub fn sum(&self, i: usize, j: usize) -> i128 {
        assert!(i.max(j) <= self.dim, "sum ({i}, {j}) of a ledger of {} features", self.dim);
        self.sums[self.at(i.min(j), i.max(j))]
    }

    /// Sums over the forecasts of those observations that have them.
    pub fn forecasts(&self) -> &ForecastSums {
        &self.forecasts
    }

    /// Adds an observation, and all outcomes that it stands for. O(d²), also for a count of 10⁶.
    ///
    /// # Errors
    /// If it has another dimension, or the ledger is full (2⁵⁸; 2⁵⁶ with forecasts).
    pub fn add(&mut self, observation: &Observation) -> Result<(), LedgerError> {
        self.check_dim(observation.dim())?;
        let more = observation.outcomes().count();
        let total = self.room_for(more)?;
        if let Some(forecasts) = observation.forecasts() {
            let added = ForecastSums::of(forecasts, observation.outcomes())
                .and_then(|added| self.forecasts.plus(&added));
            self.forecasts = added.ok_or_else(|| self.forecasts_full(more))?;
        }
        self.observations = total;
        self.shift(observation, i128::wrapping_add);
        Ok(())
    }

    /// Takes an observation back: the exact inverse of [`Ledger::add`]. O(d²).
    ///
    /// The sums are then those of the other observations. A confidence set from them is not valid
    /// if the observation was retracted because of its reward.
    ///
    /// # Errors
    /// If it has another dimension, the ledger has fewer outcomes, or no observations have the sums
    /// that would be left.
    pub fn retract(&mut self, observation: &Observation) -> Result<(), LedgerError> {
        self.check_dim(observation.dim())?;
        let (observations, fewer) = (self.observations, observation.outcomes().count());
        let left = observations.checked_sub(fewer);
        let left = left.ok_or(LedgerError::TooFew { observations, fewer })?;
        let forecasts = match observation.forecasts() {
            None => self.forecasts,
            Some(forecasts) => ForecastSums::of(forecasts, observation.outcomes())
                .and_then(|retracted| self.forecasts.minus(&retracted))
                .ok_or(LedgerError::NeverForecast { left })?,
        };
        // The difference of two sums within ±2¹²⁶ is within ±2¹²⁷. Only 2¹²⁷ itself wraps, to a
        // number of the same magnitude, which is as impossible.
        self.shift(observation, i128::wrapping_sub);
        self.observations = left;
        let refusal = match self.impossible() {
            Some((row, column)) => LedgerError::NeverAdded { left, row, column },
            None if !forecasts.possible(left, self.sum(self.dim, self.dim)) => {
                LedgerError::NeverForecast { left }
            }
            None => {
                self.forecasts = forecasts;
                return Ok(());
            }
        };
        // Sums of integers: adding it again restores them exactly.
        self.shift(observation, i128::wrapping_add);
        self.observations = observations;
        Err(refusal)
    }

    /// Adds all observations of another ledger. O(d²).
    ///
    /// # Errors
    /// If it has another dimension, or both together have more than 2⁵⁸ observations, or 2⁵⁶ with
    /// forecasts.
    pub fn merge(&mut self, other: &Self) -> Result<(), LedgerError> {
        self.check_dim(other.dim)?;
        let total = self.room_for(other.observations)?;
        let forecasts = self.forecasts.plus(&other.forecasts);
        self.forecasts = forecasts.ok_or_else(|| self.forecasts_full(other.forecasts.count))?;
        self.observations = total;
        for (sum, more) in self.sums.iter_mut().zip(&other.sums) {
            *sum += more;
        }
        Ok(())
    }

    /// The same observations with more features, each of which is zero in all of them.
    ///
    /// # Errors
    /// If `dim` is below this ledger's, or above 4096.
    pub fn widened(&self, dim: usize) -> Result<Self, LedgerError> {
        if dim < self.dim {
            return Err(LedgerError::Mismatch { expected: self.dim, found: dim });
        }
        let Self { observations, forecasts, .. } = *self;
        let mut wide = Self { observations, forecasts, ..Self::new(dim)? };
        let place = |i: usize| if i == self.dim { dim } else { i };
        for i in 0..=self.dim {
            for j in i..=self.dim {
                let at = wide.at(place(i), place(j));
                wide.sums[at] = self.sums[self.at(i, j)];
            }
        }
        Ok(wide)
    }

    /// `Σ x·xᵀ` without a ridge, row-major, each entry the double nearest to the exact sum.
    pub fn gram(&self) -> Vec<f64> {
        let entry = |k: usize| from_square_steps(self.sum(k / self.dim, k % self.dim));
        (0..self.dim * self.dim).map(entry).collect()
    }

    /// `Σ x·y`, each entry the double nearest to the exact sum.
    pub fn moment(&self) -> Vec<f64> {
        (0..self.dim).map(|i| from_square_steps(self.sum(i, self.dim))).collect()
    }

    /// `Σ y²`, the double nearest to the exact sum.
    pub fn reward_squares(&self) -> f64 {
        from_square_steps(self.sum(self.dim, self.dim))
    }

    /// `D = Σ ŷ·(ŷ − 2y)`, the double nearest to the exact sum. `None` unless every observation has
    /// forecasts: a set from the forecasts of some would not be valid for all.
    pub fn forecast_sum(&self) -> Option<f64> {
        let all = self.forecasts.count == self.observations;
        all.then(|| from_square_steps(self.forecasts.sum))
    }

    /// The ridge estimate of these observations. Its bits depend only on the ledger and `ridge`.
    /// O(d³).
    ///
    /// Each entry of `V` and `b` is rounded once from the exact sum, and the diagonal once more
    /// when `ridge` is added, so the error of `V` does not grow with the number of observations.
    /// The model may go on learning with [`update`](crate::Estimator::update) from
    /// [quantised](super::quantise) features; its rounding errors then grow like those of any other
    /// model, until a new one is made from the ledger.
    ///
    /// # Errors
    /// As [`Ridge::from_statistics`]: if `ridge` is out of range, or zero while the observations do
    /// not span.
    pub fn ridge(&self, ridge: f64) -> Result<Ridge, RidgeError> {
        let mut gram = self.gram();
        for i in 0..self.dim {
            gram[i * self.dim + i] += ridge;
        }
        Ridge::from_statistics(self.dim, ridge, &gram, &self.moment(), self.observations)
    }

    /// The first sum that `n` observations cannot have. Each observation obeys `0 ≤ zᵢ² ≤ 2⁶⁸` and
    /// `2·|zᵢzⱼ| ≤ zᵢ² + zⱼ²`, and so do sums, which are therefore at most `n·2⁶⁸`.
    pub(super) fn impossible(&self) -> Option<(usize, usize)> {
        let most = i128::from(self.observations) << LARGEST_SQUARE_BITS;
        let mut squares = Vec::with_capacity(self.dim + 1);
        for i in 0..=self.dim {
            let square = self.sums[self.at(i, i)];
            if !(0..=most).contains(&square) {
                return Some((i, i));
            }
            squares.push(square);
        }
        let mut rows = self.sums.as_slice();
        for i in 0..self.dim {
            let (row, rest) = rows.split_at(self.dim + 1 - i);
            for (j, (sum, square)) in row.iter().zip(&squares[i..]).enumerate().skip(1) {
                // Two squares together are at most 2¹²⁷, which needs the sign bit, so they are
                // added unsigned. Halving the right side instead of doubling the left cannot
                // overflow, and for integers it is the same comparison.
                if sum.unsigned_abs() > (squares[i].cast_unsigned() + square.cast_unsigned()) >> 1 {
                    return Some((i, i + j));
                }
            }
            rows = rest;
        }
        None
    }

    /// The position of `Σ zᵢ·zⱼ` in `sums`, for `i ≤ j ≤ dim`.
    pub(super) fn at(&self, i: usize, j: usize) -> usize {
        // The i rows before have (d+1) + d + … entries.
        i * (2 * self.dim + 3 - i) / 2 + (j - i)
    }

    /// Changes each sum by its part of the observation: `N·xᵢ·xⱼ`, `xᵢ·Σy` and `Σy²`.
    fn shift(&mut self, observation: &Observation, by: impl Fn(i128, i128) -> i128) {
        let (x, outcomes) = (observation.steps(), observation.outcomes());
        let mut rows = self.sums.as_mut_slice();
        for (i, &xi) in x.iter().enumerate() {
            let (row, rest) = std::mem::take(&mut rows).split_at_mut(x.len() + 1 - i);
            let (features, reward) = row.split_at_mut(x.len() - i);
            // At most 2⁹², and a product with a feature at most 2¹²⁶.
            let counted = i128::from(outcomes.count()) * i128::from(xi);
            for (sum, &xj) in features.iter_mut().zip(&x[i..]) {
                *sum = by(*sum, counted * i128::from(xj));
            }
            reward[0] = by(reward[0], i128::from(xi) * outcomes.sum());
            rows = rest;
        }
        rows[0] = by(rows[0], outcomes.squares());
    }

    fn check_dim(&self, found: usize) -> Result<(), LedgerError> {
        if found == self.dim {
            Ok(())
        } else {
            Err(LedgerError::Mismatch { expected: self.dim, found })
        }
    }

    fn room_for(&self, more: u64) -> Result<u64, LedgerError> {
        let observations = self.observations;
        let total = observations.checked_add(more).filter(|total| *total <= MAX_OBSERVATIONS);
        total.ok_or(LedgerError::Full { observations, more })
    }

    fn forecasts_full(&self, more: u64) -> LedgerError {
        LedgerError::ForecastsFull { forecasts: self.forecasts.count, more }
    }
}

/// The number of sums of a ledger of `dim` features.
pub(super) fn triangle(dim: usize) -> usize {
    (dim + 1) * (dim + 2) / 2
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Tally;

    /// A ledger of `n` equal observations, in one count.
    fn repeated(features: &[f64], reward: f64, n: u64) -> Ledger {
        let mut ledger = Ledger::new(features.len()).unwrap();
        let outcomes = Tally::yes_no(n, n, 0.0, reward).unwrap();
        ledger.add(&Observation::counted(features, outcomes).unwrap()).unwrap();
        ledger
    }

    #[test]
    fn the_largest_sums_fit_and_one_more_is_refused() {
        let largest = Observation::new(&[1024.0, -1024.0], 1024.0).unwrap();
        let most = |n| repeated(&[1024.0, -1024.0], 1024.0, n);
        let mut ledger = most(MAX_OBSERVATIONS - 1);
        ledger.add(&largest).unwrap();
        assert_eq!(ledger.impossible(), None);
        assert_eq!(ledger.sum(0, 0), 1 << 126);
        assert_eq!(ledger.sum(1, 0), -(1 << 126));
        let full = ledger.clone();
        let refused = ledger.add(&largest).unwrap_err();
        assert_eq!(refused, LedgerError::Full { observations: 1 << 58, more: 1 });
        assert!(matches!(ledger.merge(&full), Err(LedgerError::Full { .. })));
        assert_eq!(ledger, full, "a refusal changes nothing");
        // Retracting what was never added: the sum leaves the range of possible sums and does not
        // overflow.
        let other = Observation::new(&[1024.0, 1024.0], 1024.0).unwrap();
        assert!(matches!(
            ledger.retract(&other),
            Err(LedgerError::NeverAdded { row: 0, column: 1, .. })
        ));
        assert_eq!(ledger, full);
        ledger.retract(&largest).unwrap();
        assert_eq!(ledger, most(MAX_OBSERVATIONS - 1));
    }

    #[test]
    fn the_triangle_is_indexed_without_gaps() {
        let ledger = Ledger::new(5).unwrap();
        let visited: Vec<usize> = (0..=5)
            .flat_map(|i| (i..=5).map(move |j| (i, j)))
            .map(|(i, j)| ledger.at(i, j))
            .collect();
        assert_eq!(visited, (0..ledger.sums.len()).collect::<Vec<_>>());
    }
}
