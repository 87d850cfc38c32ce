//! Decisions that were taken. A certificate costs many times as much as its decision, so it is made
//! when it is first wanted, from the lines of the log.

use super::refusal::{DamagedLogError, of_log_about};
use super::store::Place;
use plausibly_log::journal::{Checkpoint, JournalError, read};
use plausibly_log::{LogError, Taken, certificate_keeping};
use pyo3::prelude::*;

/// A decision, and where to find it. It does not keep the log open.
#[pyclass(frozen, name = "Decided", module = "plausibly._core")]
pub(crate) struct PyDecided {
    #[pyo3(get)]
    decision: u64,
    #[pyo3(get)]
    label: String,
    place: Place,
    /// A line that the log had when it answered, the decision's own or a later one.
    line: Checkpoint,
    /// The number of actions that the certificate lists at most.
    most: usize,
}

#[pymethods]
impl PyDecided {
    /// The certificate as JSON, with the bits that it would have had at the decision: it follows
    /// from the lines before that.
    fn certificate(&self, py: Python<'_>) -> PyResult<String> {
        py.detach(|| {
            let mut storage = self.place.storage();
            let derived = match read(&storage, &self.line, |_| Err(Looked::IsThere)) {
                Ok(_) | Err(Looked::IsThere) => {
                    certificate_keeping(&mut storage, self.decision, self.most)
                }
                Err(Looked::Failed(error)) => Err(error.into()),
            };
            derived
                .map(|(certificate, _)| certificate.to_json())
                .map_err(|error| self.refused(&error))
        })
    }
}

impl PyDecided {
    pub(super) fn new(place: &Place, taken: Taken, most: usize) -> Self {
        let Taken { decision, label, line, .. } = taken;
        Self { decision, label, place: place.clone(), line, most }
    }

    fn refused(&self, error: &LogError) -> PyErr {
        let decision = self.decision;
        if let LogError::Journal(JournalError::Checkpoint { log, seq, .. }) = error {
            let log = log.display();
            return DamagedLogError::new_err(format!(
                "path: {log} is not the log that took decision {decision}, or was changed since: \
                 it does not have the line {seq} of then; put that log back at this path to get \
                 the decision's certificate"
            ));
        }
        of_log_about(
            error,
            "decision",
            &format!(
                " (the certificate of decision {decision} is made from the log when it is first \
                 asked for)"
            ),
        )
    }
}

/// Why reading behind a line ended.
enum Looked {
    /// The line is there, and another one behind it.
    IsThere,
    Failed(JournalError),
}

impl From<JournalError> for Looked {
    fn from(error: JournalError) -> Self {
        Self::Failed(error)
    }
}
