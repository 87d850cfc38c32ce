//! What the radius `bell` needs beside the sums: it follows from the first set of the log, from its
//! features and from the outcomes.

use super::{Outcome, State, StepError};
use crate::certificate::{BellGrounds, ENOUGH_VALUES, PaidArm};
use crate::event::Outcomes;
use crate::recipe::Context;
use plausibly::BellPrior;
use plausibly::spec::PolicySpec;

impl State {
    /// What a decision about these actions needs under this policy; `None` for other radii.
    ///
    /// # Errors
    /// If outcomes are no measurements, or an action is one that the first set says nothing about.
    pub(super) fn bell_for(
        &self,
        policy: &PolicySpec,
        set: &[u64],
        context: &Context,
    ) -> Result<Option<BellGrounds>, StepError> {
        if !policy.is_bell() {
            return Ok(None);
        }
        if self.outcomes != Outcomes::Number {
            return Err(StepError::BellOfYesNo { outcomes: self.outcomes });
        }
        let values = self.different_values()?;
        if self.recipe.dim() == 0 {
            let every: Vec<usize> = (0..self.actions.len()).collect();
            let paid = (0..).zip(self.statistics.earned(&every));
            let arms = paid.filter(|(_, arm)| arm.plays > 0);
            let arms = arms.map(|(id, arm)| PaidArm::of(id, arm)).collect();
            return Ok(Some(BellGrounds { values, arms, ..BellGrounds::default() }));
        }
        let prior = self.bell_prior(set, context)?;
        let rows = |matrix: &[f64]| matrix.chunks(self.recipe.dim()).map(<[f64]>::to_vec).collect();
        Ok(Some(BellGrounds {
            values,
            inside: rows(prior.inside()),
            outside: rows(prior.outside()),
            length_sq: prior.length_sq(),
            arms: Vec::new(),
        }))
    }

    /// The coordinates that were fixed when the log began, if they fit these actions and all that
    /// were ever taken.
    fn bell_prior(&self, set: &[u64], context: &Context) -> Result<BellPrior, StepError> {
        if !self.recipe.context().is_empty() {
            let norm_bound = (self.first_dim as f64).sqrt();
            let bound = self.recipe.theta_norm_bound(self.reward_range.1 - self.reward_range.0);
            let prior = BellPrior::in_context(self.recipe.dim(), norm_bound, bound);
            return Ok(prior.expect("with a context, the bound follows from the columns"));
        }
        if self.seen.own_rows {
            let why = "a bell curve is judged by the rows of the first decision";
            return Err(StepError::RequestRows { why });
        }
        let first = self.sets.first().map_or(set, AsRef::as_ref);
        let prior = BellPrior::of(self.set_of(first, context)?.view());
        let taken = (0..).zip(&self.actions).filter(|(_, action)| action.taken);
        let known: Vec<u64> = taken.map(|(id, _)| id).chain(set.iter().copied()).collect();
        let context_parts = self.recipe.context_values(context)?;
        for action in known {
            if !prior.spans(&self.features(action, &context_parts)?) {
                let label = self.action(action)?.label.clone();
                return Err(StepError::OutsideFirst { label });
            }
        }
        Ok(prior)
    }

    /// The first outcomes of different value, on the scale of the statistics: enough of them show
    /// that outcomes are measurements.
    fn different_values(&self) -> Result<Vec<f64>, StepError> {
        if self.seen.counts {
            return Err(StepError::BellOfCounts);
        }
        let mut values: Vec<f64> = Vec::new();
        for decision in self.decisions() {
            if values.len() == ENOUGH_VALUES {
                break;
            }
            let Outcome::Settled { reward, .. } = decision.outcome else { continue };
            let value = self.scaled(reward)?.reward_sum();
            if values.iter().all(|seen| seen.to_bits() != value.to_bits()) {
                values.push(value);
            }
        }
        Ok(values)
    }
}
