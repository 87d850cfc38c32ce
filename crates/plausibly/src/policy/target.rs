//! How well CODE must know the plausible actions before it stops exploring.

use super::PolicyError;
use crate::model::Evidence;

/// What CODE explores for; where it is reached, CODE stops exploring.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Target {
    /// No plausible action's squared width above `κ·d/t`: what an optimal design over all actions
    /// would reach at `κ = 1`.
    Kappa(f64),
    /// No plausible action with an interval longer than `2ε`. Its middle is then within `±ε` of the
    /// truth, and so is an estimate that lies there. Estimates of [`Glm`](crate::Glm) and those
    /// under [`TwoPoint`](crate::TwoPoint) lie elsewhere and can be off by up to `2ε`.
    Accuracy(f64),
    /// Every plausible action known to within `±ε` when the decision of a round is taken.
    Deadline {
        /// ε.
        accuracy: f64,
        /// That round, from 1.
        by_round: u64,
    },
}

/// The status of a target in a round.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TargetStatus {
    /// What was asked for: a squared width for [`Target::Kappa`], half an interval for the others.
    pub wanted: f64,
    /// The largest of these among the plausible actions; infinite while one of them was never
    /// taken.
    pub reached: f64,
}

impl TargetStatus {
    /// Whether it is met.
    pub fn met(&self) -> bool {
        self.reached <= self.wanted
    }
}

impl Target {
    pub(super) fn checked(self) -> Result<Self, PolicyError> {
        let value = match self {
            Self::Kappa(value) | Self::Accuracy(value) => value,
            Self::Deadline { by_round: 0, .. } => 0.0,
            Self::Deadline { accuracy, .. } => accuracy,
        };
        if value > 0.0 && value <= 1e50 { Ok(self) } else { Err(PolicyError::Target { value }) }
    }

    /// The status if the widest plausible action has this squared width and this half-width,
    /// before the round that follows this evidence.
    pub fn status(self, widest_sq: f64, half_width: f64, evidence: &Evidence) -> TargetStatus {
        match self {
            Self::Kappa(kappa) => TargetStatus {
                wanted: kappa * evidence.dim as f64 / (evidence.observations + 1) as f64,
                reached: widest_sq,
            },
            Self::Accuracy(accuracy) | Self::Deadline { accuracy, .. } => {
                TargetStatus { wanted: accuracy, reached: half_width }
            }
        }
    }
}
