//! Which actions a model accepts, checked before they reach it.

use crate::actions::{Action, Actions, MAX_MAGNITUDE};
use thiserror::Error;

/// Which actions a model takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Shape {
    /// Any number of actions with this many features.
    Features {
        /// d.
        dim: usize,
    },
    /// This many arms, with or without features, known by their index.
    Arms {
        /// K.
        count: usize,
    },
    /// This many arms, each in a context of this many features.
    ArmsInContext {
        /// K.
        count: usize,
        /// d.
        dim: usize,
    },
}

/// Why an action set, an action or a reward does not fit a model.
#[derive(Clone, Copy, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum Misfit {
    /// Another number of features.
    #[error("a model of {expected} features was asked about actions with {found}")]
    Features {
        /// Of the model.
        expected: usize,
        /// Of the actions.
        found: usize,
    },
    /// Another number of arms.
    #[error("a model of {expected} arms was asked about {found}")]
    Arms {
        /// Of the model.
        expected: usize,
        /// Of the set.
        found: usize,
    },
    /// An arm that the model does not have.
    #[error("a model of {arms} arms has no arm {arm}, counted from 0")]
    Arm {
        /// The arm.
        arm: usize,
        /// Arms of the model.
        arms: usize,
    },
    /// NaN, infinite, or beyond [`MAX_MAGNITUDE`].
    #[error("reward must be finite and at most 1e100 in magnitude, got {reward}")]
    Reward {
        /// The value refused.
        reward: f64,
    },
    /// A count that is not a multiple of 2⁻²⁴.
    #[error("counts must be multiples of 2^-24, such as whole numbers; got {reward}")]
    Count {
        /// The value refused.
        reward: f64,
    },
    /// A reward that is so close to an end of the range that it would be rounded to it.
    #[error(
        "reward must be {low}, {high}, or more than 2^-25 of the way from either to the other; got \
         {reward}"
    )]
    NearEnd {
        /// The value refused.
        reward: f64,
        /// The least reward.
        low: f64,
        /// The largest.
        high: f64,
    },
    /// A reward without a forecast, for a radius that needs one.
    #[error(
        "the radius needs a forecast with every reward; wrap the policy in Forecasting, or hand \
         the forecast over with the reward"
    )]
    NoForecast,
    /// A forecast that is NaN, infinite, or beyond [`MAX_MAGNITUDE`].
    #[error("a forecast must be finite and at most 1e100 in magnitude, got {forecast}")]
    Forecast {
        /// The value refused.
        forecast: f64,
    },
    /// Outside the range that the policy takes.
    #[error("reward must be from {low} to {high}, got {reward}")]
    RewardRange {
        /// The value refused.
        reward: f64,
        /// The least reward it takes.
        low: f64,
        /// The largest.
        high: f64,
    },
}

impl Shape {
    /// Whether a model of this shape can score these actions.
    ///
    /// # Errors
    /// If it has another number of features or of arms.
    pub fn check(self, actions: Actions<'_>) -> Result<(), Misfit> {
        if let Self::Arms { count } | Self::ArmsInContext { count, .. } = self
            && count != actions.len()
        {
            return Err(Misfit::Arms { expected: count, found: actions.len() });
        }
        self.check_features(actions.dim())
    }

    /// Whether a model of this shape can learn from this reward of this action.
    ///
    /// # Errors
    /// If the action has another number of features or is no arm of the model, or the reward is not
    /// finite or beyond [`MAX_MAGNITUDE`].
    pub fn check_reward(self, action: Action<'_>, reward: f64) -> Result<(), Misfit> {
        if let Self::Arms { count } | Self::ArmsInContext { count, .. } = self
            && count <= action.index()
        {
            return Err(Misfit::Arm { arm: action.index(), arms: count });
        }
        self.check_features(action.features().len())?;
        if reward.abs() <= MAX_MAGNITUDE { Ok(()) } else { Err(Misfit::Reward { reward }) }
    }

    fn check_features(self, found: usize) -> Result<(), Misfit> {
        match self {
            Self::Features { dim } | Self::ArmsInContext { dim, .. } if dim != found => {
                Err(Misfit::Features { expected: dim, found })
            }
            _ => Ok(()),
        }
    }
}
