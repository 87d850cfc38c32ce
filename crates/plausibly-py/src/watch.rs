//! Long work, done without holding up Python.

use plausibly_sim::Monitor;
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
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

/// Works on a thread of its own while this one watches for signals, which Python delivers to it
/// alone, and tells `progress` the rounds done of all there are.
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
        // Nobody listens any more if Python raised meanwhile.
        scope.spawn(move || drop(send.send(caught(|| work(pulse)))));
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

/// What came of work that may panic.
pub(crate) fn caught<T>(work: impl FnOnce() -> PyResult<T>) -> PyResult<T> {
    // What a panic leaves behind is dropped: experiments do not change while they are played.
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|_| {
        Err(PyRuntimeError::new_err("the simulation failed; please report the spec"))
    })
}

/// As many threads as asked for, else as many as there are cores.
pub(crate) fn checked_threads(threads: Option<usize>) -> PyResult<NonZeroUsize> {
    let Some(threads) = threads else {
        return Ok(std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN));
    };
    let checked = NonZeroUsize::new(threads).filter(|threads| threads.get() <= MOST_THREADS);
    checked
        .ok_or_else(|| PyValueError::new_err(format!("threads: must be from 1 to {MOST_THREADS}")))
}
