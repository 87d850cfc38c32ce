//! Policies as text, for the files and pickles that `plausibly._saved` writes.
//!
//! The text holds what a policy was made with and what it has learned. Action sets and waiting
//! choices are Python objects, so they are returned beside the text.

use crate::action::PyAction;
use crate::actions::{MOST_ARMS, PySet};
use crate::built::Built;
use crate::guarded::{Guarded, unwound};
use crate::roster::Roster;
use crate::settings::Settings;
use crate::waiting::Waiting;
use plausibly::Stream;
use plausibly::state::PolicyState;
use plausibly_log::json;
use plausibly_sim::spec_json;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

/// A stream has given at most this many words of 32 bits; no program runs long enough for more.
const MOST_DRAWN: u64 = 1 << 60;

/// A policy in use. Sets are named by their index in a list beside it.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Saved {
    /// The tables it was made with. To restore it, first make a policy with the same tables.
    policy: Json,
    facts: Json,
    seed: u64,
    /// The position in its stream of random numbers.
    drawn: u64,
    /// The set offered last, which a plain index or label refers to.
    #[serde(deserialize_with = "Deserialize::deserialize")]
    offered: Option<usize>,
    /// What it has learned; `None` before its first actions.
    #[serde(deserialize_with = "Deserialize::deserialize")]
    played: Option<Played>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Played {
    /// The number of features per action; 0 for plain arms.
    features: usize,
    actions: usize,
    /// For policies that only accept one set: that set. For plain arms: a set of all arms ever
    /// offered.
    #[serde(deserialize_with = "Deserialize::deserialize")]
    first: Option<usize>,
    /// The arms offered last, as indices in `first`; if absent, all of them.
    #[serde(default)]
    duty: Option<Vec<usize>>,
    state: PolicyState,
}

/// The text, the sets it names, and the choices that wait for their rewards.
pub(crate) type Written = (String, Vec<Py<PySet>>, Vec<(Py<PyAction>, bool)>);

pub(crate) fn save(
    py: Python<'_>,
    settings: &Settings,
    seed: u64,
    guarded: &Guarded,
) -> PyResult<Written> {
    guarded.usable()?;
    let mut sets: Vec<Py<PySet>> = Vec::new();
    let mut place = |set: &Py<PySet>| {
        sets.iter().position(|listed| listed.is(set)).unwrap_or_else(|| {
            sets.push(set.clone_ref(py));
            sets.len() - 1
        })
    };
    let offered = guarded.offered.as_ref().map(&mut place);
    let built = guarded.built.as_ref();
    let roster = built
        .and_then(|built| built.roster.as_ref())
        .map(|roster| roster.as_set(py))
        .transpose()?;
    let first = built.and_then(|built| built.first.as_ref()).or(roster.as_ref()).map(&mut place);
    let played = built.map(|built| played(py, settings, built, first)).transpose()?;
    let (policy, facts) = &settings.given;
    let saved = Saved {
        policy: spec_json(&policy.value),
        facts: spec_json(&facts.value),
        seed,
        drawn: guarded.rng.position(),
        offered,
        played,
    };
    let text =
        serde_json::to_string(&saved).map_err(|error| PyValueError::new_err(error.to_string()))?;
    Ok((text, sets, guarded.waiting.list(py)))
}

/// What a policy has learned; for plain arms, about all arms ever offered.
fn played(
    py: Python<'_>,
    settings: &Settings,
    built: &Built,
    first: Option<usize>,
) -> PyResult<Played> {
    let (features, duty) =
        (built.facts.dim, built.roster.as_ref().map(|roster| roster.duty.clone()));
    let state = match &built.roster {
        Some(roster) if !roster.is_full() => {
            let all = (0..roster.size).collect();
            built.on(settings, roster.copied(py)?, all)?.policy.state()
        }
        _ => built.policy.state(),
    };
    let actions = built.roster.as_ref().map_or(built.facts.actions, |roster| roster.size);
    Ok(Played { features, actions, first, duty, state })
}

/// Restores a policy from what `save` returned. `rng` is its stream at the beginning.
pub(crate) fn restore(
    py: Python<'_>,
    settings: &Settings,
    rng: Stream,
    text: &str,
    sets: &[Py<PySet>],
    waiting: Vec<(Py<PyAction>, bool)>,
) -> PyResult<Guarded> {
    let saved: Saved = json::read(text).map_err(|error| refuse(&error))?;
    let at = |place: usize| {
        let set =
            sets.get(place).ok_or_else(|| refuse(&"it names an action set that is not there"));
        set.map(|set| set.clone_ref(py))
    };
    if saved.drawn > MOST_DRAWN {
        return Err(refuse(&format!("no policy has drawn {} random numbers", saved.drawn)));
    }
    let mut guarded = Guarded::new(rng.at(saved.drawn));
    guarded.restored = true;
    guarded.offered = saved.offered.map(at).transpose()?;
    guarded.waiting = Waiting::restored(waiting);
    let Some(played) = saved.played else { return Ok(guarded) };
    if played.actions == 0 || (played.features == 0 && played.actions > MOST_ARMS) {
        return Err(refuse(&format!("no policy has {} actions", played.actions)));
    }
    let mut built = Built::sized(settings, played.features, played.actions)?;
    let restored = unwound(|| built.policy.restore(&played.state));
    restored.map_err(|reason| refuse(&reason))?.map_err(|error| refuse(&error))?;
    built.selected = guarded.offered.is_some();
    let first = played.first.map(at).transpose()?;
    for set in guarded.offered.iter().chain(&first) {
        if set.get().set.view().dim() != played.features {
            return Err(refuse(&"a set has another number of features"));
        }
    }
    let first = first.or_else(|| guarded.offered.as_ref().map(|set| set.clone_ref(py)));
    let first = first.filter(|set| set.get().set.view().len() == played.actions);
    if played.features == 0 {
        let roster = first.map(|set| Roster::of(set.bind(py))).transpose()?;
        built.roster = Some(roster.unwrap_or_else(|| Roster::unlabelled(played.actions)));
        built = on_duty(settings, py, built, played.duty)?;
    } else if built.is_for_one_set() {
        built.first = Some(first.ok_or_else(|| refuse(&"the set it began with is not there"))?);
    } else if played.first.is_some() {
        return Err(refuse(&"the set it began with does not fit its kind"));
    }
    guarded.built = Some(built);
    Ok(guarded)
}

/// Moves the policy from all arms to the arms offered last.
fn on_duty(
    settings: &Settings,
    py: Python<'_>,
    built: Built,
    duty: Option<Vec<usize>>,
) -> PyResult<Built> {
    let (Some(duty), Some(roster)) = (duty, &built.roster) else { return Ok(built) };
    let mut seen = vec![false; roster.size];
    let once =
        |number: &usize| seen.get_mut(*number).is_some_and(|seen| !std::mem::replace(seen, true));
    if duty.is_empty() || !duty.iter().all(once) {
        return Err(refuse(&"the arms on duty are not some of its arms"));
    }
    if duty == roster.duty {
        return Ok(built);
    }
    let known = roster.copied(py)?;
    unwound(|| built.on(settings, known, duty)).map_err(|reason| refuse(&reason))?
}

fn refuse(reason: &dyn std::fmt::Display) -> PyErr {
    PyValueError::new_err(format!("not a policy's state: {reason}"))
}
