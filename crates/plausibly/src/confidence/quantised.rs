//! What rounding to the exact grid costs a radius.

use super::pairs::PairRule;
use super::radius::{ConfidenceRadius, RadiusError, check_bound};
use super::reach::Reach;
use crate::model::Evidence;

/// Half a step of the grid, 2⁻²⁵: the farthest a value is moved.
const HALF_STEP: f64 = 1.0 / (1_u64 << 25) as f64;

/// How far the noise of an observation with `dim` features is off after rounding, where `‖θ*‖` is
/// at most this: `h'` of [`Quantised`].
pub fn rounding_error(dim: usize, theta_norm_bound: f64) -> f64 {
    HALF_STEP * (1.0 + (dim as f64).sqrt() * theta_norm_bound)
}

/// A radius that also covers the rounding of features and rewards to the grid of a
/// [`Ledger`](crate::Ledger).
///
/// ```text
/// h'   = 2⁻²⁵·(1 + √d·S)
/// √β'_t = √β_t + h'·√t
/// ```
///
/// A radius that depends on rewards adds [what rounding does to
/// it](ConfidenceRadius::rounding) to `β_t`; of the radii here, only
/// [`Forecast`](super::Forecast) does. The set of [`Bell`](super::Bell) has another shape then, so
/// its models cover the rounding: they are made with [`rounding_error`].
///
/// # Guarantee
/// Wherever the inner radius holds for exact observations, with `‖θ*‖ ≤ S`, this one holds for
/// rounded ones. Rounding is a bounded *bias*: it depends on the data and does not average out, so
/// no larger noise scale stands for it.
///
/// The reward before rounding is `y = ⟨x, θ*⟩ + η`. What the ledger gets is `x' = x + u` and `y' =
/// y + v`, no entry of `u` and not `v` beyond `h = 2⁻²⁵` in magnitude. So
///
/// ```text
/// y' = ⟨x', θ*⟩ + η + e,     e = v − ⟨u, θ*⟩,     |e| ≤ h·(1 + ‖θ*‖₁) ≤ h·(1 + √d·S)
/// ```
///
/// With the rounded `X'` as rows and `V = λI + X'ᵀX'`, the estimate from rounded data is
///
/// ```text
/// θ̂ − θ* = V⁻¹·(X'ᵀη − λθ*) + V⁻¹·X'ᵀe
/// ```
///
/// whose first part is the deviation that the inner radius bounds: `x'` is as predictable as `x`,
/// and the noise is the same. The second has `‖V⁻¹X'ᵀe‖²_V = eᵀ·X'V⁻¹X'ᵀ·e ≤ ‖e‖²`, since the
/// eigenvalues of `X'(λI + X'ᵀX')⁻¹X'ᵀ` are `s²/(λ + s²) ≤ 1` for the singular values `s` of `X'`;
/// and `‖e‖ ≤ h·(1 + √d·S)·√t`. The triangle inequality adds the two. The bound is attained, up to
/// `λ`, by equal observations that all round the same way: a test does that.
///
/// Two conditions come with it. A bound on the norms of actions in the inner radius must hold for
/// rounded ones, which are longer by up to `h·√d`. And intervals are those of the rounded actions:
/// the mean `⟨a, θ*⟩` of `a` itself differs from that of [`quantise`](crate::quantise)d features by
/// up to `h·√d·S`.
///
/// The rounding of `f64` arithmetic after the ledger is not counted, here or in any radius of this
/// crate.
///
/// Around a radius for arms it adds `2⁻²⁵` to every interval: only rewards are rounded there, and a
/// mean by no more than one of them.
///
/// # Example
/// ```
/// use plausibly::{ConfidenceRadius, Determinant, Ledger, Observation, Quantised, Estimator};
/// let radius = Determinant { delta: 0.05, noise_scale: 0.1, theta_norm_bound: 1.0 };
/// let radius = Quantised { radius, theta_norm_bound: 1.0 }.checked()?;
/// let mut ledger = Ledger::new(1)?;
/// ledger.add(&Observation::new(&[0.3], 0.2)?)?;
/// assert!(radius.sqrt_beta(&ledger.ridge(1.0)?.evidence()) > 0.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Quantised<R> {
    /// The radius for observations that were not rounded.
    pub radius: R,
    /// S ≥ 0.
    pub theta_norm_bound: f64,
}

impl<R: ConfidenceRadius> Quantised<R> {
    /// Accepts a bound and an inner radius in their ranges.
    ///
    /// # Errors
    /// If the bound is not between 0 and 1e50, or a constant of the inner radius is out of range.
    pub fn checked(self) -> Result<Self, RadiusError> {
        self.check()?;
        Ok(self)
    }
}

impl<R: ConfidenceRadius> ConfidenceRadius for Quantised<R> {
    fn sqrt_beta(&self, evidence: &Evidence) -> f64 {
        if let Reach::Arms(_) | Reach::Bounded(_) = self.radius.reach(evidence) {
            return self.reach(evidence).half_width(1.0);
        }
        let bias = rounding_error(evidence.dim, self.theta_norm_bound);
        let mut sqrt_beta = self.radius.sqrt_beta(evidence);
        let more = self.radius.rounding(evidence, bias);
        if more > 0.0 {
            sqrt_beta = (sqrt_beta * sqrt_beta + more).sqrt();
        }
        sqrt_beta + self.radius.moved(evidence, bias)
    }

    fn reach(&self, evidence: &Evidence) -> Reach {
        match self.radius.reach(evidence) {
            // The mean of rounded rewards differs from that of exact ones by no more than one of
            // them does.
            Reach::Arms(arms) => Reach::Arms(arms.widened(HALF_STEP)),
            Reach::Bounded(arms) => Reach::Bounded(arms.widened(HALF_STEP)),
            Reach::Ellipsoid { .. } => Reach::Ellipsoid { sqrt_beta: self.sqrt_beta(evidence) },
            // A curved set covers the rounding of its rewards; rows on the grid are the features.
            own @ (Reach::Curved(_) | Reach::Open(_)) => own,
        }
    }

    fn pairs(&self, evidence: &Evidence) -> Option<PairRule> {
        self.radius.pairs(evidence).map(|rule| rule.widened(HALF_STEP))
    }

    fn range(&self) -> Option<(f64, f64)> {
        self.radius.range()
    }

    fn needs_forecasts(&self) -> bool {
        self.radius.needs_forecasts()
    }

    fn rounding(&self, evidence: &Evidence, error: f64) -> f64 {
        self.radius.rounding(evidence, error)
    }

    fn moved(&self, evidence: &Evidence, error: f64) -> f64 {
        self.radius.moved(evidence, error)
    }

    fn check(&self) -> Result<(), RadiusError> {
        check_bound("theta_norm_bound", self.theta_norm_bound)?;
        self.radius.check()
    }
}
