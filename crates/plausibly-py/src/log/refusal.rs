//! Turns errors of logs into Python exceptions.

use plausibly_log::LogError;
use plausibly_log::journal::JournalError;
use plausibly_log::state::StepError;
use pyo3::exceptions::{PyBlockingIOError, PyKeyError, PyOSError, PyRuntimeError, PyValueError};
use pyo3::{PyErr, create_exception};

create_exception!(
    plausibly,
    DamagedLogError,
    PyValueError,
    "A log, or a line of it, was changed or damaged after it was written."
);
create_exception!(
    plausibly,
    CertificateError,
    PyValueError,
    "A certificate says something that does not follow from what it rests on, or from the log."
);

/// The exception for an error of a log. `argument` names the argument to blame for a wrong request.
pub(crate) fn of_log(error: &LogError, argument: &str) -> PyErr {
    of_log_about(error, argument, "")
}

/// Like [`of_log`], with a note at the end of the text.
pub(super) fn of_log_about(error: &LogError, argument: &str, note: &str) -> PyErr {
    let text = format!("{error}{note}");
    match error {
        LogError::Journal(journal) => of_journal(journal, &text),
        LogError::Line { .. } | LogError::Choice { .. } => {
            DamagedLogError::new_err(format!("path: {text}"))
        }
        LogError::Step(StepError::Unknown { .. }) => {
            PyKeyError::new_err(format!("{argument}: {text}"))
        }
        LogError::Step(StepError::Reward { .. }) => PyValueError::new_err(format!("value: {text}")),
        LogError::Step(StepError::Policy(_)) => PyValueError::new_err(format!("policy: {text}")),
        LogError::Step(StepError::Range { .. }) => {
            PyValueError::new_err(format!("reward_range: {text}"))
        }
        LogError::Stopped | LogError::Unwritable(_) => PyRuntimeError::new_err(text),
        LogError::Empty => {
            PyValueError::new_err("the log has no decisions yet: `decide` begins it")
        }
        _ => PyValueError::new_err(format!("{argument}: {text}")),
    }
}

fn of_journal(error: &JournalError, text: &str) -> PyErr {
    let text = format!("path: {text}");
    match error {
        JournalError::Locked { .. } => PyBlockingIOError::new_err(text),
        JournalError::Damaged { .. } | JournalError::Checkpoint { .. } => {
            DamagedLogError::new_err(text)
        }
        JournalError::Body { .. } | JournalError::Time { .. } => PyValueError::new_err(text),
        JournalError::Stopped { .. } | JournalError::Changed { .. } => {
            PyRuntimeError::new_err(text)
        }
        JournalError::Io { source, .. } => match source.raw_os_error() {
            // From the number Python picks the subclass, such as `FileNotFoundError`.
            Some(number) => PyOSError::new_err((number, text)),
            None => PyOSError::new_err(text),
        },
        _ => PyOSError::new_err(text),
    }
}
