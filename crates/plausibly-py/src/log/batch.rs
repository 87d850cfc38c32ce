//! Many requests, carried out with one sync.

use super::decided::PyDecided;
use super::refusal::of_log;
use super::table::PyTable;
use super::{Open, PyLog, checked_key, labelled, paid, read_context};
use plausibly_log::recipe::Context;
use plausibly_log::table::Table;
use plausibly_log::{Among, Answer, Asked, LogError, Recorded, Request};
use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard};

/// Requests that wait to be carried out.
#[pyclass(frozen, name = "Batch", module = "plausibly._core")]
#[derive(Default)]
pub(crate) struct PyBatch {
    waiting: Mutex<Vec<Waiting>>,
}

enum Waiting {
    Decision { table: Arc<Table>, context: Context, most: usize, key: Option<String> },
    Outcome(Request<'static>),
}

#[pymethods]
impl PyBatch {
    #[new]
    fn new() -> Self {
        Self::default()
    }

    fn decide(
        &self,
        table: &PyTable,
        context: BTreeMap<String, String>,
        most: usize,
        key: Option<String>,
    ) -> PyResult<()> {
        let context = read_context(context)?;
        checked_key(key.as_deref())?;
        self.add(Waiting::Decision { table: table.shared(), context, most, key });
        Ok(())
    }

    fn reward(
        &self,
        decision: u64,
        value: Option<f64>,
        counts: Option<(u64, u64)>,
        correct: bool,
    ) -> PyResult<()> {
        let reward = paid(value, counts)?;
        self.add(Waiting::Outcome(if correct {
            Request::Correct { decision, reward, by: None }
        } else {
            Request::Reward { decision, reward, by: None }
        }));
        Ok(())
    }

    fn retract(&self, decision: u64) {
        self.add(Waiting::Outcome(Request::Retract { decision, by: None }));
    }

    fn drop(&self, decision: u64, undo: bool) {
        self.add(Waiting::Outcome(if undo {
            Request::Undrop { decision, by: None }
        } else {
            Request::Drop { decision, by: None }
        }));
    }

    fn __len__(&self) -> usize {
        self.waiting().len()
    }
}

impl PyBatch {
    fn waiting(&self) -> MutexGuard<'_, Vec<Waiting>> {
        // No code under this lock panics half-way, so the requests are whole even after a panic.
        self.waiting.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    fn add(&self, request: Waiting) {
        self.waiting().push(request);
    }
}

/// What a request of Python is answered.
enum Answered {
    Decided(PyDecided),
    /// Whether it was new.
    Recorded(bool),
    Refused(PyErr),
}

impl PyLog {
    /// Carries out the requests of a batch, which is empty then. Each answer is a decision, whether
    /// an outcome was new, or an exception.
    pub(super) fn carry_out<'py>(
        &self,
        py: Python<'py>,
        at_us: i64,
        batch: &PyBatch,
    ) -> PyResult<Vec<Bound<'py, PyAny>>> {
        let waiting = std::mem::take(&mut *batch.waiting());
        let answer = |answered| match answered {
            Answered::Decided(decided) => decided.into_bound_py_any(py),
            Answered::Recorded(now) => now.into_bound_py_any(py),
            Answered::Refused(error) => Ok(error.into_value(py).into_bound(py).into_any()),
        };
        py.detach(|| self.answers(at_us, &waiting))?.into_iter().map(answer).collect()
    }

    fn answers(&self, at_us: i64, waiting: &[Waiting]) -> PyResult<Vec<Answered>> {
        let mut open = self.lock()?;
        let mut ready = Vec::with_capacity(waiting.len());
        for request in waiting {
            ready.push(self.ready(&mut open, at_us, request));
        }
        let requests = waiting.iter().zip(&ready).filter_map(|(request, ready)| match request {
            Waiting::Outcome(request) => ready.is_ok().then_some(*request),
            Waiting::Decision { context, key, .. } => {
                let (among, key) = (Among::Table(ready.as_ref().ok()?.as_ref()?), key.as_deref());
                Some(Request::Decide(Asked { key, ..Asked::among(among, context) }))
            }
        });
        let answers = match &mut *open {
            Open::Begun(log) => log.batch(at_us, &requests.collect::<Vec<_>>()),
            _ => Ok(Vec::new()),
        };
        let mut answers = answers.map_err(|error| of_log(&error, "path"))?.into_iter();
        let answered = |(request, ready)| match ready {
            Ok(_) => self.answered(request, answers.next().expect("one answer per request")),
            Err(error) => Answered::Refused(error),
        };
        Ok(waiting.iter().zip(ready).map(answered).collect())
    }

    /// Begins the log if this is the first decision, and returns the table with the labels of the
    /// log.
    fn ready<'a>(
        &self,
        open: &mut Open,
        at_us: i64,
        request: &'a Waiting,
    ) -> PyResult<Option<Cow<'a, Table>>> {
        match request {
            Waiting::Outcome(_) if matches!(open, Open::Unbegun) => {
                Err(of_log(&LogError::Empty, "decision"))
            }
            Waiting::Outcome(_) => Ok(None),
            Waiting::Decision { table, context, .. } => {
                Ok(Some(labelled(self.begun_by(open, at_us, table, context)?, table)?))
            }
        }
    }

    fn answered(&self, request: &Waiting, answer: Result<Answer, LogError>) -> Answered {
        let (most, argument) = match request {
            Waiting::Decision { most, .. } => (*most, "actions"),
            Waiting::Outcome(_) => (0, "decision"),
        };
        match answer {
            Ok(Answer::Taken(taken)) => Answered::Decided(PyDecided::new(&self.place, taken, most)),
            Ok(Answer::Recorded(recorded)) => Answered::Recorded(recorded == Recorded::Now),
            Err(error) => Answered::Refused(of_log(&error, argument)),
        }
    }
}
