//! What each row of features has paid: what a generalised linear model is made from. Kept while the
//! policy has such a model, or a replay asks for one.

use super::{State, StepError};
use crate::certificate::{GlmGrounds, bounded};
use crate::policy;
use crate::reward::Reward;
use crate::scale::Scale;
use crate::statistics::{Change, StatisticsError};
use plausibly::spec::{PolicySpec, RadiusSpec, Setting};
use plausibly::{RowSums, Tally};

/// Sums by row of features.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Rows {
    /// What the rows of settled decisions have paid.
    pub(super) settled: RowSums,
    /// One outcome for each pending decision.
    pub(super) pending: RowSums,
}

impl Rows {
    fn new(dim: usize) -> Self {
        Self { settled: RowSums::new(dim), pending: RowSums::new(dim) }
    }

    /// The number of rows.
    pub(super) fn len(&self) -> usize {
        self.settled.len() + self.pending.len()
    }

    /// The sums over settled and over pending decisions.
    pub(super) fn both(&self) -> [&RowSums; 2] {
        [&self.settled, &self.pending]
    }

    /// Applies a change of a decision with these features. Changes nothing on an error.
    fn apply(&mut self, features: &[f64], change: Change) -> Result<(), StatisticsError> {
        let one = Tally::yes_no(0, 1, 0.0, 1.0)?;
        match change {
            Change::Taken => self.pending.add(features, &one)?,
            Change::Dropped => self.pending.retract(features, &one)?,
            Change::Settled(came) => {
                self.settled.add(features, &came.shares)?;
                self.pending.retract(features, &one)?;
            }
            Change::Unsettled(gone) => {
                self.settled.retract(features, &gone.shares)?;
                self.pending.add(features, &one)?;
            }
        }
        Ok(())
    }

    /// The same with more features, which are zero in all rows.
    fn widened(&self, dim: usize) -> Result<Self, StatisticsError> {
        let wide = |rows: &RowSums| {
            let mut wide = RowSums::new(dim);
            for (mut features, tally) in rows.iter() {
                features.resize(dim, 0.0);
                wide.add(&features, tally)?;
            }
            Ok::<_, StatisticsError>(wide)
        };
        Ok(Self { settled: wide(&self.settled)?, pending: wide(&self.pending)? })
    }
}

impl State {
    /// Keeps what rows pay from now on, whatever the policy. There must be no decision yet.
    pub(crate) fn keep_rows(&mut self) {
        let dim = self.recipe.dim();
        if self.rows.is_none() && dim > 0 {
            self.rows = Some(Rows::new(dim));
        }
    }

    /// What rows have paid, if the state keeps that.
    pub(crate) fn rows(&self) -> Option<&Rows> {
        self.rows.as_ref()
    }

    /// A reward as a share of the range.
    pub(super) fn shares(&self, reward: Reward) -> Result<Tally, StepError> {
        self.on(Scale::shares(self.reward_range), reward)
    }

    /// Applies a change of a decision with these features.
    pub(super) fn change_rows(
        &mut self,
        features: &[f64],
        change: Change,
    ) -> Result<(), StatisticsError> {
        self.rows.as_mut().map_or(Ok(()), |rows| rows.apply(features, change))
    }

    /// The rows with more features.
    pub(super) fn widened_rows(&self, dim: usize) -> Result<Option<Rows>, StatisticsError> {
        self.rows.as_ref().map(|rows| rows.widened(dim)).transpose()
    }

    /// What a decision needs under this policy, without the point; `None` for other models.
    pub(super) fn glm_for(&self, policy: &PolicySpec) -> Result<Option<GlmGrounds>, StepError> {
        if policy.link().is_none() {
            return Ok(None);
        }
        let precision = self.precision(&radius_of(policy))?;
        let Rows { settled, pending } = self.rows.as_ref().ok_or(StepError::NoRows)?;
        Ok(Some(GlmGrounds::of(precision, settled, pending)))
    }

    /// λ: `d/S²` by the features that the log began with. Features that came later have the same,
    /// so that the prior was fixed before the first outcome.
    fn precision(&self, radius: &RadiusSpec) -> Result<f64, StepError> {
        let first = bounded(radius, self.first_bound, self.recipe.is_given());
        let bound = first.and_then(|first| first.theta_norm_bound).ok_or(StepError::NoOddsBound)?;
        Ok(self.first_dim as f64 / (bound * bound))
    }

    /// Refuses a policy whose generalised linear model could not be made here.
    pub(super) fn check_link(&self, policy: &PolicySpec) -> Result<(), StepError> {
        if policy.link().is_none() {
            return Ok(());
        }
        if self.format < 2 || self.recipe.dim() == 0 {
            return Err(StepError::NoOddsBound);
        }
        self.precision(&radius_of(policy))?;
        let (low, high) = self.reward_range;
        match radius_of(policy).usual {
            Some(usual) if !(usual > low && usual < high) => {
                Err(StepError::UsualReward { usual, low, high })
            }
            _ => Ok(()),
        }
    }
}

fn radius_of(policy: &PolicySpec) -> RadiusSpec {
    policy.shown_radius(Setting::Changing, policy::defaults(crate::event::FORMAT))
}
