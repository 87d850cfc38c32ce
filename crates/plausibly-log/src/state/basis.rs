//! Gives the basis of a decision: the numbers that it is derived from.

use super::request_rows::check_rows;
use super::{State, StepError, index};
use crate::certificate::{Basis, Earned, ForecastGrounds, PairsSharing, Sums, Terms, Unlisted};
use crate::event::RequestRows;
use crate::policy::{PolicyTable, arms_sharing};
use crate::recipe::Context;
use crate::statistics::Statistics;
use std::sync::Arc;

/// What a decision is about.
#[derive(Clone, Copy, Debug)]
pub(crate) struct About<'a> {
    /// The number of its set.
    pub(crate) set: u64,
    pub(crate) context: &'a Context,
    /// The rows of the actions, if they are for this decision alone.
    pub(crate) rows: Option<&'a RequestRows>,
}

/// What a decision is about, and the places of the actions to list if others are only counted.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Offer<'a> {
    pub(crate) about: About<'a>,
    pub(crate) listed: Option<(&'a [usize], Unlisted)>,
}

/// The basis of another decision, and which parts of it are the same.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lent<'a> {
    pub(crate) basis: &'a Basis,
    /// The sums over settled decisions.
    pub(crate) settled: bool,
    /// The actions and their features.
    pub(crate) set: bool,
}

impl State {
    /// The terms of decisions by a policy under the rules of a format.
    ///
    /// # Errors
    /// If the policy cannot decide here.
    pub(crate) fn terms(
        &self,
        policy: &PolicyTable,
        horizon: Option<u64>,
        format: u32,
    ) -> Result<Terms, StepError> {
        let (recipe, reward_range) = (&self.recipe, self.reward_range);
        let (dim, as_given) = (recipe.dim(), recipe.is_given());
        Ok(Terms {
            format,
            dim,
            reward_range,
            as_given,
            has_intercept: recipe.has_intercept(),
            theta_norm_bound: recipe.theta_norm_bound(reward_range.1 - reward_range.0),
            horizon,
            seed: self.seed,
            spec: Terms::read(policy, (dim, format), horizon, (reward_range, as_given))?,
        })
    }

    /// The terms of the next decision.
    ///
    /// # Errors
    /// If the policy cannot decide here.
    pub(crate) fn own_terms(&self) -> Result<Terms, StepError> {
        self.terms(&self.table, self.horizon, self.rules())
    }

    /// The basis of a decision on these terms taken now.
    ///
    /// # Errors
    /// If the set is unknown or empty, a row cannot be encoded in the context, or phased
    /// elimination cannot decide about it now.
    pub(crate) fn basis(
        &self,
        terms: &Arc<Terms>,
        offer: Offer<'_>,
        lent: Option<Lent<'_>>,
    ) -> Result<Basis, StepError> {
        let About { set: number, context, rows } = offer.about;
        let (set, format, ridge) = (self.set(number)?, terms.format, terms.spec.ridge());
        if let Some(rows) = rows {
            self.may_have_rows(&terms.spec)?;
            check_rows(rows, set.len())?;
        }
        // What an action has paid with rows that change is no single number.
        let judges = rows.is_none() && self.judges_actions(format);
        let unlisted = offer.listed.map(|(_, unlisted)| unlisted);
        let phase = self.phases_for(&terms.spec.kind, set, context)?;
        let (ids, features) = match (lent.filter(|lent| lent.set), offer.listed) {
            (Some(Lent { basis, .. }), _) => (Arc::clone(&basis.ids), Arc::clone(&basis.set)),
            (None, listed) => {
                let ids: Arc<[u64]> = match listed {
                    Some((places, _)) => places.iter().map(|place| set[*place]).collect(),
                    None => set.into(),
                };
                let features = Arc::new(match rows {
                    None => self.set_of(&ids, context)?,
                    Some(rows) => self.set_of_rows(set, rows, context, offer.listed)?,
                });
                (ids, features)
            }
        };
        let listed: Vec<usize> = ids.iter().map(|id| index(*id)).collect();
        let sums = |statistics: &Statistics| statistics.settled(&listed, ridge).of_format(format);
        let settled = lent.filter(|lent| lent.settled);
        let statistics = match settled {
            Some(Lent { basis, .. }) => Arc::clone(&basis.statistics),
            None => Arc::new(sums(&self.statistics)),
        };
        let design = self.statistics.all(&listed, ridge, &statistics);
        let mut basis = Basis {
            terms: Arc::clone(terms),
            decision: self.next_decision(),
            set: features,
            unlisted,
            arms_sharing: judges.then(|| self.arms_sharing()),
            pairs_sharing: (judges && format >= 2).then(|| self.pairs_sharing(number)),
            design: design.map(|sums: Sums| sums.of_format(format)),
            committed: self.committed.as_ref().map(|committed| sums(&committed.statistics)),
            forecasts: self.forecast_sums(format),
            earned: if rows.is_none() { self.earned(&ids, format) } else { Vec::new() },
            bell: self.bell_for(&terms.spec, set, context)?,
            glm: self.glm_for(&terms.spec)?,
            phase: phase.map(|phases| phases.grounds()),
            statistics,
            ids,
        };
        let point = settled.and_then(|lent| lent.basis.glm.as_ref()).map(|glm| &glm.point);
        match (&mut basis.glm, point) {
            (Some(glm), Some(point)) => glm.point.clone_from(point),
            (Some(_), None) => basis.aim(),
            (None, _) => {}
        }
        Ok(basis)
    }

    /// The number of the decision that would be taken now.
    pub(super) fn next_decision(&self) -> u64 {
        self.count_decisions() + 1
    }

    /// The sums over forecasts, where decisions have them.
    fn forecast_sums(&self, format: u32) -> Option<ForecastGrounds> {
        self.statistics.forecasts().filter(|_| self.forecasts() && format >= 2)
    }

    /// What actions with features have paid. With a context, what one of them pays on average is no
    /// single number, so that nothing follows from it.
    fn earned(&self, actions: &[u64], format: u32) -> Vec<Earned> {
        let is_arms = self.recipe.dim() == 0;
        if format < 2 || is_arms || !self.recipe.context().is_empty() {
            return Vec::new();
        }
        let actions: Vec<usize> = actions.iter().map(|id| index(*id)).collect();
        self.statistics.earned(&actions)
    }

    /// Whether actions are judged one by one, and so share δ.
    fn judges_actions(&self, format: u32) -> bool {
        self.recipe.dim() == 0 || format >= 2 && self.statistics.keeps_earned()
    }

    /// The number of actions that share δ.
    fn arms_sharing(&self) -> u64 {
        let first = self.sets.first().map_or(1, |first| first.len());
        arms_sharing(first, self.actions.len())
    }

    /// How verdicts between pairs share δ, about a set with this number.
    fn pairs_sharing(&self, set: u64) -> PairsSharing {
        PairsSharing {
            first: self.sets.first().map_or(1, |first| first.len()) as u64,
            ever: self.actions.len() as u64,
            changed: self.seen.other_sets || set != 0,
        }
    }
}
