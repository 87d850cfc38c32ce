//! Choices that wait for their rewards.
//!
//! An object that `select` returned carries its action, so `update` does not need this list for it.
//! The list serves plain labels and indices, for example read from a file, and `dropped`, which
//! must refuse an action that was never decided.

use crate::action::PyAction;
use crate::actions::Named;
use crate::errors::refuse;
use crate::value;
use pyo3::prelude::*;
use std::collections::VecDeque;

/// At most this many choices without a call of `decided` are remembered, because a program that
/// only selects must not fill the memory.
const MOST_UNDECIDED: usize = 100;

/// Choices that wait for their rewards, oldest first.
#[derive(Default)]
pub(crate) struct Waiting {
    choices: VecDeque<Choice>,
    /// The number of choices without a call of `decided`.
    undecided: usize,
}

struct Choice {
    action: Py<PyAction>,
    /// What `select` returned; `None` for restored choices and those made by the caller.
    name: Option<Py<PyAny>>,
    decided: bool,
}

impl Waiting {
    /// Adds a choice of `select`.
    pub(crate) fn chosen(&mut self, named: Named) {
        self.push(Choice { action: named.action, name: Some(named.name), decided: false });
        if self.undecided > MOST_UNDECIDED
            && let Some(oldest) = self.choices.iter().position(|choice| !choice.decided)
        {
            self.choices.remove(oldest);
            self.undecided -= 1;
        }
    }

    /// Marks the latest choice of an action as decided; adds one if the caller chose it without
    /// `select`.
    pub(crate) fn decided(&mut self, py: Python<'_>, action: &Py<PyAction>) {
        match self.place(py, action, |choice| !choice.decided) {
            Some(place) => {
                self.choices[place].decided = true;
                self.undecided -= 1;
            }
            None => self.push(Choice { action: action.clone_ref(py), name: None, decided: true }),
        }
    }

    /// Removes the latest choice of an action, if one waits.
    pub(crate) fn settle(&mut self, py: Python<'_>, action: &Py<PyAction>) {
        let latest = self.place(py, action, |_| true);
        if let Some(choice) = latest.and_then(|place| self.choices.remove(place)) {
            self.undecided -= usize::from(!choice.decided);
        }
    }

    /// Whether a choice of this action waits.
    pub(crate) fn has(&self, py: Python<'_>, action: &Py<PyAction>) -> bool {
        self.place(py, action, |_| true).is_some()
    }

    /// The action of the last choice, if `label` is the very object that `select` returned for it.
    pub(crate) fn last_as(&self, label: &Bound<'_, PyAny>) -> Option<Py<PyAction>> {
        let last = self.choices.back()?;
        let carrier = last.name.as_ref().filter(|name| name.is(label))?;
        // A label that carries no action can be the same object in several sets.
        let carries = last.action.get().label(label.py()).is_none_or(|label| !label.is(carrier));
        carries.then(|| last.action.clone_ref(label.py()))
    }

    /// All choices, each with whether it was decided: for reading without the lock, and for saving.
    pub(crate) fn list(&self, py: Python<'_>) -> Vec<(Py<PyAction>, bool)> {
        self.choices.iter().map(|choice| (choice.action.clone_ref(py), choice.decided)).collect()
    }

    /// Reverses `list`.
    pub(crate) fn restored(list: Vec<(Py<PyAction>, bool)>) -> Self {
        let mut waiting = Self::default();
        for (action, decided) in list {
            waiting.push(Choice { action, name: None, decided });
        }
        waiting
    }

    fn push(&mut self, choice: Choice) {
        self.undecided += usize::from(!choice.decided);
        self.choices.push_back(choice);
    }

    /// The index of the latest choice of this action that `fits`.
    fn place(
        &self,
        py: Python<'_>,
        action: &Py<PyAction>,
        fits: impl Fn(&Choice) -> bool,
    ) -> Option<usize> {
        let alike = |choice: &Choice| {
            (choice.action.is(action) || choice.action.get().is_alike(py, action.get()))
                && fits(choice)
        };
        self.choices.iter().rposition(alike)
    }
}

/// Finds the latest waiting choice that a plain label or index refers to.
///
/// # Errors
/// If it could mean actions with different features: a guess could teach the model a wrong reward.
pub(crate) fn referred(
    label: &Bound<'_, PyAny>,
    choices: &[(Py<PyAction>, bool)],
) -> PyResult<Option<Py<PyAction>>> {
    let mut found: Option<&Py<PyAction>> = None;
    for (action, _) in choices.iter().rev() {
        if !is_called(label, action.get())? {
            continue;
        }
        match found {
            None => found = Some(action),
            Some(found) if found.get().features == action.get().features => {}
            Some(_) => {
                let label = label.repr()?;
                refuse!(
                    "action: {label} was chosen from different action sets, with other features in \
                     each, and more than one of these choices waits for its reward; pass what \
                     select returned, or the action itself, as in offers[{label}], and call \
                     dropped with those whose rewards will never come"
                );
            }
        }
    }
    Ok(found.map(|action| action.clone_ref(label.py())))
}

fn is_called(label: &Bound<'_, PyAny>, action: &PyAction) -> PyResult<bool> {
    match action.label(label.py()) {
        Some(its) => label.eq(its),
        None => Ok(value::is_whole(label)?
            && label.extract::<usize>().is_ok_and(|index| index == action.index)),
    }
}
