//! What is known about the actions, learned from rewards.

mod arm_means;
mod arm_ridges;
mod contenders;
#[cfg(test)]
mod laws;
mod ridge;
mod rough;
mod shape;
mod shortlist;
mod sieve;

pub use arm_means::{ArmMeans, Whole};
pub use arm_ridges::{ArmRidges, ArmSums, Removed};
pub use contenders::{Contenders, Sought};
pub use ridge::{Onlooker, Ridge, RidgeError};
pub use shape::{Misfit, Shape};

use crate::actions::{Action, Actions, MAX_MAGNITUDE};
use crate::confidence::Reach;
use crate::linalg::Isa;
use crate::logarithm::log;

/// A model of the mean rewards with a width for each action.
///
/// Three are provided, [`Ridge`] for actions with features, [`ArmMeans`] for plain arms and
/// [`ArmRidges`] for arms in a context; policies that need no more than means and widths are
/// written once over this trait.
pub trait Estimator {
    /// Scores of all actions under everything learned so far, cached between calls.
    fn scores(&mut self, actions: Actions<'_>) -> &Scores;

    /// Scores of the actions among which everything sought is to be found at this reach: the answer
    /// is that of all actions. An estimator that knows nothing better shows all, which is the
    /// default.
    ///
    /// # Panics
    /// If the reach is not one for this kind of model.
    fn contenders(&mut self, actions: Actions<'_>, _: Reach, _: Sought) -> Contenders<'_> {
        Contenders::all(self.scores(actions))
    }

    /// Means alone, for those who need no widths; they can differ from those of
    /// [`Estimator::scores`] by rounding.
    fn means(&mut self, actions: Actions<'_>) -> &[f64] {
        self.scores(actions).mean()
    }

    /// The same scores, bit for bit, without touching the cache: for explanations.
    fn score_into(&self, actions: Actions<'_>, out: &mut Scores);

    /// Learns from one reward.
    ///
    /// # Panics
    /// If the action does not fit the model, or the reward is not finite or beyond
    /// [`MAX_MAGNITUDE`].
    fn update(&mut self, action: Action<'_>, reward: f64);

    /// How much has been learned: what confidence radii depend on.
    fn evidence(&self) -> Evidence;

    /// Which actions it takes; `None`, the default, if it takes any.
    fn shape(&self) -> Option<Shape> {
        None
    }

    /// The smallest `√β` whose confidence set holds `theta_star`.
    fn deviation(&self, theta_star: &[f64]) -> f64;

    /// By how much the square of [`Estimator::deviation`] can have grown at most with an
    /// observation whose reward was off its true mean by `noise`; infinite, the default, if that is
    /// not known.
    fn deviation_growth(&self, _noise: f64) -> f64 {
        f64::INFINITY
    }

    /// What exploring in every round from now on is bound to have reached on this set when the
    /// decision of round `round` is taken, whatever the rewards; `None`, the default, if that is
    /// not known in advance.
    fn forecast(&self, _: Actions<'_>, _round: u64) -> Option<Forecast> {
        None
    }

    /// This, if it is a ridge: what it has learned can then be looked at by an [`Onlooker`] too.
    fn as_ridge(&self) -> Option<&Ridge> {
        None
    }

    /// Whether the confidence set at this reach holds `theta_star`.
    fn holds(&self, theta_star: &[f64], reach: Reach) -> bool {
        match reach {
            Reach::Ellipsoid { sqrt_beta } => self.deviation(theta_star) <= sqrt_beta,
            Reach::Arms(_) => panic!("a radius for arms was asked about a model of features"),
        }
    }
}

impl<E: Estimator + ?Sized> Estimator for Box<E> {
    fn scores(&mut self, actions: Actions<'_>) -> &Scores {
        (**self).scores(actions)
    }

    fn contenders(&mut self, actions: Actions<'_>, reach: Reach, sought: Sought) -> Contenders<'_> {
        (**self).contenders(actions, reach, sought)
    }

    fn means(&mut self, actions: Actions<'_>) -> &[f64] {
        (**self).means(actions)
    }

    fn score_into(&self, actions: Actions<'_>, out: &mut Scores) {
        (**self).score_into(actions, out);
    }

    fn update(&mut self, action: Action<'_>, reward: f64) {
        (**self).update(action, reward);
    }

    fn evidence(&self) -> Evidence {
        (**self).evidence()
    }

    fn shape(&self) -> Option<Shape> {
        (**self).shape()
    }

    fn deviation(&self, theta_star: &[f64]) -> f64 {
        (**self).deviation(theta_star)
    }

    fn deviation_growth(&self, noise: f64) -> f64 {
        (**self).deviation_growth(noise)
    }

    fn forecast(&self, actions: Actions<'_>, round: u64) -> Option<Forecast> {
        (**self).forecast(actions, round)
    }

    fn as_ridge(&self) -> Option<&Ridge> {
        (**self).as_ridge()
    }

    fn holds(&self, theta_star: &[f64], reach: Reach) -> bool {
        (**self).holds(theta_star, reach)
    }
}

/// A bound on what a round will find, known in advance: see [`Estimator::forecast`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Forecast {
    /// No action that was plausible all along will have a larger squared width.
    pub width_sq: f64,
    /// No radius that grows with evidence will be larger than after this.
    pub evidence: Evidence,
}

/// Estimated mean and squared width of every action of a set.
///
/// The confidence interval of an action at radius `√β` is `mean ± √β·√width_sq`.
#[derive(Clone, Debug)]
pub struct Scores {
    pub(crate) isa: Isa,
    pub(crate) mean: Vec<f64>,
    pub(crate) width_sq: Vec<f64>,
    /// Whether they were made from scratch, mostly for another set: where the last choice was then
    /// says nothing about the next.
    pub(crate) anew: bool,
}

impl Scores {
    /// Empty, to be filled by [`Estimator::score_into`].
    pub fn new() -> Self {
        Self { isa: Isa::detect(), mean: Vec::new(), width_sq: Vec::new(), anew: false }
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
        assert!(
            width_sq.iter().all(|width_sq| *width_sq >= 0.0),
            "squared widths must not be negative"
        );
        self.mean.clear();
        self.mean.extend_from_slice(mean);
        self.width_sq.clear();
        self.width_sq.extend_from_slice(width_sq);
    }

    fn copy_from(&mut self, other: &Self) {
        self.isa = other.isa;
        self.anew = other.anew;
        self.mean.clone_from(&other.mean);
        self.width_sq.clone_from(&other.width_sq);
    }
}

impl Default for Scores {
    fn default() -> Self {
        Self::new()
    }
}

/// What a confidence radius may depend on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Evidence {
    /// Rewards learned from.
    pub observations: u64,
    /// d; for arms, their number.
    pub dim: usize,
    /// λ in `V₀ = λI`; zero for arms.
    pub ridge: f64,
    /// Among how many arms δ is shared: `dim`, unless more of them were or will be looked at.
    pub shares: u64,
    /// The largest entry of the diagonal matrix `F` that the estimate adds to a `V` that doubles
    /// cannot tell from a singular one; zero almost always. See [`Ridge`], Precision.
    pub floor: f64,
    pub(crate) log_det: LogDet,
}

impl Evidence {
    /// Evidence of an estimator of your own; see the fields, and [`Evidence::log_det_ratio`] for
    /// the last.
    pub fn new(observations: u64, dim: usize, ridge: f64, log_det_ratio: f64) -> Self {
        let log_det = LogDet::new(log_det_ratio);
        Self { observations, dim, ridge, shares: dim as u64, floor: 0.0, log_det }
    }

    /// `log(det V / λᵈ)`, the information gained; not finite without a ridge, which leaves nothing
    /// to compare with.
    ///
    /// With a [`Evidence::floor`] it is that of `V + F`, which is never smaller.
    pub fn log_det_ratio(&self) -> f64 {
        self.log_det.ratio()
    }
}

/// `log(det V / det V₀)`: a logarithm, and the growth since the last refactorisation as a product,
/// so that an update costs one multiplication and only a reader pays for a logarithm.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct LogDet {
    at_refactor: f64,
    growth: f64,
}

/// A product above the square of this moves one such factor into the logarithm. In many dimensions
/// a refactorisation comes only every d/8 observations, and the product of that many factors passes
/// 1e308.
const GROWTH_UNIT: f64 = 1e100;
/// `log(GROWTH_UNIT)`.
const LOG_GROWTH_UNIT: f64 = 100.0 * std::f64::consts::LN_10;

impl LogDet {
    pub(crate) const UNDEFINED: Self = Self { at_refactor: f64::NAN, growth: 1.0 };

    pub(crate) fn new(ratio: f64) -> Self {
        Self { at_refactor: ratio, growth: 1.0 }
    }

    /// The ratio at the last refactorisation, and the growth since.
    pub(crate) fn parts(self) -> (f64, f64) {
        (self.at_refactor, self.growth)
    }

    pub(crate) fn from_parts(at_refactor: f64, growth: f64) -> Self {
        Self { at_refactor, growth }
    }

    /// Multiplies the determinant by `1 + xᵀV⁻¹x`.
    pub(crate) fn grow(&mut self, factor: f64) {
        if factor > GROWTH_UNIT {
            self.at_refactor += log(factor);
            return;
        }
        self.growth *= factor;
        if self.growth > GROWTH_UNIT * GROWTH_UNIT {
            // What stays still says that a refactorisation is due.
            self.growth /= GROWTH_UNIT;
            self.at_refactor += LOG_GROWTH_UNIT;
        }
    }

    /// By what factor the determinant has grown since the last refactorisation.
    pub(crate) fn growth(&self) -> f64 {
        self.growth
    }

    pub(crate) fn ratio(self) -> f64 {
        self.at_refactor + log(self.growth)
    }
}

/// One rule for rewards everywhere: a NaN accepted once would stay in the sums for good.
pub(crate) fn assert_reward(reward: f64) {
    assert!(
        reward.abs() <= MAX_MAGNITUDE,
        "reward must be finite and at most 1e100 in magnitude, got {reward}"
    );
}
