//! Collects the grounds of a decision from the state.

use super::{State, StepError, index};
use crate::certificate::{
    Amended, Earned, ForecastGrounds, Grounds, Offered, PairsSharing, Position, Sums, Unlisted,
};
use crate::policy::arms_sharing;
use crate::recipe::Context;
use crate::statistics::Statistics;
use crate::time::Time;
use plausibly::spec::PolicySpec;

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
        let set = self.set(occasion.set)?;
        let (places, unlisted) = match listed {
            Some((places, unlisted)) => (places.to_vec(), Some(unlisted)),
            None => ((0..set.len()).collect(), None),
        };
        let chosen: Vec<u64> = places.iter().map(|place| set[*place]).collect();
        let phases = self.phases_for(&self.policy.kind, set, occasion.context)?;
        let format = self.rules();
        let (statistics, design, committed) = self.sums(&chosen, self.policy.ridge(), format);
        let actions = self.offered(&chosen, occasion.context)?;
        let mut grounds = Grounds {
            format,
            log: occasion.position.clone(),
            decision: self.next_decision(),
            at: occasion.at.to_string(),
            policy: self.table.clone(),
            reward_range: self.reward_range,
            outcomes: self.outcomes,
            counted: self.counted,
            amended: self.amended(format),
            horizon: self.horizon,
            seed: self.seed,
            theta_norm_bound: self
                .recipe
                .theta_norm_bound(self.reward_range.1 - self.reward_range.0),
            as_given: self.recipe.is_given(),
            arms_sharing: self.arms_sharing(format),
            pairs_sharing: self.pairs_sharing(occasion.set, format),
            context: occasion
                .context
                .iter()
                .map(|(key, value)| (key.into(), value.into()))
                .collect(),
            features: self.recipe.feature_names(),
            statistics,
            design,
            committed,
            forecasts: self.forecast_sums(format),
            earned: self.earned(&chosen, format),
            bell: self.bell_for(&self.policy, set, occasion.context)?,
            glm: self.glm_for(&self.policy)?,
            phase: phases.map(|phases| phases.grounds()),
            digest: self.digest(),
            actions,
            unlisted,
        };
        grounds.aim();
        Ok(grounds)
    }

    /// Actions with their features in a context.
    ///
    /// # Errors
    /// If a row cannot be encoded.
    pub(crate) fn offered(
        &self,
        actions: &[u64],
        context: &Context,
    ) -> Result<Vec<Offered>, StepError> {
        let offered = actions.iter().map(|&id| {
            let record = &self.actions[index(id)];
            let features = self.recipe.encode(&record.label, &record.cells, context)?;
            Ok(Offered { id, label: record.label.clone(), features })
        });
        offered.collect()
    }

    /// Brings the sums in the grounds of an earlier decision up to date, for a decision about the
    /// same actions. Policy and features must be the same; the place in the log, the time, the
    /// context and the digest stay those of the earlier decision. If `same` holds grounds of this
    /// decision under a policy with the same ridge, their sums are reused.
    ///
    /// # Errors
    /// If the set is unknown, or phased elimination cannot decide about it now.
    pub(crate) fn renew(
        &self,
        grounds: &mut Grounds,
        (set, context): (u64, &Context),
        policy: &PolicySpec,
        same: Option<&Grounds>,
    ) -> Result<(), StepError> {
        let phases = self.phases_for(&policy.kind, self.set(set)?, context)?;
        grounds.phase = phases.map(|phases| phases.grounds());
        grounds.decision = self.next_decision();
        let format = grounds.format;
        grounds.arms_sharing = self.arms_sharing(format);
        grounds.pairs_sharing = self.pairs_sharing(set, format);
        (grounds.counted, grounds.amended) = (self.counted, self.amended(format));
        grounds.forecasts = self.forecast_sums(format);
        let listed: Vec<u64> = grounds.actions.iter().map(|action| action.id).collect();
        grounds.earned = self.earned(&listed, format);
        grounds.bell = self.bell_for(policy, self.set(set)?, context)?;
        grounds.glm = self.glm_for(policy)?;
        (grounds.statistics, grounds.design, grounds.committed) = if let Some(same) = same {
            (same.statistics.clone(), same.design.clone(), same.committed.clone())
        } else {
            self.sums(&listed, policy.ridge(), format)
        };
        grounds.aim();
        Ok(())
    }

    /// The number of the decision that would be taken now.
    pub(super) fn next_decision(&self) -> u64 {
        self.decisions.len() as u64 + 1
    }

    /// How often outcomes were taken back, replaced or given up.
    fn amended(&self, format: u32) -> Amended {
        if format < 2 { Amended::default() } else { self.amended }
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

    /// The number of actions that share δ; `None` where features alone are judged.
    fn arms_sharing(&self, format: u32) -> Option<u64> {
        let first = self.sets.first().map_or(1, Vec::len);
        self.judges_actions(format).then(|| arms_sharing(first, self.actions.len()))
    }

    /// How verdicts between pairs share δ, about a set with this number; `None` where features
    /// alone are judged, and in the first format.
    fn pairs_sharing(&self, set: u64, format: u32) -> Option<PairsSharing> {
        (self.judges_actions(format) && format >= 2).then(|| PairsSharing {
            first: self.sets.first().map_or(1, Vec::len) as u64,
            ever: self.actions.len() as u64,
            changed: self.has_changed || set != 0,
        })
    }

    /// The sums over settled decisions, those with pending decisions counted if there are any, and
    /// those that the policy has committed to if it has. For arms, only of the listed actions.
    fn sums(&self, listed: &[u64], ridge: f64, format: u32) -> (Sums, Option<Sums>, Option<Sums>) {
        let listed: Vec<usize> = listed.iter().map(|id| index(*id)).collect();
        let settled =
            |statistics: &Statistics| statistics.settled(&listed, ridge).of_format(format);
        let committed = self.committed.as_ref().map(|committed| settled(&committed.statistics));
        let all = self.statistics.all(&listed, ridge).map(|sums| sums.of_format(format));
        (settled(&self.statistics), all, committed)
    }
}
