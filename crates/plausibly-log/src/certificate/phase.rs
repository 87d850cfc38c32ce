//! The phase that a decision of phased elimination rests on.

use super::{Grounds, GroundsError};
use plausibly::spec::PolicyKind;
use plausibly::{ActionSet, Plays, Quota};
use serde::{Deserialize, Serialize};

/// A phase of phased elimination: with the actions and δ, everything the choice depends on.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Phase {
    /// Its number, from 1.
    pub number: u32,
    /// The actions not dropped before it, by their numbers in the log.
    pub survivors: Vec<u64>,
    /// What it has seen of the actions that were taken in it.
    pub plays: Vec<Played>,
    /// The phase before as it was when it ended: from this the survivors follow. None in the first.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub frozen: Option<Frozen>,
}

/// A phase that has ended. What is corrected or taken back later does not change it.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Frozen {
    /// The actions not dropped before it.
    pub survivors: Vec<u64>,
    /// What it saw of the actions that were taken in it.
    pub plays: Vec<Played>,
}

/// What a phase has seen of an action.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Played {
    /// Its number in the log.
    pub action: u64,
    /// How often it was taken and not dropped.
    pub taken: u64,
    /// How many rewards have come.
    pub settled: u64,
    /// Their sum, of scaled rewards.
    pub paid: f64,
}

impl Grounds {
    /// The phase by places of the listed actions, and what is left to be played in it; none for
    /// other policies, and for partial certificates, whose phases only the log can check.
    pub(super) fn phase_on(
        &self,
        kind: &PolicyKind,
        set: &ActionSet,
    ) -> Result<Option<(plausibly::Phase, Quota)>, GroundsError> {
        let PolicyKind::Elimination { delta, .. } = *kind else {
            return if self.phase.is_none() {
                Ok(None)
            } else {
                misfit("", "is of elimination alone")
            };
        };
        let Some(phase) = &self.phase else {
            return misfit("", "elimination decides by one, and there is none");
        };
        if self.unlisted.is_some() {
            return Ok(None);
        }
        let current = self.by_places(phase.number, &phase.survivors, &phase.plays)?;
        let survivors = match &phase.frozen {
            None if phase.number == 1 => (0..self.actions.len()).collect(),
            Some(frozen) if phase.number > 1 => {
                let ended = self.by_places(phase.number - 1, &frozen.survivors, &frozen.plays)?;
                ended.next(set.view()).survivors
            }
            _ => return misfit(".frozen", "every phase but the first has one before it"),
        };
        if survivors != current.survivors {
            return misfit(".survivors", "are not those that follow from the phase before");
        }
        let quota = current.quota(set.view(), delta);
        if quota.remaining() == 0 {
            return misfit(".plays", "leave nothing to be played in this phase");
        }
        Ok(Some((current, quota)))
    }

    fn by_places(
        &self,
        number: u32,
        survivors: &[u64],
        plays: &[Played],
    ) -> Result<plausibly::Phase, GroundsError> {
        let place = |id: u64| {
            let found = self.actions.binary_search_by_key(&id, |action| action.id);
            found.or_else(|_| misfit("", "names an action that is not listed"))
        };
        if survivors.is_empty() || survivors.windows(2).any(|pair| pair[0] >= pair[1]) {
            return misfit(".survivors", "must be in the order of their numbers, each once");
        }
        let mut phase = plausibly::Phase::first(self.actions.len());
        phase.number = number;
        phase.survivors = survivors.iter().map(|id| place(*id)).collect::<Result<_, _>>()?;
        let taken = plays.iter().try_fold(0_u64, |all, played| all.checked_add(played.taken));
        if taken.is_none_or(|taken| taken >= self.decision) {
            return misfit(".plays", "are more than the decisions before this one");
        }
        for played in plays {
            let possible =
                played.settled <= played.taken && played.taken > 0 && played.paid.is_finite();
            let of_action = &mut phase.plays[place(played.action)?];
            if !possible || of_action.taken > 0 || (played.settled == 0 && played.paid != 0.0) {
                return misfit(
                    ".plays",
                    "list each action taken once, with no more rewards than plays",
                );
            }
            *of_action = Plays { taken: played.taken, settled: played.settled, paid: played.paid };
        }
        Ok(phase)
    }
}

fn misfit<T>(path: &str, what: &str) -> Result<T, GroundsError> {
    Err(GroundsError::Misfit { path: format!("grounds.phase{path}"), what: what.into() })
}
