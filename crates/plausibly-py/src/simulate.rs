//! Comparisons, run without holding up Python.

use crate::errors;
use crate::value;
use numpy::ToPyArray;
use plausibly_sim::{
    Comparison, Experiment, Moments, Monitor, Overrides, Part, Point, RunError, SpecError, Summary,
    summary_csv,
};
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::{PyBytes, PyDict, PyString};
use std::num::NonZeroUsize;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc;
use std::time::Duration;

/// How often Python is asked whether Ctrl-C was pressed, and told how far it is.
const PULSE: Duration = Duration::from_millis(50);
/// Beyond this a typing error is likelier than a machine.
const MOST_THREADS: usize = 1024;

/// What the waiting thread and the workers tell each other.
#[derive(Default)]
struct Pulse {
    done: AtomicU64,
    stop: AtomicBool,
}

impl Monitor for Pulse {
    fn advanced(&self, rounds: u64) {
        self.done.fetch_add(rounds, Ordering::Relaxed);
    }

    fn stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}

/// Tells parts that are being played to stop.
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

/// A spec that was read, ready to be played, as a whole or in parts.
#[pyclass(frozen, module = "plausibly._core", name = "Experiment")]
pub(crate) struct PyExperiment {
    experiment: Experiment,
    comparison: Comparison,
}

#[pymethods]
impl PyExperiment {
    #[new]
    #[pyo3(signature = (spec, runs = None, seed = None))]
    fn new(spec: &Bound<'_, PyAny>, runs: Option<u64>, seed: Option<u64>) -> PyResult<Self> {
        let experiment = read(spec, Overrides { runs, seed })?;
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

    /// The spec with its defaults filled in; read again, it is the same experiment.
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
        let summary = run(py, &self.comparison, checked(threads)?, progress)?;
        to_dict(py, &self.experiment, &summary)
    }

    /// Plays the runs from `first` to before `end` on this thread; others run meanwhile. Returns them as bytes.
    fn play<'py>(
        &self,
        py: Python<'py>,
        first: u64,
        end: u64,
        stop: &PyStop,
    ) -> PyResult<Bound<'py, PyBytes>> {
        if first >= end || end > self.experiment.runs {
            let message = format!("runs {first} to {end} are no part of {}", self.experiment.runs);
            return Err(PyValueError::new_err(message));
        }
        let played = py.detach(|| caught(|| Ok(self.comparison.part(first..end, stop)?.to_bytes())));
        Ok(PyBytes::new(py, &played?))
    }

    /// Sums up parts that make up all runs, in their order, and returns the fields of `plausibly.Result`.
    fn sum_up<'py>(&self, py: Python<'py>, parts: Vec<PyBackedBytes>) -> PyResult<Bound<'py, PyDict>> {
        let mut summary = self.comparison.nothing_yet();
        for part in parts {
            let taken = Part::from_bytes(&part).and_then(|part| summary.take(&part));
            taken.map_err(|error| PyValueError::new_err(format!("parts: {error}")))?;
        }
        if summary.runs != self.experiment.runs {
            let message = format!("parts: {} runs of {}", summary.runs, self.experiment.runs);
            return Err(PyValueError::new_err(message));
        }
        to_dict(py, &self.experiment, &summary)
    }
}

/// The text of a spec as a dict.
#[pyfunction]
pub(crate) fn parse_spec<'py>(py: Python<'py>, text: &str) -> PyResult<Bound<'py, PyAny>> {
    let parsed = plausibly_sim::parse_spec(text);
    value::to_python(py, &parsed.map_err(|error| PyValueError::new_err(error.to_string()))?.value)
}

/// As many threads as asked for, else as many as there are cores.
fn checked(threads: Option<usize>) -> PyResult<NonZeroUsize> {
    let Some(threads) = threads else {
        return Ok(std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN));
    };
    let checked = NonZeroUsize::new(threads).filter(|threads| threads.get() <= MOST_THREADS);
    checked.ok_or_else(|| PyValueError::new_err(format!("threads: must be from 1 to {MOST_THREADS}")))
}

fn read(spec: &Bound<'_, PyAny>, overrides: Overrides) -> PyResult<Experiment> {
    let read = match spec.cast::<PyString>() {
        Ok(text) => Experiment::from_toml(text.to_cow()?.as_ref(), overrides, &()),
        Err(_) => Experiment::from_node(value::node(spec)?, overrides, &()),
    };
    read.map_err(|error: SpecError| {
        // Text has lines, and they help more than the difference between a wrong type and a wrong value.
        let is_text = error.problems.iter().any(|problem| problem.line > 0);
        if is_text { PyValueError::new_err(error.to_string()) } else { errors::of_problems(&error.problems) }
    })
}

/// What came of playing, with its errors and panics as exceptions.
fn caught<T>(play: impl FnOnce() -> Result<T, RunError>) -> PyResult<T> {
    // What a panic leaves behind is dropped: a comparison does not change while it is played.
    let outcome = catch_unwind(AssertUnwindSafe(play));
    let failed = |_| PyRuntimeError::new_err("the simulation failed; please report the spec");
    outcome.map_err(failed)?.map_err(|error| match error {
        RunError::Policy { .. } | RunError::Metric { .. } => PyValueError::new_err(error.to_string()),
        other => PyRuntimeError::new_err(other.to_string()),
    })
}

/// Runs on a thread of its own while this one watches for signals, which Python delivers to it alone.
fn run(
    py: Python<'_>,
    comparison: &Comparison,
    threads: NonZeroUsize,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<Summary> {
    let (total, pulse) = (comparison.total_rounds(), Pulse::default());
    let (send, receive) = mpsc::channel();
    let told = || {
        progress.map_or(Ok(()), |progress| {
            progress.call1((pulse.done.load(Ordering::Relaxed), total)).map(|_| ())
        })
    };
    std::thread::scope(|scope| {
        let pulse = &pulse;
        // Nobody listens any more if Python raised meanwhile.
        scope.spawn(move || drop(send.send(caught(|| comparison.run(threads, pulse)))));
        let mut receive = receive;
        loop {
            let receive = &mut receive;
            let heard = py.detach(move || receive.recv_timeout(PULSE));
            // Anything else is a pause: the other end never leaves without a word.
            if let Ok(outcome) = heard {
                return told().and(outcome);
            }
            if let Err(raised) = py.check_signals().and_then(|()| told()) {
                pulse.stop.store(true, Ordering::Relaxed);
                return Err(raised);
            }
        }
    })
}

fn to_dict<'py>(py: Python<'py>, experiment: &Experiment, summary: &Summary) -> PyResult<Bound<'py, PyDict>> {
    let all =
        || summary.policies.iter().flat_map(|policy| policy.points.iter().map(move |point| (policy, point)));
    let column =
        |pick: fn(&Point) -> f64| all().map(|(_, point)| pick(point)).collect::<Vec<f64>>().to_pyarray(py);
    let labels: Vec<&str> = all().map(|(policy, _)| policy.label.as_str()).collect();
    let rounds: Vec<u64> = summary.policies.iter().flat_map(|_| summary.rounds.iter().copied()).collect();
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

/// Not a number where a single run has no standard error.
fn error_of(moments: &Moments) -> f64 {
    moments.standard_error().unwrap_or(f64::NAN)
}
