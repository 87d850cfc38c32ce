//! Radii for K-armed problems that hold at any time.

use super::radius::{ConfidenceRadius, RadiusError, check_arms};
use super::reach::{Reach, noise_doubt};
use crate::model::Evidence;

/// How far the interval of an arm reaches after `T` plays, by one of three boundaries for sums of
/// sub-Gaussian noise.
///
/// All hold for every arm and every `T ≥ 1` at once with probability at least `1 − δ`, whatever
/// decides which arm is taken and when to stop: each is a boundary for one arm at `δ/K` that holds
/// uniformly over `T`, and a union over the arms.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ArmReach {
    boundary: Boundary,
    noise_scale: f64,
    /// `log(K/δ)`.
    log_inverse: f64,
    /// What is added to every interval, on both sides.
    allowance: f64,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Boundary {
    Mixture,
    Stitched,
    Union,
}

impl ArmReach {
    fn new(boundary: Boundary, noise_scale: f64, delta: f64, evidence: &Evidence) -> Self {
        let log_inverse = libm::log(evidence.shares as f64) - libm::log(delta);
        Self { boundary, noise_scale, log_inverse, allowance: 0.0 }
    }

    /// Half the interval of an arm with `width_sq = 1/T`; infinite for an arm never taken.
    pub fn half_width(&self, width_sq: f64) -> f64 {
        if width_sq.is_infinite() {
            return f64::INFINITY;
        }
        let plays = 1.0 / width_sq;
        let squared = match self.boundary {
            Boundary::Mixture => {
                (plays + 1.0) / plays * (libm::log1p(plays) + 2.0 * self.log_inverse)
            }
            Boundary::Stitched => {
                let log_log = libm::log(libm::log(2.0 * plays));
                2.89 * (log_log + 0.72 * (libm::log(10.4) + self.log_inverse))
            }
            Boundary::Union => 2.0 * (libm::log(2.0 * plays * (plays + 1.0)) + self.log_inverse),
        };
        self.noise_scale * (squared * width_sq).sqrt() + self.allowance
    }

    /// The same with so much added on both sides of every interval.
    pub(super) fn widened(self, allowance: f64) -> Self {
        Self { allowance: self.allowance + allowance, ..self }
    }
}

/// The normal mixture for K arms: the default.
///
/// ```text
/// half-width(a) = σ·√((T+1)/T² · (log(T+1) + 2·log(K/δ)))          T = plays of a
/// ```
///
/// # Guarantee
/// With σ-sub-Gaussian noise the means of all arms are inside their intervals at all times at once
/// with probability at least `1 − δ`, under any choice of arms. Ville's inequality for the mixture
/// of `exp(η·S_T − η²σ²T/2)` over `η ~ N(0, 1/σ²)`.
///
/// # What you must know
/// A bound σ on the scale of the noise: its standard deviation if it is Gaussian; half the range if
/// rewards are bounded, which is always safe for them.
///
/// # Reference
/// Robbins (1970); Howard, Ramdas, McAuliffe, Sekhon: Time-uniform, nonparametric, nonasymptotic
/// confidence sequences (2021), \[HRMS21\].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mixture {
    /// δ in (0, 1).
    pub delta: f64,
    /// σ > 0.
    pub noise_scale: f64,
}

/// The stitched boundary for K arms: asymptotically the tightest, by the law of the iterated
/// logarithm.
///
/// ```text
/// half-width(a) = 1.7·σ·√((log log 2T + 0.72·log(10.4·K/δ))/T)
/// ```
///
/// # Guarantee
/// As [`Mixture`]; equation 2 of \[HRMS21\]. Narrower than the mixture in the first few plays,
/// wider from then on until some 10⁵.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stitched {
    /// δ in (0, 1).
    pub delta: f64,
    /// σ > 0.
    pub noise_scale: f64,
}

/// The union bound over counts for K arms: the one that needs no theory of martingales.
///
/// ```text
/// half-width(a) = σ·√(2·log(2·T·(T+1)·K/δ)/T)
/// ```
///
/// # Guarantee
/// As [`Mixture`]: two sides, and `Σ 1/(T(T+1)) = 1` over the counts. Narrower than the mixture in
/// the first few plays, wider from then on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Union {
    /// δ in (0, 1).
    pub delta: f64,
    /// σ > 0.
    pub noise_scale: f64,
}

macro_rules! arm_radius {
    ($($radius:ident),*) => {$(
        impl $radius {
            fn arm_reach(&self, evidence: &Evidence) -> ArmReach {
                ArmReach::new(Boundary::$radius, self.noise_scale, self.delta, evidence)
            }
        }

        impl ConfidenceRadius for $radius {
            /// That of an arm taken once.
            fn sqrt_beta(&self, evidence: &Evidence) -> f64 {
                self.arm_reach(evidence).half_width(1.0)
            }

            fn reach(&self, evidence: &Evidence) -> Reach {
                let doubt = noise_doubt(evidence, (self.noise_scale, 0.0), self.delta);
                doubt.map_or_else(|| Reach::Arms(self.arm_reach(evidence)), Reach::Open)
            }

            fn check(&self) -> Result<(), RadiusError> {
                check_arms(self.delta, self.noise_scale)
            }
        }
    )*};
}

arm_radius!(Mixture, Stitched, Union);
