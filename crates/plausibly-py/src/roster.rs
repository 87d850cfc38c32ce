//! Plain arms that come and go.
//!
//! A policy of the library has a fixed list of arms. Here that list holds the arms on duty: those
//! offered last. The roster keeps what was learned about all other arms, and when a caller offers
//! another list, a new policy over that list is built from both. An arm is recognised by its label,
//! or by its index if arms have no labels.
//!
//! All arms ever offered share δ, so from the arrival of the last new arm the intervals of all of
//! them hold at once.

use crate::action::PyAction;
use crate::actions::{MOST_ARMS, PySet};
use crate::errors::refuse;
use plausibly::ArmRecord;
use plausibly::state::{Durable, PolicyState};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use std::ops::Range;

/// The arms of a policy. Each keeps its number forever.
pub(crate) struct Roster {
    /// The number of each label; `None` if the index is the number.
    numbers: Option<Py<PyDict>>,
    /// The number of arms ever offered.
    pub(crate) size: usize,
    /// The numbers of the arms on duty, in the order of the policy.
    pub(crate) duty: Vec<usize>,
    /// What was learned about arms that are not on duty.
    away: ArmRecord,
}

impl Roster {
    /// The arms of a set, all on duty.
    pub(crate) fn of(set: &Bound<'_, PySet>) -> PyResult<Self> {
        let size = set.get().set.view().len();
        let numbers = set.get().positions(set.py()).map(PyDictMethods::copy).transpose()?;
        let numbers = numbers.map(Bound::unbind);
        Ok(Self { numbers, ..Self::unlabelled(size) })
    }

    /// Arms without labels, all on duty.
    pub(crate) fn unlabelled(size: usize) -> Self {
        let mut away = ArmRecord::default();
        away.grow(size);
        Self { numbers: None, size, duty: (0..size).collect(), away }
    }

    /// The arm of an action whose set was never offered; without a label, all arms of its set.
    pub(crate) fn of_action(py: Python<'_>, action: &PyAction) -> PyResult<Self> {
        let Some(label) = action.label(py) else { return Ok(Self::unlabelled(action.of)) };
        let numbers = PyDict::new(py);
        numbers.set_item(label, 0)?;
        Ok(Self { numbers: Some(numbers.unbind()), ..Self::unlabelled(1) })
    }

    /// Whether all arms are on duty, in the order of their numbers.
    pub(crate) fn is_full(&self) -> bool {
        self.duty.len() == self.size
            && self.duty.iter().enumerate().all(|(place, number)| place == *number)
    }

    /// All arms ever offered, as a set.
    pub(crate) fn as_set(&self, py: Python<'_>) -> PyResult<Py<PySet>> {
        let labels = self.numbers.as_ref().map(|numbers| numbers.bind(py).keys());
        Py::new(py, PySet::of_arms(self.size, labels.as_ref().map(Bound::as_any))?)
    }

    /// Whether a set has exactly the arms on duty, in the same order.
    pub(crate) fn has_on_duty(&self, set: &Bound<'_, PySet>) -> PyResult<bool> {
        let (py, len) = (set.py(), set.get().set.view().len());
        self.same_naming(set.get().positions(py).is_some())?;
        if len != self.duty.len() {
            return Ok(false);
        }
        let (Some(numbers), Some(labels)) = (&self.numbers, set.get().labels(py)) else {
            return Ok(self.duty.iter().copied().eq(0..len));
        };
        for (label, on_duty) in labels.iter().zip(&self.duty) {
            match numbers.bind(py).get_item(label)? {
                Some(number) if number.extract::<usize>()? == *on_duty => {}
                _ => return Ok(false),
            }
        }
        Ok(true)
    }

    /// A copy of this roster with new arms added, and the numbers of the arms called: those with
    /// these labels, or with these indices if arms have no labels.
    pub(crate) fn calling(
        &self,
        py: Python<'_>,
        labels: Option<Bound<'_, PyList>>,
        indices: Range<usize>,
    ) -> PyResult<(Self, Vec<usize>)> {
        self.same_naming(labels.is_some())?;
        let mut known = self.copied(py)?;
        let called = if let (Some(numbers), Some(labels)) = (&known.numbers, labels) {
            let number = |label| enlisted(numbers.bind(py), label, &mut known.size);
            labels.iter().map(number).collect::<PyResult<_>>()?
        } else {
            known.size = known.size.max(indices.end);
            indices.collect()
        };
        let size = known.size;
        if size > MOST_ARMS {
            refuse!("actions: {size} arms so far, and a policy takes at most {MOST_ARMS}");
        }
        known.away.grow(size);
        Ok((known, called))
    }

    /// The index of an action's arm in the policy; `None` if it is not on duty.
    pub(crate) fn place(&self, py: Python<'_>, action: &PyAction) -> PyResult<Option<usize>> {
        self.same_naming(action.has_label())?;
        let number = match (&self.numbers, action.label(py)) {
            (Some(numbers), Some(label)) => match numbers.bind(py).get_item(label)? {
                Some(number) => number.extract()?,
                None => return Ok(None),
            },
            _ => action.index,
        };
        if self.duty.get(number) == Some(&number) {
            return Ok(Some(number));
        }
        Ok(self.duty.iter().position(|on_duty| *on_duty == number))
    }

    /// The state of the policy moved to the arms `duty`. Moves the arms that leave into the record
    /// of `to`.
    pub(crate) fn transferred(
        &self,
        policy: &dyn Durable,
        to: &mut Self,
        duty: Vec<usize>,
    ) -> PolicyState {
        let mut record = self.away.clone();
        record.grow(to.size);
        let state = policy.state_over(&mut record.moving(&self.duty, &duty));
        (to.away, to.duty) = (record, duty);
        state
    }

    /// Refuses arms with labels if the policy's have none, and the reverse.
    pub(crate) fn same_naming(&self, labelled: bool) -> PyResult<()> {
        let message = match (&self.numbers, labelled) {
            (Some(_), false) => "actions: the policy knows its arms by label, and these have none",
            (None, true) => {
                "actions: the policy began with arms that have no labels, and these have some"
            }
            _ => return Ok(()),
        };
        Err(PyValueError::new_err(message))
    }

    /// A copy with its own dict of labels, so that arms can be added to it.
    pub(crate) fn copied(&self, py: Python<'_>) -> PyResult<Self> {
        let numbers = self.numbers.as_ref().map(|numbers| numbers.bind(py).copy()).transpose()?;
        Ok(Self {
            numbers: numbers.map(Bound::unbind),
            size: self.size,
            duty: self.duty.clone(),
            away: self.away.clone(),
        })
    }
}

/// The number of a label; a new label gets the next number.
fn enlisted(
    numbers: &Bound<'_, PyDict>,
    label: Bound<'_, PyAny>,
    size: &mut usize,
) -> PyResult<usize> {
    if let Some(number) = numbers.get_item(&label)? {
        return number.extract();
    }
    numbers.set_item(label, *size)?;
    *size += 1;
    Ok(*size - 1)
}
