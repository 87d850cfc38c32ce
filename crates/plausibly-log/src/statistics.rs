//! Exact sums over the settled decisions of a log, and over the settled and pending ones. They are
//! integers, so any order of the same changes gives the same bits and a change can be undone
//! exactly.

use crate::certificate::{Earned, ForecastGrounds, Sums};
use crate::journal::LineHash;
use plausibly::{
    Forecasts, Ledger, LedgerError, Observation, ObservationError, RowSumsError, Tally, TallyError,
};
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
    /// Counts that sums have no room for.
    #[error(transparent)]
    Tally(#[from] TallyError),
    /// Rewards that the sums of a row have no room for.
    #[error(transparent)]
    Rows(#[from] RowSumsError),
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
        /// What each action has paid, by action, if the log keeps that.
        earned: Option<Vec<Arm>>,
    },
    /// Counts and totals of plain arms, by action.
    Arms(Vec<Arm>),
}

/// The sums of one arm.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Arm {
    /// Its outcomes.
    pub earned: Tally,
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
    /// The outcomes of a decision came.
    Settled(Settlement),
    /// The outcomes of a decision were taken back.
    Unsettled(Settlement),
}

impl Change {
    /// What takes it back.
    pub(crate) fn undone(self) -> Self {
        match self {
            Self::Taken => Self::Dropped,
            Self::Dropped => Self::Taken,
            Self::Settled(came) => Self::Unsettled(came),
            Self::Unsettled(gone) => Self::Settled(gone),
        }
    }
}

/// The outcomes of a decision on the scale of the statistics, with the forecasts it has.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Settlement {
    pub(crate) outcomes: Tally,
    /// The same outcomes as shares of their range, which generalised linear models are made from.
    pub(crate) shares: Tally,
    pub(crate) forecasts: Option<Forecasts>,
}

impl Settlement {
    fn observed(&self, features: &[f64]) -> Result<Observation, ObservationError> {
        let observed = Observation::counted(features, self.outcomes)?;
        Ok(match self.forecasts {
            Some(forecasts) => observed.with_forecasts(forecasts),
            None => observed,
        })
    }

    /// The same decision as part of a design, without rewards.
    fn unpaid(&self, features: &[f64]) -> Result<Observation, StatisticsError> {
        let unpaid = Tally::yes_no(0, self.outcomes.count(), 0.0, 0.0)?;
        Ok(Observation::counted(features, unpaid)?)
    }
}

impl Statistics {
    /// Empty statistics; `dim` is zero for arms. With `by_action`, statistics of features also keep
    /// what each action has paid.
    pub(crate) fn new(dim: usize, by_action: bool) -> Result<Self, LedgerError> {
        if dim == 0 {
            return Ok(Self::Arms(Vec::new()));
        }
        let empty = Ledger::new(dim)?;
        let earned = by_action.then(Vec::new);
        Ok(Self::Features { settled: empty.clone(), all: empty, earned })
    }

    /// Whether it keeps what each action with features has paid.
    pub(crate) fn keeps_earned(&self) -> bool {
        matches!(self, Self::Features { earned: Some(_), .. })
    }

    /// Forgets what each action with features has paid.
    pub(crate) fn forget_earned(&mut self) {
        if let Self::Features { earned, .. } = self {
            *earned = None;
        }
    }

    /// Adds features, which are zero in every earlier observation.
    pub(crate) fn widen(&mut self, dim: usize) -> Result<(), LedgerError> {
        if let Self::Features { settled, all, .. } = self {
            (*settled, *all) = (settled.widened(dim)?, all.widened(dim)?);
        }
        Ok(())
    }

    /// Adds an arm.
    pub(crate) fn add_arm(&mut self) {
        if let Self::Arms(arms) | Self::Features { earned: Some(arms), .. } = self {
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
            Self::Features { settled, all, earned } => {
                let mut paid = earned.as_ref().map(|earned| earned[action]);
                if let Some(paid) = &mut paid {
                    paid.apply(action, change)?;
                }
                apply_to_features(settled, all, features, change)?;
                if let (Some(earned), Some(paid)) = (earned, paid) {
                    earned[action] = paid;
                }
            }
            Self::Arms(arms) => arms[action].apply(action, change)?,
        }
        Ok(())
    }

    /// The number of settled decisions.
    pub fn observations(&self) -> u64 {
        match self {
            Self::Features { settled, .. } => settled.observations(),
            Self::Arms(arms) => arms.iter().map(Arm::settled).sum(),
        }
    }

    /// The number of pending decisions.
    pub fn pending(&self) -> u64 {
        match self {
            Self::Features { settled, all, .. } => all.observations() - settled.observations(),
            Self::Arms(arms) => arms.iter().map(|arm| arm.pending).sum(),
        }
    }

    /// SHA-256 of all sums that a log of this format has, in hexadecimal. Equal statistics have
    /// equal digests.
    pub(crate) fn digest(&self, format: u32) -> String {
        let bytes: Vec<u8> = match self {
            Self::Features { settled, all, earned } => {
                let mut bytes = settled.to_bytes();
                bytes.extend_from_slice(&all.to_bytes());
                bytes.extend(earned.iter().flatten().flat_map(|arm| arm.bytes(format)));
                bytes
            }
            Self::Arms(arms) => arms.iter().flat_map(|arm| arm.bytes(format)).collect(),
        };
        LineHash::of(&bytes).to_string()
    }

    /// The sums that a model of the settled decisions is made from. For arms, only of these
    /// actions.
    pub(crate) fn settled(&self, actions: &[usize], ridge: f64) -> Sums {
        match self {
            Self::Features { settled, .. } => features_sums(settled, ridge),
            Self::Arms(arms) => arms_sums(arms, actions, self.observations(), Arm::settled),
        }
    }

    /// The sums over forecasts, for actions with features.
    pub(crate) fn forecasts(&self) -> Option<ForecastGrounds> {
        let Self::Features { settled, .. } = self else { return None };
        let unit = STEPS * STEPS;
        let errors = settled.forecasts().errors().map(|error| error as f64 / unit);
        Some(ForecastGrounds { sum: settled.forecast_sum()?, errors })
    }

    /// What these actions have paid, if that is kept.
    pub(crate) fn earned(&self, actions: &[usize]) -> Vec<Earned> {
        let (Self::Features { earned: Some(arms), .. } | Self::Arms(arms)) = self else {
            return Vec::new();
        };
        let listed = actions.iter().map(|action| arms[*action]);
        listed
            .map(|arm| Earned {
                plays: arm.settled(),
                paid: arm.paid(),
                squares: arm.earned.reward_squares(),
            })
            .collect()
    }

    /// Like [`Statistics::settled`] with pending decisions counted; `None` if there are none.
    pub(crate) fn all(&self, actions: &[usize], ridge: f64, settled: &Sums) -> Option<Sums> {
        if self.pending() == 0 {
            return None;
        }
        Some(match self {
            Self::Features { all, .. } => Sums {
                // Pending decisions have no rewards.
                moment: settled.moment.clone(),
                squares: settled.squares.clone(),
                ..features_sums(all, ridge)
            },
            Self::Arms(arms) => {
                let counted = self.observations() + self.pending();
                arms_sums(arms, actions, counted, Arm::taken)
            }
        })
    }
}

/// Applies a change to the sums over features. Changes nothing on an error.
fn apply_to_features(
    settled: &mut Ledger,
    all: &mut Ledger,
    features: &[f64],
    change: Change,
) -> Result<(), StatisticsError> {
    let taken = Observation::new(features, 0.0)?;
    let (settlement, is_back) = match change {
        Change::Taken => return Ok(all.add(&taken)?),
        Change::Dropped => return Ok(all.retract(&taken)?),
        Change::Settled(came) => (came, false),
        Change::Unsettled(gone) => (gone, true),
    };
    // In the design a decision counts once while it is pending, then with all its outcomes.
    let mut design = None;
    if settlement.outcomes.count() > 1 {
        let unpaid = settlement.unpaid(features)?;
        let (out, into) = if is_back { (unpaid, taken) } else { (taken, unpaid) };
        let design = design.insert(all.clone());
        design.retract(&out)?;
        design.add(&into)?;
    }
    let observed = settlement.observed(features)?;
    if is_back {
        settled.retract(&observed)?;
    } else {
        settled.add(&observed)?;
    }
    if let Some(design) = design {
        *all = design;
    }
    Ok(())
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
        squares: listed().map(|arm| arm.earned.reward_squares()).collect(),
    }
}

impl Arm {
    /// Applies a change to a decision for this arm, which has the number `own`.
    pub(crate) fn apply(&mut self, own: usize, change: Change) -> Result<(), StatisticsError> {
        let missing = StatisticsError::NoSuchPlay { arm: own };
        match change {
            Change::Taken => self.pending += 1,
            Change::Dropped => self.pending = self.pending.checked_sub(1).ok_or(missing)?,
            Change::Settled(Settlement { outcomes, .. }) => {
                let pending = self.pending.checked_sub(1).ok_or(missing)?;
                self.earned.add(&outcomes)?;
                self.pending = pending;
            }
            Change::Unsettled(Settlement { outcomes, .. }) => {
                self.earned.retract(&outcomes)?;
                self.pending += 1;
            }
        }
        Ok(())
    }

    fn bytes(&self, format: u32) -> impl Iterator<Item = u8> {
        let Self { earned, pending } = self;
        // The first format has no squares.
        let squares = (format >= 2).then(|| earned.squares().to_le_bytes());
        let settled = earned.count().to_le_bytes().into_iter();
        settled
            .chain(earned.sum().to_le_bytes())
            .chain(pending.to_le_bytes())
            .chain(squares.into_iter().flatten())
    }

    /// The number of its outcomes.
    pub(crate) fn settled(&self) -> u64 {
        self.earned.count()
    }

    /// The number of its outcomes and pending decisions.
    pub(crate) fn taken(&self) -> u64 {
        self.settled() + self.pending
    }

    /// The sum of its rewards, rounded to the nearest double.
    pub fn paid(&self) -> f64 {
        self.earned.reward_sum()
    }
}
