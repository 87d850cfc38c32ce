//! A set whose size is measured by forecasts instead of assumed.

use super::pairs::PairRule;
use super::radius::{ConfidenceRadius, RadiusError, check_bound, check_delta, check_positive};
use super::reach::{Doubt, Reach, noise_doubt};
use super::two_point::check_range;
use crate::model::Evidence;

/// The forecast set with its net: for rewards in a range, with forecasts that were fixed before
/// their rewards were seen.
///
/// ```text
/// D  = Σ ŷ·(ŷ − 2y)          D' = −⟨b, θ̂⟩ + R²·log(det V/λᵈ)
/// β  = ⟨b, θ̂⟩ + 2R²·log(1/δ) + λS² − 2R²·log(0.9·exp(−D/2R²) + 0.1·exp(−D'/2R²))
/// ```
///
/// `D + Σ y²` is the sum of squared forecast errors. If forecasts are good the noise must be small,
/// and `θ*` explains the rewards about as well: the squared errors take the place of the noise that
/// [`Additive`](super::Additive) assumes. `D'` is the net: one tenth of the evidence goes to the
/// mixture of the additive radius, so `β ≤ R²·(log(det V/λᵈ) + 2·log(10/δ)) + λS²` however bad the
/// forecasts are.
///
/// With `pairs`, half of δ goes to verdicts between pairs of actions ([`PairRule`]); the model must
/// keep what each action has paid ([`Tabled`](crate::Tabled)).
///
/// # Guarantee
/// With `‖θ*‖ ≤ S` and conditionally `R`-sub-Gaussian noise, `θ*` stays in the set for all `t` at
/// once with probability at least `1 − δ`, however actions and forecasts were chosen. Proof in
/// `docs/concepts/validity.md`.
///
/// # What you must know
/// S, and the range of rewards; R is half its length unless you know less. Policies refuse a reward
/// without a forecast: [`Forecasting`](crate::Forecasting) makes forecasts. For a model that was
/// given no forecasts the net alone holds. `λ = 1/(10·S²)` is what specs use.
///
/// # Panics
/// In `sqrt_beta`, for an estimator without a ridge.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Forecast {
    /// δ in (0, 1).
    pub delta: f64,
    /// R > 0.
    pub noise_scale: f64,
    /// S ≥ 0.
    pub theta_norm_bound: f64,
    /// The least reward.
    pub low: f64,
    /// The largest reward.
    pub high: f64,
    /// Whether half of δ goes to verdicts between pairs.
    pub pairs: bool,
}

/// The share of the evidence that forecasts have; the net has the rest.
const FORECAST_SHARE: f64 = 0.9;

impl Forecast {
    /// δ of the ellipsoid, or of the pairs.
    fn share(&self) -> f64 {
        if self.pairs { 0.5 * self.delta } else { self.delta }
    }

    /// β; negative if no parameter agrees with the rewards.
    fn beta(&self, evidence: &Evidence) -> f64 {
        let log_det = evidence.log_det_ratio();
        assert!(
            log_det.is_finite(),
            "the forecast radius needs a ridge estimator with a positive ridge"
        );
        let unit = 2.0 * self.noise_scale * self.noise_scale;
        let bias =
            (evidence.ridge + evidence.floor) * self.theta_norm_bound * self.theta_norm_bound;
        // Rounding alone can make a log-determinant negative.
        let spread = 0.5 * unit * log_det.max(0.0);
        let Some((explained, forecasts)) =
            evidence.squares.and_then(|squares| Some((squares.explained, squares.forecasts?)))
        else {
            return bias + spread - unit * libm::log((1.0 - FORECAST_SHARE) * self.share());
        };
        let net = spread - explained;
        // Weights relative to the larger of the two, so that neither overflows.
        let (least, weight) = if forecasts <= net {
            let other = libm::exp((forecasts - net) / unit);
            (forecasts, FORECAST_SHARE + (1.0 - FORECAST_SHARE) * other)
        } else {
            let other = libm::exp((net - forecasts) / unit);
            (net, FORECAST_SHARE * other + (1.0 - FORECAST_SHARE))
        };
        bias + explained + least - unit * libm::log(weight * self.share())
    }
}

impl ConfidenceRadius for Forecast {
    fn sqrt_beta(&self, evidence: &Evidence) -> f64 {
        self.beta(evidence).max(0.0).sqrt()
    }

    fn reach(&self, evidence: &Evidence) -> Reach {
        let declared = (self.noise_scale, self.theta_norm_bound);
        if let Some(doubt) = noise_doubt(evidence, declared, self.delta) {
            return Reach::Open(doubt);
        }
        let beta = self.beta(evidence);
        // Of probability below δ: to call all but the leader ruled out would be the worst answer.
        if beta > 0.0 {
            Reach::Ellipsoid { sqrt_beta: beta.sqrt() }
        } else {
            Reach::Open(Doubt::Refuted)
        }
    }

    fn pairs(&self, evidence: &Evidence) -> Option<PairRule> {
        let range = (self.low, self.high);
        self.pairs.then(|| PairRule::without_intervals(evidence, self.share(), range))
    }

    fn range(&self) -> Option<(f64, f64)> {
        Some((self.low, self.high))
    }

    fn needs_forecasts(&self) -> bool {
        true
    }

    /// With `h` the error and `|y|, |ŷ| ≤ Y`: `D` moves by up to `2Yh` a reward. `⟨b, θ̂⟩ =
    /// yᵀ(XV⁻¹Xᵀ)y` moves by up to `(2Yh + h²)` a reward, because no eigenvalue of that matrix is
    /// above 1. The logarithm of the two weights moves by no more than the larger of `D` and `D'`.
    fn rounding(&self, evidence: &Evidence, error: f64) -> f64 {
        let largest = self.low.abs().max(self.high.abs());
        2.0 * (2.0 * largest * error + error * error) * evidence.observations as f64
    }

    fn check(&self) -> Result<(), RadiusError> {
        check_delta(self.delta)?;
        check_positive("noise_scale", self.noise_scale)?;
        check_bound("theta_norm_bound", self.theta_norm_bound)?;
        check_range(self.low, self.high)
    }
}
