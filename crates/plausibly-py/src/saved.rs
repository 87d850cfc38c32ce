//! Policies as text: what `plausibly._saved` writes into files and pickles.

use crate::actions::{MOST_ARMS, PySet};
use crate::guarded::{Built, Guarded, knows_places};
use crate::settings::Settings;
use crate::value;
use plausibly::state::PolicyState;
use plausibly::{Actions, Stream};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

/// A policy in use. Sets are known by their place in a list beside it.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Saved {
    /// The tables it was made with; whoever reads it back has made one of the same before.
    policy: Json,
    facts: Json,
    seed: u64,
    /// How far its random numbers have been drawn.
    drawn: u64,
    /// What an index or a label refers to.
    #[serde(deserialize_with = "Deserialize::deserialize")]
    offered: Option<usize>,
    /// What the policy remembers something of.
    known: Vec<usize>,
    waiting: u64,
    mixed: bool,
    /// What it has become; nothing before it has seen actions.
    #[serde(deserialize_with = "Deserialize::deserialize")]
    played: Option<Played>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Played {
    /// Of each action; none for plain arms.
    features: usize,
    actions: usize,
    /// The set it began with, for policies that know an action by its place alone.
    #[serde(deserialize_with = "Deserialize::deserialize")]
    first: Option<usize>,
    state: PolicyState,
}

/// The text, and the sets it speaks of.
pub(crate) fn save(
    py: Python<'_>,
    settings: &Settings,
    seed: u64,
    guarded: &Guarded,
) -> PyResult<(String, Vec<Py<PySet>>)> {
    guarded.usable()?;
    let mut sets: Vec<Py<PySet>> = Vec::new();
    let mut place = |set: &Py<PySet>| {
        sets.iter().position(|listed| listed.is(set)).unwrap_or_else(|| {
            sets.push(set.clone_ref(py));
            sets.len() - 1
        })
    };
    let known = guarded.known.iter().map(&mut place).collect();
    let offered = guarded.offered.as_ref().map(&mut place);
    let first = guarded.built.as_ref().and_then(|built| built.first.as_ref()).map(&mut place);
    let played = guarded.built.as_ref().map(|built| Played {
        features: built.facts.dim,
        actions: built.facts.actions,
        first,
        state: built.policy.state(&views(&sets)),
    });
    let (policy, facts) = settings.given();
    let saved = Saved {
        policy: value::json(policy),
        facts: value::json(facts),
        seed,
        drawn: guarded.rng.position(),
        offered,
        known,
        waiting: guarded.waiting,
        mixed: guarded.mixed,
        played,
    };
    let text = serde_json::to_string(&saved).map_err(|error| PyValueError::new_err(error.to_string()))?;
    Ok((text, sets))
}

/// The policy that a text and its sets were saved from, with `rng` its stream undrawn.
pub(crate) fn restore(settings: &Settings, rng: Stream, text: &str, sets: &[Py<PySet>]) -> PyResult<Guarded> {
    let refuse =
        |reason: &dyn std::fmt::Display| PyValueError::new_err(format!("not a policy's state: {reason}"));
    let saved: Saved = serde_json::from_str(text).map_err(|error| refuse(&error))?;
    let at = |place: usize| {
        let set = sets.get(place).ok_or_else(|| refuse(&"it speaks of an action set that is not there"));
        Python::attach(|py| set.map(|set| set.clone_ref(py)))
    };
    let mut guarded = Guarded::new(rng.at(saved.drawn));
    guarded.offered = saved.offered.map(at).transpose()?;
    guarded.known = saved.known.into_iter().map(at).collect::<PyResult<_>>()?;
    (guarded.waiting, guarded.mixed) = (saved.waiting, saved.mixed);
    let Some(played) = saved.played else { return Ok(guarded) };
    if played.actions == 0 || (played.features == 0 && played.actions > MOST_ARMS) {
        return Err(refuse(&"no policy has so many actions"));
    }
    let mut built = Built::sized(settings, played.features, played.actions)?;
    built.policy.restore(played.state, &views(sets)).map_err(|error| refuse(&error))?;
    built.first = played.first.map(at).transpose()?;
    if built.first.is_some() != knows_places(&built.spec) {
        return Err(refuse(&"the set it began with does not fit its kind"));
    }
    for set in guarded.offered.iter().chain(&guarded.known).chain(&built.first) {
        if set.get().set.view().dim() != played.features {
            return Err(refuse(&"a set has another number of features"));
        }
    }
    guarded.built = Some(built);
    Ok(guarded)
}

fn views(sets: &[Py<PySet>]) -> Vec<Actions<'_>> {
    sets.iter().map(|set| set.get().set.view()).collect()
}
