//! The command `plausibly`, in a Python process that runs nothing else.

use pyo3::prelude::*;
use std::ffi::OsString;

/// Runs the command with these arguments and returns its exit code; see `plausibly._command`.
#[pyfunction]
pub(crate) fn run_command(py: Python<'_>, arguments: Vec<OsString>) -> u8 {
    let line = std::iter::once(OsString::from("plausibly")).chain(arguments);
    py.detach(|| plausibly_cli::run(line))
}
