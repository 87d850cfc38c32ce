//! What was learned from rewards, and nothing else.
//!
//! A model computes scores from scratch when asked. So every score is a function of what was
//! learned and of the features, and a model that is saved, copied or made from sums gives the same
//! bits. [`Search`](crate::search::Search) saves the work of scoring every action in every round;
//! for it a ridge keeps its last step and a margin ([`Fit`]).

mod arm_means;
mod arm_ridges;
mod bell_arms;
mod bell_ridge;
mod evidence;
mod fit;
mod fixed_forecaster;
mod forecaster;
mod glm;
mod ridge;
mod ridge_error;
mod shape;
mod squares;
mod tabled;
mod tallies;
mod values;

pub use arm_means::{ArmMeans, Whole};
pub use arm_ridges::{ArmRidges, ArmSums, Removed};
pub use bell_arms::BellArms;
pub use bell_ridge::{BellPrior, BellRidge, BellSums};
pub use evidence::{Evidence, Guarantee};
pub use fit::Fit;
pub use fixed_forecaster::{FixedForecaster, ForecasterSums};
pub use forecaster::{ForecastChoice, Forecaster};
pub use glm::{Budget, Glm, GlmPrior, Link};
pub use ridge::Ridge;
pub use ridge_error::RidgeError;
pub use shape::{Misfit, Shape};
pub use squares::Squares;
pub use tabled::Tabled;
pub use tallies::{Earnings, Tallies};

pub(crate) use evidence::LogDet;
pub(crate) use fit::Lineage;
pub(crate) use squares::SquareSums;
pub(crate) use tallies::pair_shares;

use crate::actions::{Action, ActionIndex, Actions, MAX_MAGNITUDE};
use crate::confidence::Reach;
use crate::linalg::Isa;

/// A model of the mean rewards with a width for each action.
///
/// Four are provided: [`Ridge`] for actions with features, [`Glm`] for such actions where rewards
/// are a yes or no or a count, [`ArmMeans`] for plain arms and [`ArmRidges`] for arms in a context.
/// Policies that need only means and widths are written once over this trait.
pub trait Estimator {
    /// Scores every action from scratch by what was learned so far.
    ///
    /// # Panics
    /// If the actions do not fit the model.
    fn score_into(&self, actions: Actions<'_>, out: &mut Scores);

    /// Sees the actions on offer before they are scored; policies call it in every round. Does
    /// nothing by default. A model whose prior depends on the first set fixes it here.
    fn offered(&mut self, _: Actions<'_>) {}

    /// Learns from one reward.
    ///
    /// # Panics
    /// If the action does not fit the model, or the reward is not finite or beyond
    /// [`MAX_MAGNITUDE`].
    fn update(&mut self, action: Action<'_>, reward: f64);

    /// Learns from one reward together with its forecast. The default ignores the forecast.
    ///
    /// # Panics
    /// As [`Estimator::update`], or if the forecast is refused like a reward.
    fn learn(&mut self, action: Action<'_>, outcome: Outcome) {
        self.update(action, outcome.reward);
    }

    /// Counts an action that was taken, without its reward: only the widths of
    /// [`Estimator::design`] follow, or those of [`Estimator::fit`] where that is `None`. By
    /// default the reward is zero, because most models have widths that do not depend on it.
    ///
    /// # Panics
    /// If the action does not fit the model.
    fn count(&mut self, action: Action<'_>) {
        self.update(action, 0.0);
    }

    /// Whether the model can learn this reward.
    ///
    /// # Errors
    /// If it is not one of its kind. Every finite reward is, by default.
    fn check_reward(&self, _reward: f64) -> Result<(), Misfit> {
        Ok(())
    }

    /// How much has been learned: what confidence radii depend on.
    fn evidence(&self) -> Evidence;

    /// The mean reward that a mean among the scores stands for: itself, the default, unless the
    /// model is linear on another scale than that of rewards.
    fn in_rewards(&self, mean: f64) -> f64 {
        mean
    }

    /// The smallest `√β` whose confidence set holds `theta_star`.
    fn deviation(&self, theta_star: &[f64]) -> f64;

    /// Means alone, for callers that need no widths; the same bits as in [`Estimator::score_into`].
    fn means_into(&self, actions: Actions<'_>, out: &mut Scores) {
        self.score_into(actions, out);
    }

    /// The linear model behind the scores, from which a search can bound them without computing
    /// them. With `None`, the default, a search scores every action.
    fn fit(&self) -> Option<Fit<'_>> {
        None
    }

    /// The model behind the widths by which a policy explores, where that has seen more actions
    /// than [`Estimator::fit`]: a model that refits only from time to time has one in between.
    /// `None`, the default, where they are the same.
    fn design(&self) -> Option<Fit<'_>> {
        None
    }

    /// Changes when [`Estimator::design`] starts again, so that a copy which has counted more
    /// actions is of no use any more. Never changes by default.
    fn generation(&self) -> u64 {
        0
    }

    /// What each action has paid, if the model keeps that; `None` by default. Verdicts between
    /// pairs of actions rest on it.
    fn tallies(&self) -> Option<Tallies<'_>> {
        None
    }

    /// Which actions the model takes; `None`, the default, if it takes any.
    fn shape(&self) -> Option<Shape> {
        None
    }

    /// What exploring in every round from now on is certain to have reached on this set when round
    /// `round` is decided, whatever the rewards; `None`, the default, if that is not known.
    fn guarantee(&self, _: Actions<'_>, _round: u64) -> Option<Guarantee> {
        None
    }

    /// The squared width of the difference of two actions with these scores, for a model without a
    /// [`Fit`]. The default holds for every model: `(w + w')²`, as if nothing that is known about
    /// one said anything about the other, and their errors were opposite.
    fn difference_sq(&self, scores: &Scores, one: ActionIndex, other: ActionIndex) -> f64 {
        if one == other {
            return 0.0;
        }
        let width = |action: ActionIndex| scores.width_sq[action].sqrt();
        let sum = width(one) + width(other);
        sum * sum
    }

    /// Whether the confidence set at this reach holds `theta_star`.
    fn holds(&self, theta_star: &[f64], reach: Reach) -> bool {
        self.deviation(theta_star) <= reach.ellipsoid()
    }
}

/// What came of a decision.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Outcome {
    /// The reward.
    pub reward: f64,
    /// What the reward was forecast to be, by a number that was fixed before the reward was seen.
    /// The forecast set ([`Forecast`](crate::Forecast)) needs one with every reward.
    pub forecast: Option<f64>,
    /// Whether another outcome of the same decision came before, so that this one settles nothing.
    pub further: bool,
}

/// A reward without a forecast.
impl From<f64> for Outcome {
    fn from(reward: f64) -> Self {
        Self { reward, forecast: None, further: false }
    }
}

/// Estimated mean and squared width of every action of a set.
///
/// The confidence interval of an action at radius `√β` is `mean ± √β·√width_sq`.
#[derive(Clone, Debug)]
pub struct Scores {
    pub(crate) isa: Isa,
    pub(crate) mean: Vec<f64>,
    pub(crate) width_sq: Vec<f64>,
}

impl Scores {
    /// Empty, to be filled by [`Estimator::score_into`].
    pub fn new() -> Self {
        Self { isa: Isa::detect(), mean: Vec::new(), width_sq: Vec::new() }
    }

    /// `⟨a, θ̂⟩` of each action.
    pub fn mean(&self) -> &[f64] {
        &self.mean
    }

    /// `‖a‖²_{V⁻¹}` of each action; infinite for an arm never taken.
    pub fn width_sq(&self) -> &[f64] {
        &self.width_sq
    }

    /// Replaces the contents, for an estimator of your own.
    ///
    /// # Panics
    /// If the lengths differ, a mean is not finite, or a squared width is negative or NaN.
    pub fn set(&mut self, mean: &[f64], width_sq: &[f64]) {
        assert!(mean.len() == width_sq.len(), "one width for each mean");
        assert!(mean.iter().all(|mean| mean.is_finite()), "means must be finite");
        let valid = width_sq.iter().all(|width_sq| *width_sq >= 0.0);
        assert!(valid, "squared widths must not be negative");
        self.mean.clear();
        self.mean.extend_from_slice(mean);
        self.width_sq.clear();
        self.width_sq.extend_from_slice(width_sq);
    }

    /// Room for this many actions.
    pub(crate) fn resize(&mut self, len: usize) {
        self.mean.resize(len, 0.0);
        self.width_sq.resize(len, 0.0);
    }
}

impl Default for Scores {
    fn default() -> Self {
        Self::new()
    }
}

/// One rule for rewards everywhere: a NaN accepted once would stay in the sums for good.
pub(crate) fn assert_reward(reward: f64) {
    assert!(
        reward.abs() <= MAX_MAGNITUDE,
        "reward must be finite and at most 1e100 in magnitude, got {reward}"
    );
}
