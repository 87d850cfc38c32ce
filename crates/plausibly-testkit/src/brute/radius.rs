//! The formulas of confidence radii.

use super::UNIT;

/// A confidence radius by its formula.
#[derive(Clone, Debug)]
pub enum BruteRadius {
    /// `R·√(d·log((1 + t·L²/λ)/δ)) + √λ·S`.
    Paper {
        /// δ.
        delta: f64,
        /// λ.
        lambda: f64,
        /// R.
        noise_scale: f64,
        /// S.
        theta_norm_bound: f64,
        /// L.
        action_norm_bound: f64,
    },
    /// `R·√(log(det V/λᵈ) + 2·log(1/δ)) + √λ·S`.
    Determinant {
        /// δ.
        delta: f64,
        /// R.
        noise_scale: f64,
        /// S.
        theta_norm_bound: f64,
    },
    /// `√(R²·(log(det V/λᵈ) + 2·log(1/δ)) + λ·S²)`.
    Additive {
        /// δ.
        delta: f64,
        /// R.
        noise_scale: f64,
        /// S.
        theta_norm_bound: f64,
    },
    /// `√β` itself.
    Fixed(f64),
    /// `σ·√(2·log(1/δ))`.
    PerArm {
        /// δ.
        delta: f64,
        /// σ.
        noise_scale: f64,
    },
    /// `σ·√((T+1)/T²·(log(T+1) + 2·log(K/δ)))` for an arm taken `T` times.
    Mixture {
        /// δ.
        delta: f64,
        /// σ.
        noise_scale: f64,
    },
    /// `1.7·σ·√((log log 2T + 0.72·log(10.4·K/δ))/T)`.
    Stitched {
        /// δ.
        delta: f64,
        /// σ.
        noise_scale: f64,
    },
    /// `σ·√(2·log(2·T·(T+1)·K/δ)/T)`.
    Union {
        /// δ.
        delta: f64,
        /// σ.
        noise_scale: f64,
    },
    /// `σ·√(2·log t)` in round `t`, as UCB1 has it.
    LogRound(f64),
}

/// What a radius depends on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Evidence {
    pub(super) observations: u64,
    pub(super) dim: usize,
    pub(super) ridge: f64,
    /// `log(det V/λᵈ)`; NaN without a ridge.
    pub(super) log_det: f64,
    pub(super) log_det_tolerance: f64,
    /// `Σy² − ⟨b, θ̂⟩`; NaN where arms have features of their own.
    pub(super) residual: f64,
}

/// How far intervals reach in one round.
#[derive(Clone, Debug)]
pub(super) struct Reach {
    kind: Kind,
    /// What rounding can change, as a share.
    pub(super) epsilon: f64,
}

#[derive(Clone, Debug)]
enum Kind {
    Ellipsoid { sqrt_beta: f64 },
    Arms { radius: BruteRadius, shares: f64 },
    Open,
}

impl BruteRadius {
    pub(super) fn reach(&self, evidence: &Evidence) -> Reach {
        // A few roundings of the formula itself; the logarithms are from different libraries.
        let mut epsilon = 64.0 * UNIT;
        let (t, d) = (evidence.observations as f64, evidence.dim as f64);
        if self.is_refuted(evidence) {
            return Reach { kind: Kind::Open, epsilon };
        }
        let sqrt_beta = match *self {
            Self::Paper { delta, lambda, noise_scale, theta_norm_bound, action_norm_bound } => {
                let growth = 1.0 + t * action_norm_bound.powi(2) / lambda;
                noise_scale * (d * (growth / delta).ln()).sqrt() + lambda.sqrt() * theta_norm_bound
            }
            Self::Determinant { delta, noise_scale, theta_norm_bound } => {
                let spread_sq = evidence.log_det - 2.0 * delta.ln();
                epsilon += evidence.log_det_tolerance / spread_sq;
                noise_scale * spread_sq.sqrt() + evidence.ridge.sqrt() * theta_norm_bound
            }
            Self::Additive { delta, noise_scale, theta_norm_bound } => {
                let spread_sq = evidence.log_det - 2.0 * delta.ln();
                epsilon += evidence.log_det_tolerance / spread_sq;
                let bias = evidence.ridge * theta_norm_bound.powi(2);
                (noise_scale.powi(2) * spread_sq + bias).sqrt()
            }
            Self::Fixed(sqrt_beta) => sqrt_beta,
            Self::PerArm { delta, noise_scale } => noise_scale * (-2.0 * delta.ln()).sqrt(),
            // In round 1 any positive number will do: every arm is untaken.
            Self::LogRound(noise_scale) => noise_scale * (2.0 * (t + 1.0).max(2.0).ln()).sqrt(),
            Self::Mixture { .. } | Self::Stitched { .. } | Self::Union { .. } => {
                return Reach { kind: Kind::Arms { radius: self.clone(), shares: d }, epsilon };
            }
        };
        Reach { kind: Kind::Ellipsoid { sqrt_beta }, epsilon }
    }
}

impl BruteRadius {
    /// Whether `(3/4)^(t/2)·exp((Σy² − ⟨b, θ̂⟩ − λS²)/8σ²)` has reached `10/δ`: noise of scale σ
    /// does that with a probability of at most δ/10.
    fn is_refuted(&self, evidence: &Evidence) -> bool {
        let (delta, noise_scale, bound) = match *self {
            Self::Additive { delta, noise_scale, theta_norm_bound } => {
                (delta, noise_scale, theta_norm_bound)
            }
            Self::Mixture { delta, noise_scale }
            | Self::Stitched { delta, noise_scale }
            | Self::Union { delta, noise_scale } => (delta, noise_scale, 0.0),
            _ => return false,
        };
        let excess = evidence.residual - evidence.ridge * bound.powi(2);
        let growth = 0.5 * evidence.observations as f64 * 0.75_f64.ln();
        growth + excess / (8.0 * noise_scale.powi(2)) >= (10.0 / delta).ln()
    }
}

impl Reach {
    /// Whether nothing is ruled out.
    pub(super) fn is_open(&self) -> bool {
        matches!(self.kind, Kind::Open)
    }

    /// Half the interval of an action of this squared width.
    pub(super) fn half(&self, width_sq: f64) -> f64 {
        if width_sq.is_infinite() {
            return f64::INFINITY;
        }
        let plays = 1.0 / width_sq;
        match &self.kind {
            Kind::Open => f64::INFINITY,
            Kind::Ellipsoid { sqrt_beta } => sqrt_beta * width_sq.sqrt(),
            Kind::Arms { radius, shares } => match radius {
                BruteRadius::Mixture { delta, noise_scale } => {
                    let logs = plays.ln_1p() + 2.0 * (shares / delta).ln();
                    noise_scale * ((plays + 1.0) / plays.powi(2) * logs).sqrt()
                }
                BruteRadius::Stitched { delta, noise_scale } => {
                    let logs = (2.0 * plays).ln().ln() + 0.72 * (10.4 * shares / delta).ln();
                    1.7 * noise_scale * (logs / plays).sqrt()
                }
                BruteRadius::Union { delta, noise_scale } => {
                    let logs = (2.0 * plays * (plays + 1.0) * shares / delta).ln();
                    noise_scale * (2.0 * logs / plays).sqrt()
                }
                other => unreachable!("{other:?} reaches by an ellipsoid"),
            },
        }
    }
}
