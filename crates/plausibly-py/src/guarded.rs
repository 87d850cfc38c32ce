//! A policy in use, which [`crate::policy::PyPolicy`] keeps behind a lock.
//!
//! The library's policy is built when the first actions arrive, because only they show the number
//! of features and of actions. Every call checks its actions before it changes the policy.

use crate::action::PyAction;
use crate::actions::{MOST_ARMS, PySet};
use crate::batch::Batch;
use crate::errors::refuse;
use crate::outcomes::Reward;
use crate::roster::Roster;
use crate::settings::Settings;
use crate::waiting::Waiting;
use plausibly::spec::{Facts, PolicyKind, PolicySpec, RadiusKind, RadiusSpec, Setting};
use plausibly::state::Durable;
use plausibly::{Action, Stream};
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyList;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// An action has at most this many features; a model's memory grows with the square of them.
const MOST_FEATURES: usize = 4096;

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

/// A policy, and the actions it is for.
pub(crate) struct Built {
    pub(crate) policy: Box<dyn Durable + Send>,
    pub(crate) spec: PolicySpec,
    pub(crate) facts: Facts,
    /// The first set, for policies that only accept one set.
    pub(crate) first: Option<Py<PySet>>,
    /// Its arms, if actions have no features.
    pub(crate) roster: Option<Roster>,
    /// The set whose arms are on duty.
    pub(crate) on_duty: Option<Py<PySet>>,
    /// Whether it has chosen an action.
    pub(crate) selected: bool,
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

impl Built {
    fn new(settings: &Settings, set: &Bound<'_, PySet>) -> PyResult<Self> {
        let view = set.get().set.view();
        let mut built = Self::sized(settings, view.dim(), view.len())?;
        built.first = built.is_for_one_set().then(|| set.clone().unbind());
        if view.dim() == 0 {
            (built.roster, built.on_duty) = (Some(Roster::of(set)?), Some(set.clone().unbind()));
        }
        Ok(built)
    }

    /// Builds a policy for the set of an action, or for the action alone if it has no set.
    fn for_action(py: Python<'_>, settings: &Settings, action: &PyAction) -> PyResult<Self> {
        if let Some(home) = &action.home {
            return Self::new(settings, home.bind(py));
        }
        if action.features.is_empty() {
            let roster = Roster::of_action(py, action)?;
            let built = Self::sized(settings, 0, roster.size)?;
            if built.has_bell_set() {
                return Err(not_seen());
            }
            return Ok(Self { roster: Some(roster), ..built });
        }
        let built = Self::sized(settings, action.features.len(), action.of)?;
        if built.is_for_one_set() {
            return Err(not_seen());
        }
        Ok(built)
    }

    /// Builds a policy for this number of actions with `dim` features; 0 for plain arms.
    pub(crate) fn sized(settings: &Settings, dim: usize, actions: usize) -> PyResult<Self> {
        if dim > MOST_FEATURES {
            refuse!("actions: {dim} features, and a policy takes at most {MOST_FEATURES}");
        }
        let setting = if dim == 0 { Setting::Arms } else { Setting::Fixed };
        let (spec, facts) =
            (settings.spec(setting)?.clone(), settings.facts(setting, dim, actions));
        if knows_places(&spec) && actions > MOST_ARMS {
            refuse!("actions: {actions} actions, and a policy takes at most {MOST_ARMS}");
        }
        let policy =
            spec.build(&facts).map_err(|error| PyValueError::new_err(error.to_string()))?;
        let (first, roster, on_duty, selected) = (None, None, None, false);
        Ok(Self { policy, spec, facts, first, roster, on_duty, selected })
    }

    /// The setting of its model: plain arms, even if actions have features, for a policy that
    /// ignores features.
    pub(crate) fn model_setting(&self) -> Setting {
        if knows_places(&self.spec) { Setting::Arms } else { self.facts.setting }
    }

    /// Whether actions have features and every round must offer the same set.
    pub(crate) fn is_for_one_set(&self) -> bool {
        let one_set = knows_places(&self.spec)
            || matches!(self.spec.kind, PolicyKind::Elimination { .. })
            || self.facts.setting == Setting::Fixed;
        one_set && self.facts.dim > 0
    }

    /// Whether its confidence set has coordinates that the first actions fix.
    fn has_bell_set(&self) -> bool {
        own_radius(&self.spec).is_some_and(|radius| radius.kind == RadiusKind::Bell)
    }

    /// Refuses events of a policy that takes its coordinates from the first set it selects from.
    fn check_seen(&self) -> PyResult<()> {
        if self.has_bell_set() && self.facts.setting == Setting::Fixed && !self.selected {
            refuse!(
                "action: the bell-curve set takes its coordinates from the actions offered; select \
                 from them first"
            );
        }
        Ok(())
    }

    /// Refuses other arms than the first ones where the confidence set does not allow them.
    fn check_arms_stay(&self) -> PyResult<()> {
        if self.has_bell_set() {
            refuse!(
                "actions: the bell-curve set is for the same arms in every round, and these are \
                 others; use noise=NUMBER or outcomes=(LOW, HIGH) where arms come and go, or make \
                 a new policy"
            );
        }
        Ok(())
    }

    /// This policy moved to the arms of a set; `None` if it is over them already.
    fn for_arms(&self, settings: &Settings, set: &Bound<'_, PySet>) -> PyResult<Option<Self>> {
        let Some(roster) = &self.roster else { return Ok(None) };
        if self.on_duty.as_ref().is_some_and(|on_duty| on_duty.is(set))
            || roster.has_on_duty(set)?
        {
            return Ok(None);
        }
        self.check_arms_stay()?;
        let (py, set_of) = (set.py(), set.get());
        let (known, called) = roster.calling(py, set_of.labels(py), 0..set_of.set.view().len())?;
        let mut built = self.on(settings, known, called)?;
        built.on_duty = Some(set.clone().unbind());
        Ok(Some(built))
    }

    /// This policy moved to the arms on duty and the arm of `action`; `None` if that arm is on duty
    /// already.
    fn for_arm(
        &self,
        py: Python<'_>,
        settings: &Settings,
        action: &PyAction,
    ) -> PyResult<Option<Self>> {
        let Some(roster) = &self.roster else { return Ok(None) };
        if roster.place(py, action)?.is_some() {
            return Ok(None);
        }
        self.check_arms_stay()?;
        let labels = action.label(py).map(|label| PyList::new(py, [label])).transpose()?;
        let (known, called) = roster.calling(py, labels, action.index..action.index + 1)?;
        let duty = roster.duty.iter().copied().chain(called).collect();
        self.on(settings, known, duty).map(Some)
    }

    /// This policy moved to the arms with these numbers.
    pub(crate) fn on(
        &self,
        settings: &Settings,
        mut known: Roster,
        called: Vec<usize>,
    ) -> PyResult<Self> {
        let Some(roster) = &self.roster else { unreachable!("asked of arms alone") };
        let mut built = Self::sized(settings, 0, called.len())?;
        let state = roster.transferred(&*self.policy, &mut known, called);
        let restored = built.policy.restore(&state);
        restored.map_err(|error| {
            PyValueError::new_err(format!("the arms cannot be changed: {error}"))
        })?;
        built.roster = Some(known);
        Ok(built)
    }

    /// The index of an action in the policy.
    fn place(&self, py: Python<'_>, action: &PyAction) -> PyResult<usize> {
        match &self.roster {
            Some(roster) => Ok(roster.place(py, action)?.unwrap_or(action.index)),
            None => Ok(action.index),
        }
    }

    fn check(&self, set: &Bound<'_, PySet>) -> PyResult<()> {
        let view = set.get().set.view();
        self.check_dim(view.dim())?;
        match &self.first {
            Some(first) if !first.is(set) && !first.get().has_rows_of(set.get()) => {
                Err(self.other_set(view.len()))
            }
            _ => Ok(()),
        }
    }

    fn check_action(&self, action: &PyAction) -> PyResult<()> {
        self.check_dim(action.features.len())?;
        self.roster.as_ref().map_or(Ok(()), |roster| roster.same_naming(action.has_label()))?;
        let same_row = |first: &Py<PySet>| {
            let first = first.get().set.view();
            first.len() == action.of && first.get(action.index).features() == &*action.features
        };
        if self.first.as_ref().is_none_or(same_row) {
            Ok(())
        } else {
            Err(self.other_set(action.of))
        }
    }

    /// Checks that the policy takes such a reward; the error names it `argument`.
    fn check_reward(&self, reward: Reward, argument: &str) -> PyResult<()> {
        let Some((low, high)) = self.policy.reward_range() else { return Ok(()) };
        let (least, most) = match reward {
            Reward::One(reward) => (reward, reward),
            Reward::Counted { .. } => (0.0, 1.0),
        };
        for reward in [least, most] {
            if !(low..=high).contains(&reward) {
                refuse!("{argument}: this policy takes rewards from {low} to {high}, got {reward}");
            }
        }
        Ok(())
    }

    fn check_dim(&self, dim: usize) -> PyResult<()> {
        if dim == self.facts.dim {
            return Ok(());
        }
        let count = |dim, none: &str| if dim == 0 { none.into() } else { format!("{dim}") };
        let (began, now) = (count(self.facts.dim, "no"), count(dim, "none"));
        refuse!("actions: the policy began with {began} features and is offered {now}")
    }

    /// The error when a policy for one set is offered another set.
    fn other_set(&self, len: usize) -> PyErr {
        let began = self.facts.actions;
        let reason = if began != len {
            format!("the policy began with {began} actions and is offered {len}")
        } else if knows_places(&self.spec) {
            "the policy knows actions by their place alone, and other features stand there now"
                .into()
        } else if matches!(self.spec.kind, PolicyKind::Elimination { .. }) {
            "elimination plays one fixed set of actions in phases, and these have other features"
                .into()
        } else {
            "the policy was promised the same actions in every round, and these have other features"
                .into()
        };
        let instead = if own_radius(&self.spec).is_some() && !knows_places(&self.spec) {
            "leave out same_actions where actions change"
        } else {
            "use Code or LinUCB where actions change"
        };
        PyValueError::new_err(format!("actions: {reason}; {instead}, or make a new policy"))
    }
}

/// The error for an event of a policy that must see its set first.
fn not_seen() -> PyErr {
    PyValueError::new_err(
        "action: this policy is for one set of actions, and has not seen it yet; select from it \
         first, or pass the action itself, as in offers[3]",
    )
}

/// The radius that a policy decides by, if it has one of its own to set.
pub(crate) fn own_radius(spec: &PolicySpec) -> Option<RadiusSpec> {
    match spec.kind {
        PolicyKind::Code { radius, .. }
        | PolicyKind::Insured { radius, .. }
        | PolicyKind::LinUcb { radius, .. } => Some(radius),
        _ => None,
    }
}

/// Whether a policy ignores features. It then recognises an action by its index, so each index must
/// mean the same action in every round.
pub(crate) fn knows_places(spec: &PolicySpec) -> bool {
    matches!(
        spec.kind,
        PolicyKind::Ucb1 { .. } | PolicyKind::Thompson { .. } | PolicyKind::BetaThompson
    )
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
