//! Comparisons, run without holding up Python.

use crate::errors;
use crate::value;
use numpy::ToPyArray;
use plausibly_sim::{
    Experiment, Moments, Monitor, Overrides, Point, RunError, SpecError, Summary, summary_csv,
};
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};
use std::num::NonZeroUsize;
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

/// Plays a comparison and returns the fields of `plausibly.Result`.
#[pyfunction]
#[pyo3(signature = (spec, runs, seed, threads, progress))]
pub(crate) fn simulate<'py>(
    py: Python<'py>,
    spec: &Bound<'py, PyAny>,
    runs: Option<u64>,
    seed: Option<u64>,
    threads: Option<usize>,
    progress: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyDict>> {
    let threads = match threads {
        None => std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN),
        Some(threads) => NonZeroUsize::new(threads)
            .filter(|threads| threads.get() <= MOST_THREADS)
            .ok_or_else(|| PyValueError::new_err(format!("threads: must be from 1 to {MOST_THREADS}")))?,
    };
    let experiment = read(spec, Overrides { runs, seed })?;
    let summary = run(py, &experiment, threads, progress)?;
    to_dict(py, &experiment, &summary)
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

/// Runs on a thread of its own while this one watches for signals, which Python delivers to it alone.
fn run(
    py: Python<'_>,
    experiment: &Experiment,
    threads: NonZeroUsize,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<Summary> {
    let comparison = experiment.comparison();
    let (total, pulse) = (comparison.total_rounds(), Pulse::default());
    let (send, receive) = mpsc::channel();
    let told = || {
        progress.map_or(Ok(()), |progress| {
            progress.call1((pulse.done.load(Ordering::Relaxed), total)).map(|_| ())
        })
    };
    let outcome = std::thread::scope(|scope| {
        let (comparison, pulse) = (&comparison, &pulse);
        // Nobody listens any more if Python raised meanwhile.
        scope.spawn(move || drop(send.send(comparison.run(threads, pulse))));
        let mut receive = receive;
        loop {
            let receive = &mut receive;
            match py.detach(move || receive.recv_timeout(PULSE)) {
                Err(mpsc::RecvTimeoutError::Timeout) => {
                    if let Err(raised) = py.check_signals().and_then(|()| told()) {
                        pulse.stop.store(true, Ordering::Relaxed);
                        return Err(raised);
                    }
                }
                Ok(outcome) => return told().map(|()| outcome),
                // The sender is gone without a word: the worker panicked.
                Err(mpsc::RecvTimeoutError::Disconnected) => {
                    return Err(PyRuntimeError::new_err("the simulation failed; please report the spec"));
                }
            }
        }
    })?;
    outcome.map_err(|error| match error {
        RunError::Policy { .. } | RunError::Metric { .. } => PyValueError::new_err(error.to_string()),
        other => PyRuntimeError::new_err(other.to_string()),
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
