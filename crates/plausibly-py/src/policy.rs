//! The class that all policies share.
//!
//! It finds out which action an argument means and passes it on; [`Guarded`] holds the state.

use crate::action::{self, PyAction};
use crate::actions::PySet;
use crate::batch::read_batch;
use crate::errors::{self, refuse};
use crate::explain;
use crate::guarded::{Event, Guarded};
use crate::saved;
use crate::settings::Settings;
use crate::value;
use crate::waiting;
use plausibly::Stream;
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::sync::{Mutex, MutexGuard};

/// A policy: chooses actions, learns from rewards, and explains itself.
///
/// Use one of its subclasses in `plausibly`.
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
    /// The result equals the label or index and carries the action itself, so update recognises it
    /// however late the reward comes.
    fn select(&self, actions: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
        let set = offered(actions)?;
        self.lock()?.select(&self.settings, &set)
    }

    /// Learns the reward of an action that was taken, now or earlier.
    ///
    /// `action` is what select returned, however long ago, or the action itself: `offers[label]`.
    ///
    /// A plain label or index, for example one read from a file, means the latest choice of that
    /// name that waits for its reward. If none waits, it means the action of that name in the set
    /// offered last. It is refused if choices of that name with different features wait.
    ///
    /// Where outcomes are counts, pass how many of how many outcomes of the action were yes, as
    /// `successes` and `of` in the place of the reward. This is the same as that many single
    /// rewards of 1 and 0.
    ///
    /// >>> from plausibly import LinUCB
    /// >>> policy = LinUCB(radius=1.0)
    /// >>> early = policy.select([[1.0, 0.0], [0.0, 0.5]])
    /// >>> late = policy.select([[0.0, 2.0]])
    /// >>> policy.update(late, 0.5)
    /// >>> policy.update(early, 1.0)
    /// >>> policy.observations
    /// 2
    #[pyo3(signature = (action, reward=None, *, successes=None, of=None))]
    fn update(
        &self,
        action: &Bound<'_, PyAny>,
        reward: Option<&Bound<'_, PyAny>>,
        successes: Option<&Bound<'_, PyAny>>,
        of: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        let reward = self.settings.outcomes.read_update(reward, successes, of)?;
        self.tell(action, Event::Rewarded(reward))
    }

    /// Learns the rewards of many actions, like one update after another. If one of them is wrong,
    /// it learns nothing.
    ///
    /// Each of `actions` is anything that update takes: what select returned, a label or index, or
    /// the action itself. With `offers`, labels and indices are those of that set. Where outcomes
    /// are counts, each of `rewards` is a pair: how many of how many outcomes were yes.
    ///
    /// >>> from plausibly import ActionSet, UCB1
    /// >>> policy = UCB1(noise_scale=1.0)
    /// >>> arms = ActionSet.arms(["a", "b"])
    /// >>> policy.partial_fit(["a", "b", "a"], [0.5, 0.25, 0.75], offers=arms)
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
        let find = |action: &Bound<'_, PyAny>, argument: &str| match &offers {
            Some(offers) => {
                let offers = offers.bind(action.py());
                let action = PyAction::at_home(offers, offers.get().position(action, argument)?)?;
                Py::new(offers.py(), action)
            }
            None => self.find(action, argument),
        };
        let batch = read_batch(actions, rewards, &self.settings.outcomes, find)?;
        self.lock()?.tell_all(actions.py(), &self.settings, &batch)
    }

    /// Reports that an action was taken and its reward will come later, by update.
    ///
    /// Call it after each select if the reward may come after the next select: Code then counts the
    /// decision in its design at once. If each reward comes before the next select, calling it
    /// changes nothing.
    fn decided(&self, action: &Bound<'_, PyAny>) -> PyResult<()> {
        self.tell(action, Event::Decided)
    }

    /// Reports that the reward of an action that was taken will never come.
    ///
    /// Refused if no choice of the action waits for its reward. Choices without a call of decided
    /// are remembered too, but only the last 100 of them.
    fn dropped(&self, action: &Bound<'_, PyAny>) -> PyResult<()> {
        self.tell(action, Event::Dropped)
    }

    /// The number of rewards it has learned from.
    #[getter]
    fn observations(&self) -> PyResult<u64> {
        Ok(self.lock()?.observations())
    }

    /// Its name in results, which also determines its random numbers.
    #[getter]
    fn label(&self) -> &str {
        &self.settings.label
    }

    /// The parameters that the caller passed, under their names in Python.
    fn _given<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let given = self.settings.parameters(py)?;
        given.set_item("seed", self.seed)?;
        Ok(given)
    }

    /// Plays rounds without returning to Python, for benchmarks, and returns the choices. `rewards`
    /// holds one reward per action, the same in every round.
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
            refuse!("rewards: a finite number for each action");
        }
        self.lock()?.play(&self.settings, actions, &rewards, rounds)
    }

    /// The whole policy as text; the sets, which the text names by their index in this list; and
    /// the choices that wait for their rewards, each with whether decided was called.
    fn _save(&self, py: Python<'_>) -> PyResult<saved::Written> {
        saved::save(py, &self.settings, self.seed, &*self.lock()?)
    }

    /// Continues from the result of `_save`. The policy must be new and have the same settings.
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

    #[pyo3(signature = (actions, a, b, radius=None))]
    fn _compare<'py>(
        &self,
        actions: &Bound<'py, PyAny>,
        a: &Bound<'py, PyAny>,
        b: &Bound<'py, PyAny>,
        radius: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let set = offered(actions)?;
        let places = [place_in(&set, a, "a")?, place_in(&set, b, "b")?];
        explain::compare(&*self.lock()?, &self.settings, &set, places, radius)
    }

    #[pyo3(signature = (actions, radius=None))]
    fn _outlook<'py>(
        &self,
        actions: &Bound<'py, PyAny>,
        radius: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let set = offered(actions)?;
        explain::outlook(&*self.lock()?, &self.settings, &set, radius)
    }
}

/// The same stream as the simulator gives a policy with this label in its first run.
fn stream(seed: u64, settings: &Settings) -> Stream {
    Stream::new(seed, 0, &format!("policy/{}", settings.label))
}

impl PyPolicy {
    /// Refuses instead of waiting. Python code can run under this lock, for example when an object
    /// is freed; if such code called the policy again, waiting would never end.
    fn lock(&self) -> PyResult<MutexGuard<'_, Guarded>> {
        let busy = "the policy is busy with another call: it was called from another thread, or \
                    from within itself";
        self.guarded.try_lock().ok().ok_or_else(|| PyRuntimeError::new_err(busy))
    }

    fn tell(&self, action: &Bound<'_, PyAny>, event: Event) -> PyResult<()> {
        let found = self.find(action, "action")?;
        self.lock()?.tell(&self.settings, found.bind(action.py()), event)
    }

    /// Finds the action that an argument means.
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
        // Compares labels without the lock, because that may run Python code.
        let choices = self.lock()?.waiting.list(py);
        if let Some(waiting) = waiting::referred(action, &choices)? {
            return Ok(waiting);
        }
        let set = self.lock()?.referred(py)?;
        let index = set.get().position(action, argument)?;
        Py::new(py, PyAction::at_home(set.bind(py), index)?)
    }
}

/// The set itself, or a set made of rows passed in its place.
fn offered<'py>(actions: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PySet>> {
    match actions.cast::<PySet>() {
        Ok(set) => Ok(set.clone()),
        Err(_) => Bound::new(actions.py(), PySet::bare(actions)?),
    }
}

/// The place of an action that is named by label or index, or passed itself.
fn place_in(set: &Bound<'_, PySet>, action: &Bound<'_, PyAny>, argument: &str) -> PyResult<usize> {
    match action.cast::<PyAction>() {
        Ok(action) => set.get().position(action.get().name(set.py())?.bind(set.py()), argument),
        Err(_) => set.get().position(action, argument),
    }
}

/// Accepts only an `ActionSet`: rows would become a new set on every call.
fn given_set(offers: &Bound<'_, PyAny>) -> PyResult<Py<PySet>> {
    match offers.cast::<PySet>() {
        Ok(set) => Ok(set.clone().unbind()),
        Err(_) => Err(errors::expected("an ActionSet", "offers", offers)),
    }
}

/// Reads a seed, with the same range as in specs.
fn read_seed(seed: &Bound<'_, PyAny>) -> PyResult<u64> {
    if !value::is_whole(seed)? {
        return Err(errors::expected("a whole number", "seed", seed));
    }
    let range = || PyValueError::new_err(format!("seed: must be from 0 to {}", i64::MAX));
    seed.extract::<u64>().ok().filter(|seed| i64::try_from(*seed).is_ok()).ok_or_else(range)
}
