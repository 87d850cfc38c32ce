//! The context of a decision: facts that are the same for all actions.

use crate::table::{MOST_CHARACTERS, brief, present, too_long};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use std::collections::BTreeMap;
use thiserror::Error;

/// Why a context was refused.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum ContextError {
    /// No `=`.
    #[error("`{pair}` is not a context; write KEY=VALUE, such as device=mobile")]
    NoValue {
        /// What was given.
        pair: String,
    },
    /// Nothing before the `=`.
    #[error("`{pair}` has no key; write KEY=VALUE, such as device=mobile")]
    NoKey {
        /// What was given.
        pair: String,
    },
    /// A key or value that is too long.
    #[error(
        "the {what} of `{}` has {characters} characters, more than {MOST_CHARACTERS}; shorten it",
        brief(.key)
    )]
    Long {
        /// `key` or `value`.
        what: &'static str,
        /// The key.
        key: String,
        /// The number of characters.
        characters: usize,
    },
    /// A key with two values.
    #[error("`{key}` is given twice, as `{first}` and `{second}`; give one value per key")]
    Twice {
        /// The key.
        key: String,
        /// One value.
        first: String,
        /// The other.
        second: String,
    },
}

/// Pairs of key and value, in the order of keys. A key without a value (see [`present`]) counts as
/// absent.
///
/// # Example
/// ```
/// use plausibly_log::recipe::Context;
/// let context = Context::parse(["device=mobile", "hour = 14", "city="])?;
/// assert_eq!(context.iter().collect::<Vec<_>>(), [("device", "mobile"), ("hour", "14")]);
/// # Ok::<(), plausibly_log::recipe::ContextError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Context(#[serde(deserialize_with = "stored")] BTreeMap<String, String>);

impl Context {
    /// Reads pairs like `device=mobile`. The first `=` separates; spaces around key and value are
    /// ignored.
    ///
    /// # Errors
    /// If a pair has no `=` or no key, or a key comes twice.
    pub fn parse<S: AsRef<str>>(pairs: impl IntoIterator<Item = S>) -> Result<Self, ContextError> {
        let mut context = BTreeMap::new();
        for pair in pairs {
            let pair = pair.as_ref();
            let (key, value) =
                pair.split_once('=').ok_or_else(|| ContextError::NoValue { pair: pair.into() })?;
            insert(&mut context, key, value)?;
        }
        checked(context)
    }

    /// Whether there are no keys.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The value of a key.
    pub fn get(&self, key: &str) -> Option<&str> {
        self.0.get(key).map(String::as_str)
    }

    /// All pairs, in the order of keys.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&str, &str)> {
        self.0.iter().map(|(key, value)| (key.as_str(), value.as_str()))
    }
}

/// Reads the context of a log. Lengths are not checked: earlier versions had no limit.
fn stored<'de, D: Deserializer<'de>>(from: D) -> Result<BTreeMap<String, String>, D::Error> {
    collected(&BTreeMap::deserialize(from)?).map_err(D::Error::custom)
}

fn collected(pairs: &BTreeMap<String, String>) -> Result<BTreeMap<String, String>, ContextError> {
    let mut context = BTreeMap::new();
    pairs.iter().try_for_each(|(key, value)| insert(&mut context, key, value))?;
    Ok(context)
}

/// Checks that no key or value of a new context is too long.
fn checked(pairs: BTreeMap<String, String>) -> Result<Context, ContextError> {
    for (key, value) in &pairs {
        for (what, text) in [("key", key), ("value", value)] {
            if let Some(characters) = too_long(text) {
                return Err(ContextError::Long { what, key: key.clone(), characters });
            }
        }
    }
    Ok(Context(pairs))
}

fn insert(
    context: &mut BTreeMap<String, String>,
    key: &str,
    value: &str,
) -> Result<(), ContextError> {
    let key = key.trim();
    if key.is_empty() {
        return Err(ContextError::NoKey { pair: format!("{key}={value}") });
    }
    let Some(value) = present(value) else { return Ok(()) };
    match context.insert(key.into(), value.into()) {
        None => Ok(()),
        Some(first) => Err(ContextError::Twice { key: key.into(), first, second: value.into() }),
    }
}

impl TryFrom<BTreeMap<String, String>> for Context {
    type Error = ContextError;

    fn try_from(pairs: BTreeMap<String, String>) -> Result<Self, ContextError> {
        checked(collected(&pairs)?)
    }
}
