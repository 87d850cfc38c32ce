//! Forecasts of rewards, fixed before the rewards were seen, and exact sums over their errors.

use super::grid::{LARGEST_SQUARE_BITS, OffGrid, from_steps, to_steps};
use super::tally::Tally;
use thiserror::Error;

/// Candidates per decision.
const CANDIDATES: usize = 3;
/// A ledger has at most this many observations with forecasts. A squared error is at most 2⁷⁰, four
/// times a square, so sums stay within 2¹²⁶ as those of a ledger do.
pub(super) const MAX_FORECASTS: u64 = 1 << 56;
/// The largest squared error: (2·2¹⁰·2²⁴)².
const LARGEST_ERROR_BITS: u32 = LARGEST_SQUARE_BITS + 2;

/// Why forecasts were refused.
#[derive(Clone, Copy, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum ForecastError {
    /// A forecast that is not finite or beyond 1024.
    #[error("forecast {candidate} is refused: {source}")]
    Value {
        /// Its position among the candidates, from 0.
        candidate: usize,
        /// The value refused.
        source: OffGrid,
    },
    /// No candidate has this number.
    #[error("forecast {counts} cannot count: the candidates are 0, 1 and 2")]
    NoSuchCandidate {
        /// The number given.
        counts: usize,
    },
}

/// Three forecasts of the reward of one decision, and which of them counts.
///
/// The one that counts makes the confidence set; all three are compared later, to choose which one
/// counts next. They are rounded to the grid of multiples of 2⁻²⁴.
///
/// They belong to the decision. Fix them before its reward is seen: a set from forecasts that
/// depend on their own rewards is not valid. A correction of the reward keeps them.
///
/// # Example
/// ```
/// use plausibly::Forecasts;
/// let forecasts = Forecasts::new([0.25, 0.3, 0.5], 1)?;
/// assert_eq!(forecasts.counted(), plausibly::quantise(0.3)?);
/// assert!(Forecasts::new([0.25, f64::NAN, 0.5], 0).is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Forecasts {
    candidates: [i64; CANDIDATES],
    counts: u8,
}

impl Forecasts {
    /// Checks three forecasts and puts them on the grid; the one at position `counts` counts.
    ///
    /// # Errors
    /// Names the first value that is not finite or beyond 1024 in magnitude. `counts` is 0, 1 or 2.
    pub fn new(candidates: [f64; CANDIDATES], counts: usize) -> Result<Self, ForecastError> {
        let mut steps = [0; CANDIDATES];
        for (candidate, (steps, value)) in steps.iter_mut().zip(candidates).enumerate() {
            *steps =
                to_steps(value).map_err(|source| ForecastError::Value { candidate, source })?;
        }
        let known = u8::try_from(counts).ok().filter(|_| counts < CANDIDATES);
        let counts = known.ok_or(ForecastError::NoSuchCandidate { counts })?;
        Ok(Self { candidates: steps, counts })
    }

    /// One forecast in the place of all three.
    ///
    /// # Errors
    /// As [`Forecasts::new`].
    pub fn single(forecast: f64) -> Result<Self, ForecastError> {
        Self::new([forecast; CANDIDATES], 0)
    }

    /// Three forecasts in steps of 2⁻²⁴; the one at position `counts` counts.
    ///
    /// # Errors
    /// If one is beyond 1024 in magnitude. `counts` is 0, 1 or 2.
    pub fn from_steps(steps: [i64; CANDIDATES], counts: usize) -> Result<Self, ForecastError> {
        // Whole numbers this large are far beyond the grid, whether doubles hold them or not.
        Self::new(steps.map(from_steps), counts)
    }

    /// The forecasts in steps of 2⁻²⁴.
    pub fn steps(&self) -> [i64; CANDIDATES] {
        self.candidates
    }

    /// The rounded forecasts.
    pub fn candidates(&self) -> [f64; CANDIDATES] {
        self.candidates.map(from_steps)
    }

    /// The position of the forecast that counts.
    pub fn counts(&self) -> usize {
        usize::from(self.counts)
    }

    /// The rounded forecast that counts: ŷ.
    pub fn counted(&self) -> f64 {
        from_steps(self.candidates[self.counts()])
    }
}

/// Exact sums over observations with [`Forecasts`], a part of a [`Ledger`](super::Ledger).
///
/// ```text
/// D = Σ ŷ·(ŷ − 2y)      the forecasts that counted; N outcomes of one decision add N·ŷ² − 2ŷ·Σy
/// E_κ = Σ (y − ŷ_κ)²    each of the three candidates
/// ```
///
/// If every observation has a forecast, `D + Σ y²` is the sum of squared errors of the forecasts
/// that counted. All sums are integers in steps of 2⁻⁴⁸, so they depend neither on order nor on
/// what was retracted. Forecasts equally far above and below a reward have the same sums.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ForecastSums {
    pub(super) count: u64,
    pub(super) sum: i128,
    pub(super) errors: [i128; CANDIDATES],
}

impl ForecastSums {
    /// The number of observations with forecasts.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// D in steps of 2⁻⁴⁸.
    pub fn sum(&self) -> i128 {
        self.sum
    }

    /// `Σ (y − ŷ_κ)²` of the three candidates, in steps of 2⁻⁴⁸.
    pub fn errors(&self) -> [i128; CANDIDATES] {
        self.errors
    }

    /// The candidate with the smallest sum of squared errors, the first among equals: by the
    /// default rule, the one that counts next.
    pub fn best(&self) -> usize {
        (1..CANDIDATES).fold(0, |best, k| if self.errors[k] < self.errors[best] { k } else { best })
    }

    /// The sums of one decision; `None` if it has more outcomes than any sums have room for.
    pub(super) fn of(forecasts: &Forecasts, outcomes: &Tally) -> Option<Self> {
        let count = Some(outcomes.count()).filter(|count| *count <= MAX_FORECASTS)?;
        let terms = forecasts.candidates.map(|forecast| {
            let forecast = i128::from(forecast);
            forecast * (i128::from(count) * forecast - 2 * outcomes.sum())
        });
        let errors = terms.map(|term| outcomes.squares() + term);
        Some(Self { count, sum: terms[forecasts.counts()], errors })
    }

    /// These sums and others; `None` if they have no room for them.
    pub(super) fn plus(&self, more: &Self) -> Option<Self> {
        let count = self.count.checked_add(more.count).filter(|count| *count <= MAX_FORECASTS)?;
        let errors = std::array::from_fn(|k| self.errors[k] + more.errors[k]);
        Some(Self { count, sum: self.sum + more.sum, errors })
    }

    /// These sums without others; `None` if they have fewer forecasts.
    pub(super) fn minus(&self, fewer: &Self) -> Option<Self> {
        let count = self.count.checked_sub(fewer.count)?;
        let errors = std::array::from_fn(|k| self.errors[k] - fewer.errors[k]);
        Some(Self { count, sum: self.sum - fewer.sum, errors })
    }

    /// Whether some observations have these sums, among `observations` with the sum of squared
    /// rewards `squares`.
    ///
    /// ```text
    /// 0 ≤ E_κ ≤ 2⁷⁰·count     −Σ y² ≤ D ≤ 3·2⁶⁸·count     D + Σ y² ≤ Σ_κ E_κ
    /// ```
    ///
    /// For the second and third, `ŷ(ŷ − 2y) = (y − ŷ)² − y²`, and each error that counted is one of
    /// the three. The third holds without `Σ y²` if some observations have no forecasts.
    pub(super) fn possible(&self, observations: u64, squares: i128) -> bool {
        let count = i128::from(self.count);
        if self.count > observations.min(MAX_FORECASTS) {
            return false;
        }
        let errors = 0..=count << LARGEST_ERROR_BITS;
        let sums = -squares..=3 * (count << LARGEST_SQUARE_BITS);
        if !self.errors.iter().all(|error| errors.contains(error)) || !sums.contains(&self.sum) {
            return false;
        }
        let all: u128 = self.errors.iter().map(|error| error.unsigned_abs()).sum();
        let forecast_squares = if self.count == observations { squares } else { 0 };
        let counted = self.sum + forecast_squares;
        (self.count > 0 || self.sum == 0) && (counted <= 0 || counted.unsigned_abs() <= all)
    }
}
