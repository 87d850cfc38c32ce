//! What each row of features has paid: what a generalised linear model is made from. Kept while the
//! policy has such a model, or a replay asks for one.

use super::{Outcome, State, StepError};
use crate::certificate::{GlmGrounds, bounded};
use crate::policy;
use crate::reward::Reward;
use crate::scale::Scale;
use crate::statistics::{Change, StatisticsError};
use plausibly::spec::{PolicySpec, RadiusSpec, Setting};
use plausibly::{RowSums, Tally};

impl State {
    /// Keeps what rows have paid from now on, whatever the policy.
    pub(crate) fn keep_rows(&mut self) -> Result<(), StepError> {
        if self.rows.is_none() && self.recipe.dim() > 0 {
            self.rows = Some(self.rows_so_far()?);
        }
        Ok(())
    }

    /// What rows have paid, from the decisions.
    pub(super) fn rows_so_far(&self) -> Result<RowSums, StepError> {
        let mut rows = RowSums::new(self.recipe.dim());
        for (decision, number) in self.decisions.iter().zip(1..) {
            let Outcome::Settled { reward, .. } = decision.outcome else { continue };
            let features = self.features_of(number)?;
            let added = rows.add(&features, &self.shares(reward)?);
            added.map_err(StatisticsError::from)?;
        }
        Ok(rows)
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
    ) -> Result<(), StepError> {
        let Some(rows) = &mut self.rows else { return Ok(()) };
        let changed = match change {
            Change::Settled(came) => rows.add(features, &came.shares),
            Change::Unsettled(gone) => rows.retract(features, &gone.shares),
            Change::Taken | Change::Dropped => Ok(()),
        };
        Ok(changed.map_err(StatisticsError::from)?)
    }

    /// The rows with more features, which are zero in all of them.
    pub(super) fn widened_rows(&self, dim: usize) -> Result<Option<RowSums>, StepError> {
        let Some(rows) = &self.rows else { return Ok(None) };
        let mut wide = RowSums::new(dim);
        for (mut features, tally) in rows.iter() {
            features.resize(dim, 0.0);
            wide.add(&features, tally).map_err(StatisticsError::from)?;
        }
        Ok(Some(wide))
    }

    /// What a decision needs under this policy, without the point; `None` for other models.
    pub(super) fn glm_for(&self, policy: &PolicySpec) -> Result<Option<GlmGrounds>, StepError> {
        if policy.link().is_none() {
            return Ok(None);
        }
        let precision = self.precision(&radius_of(policy))?;
        let mut pending = RowSums::new(self.recipe.dim());
        let one = Tally::yes_no(0, 1, 0.0, 1.0).map_err(StatisticsError::from)?;
        for number in &self.pending {
            let features = self.features_of(*number)?;
            pending.add(&features, &one).map_err(StatisticsError::from)?;
        }
        Ok(Some(match &self.rows {
            Some(rows) => GlmGrounds::of(precision, rows, &pending),
            None => GlmGrounds::of(precision, &self.rows_so_far()?, &pending),
        }))
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
