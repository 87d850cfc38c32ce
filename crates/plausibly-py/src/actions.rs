//! Action sets and single actions.

use crate::errors;
use numpy::{PyArray1, PyReadonlyArray2, PyUntypedArrayMethods, ToPyArray};
use plausibly::ActionSet;
use pyo3::IntoPyObjectExt as _;
use pyo3::exceptions::{PyIndexError, PyKeyError, PyOverflowError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyIterator, PyList, PySlice, PyString, PyTuple};

/// The most plain arms a set may have, as in specs.
pub(crate) const MOST_ARMS: usize = 1_000_000;

/// The actions to choose from: checked and converted once, then reused round after round.
///
/// `rows` is one row of features an action: a NumPy array in any order, a list of lists, or a pandas frame, a polars frame or
/// an Arrow table whose columns are all numbers. With `labels`, one for each row and all different, policies speak of actions by label;
/// without, by index.
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
}

/// One action of a set, as `offers[label]` gives it: what to teach a policy when a reward comes late and other sets have
/// been offered since.
#[pyclass(frozen, name = "Action", module = "plausibly")]
pub(crate) struct PyAction {
    pub(crate) set: Py<PySet>,
    pub(crate) index: usize,
}

#[pymethods]
impl PySet {
    #[new]
    #[pyo3(signature = (rows, labels=None))]
    fn new(rows: &Bound<'_, PyAny>, labels: Option<&Bound<'_, PyAny>>) -> PyResult<Self> {
        Self::checked(set_of_rows(rows, "rows")?, labels)
    }

    /// Arms without features, for problems where an action is known by its place alone.
    ///
    /// >>> from plausibly import ActionSet
    /// >>> ActionSet.arms(3)
    /// ActionSet.arms(3)
    #[staticmethod]
    #[pyo3(signature = (count, labels=None))]
    fn arms(count: &Bound<'_, PyAny>, labels: Option<&Bound<'_, PyAny>>) -> PyResult<Self> {
        if count.is_instance_of::<PyBool>() || !count.hasattr("__index__")? {
            let found = count.get_type().name()?;
            return Err(PyTypeError::new_err(format!("count: expected a whole number, found {found}")));
        }
        let range =
            || PyValueError::new_err(format!("count: the number of arms must be from 1 to {MOST_ARMS}"));
        let count = count.extract::<usize>().ok().filter(|count| *count <= MOST_ARMS).ok_or_else(range)?;
        Self::checked(ActionSet::arms(count).map_err(|error| errors::of_rows("count", &error))?, labels)
    }

    fn __len__(&self) -> usize {
        self.set.view().len()
    }

    fn __getitem__(slf: &Bound<'_, Self>, action: &Bound<'_, PyAny>) -> PyResult<PyAction> {
        if action.is_instance_of::<PySlice>() {
            return Err(PyTypeError::new_err("action: one action at a time, not a slice"));
        }
        Ok(PyAction { set: slf.clone().unbind(), index: slf.get().position(action, "action")? })
    }

    fn __contains__(&self, action: &Bound<'_, PyAny>) -> bool {
        self.position(action, "action").is_ok()
    }

    fn __iter__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyIterator>> {
        let action = |index| Bound::new(slf.py(), PyAction { set: slf.clone().unbind(), index });
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
    fn labels<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyList>> {
        // A copy: what is looked up must not change under it.
        self.labels.as_ref().map(|(labels, _)| labels.bind(py).get_slice(0, self.__len__()))
    }
}

#[pymethods]
impl PyAction {
    /// Its place in its set, from 0.
    #[getter]
    fn index(&self) -> usize {
        self.index
    }

    /// Its label, or None.
    #[getter]
    fn label(&self, py: Python<'_>) -> PyResult<Option<Py<PyAny>>> {
        let set = self.set.get();
        if set.labels.is_some() { set.name(py, self.index).map(Some) } else { Ok(None) }
    }

    /// A copy of its features.
    #[getter]
    fn features<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        self.set.get().set.view().get(self.index).features().to_pyarray(py)
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let restored = py.import("plausibly._saved")?.getattr("_action")?;
        (restored, (self.set.clone_ref(py), self.index)).into_bound_py_any(py)
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let name = self.set.get().name(py, self.index)?;
        Ok(format!("Action({})", name.bind(py).repr()?))
    }
}

impl PySet {
    fn checked(set: ActionSet, labels: Option<&Bound<'_, PyAny>>) -> PyResult<Self> {
        let labels = labels.map(|labels| read_labels(labels, set.view().len())).transpose()?;
        Ok(Self { set, labels })
    }

    /// Rows given in place of a set.
    pub(crate) fn bare(rows: &Bound<'_, PyAny>) -> PyResult<Self> {
        Ok(Self { set: set_of_rows(rows, "actions")?, labels: None })
    }

    /// Whether the same features stand in the same places.
    pub(crate) fn has_rows_of(&self, other: &Self) -> bool {
        let (one, other) = (self.set.view(), other.set.view());
        one.len() == other.len() && one.dim() == other.dim() && one.iter().eq(other.iter())
    }

    /// Whether it can stand for another set: the same rows under the same names.
    pub(crate) fn is_alike(&self, py: Python<'_>, other: &Self) -> bool {
        let same_labels = match (&self.labels, &other.labels) {
            (None, None) => true,
            (Some((one, _)), Some((other, _))) => {
                one.bind(py).iter().zip(other.bind(py)).all(|(one, other)| is_same_label(&one, &other))
            }
            _ => false,
        };
        self.has_rows_of(other) && same_labels
    }

    /// What the caller calls an action: its label if it has one, else its index.
    pub(crate) fn name(&self, py: Python<'_>, index: usize) -> PyResult<Py<PyAny>> {
        match &self.labels {
            Some((labels, _)) => Ok(labels.bind(py).get_item(index)?.unbind()),
            None => Ok(index.into_pyobject(py)?.into_any().unbind()),
        }
    }

    /// The index of what the caller calls an action.
    pub(crate) fn position(&self, action: &Bound<'_, PyAny>, argument: &str) -> PyResult<usize> {
        let len = self.set.view().len();
        if let Some((_, positions)) = &self.labels {
            return match positions.bind(action.py()).get_item(action)? {
                Some(index) => index.extract(),
                None => Err(PyKeyError::new_err(format!(
                    "{argument}: {} is not a label of this set",
                    action.repr()?
                ))),
            };
        }
        let whole = action.is_instance_of::<PyInt>() || action.hasattr("__index__")?;
        if !whole || action.is_instance_of::<PyBool>() {
            let found = action.get_type().name()?;
            let message =
                format!("{argument}: expected an index (this set has no labels) or an Action, found {found}");
            return Err(PyTypeError::new_err(message));
        }
        match action.extract::<usize>() {
            Ok(index) if index < len => Ok(index),
            Err(error) if !error.is_instance_of::<PyOverflowError>(action.py()) => Err(error),
            _ => {
                let message = format!("{argument}: {} is not from 0 to {}", action.repr()?, len - 1);
                Err(PyIndexError::new_err(message))
            }
        }
    }
}

/// Whether two labels are the same object, or equal ones of Python's own plain types: comparing others could run any code.
fn is_same_label(one: &Bound<'_, PyAny>, other: &Bound<'_, PyAny>) -> bool {
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

/// A set from anything that `plausibly._rows` can turn into rows of numbers.
fn set_of_rows(rows: &Bound<'_, PyAny>, argument: &str) -> PyResult<ActionSet> {
    static CONVERT: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let py = rows.py();
    let convert = CONVERT.import(py, "plausibly._rows", "to_rows")?;
    let array: PyReadonlyArray2<'_, f64> = convert.call1((rows, argument))?.extract()?;
    // A slice of a Fortran-ordered array would be its columns, so the order is asked for and not assumed.
    let features = if array.is_c_contiguous() { array.as_slice().ok().map(<[f64]>::to_vec) } else { None };
    let features = features.unwrap_or_else(|| array.as_array().iter().copied().collect());
    ActionSet::from_flat(features, array.shape()[1]).map_err(|error| errors::of_rows(argument, &error))
}

fn read_labels(labels: &Bound<'_, PyAny>, len: usize) -> PyResult<(Py<PyList>, Py<PyDict>)> {
    let py = labels.py();
    if labels.is_instance_of::<pyo3::types::PyString>() {
        return Err(PyTypeError::new_err("labels: expected a list of labels, found one text"));
    }
    let Ok(all) = labels.try_iter() else {
        let found = labels.get_type().name()?;
        return Err(PyTypeError::new_err(format!("labels: expected a list of labels, found {found}")));
    };
    // One more than there are actions shows that there are too many, without walking a list that never ends.
    let all = PyList::new(py, all.take(len + 1).collect::<PyResult<Vec<_>>>()?)?;
    if all.len() != len {
        let count = if all.len() > len { "more".into() } else { all.len().to_string() };
        return Err(PyValueError::new_err(format!("labels: {len} actions need {len} labels, got {count}")));
    }
    let positions = PyDict::new(py);
    for (index, label) in all.iter().enumerate() {
        if label.hash().is_err() {
            let message = format!("labels: a label must be hashable, and {} is not", label.repr()?);
            return Err(PyTypeError::new_err(message));
        }
        if positions.contains(&label)? {
            return Err(PyValueError::new_err(format!("labels: {} is there twice", label.repr()?)));
        }
        positions.set_item(label, index)?;
    }
    Ok((all.unbind(), positions.unbind()))
}
