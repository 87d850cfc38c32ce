//! Reads JSON from outside: certificates, events, saved policies.
//!
//! No object may have a key twice. JSON readers disagree on which of the two values counts, so such
//! a document would mean one thing here and another elsewhere. Serde refuses a doubled field of a
//! struct, but lets a map keep the last value; [`read`] therefore checks the text itself, whatever
//! type it is read into.

use crate::table::brief;
use serde::de::DeserializeOwned;
use std::borrow::Cow;
use thiserror::Error;

/// Why a text was refused.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum JsonError {
    /// The text is not JSON, or not the JSON of the requested type.
    #[error(transparent)]
    Syntax(#[from] serde_json::Error),
    /// An object has a key twice.
    #[error(
        "the key `{}` occurs twice in {}, the second time at line {line} column {column}; readers \
         disagree on which one counts, so keep one",
        brief(.key), place(.path)
    )]
    DoubledKey {
        /// The key.
        key: String,
        /// The path of the object, such as `grounds.policy`; empty for the outermost one.
        path: String,
        /// The line of its second occurrence, from 1.
        line: usize,
        /// Its column, in characters from 1.
        column: usize,
    },
}

fn place(path: &str) -> Cow<'_, str> {
    if path.is_empty() {
        "the outermost object".into()
    } else {
        format!("`{}`", brief(path)).into()
    }
}

/// Reads a value from a JSON text in which no object has a key twice.
///
/// ```
/// use plausibly_log::json;
/// assert_eq!(json::read::<Vec<u8>>("[1, 2]")?, [1, 2]);
/// let doubled = json::read::<serde_json::Value>(r#"{"a": {"b": 1, "\u0062": 2}}"#).unwrap_err();
/// assert!(doubled.to_string().starts_with("the key `b` occurs twice in `a`"));
/// # Ok::<(), json::JsonError>(())
/// ```
///
/// # Errors
/// If the text is not the JSON of such a value, or an object has a key twice.
pub fn read<T: DeserializeOwned>(text: &str) -> Result<T, JsonError> {
    let value = serde_json::from_str(text)?;
    doubled_key(text).map_or(Ok(value), Err)
}

/// Checks that no object of a JSON text has a key twice. About any other text it says nothing.
///
/// # Errors
/// The first object with such a key.
pub fn check_keys(text: &str) -> Result<(), JsonError> {
    doubled_key(text).map_or(Ok(()), Err)
}

/// A key as it is written in the text.
struct Key<'a> {
    /// With escapes resolved.
    name: Cow<'a, str>,
    /// The byte of its opening quote.
    at: usize,
}

/// An object or array that the scan is inside of.
enum Inside {
    /// An object; its keys begin at this index of the open keys.
    Object { first_key: usize },
    /// An array, and the index of the current item.
    Array { item: usize },
}

/// Finds the first object that ends with a doubled key, in a text that is known to be JSON.
fn doubled_key(text: &str) -> Option<JsonError> {
    let bytes = text.as_bytes();
    // Enough room for most events, so that the vectors rarely grow.
    let (mut open, mut keys): (Vec<Inside>, Vec<Key<'_>>) =
        (Vec::with_capacity(8), Vec::with_capacity(16));
    let (mut at, mut string) = (0, 0..=0);
    while at < bytes.len() {
        match bytes[at] {
            b'{' => open.push(Inside::Object { first_key: keys.len() }),
            b'[' => open.push(Inside::Array { item: 0 }),
            b']' => drop(open.pop()),
            b'}' => {
                if let Some(Inside::Object { first_key }) = open.pop() {
                    if let Some(second) = repeated(&keys[first_key..]) {
                        return Some(described(text, &open, &keys[..first_key], second));
                    }
                    keys.truncate(first_key);
                }
            }
            b',' => {
                if let Some(Inside::Array { item }) = open.last_mut() {
                    *item += 1;
                }
            }
            b'"' => {
                string = at..=closing_quote(bytes, at);
                at = *string.end();
            }
            // Outside strings, a colon follows a key and nothing else.
            b':' => {
                keys.push(Key { name: unquoted(&text[string.clone()]), at: *string.start() });
            }
            _ => {}
        }
        at += 1;
    }
    None
}

/// The closing quote of the string that opens here.
fn closing_quote(bytes: &[u8], open: usize) -> usize {
    let mut at = open + 1;
    while at < bytes.len() && bytes[at] != b'"' {
        at += if bytes[at] == b'\\' { 2 } else { 1 };
    }
    at
}

/// The text of a string in quotes, with escapes resolved.
fn unquoted(string: &str) -> Cow<'_, str> {
    let plain = &string[1..string.len() - 1];
    if !plain.contains('\\') {
        return plain.into();
    }
    serde_json::from_str(string).map_or(plain.into(), Cow::Owned)
}

/// The second of two keys with the same name.
fn repeated<'a, 'b>(keys: &'a [Key<'b>]) -> Option<&'a Key<'b>> {
    /// Compares all pairs of up to 16 keys, which is faster than sorting.
    const FEW: usize = 16;
    if keys.len() <= FEW {
        let mut pairs = keys.iter().enumerate();
        return pairs
            .find(|(at, key)| keys[..*at].iter().any(|other| other.name == key.name))
            .map(|(_, key)| key);
    }
    let mut sorted: Vec<&Key<'b>> = keys.iter().collect();
    // A stable sort keeps the second occurrence behind the first.
    sorted.sort_by(|a, b| a.name.cmp(&b.name));
    sorted.windows(2).find(|pair| pair[0].name == pair[1].name).map(|pair| pair[1])
}

/// The error for a doubled key, given what its object is inside of and the open keys.
fn described(text: &str, open: &[Inside], mut keys: &[Key<'_>], second: &Key<'_>) -> JsonError {
    let mut path = String::new();
    // Builds the path from the inside outwards; the last open key is the one that leads to the
    // object.
    for inside in open.iter().rev() {
        path = match inside {
            Inside::Array { item } => format!("[{item}]{}", joined(&path)),
            Inside::Object { first_key } => {
                let key = keys.last().map_or("", |key| &key.name);
                keys = &keys[..*first_key];
                format!("{key}{}", joined(&path))
            }
        };
    }
    let before = &text[..second.at];
    let line_start = before.rfind('\n').map_or(0, |end| end + 1);
    JsonError::DoubledKey {
        key: second.name.clone().into_owned(),
        path,
        line: before.matches('\n').count() + 1,
        column: before[line_start..].chars().count() + 1,
    }
}

/// A path with the separator that puts it behind an outer path.
fn joined(path: &str) -> Cow<'_, str> {
    if path.is_empty() || path.starts_with('[') { path.into() } else { format!(".{path}").into() }
}
