//! Plain arms that come and go: what is known of an arm follows its label, or its index where arms
//! have no labels.
//!
//! A policy of the library is over a fixed list of arms. Here it is over those on duty, which are
//! the ones offered last; what is known of the others is kept beside it, and offering another list
//! makes a policy over that list of all that is known. δ is shared among all arms ever offered, so
//! the intervals of all of them hold at once from the moment the last new arm came.

use crate::action::PyAction;
use crate::actions::{MOST_ARMS, PySet};
use plausibly::ArmRecord;
use plausibly::state::{Durable, PolicyState};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

/// The arms of a policy, each under a number that it keeps.
pub(crate) struct Roster {
    /// Number by label; `None` where the index is the number.
    numbers: Option<Py<PyDict>>,
    /// All arms ever offered.
    pub(crate) size: usize,
    /// The numbers of the arms that the policy is over, in its order.
    pub(crate) duty: Vec<usize>,
    /// What is known of those that are not on duty.
    away: ArmRecord,
}

impl Roster {
    /// Those of a set, all on duty.
    pub(crate) fn of(set: &Bound<'_, PySet>) -> PyResult<Self> {
        let size = set.get().set.view().len();
        let numbers = set.get().positions(set.py()).map(PyDictMethods::copy).transpose()?;
        let numbers = numbers.map(Bound::unbind);
        Ok(Self { numbers, ..Self::unlabelled(size) })
    }

    /// Those without labels, all on duty.
    pub(crate) fn unlabelled(size: usize) -> Self {
        let mut away = ArmRecord::default();
        away.grow(size);
        Self { numbers: None, size, duty: (0..size).collect(), away }
    }

    /// One arm alone, where nothing was offered yet.
    pub(crate) fn of_action(py: Python<'_>, action: &PyAction) -> PyResult<Self> {
        let Some(label) = action.label(py) else { return Ok(Self::unlabelled(action.of)) };
        let numbers = PyDict::new(py);
        numbers.set_item(label, 0)?;
        Ok(Self { numbers: Some(numbers.unbind()), ..Self::unlabelled(1) })
    }

    /// Whether all arms are on duty in the order of their numbers.
    pub(crate) fn is_full(&self) -> bool {
        self.duty.len() == self.size
            && self.duty.iter().enumerate().all(|(place, number)| place == *number)
    }

    /// All arms ever offered, as a set.
    pub(crate) fn as_set(&self, py: Python<'_>) -> PyResult<Py<PySet>> {
        let labels = self.numbers.as_ref().map(|numbers| numbers.bind(py).keys());
        Py::new(py, PySet::of_arms(self.size, labels.as_ref().map(Bound::as_any))?)
    }

    /// Whether the arms of a set are those on duty, in their order.
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

    /// The arms of a set by number, and this roster with those it has not seen before.
    pub(crate) fn calling(&self, set: &Bound<'_, PySet>) -> PyResult<(Self, Vec<usize>)> {
        let (py, len) = (set.py(), set.get().set.view().len());
        self.same_naming(set.get().positions(py).is_some())?;
        let mut known = self.copied(py)?;
        let Some(numbers) = &known.numbers else {
            known.size = known.size.max(len);
            return Ok((known.filled(), (0..len).collect()));
        };
        let labels = set.get().labels(py).unwrap_or_else(|| PyList::empty(py));
        let mut called = Vec::with_capacity(len);
        for label in labels {
            called.push(enlisted(numbers.bind(py), label, &mut known.size)?);
        }
        known.fits()?;
        Ok((known.filled(), called))
    }

    /// The number of the arm that an action is, and this roster with it.
    pub(crate) fn calling_one(&self, py: Python<'_>, action: &PyAction) -> PyResult<(Self, usize)> {
        self.same_naming(action.has_label())?;
        let mut known = self.copied(py)?;
        let number = if let (Some(numbers), Some(label)) = (&known.numbers, action.label(py)) {
            enlisted(numbers.bind(py), label.into_bound(py), &mut known.size)?
        } else {
            known.size = known.size.max(action.index + 1);
            action.index
        };
        known.fits()?;
        Ok((known.filled(), number))
    }

    /// The place on duty of the arm that an action is.
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

    /// The state of the policy over `duty` in place of the arms on duty now.
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

    /// A copy that may be added to.
    pub(crate) fn copied(&self, py: Python<'_>) -> PyResult<Self> {
        let numbers = self.numbers.as_ref().map(|numbers| numbers.bind(py).copy()).transpose()?;
        Ok(Self {
            numbers: numbers.map(Bound::unbind),
            size: self.size,
            duty: self.duty.clone(),
            away: self.away.clone(),
        })
    }

    fn filled(mut self) -> Self {
        self.away.grow(self.size);
        self
    }

    fn fits(&self) -> PyResult<()> {
        let message = || {
            format!("actions: {} arms so far, and a policy takes at most {MOST_ARMS}", self.size)
        };
        if self.size <= MOST_ARMS { Ok(()) } else { Err(PyValueError::new_err(message())) }
    }
}

/// The number of a label, which gets the next one if it has none.
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
