//! The data sets of the paper, in the same cache as the command's.

use crate::errors::{raise, refuse};
use crate::watch::caught;
use plausibly_data::{
    DATA_SETS, DataError, DataPools, DataSet, Source, Status, Store, TIME_LIMIT, fetch,
};
use pyo3::exceptions::{PyOSError, PyPermissionError, PyValueError};
use pyo3::prelude::*;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

/// The environment variable that names the cache, as in the command.
const CACHE_VARIABLE: &str = "PLAUSIBLY_DATA";

/// The folder passed, else the one in the environment; `None` means the platform's own.
fn folder(cache: Option<PathBuf>) -> Option<PathBuf> {
    cache.or_else(|| std::env::var_os(CACHE_VARIABLE).map(PathBuf::from))
}

pub(crate) fn store(cache: Option<PathBuf>) -> PyResult<Store> {
    let missing = || PyValueError::new_err("cache: this platform has no folder for data; name one");
    Store::at(folder(cache)).ok_or_else(missing)
}

/// Says how to get a data set in Python.
pub(crate) fn remedy(name: &str) -> String {
    format!("`plausibly.fetch_data(\"{name}\")` gets it")
}

/// The environments made from data sets. A process reads each folder once.
pub(crate) fn pools(cache: Option<PathBuf>) -> Arc<DataPools> {
    static OPEN: Mutex<Vec<(Option<PathBuf>, Arc<DataPools>)>> = Mutex::new(Vec::new());
    let folder = folder(cache);
    let mut open = OPEN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, pools)) = open.iter().find(|(known, _)| *known == folder) {
        return Arc::clone(pools);
    }
    let pools = Arc::new(DataPools::new(folder.clone(), remedy));
    open.push((folder, Arc::clone(&pools)));
    pools
}

pub(crate) fn raised(error: &DataError) -> PyErr {
    PyOSError::new_err(error.to_string())
}

/// Downloads a data set into the cache: from the mirror if there is one, and from its publishers if
/// there is none or it fails.
///
/// Other Python threads run meanwhile. `progress` gets the bytes so far and, if known, the total.
/// Ctrl-C, or an exception in `progress`, ends the download at once; the next one continues it.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "arguments of Python come by value")]
pub(crate) fn fetch_data(
    py: Python<'_>,
    name: &str,
    cache: Option<PathBuf>,
    mirror: Option<String>,
    accept_licence: bool,
    progress: Option<Py<PyAny>>,
) -> PyResult<()> {
    let Some(set) = DATA_SETS.iter().find(|set| set.name == name) else {
        let names = DATA_SETS.map(|set| set.name).join(", ");
        refuse!("names: there is no data set {name:?}; there are {names}");
    };
    let store = store(cache)?;
    if store.status(set).map_err(|error| raised(&error))? == Status::Ready {
        return Ok(());
    }
    if set.must_accept && !accept_licence {
        let DataSet { licence, .. } = set;
        raise!(
            PyPermissionError,
            "{name} has a licence to accept ({licence}); pass accept_licence=True if you do"
        );
    }
    let mut sources: Vec<Source> = mirror.iter().map(|mirror| Source::mirror(mirror)).collect();
    sources.push(Source::Official);
    let mut stopped = None;
    let fetched = py.detach(|| {
        caught(|| {
            let mut hear = |done: u64, total: Option<u64>| {
                let heard = Python::attach(|py| {
                    py.check_signals()?;
                    progress
                        .as_ref()
                        .map_or(Ok(()), |progress| progress.call1(py, (done, total)).map(drop))
                });
                match heard {
                    Ok(()) => ControlFlow::Continue(()),
                    Err(error) => {
                        stopped = Some(error);
                        ControlFlow::Break(())
                    }
                }
            };
            let mut outcome = Ok(());
            for source in &sources {
                outcome = fetch(&store, set, source, TIME_LIMIT, &mut hear);
                if matches!(outcome, Ok(()) | Err(DataError::Stopped { .. })) {
                    break;
                }
            }
            outcome.map_err(|error| raised(&error))
        })
    });
    stopped.map_or(fetched, Err)
}
