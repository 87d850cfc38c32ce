//! Checks a certificate: alone, by deriving its findings again, and against the one that a log
//! gives.

use super::{Certificate, FORMAT, Findings, GroundsError, VERSION};
use serde::Serialize;
use serde_json::Value as Json;
use thiserror::Error;

/// The first thing that is wrong with a certificate.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum Flaw {
    /// Another format, or another version of it.
    #[error("not a certificate this version can check: format {format:?}, version {version}")]
    Format {
        /// The format found.
        format: String,
        /// The version found.
        version: u32,
    },
    /// The seal does not match: the document was changed or damaged after it was sealed.
    #[error(
        "seal: the document was changed after it was sealed (found {found}, expected {expected})"
    )]
    Seal {
        /// The seal of this document.
        expected: String,
        /// The seal found in it.
        found: String,
    },
    /// Grounds that no decision follows from.
    #[error(transparent)]
    Grounds(#[from] GroundsError),
    /// A value that differs from the one that follows.
    #[error("{path}: the certificate says {found}, but {expected} follows from {from}")]
    Differs {
        /// The path of the value.
        path: String,
        /// The value that follows.
        expected: String,
        /// The value in the certificate.
        found: String,
        /// What the expected value follows from: the grounds or the log.
        from: &'static str,
    },
}

impl Certificate {
    /// Derives the findings again from the grounds, and returns the first difference. Passing
    /// proves that the findings follow from the grounds; only the log can prove that the grounds
    /// are true.
    ///
    /// # Errors
    /// The first flaw, in the order of the document.
    pub fn check(&self) -> Result<(), Flaw> {
        let known = (1..=VERSION).contains(&self.version) && self.version == self.grounds.format;
        if self.format != FORMAT || !known {
            return Err(Flaw::Format { format: self.format.clone(), version: self.version });
        }
        let findings = Findings::derive(&self.grounds)?;
        check_same("findings", &findings, &self.findings, "the grounds")?;
        let expected = self.expected_seal();
        if self.seal == expected {
            Ok(())
        } else {
            Err(Flaw::Seal { expected, found: self.seal.clone() })
        }
    }

    /// Compares with the certificate that a log gives for the same decision.
    ///
    /// # Errors
    /// The first value that differs.
    pub fn check_against(&self, true_one: &Self) -> Result<(), Flaw> {
        check_same("", true_one, self, "the log")
    }
}

/// Refuses a part of a certificate that differs from the expected one, which follows from `from`.
fn check_same<T: Serialize>(
    path: &str,
    expected: &T,
    found: &T,
    from: &'static str,
) -> Result<(), Flaw> {
    match first_difference(path, &as_json(expected), &as_json(found)) {
        None => Ok(()),
        Some((path, expected, found)) => Err(Flaw::Differs { path, expected, found, from }),
    }
}

fn as_json(value: &impl Serialize) -> Json {
    // Must panic rather than return an error value: two failures would be equal, and the check
    // would pass.
    serde_json::to_value(value).expect("certificates and findings are JSON")
}

/// The path, the expected and the found value of the first difference of two documents, in the
/// order of the expected one. Numbers are compared by their bits.
pub fn first_difference(
    path: &str,
    expected: &Json,
    found: &Json,
) -> Option<(String, String, String)> {
    let inside =
        |name: &str| if path.is_empty() { name.to_string() } else { format!("{path}.{name}") };
    match (expected, found) {
        (Json::Object(expected), Json::Object(found)) => {
            let missing = Json::String("nothing".into());
            for (name, value) in expected {
                let other = found.get(name).unwrap_or(&missing);
                if let Some(difference) = first_difference(&inside(name), value, other) {
                    return Some(difference);
                }
            }
            let extra = found.iter().find(|(name, _)| !expected.contains_key(name.as_str()));
            extra.map(|(name, value)| (inside(name), "nothing".into(), short(value)))
        }
        (Json::Array(expected), Json::Array(found)) => {
            let pairs = expected.iter().zip(found).enumerate();
            let mut differences = pairs.filter_map(|(at, (expected, found))| {
                first_difference(&format!("{path}[{at}]"), expected, found)
            });
            differences.next().or_else(|| {
                let lengths =
                    (format!("{} entries", expected.len()), format!("{} entries", found.len()));
                (expected.len() != found.len()).then(|| (path.to_string(), lengths.0, lengths.1))
            })
        }
        (Json::Number(a), Json::Number(b)) => {
            let same = match (a.as_u64(), b.as_u64()) {
                (Some(a), Some(b)) => a == b,
                _ => a.as_f64().map(f64::to_bits) == b.as_f64().map(f64::to_bits),
            };
            (!same).then(|| (path.to_string(), a.to_string(), b.to_string()))
        }
        _ => (expected != found).then(|| (path.to_string(), short(expected), short(found))),
    }
}

/// A value for a message, cut to 80 characters.
fn short(value: &Json) -> String {
    let text = value.to_string();
    match text.char_indices().nth(80) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}
