//! Single actions, and the labels that `select` returns.
//!
//! What `select` returns is equal to the label of an action and carries the action itself, so
//! `update` never has to guess which set a label came from. An action is kept apart from its set:
//! labels that people collect in a list must not keep every set alive that was ever offered.

use crate::actions::{PySet, is_same_label};
use numpy::{PyArray1, ToPyArray};
use pyo3::IntoPyObjectExt as _;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyFloat, PyInt, PyString, PyTuple, PyType};

/// One action of a set, as `offers[label]` gives it: what to teach a policy when its reward comes
/// late.
#[pyclass(frozen, name = "Action", module = "plausibly")]
pub(crate) struct PyAction {
    pub(crate) index: usize,
    /// How many actions its set has.
    pub(crate) of: usize,
    label: Option<Py<PyAny>>,
    pub(crate) features: Box<[f64]>,
    /// Its set, for an action that was taken out of one.
    pub(crate) home: Option<Py<PySet>>,
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
    pub(crate) fn label(&self, py: Python<'_>) -> Option<Py<PyAny>> {
        self.label.as_ref().map(|label| label.clone_ref(py))
    }

    /// A copy of its features.
    #[getter]
    fn features<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        self.features.to_pyarray(py)
    }

    /// What `_lone` makes it of, without its set. Its label is a list of one, or empty: a label may
    /// be None.
    #[pyo3(name = "_parts")]
    fn parts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let labels: Vec<_> = self.label(py).into_iter().collect();
        (self.features.to_vec(), labels, self.index, self.of).into_bound_py_any(py)
    }

    /// An action of a set that is not at hand.
    #[staticmethod]
    fn _lone(
        features: Vec<f64>,
        labels: Vec<Py<PyAny>>,
        index: usize,
        of: usize,
    ) -> PyResult<Self> {
        let refuse = pyo3::exceptions::PyValueError::new_err;
        if features.iter().any(|x| x.is_nan() || x.abs() > plausibly::MAX_MAGNITUDE) {
            return Err(refuse(
                "not an action: a feature is not a number, or above 1e100 in magnitude",
            ));
        }
        if index >= of {
            return Err(refuse("not an action: its place is not in its set"));
        }
        Ok(Self {
            index,
            of,
            label: labels.into_iter().next(),
            features: features.into(),
            home: None,
        })
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
        features: &[f64],
    ) -> Self {
        Self { index, of, label, features: features.into(), home: None }
    }

    /// What the caller calls it: its label if it has one, else its index.
    pub(crate) fn name(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        self.label(py).map_or_else(|| self.index.into_py_any(py), Ok)
    }

    pub(crate) fn has_label(&self) -> bool {
        self.label.is_some()
    }

    /// Whether a policy cannot tell one from the other.
    pub(crate) fn is_alike(&self, py: Python<'_>, other: &Self) -> bool {
        let same_label = match (&self.label, &other.label) {
            (None, None) => true,
            (Some(one), Some(other)) => is_same_label(one.bind(py), other.bind(py)),
            _ => false,
        };
        // A plain arm is its label, wherever it stands.
        let by_label = self.features.is_empty() && self.label.is_some();
        same_label && self.features == other.features && (by_label || self.index == other.index)
    }
}

/// The classes of `plausibly._chosen`, by the type of label they stand for.
struct Carriers {
    any: Py<PyType>,
    text: Py<PyType>,
    whole: Py<PyType>,
    real: Py<PyType>,
    tuple: Py<PyType>,
}

static CARRIERS: PyOnceLock<Carriers> = PyOnceLock::new();

fn carriers(py: Python<'_>) -> PyResult<&'static Carriers> {
    CARRIERS.get_or_try_init(py, || {
        let module = py.import("plausibly._chosen")?;
        let class = |name: &str| -> PyResult<Py<PyType>> {
            Ok(module.getattr(name)?.cast_into::<PyType>().map_err(PyErr::from)?.unbind())
        };
        Ok(Carriers {
            any: class("Chosen")?,
            text: class("ChosenText")?,
            whole: class("ChosenInteger")?,
            real: class("ChosenFloat")?,
            tuple: class("ChosenTuple")?,
        })
    })
}

/// The name of an action as an object that is equal to it and carries the action. A label of a
/// class that cannot be extended, or of a class of the user's, comes back as it is.
pub(crate) fn carrying(name: &Bound<'_, PyAny>, action: &Py<PyAction>) -> PyResult<Py<PyAny>> {
    let py = name.py();
    let classes = carriers(py)?;
    let class = if name.is_exact_instance_of::<PyString>() {
        &classes.text
    } else if name.is_exact_instance_of::<PyInt>() {
        &classes.whole
    } else if name.is_exact_instance_of::<PyFloat>() {
        &classes.real
    } else if name.is_exact_instance_of::<PyTuple>() {
        &classes.tuple
    } else {
        return Ok(name.clone().unbind());
    };
    let made = class.bind(py).call1((name,))?;
    made.setattr(pyo3::intern!(py, "action"), action)?;
    Ok(made.unbind())
}

/// The action that a label carries, if it is one that `select` returned.
pub(crate) fn carried(label: &Bound<'_, PyAny>) -> PyResult<Option<Py<PyAction>>> {
    let py = label.py();
    if !label.is_instance(carriers(py)?.any.bind(py))? {
        return Ok(None);
    }
    // A copy made by hand carries no action, and counts as the label that it is equal to.
    let action = label.getattr_opt(pyo3::intern!(py, "action"))?;
    Ok(action.and_then(|action| action.cast_into::<PyAction>().ok()).map(Bound::unbind))
}

/// A label without what it carries.
pub(crate) fn bare(label: Bound<'_, PyAny>) -> PyResult<Bound<'_, PyAny>> {
    let py = label.py();
    if label.is_instance(carriers(py)?.any.bind(py))? {
        label.call_method0("bare")
    } else {
        Ok(label)
    }
}
