//! Confidence radii: `√β`, the size of the confidence set in the norm of `V`.

use super::arms::{Mixture, Stitched, Union};
use super::bell::Bell;
use super::curved::Likelihood;
use super::forecast::Forecast;
use super::pairs::{Bounds, PairRule};
use super::reach::{Reach, noise_doubt};
use super::two_point::TwoPoint;
use crate::logarithm::log;
use crate::model::Evidence;
use std::fmt::Debug;
use thiserror::Error;

/// `√β_t(δ)`: the confidence set is `{θ : ‖θ̂ − θ‖_V ≤ √β}`, the interval of an action `mean ±
/// √β·√width_sq`.
///
/// The root is in the name because leaving it out is the commonest mistake in LinUCB code.
/// Implement this trait to bring a radius of your own; every policy and metric takes it.
pub trait ConfidenceRadius: Debug {
    /// The radius after this much evidence, for an action of width one. Must be positive and
    /// finite.
    fn sqrt_beta(&self, evidence: &Evidence) -> f64;

    /// How far intervals reach after this much evidence; the same `√β` times the width for all
    /// actions unless you say otherwise.
    fn reach(&self, evidence: &Evidence) -> Reach {
        Reach::Ellipsoid { sqrt_beta: self.sqrt_beta(evidence) }
    }

    /// When one action rules another out by what both have paid; never, unless you say otherwise.
    fn pairs(&self, _: &Evidence) -> Option<PairRule> {
        None
    }

    /// All that is certain after this much evidence.
    fn bounds(&self, evidence: &Evidence) -> Bounds {
        Bounds { reach: self.reach(evidence), pairs: self.pairs(evidence) }
    }

    /// The least and the largest reward it holds for; policies refuse others. `None`, the default,
    /// if it holds for rewards of any size.
    fn range(&self) -> Option<(f64, f64)> {
        None
    }

    /// Whether it needs a forecast with every reward; policies refuse a reward without one. Not by
    /// default.
    fn needs_forecasts(&self) -> bool {
        false
    }

    /// What is added to `β` if each reward was moved by up to `error`, beside what that moves the
    /// estimate. Nothing by default: most radii do not depend on rewards.
    fn rounding(&self, _: &Evidence, _error: f64) -> f64 {
        0.0
    }

    /// What is added to `√β` because the estimate moves if each reward was moved by up to `error`:
    /// by default that of a ridge, `error·√t`.
    fn moved(&self, evidence: &Evidence, error: f64) -> f64 {
        by_ridge(evidence, error)
    }

    /// Whether its constants are in their ranges; policies refuse a radius that says no when they
    /// are built.
    ///
    /// # Errors
    /// Names the first constant that is out of range. A radius of your own is accepted unless you
    /// say otherwise.
    fn check(&self) -> Result<(), RadiusError> {
        Ok(())
    }
}

/// How far the estimate of a ridge moves in the norm of `V` at most.
fn by_ridge(evidence: &Evidence, error: f64) -> f64 {
    error * (evidence.observations as f64).sqrt()
}

/// The radius, if its constants are in their ranges.
///
/// # Panics
/// Names the first constant that is not.
pub(crate) fn accepted<R: ConfidenceRadius>(radius: R) -> R {
    if let Err(refused) = radius.check() {
        panic!("{refused}");
    }
    radius
}

impl<R: ConfidenceRadius + ?Sized> ConfidenceRadius for &R {
    fn sqrt_beta(&self, evidence: &Evidence) -> f64 {
        (**self).sqrt_beta(evidence)
    }

    fn reach(&self, evidence: &Evidence) -> Reach {
        (**self).reach(evidence)
    }

    fn pairs(&self, evidence: &Evidence) -> Option<PairRule> {
        (**self).pairs(evidence)
    }

    fn range(&self) -> Option<(f64, f64)> {
        (**self).range()
    }

    fn needs_forecasts(&self) -> bool {
        (**self).needs_forecasts()
    }

    fn rounding(&self, evidence: &Evidence, error: f64) -> f64 {
        (**self).rounding(evidence, error)
    }

    fn moved(&self, evidence: &Evidence, error: f64) -> f64 {
        (**self).moved(evidence, error)
    }

    fn check(&self) -> Result<(), RadiusError> {
        (**self).check()
    }
}

impl<R: ConfidenceRadius + ?Sized> ConfidenceRadius for Box<R> {
    fn sqrt_beta(&self, evidence: &Evidence) -> f64 {
        (**self).sqrt_beta(evidence)
    }

    fn reach(&self, evidence: &Evidence) -> Reach {
        (**self).reach(evidence)
    }

    fn pairs(&self, evidence: &Evidence) -> Option<PairRule> {
        (**self).pairs(evidence)
    }

    fn range(&self) -> Option<(f64, f64)> {
        (**self).range()
    }

    fn needs_forecasts(&self) -> bool {
        (**self).needs_forecasts()
    }

    fn rounding(&self, evidence: &Evidence, error: f64) -> f64 {
        (**self).rounding(evidence, error)
    }

    fn moved(&self, evidence: &Evidence, error: f64) -> f64 {
        (**self).moved(evidence, error)
    }

    fn check(&self) -> Result<(), RadiusError> {
        (**self).check()
    }
}

/// Why the constants of a radius were refused.
#[derive(Clone, Copy, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum RadiusError {
    /// `delta` outside (0, 1).
    #[error("delta must be between 0 and 1, both excluded, got {delta}")]
    Delta {
        /// The value refused.
        delta: f64,
    },
    /// A constant that is not positive, or extreme.
    #[error("{name} must be between 1e-50 and 1e50, got {value}")]
    NotPositive {
        /// The constant.
        name: &'static str,
        /// The value refused.
        value: f64,
    },
    /// A radius for rewards in a range, where no range is known.
    #[error(
        "the radius `{kind}` is for rewards in a range, and these have none; set lowest_reward and \
         highest_reward"
    )]
    NoRange {
        /// As specs name it.
        kind: &'static str,
    },
    /// Not a range of rewards: the least is not below the largest, or both are far from zero.
    #[error(
        "rewards from {low} to {high} are no range: the first must be below the second, and \
         neither may be more than a million times as large as the difference; subtract a constant"
    )]
    Range {
        /// The least reward.
        low: f64,
        /// The largest reward.
        high: f64,
    },
    /// The paper's radius for a model of one dimension.
    #[error(
        "the radius `paper` does not hold in one dimension (at delta = 0.05 it misses in 12 % of \
         runs of 300 rounds); use `determinant`"
    )]
    OneDimension,
    /// A generalised linear model for rewards of another kind.
    #[error(
        "the radius `{kind}` is for rewards of another kind: logistic for rewards in a range, \
         poisson for counts"
    )]
    KindOfReward {
        /// As specs name it.
        kind: &'static str,
    },
    /// A radius that belongs to another model.
    #[error(
        "the radius `{kind}` is not one of a generalised linear model; use logistic or poisson"
    )]
    NoGlm {
        /// As specs name it.
        kind: &'static str,
    },
    /// A usual reward that rewards cannot have, or that leaves nothing to learn.
    #[error("the usual reward must be above {low} and below {high}, got {usual}")]
    UsualReward {
        /// The value refused.
        usual: f64,
        /// The least reward.
        low: f64,
        /// The largest.
        high: f64,
    },
    /// A factor of the odds that says that all actions are the same, or is extreme.
    #[error("the factor between rates must be above 1 and at most 1e50, got {factor}")]
    Factor {
        /// The value refused.
        factor: f64,
    },
    /// A usual rate that is zero or one in doubles.
    #[error("the offset must be between -36 and 36, got {offset}")]
    Offset {
        /// The value refused.
        offset: f64,
    },
    /// Rewards that a model of this kind cannot have seen.
    #[error("rewards must be from {low} to {high}, and the sums of a row have others")]
    Rewards {
        /// The least reward.
        low: f64,
        /// The largest.
        high: f64,
    },
    /// A bound that is negative, or extreme.
    #[error("{name} must be between 0 and 1e50, got {value}")]
    Negative {
        /// The constant.
        name: &'static str,
        /// The value refused.
        value: f64,
    },
}

/// `log(numerator/denominator)`: one logarithm where the quotient is finite, else those of the
/// parts. By the reciprocal of the denominator, which is known early: a decision waits for what was
/// just learned, and need not wait for a division of it.
fn log_of(numerator: f64, denominator: f64, of_parts: impl FnOnce() -> f64) -> f64 {
    let quotient = numerator * (1.0 / denominator);
    if quotient.is_finite() { log(quotient) } else { of_parts() }
}

pub(super) fn check_delta(delta: f64) -> Result<(), RadiusError> {
    if delta > 0.0 && delta < 1.0 { Ok(()) } else { Err(RadiusError::Delta { delta }) }
}

pub(super) fn check_positive(name: &'static str, value: f64) -> Result<(), RadiusError> {
    // Within these bounds every radius is finite and positive, so no interval can come out as NaN.
    if (1e-50..=1e50).contains(&value) {
        Ok(())
    } else {
        Err(RadiusError::NotPositive { name, value })
    }
}

/// The constants of every radius for arms.
pub(super) fn check_arms(delta: f64, noise_scale: f64) -> Result<(), RadiusError> {
    check_delta(delta)?;
    check_positive("noise_scale", noise_scale)
}

pub(super) fn check_bound(name: &'static str, value: f64) -> Result<(), RadiusError> {
    if (0.0..=1e50).contains(&value) { Ok(()) } else { Err(RadiusError::Negative { name, value }) }
}

/// The paper's radius, in the form of its appendix.
///
/// ```text
/// √β_t = R·√(d·log((1 + t·L²/λ)/δ)) + √λ·S
/// ```
///
/// `t` counts observations. `lambda` is the width's own constant and need not be the ridge in `V`.
///
/// # Guarantee
/// With `lambda` equal to the ridge, `‖θ*‖ ≤ S`, `‖a‖ ≤ L`, conditionally `R`-sub-Gaussian noise
/// and `d ≥ 2`, `θ*` stays in the set for all `t` with probability at least `1 − δ` (Theorem 2 of
/// \[AYPS11\]). With other constants, such as those of the paper's experiments (λ = 10⁴ in the
/// width, ridge 1, S = 0), it is a width and *not* a confidence set.
///
/// At `d = 1` it is refused: the form replaces `log det + 2·log(1/δ)` by `d·log(…) + d·log(1/δ)`,
/// which is no less only from two dimensions on. With one it misses in 12 % of runs of 300 rounds
/// at δ = 0.05 (`docs/results/coverage.md`). Use [`Determinant`].
///
/// # Panics
/// In `sqrt_beta`, for a model of one dimension.
///
/// # Reference
/// Mukherjee, Zhu, Kveton: Efficient and Interpretable Bandit Algorithms, appendix (\[MZK\]).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Paper {
    /// δ in (0, 1).
    pub delta: f64,
    /// λ > 0, in the width only.
    pub lambda: f64,
    /// R > 0.
    pub noise_scale: f64,
    /// S ≥ 0.
    pub theta_norm_bound: f64,
    /// L > 0.
    pub action_norm_bound: f64,
}

impl ConfidenceRadius for Paper {
    #[inline]
    fn sqrt_beta(&self, evidence: &Evidence) -> f64 {
        assert!(
            evidence.dim >= 2,
            "the paper's radius does not hold in one dimension; use the determinant radius"
        );
        let (t, d) = (evidence.observations as f64, evidence.dim as f64);
        let total = self.lambda + t * self.action_norm_bound * self.action_norm_bound;
        let log_growth = log_of(total, self.lambda * self.delta, || {
            log(total) - log(self.lambda) - log(self.delta)
        });
        let spread = (d * log_growth).sqrt();
        self.noise_scale * spread + (self.lambda + evidence.floor).sqrt() * self.theta_norm_bound
    }

    fn check(&self) -> Result<(), RadiusError> {
        check_delta(self.delta)?;
        check_positive("lambda", self.lambda)?;
        check_positive("noise_scale", self.noise_scale)?;
        check_bound("theta_norm_bound", self.theta_norm_bound)?;
        check_positive("action_norm_bound", self.action_norm_bound)
    }
}

/// The determinant form of Abbasi-Yadkori, Pál and Szepesvári: the default of logs.
///
/// ```text
/// √β_t = R·√(log(det V_t/λᵈ) + 2·log(1/δ)) + √λ·S          λ: the ridge in V
/// ```
///
/// # Guarantee
/// With `‖θ*‖ ≤ S` and conditionally `R`-sub-Gaussian noise, `θ*` stays in the set for all `t` at
/// once with probability at least `1 − δ`, however the actions were chosen (Theorem 2 of
/// \[AYPS11\]). It adapts to the data: no bound on the actions.
///
/// # What you must know
/// A bound R on the scale of the noise (its standard deviation if Gaussian; half the range of
/// bounded rewards) and a bound S on `‖θ*‖`. Not known, the conservative choice is a larger one:
/// both enter linearly, and too large a bound costs exploration, never validity. Too small a bound
/// costs validity.
///
/// # Panics
/// In `sqrt_beta`, for an estimator without a ridge: the form has no meaning there.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Determinant {
    /// δ in (0, 1).
    pub delta: f64,
    /// R > 0.
    pub noise_scale: f64,
    /// S ≥ 0.
    pub theta_norm_bound: f64,
}

impl ConfidenceRadius for Determinant {
    #[inline]
    fn sqrt_beta(&self, evidence: &Evidence) -> f64 {
        // log(det V/λᵈ) + 2·log(1/δ)
        let (at_refactor, growth) = evidence.log_det.parts();
        let log_growth =
            log_of(growth, self.delta * self.delta, || log(growth) - 2.0 * log(self.delta));
        // Rounding alone can make it negative; a NaN stays one.
        let spread_sq = if at_refactor < 0.0 { log_growth } else { at_refactor + log_growth };
        assert!(
            at_refactor.is_finite(),
            "the determinant radius needs a ridge estimator with a positive ridge"
        );
        let spread = spread_sq.sqrt();
        self.noise_scale * spread + (evidence.ridge + evidence.floor).sqrt() * self.theta_norm_bound
    }

    fn check(&self) -> Result<(), RadiusError> {
        check_delta(self.delta)?;
        check_positive("noise_scale", self.noise_scale)?;
        check_bound("theta_norm_bound", self.theta_norm_bound)
    }
}

/// The additive form: the default for models. Never wider than [`Determinant`].
///
/// ```text
/// β_t = R²·(log(det V_t/λᵈ) + 2·log(1/δ)) + λ·S²          λ: the ridge in V
/// ```
///
/// The noise and the ridge add up as squares here, where [`Determinant`] adds their roots.
///
/// # Guarantee
/// As [`Determinant`]: the mixture of `exp(−Σ(y − ⟨x, θ⟩)²/2R²)` over `θ ~ N(0, (R²/λ)·I)`, divided
/// by its value at `θ*`, is a supermartingale, and Ville's inequality bounds it at all times at
/// once. Proof in `docs/concepts/validity.md`. `λ = d·R²/S²` balances both terms; specs use it
/// unless they set a ridge.
///
/// # What you must know
/// R and S, as for [`Determinant`]. Rewards that contradict R open the set: nothing is ruled out,
/// and explanations suggest another value ([`Doubt::Noise`](super::Doubt::Noise)).
///
/// # Panics
/// In `sqrt_beta`, for an estimator without a ridge: the form has no meaning there.
///
/// # Reference
/// Flynn, Reeb, Kandemir, Peters: Improved Algorithms for Stochastic Linear Bandits Using Tail
/// Bounds for Martingale Mixtures (2023).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Additive {
    /// δ in (0, 1).
    pub delta: f64,
    /// R > 0.
    pub noise_scale: f64,
    /// S ≥ 0.
    pub theta_norm_bound: f64,
}

impl ConfidenceRadius for Additive {
    #[inline]
    fn sqrt_beta(&self, evidence: &Evidence) -> f64 {
        let (at_refactor, growth) = evidence.log_det.parts();
        assert!(
            at_refactor.is_finite(),
            "the additive radius needs a ridge estimator with a positive ridge"
        );
        // Rounding alone can make a part negative.
        let log_det = at_refactor.max(0.0) + libm::log(growth).max(0.0);
        let noise = log_det - 2.0 * libm::log(self.delta);
        let bias =
            (evidence.ridge + evidence.floor) * self.theta_norm_bound * self.theta_norm_bound;
        (self.noise_scale * self.noise_scale * noise + bias).sqrt()
    }

    #[inline]
    fn reach(&self, evidence: &Evidence) -> Reach {
        let declared = (self.noise_scale, self.theta_norm_bound);
        match noise_doubt(evidence, declared, self.delta) {
            Some(doubt) => Reach::Open(doubt),
            None => Reach::Ellipsoid { sqrt_beta: self.sqrt_beta(evidence) },
        }
    }

    fn check(&self) -> Result<(), RadiusError> {
        check_delta(self.delta)?;
        check_positive("noise_scale", self.noise_scale)?;
        check_bound("theta_norm_bound", self.theta_norm_bound)
    }
}

/// The paper's radius for K-armed problems: a width for one look, *not* a confidence set over time.
///
/// ```text
/// √β = σ·√(2·log(1/δ))          half-width of an arm: √β/√T(a)
/// ```
///
/// # Guarantee
/// For one arm at one fixed count it fails with probability at most `2δ`; jointly over `K` arms and
/// all counts up to `n` with probability at most `2Knδ`. At any moment the data choose, `δ` alone
/// promises nothing: at δ = 0.05 one arm leaves its interval in 29 % of runs of 5,000 plays.
/// [`Mixture`] holds at all times.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PerArm {
    /// δ in (0, 1).
    pub delta: f64,
    /// σ > 0.
    pub noise_scale: f64,
}

impl ConfidenceRadius for PerArm {
    fn sqrt_beta(&self, _: &Evidence) -> f64 {
        self.noise_scale * (-2.0 * log(self.delta)).sqrt()
    }

    fn check(&self) -> Result<(), RadiusError> {
        check_arms(self.delta, self.noise_scale)
    }
}

/// A constant multiple of the width: LinUCB's `alpha`. Not a confidence set: it promises no
/// coverage at any level.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fixed {
    /// `√β` itself, positive.
    pub sqrt_beta: f64,
}

impl ConfidenceRadius for Fixed {
    fn sqrt_beta(&self, _: &Evidence) -> f64 {
        self.sqrt_beta
    }

    fn check(&self) -> Result<(), RadiusError> {
        check_positive("sqrt_beta", self.sqrt_beta)
    }
}

/// One of the radii of this crate, with checked constants.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Radius {
    /// See [`Paper`].
    Paper(Paper),
    /// See [`Additive`].
    Additive(Additive),
    /// See [`Forecast`].
    Forecast(Forecast),
    /// See [`Determinant`].
    Determinant(Determinant),
    /// See [`PerArm`].
    PerArm(PerArm),
    /// See [`Mixture`].
    Mixture(Mixture),
    /// See [`TwoPoint`].
    TwoPoint(TwoPoint),
    /// See [`Stitched`].
    Stitched(Stitched),
    /// See [`Union`].
    Union(Union),
    /// See [`Fixed`].
    Fixed(Fixed),
    /// See [`Bell`].
    Bell(Bell),
    /// See [`Likelihood`].
    Likelihood(Likelihood),
}

impl Radius {
    /// Accepts constants in their ranges.
    ///
    /// # Errors
    /// Names the first constant that is out of range.
    pub fn checked(self) -> Result<Self, RadiusError> {
        self.check()?;
        Ok(self)
    }
}

impl ConfidenceRadius for Radius {
    #[inline]
    fn sqrt_beta(&self, evidence: &Evidence) -> f64 {
        match self {
            Self::Paper(r) => r.sqrt_beta(evidence),
            Self::Additive(r) => r.sqrt_beta(evidence),
            Self::Determinant(r) => r.sqrt_beta(evidence),
            Self::PerArm(r) => r.sqrt_beta(evidence),
            Self::Mixture(r) => r.sqrt_beta(evidence),
            Self::TwoPoint(r) => r.sqrt_beta(evidence),
            Self::Forecast(r) => r.sqrt_beta(evidence),
            Self::Stitched(r) => r.sqrt_beta(evidence),
            Self::Union(r) => r.sqrt_beta(evidence),
            Self::Fixed(r) => r.sqrt_beta(evidence),
            Self::Bell(r) => r.sqrt_beta(evidence),
            Self::Likelihood(r) => r.sqrt_beta(evidence),
        }
    }

    #[inline]
    fn reach(&self, evidence: &Evidence) -> Reach {
        match self {
            Self::Mixture(r) => r.reach(evidence),
            Self::Bell(r) => r.reach(evidence),
            Self::Likelihood(r) => r.reach(evidence),
            Self::TwoPoint(r) => r.reach(evidence),
            Self::Forecast(r) => r.reach(evidence),
            Self::Stitched(r) => r.reach(evidence),
            Self::Union(r) => r.reach(evidence),
            Self::Additive(r) => r.reach(evidence),
            other => Reach::Ellipsoid { sqrt_beta: other.sqrt_beta(evidence) },
        }
    }

    fn pairs(&self, evidence: &Evidence) -> Option<PairRule> {
        match self {
            Self::TwoPoint(r) => r.pairs(evidence),
            Self::Forecast(r) => r.pairs(evidence),
            Self::Bell(r) => r.pairs(evidence),
            Self::Likelihood(r) => r.pairs(evidence),
            _ => None,
        }
    }

    fn range(&self) -> Option<(f64, f64)> {
        match self {
            Self::TwoPoint(r) => r.range(),
            Self::Forecast(r) => r.range(),
            _ => None,
        }
    }

    fn needs_forecasts(&self) -> bool {
        matches!(self, Self::Forecast(_))
    }

    fn rounding(&self, evidence: &Evidence, error: f64) -> f64 {
        match self {
            Self::Forecast(r) => r.rounding(evidence, error),
            _ => 0.0,
        }
    }

    fn moved(&self, evidence: &Evidence, error: f64) -> f64 {
        match self {
            Self::Bell(r) => r.moved(evidence, error),
            Self::Likelihood(r) => r.moved(evidence, error),
            _ => by_ridge(evidence, error),
        }
    }

    fn check(&self) -> Result<(), RadiusError> {
        match self {
            Self::Paper(r) => r.check(),
            Self::Additive(r) => r.check(),
            Self::Determinant(r) => r.check(),
            Self::PerArm(r) => r.check(),
            Self::Mixture(r) => r.check(),
            Self::TwoPoint(r) => r.check(),
            Self::Forecast(r) => r.check(),
            Self::Stitched(r) => r.check(),
            Self::Union(r) => r.check(),
            Self::Fixed(r) => r.check(),
            Self::Bell(r) => r.check(),
            Self::Likelihood(r) => r.check(),
        }
    }
}
