//! Many rewards at once. All of them are read and checked before the policy learns from the first.

use crate::action::PyAction;
use crate::actions::PySet;
use crate::errors::{self, refuse};
use crate::outcomes::{Outcomes, Reward};
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyBytes, PyMapping, PySet as Set, PyString};

/// Actions, each with its reward.
pub(crate) type Batch = Vec<(Py<PyAction>, Reward)>;

/// Reads two lists of equal length. `find` turns a label or index into an action.
pub(crate) fn read_batch(
    actions: &Bound<'_, PyAny>,
    rewards: &Bound<'_, PyAny>,
    outcomes: &Outcomes,
    find: impl Fn(&Bound<'_, PyAny>, &str) -> PyResult<Py<PyAction>>,
) -> PyResult<Batch> {
    let (actions, rewards) = (list(actions, "actions")?, list(rewards, "rewards")?);
    if actions.len() != rewards.len() {
        refuse!(
            "rewards: {} actions were taken, and there are {} rewards",
            actions.len(),
            rewards.len()
        );
    }
    let mut batch = Vec::with_capacity(actions.len());
    for (place, (action, reward)) in actions.iter().zip(&rewards).enumerate() {
        let reward = outcomes.read_one(reward, &format!("rewards[{place}]"))?;
        let action = match action.cast::<PyAction>() {
            Ok(action) => action.clone().unbind(),
            Err(_) => find(action, &format!("actions[{place}]"))?,
        };
        batch.push((action, reward));
    }
    Ok(batch)
}

/// The items of a list, or of anything else with a length and an order.
fn list<'py>(value: &Bound<'py, PyAny>, argument: &str) -> PyResult<Vec<Bound<'py, PyAny>>> {
    let unordered = value.is_instance_of::<PyString>()
        || value.is_instance_of::<PyBytes>()
        || value.is_instance_of::<PyByteArray>()
        || value.is_instance_of::<Set>()
        || value.cast::<PyMapping>().is_ok();
    let expected = || errors::expected("a list", argument, value);
    if unordered || value.is_instance_of::<PySet>() || value.len().is_err() {
        return Err(expected());
    }
    // Reads no more items than its length, because its iterator may never end.
    let most = value.len()?;
    value.try_iter().map_err(|_raised| expected())?.take(most).collect()
}
