//! How much a model has learned.

use super::{Squares, pair_shares};
use crate::confidence::Reach;
use crate::logarithm::log;

/// What a confidence radius may depend on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Evidence {
    /// Rewards learned from.
    pub observations: u64,
    /// d; for arms, their number.
    pub dim: usize,
    /// λ in `V₀ = λI`; zero for arms.
    pub ridge: f64,
    /// Number of arms that share δ: `dim`, unless other arms are judged at the same time.
    pub shares: u64,
    /// Number of pairs that share the probability of a wrong verdict between pairs; see
    /// [`TwoPoint`](crate::TwoPoint).
    pub pair_shares: f64,
    /// The same for a pair of any two actions, neither of which need be the best.
    pub any_pair_shares: f64,
    /// The largest entry of the diagonal matrix `F` that the estimate adds to a `V` that doubles
    /// cannot tell from a singular one; zero almost always. See [`Ridge`](crate::Ridge), Precision.
    pub floor: f64,
    /// How far rewards scatter around estimates; `None` for a model that keeps no squares.
    pub squares: Option<Squares>,
    /// How far the set of the model reaches, if it brings one of its own.
    pub(crate) own: Option<Reach>,
    pub(crate) log_det: LogDet,
}

impl Evidence {
    /// Evidence of an estimator of your own; see the fields, and [`Evidence::log_det_ratio`] for
    /// the last.
    pub fn new(observations: u64, dim: usize, ridge: f64, log_det_ratio: f64) -> Self {
        let log_det = LogDet::new(log_det_ratio);
        Self {
            observations,
            dim,
            ridge,
            shares: dim as u64,
            pair_shares: pair_shares(dim, dim as u64, false),
            any_pair_shares: pair_shares(dim, dim as u64, true),
            floor: 0.0,
            squares: None,
            own: None,
            log_det,
        }
    }

    /// With the shares of any two actions, picked after looking, as those of pairs. What pairs show
    /// with these holds for all of them at once; with the shares of the sets themselves it need
    /// hold only for pairs with the best action.
    #[must_use]
    pub fn of_any_pair(self) -> Self {
        Self { pair_shares: self.any_pair_shares, ..self }
    }

    /// `log(det V / λᵈ)`, the information gained. Not finite for a model without a ridge, because
    /// det V₀ is zero there.
    ///
    /// With a [`Evidence::floor`] it is that of `V + F`, which is never smaller.
    pub fn log_det_ratio(&self) -> f64 {
        self.log_det.ratio()
    }
}

/// What exploring in every round is certain to reach: see
/// [`Estimator::guarantee`](super::Estimator::guarantee).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Guarantee {
    /// An upper bound on the squared width of every action that stays plausible until then.
    pub width_sq: f64,
    /// Evidence for which a radius that grows with evidence is at least as large as it will be.
    pub evidence: Evidence,
}

/// `log(det V / det V₀)`, split in two: a logarithm, and the growth of the determinant since the
/// last refactorisation as a product. An update then costs one multiplication, and only a reader
/// pays for a logarithm.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct LogDet {
    at_refactor: f64,
    growth: f64,
}

/// A product above the square of this moves one such factor into the logarithm. In many dimensions
/// refactorisations come only every d/8 observations, and the product of that many factors can pass
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
            // The product stays large enough to trigger a refactorisation.
            self.growth /= GROWTH_UNIT;
            self.at_refactor += LOG_GROWTH_UNIT;
        }
    }

    /// The factor by which the determinant has grown since the last refactorisation.
    pub(crate) fn growth(&self) -> f64 {
        self.growth
    }

    pub(crate) fn ratio(self) -> f64 {
        self.at_refactor + log(self.growth)
    }
}
