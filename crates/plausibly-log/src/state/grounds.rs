//! Dresses the basis of a decision as grounds: with names, the place in the log, and what has
//! become of outcomes.

use super::basis::{About, Offer};
use super::{State, StepError, index};
use crate::certificate::{Amended, Basis, Grounds, Offered, Position, Sums, Unlisted};
use crate::event::RequestRows;
use crate::recipe::Context;
use crate::time::Time;
use std::sync::Arc;

/// Where in the log, when, about which set and in which context a decision is taken.
#[derive(Clone, Debug)]
pub struct Occasion<'a> {
    /// The last line before the decision.
    pub position: Position,
    /// When.
    pub at: Time,
    /// The number of the set.
    pub set: u64,
    /// The context.
    pub context: &'a Context,
    /// The rows of the actions, if they are for this decision alone.
    pub rows: Option<&'a RequestRows>,
}

impl<'a> Occasion<'a> {
    pub(crate) fn about(&self) -> About<'a> {
        About { set: self.set, context: self.context, rows: self.rows }
    }
}

impl State {
    /// The grounds of a decision taken now on this occasion. `listed` gives the places, in the set,
    /// of the actions to list; all others are counted as `unlisted` says.
    ///
    /// # Errors
    /// If the set is unknown or empty, a row cannot be encoded in the context, or phased
    /// elimination cannot decide about it now.
    pub fn grounds(
        &self,
        occasion: &Occasion<'_>,
        listed: Option<(&[usize], Unlisted)>,
    ) -> Result<Grounds, StepError> {
        let offer = Offer { about: occasion.about(), listed };
        Ok(self.dressed(occasion, &self.basis(&Arc::new(self.own_terms()?), offer, None)?))
    }

    /// The grounds of a decision with this basis.
    pub(crate) fn dressed(&self, occasion: &Occasion<'_>, basis: &Basis) -> Grounds {
        let Basis { terms, set, .. } = basis;
        let offered = basis.ids.iter().zip(set.view().iter()).map(|(id, action)| Offered {
            id: *id,
            label: self.actions[index(*id)].label.clone(),
            features: action.features().to_vec(),
        });
        Grounds {
            format: terms.format,
            log: occasion.position.clone(),
            decision: basis.decision,
            at: occasion.at.to_string(),
            policy: self.table.clone(),
            reward_range: terms.reward_range,
            outcomes: self.outcomes,
            counted: self.seen.counts,
            amended: self.amended(terms.format),
            horizon: terms.horizon,
            seed: terms.seed,
            theta_norm_bound: terms.theta_norm_bound,
            as_given: terms.as_given,
            arms_sharing: basis.arms_sharing,
            pairs_sharing: basis.pairs_sharing,
            context: occasion
                .context
                .iter()
                .map(|(key, value)| (key.into(), value.into()))
                .collect(),
            features: self.recipe.feature_names(),
            statistics: Sums::clone(&basis.statistics),
            design: basis.design.clone(),
            committed: basis.committed.clone(),
            forecasts: basis.forecasts,
            earned: basis.earned.clone(),
            bell: basis.bell.clone(),
            glm: basis.glm.clone(),
            phase: basis.phase.clone(),
            digest: self.digest(),
            actions: offered.collect(),
            unlisted: basis.unlisted,
        }
    }

    /// How often outcomes were taken back, replaced or given up.
    fn amended(&self, format: u32) -> Amended {
        if format < 2 { Amended::default() } else { self.amended }
    }
}
