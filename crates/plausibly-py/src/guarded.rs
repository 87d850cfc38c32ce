//! A policy in use, which [`crate::policy::PyPolicy`] keeps behind a lock.
//!
//! The library's policy is built when the first actions arrive, because only they show the number
//! of features and of actions. Every call checks its actions before it changes the policy.

use crate::action::PyAction;
use crate::actions::PySet;
use crate::batch::Batch;
use crate::built::Built;
use crate::errors::refuse;
use crate::outcomes::Reward;
use crate::settings::Settings;
use crate::waiting::Waiting;
use plausibly::{Action, Stream};
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// The state of a policy, which every call reads or changes.
pub(crate) struct Guarded {
    pub(crate) rng: Stream,
    /// `None` before the first actions.
    pub(crate) built: Option<Built>,
    /// The set offered last. An index or label that comes without a set refers to it.
    pub(crate) offered: Option<Py<PySet>>,
    /// Choices whose rewards have not come.
    pub(crate) waiting: Waiting,
    /// Why the policy can no longer be used.
    broken: Option<String>,
    /// Whether it was restored, so that a failure may come from the saved state.
    pub(crate) restored: bool,
}

/// What happened to one action.
#[derive(Clone, Copy)]
pub(crate) enum Event {
    Rewarded(Reward),
    Decided,
    Dropped,
}

impl Guarded {
    pub(crate) fn new(rng: Stream) -> Self {
        Self {
            rng,
            built: None,
            offered: None,
            waiting: Waiting::default(),
            broken: None,
            restored: false,
        }
    }

    /// Checks that `set` fits, and returns the policy with its random numbers; builds the policy if
    /// `set` is the first.
    fn fitted(
        &mut self,
        settings: &Settings,
        set: &Bound<'_, PySet>,
    ) -> PyResult<(&mut Built, &mut Stream)> {
        if let Some(made) = self.made_for(settings, set)? {
            self.built = Some(made);
        }
        let Some(built) = &mut self.built else { unreachable!("there, or made above") };
        Ok((built, &mut self.rng))
    }

    /// Checks that `set` fits. Returns the policy for it, unless the present one is.
    pub(crate) fn made_for(
        &self,
        settings: &Settings,
        set: &Bound<'_, PySet>,
    ) -> PyResult<Option<Built>> {
        self.usable()?;
        match &self.built {
            Some(built) => {
                built.check(set)?;
                built.for_arms(settings, set)
            }
            None => Built::new(settings, set).map(Some),
        }
    }

    /// Checks that `action` and what happened to it fit, and returns the policy; builds it if
    /// `action` is the first.
    fn fitted_to(
        &mut self,
        py: Python<'_>,
        settings: &Settings,
        action: &PyAction,
        event: Event,
    ) -> PyResult<&mut Built> {
        let made = match &self.built {
            Some(built) => {
                built.check_action(action)?;
                built.for_arm(py, settings, action)?
            }
            None => Some(Built::for_action(py, settings, action)?),
        };
        if let (Event::Rewarded(reward), Some(built)) =
            (event, made.as_ref().or(self.built.as_ref()))
        {
            built.check_reward(reward, "reward")?;
        }
        if let Some(made) = made {
            self.built = Some(made);
        }
        let Some(built) = &mut self.built else { unreachable!("there, or made above") };
        Ok(built)
    }

    pub(crate) fn usable(&self) -> PyResult<()> {
        self.broken.as_ref().map_or(Ok(()), |reason| {
            Err(self
                .failure(format!("the policy failed earlier and its model may be wrong: {reason}")))
        })
    }

    /// The next action, under its name for the caller.
    pub(crate) fn select(
        &mut self,
        settings: &Settings,
        set: &Bound<'_, PySet>,
    ) -> PyResult<Py<PyAny>> {
        let py = set.py();
        let (built, rng) = self.fitted(settings, set)?;
        built.selected = true;
        let chosen = unwound(|| built.policy.select(set.get().set.view(), rng));
        let chosen = self.unbroken(chosen)?;
        self.offered = Some(set.clone().unbind());
        let named = set.get().chosen(py, chosen)?;
        let name = named.name.clone_ref(py);
        self.waiting.chosen(named);
        Ok(name)
    }

    /// The set that an index or label refers to if no choice of that name waits for its reward.
    pub(crate) fn referred(&self, py: Python<'_>) -> PyResult<Py<PySet>> {
        let none = "action: nothing was selected yet, so an index or label has no action set; pass \
                    the action itself, as in offers[3]";
        self.offered
            .as_ref()
            .map(|set| set.clone_ref(py))
            .ok_or_else(|| PyValueError::new_err(none))
    }

    /// Passes an event of an action to the policy.
    pub(crate) fn tell(
        &mut self,
        settings: &Settings,
        action: &Bound<'_, PyAction>,
        event: Event,
    ) -> PyResult<()> {
        let (py, action) = (action.py(), action.as_unbound());
        self.usable()?;
        if matches!(event, Event::Dropped) && !self.waiting.has(py, action) {
            let name = action.get().name(py)?;
            refuse!(
                "action: no choice of {} waits for its reward, so none can be dropped: it was \
                 never decided, or its reward came, or it was dropped before",
                name.bind(py).repr()?
            );
        }
        let built = self.fitted_to(py, settings, action.get(), event)?;
        built.check_seen()?;
        let place = built.place(py, action.get())?;
        let view = Action::new(place, &action.get().features);
        let told = unwound(|| match event {
            Event::Rewarded(Reward::One(reward)) => built.policy.update(view, reward),
            Event::Rewarded(Reward::Counted { successes, of }) => {
                built.policy.count(view, successes, of);
            }
            Event::Decided => built.policy.decided(view),
            Event::Dropped => built.policy.dropped(view),
        });
        self.unbroken(told)?;
        match event {
            Event::Decided => self.waiting.decided(py, action),
            Event::Rewarded(_) | Event::Dropped => self.waiting.settle(py, action),
        }
        Ok(())
    }

    /// Plays rounds without returning to Python: `rewards` holds the reward of each action.
    pub(crate) fn play(
        &mut self,
        settings: &Settings,
        set: &Bound<'_, PySet>,
        rewards: &[f64],
        rounds: usize,
    ) -> PyResult<Vec<usize>> {
        let (built, rng) = self.fitted(settings, set)?;
        for (place, reward) in rewards.iter().enumerate() {
            let argument = format!("rewards[{place}]");
            settings.outcomes.check(*reward, &argument)?;
            built.check_reward(Reward::One(*reward), &argument)?;
        }
        built.selected = true;
        let view = set.get().set.view();
        let round = |_| {
            let chosen = built.policy.select(view, rng);
            built.policy.update(view.get(chosen), rewards[chosen]);
            chosen
        };
        let played = unwound(|| (0..rounds).map(round).collect());
        self.unbroken(played)
    }

    /// Learns many rewards, after checking that all of them and their actions fit.
    pub(crate) fn tell_all(
        &mut self,
        py: Python<'_>,
        settings: &Settings,
        batch: &Batch,
    ) -> PyResult<()> {
        self.usable()?;
        let Some((first, _)) = batch.first() else { return Ok(()) };
        let mut fresh = None;
        let built = match &self.built {
            Some(built) => built,
            None => fresh.insert(Built::for_action(py, settings, first.get())?),
        };
        built.check_seen()?;
        for (place, (action, reward)) in batch.iter().enumerate() {
            built.check_action(action.get())?;
            built.check_reward(*reward, &format!("rewards[{place}]"))?;
        }
        for (action, reward) in batch {
            self.tell(settings, action.bind(py), Event::Rewarded(*reward))?;
        }
        Ok(())
    }

    /// After a panic in the middle of a step the policy is not used again.
    fn unbroken<T>(&mut self, outcome: Result<T, String>) -> PyResult<T> {
        outcome.map_err(|reason| {
            let failure = self.failure(format!("the policy cannot go on: {reason}"));
            self.broken = Some(reason);
            failure
        })
    }

    /// The exception for a failure that checked arguments should not cause. If the policy was
    /// restored, the most likely cause is the saved state, and the message says so.
    pub(crate) fn failure(&self, message: String) -> PyErr {
        if self.restored {
            PyValueError::new_err(format!(
                "{message}; the state it was restored from is not the state of a policy"
            ))
        } else {
            PyRuntimeError::new_err(message)
        }
    }

    /// The number of rewards learned from so far.
    pub(crate) fn observations(&self) -> u64 {
        self.built.as_ref().map_or(0, |built| built.policy.model().evidence().observations)
    }
}

/// Runs `step`, and returns the message if it panics. Arguments are checked before, so a panic is a
/// bug in this project or a damaged state.
pub(crate) fn unwound<T>(step: impl FnOnce() -> T) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(step)).map_err(|panic| {
        let text = panic.downcast_ref::<String>().cloned();
        text.or_else(|| panic.downcast_ref::<&str>().map(ToString::to_string))
            .unwrap_or_else(|| "no reason given".into())
    })
}
