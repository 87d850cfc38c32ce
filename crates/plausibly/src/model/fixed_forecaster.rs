//! Forecasts from sums over rewards, for callers that make a model from exact sums at every
//! decision instead of updating one.

use super::forecaster::{INTERCEPT_PENALTY, PENALTY, STRONGER, best_of};
use super::ridge::check_statistics;
use super::{ForecastChoice, Ridge, RidgeError};
use crate::actions::Action;
use crate::linalg::Cholesky;

/// What a [`FixedForecaster`] is made from.
#[derive(Clone, Copy, Debug)]
pub struct ForecasterSums<'a> {
    /// `Σ x·xᵀ` and on the diagonal `ridge` more, row by row.
    pub gram: &'a [f64],
    /// What the diagonal has more.
    pub ridge: f64,
    /// `Σ x·y`.
    pub moment: &'a [f64],
    /// The number of rewards.
    pub observations: u64,
    /// `Σ (y − ŷ_κ)²` of the three candidates.
    pub errors: [f64; 3],
}

/// The forecasts of a [`Forecaster`](crate::Forecaster) after rewards of which only sums are at
/// hand. It does not learn.
///
/// Where nothing is known it forecasts zero, because sums do not tell how features lie to the
/// middle of the range.
///
/// # Cost
/// Three factorisations of O(d³), then three dot products per forecast. No draws.
#[derive(Clone, Debug)]
pub struct FixedForecaster {
    estimates: [Vec<f64>; 3],
    errors: [f64; 3],
    range: (f64, f64),
}

impl FixedForecaster {
    /// Forecasts of rewards in this range; `intercept` is a feature that is 1 in every action.
    ///
    /// # Errors
    /// If there are no features, or the sums are not those of a ridge.
    pub fn new(
        range: (f64, f64),
        intercept: Option<usize>,
        sums: ForecasterSums<'_>,
    ) -> Result<Self, RidgeError> {
        let ForecasterSums { gram, ridge, moment, observations, errors } = sums;
        let dim = moment.len();
        if dim == 0 {
            return Err(RidgeError::ZeroDim);
        }
        if gram.len() != dim * dim {
            return Err(RidgeError::Shape { dim, gram: gram.len(), moment: dim });
        }
        let mut gram = gram.to_vec();
        for feature in 0..dim {
            let weak = Some(feature) == intercept;
            gram[feature * (dim + 1)] += if weak { INTERCEPT_PENALTY } else { PENALTY } - ridge;
        }
        check_statistics(dim, &gram, moment)?;
        let first = match solved(&gram, moment) {
            Some(estimate) => estimate,
            // Numerically singular: the ridge adds what an inverse needs.
            None => Ridge::from_statistics(dim, PENALTY, &gram, moment, observations)?
                .theta_hat()
                .to_vec(),
        };
        let [second, third] = STRONGER.map(|penalty| {
            let mut gram = gram.clone();
            for feature in (0..dim).filter(|feature| Some(*feature) != intercept) {
                gram[feature * (dim + 1)] += penalty - PENALTY;
            }
            solved(&gram, moment).unwrap_or_else(|| vec![0.0; dim])
        });
        Ok(Self { estimates: [first, second, third], errors, range })
    }

    /// The forecast of the reward of an action.
    pub fn forecast(&self, action: Action<'_>) -> ForecastChoice {
        let estimates = self.estimates.each_ref().map(Vec::as_slice);
        best_of(action.features(), estimates, self.errors, (0.0, self.range))
    }
}

/// The solution of `gram·θ = moment`; `None` where rounding leaves none.
fn solved(gram: &[f64], moment: &[f64]) -> Option<Vec<f64>> {
    let factor = Cholesky::new(gram, moment.len()).ok()?;
    let mut estimate = moment.to_vec();
    factor.solve(&mut estimate);
    Some(estimate)
}
