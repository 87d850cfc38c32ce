//! What a decision rests on.

use super::{State, StepError, at, index};
use crate::certificate::{Grounds, Offered, Position, Unlisted};
use crate::policy::{PolicyTable, arms_sharing};
use crate::recipe::Context;
use plausibly::spec::PolicySpec;

/// When and where a decision is taken.
#[derive(Clone, Debug)]
pub struct Moment<'a> {
    /// The place in the log.
    pub position: Position,
    /// The time, in UTC.
    pub at: String,
    /// From which set.
    pub set: u64,
    /// In which context.
    pub context: &'a Context,
}

impl State {
    /// The grounds of a decision about this set in this context, if it were taken now. `listed` says which of the set's actions to list, by their places in it; all
    /// others are counted as `unlisted` says.
    ///
    /// # Errors
    /// If the set is unknown or empty, a row cannot be encoded in the context, or phased elimination cannot decide about it now.
    pub fn grounds(
        &self,
        moment: Moment<'_>,
        listed: Option<(&[usize], Unlisted)>,
    ) -> Result<Grounds, StepError> {
        self.grounds_under(moment, listed, (&self.policy, &self.table, self.horizon))
    }

    /// The same under another policy than the log's.
    ///
    /// # Errors
    /// As [`State::grounds`].
    pub(crate) fn grounds_under(
        &self,
        moment: Moment<'_>,
        listed: Option<(&[usize], Unlisted)>,
        (policy, table, horizon): (&PolicySpec, &PolicyTable, Option<u64>),
    ) -> Result<Grounds, StepError> {
        let unknown = StepError::Unknown { what: "set", number: moment.set };
        let set = at(&self.sets, moment.set).ok_or(unknown)?;
        let (places, unlisted) = match listed {
            Some((places, unlisted)) => (places.to_vec(), Some(unlisted)),
            None => ((0..set.len()).collect(), None),
        };
        let chosen: Vec<u64> = places.iter().map(|place| set[*place]).collect();
        let phases = self.phases_for(&policy.kind, set, moment.context)?;
        let actions = chosen.iter().map(|&id| {
            let record = &self.actions[index(id)];
            let features = self.recipe.encode(&record.label, &record.cells, moment.context)?;
            Ok(Offered { id, label: record.label.clone(), features })
        });
        let actions = actions.collect::<Result<Vec<_>, StepError>>()?;
        let (ridge, indices) = (policy.ridge(), chosen.iter().map(|id| index(*id)).collect::<Vec<_>>());
        let first = self.sets.first().map_or(1, Vec::len);
        Ok(Grounds {
            log: moment.position,
            decision: self.decisions.len() as u64 + 1,
            at: moment.at,
            policy: table.clone(),
            reward_range: self.reward_range,
            horizon,
            seed: self.seed,
            theta_norm_bound: self.recipe.theta_norm_bound(self.reward_range.1 - self.reward_range.0),
            as_given: self.recipe.is_given(),
            arms_sharing: (self.recipe.dim() == 0).then(|| arms_sharing(first, self.actions.len())),
            context: moment.context.iter().map(|(key, value)| (key.into(), value.into())).collect(),
            features: self.recipe.feature_names(),
            statistics: self.statistics.settled(&indices, ridge),
            design: self.statistics.all(&indices, ridge),
            committed: self.committed.as_ref().map(|committed| committed.statistics.settled(&indices, ridge)),
            phase: phases.map(|phases| phases.grounds()),
            digest: self.statistics.digest(),
            actions,
            unlisted,
        })
    }
}
