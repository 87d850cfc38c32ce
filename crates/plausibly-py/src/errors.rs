//! Turns errors in arguments into Python exceptions.

use plausibly::ActionSetError;
use plausibly::spec::{Complaint, FieldError, Setting};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;

/// Ends the function with a Python exception, as in `raise!(PyKeyError, "{label} is not there")`.
macro_rules! raise {
    ($exception:ty, $($text:tt)*) => {
        return Err(<$exception>::new_err(format!($($text)*)))
    };
}

/// Ends the function with a `ValueError`.
macro_rules! refuse {
    ($($text:tt)*) => {
        $crate::errors::raise!(pyo3::exceptions::PyValueError, $($text)*)
    };
}

pub(crate) use {raise, refuse};

/// The error for an argument of another type than expected.
pub(crate) fn expected(what: &str, argument: &str, found: &Bound<'_, PyAny>) -> PyErr {
    let name = found.get_type().name();
    let name = name.map_or_else(|_| "something else".into(), |name| name.to_string());
    PyTypeError::new_err(format!("{argument}: expected {what}, found {name}"))
}

/// All errors in the arguments, one per line: a `TypeError` if all of them are about types, else a
/// `ValueError`.
pub(crate) fn of_problems(problems: &[FieldError]) -> PyErr {
    let types = problems.iter().all(|problem| matches!(problem.complaint, Complaint::Type { .. }));
    let lines: Vec<String> = problems.iter().map(ToString::to_string).collect();
    if types {
        PyTypeError::new_err(lines.join("\n"))
    } else {
        PyValueError::new_err(lines.join("\n"))
    }
}

/// The error for a missing constant that only the caller can know.
pub(crate) fn missing(path: &str, expected: &str) -> FieldError {
    FieldError {
        line: 0,
        path: path.into(),
        complaint: Complaint::Missing { expected: expected.into() },
    }
}

/// The error for arguments that do not go together.
pub(crate) fn misfit(path: &str, what: &str, reason: &'static str) -> FieldError {
    FieldError {
        line: 0,
        path: path.into(),
        complaint: Complaint::Misfit { what: what.into(), reason },
    }
}

/// The error for a policy that cannot choose among actions of this kind.
pub(crate) fn of_actions(setting: Setting, problems: &[FieldError]) -> PyErr {
    let actions = if setting == Setting::Arms { "plain arms" } else { "actions with features" };
    let reasons: Vec<String> = problems.iter().map(ToString::to_string).collect();
    PyValueError::new_err(format!(
        "actions: {actions} do not suit this policy: {}",
        reasons.join("; ")
    ))
}

/// The error for rows that cannot be a set of actions, with the name of their argument.
pub(crate) fn of_rows(argument: &str, error: &ActionSetError) -> PyErr {
    PyValueError::new_err(format!("{argument}: {error}"))
}
