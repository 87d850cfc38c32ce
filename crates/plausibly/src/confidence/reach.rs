//! How far intervals reach at one moment, or why nothing is ruled out.

use super::arms::ArmReach;
use super::curved::Curved;
use super::two_point::Bounded;
use crate::model::Evidence;
use std::fmt;

/// How far intervals reach at one moment.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Reach {
    /// An ellipsoid around the estimate: `√β·√width_sq`.
    Ellipsoid {
        /// `√β`.
        sqrt_beta: f64,
    },
    /// A box, each side by how often its arm was taken.
    Arms(ArmReach),
    /// A box, each side by the plays, the sum and the sum of squares of its arm.
    Bounded(Bounded),
    /// An ellipsoid on another scale than that of rewards.
    Curved(Curved),
    /// Everywhere: nothing is ruled out.
    Open(Doubt),
}

/// Why nothing is ruled out.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Doubt {
    /// There are too few rewards for any interval.
    TooFew,
    /// Rewards scatter more than the declared scale of the noise allows.
    Noise {
        /// The scale declared.
        declared: f64,
        /// A scale that fits the rewards so far.
        suggested: f64,
    },
    /// Counts scatter more than Poisson counts of the same mean.
    Scatter {
        /// About how many times as much.
        times: f64,
    },
    /// Rewards have had fewer than five distinct values, so they scatter like no bell curve.
    FewValues,
    /// The noise differs by action, so that only pairs of actions are judged.
    OwnScales,
    /// Features differ so much in size that a set cannot be computed.
    Precision,
    /// No parameter agrees with the rewards: an assumption of the set fails.
    Refuted,
}

impl fmt::Display for Doubt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooFew => write!(f, "there are too few rewards for intervals"),
            Self::Noise { declared, suggested } => write!(
                f,
                "rewards scatter more than a noise scale of {declared} allows; about {} would \
                 fit them",
                two_digits(*suggested)
            ),
            Self::Scatter { times } => write!(
                f,
                "counts scatter about {} times as much as Poisson counts of the same mean, and \
                 the intervals allow once; use a linear model with a noise scale",
                two_digits(*times)
            ),
            Self::FewValues => write!(
                f,
                "rewards have had fewer than five values, so their noise is no bell curve"
            ),
            Self::OwnScales => write!(
                f,
                "the noise differs by action, so intervals are open and only pairs are judged"
            ),
            Self::Precision => write!(
                f,
                "features differ so much in size that intervals cannot be computed; bring them \
                 to about the same size"
            ),
            Self::Refuted => write!(
                f,
                "no parameter agrees with the rewards, so an assumption of the intervals is wrong"
            ),
        }
    }
}

/// Rounded to two significant digits.
fn two_digits(value: f64) -> f64 {
    // Scientific notation has the digits that are asked for, whatever the size.
    format!("{value:.1e}").parse().unwrap_or(value)
}

impl Reach {
    /// `√β` of an ellipsoid, on whatever scale.
    ///
    /// # Panics
    /// If it is a reach for arms: no model of features has one.
    pub(crate) fn ellipsoid(self) -> f64 {
        match self {
            Self::Ellipsoid { sqrt_beta } => sqrt_beta,
            Self::Curved(curved) => curved.radius,
            Self::Open(_) => f64::INFINITY,
            Self::Arms(_) | Self::Bounded(_) => {
                panic!("a radius for arms was asked about a model of features")
            }
        }
    }

    /// Half the interval of an action of this squared width, on the scale on which the model is
    /// linear. That of a bounded arm depends on more than the width, so it is half the range of
    /// rewards here, which always holds.
    pub fn half_width(&self, width_sq: f64) -> f64 {
        match self {
            Self::Ellipsoid { sqrt_beta } => sqrt_beta * width_sq.sqrt(),
            Self::Curved(curved) => curved.radius * width_sq.sqrt(),
            Self::Arms(arms) => arms.half_width(width_sq),
            Self::Bounded(bounded) => 0.5 * bounded.range(),
            Self::Open(_) => f64::INFINITY,
        }
    }

    /// Whether pairs of actions may be judged: always, unless an assumption is in doubt.
    pub fn judges_pairs(&self) -> bool {
        matches!(self.doubt(), None | Some(Doubt::TooFew | Doubt::OwnScales))
    }

    /// Why nothing is ruled out; `None` where something may be.
    pub fn doubt(&self) -> Option<Doubt> {
        if let Self::Open(doubt) = self { Some(*doubt) } else { None }
    }
}

/// `s` in `exp(s·η²/2σ²)`: smaller values notice small excesses, larger ones notice large excesses
/// sooner. This one notices a scale that is 8 % too small in the long run.
const SHARE: f64 = 0.25;
/// `−log(1 − s)`.
const SHARE_COST: f64 = 0.287_682_072_451_780_9;
/// The alarm has this share of δ, so that it is rare where the scale is right.
pub(super) const ALARM_SHARE: f64 = 0.1;

/// Doubts about this scale of the noise, if the rewards contradict it.
///
/// For σ-sub-Gaussian noise `E exp(s·η²/2σ²) ≤ (1−s)^(−1/2)`, so `(1−s)^(n/2)·exp(s·Ση²/2σ²)` is a
/// supermartingale. The squared residuals of the true parameter are `Ση² ≥ Σy² − ⟨b, θ̂⟩ − λS²`. By
/// Ville's inequality the alarm is false with probability at most `δ/10`, over all times together.
pub(super) fn noise_doubt(
    evidence: &Evidence,
    (noise_scale, theta_norm_bound): (f64, f64),
    delta: f64,
) -> Option<Doubt> {
    let squares = evidence.squares?;
    let bias = (evidence.ridge + evidence.floor) * theta_norm_bound * theta_norm_bound;
    let observations = evidence.observations as f64;
    let excess = squares.residual() - bias;
    let twice = SHARE * excess / (noise_scale * noise_scale) - observations * SHARE_COST;
    // The logarithm of a δ in (0, 1) is negative, so most decisions need none.
    if twice <= 0.0 || twice < -2.0 * libm::log(ALARM_SHARE * delta) {
        return None;
    }
    let freedom = (observations - evidence.dim as f64).max(1.0);
    let suggested = (squares.residual() / freedom).sqrt();
    Some(Doubt::Noise { declared: noise_scale, suggested })
}
