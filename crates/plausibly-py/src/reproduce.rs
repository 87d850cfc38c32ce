//! Runs the paper's experiments, as the command does.

use crate::data;
use crate::errors::raise;
use crate::simulate::to_dict;
use crate::watch::{checked_threads, watched};
use plausibly_data::Status;
use plausibly_paper::{PaperError, Prepared, Reading, Request, Skipped, manifest, summary_csv};
use pyo3::exceptions::{PyFileNotFoundError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::path::PathBuf;

/// Plays experiments and returns the fields of `plausibly.Reproduction`.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "keywords of a Python function")]
pub(crate) fn reproduce<'py>(
    py: Python<'py>,
    experiments: Vec<String>,
    quick: bool,
    runs: Option<u64>,
    seed: u64,
    literal: bool,
    threads: Option<usize>,
    cache: Option<PathBuf>,
    progress: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyDict>> {
    let threads = checked_threads(threads)?;
    let reading = if literal { Reading::Literal } else { Reading::Adopted };
    let request = Request { experiments, runs, quick, seed, reading };
    request.check().map_err(|error| PyValueError::new_err(format!("experiments: {error}")))?;
    let skipped = missing_data(&request, cache.clone())?;
    let pools = data::pools(cache);
    let prepared =
        py.detach(|| Prepared::new(&request, skipped, &*pools)).map_err(|error| raised(&error))?;
    let reproduction = watched(py, prepared.total_rounds(), progress, |pulse| {
        prepared.run(threads, pulse, |_| {}).map_err(|error| raised(&error))
    })?;
    let results = PyDict::new(py);
    for measured in reproduction.measured() {
        let played =
            prepared.experiments().find(|experiment| experiment.name == measured.spec_name);
        let experiment = played.expect("what was measured was played");
        results.set_item(measured.spec_name, to_dict(py, experiment, &measured.summary)?)?;
    }
    let specs = PyDict::new(py);
    reproduction.specs().into_iter().try_for_each(|(name, text)| specs.set_item(name, text))?;
    let manifest = serde_json::Value::from(manifest(&reproduction, prepared.experiments()));
    let fields = PyDict::new(py);
    fields.set_item("results", results)?;
    fields.set_item("specs", specs)?;
    fields.set_item("csv", summary_csv(&reproduction))?;
    fields.set_item("html", reproduction.html())?;
    fields.set_item("manifest", format!("{manifest:#}\n"))?;
    Ok(fields)
}

/// Skips experiments without data in the cache, and raises if the caller named one of them.
fn missing_data(request: &Request, cache: Option<PathBuf>) -> PyResult<Vec<Skipped>> {
    let store = data::store(cache)?;
    let mut skipped = Vec::new();
    for set in request.data_sets() {
        if store.status(set).map_err(|error| data::raised(&error))? != Status::Ready {
            let remedy = data::remedy(set.name);
            if request.is_named(set.name) {
                let data = format!("the data of {}", set.name);
                raise!(PyFileNotFoundError, "experiments: {data} is not in the cache; {remedy}");
            }
            let reason = "Its data is not in the cache.".into();
            skipped.push(Skipped { study: set.name, reason, remedy: format!("{remedy}.") });
        }
    }
    Ok(skipped)
}

fn raised(error: &PaperError) -> PyErr {
    match error {
        PaperError::Spec { .. } => PyValueError::new_err(error.to_string()),
        other => PyRuntimeError::new_err(other.to_string()),
    }
}
