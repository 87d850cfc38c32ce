//! Exact sums over the settled decisions of a log, and over the settled and pending ones. They are
//! integers, so any order of the same changes gives the same bits and a change can be undone
//! exactly.

use crate::certificate::Sums;
use crate::journal::LineHash;
use plausibly::{Ledger, LedgerError, Observation, ObservationError};
use thiserror::Error;

/// Steps of the reward grid in one unit: 2²⁴.
const STEPS: f64 = (1_u64 << 24) as f64;

/// Why statistics refused a change; they are unchanged.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum StatisticsError {
    /// Sums that overflow, or that do not contain the observation to take back.
    #[error(transparent)]
    Ledger(#[from] LedgerError),
    /// Values that are not on the grid.
    #[error(transparent)]
    Observation(#[from] ObservationError),
    /// An arm without the play to take back.
    #[error("action {arm} has no such play to take back")]
    NoSuchPlay {
        /// The action.
        arm: usize,
    },
}

/// Exact sums over the settled decisions of a log, and over the settled and pending ones.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::large_enum_variant, reason = "a log has one of them")]
pub enum Statistics {
    /// Sums of features.
    Features {
        /// Over the settled decisions.
        settled: Ledger,
        /// Over the settled and pending decisions; its rewards are all zero.
        all: Ledger,
    },
    /// Counts and totals of plain arms, by action.
    Arms(Vec<Arm>),
}

/// The sums of one arm.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Arm {
    /// The number of rewards.
    pub settled: u64,
    /// Their sum, in steps of 2⁻²⁴.
    pub total: i128,
    /// The sum of their squares, in steps of 2⁻⁴⁸.
    pub squares: i128,
    /// The number of pending decisions.
    pub pending: u64,
}

/// A change of the statistics.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Change {
    /// An action was taken.
    Taken,
    /// A pending decision was dropped: it will never be settled.
    Dropped,
    /// The reward of a decision came.
    Settled(f64),
    /// The reward of a decision was taken back.
    Unsettled(f64),
}

impl Statistics {
    /// Empty statistics; `dim` is zero for arms.
    pub(crate) fn new(dim: usize) -> Result<Self, LedgerError> {
        if dim == 0 {
            return Ok(Self::Arms(Vec::new()));
        }
        let empty = Ledger::new(dim)?;
        Ok(Self::Features { settled: empty.clone(), all: empty })
    }

    /// Adds features, which are zero in every earlier observation.
    pub(crate) fn widen(&mut self, dim: usize) -> Result<(), LedgerError> {
        if let Self::Features { settled, all } = self {
            (*settled, *all) = (settled.widened(dim)?, all.widened(dim)?);
        }
        Ok(())
    }

    /// Adds an arm.
    pub(crate) fn add_arm(&mut self) {
        if let Self::Arms(arms) = self {
            arms.push(Arm::default());
        }
    }

    /// Applies a change to a decision for `action` with these features. Changes nothing on an
    /// error.
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
                    settled.retract(&Observation::new(features, reward)?)?;
                }
            },
            Self::Arms(arms) => arms[action].apply(action, change)?,
        }
        Ok(())
    }

    /// The number of settled decisions.
    pub fn observations(&self) -> u64 {
        match self {
            Self::Features { settled, .. } => settled.observations(),
            Self::Arms(arms) => arms.iter().map(|arm| arm.settled).sum(),
        }
    }

    /// The number of pending decisions.
    pub fn pending(&self) -> u64 {
        match self {
            Self::Features { settled, all } => all.observations() - settled.observations(),
            Self::Arms(arms) => arms.iter().map(|arm| arm.pending).sum(),
        }
    }

    /// SHA-256 of all sums that a log of this format has, in hexadecimal. Equal statistics have
    /// equal digests.
    pub(crate) fn digest(&self, format: u32) -> String {
        let bytes: Vec<u8> = match self {
            Self::Features { settled, all } => [settled.to_bytes(), all.to_bytes()].concat(),
            Self::Arms(arms) => arms.iter().flat_map(|arm| arm.bytes(format)).collect(),
        };
        LineHash::of(&bytes).to_string()
    }

    /// The sums that a model of the settled decisions is made from. For arms, only of these
    /// actions.
    pub(crate) fn settled(&self, actions: &[usize], ridge: f64) -> Sums {
        match self {
            Self::Features { settled, .. } => features_sums(settled, ridge),
            Self::Arms(arms) => arms_sums(arms, actions, self.observations(), |arm| arm.settled),
        }
    }

    /// Like [`Statistics::settled`] with pending decisions counted; `None` if there are none.
    pub(crate) fn all(&self, actions: &[usize], ridge: f64) -> Option<Sums> {
        if self.pending() == 0 {
            return None;
        }
        Some(match self {
            Self::Features { settled, all } => {
                // Pending decisions have no rewards.
                let Sums { moment, squares, .. } = features_sums(settled, ridge);
                Sums { moment, squares, ..features_sums(all, ridge) }
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
    Sums {
        observations: ledger.observations(),
        gram,
        moment: ledger.moment(),
        plays: Vec::new(),
        squares: vec![ledger.reward_squares()],
    }
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
        squares: listed().map(|arm| arm.squares as f64 / (STEPS * STEPS)).collect(),
    }
}

impl Arm {
    /// Applies a change to a decision for this arm, which has the number `own`.
    pub(crate) fn apply(&mut self, own: usize, change: Change) -> Result<(), StatisticsError> {
        let missing = StatisticsError::NoSuchPlay { arm: own };
        match change {
            Change::Taken => self.pending += 1,
            Change::Dropped => self.pending = self.pending.checked_sub(1).ok_or(missing)?,
            Change::Settled(reward) => {
                let steps = steps(reward)?;
                self.pending = self.pending.checked_sub(1).ok_or(missing)?;
                self.settled += 1;
                self.total += steps;
                self.squares += steps * steps;
            }
            Change::Unsettled(reward) => {
                let steps = steps(reward)?;
                self.settled = self.settled.checked_sub(1).ok_or(missing)?;
                self.pending += 1;
                self.total -= steps;
                self.squares -= steps * steps;
            }
        }
        Ok(())
    }

    fn bytes(&self, format: u32) -> impl Iterator<Item = u8> {
        let Self { settled, total, squares, pending } = self;
        let settled = settled.to_le_bytes().into_iter();
        // The first format has no squares.
        let squares = (format >= 2).then(|| squares.to_le_bytes());
        settled
            .chain(total.to_le_bytes())
            .chain(pending.to_le_bytes())
            .chain(squares.into_iter().flatten())
    }

    /// The number of decisions for it that were not dropped.
    pub(crate) fn taken(&self) -> u64 {
        self.settled + self.pending
    }

    /// The sum of its rewards, rounded to the nearest double.
    pub fn paid(&self) -> f64 {
        self.total as f64 / STEPS
    }
}

fn steps(reward: f64) -> Result<i128, ObservationError> {
    Ok(Observation::new(&[], reward)?.outcomes().sum())
}
