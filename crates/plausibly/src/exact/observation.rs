//! Observations on the grid: the outcomes of one decision.

use super::forecasts::Forecasts;
use super::grid::{OffGrid, from_steps, to_steps};
use super::tally::Tally;
use thiserror::Error;

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
    /// A count of no outcomes.
    #[error("an observation stands for at least one outcome, got 0")]
    NoOutcomes,
}

/// Features and a reward on the grid of multiples of 2⁻²⁴ up to 1024.
///
/// Values are rounded to the nearest multiple, ties to the even one, so rounding has no preferred
/// direction. A [`Ledger`](super::Ledger) takes observations that are already on the grid, so it
/// retracts exactly what it added.
///
/// An observation may stand for many outcomes of the same decision
/// ([`Observation::counted`]), and carry the [`Forecasts`] that were made at the decision
/// ([`Observation::with_forecasts`]).
///
/// # Cost
/// O(d), and one allocation.
///
/// # Example
/// ```
/// use plausibly::{Forecasts, Observation, Tally};
/// let seen = Observation::new(&[0.25, -3.0], 1.0)?;
/// assert_eq!(seen.features().collect::<Vec<_>>(), [0.25, -3.0]);
/// let error = Observation::new(&[0.25, f64::NAN], 1.0).unwrap_err();
/// assert!(error.to_string().starts_with("feature 1 is NaN"));
/// // 34 of 100 letters were answered; the forecast was 0.3.
/// let letters = Observation::counted(&[0.25, -3.0], Tally::yes_no(34, 100, 0.0, 1.0)?)?
///     .with_forecasts(Forecasts::single(0.3)?);
/// assert_eq!(letters.outcomes().count(), 100);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Observation {
    features: Vec<i64>,
    outcomes: Tally,
    forecasts: Option<Forecasts>,
}

impl Observation {
    /// Checks the values and puts them on the grid.
    ///
    /// # Errors
    /// Names the first value that is not finite or beyond 1024 in magnitude.
    pub fn new(features: &[f64], reward: f64) -> Result<Self, ObservationError> {
        let features = on_grid(features)?;
        let outcomes =
            Tally::single(reward).map_err(|source| ObservationError::Reward { source })?;
        Ok(Self { features, outcomes, forecasts: None })
    }

    /// One observation for all outcomes of a decision. A ledger gets the same sums from it, to the
    /// bit, as from one observation per outcome, at the cost of one.
    ///
    /// # Errors
    /// If there are no outcomes. Names the first feature that is not finite or beyond 1024 in
    /// magnitude.
    pub fn counted(features: &[f64], outcomes: Tally) -> Result<Self, ObservationError> {
        if outcomes.count() == 0 {
            return Err(ObservationError::NoOutcomes);
        }
        Ok(Self { features: on_grid(features)?, outcomes, forecasts: None })
    }

    /// The same observation with the forecasts that its decision had, which hold for each of its
    /// outcomes.
    #[must_use]
    pub fn with_forecasts(self, forecasts: Forecasts) -> Self {
        Self { forecasts: Some(forecasts), ..self }
    }

    /// The same decision with other outcomes. Its forecasts stay: they were made without any
    /// knowledge of its rewards, and new ones would not be.
    ///
    /// # Errors
    /// If there are no outcomes.
    pub fn corrected(&self, outcomes: Tally) -> Result<Self, ObservationError> {
        if outcomes.count() == 0 {
            return Err(ObservationError::NoOutcomes);
        }
        Ok(Self { outcomes, ..self.clone() })
    }

    /// d.
    pub fn dim(&self) -> usize {
        self.features.len()
    }

    /// The rounded features.
    pub fn features(&self) -> impl ExactSizeIterator<Item = f64> {
        self.features.iter().map(|&steps| from_steps(steps))
    }

    /// The rounded reward; the mean of many outcomes.
    pub fn reward(&self) -> f64 {
        self.outcomes.reward_sum() / self.outcomes.count() as f64
    }

    /// The outcomes: one unless the observation was [counted](Observation::counted).
    pub fn outcomes(&self) -> &Tally {
        &self.outcomes
    }

    /// The forecasts of the decision, if it had any.
    pub fn forecasts(&self) -> Option<&Forecasts> {
        self.forecasts.as_ref()
    }

    /// The features in steps of 2⁻²⁴: the integers that a ledger multiplies and sums.
    pub(super) fn steps(&self) -> &[i64] {
        &self.features
    }
}

fn on_grid(features: &[f64]) -> Result<Vec<i64>, ObservationError> {
    let steps = |(feature, &value)| {
        to_steps(value).map_err(|source| ObservationError::Feature { feature, source })
    };
    features.iter().enumerate().map(steps).collect()
}
