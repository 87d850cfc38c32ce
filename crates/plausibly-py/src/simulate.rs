//! Comparisons of policies. Other Python threads run while they are played.

use crate::errors::refuse;
use crate::watch::{caught, checked_threads, watched};
use crate::{data, errors, value};
use numpy::ToPyArray;
use plausibly_data::DataPools;
use plausibly_sim::{
    Comparison, Experiment, Moments, Monitor, Overrides, Part, Point, RunError, SpecError, Summary,
    summary_csv,
};
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::{PyBytes, PyDict, PyString};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};

/// Stops the parts that are being played with it.
#[pyclass(frozen, module = "plausibly._core", name = "Stop")]
#[derive(Default)]
pub(crate) struct PyStop {
    asked: AtomicBool,
}

#[pymethods]
impl PyStop {
    #[new]
    fn new() -> Self {
        Self::default()
    }

    fn set(&self) {
        self.asked.store(true, Ordering::Relaxed);
    }
}

impl Monitor for PyStop {
    fn stopped(&self) -> bool {
        self.asked.load(Ordering::Relaxed)
    }
}

/// A spec that was read and can be played, as a whole or in parts.
#[pyclass(frozen, module = "plausibly._core", name = "Experiment")]
pub(crate) struct PyExperiment {
    experiment: Experiment,
    comparison: Comparison,
}

#[pymethods]
impl PyExperiment {
    #[new]
    #[pyo3(signature = (spec, runs = None, seed = None, cache = None))]
    fn new(
        spec: &Bound<'_, PyAny>,
        runs: Option<u64>,
        seed: Option<u64>,
        cache: Option<PathBuf>,
    ) -> PyResult<Self> {
        let experiment = read(spec, Overrides { runs, seed }, &data::pools(cache))?;
        Ok(Self { comparison: experiment.comparison(), experiment })
    }

    #[getter]
    fn name(&self) -> &str {
        &self.experiment.name
    }

    #[getter]
    fn runs(&self) -> u64 {
        self.experiment.runs
    }

    #[getter]
    fn horizon(&self) -> u64 {
        self.experiment.horizon
    }

    #[getter]
    fn policies(&self) -> Vec<&str> {
        self.experiment.policies.iter().map(|policy| policy.label.as_str()).collect()
    }

    /// The spec with its defaults filled in. Reading it again gives the same experiment.
    fn resolved<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        value::to_python(py, &self.experiment.resolved)
    }

    /// Plays all runs and returns the fields of `plausibly.Result`.
    fn run<'py>(
        &self,
        py: Python<'py>,
        threads: Option<usize>,
        progress: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let (threads, comparison) = (checked_threads(threads)?, &self.comparison);
        let summary = watched(py, comparison.total_rounds(), progress, |pulse| {
            comparison.run(threads, pulse).map_err(|error| raised(&error))
        })?;
        to_dict(py, &self.experiment, &summary)
    }

    /// Plays the runs from `first` up to but not including `end`, and returns them as bytes. Uses
    /// this thread only; other Python threads run meanwhile.
    fn play<'py>(
        &self,
        py: Python<'py>,
        first: u64,
        end: u64,
        stop: &PyStop,
    ) -> PyResult<Bound<'py, PyBytes>> {
        if first >= end || end > self.experiment.runs {
            refuse!("runs {first} to {end} are no part of {}", self.experiment.runs);
        }
        let play = || self.comparison.part(first..end, stop).map_err(|error| raised(&error));
        let played = py.detach(|| caught(|| Ok(play()?.to_bytes())))?;
        Ok(PyBytes::new(py, &played))
    }

    /// Sums up parts and returns the fields of `plausibly.Result`. The parts must be in order and
    /// cover all runs.
    fn sum_up<'py>(
        &self,
        py: Python<'py>,
        parts: Vec<PyBackedBytes>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let mut summary = self.comparison.nothing_yet();
        for part in parts {
            let taken = Part::from_bytes(&part).and_then(|part| summary.take(&part));
            taken.map_err(|error| PyValueError::new_err(format!("parts: {error}")))?;
        }
        if summary.runs != self.experiment.runs {
            refuse!("parts: they hold {} of {} runs", summary.runs, self.experiment.runs);
        }
        to_dict(py, &self.experiment, &summary)
    }
}

/// Reads the text of a spec into a dict.
#[pyfunction]
pub(crate) fn parse_spec<'py>(py: Python<'py>, text: &str) -> PyResult<Bound<'py, PyAny>> {
    let parsed = plausibly_sim::parse_spec(text);
    value::to_python(py, &parsed.map_err(|error| PyValueError::new_err(error.to_string()))?.value)
}

fn read(spec: &Bound<'_, PyAny>, overrides: Overrides, pools: &DataPools) -> PyResult<Experiment> {
    let py = spec.py();
    // Detached from Python, because reading and factorising a data set takes seconds.
    let read = if let Ok(text) = spec.cast::<PyString>() {
        let text = text.to_cow()?;
        py.detach(|| Experiment::from_toml(&text, overrides, pools))
    } else {
        let root = value::node(spec)?;
        py.detach(|| Experiment::from_node(root, overrides, pools))
    };
    read.map_err(|error: SpecError| {
        // Errors in text have line numbers, which help more than separate exceptions for wrong
        // types and wrong values.
        let is_text = error.problems.iter().any(|problem| problem.line > 0);
        if is_text {
            PyValueError::new_err(error.to_string())
        } else {
            errors::of_problems(&error.problems)
        }
    })
}

fn raised(error: &RunError) -> PyErr {
    match error {
        RunError::Policy { .. } | RunError::Metric { .. } => {
            PyValueError::new_err(error.to_string())
        }
        other => PyRuntimeError::new_err(other.to_string()),
    }
}

/// The fields of `plausibly.Result`.
pub(crate) fn to_dict<'py>(
    py: Python<'py>,
    experiment: &Experiment,
    summary: &Summary,
) -> PyResult<Bound<'py, PyDict>> {
    let all = || {
        summary
            .policies
            .iter()
            .flat_map(|policy| policy.points.iter().map(move |point| (policy, point)))
    };
    let column = |pick: fn(&Point) -> f64| {
        all().map(|(_, point)| pick(point)).collect::<Vec<f64>>().to_pyarray(py)
    };
    let labels: Vec<&str> = all().map(|(policy, _)| policy.label.as_str()).collect();
    let rounds: Vec<u64> =
        summary.policies.iter().flat_map(|_| summary.rounds.iter().copied()).collect();
    let columns = PyDict::new(py);
    columns.set_item("policy", labels)?;
    columns.set_item("round", rounds.to_pyarray(py))?;
    columns.set_item("regret_mean", column(|point| point.regret.mean()))?;
    columns.set_item("regret_se", column(|point| error_of(&point.regret)))?;
    columns.set_item("model_error_mean", column(|point| point.model_error.mean()))?;
    columns.set_item("model_error_se", column(|point| error_of(&point.model_error)))?;
    columns.set_item("plausible_mean", column(|point| point.plausible.mean()))?;
    let left = PyDict::new(py);
    for policy in &summary.policies {
        left.set_item(&policy.label, policy.runs_left as f64 / summary.runs as f64)?;
    }
    let fields = PyDict::new(py);
    fields.set_item("name", &experiment.name)?;
    fields.set_item("seed", experiment.seed)?;
    fields.set_item("runs", summary.runs)?;
    fields.set_item("horizon", experiment.horizon)?;
    fields.set_item("columns", columns)?;
    fields.set_item("theta_star_left", left)?;
    fields.set_item("csv", summary_csv(&[(&experiment.name, summary)]))?;
    Ok(fields)
}

/// The standard error; NaN for a single run, which has none.
fn error_of(moments: &Moments) -> f64 {
    moments.standard_error().unwrap_or(f64::NAN)
}
