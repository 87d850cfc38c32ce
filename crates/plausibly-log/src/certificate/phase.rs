//! Reads and checks the phase that a decision of phased elimination depends on.

use super::basis::Basis;
use super::{GroundsError, misfit, require};
use plausibly::spec::PolicyKind;
use plausibly::{Plays, Quota};
use serde::{Deserialize, Serialize};

/// A phase of phased elimination. With the actions and δ, it is everything the choice depends on.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Phase {
    /// Its number, from 1.
    pub number: u32,
    /// The actions that earlier phases kept, by their numbers in the log.
    pub survivors: Vec<u64>,
    /// The plays and rewards of the actions taken in it.
    pub plays: Vec<Played>,
    /// The previous phase as it ended, from which the survivors follow; absent in the first phase.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub frozen: Option<Frozen>,
}

/// A phase that has ended. Later corrections and retractions do not change it.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Frozen {
    /// The actions that earlier phases kept.
    pub survivors: Vec<u64>,
    /// The plays and rewards of the actions taken in it.
    pub plays: Vec<Played>,
}

/// The plays and rewards of an action in a phase.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Played {
    /// Its number in the log.
    pub action: u64,
    /// The number of decisions for it that were not dropped.
    pub taken: u64,
    /// The number of rewards.
    pub settled: u64,
    /// The sum of the scaled rewards.
    pub paid: f64,
}

impl Basis {
    /// The phase by places of the listed actions, and the plays left in it. `None` for other
    /// policies, and for partial certificates: only the log can check their phases.
    pub(super) fn phase_now(&self) -> Result<Option<(plausibly::Phase, Quota)>, GroundsError> {
        let PolicyKind::Elimination { delta, .. } = self.terms.spec.kind else {
            let what = "must be absent: only phased elimination has phases";
            return require(self.phase.is_none(), "phase", what).map(|()| None);
        };
        let missing = || misfit("phase", "is missing, and phased elimination decides by it");
        let phase = self.phase.as_ref().ok_or_else(missing)?;
        if self.unlisted.is_some() {
            return Ok(None);
        }
        let current = self.by_places(phase.number, &phase.survivors, &phase.plays)?;
        let survivors = match &phase.frozen {
            None if phase.number == 1 => (0..self.ids.len()).collect(),
            Some(frozen) if phase.number > 1 => {
                let ended = self.by_places(phase.number - 1, &frozen.survivors, &frozen.plays)?;
                ended.next(self.set.view()).survivors
            }
            _ => {
                let what = "must be present in every phase but the first";
                return Err(misfit("phase.frozen", what));
            }
        };
        let what = "are not those that follow from the previous phase";
        require(survivors == current.survivors, "phase.survivors", what)?;
        let quota = current.quota(self.set.view(), delta);
        require(quota.remaining() > 0, "phase.plays", "leave no plays in this phase")?;
        Ok(Some((current, quota)))
    }

    fn by_places(
        &self,
        number: u32,
        survivors: &[u64],
        plays: &[Played],
    ) -> Result<plausibly::Phase, GroundsError> {
        let place = |id: u64| {
            let found = self.ids.binary_search(&id);
            found.map_err(|_unlisted| misfit("phase", "must only name listed actions"))
        };
        let ascending = survivors.windows(2).all(|pair| pair[0] < pair[1]);
        let what = "must be in ascending order, each once";
        require(!survivors.is_empty() && ascending, "phase.survivors", what)?;
        let mut phase = plausibly::Phase::first(self.ids.len());
        phase.number = number;
        phase.survivors = survivors.iter().map(|id| place(*id)).collect::<Result<_, _>>()?;
        let taken = plays.iter().try_fold(0_u64, |all, played| all.checked_add(played.taken));
        let what = "must not be more than the decisions before this one";
        require(taken.is_some_and(|taken| taken < self.decision), "phase.plays", what)?;
        for played in plays {
            let &Played { action, taken, settled, paid } = played;
            let of_action = &mut phase.plays[place(action)?];
            let once = taken > 0 && of_action.taken == 0;
            let possible = settled <= taken && paid.is_finite() && (settled > 0 || paid == 0.0);
            let what = "must list each action taken once, with at most as many rewards as plays";
            require(once && possible, "phase.plays", what)?;
            *of_action = Plays { taken, settled, paid };
        }
        Ok(phase)
    }
}
