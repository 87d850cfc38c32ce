//! Choices whose rewards have not come.
//!
//! What `select` returned carries its action, so it needs no list. The list is for labels that were
//! written down and come back by themselves, and for `dropped`, which must not take back what was
//! never decided.

use crate::action::PyAction;
use crate::actions::Named;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBool;
use std::collections::VecDeque;

/// The most choices remembered without a call of `decided`: a program that only selects must not
/// fill the memory.
const MOST_UNDECIDED: usize = 100;

/// Choices whose rewards have not come, the oldest first.
#[derive(Default)]
pub(crate) struct Waiting {
    choices: VecDeque<Choice>,
    undecided: usize,
}

struct Choice {
    action: Py<PyAction>,
    /// What `select` returned, if this was chosen by the policy in use.
    name: Option<Py<PyAny>>,
    decided: bool,
}

impl Waiting {
    /// `select` has chosen.
    pub(crate) fn chosen(&mut self, named: Named) {
        self.push(Choice { action: named.action, name: Some(named.name), decided: false });
        if self.undecided > MOST_UNDECIDED
            && let Some(oldest) = self.choices.iter().position(|choice| !choice.decided)
        {
            self.choices.remove(oldest);
            self.undecided -= 1;
        }
    }

    /// An action was taken: one that was chosen, or one that the caller took without asking.
    pub(crate) fn decided(&mut self, py: Python<'_>, action: &Py<PyAction>) {
        match self.place(py, action, |choice| !choice.decided) {
            Some(place) => {
                self.choices[place].decided = true;
                self.undecided -= 1;
            }
            None => self.push(Choice { action: action.clone_ref(py), name: None, decided: true }),
        }
    }

    /// Takes out one choice of an action; false if none is waiting.
    pub(crate) fn settle(&mut self, py: Python<'_>, action: &Py<PyAction>) -> bool {
        if let Some(choice) =
            self.place(py, action, |_| true).and_then(|place| self.choices.remove(place))
        {
            self.undecided -= usize::from(!choice.decided);
            return true;
        }
        false
    }

    /// Whether one of this action is waiting.
    pub(crate) fn has(&self, py: Python<'_>, action: &Py<PyAction>) -> bool {
        self.place(py, action, |_| true).is_some()
    }

    /// The action that the last choice returned, if this is the object that it returned.
    pub(crate) fn last_as(&self, label: &Bound<'_, PyAny>) -> Option<Py<PyAction>> {
        let last = self.choices.back()?;
        let carrier = last.name.as_ref().filter(|name| name.is(label))?;
        // A label that carries nothing is the same object in every set it stands in.
        let carries = last.action.get().label(label.py()).is_none_or(|label| !label.is(carrier));
        carries.then(|| last.action.clone_ref(label.py()))
    }

    /// All of them, for looking at without the lock, and for writing them down.
    pub(crate) fn list(&self, py: Python<'_>) -> Vec<(Py<PyAction>, bool)> {
        self.choices.iter().map(|choice| (choice.action.clone_ref(py), choice.decided)).collect()
    }

    /// What was written down.
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

    /// The latest choice of this action.
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

/// The waiting choice that a label or index by itself refers to, if there is one.
///
/// # Errors
/// If it could mean actions that differ, which a model would not forgive.
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
                return Err(PyValueError::new_err(format!(
                    "action: {label} was chosen from different action sets, with other features in each, and more than one of these choices waits for its reward; pass what select returned, or the action itself, as in offers[{label}], and call dropped with those whose rewards will never come"
                )));
            }
        }
    }
    Ok(found.map(|action| action.clone_ref(label.py())))
}

fn is_called(label: &Bound<'_, PyAny>, action: &PyAction) -> PyResult<bool> {
    let py = label.py();
    if action.has_label() {
        return label.eq(action.name(py)?.bind(py));
    }
    // An index is a whole number: neither 1.0 nor True, though they are equal to one.
    let whole = !label.is_instance_of::<PyBool>() && label.hasattr("__index__")?;
    Ok(whole && label.extract::<usize>().is_ok_and(|index| index == action.index))
}
