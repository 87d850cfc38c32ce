//! What a log knows in numbers: exact sums over settled decisions, and over all of them.

use crate::certificate::Sums;
use plausibly::{Ledger, LedgerError, Observation, ObservationError};
use sha2::{Digest, Sha256};
use thiserror::Error;

/// Steps of the reward grid in one unit: 2²⁴.
const STEPS: f64 = (1_u64 << 24) as f64;

/// Why statistics refused a change; they are as before.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum StatisticsError {
    /// Sums that do not fit, or do not hold what is taken back.
    #[error(transparent)]
    Ledger(#[from] LedgerError),
    /// Values that are not on the grid.
    #[error(transparent)]
    Observation(#[from] ObservationError),
    /// An arm whose sums do not hold what is taken back.
    #[error("action {arm} has no such play to take back")]
    NoSuchPlay {
        /// The action.
        arm: usize,
    },
}

/// Exact sums of all decisions of a log that are settled, and of all that are settled or pending.
/// Any order of the same changes gives the same bits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Statistics {
    /// Of actions with features.
    Features {
        /// Over decisions whose rewards have come.
        settled: Ledger,
        /// Over those and the pending ones; its rewards are all zero.
        all: Ledger,
    },
    /// Of plain arms, by action.
    Arms(Vec<Arm>),
}

/// What is known of one arm.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Arm {
    /// Rewards that have come.
    pub settled: u64,
    /// Their sum, in steps of 2⁻²⁴.
    pub total: i128,
    /// Decisions whose rewards are outstanding.
    pub pending: u64,
}

/// A change of the statistics.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Change {
    /// An action was taken.
    Taken,
    /// A decision that was pending is no longer: it never will be settled.
    Dropped,
    /// Its reward came.
    Settled(f64),
    /// Its reward was taken back.
    Unsettled(f64),
}

impl Statistics {
    /// Nothing known; for arms, `dim` is zero.
    pub(crate) fn new(dim: usize) -> Result<Self, LedgerError> {
        if dim == 0 {
            return Ok(Self::Arms(Vec::new()));
        }
        let empty = Ledger::new(dim)?;
        Ok(Self::Features { settled: empty.clone(), all: empty })
    }

    /// With more features, zero in everything so far.
    pub(crate) fn widen(&mut self, dim: usize) -> Result<(), LedgerError> {
        if let Self::Features { settled, all } = self {
            (*settled, *all) = (settled.widened(dim)?, all.widened(dim)?);
        }
        Ok(())
    }

    /// Room for one more arm.
    pub(crate) fn add_arm(&mut self) {
        if let Self::Arms(arms) = self {
            arms.push(Arm::default());
        }
    }

    /// One change to a decision for `action` with these features; nothing is changed on an error.
    pub(crate) fn apply(
        &mut self,
        action: usize,
        features: &[f64],
        change: Change,
    ) -> Result<(), StatisticsError> {
        match self {
            Self::Features { settled, all } => match change {
                Change::Taken => all.add(&Observation::new(features, 0.0)?)?,
                Change::Dropped => all.retract(&Observation::new(features, 0.0)?)?,
                Change::Settled(reward) => settled.add(&Observation::new(features, reward)?)?,
                Change::Unsettled(reward) => {
                    settled.retract(&Observation::new(features, reward)?)?
                }
            },
            Self::Arms(arms) => {
                let arm = &mut arms[action];
                let missing = StatisticsError::NoSuchPlay { arm: action };
                match change {
                    Change::Taken => arm.pending += 1,
                    Change::Dropped => arm.pending = arm.pending.checked_sub(1).ok_or(missing)?,
                    Change::Settled(reward) => {
                        let steps = steps(reward)?;
                        arm.pending = arm.pending.checked_sub(1).ok_or(missing)?;
                        arm.settled += 1;
                        arm.total += steps;
                    }
                    Change::Unsettled(reward) => {
                        let steps = steps(reward)?;
                        arm.settled = arm.settled.checked_sub(1).ok_or(missing)?;
                        arm.pending += 1;
                        arm.total -= steps;
                    }
                }
            }
        }
        Ok(())
    }

    /// Decisions that are settled.
    pub fn observations(&self) -> u64 {
        match self {
            Self::Features { settled, .. } => settled.observations(),
            Self::Arms(arms) => arms.iter().map(|arm| arm.settled).sum(),
        }
    }

    /// Decisions that are pending.
    pub fn pending(&self) -> u64 {
        match self {
            Self::Features { settled, all } => all.observations() - settled.observations(),
            Self::Arms(arms) => arms.iter().map(|arm| arm.pending).sum(),
        }
    }

    /// SHA-256 of all sums, in hexadecimal: equal statistics, equal digests.
    pub fn digest(&self) -> String {
        let mut hash = Sha256::new();
        match self {
            Self::Features { settled, all } => {
                hash.update(settled.to_bytes());
                hash.update(all.to_bytes());
            }
            Self::Arms(arms) => {
                for arm in arms {
                    hash.update(arm.settled.to_le_bytes());
                    hash.update(arm.total.to_le_bytes());
                    hash.update(arm.pending.to_le_bytes());
                }
            }
        }
        hex(&hash.finalize())
    }

    /// The sums a model of settled decisions is made from; for arms, of these actions alone.
    pub(crate) fn settled(&self, actions: &[usize], ridge: f64) -> Sums {
        match self {
            Self::Features { settled, .. } => features_sums(settled, ridge),
            Self::Arms(arms) => arms_sums(arms, actions, self.observations(), |arm| arm.settled),
        }
    }

    /// The same with pending decisions counted, if there are any.
    pub(crate) fn all(&self, actions: &[usize], ridge: f64) -> Option<Sums> {
        if self.pending() == 0 {
            return None;
        }
        Some(match self {
            Self::Features { settled, all } => {
                Sums { moment: settled.moment(), ..features_sums(all, ridge) }
            }
            Self::Arms(arms) => {
                let counted = self.observations() + self.pending();
                arms_sums(arms, actions, counted, Arm::taken)
            }
        })
    }
}

fn features_sums(ledger: &Ledger, ridge: f64) -> Sums {
    let dim = ledger.dim();
    let mut gram: Vec<Vec<f64>> = ledger.gram().chunks(dim).map(<[f64]>::to_vec).collect();
    for (i, row) in gram.iter_mut().enumerate() {
        row[i] += ridge;
    }
    Sums { observations: ledger.observations(), gram, moment: ledger.moment(), plays: Vec::new() }
}

fn arms_sums(
    arms: &[Arm],
    actions: &[usize],
    observations: u64,
    count: impl Fn(&Arm) -> u64,
) -> Sums {
    let listed = || actions.iter().map(|action| arms[*action]);
    Sums {
        observations,
        gram: Vec::new(),
        moment: listed().map(|arm| arm.paid()).collect(),
        plays: listed().map(|arm| count(&arm)).collect(),
    }
}

impl Arm {
    /// Decisions for it that were not dropped.
    pub(crate) fn taken(&self) -> u64 {
        self.settled + self.pending
    }

    /// The sum of its rewards, as the double nearest to it.
    pub fn paid(&self) -> f64 {
        self.total as f64 / STEPS
    }
}

fn steps(reward: f64) -> Result<i128, ObservationError> {
    Ok(i128::from(Observation::new(&[], reward)?.steps()[0]))
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write;
    bytes.iter().fold(String::with_capacity(2 * bytes.len()), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}
