//! A policy in use: what is behind the lock.

use crate::actions::PySet;
use crate::batch::Batch;
use crate::settings::Settings;
use plausibly::spec::{Facts, PolicyKind, PolicySpec, Setting};
use plausibly::state::Durable;
use plausibly::{Action, Stream};
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Features an action may have: a model keeps a square of them.
const MOST_FEATURES: usize = 4096;

/// What a policy has become once it has seen actions.
pub(crate) struct Guarded {
    pub(crate) rng: Stream,
    pub(crate) built: Option<Built>,
    /// The set that was offered last: what an index or a label without a set refers to.
    pub(crate) offered: Option<Py<PySet>>,
    /// The sets of which the policy remembers something, the last one first. Rows that come again are the same set, whatever object
    /// they come in: scores are kept under the identity of a set, and so are the promises of a deadline.
    pub(crate) known: Vec<Py<PySet>>,
    /// Choices whose rewards have not come, as far as can be told.
    pub(crate) waiting: u64,
    /// Whether those choices came from different sets.
    pub(crate) mixed: bool,
    /// Why it can no longer be used.
    broken: Option<String>,
}

/// A policy, and what fits it.
pub(crate) struct Built {
    pub(crate) policy: Box<dyn Durable + Send>,
    pub(crate) spec: PolicySpec,
    pub(crate) facts: Facts,
    /// The set it began with, for policies that know an action by its place alone.
    pub(crate) first: Option<Py<PySet>>,
}

/// What is done with one action.
#[derive(Clone, Copy)]
pub(crate) enum Event {
    Rewarded(f64),
    Decided,
    Dropped,
}

impl Guarded {
    pub(crate) fn new(rng: Stream) -> Self {
        Self { rng, built: None, offered: None, known: Vec::new(), waiting: 0, mixed: false, broken: None }
    }

    /// The policy, made for `set` if it is the first it sees, once `set` is known to fit it.
    fn fitted(&mut self, settings: &Settings, set: &Bound<'_, PySet>) -> PyResult<&mut Built> {
        self.usable()?;
        match &mut self.built {
            Some(built) => {
                built.check(set)?;
                Ok(built)
            }
            unbuilt => Ok(unbuilt.insert(Built::new(settings, set)?)),
        }
    }

    /// The same for a mere question: a policy that has seen nothing yet stays so, and is made in `fresh`.
    pub(crate) fn asked<'a>(
        &'a self,
        settings: &Settings,
        set: &Bound<'_, PySet>,
        fresh: &'a mut Option<Built>,
    ) -> PyResult<&'a Built> {
        self.usable()?;
        match &self.built {
            Some(built) => {
                built.check(set)?;
                Ok(built)
            }
            None => Ok(fresh.insert(Built::new(settings, set)?)),
        }
    }

    pub(crate) fn usable(&self) -> PyResult<()> {
        self.broken.as_ref().map_or(Ok(()), |reason| {
            let message = format!("the policy failed earlier and its model may be wrong: {reason}");
            Err(PyRuntimeError::new_err(message))
        })
    }

    /// The next action.
    pub(crate) fn select(&mut self, settings: &Settings, set: &Bound<'_, PySet>) -> PyResult<usize> {
        self.fitted(settings, set)?;
        let alike = |offered: &Py<PySet>| offered.is(set) || offered.get().is_alike(set.py(), set.get());
        if !self.offered.as_ref().is_some_and(alike) {
            self.mixed |= self.waiting > 0;
            self.offered = Some(set.clone().unbind());
        }
        let same = self.recalled(set).clone_ref(set.py());
        let Some(built) = &mut self.built else { unreachable!("fitted above") };
        let chosen = unwound(|| built.policy.select(same.get().set.view(), &mut self.rng));
        let chosen = self.unbroken(chosen)?;
        self.remember(same);
        self.waiting += 1;
        Ok(chosen)
    }

    /// The set under whose identity the policy knows these rows: the one given, if it knows them by none.
    pub(crate) fn recalled<'a>(&'a self, set: &'a Bound<'_, PySet>) -> &'a Py<PySet> {
        let same = |known: &&Py<PySet>| known.is(set) || known.get().has_rows_of(set.get());
        self.known.iter().find(same).unwrap_or(set.as_unbound())
    }

    /// Keeps a set that was chosen from, and of those before it the ones that the policy still remembers.
    fn remember(&mut self, set: Py<PySet>) {
        if self.known.first().is_some_and(|last| last.is(&set)) {
            return;
        }
        let policy = self.built.as_ref().map(|built| &built.policy);
        let id = |set: &Py<PySet>| set.get().set.view().id();
        self.known
            .retain(|known| !known.is(&set) && policy.is_some_and(|policy| policy.remembers(id(known))));
        self.known.insert(0, set);
    }

    /// The set that an index or label refers to.
    pub(crate) fn referred(&self, py: Python<'_>) -> PyResult<Py<PySet>> {
        if self.mixed {
            let message = "action: choices from different action sets are waiting for their rewards, so an index or label could mean any of them; pass the action itself, as in offers[3]";
            return Err(PyValueError::new_err(message));
        }
        let none = "action: nothing was selected yet, so an index or label has no action set; pass the action itself, as in offers[3]";
        self.offered.as_ref().map(|set| set.clone_ref(py)).ok_or_else(|| PyValueError::new_err(none))
    }

    /// Tells the policy what became of an action.
    pub(crate) fn tell(
        &mut self,
        settings: &Settings,
        set: &Bound<'_, PySet>,
        index: usize,
        event: Event,
    ) -> PyResult<()> {
        let built = self.fitted(settings, set)?;
        let action = set.get().set.view().get(index);
        let told = unwound(|| tell(&mut *built.policy, action, event));
        self.unbroken(told)?;
        if !matches!(event, Event::Decided) {
            self.waiting = self.waiting.saturating_sub(1);
            self.mixed &= self.waiting > 0;
        }
        Ok(())
    }

    /// Rounds without a caller in between: each action pays what `rewards` says.
    pub(crate) fn play(
        &mut self,
        settings: &Settings,
        set: &Bound<'_, PySet>,
        rewards: &[f64],
        rounds: usize,
    ) -> PyResult<Vec<usize>> {
        self.fitted(settings, set)?;
        let same = self.recalled(set).clone_ref(set.py());
        let Some(built) = &mut self.built else { unreachable!("fitted above") };
        let (view, policy, rng) = (same.get().set.view(), &mut built.policy, &mut self.rng);
        let round = |_| {
            let chosen = policy.select(view, rng);
            policy.update(view.get(chosen), rewards[chosen]);
            chosen
        };
        let played = unwound(|| (0..rounds).map(round).collect());
        let played = self.unbroken(played)?;
        self.remember(same);
        Ok(played)
    }

    /// Tells the policy many rewards, once all of their sets are known to fit it.
    pub(crate) fn tell_all(&mut self, py: Python<'_>, settings: &Settings, batch: &Batch) -> PyResult<()> {
        let Some((set, ..)) = batch.told.first() else { return self.usable() };
        let mut fresh = None;
        let built = self.asked(settings, set.bind(py), &mut fresh)?;
        for (set, ..) in &batch.told {
            built.check(set.bind(py))?;
        }
        for (set, index, reward) in &batch.told {
            self.tell(settings, set.bind(py), *index, Event::Rewarded(*reward))?;
        }
        Ok(())
    }

    /// A policy that fell over in the middle of a step is not used again.
    fn unbroken<T>(&mut self, outcome: Result<T, String>) -> PyResult<T> {
        outcome.map_err(|reason| {
            let message = format!("the policy cannot go on: {reason}");
            self.broken = Some(reason);
            PyRuntimeError::new_err(message)
        })
    }

    /// Rewards learned from so far.
    pub(crate) fn observations(&self) -> u64 {
        self.built.as_ref().map_or(0, |built| built.policy.model().evidence().observations)
    }
}

fn tell(policy: &mut (dyn Durable + Send), action: Action<'_>, event: Event) {
    match event {
        Event::Rewarded(reward) => policy.update(action, reward),
        Event::Decided => policy.decided(action),
        Event::Dropped => policy.dropped(action),
    }
}

impl Built {
    fn new(settings: &Settings, set: &Bound<'_, PySet>) -> PyResult<Self> {
        let view = set.get().set.view();
        let mut built = Self::sized(settings, view.dim(), view.len())?;
        built.first = knows_places(&built.spec).then(|| set.clone().unbind());
        Ok(built)
    }

    /// For so many actions of so many features; none for plain arms.
    pub(crate) fn sized(settings: &Settings, dim: usize, actions: usize) -> PyResult<Self> {
        if dim > MOST_FEATURES {
            let message = format!("actions: {dim} features, and a policy takes at most {MOST_FEATURES}");
            return Err(PyValueError::new_err(message));
        }
        let setting = if dim == 0 { Setting::Arms } else { Setting::Fixed };
        let (spec, facts) = (settings.spec(setting)?.clone(), settings.facts(setting, dim, actions));
        let policy = spec.build(&facts).map_err(|error| PyValueError::new_err(error.to_string()))?;
        Ok(Self { policy, spec, facts, first: None })
    }

    /// What the model behind it is over: arms, also where actions have features it does not look at.
    pub(crate) fn model_setting(&self) -> Setting {
        if knows_places(&self.spec) { Setting::Arms } else { self.facts.setting }
    }

    fn check(&self, set: &Bound<'_, PySet>) -> PyResult<()> {
        let view = set.get().set.view();
        let refuse = |reason: String| Err(PyValueError::new_err(format!("actions: {reason}")));
        let Facts { dim, actions, .. } = self.facts;
        if view.dim() != dim {
            let plain = |dim| if dim == 0 { "none".to_string() } else { format!("{dim}") };
            return refuse(format!(
                "the policy began with {} features and is offered {}",
                plain(dim),
                plain(view.dim())
            ));
        }
        let by_count =
            self.model_setting() == Setting::Arms || matches!(self.spec.kind, PolicyKind::Elimination { .. });
        if by_count && view.len() != actions {
            return refuse(format!("the policy began with {actions} actions and is offered {}", view.len()));
        }
        match &self.first {
            Some(first) if !first.is(set) && !first.get().has_rows_of(set.get()) => refuse(
                "the policy knows actions by their place alone, and other features stand there now; use Code or LinUCB".into(),
            ),
            _ => Ok(()),
        }
    }
}

/// Whether a policy looks at no features: the same place must then mean the same action in every round.
pub(crate) fn knows_places(spec: &PolicySpec) -> bool {
    matches!(spec.kind, PolicyKind::Ucb1 { .. } | PolicyKind::Thompson { .. })
}

/// Runs `step`; if it panics, says why. Arguments are checked before they come here, so this is for what nobody thought of.
pub(crate) fn unwound<T>(step: impl FnOnce() -> T) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(step)).map_err(|panic| {
        let text = panic.downcast_ref::<String>().cloned();
        text.or_else(|| panic.downcast_ref::<&str>().map(ToString::to_string))
            .unwrap_or_else(|| "no reason given".into())
    })
}
