//! The class all policies share.

use crate::action::{self, PyAction};
use crate::actions::PySet;
use crate::batch::Batch;
use crate::explain;
use crate::guarded::{Event, Guarded};
use crate::saved;
use crate::settings::Settings;
use crate::waiting;
use plausibly::{MAX_MAGNITUDE, Stream};
use pyo3::exceptions::{PyOverflowError, PyRuntimeError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict};
use std::sync::{Mutex, MutexGuard};

/// A policy: chooses actions, learns from rewards, and explains itself.
///
/// Made by its subclasses in `plausibly`.
#[pyclass(frozen, subclass, name = "Policy", module = "plausibly._core")]
pub(crate) struct PyPolicy {
    settings: Settings,
    seed: u64,
    guarded: Mutex<Guarded>,
}

#[pymethods]
impl PyPolicy {
    #[new]
    #[pyo3(signature = (policy, facts, seed))]
    fn new(
        policy: &Bound<'_, PyAny>,
        facts: &Bound<'_, PyAny>,
        seed: &Bound<'_, PyAny>,
    ) -> PyResult<Self> {
        let settings = Settings::read(policy, facts)?;
        let seed = read_seed(seed)?;
        let rng = stream(seed, &settings);
        Ok(Self { settings, seed, guarded: Mutex::new(Guarded::new(rng)) })
    }

    /// The action to take next: its label if the set has labels, else its index.
    ///
    /// `actions` is an `ActionSet`, or rows of features, which are then converted on every call.
    /// What is returned is equal to the label or index and carries the action itself, so that
    /// update knows it however late its reward comes.
    fn select(&self, actions: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
        let set = offered(actions)?;
        self.lock()?.select(&self.settings, &set)
    }

    /// Learns the reward of an action that was taken, now or earlier.
    ///
    /// `action` is what select returned, however long ago, or the action itself: `offers[label]`. A
    /// label or index that was written down and read back means the latest choice of that name
    /// whose reward has not come, else the action of that name in the set offered last; it is
    /// refused where choices of that name with different features wait.
    ///
    /// >>> from plausibly import LinUCB
    /// >>> policy = LinUCB(radius=1.0)
    /// >>> early = policy.select([[1.0, 0.0], [0.0, 0.5]])
    /// >>> late = policy.select([[0.0, 2.0]])
    /// >>> policy.update(late, 0.5)
    /// >>> policy.update(early, 1.0)
    /// >>> policy.observations
    /// 2
    fn update(&self, action: &Bound<'_, PyAny>, reward: &Bound<'_, PyAny>) -> PyResult<()> {
        self.tell(action, Event::Rewarded(read_reward(reward, "reward")?))
    }

    /// Learns the rewards of many actions that were taken: as one update after another, or nothing
    /// at all if one of them is wrong.
    ///
    /// `actions` lists what select returned, labels or indices, or the actions themselves, as
    /// update takes them; with `offers`, labels or indices of that set.
    ///
    /// >>> from plausibly import ActionSet, UCB1
    /// >>> policy = UCB1(noise_scale=1.0)
    /// >>> policy.partial_fit(["a", "b", "a"], [0.5, 0.25, 0.75], offers=ActionSet.arms(2, labels=["a", "b"]))
    /// >>> policy.observations
    /// 3
    #[expect(clippy::doc_link_with_quotes, reason = "lists of Python")]
    #[pyo3(signature = (actions, rewards, *, offers=None))]
    fn partial_fit(
        &self,
        actions: &Bound<'_, PyAny>,
        rewards: &Bound<'_, PyAny>,
        offers: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        let offers = offers.map(|offers| given_set(offers)).transpose()?;
        let batch = Batch::read(actions, rewards, |action, argument| match &offers {
            Some(offers) => {
                let offers = offers.bind(action.py());
                let action = PyAction::at_home(offers, offers.get().position(action, argument)?)?;
                Py::new(offers.py(), action)
            }
            None => self.find(action, argument),
        })?;
        self.lock()?.tell_all(actions.py(), &self.settings, &batch)
    }

    /// An action was taken, and its reward is outstanding until update brings it.
    ///
    /// Call it after each select where rewards may come after the next one: Code then counts the
    /// decision in its design at once. Where rewards come at once it changes nothing.
    fn decided(&self, action: &Bound<'_, PyAny>) -> PyResult<()> {
        self.tell(action, Event::Decided)
    }

    /// The reward of an action that was taken will never come.
    ///
    /// Refused where no choice of the action is outstanding. Of the choices that decided was not
    /// called for, the last 100 are remembered.
    fn dropped(&self, action: &Bound<'_, PyAny>) -> PyResult<()> {
        self.tell(action, Event::Dropped)
    }

    /// How many rewards have been learned from.
    #[getter]
    fn observations(&self) -> PyResult<u64> {
        Ok(self.lock()?.observations())
    }

    /// Its name in results, which also decides its random numbers.
    #[getter]
    fn label(&self) -> &str {
        self.settings.label()
    }

    /// The parameters that were given, under their names in Python.
    fn _given<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let given = self.settings.parameters(py)?;
        given.set_item("seed", self.seed)?;
        Ok(given)
    }

    /// So many rounds played here, where an action always pays the same, and what was chosen: a
    /// round without Python, for benchmarks.
    #[expect(clippy::needless_pass_by_value, reason = "what a list of Python becomes")]
    fn _play(
        &self,
        actions: &Bound<'_, PySet>,
        rewards: Vec<f64>,
        rounds: usize,
    ) -> PyResult<Vec<usize>> {
        if rewards.len() != actions.get().set.view().len()
            || rewards.iter().any(|reward| !reward.is_finite())
        {
            return Err(PyValueError::new_err("rewards: a finite number for each action"));
        }
        self.lock()?.play(&self.settings, actions, &rewards, rounds)
    }

    /// All that it is made of as text, the sets that the text speaks of by their place, and the
    /// choices that wait for their rewards, each with whether it was decided.
    fn _save(&self, py: Python<'_>) -> PyResult<saved::Written> {
        saved::save(py, &self.settings, self.seed, &*self.lock()?)
    }

    /// Goes on from what `_save` gave. For a policy that was just made with the same settings.
    #[expect(clippy::needless_pass_by_value, reason = "a list of Python comes as a vector")]
    fn _restore(
        &self,
        py: Python<'_>,
        text: &str,
        sets: Vec<Py<PySet>>,
        waiting: Vec<(Py<PyAction>, bool)>,
    ) -> PyResult<()> {
        let rng = stream(self.seed, &self.settings);
        let restored = saved::restore(py, &self.settings, rng, text, &sets, waiting)?;
        *self.lock()? = restored;
        Ok(())
    }

    #[pyo3(signature = (actions, radius=None))]
    fn _explain<'py>(
        &self,
        actions: &Bound<'py, PyAny>,
        radius: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let set = offered(actions)?;
        let found = explain::explain(&*self.lock()?, &self.settings, &set, radius)?;
        found.to_dict(&set)
    }
}

/// The stream the simulator gives the policy of this label in its first run.
fn stream(seed: u64, settings: &Settings) -> Stream {
    Stream::new(seed, 0, &format!("policy/{}", settings.label()))
}

impl PyPolicy {
    /// No Python code runs under the lock but what an object may do as it goes; if that calls back,
    /// it is refused here.
    fn lock(&self) -> PyResult<MutexGuard<'_, Guarded>> {
        let busy = "the policy is busy with another call: it was called from another thread, or from within itself";
        self.guarded.try_lock().ok().ok_or_else(|| PyRuntimeError::new_err(busy))
    }

    fn tell(&self, action: &Bound<'_, PyAny>, event: Event) -> PyResult<()> {
        let found = self.find(action, "action")?;
        self.lock()?.tell(&self.settings, found.bind(action.py()), event)
    }

    /// The action that an argument means.
    fn find(&self, action: &Bound<'_, PyAny>, argument: &str) -> PyResult<Py<PyAction>> {
        let py = action.py();
        if let Ok(action) = action.cast::<PyAction>() {
            return Ok(action.clone().unbind());
        }
        if let Some(last) = self.lock()?.waiting.last_as(action) {
            return Ok(last);
        }
        if let Some(carried) = action::carried(action)? {
            return Ok(carried);
        }
        // Without the lock: comparing labels may run Python code.
        let choices = self.lock()?.waiting.list(py);
        if let Some(waiting) = waiting::referred(action, &choices)? {
            return Ok(waiting);
        }
        let set = self.lock()?.referred(py)?;
        let index = set.get().position(action, argument)?;
        Py::new(py, PyAction::at_home(set.bind(py), index)?)
    }
}

/// The set itself, or one made of the rows given in its place.
fn offered<'py>(actions: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PySet>> {
    match actions.cast::<PySet>() {
        Ok(set) => Ok(set.clone()),
        Err(_) => Bound::new(actions.py(), PySet::bare(actions)?),
    }
}

/// A set in its own right: rows in its place would be another set on every call.
fn given_set(offers: &Bound<'_, PyAny>) -> PyResult<Py<PySet>> {
    if let Ok(set) = offers.cast::<PySet>() {
        return Ok(set.clone().unbind());
    }
    let found = offers.get_type().name()?;
    Err(PyTypeError::new_err(format!("offers: expected an ActionSet, found {found}")))
}

/// A reward that a model can learn from; `argument` is what errors call it.
pub(crate) fn read_reward(reward: &Bound<'_, PyAny>, argument: &str) -> PyResult<f64> {
    let read = reward.extract::<f64>().map_err(|error| {
        if error.is_instance_of::<PyOverflowError>(reward.py()) {
            return PyValueError::new_err(format!("{argument}: too large for a number"));
        }
        let found = reward
            .get_type()
            .name()
            .map_or_else(|_| "something else".into(), |name| name.to_string());
        PyTypeError::new_err(format!("{argument}: expected a number, found {found}"))
    })?;
    // Not a comparison with the opposite: a NaN must be refused too.
    if read.abs() <= MAX_MAGNITUDE {
        Ok(read)
    } else {
        Err(PyValueError::new_err(format!(
            "{argument}: must be finite and at most 1e100 in magnitude, got {read}"
        )))
    }
}

/// A seed as specs have it.
fn read_seed(seed: &Bound<'_, PyAny>) -> PyResult<u64> {
    if seed.is_instance_of::<PyBool>() || !seed.hasattr("__index__")? {
        let found = seed.get_type().name()?;
        return Err(PyTypeError::new_err(format!("seed: expected a whole number, found {found}")));
    }
    let range = || PyValueError::new_err(format!("seed: must be from 0 to {}", i64::MAX));
    seed.extract::<u64>().ok().filter(|seed| i64::try_from(*seed).is_ok()).ok_or_else(range)
}
