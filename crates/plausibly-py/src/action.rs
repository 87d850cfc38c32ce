//! Single actions, and the labels that `select` returns.
//!
//! `select` returns an object that equals the label of the chosen action and carries the action
//! itself, so `update` never has to guess which set a label came from. The carried action does not
//! refer to its set: a caller may keep every label, and that must not keep every set in memory.

use crate::actions::{PySet, is_same_label};
use crate::errors::refuse;
use numpy::{PyArray1, ToPyArray};
use pyo3::IntoPyObjectExt as _;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyType};

/// One action of a set, as returned by `offers[label]`. Pass it to `update` when its reward comes
/// late.
#[pyclass(frozen, name = "Action", module = "plausibly")]
pub(crate) struct PyAction {
    pub(crate) index: usize,
    /// The number of actions in its set.
    pub(crate) of: usize,
    label: Option<Py<PyAny>>,
    pub(crate) features: Box<[f64]>,
    /// Its set, if the caller took the action out of one.
    pub(crate) home: Option<Py<PySet>>,
}

#[pymethods]
impl PyAction {
    /// Its index in its set, from 0.
    #[getter]
    fn index(&self) -> usize {
        self.index
    }

    /// Its label, or None.
    #[getter]
    pub(crate) fn label(&self, py: Python<'_>) -> Option<Py<PyAny>> {
        self.label.as_ref().map(|label| label.clone_ref(py))
    }

    /// A copy of its features.
    #[getter]
    fn features<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        self.features.to_pyarray(py)
    }

    /// The arguments of `_lone`, which makes this action again without its set. The label is a list
    /// with one entry or none, because None can be a label.
    #[pyo3(name = "_parts")]
    fn parts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let labels: Vec<_> = self.label(py).into_iter().collect();
        (self.features.to_vec(), labels, self.index, self.of).into_bound_py_any(py)
    }

    /// Makes an action without its set.
    #[staticmethod]
    fn _lone(
        features: Vec<f64>,
        labels: Vec<Py<PyAny>>,
        index: usize,
        of: usize,
    ) -> PyResult<Self> {
        if features.iter().any(|x| x.is_nan() || x.abs() > plausibly::MAX_MAGNITUDE) {
            refuse!("not an action: a feature is not a number, or above 1e100 in magnitude");
        }
        if index >= of {
            refuse!("not an action: its place is not in its set");
        }
        Ok(Self::lone(index, of, labels.into_iter().next(), features))
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let saved = py.import("plausibly._saved")?;
        match &self.home {
            Some(set) => {
                (saved.getattr("_action")?, (set.clone_ref(py), self.index)).into_bound_py_any(py)
            }
            None => (saved.getattr("_lone_action")?, self.parts(py)?).into_bound_py_any(py),
        }
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        Ok(format!("Action({})", self.name(py)?.bind(py).repr()?))
    }
}

impl PyAction {
    pub(crate) fn at_home(set: &Bound<'_, PySet>, index: usize) -> PyResult<Self> {
        let home = Some(set.clone().unbind());
        Ok(Self { home, ..set.get().lone(set.py(), index)? })
    }

    pub(crate) fn lone(
        index: usize,
        of: usize,
        label: Option<Py<PyAny>>,
        features: impl Into<Box<[f64]>>,
    ) -> Self {
        Self { index, of, label, features: features.into(), home: None }
    }

    /// Its name for the caller: its label if it has one, else its index.
    pub(crate) fn name(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        self.label(py).map_or_else(|| self.index.into_py_any(py), Ok)
    }

    pub(crate) fn has_label(&self) -> bool {
        self.label.is_some()
    }

    /// Whether a policy treats both as the same action.
    pub(crate) fn is_alike(&self, py: Python<'_>, other: &Self) -> bool {
        let same_label = match (&self.label, &other.label) {
            (None, None) => true,
            (Some(one), Some(other)) => is_same_label(one.bind(py), other.bind(py)),
            _ => false,
        };
        // A label alone identifies a plain arm, so its index may differ.
        let by_label = self.features.is_empty() && self.label.is_some();
        same_label && self.features == other.features && (by_label || self.index == other.index)
    }
}

/// Returns an object that equals the name of an action and carries the action. Only text, integers,
/// floats and tuples of exactly Python's own types can; other labels are returned unchanged.
pub(crate) fn carrying(name: &Bound<'_, PyAny>, action: &Py<PyAction>) -> PyResult<Py<PyAny>> {
    static CARRIERS: PyOnceLock<Py<PyDict>> = PyOnceLock::new();
    let (py, plain) = (name.py(), name.get_type());
    let carriers = CARRIERS.import(py, "plausibly._chosen", "CARRIERS")?;
    // Compared one by one: the class of a label may not be hashable.
    let Some((_, carrier)) = carriers.iter().find(|(of, _)| of.is(&plain)) else {
        return Ok(name.clone().unbind());
    };
    let made = carrier.call1((name,))?;
    made.setattr(pyo3::intern!(py, "action"), action)?;
    Ok(made.unbind())
}

/// The action that a label carries, if `select` returned the label.
pub(crate) fn carried(label: &Bound<'_, PyAny>) -> PyResult<Option<Py<PyAction>>> {
    if !is_carrier(label)? {
        return Ok(None);
    }
    // A copy made by the caller carries no action, and is treated as a plain label.
    let action = label.getattr_opt(pyo3::intern!(label.py(), "action"))?;
    Ok(action.and_then(|action| action.cast_into::<PyAction>().ok()).map(Bound::unbind))
}

/// The plain label, without the action it carries.
pub(crate) fn bare(label: Bound<'_, PyAny>) -> PyResult<Bound<'_, PyAny>> {
    if is_carrier(&label)? { label.call_method0("bare") } else { Ok(label) }
}

/// Whether a label is of a class that can carry an action.
fn is_carrier(label: &Bound<'_, PyAny>) -> PyResult<bool> {
    static CHOSEN: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    label.is_instance(CHOSEN.import(label.py(), "plausibly._chosen", "Chosen")?)
}
