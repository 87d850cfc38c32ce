//! The library's policy behind a policy of Python, and the actions it is for.

use crate::action::PyAction;
use crate::actions::{MOST_ARMS, PySet};
use crate::errors::refuse;
use crate::outcomes::Reward;
use crate::roster::Roster;
use crate::settings::Settings;
use plausibly::Misfit;
use plausibly::spec::{Facts, PolicyKind, PolicySpec, RadiusKind, RadiusSpec, Setting};
use plausibly::state::Durable;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyList;

/// An action has at most this many features; a model's memory grows with the square of them.
const MOST_FEATURES: usize = 4096;

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

impl Built {
    pub(crate) fn new(settings: &Settings, set: &Bound<'_, PySet>) -> PyResult<Self> {
        let view = set.get().set.view();
        let mut built = Self::sized(settings, view.dim(), view.len())?;
        built.first = built.is_for_one_set().then(|| set.clone().unbind());
        if view.dim() == 0 {
            (built.roster, built.on_duty) = (Some(Roster::of(set)?), Some(set.clone().unbind()));
        }
        Ok(built)
    }

    /// Builds a policy for the set of an action, or for the action alone if it has no set.
    pub(crate) fn for_action(
        py: Python<'_>,
        settings: &Settings,
        action: &PyAction,
    ) -> PyResult<Self> {
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
    pub(crate) fn check_seen(&self) -> PyResult<()> {
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
    pub(crate) fn for_arms(
        &self,
        settings: &Settings,
        set: &Bound<'_, PySet>,
    ) -> PyResult<Option<Self>> {
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
    pub(crate) fn for_arm(
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
    pub(crate) fn place(&self, py: Python<'_>, action: &PyAction) -> PyResult<usize> {
        match &self.roster {
            Some(roster) => Ok(roster.place(py, action)?.unwrap_or(action.index)),
            None => Ok(action.index),
        }
    }

    pub(crate) fn check(&self, set: &Bound<'_, PySet>) -> PyResult<()> {
        let view = set.get().set.view();
        self.check_dim(view.dim())?;
        match &self.first {
            Some(first) if !first.is(set) && !first.get().has_rows_of(set.get()) => {
                Err(self.other_set(view.len()))
            }
            _ => Ok(()),
        }
    }

    pub(crate) fn check_action(&self, action: &PyAction) -> PyResult<()> {
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
    pub(crate) fn check_reward(&self, reward: Reward, argument: &str) -> PyResult<()> {
        let (least, most) = match reward {
            Reward::One(reward) => (reward, reward),
            Reward::Counted { .. } => (0.0, 1.0),
        };
        for reward in [least, most] {
            let range = match self.policy.model().check_reward(reward) {
                Err(Misfit::RewardRange { low, high, .. }) => Some((low, high)),
                Err(error) => {
                    let error = error.to_string();
                    refuse!("{argument}: {}", error.strip_prefix("reward ").unwrap_or(&error))
                }
                Ok(()) => self.policy.reward_range(),
            };
            match range {
                Some((low, high)) if !(low..=high).contains(&reward) => refuse!(
                    "{argument}: this policy takes rewards from {low} to {high}, got {reward}"
                ),
                _ => {}
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
        | PolicyKind::LinUcb { radius, .. }
        | PolicyKind::LaplaceTs { radius } => Some(radius),
        PolicyKind::EpsilonGreedy { radius, .. } => radius,
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
