//! Checks and explains certificates that the caller has as text.

use super::PyLog;
use super::refusal::{CertificateError, of_log};
use super::store::Place;
use crate::errors::raise;
use plausibly_log::certificate::Certificate;
use plausibly_log::{LogError, certificate, check_forecasts};
use pyo3::exceptions::{PyFileNotFoundError, PyValueError};
use pyo3::prelude::*;
use std::path::PathBuf;

/// Checks a certificate by itself, or also against a log: an open one, or the file of one.
#[pyfunction]
#[pyo3(signature = (text, log, path))]
pub(crate) fn check_certificate(
    py: Python<'_>,
    text: &str,
    log: Option<&Bound<'_, PyLog>>,
    path: Option<PathBuf>,
) -> PyResult<()> {
    let place = log.map(|log| log.get().place.clone());
    py.detach(|| {
        let found = read(text)?;
        let wrong = |flaw: &dyn std::fmt::Display| {
            let decision = found.grounds.decision;
            CertificateError::new_err(format!(
                "the certificate of decision {decision} is wrong: {flaw}"
            ))
        };
        found.check().map_err(|flaw| wrong(&flaw))?;
        let named = path.map(Place::File);
        if named.as_ref().is_some_and(|named| !named.has_content()) {
            raise!(PyFileNotFoundError, "log: there is no such log, or it has not begun");
        }
        let Some(place) = place.or(named) else { return Ok(()) };
        let most =
            if found.grounds.unlisted.is_some() { found.grounds.actions.len() } else { usize::MAX };
        match certificate(&place.storage(), found.grounds.decision, most) {
            Ok(true_one) => {
                check_forecasts(&place.storage(), found.grounds.decision)
                    .map_err(|error| of_log(&error, "log"))?;
                found.check_against(&true_one).map_err(|flaw| wrong(&flaw))
            }
            // If the log does not have the decision, the certificate is wrong, not the log.
            Err(LogError::Step(unknown)) => {
                Err(wrong(&format!("grounds.decision: {unknown} in the log")))
            }
            Err(error) => Err(of_log(&error, "log")),
        }
    })
}

/// A certificate in plain words, after checking it.
#[pyfunction]
pub(crate) fn certificate_words(py: Python<'_>, text: &str) -> PyResult<String> {
    py.detach(|| {
        let found = read(text)?;
        found.check().map_err(|flaw| {
            CertificateError::new_err(format!(
                "the certificate is wrong and will not be explained: {flaw}"
            ))
        })?;
        Ok(found.words().to_string())
    })
}

fn read(text: &str) -> PyResult<Certificate> {
    Certificate::from_json(text)
        .map_err(|error| PyValueError::new_err(format!("certificate: not a certificate: {error}")))
}
