//! The compiled part of the Python package `plausibly`: the module `plausibly._core`.
//!
//! This crate only checks arguments, converts them and calls the library. Mathematics belongs to
//! `plausibly`, simulation to `plausibly-sim`, logs to `plausibly-log`, and words and tables to
//! `python/plausibly`. A wrong argument raises a Python exception that names the argument.

mod action;
mod actions;
mod arms;
mod batch;
mod built;
mod command;
mod data;
mod errors;
mod explain;
mod guarded;
mod log;
mod model;
mod outcomes;
mod policy;
mod reproduce;
mod roster;
mod saved;
mod settings;
mod simulate;
mod value;
mod waiting;
mod watch;

/// The compiled part of `plausibly`; private to the package.
#[pyo3::pymodule]
mod _core {
    #[pymodule_export]
    use crate::action::PyAction;
    #[pymodule_export]
    use crate::actions::PySet;
    #[pymodule_export]
    use crate::arms::PyArms;
    #[pymodule_export]
    use crate::command::run_command;
    #[pymodule_export]
    use crate::data::fetch_data;
    #[pymodule_export]
    use crate::log::{
        CertificateError, DamagedLogError, PyBatch, PyDecided, PyLog, PyTable, certificate_words,
        check_certificate,
    };
    #[pymodule_export]
    use crate::policy::PyPolicy;
    #[pymodule_export]
    use crate::reproduce::reproduce;
    #[pymodule_export]
    use crate::simulate::{PyExperiment, PyStop, parse_spec};
    use plausibly_log::input::Limit;
    #[pymodule_export]
    const CERTIFICATE_MIB: u64 = Limit::CERTIFICATE.mebibytes;
    #[pymodule_export]
    const LEANING: f64 = plausibly::Curved::LEANING;
    #[pymodule_export]
    const SAVED_POLICY_MIB: u64 = Limit::SAVED_POLICY.mebibytes;
    #[pymodule_export]
    const SPEC_MIB: u64 = Limit::SPEC.mebibytes;
    #[pymodule_export]
    const TABLE_MIB: u64 = Limit::TABLE.mebibytes;
    #[pymodule_export]
    #[expect(non_upper_case_globals, reason = "the name that Python packages give it")]
    const __version__: &str = env!("CARGO_PKG_VERSION");
}
