//! Long work that Ctrl-C can stop and that lets other Python threads run.

use plausibly_sim::Monitor;
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use std::num::NonZeroUsize;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc;
use std::time::Duration;

/// The time between two checks for Ctrl-C and reports of progress.
const PULSE: Duration = Duration::from_millis(50);
/// More threads than this are more likely a typing error than a large machine.
const MOST_THREADS: usize = 1024;

/// Shared by the waiting thread and the workers: rounds done so far, and the order to stop.
#[derive(Default)]
pub(crate) struct Pulse {
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

/// Runs `work` on a new thread. Meanwhile this thread checks for signals, because Python delivers
/// them to its main thread only, and calls `progress` with the rounds done and the total.
pub(crate) fn watched<T: Send>(
    py: Python<'_>,
    total: u64,
    progress: Option<&Bound<'_, PyAny>>,
    work: impl FnOnce(&Pulse) -> PyResult<T> + Send,
) -> PyResult<T> {
    let pulse = Pulse::default();
    let (send, receive) = mpsc::channel();
    let told = || {
        progress.map_or(Ok(()), |progress| {
            progress.call1((pulse.done.load(Ordering::Relaxed), total)).map(|_| ())
        })
    };
    std::thread::scope(|scope| {
        let pulse = &pulse;
        // Sending fails if the waiting thread has raised already; that is fine.
        scope.spawn(move || drop(send.send(caught(|| work(pulse)))));
        let mut receive = receive;
        loop {
            let receive = &mut receive;
            let heard = py.detach(move || receive.recv_timeout(PULSE));
            // An error is always a timeout, because the worker sends a result even if it panics.
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

/// Runs work, and turns a panic into an exception.
pub(crate) fn caught<T>(work: impl FnOnce() -> PyResult<T>) -> PyResult<T> {
    // A panic leaves nothing half changed, because playing does not change an experiment.
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|_| {
        Err(PyRuntimeError::new_err("the simulation failed; please report the spec"))
    })
}

/// The number of threads asked for, checked; by default one per core.
pub(crate) fn checked_threads(threads: Option<usize>) -> PyResult<NonZeroUsize> {
    let Some(threads) = threads else {
        return Ok(std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN));
    };
    let checked = NonZeroUsize::new(threads).filter(|threads| threads.get() <= MOST_THREADS);
    checked
        .ok_or_else(|| PyValueError::new_err(format!("threads: must be from 1 to {MOST_THREADS}")))
}
