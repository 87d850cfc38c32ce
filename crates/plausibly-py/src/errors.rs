//! What is wrong with an argument, as the Python exception for it.

use plausibly::ActionSetError;
use plausibly::spec::{Complaint, FieldError, Setting};
use pyo3::PyErr;
use pyo3::exceptions::{PyTypeError, PyValueError};

/// Everything wrong with the arguments, a line each: a `TypeError` if all of it is about types,
/// else a `ValueError`.
pub(crate) fn of_problems(problems: &[FieldError]) -> PyErr {
    let types = problems.iter().all(|problem| matches!(problem.complaint, Complaint::Type { .. }));
    let lines: Vec<String> = problems.iter().map(ToString::to_string).collect();
    if types {
        PyTypeError::new_err(lines.join("\n"))
    } else {
        PyValueError::new_err(lines.join("\n"))
    }
}

/// A constant that the caller alone can know.
pub(crate) fn missing(path: &str, expected: &str) -> FieldError {
    FieldError {
        line: 0,
        path: path.into(),
        complaint: Complaint::Missing { expected: expected.into() },
    }
}

/// Why a policy that was made cannot play with the actions it is offered.
pub(crate) fn of_actions(setting: Setting, problems: &[FieldError]) -> PyErr {
    let actions = if setting == Setting::Arms { "plain arms" } else { "actions with features" };
    let reasons: Vec<String> = problems.iter().map(ToString::to_string).collect();
    PyValueError::new_err(format!(
        "actions: {actions} do not suit this policy: {}",
        reasons.join("; ")
    ))
}

/// Why rows cannot be a set of actions, with the name of the argument they came in.
pub(crate) fn of_rows(argument: &str, error: &ActionSetError) -> PyErr {
    PyValueError::new_err(format!("{argument}: {error}"))
}
