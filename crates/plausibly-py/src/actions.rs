//! Action sets.
//!
//! Rows and labels are checked and converted once, when a set is made. Rounds that offer the same
//! set again only read it.

use crate::action::{self, PyAction};
use crate::errors::{self, raise, refuse};
use crate::value;
use numpy::{PyReadonlyArray2, PyUntypedArrayMethods, ToPyArray};
use plausibly::ActionSet;
use pyo3::IntoPyObjectExt as _;
use pyo3::exceptions::{PyIndexError, PyKeyError, PyOverflowError, PyTypeError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyFloat, PyInt, PyIterator, PyList, PySlice, PyString, PyTuple};
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

/// A set has at most this many plain arms, the same limit as in specs.
pub(crate) const MOST_ARMS: usize = 1_000_000;

/// The actions to choose from: checked and converted once, then reused round after round.
///
/// `rows` holds one row of features per action: a NumPy array in any memory order, a list of lists,
/// or a pandas frame, a polars frame or an Arrow table that has only columns of numbers. `labels`
/// gives each row a label, all different. Policies name actions by label, or by index if there are
/// no labels.
///
/// >>> from plausibly import ActionSet
/// >>> offers = ActionSet([[1.0, 0.0], [0.0, 1.0]], labels=["red", "blue"])
/// >>> offers
/// ActionSet(2 actions of 2 features, labelled)
/// >>> offers["blue"].features
/// array([0., 1.])
#[expect(clippy::doc_link_with_quotes, reason = "lists of Python")]
#[pyclass(frozen, name = "ActionSet", module = "plausibly")]
pub(crate) struct PySet {
    pub(crate) set: ActionSet,
    /// The labels in order, and the position of each.
    labels: Option<(Py<PyList>, Py<PyDict>)>,
    /// What `select` returns for each action; made when the action is chosen first.
    chosen: Mutex<HashMap<usize, Named>>,
}

/// What `select` returns for an action, and the action it carries.
pub(crate) struct Named {
    pub(crate) name: Py<PyAny>,
    pub(crate) action: Py<PyAction>,
}

impl Named {
    pub(crate) fn clone_ref(&self, py: Python<'_>) -> Self {
        Self { name: self.name.clone_ref(py), action: self.action.clone_ref(py) }
    }
}

#[pymethods]
impl PySet {
    #[new]
    #[pyo3(signature = (rows, labels=None))]
    fn new(rows: &Bound<'_, PyAny>, labels: Option<&Bound<'_, PyAny>>) -> PyResult<Self> {
        Self::checked(set_of_rows(rows, "rows")?, labels)
    }

    /// Arms without features, for problems where only a label or an index identifies an action.
    ///
    /// `arms` is the number of arms, or a list of their labels. Arms may come and go: a policy
    /// recognises an arm by its label, or by its index if arms have no labels.
    ///
    /// >>> from plausibly import ActionSet
    /// >>> ActionSet.arms(3)
    /// ActionSet.arms(3)
    /// >>> ActionSet.arms(["red", "blue"]).labels
    /// ['red', 'blue']
    #[expect(clippy::doc_link_with_quotes, reason = "lists of Python")]
    #[staticmethod]
    #[pyo3(signature = (arms, labels=None))]
    fn arms(arms: &Bound<'_, PyAny>, labels: Option<&Bound<'_, PyAny>>) -> PyResult<Self> {
        if arms.is_instance_of::<PyList>() || arms.is_instance_of::<PyTuple>() {
            if labels.is_some() {
                raise!(PyTypeError, "labels: the arms are labels already");
            }
            return Self::of_arms(arms.len()?, Some(arms));
        }
        if !value::is_whole(arms)? {
            return Err(errors::expected("a whole number or a list of labels", "arms", arms));
        }
        Self::of_arms(arms.extract::<usize>().unwrap_or(usize::MAX), labels)
    }

    fn __len__(&self) -> usize {
        self.set.view().len()
    }

    fn __getitem__(slf: &Bound<'_, Self>, action: &Bound<'_, PyAny>) -> PyResult<PyAction> {
        if action.is_instance_of::<PySlice>() {
            raise!(PyTypeError, "action: one action at a time, not a slice");
        }
        PyAction::at_home(slf, slf.get().position(action, "action")?)
    }

    fn __contains__(&self, action: &Bound<'_, PyAny>) -> bool {
        self.position(action, "action").is_ok()
    }

    fn __iter__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyIterator>> {
        let action = |index| Bound::new(slf.py(), PyAction::at_home(slf, index)?);
        let actions = (0..slf.get().__len__()).map(action).collect::<PyResult<Vec<_>>>()?;
        PyList::new(slf.py(), actions)?.try_iter()
    }

    fn __repr__(&self) -> String {
        let view = self.set.view();
        let labelled = if self.labels.is_some() { ", labelled" } else { "" };
        match view.dim() {
            0 => format!("ActionSet.arms({}{labelled})", view.len()),
            dim => format!("ActionSet({} actions of {dim} features{labelled})", view.len()),
        }
    }

    /// The number of features; 0 for plain arms.
    #[getter]
    fn dim(&self) -> usize {
        self.set.view().dim()
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let view = self.set.view();
        let rows: Vec<f64> = view.iter().flat_map(|action| action.features().to_vec()).collect();
        let rows = rows.to_pyarray(py).call_method1("reshape", (view.len(), view.dim()))?;
        let restored = py.import("plausibly._saved")?.getattr("_action_set")?;
        (restored, (rows, self.labels(py))).into_bound_py_any(py)
    }

    /// The labels, or None.
    #[getter]
    pub(crate) fn labels<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyList>> {
        // A copy: if the caller changed the original, it would no longer match the positions.
        self.labels.as_ref().map(|(labels, _)| labels.bind(py).get_slice(0, self.__len__()))
    }
}

impl PySet {
    fn checked(set: ActionSet, labels: Option<&Bound<'_, PyAny>>) -> PyResult<Self> {
        let labels = labels.map(|labels| read_labels(labels, set.view().len())).transpose()?;
        Ok(Self { set, labels, chosen: Mutex::default() })
    }

    /// A set of plain arms.
    pub(crate) fn of_arms(count: usize, labels: Option<&Bound<'_, PyAny>>) -> PyResult<Self> {
        if count > MOST_ARMS {
            refuse!("arms: the number of arms must be from 1 to {MOST_ARMS}");
        }
        let set = ActionSet::arms(count).map_err(|error| errors::of_rows("arms", &error))?;
        Self::checked(set, labels)
    }

    /// A set without labels, of rows that the caller passed in place of a set.
    pub(crate) fn bare(rows: &Bound<'_, PyAny>) -> PyResult<Self> {
        Self::checked(set_of_rows(rows, "actions")?, None)
    }

    /// The position of each label.
    pub(crate) fn positions<'py>(&self, py: Python<'py>) -> Option<&Bound<'py, PyDict>> {
        self.labels.as_ref().map(|(_, positions)| positions.bind(py))
    }

    /// Whether both sets have the same features in the same order.
    pub(crate) fn has_rows_of(&self, other: &Self) -> bool {
        let (one, other) = (self.set.view(), other.set.view());
        one.len() == other.len() && one.dim() == other.dim() && one.iter().eq(other.iter())
    }

    /// The caller's name for an action: its label if it has one, else its index.
    pub(crate) fn name(&self, py: Python<'_>, index: usize) -> PyResult<Py<PyAny>> {
        match &self.labels {
            Some((labels, _)) => Ok(labels.bind(py).get_item(index)?.unbind()),
            None => Ok(index.into_pyobject(py)?.into_any().unbind()),
        }
    }

    /// What `select` returns for an action.
    pub(crate) fn chosen(&self, py: Python<'_>, index: usize) -> PyResult<Named> {
        // Made without holding the lock, because making it runs Python code. If two threads make it
        // at once, either object will do.
        let kept = || self.chosen.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(named) = kept().get(&index) {
            return Ok(named.clone_ref(py));
        }
        let action = Py::new(py, self.lone(py, index)?)?;
        let name = action::carrying(self.name(py, index)?.bind(py), &action)?;
        let named = Named { name, action };
        kept().insert(index, named.clone_ref(py));
        Ok(named)
    }

    /// An action that does not refer to this set.
    pub(crate) fn lone(&self, py: Python<'_>, index: usize) -> PyResult<PyAction> {
        let label = if self.labels.is_some() { Some(self.name(py, index)?) } else { None };
        let view = self.set.view();
        Ok(PyAction::lone(index, view.len(), label, view.get(index).features()))
    }

    /// The index of the action with this name.
    pub(crate) fn position(&self, action: &Bound<'_, PyAny>, argument: &str) -> PyResult<usize> {
        let len = self.set.view().len();
        if let Some((_, positions)) = &self.labels {
            return match positions.bind(action.py()).get_item(action)? {
                Some(index) => index.extract(),
                None => {
                    raise!(PyKeyError, "{argument}: {} is not a label of this set", action.repr()?)
                }
            };
        }
        if !value::is_whole(action)? {
            let index = "an index (this set has no labels) or an Action";
            return Err(errors::expected(index, argument, action));
        }
        match action.extract::<usize>() {
            Ok(index) if index < len => Ok(index),
            Err(error) if !error.is_instance_of::<PyOverflowError>(action.py()) => Err(error),
            _ => {
                raise!(PyIndexError, "{argument}: {} is not from 0 to {}", action.repr()?, len - 1)
            }
        }
    }
}

/// Whether two labels are the same object, or equal values of Python's own plain types. Labels of
/// other types are not compared, because that could run any code.
pub(crate) fn is_same_label(one: &Bound<'_, PyAny>, other: &Bound<'_, PyAny>) -> bool {
    if one.is(other) {
        return true;
    }
    if let (Ok(one), Ok(other)) = (one.cast_exact::<PyTuple>(), other.cast_exact::<PyTuple>()) {
        return one.len() == other.len()
            && one.iter().zip(other.iter()).all(|(one, other)| is_same_label(&one, &other));
    }
    let plain = |label: &Bound<'_, PyAny>| {
        label.is_exact_instance_of::<PyString>()
            || label.is_exact_instance_of::<PyInt>()
            || label.is_exact_instance_of::<PyFloat>()
    };
    plain(one) && plain(other) && one.eq(other).unwrap_or(false)
}

/// Makes a set of anything that `plausibly._rows` can turn into rows of numbers.
fn set_of_rows(rows: &Bound<'_, PyAny>, argument: &str) -> PyResult<ActionSet> {
    static CONVERT: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let py = rows.py();
    let convert = CONVERT.import(py, "plausibly._rows", "to_rows")?;
    let array: PyReadonlyArray2<'_, f64> = convert.call1((rows, argument))?.extract()?;
    // `as_slice` also accepts an array in Fortran order, and would give its columns, so the order
    // is checked first.
    let features =
        if array.is_c_contiguous() { array.as_slice().ok().map(<[f64]>::to_vec) } else { None };
    let features = features.unwrap_or_else(|| array.as_array().iter().copied().collect());
    ActionSet::from_flat(features, array.shape()[1])
        .map_err(|error| errors::of_rows(argument, &error))
}

fn read_labels(labels: &Bound<'_, PyAny>, len: usize) -> PyResult<(Py<PyList>, Py<PyDict>)> {
    let py = labels.py();
    if labels.is_instance_of::<PyString>() {
        raise!(PyTypeError, "labels: expected a list of labels, found one text");
    }
    let Ok(all) = labels.try_iter() else {
        return Err(errors::expected("a list of labels", "labels", labels));
    };
    // Reads at most one label more than there are actions: that shows whether there are too many,
    // even if the iterator never ends.
    let all = all
        .take(len + 1)
        .map(|label| label.and_then(action::bare))
        .collect::<PyResult<Vec<_>>>()?;
    let all = PyList::new(py, all)?;
    if all.len() != len {
        let count = if all.len() > len { "more".into() } else { all.len().to_string() };
        refuse!("labels: {len} actions need {len} labels, got {count}");
    }
    let positions = PyDict::new(py);
    for (index, label) in all.iter().enumerate() {
        if label.hash().is_err() {
            raise!(PyTypeError, "labels: a label must be hashable, and {} is not", label.repr()?);
        }
        if positions.contains(&label)? {
            refuse!("labels: {} is there twice", label.repr()?);
        }
        positions.set_item(label, index)?;
    }
    Ok((all.unbind(), positions.unbind()))
}
