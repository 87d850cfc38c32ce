//! The file of keys: its format, and what makes it invalid.

use plausibly_log::input::{InputError, Limit, read_text};
use plausibly_log::{Time, json};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use sha2::{Digest, Sha256};
use std::collections::BTreeSet;
use std::fmt;
use std::io;
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// The version of the format that is written and read.
const VERSION: u64 = 1;
/// Every request is compared with every live key, so their number is limited.
const MOST_LIVE: usize = 1000;
/// A limiter counts in nanoseconds; a larger rate is no limit.
const MOST_PER_SECOND: u32 = 1_000_000;
/// A key takes about 300 bytes, and revoked ones stay.
const LIMIT: Limit = Limit { kind: "a file of keys", mebibytes: 16 };
/// What every key begins with, so that people and scanners of secrets recognise one.
pub(super) const PREFIX: &str = "plk_";

/// What a key allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Ask for decisions.
    Decide,
    /// Report outcomes.
    Reward,
    /// Read experiments, decisions and metrics.
    Read,
    /// Create, change, pause and delete experiments, and all that the other roles allow.
    Admin,
}

impl Role {
    /// Its name in the file and on the command line.
    pub fn text(self) -> &'static str {
        match self {
            Self::Decide => "decide",
            Self::Reward => "reward",
            Self::Read => "read",
            Self::Admin => "admin",
        }
    }
}

/// The SHA-256 of a key.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Hash(pub(super) [u8; 32]);

impl Hash {
    /// The hash of the text of a key.
    pub(super) fn of(key: &[u8]) -> Self {
        Self(Sha256::digest(key).into())
    }
}

impl fmt::Debug for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Hash")
    }
}

impl Serialize for Hash {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(&hex(&self.0))
    }
}

impl<'de> Deserialize<'de> for Hash {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let text = String::deserialize(from)?;
        // The error does not quote the text: a person may have put a key there.
        let wrong = || de::Error::custom("a sha256 is written in 64 digits 0-9 a-f");
        unhex(&text).map(Self).ok_or_else(wrong)
    }
}

/// Bytes as digits.
pub(super) fn hex(bytes: &[u8; 32]) -> String {
    use fmt::Write as _;
    bytes.iter().fold(String::with_capacity(64), |mut text, byte| {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

fn unhex(text: &str) -> Option<[u8; 32]> {
    let (pairs, rest) = text.as_bytes().as_chunks::<2>();
    let digit = |byte: u8| match byte {
        b'0'..=b'9' => Some(byte - b'0'),
        b'a'..=b'f' => Some(byte - b'a' + 10),
        _ => None,
    };
    let mut bytes = [0; 32];
    if pairs.len() != bytes.len() || !rest.is_empty() {
        return None;
    }
    for (byte, &[high, low]) in bytes.iter_mut().zip(pairs) {
        *byte = digit(high)? << 4 | digit(low)?;
    }
    Some(bytes)
}

/// Times in the file, as text in UTC.
mod stamp {
    use super::{Deserialize, Deserializer, Serializer, Time, de};

    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
    pub(super) fn serialize<S: Serializer>(time: &Time, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(time)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Time, D::Error> {
        String::deserialize(from)?.parse().map_err(de::Error::custom)
    }

    pub(super) mod optional {
        use super::{Deserialize, Deserializer, Serializer, Time, de};

        #[expect(clippy::ref_option, reason = "serde passes a reference")]
        pub(in super::super) fn serialize<S: Serializer>(
            time: &Option<Time>,
            to: S,
        ) -> Result<S::Ok, S::Error> {
            match time {
                Some(time) => to.collect_str(time),
                None => to.serialize_none(),
            }
        }

        pub(in super::super) fn deserialize<'de, D: Deserializer<'de>>(
            from: D,
        ) -> Result<Option<Time>, D::Error> {
            let text = Option::<String>::deserialize(from)?;
            text.map(|text| text.parse().map_err(de::Error::custom)).transpose()
        }
    }
}

/// A key as it is stored.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Key {
    /// The first digits of its hash.
    pub id: String,
    /// What people call it. No two live keys have the same name.
    pub name: String,
    /// What it allows, in order and at least one.
    pub roles: Vec<Role>,
    /// The only experiment that it is for; all, if none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub experiment: Option<String>,
    /// How many requests it may send per second.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<NonZeroU32>,
    /// The hash of its text.
    pub sha256: Hash,
    /// When it was added.
    #[serde(with = "stamp")]
    pub added: Time,
    /// When it was revoked; a live key has none.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "stamp::optional")]
    pub revoked: Option<Time>,
}

impl Key {
    /// Whether it has not been revoked.
    pub fn is_live(&self) -> bool {
        self.revoked.is_none()
    }
}

/// Why keys could not be read or changed.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum KeyError {
    /// The request is wrong.
    #[error("{0}")]
    Refused(String),
    /// The file cannot be read as text.
    #[error(transparent)]
    Input(#[from] InputError),
    /// The content of the file is wrong.
    #[error(
        "{} is not a file of keys: {reason}; correct it, or put an earlier copy back",
        .path.display()
    )]
    Invalid {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        reason: String,
    },
    /// Another version of the program wrote the file.
    #[error(
        "{} has version {version}, and this program reads version {VERSION}; use the version of \
         plausibly that wrote it, or a later one", .path.display()
    )]
    Version {
        /// The file.
        path: PathBuf,
        /// Its version.
        version: u64,
    },
    /// The system failed.
    #[error("cannot {step} {}", .path.display())]
    Io {
        /// What was tried.
        step: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
}

#[derive(Deserialize)]
struct Versioned {
    version: u64,
}

#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct Content {
    version: u64,
    keys: Vec<Key>,
}

/// The text of the file of keys; none if there is no such file.
pub(super) fn text(path: &Path) -> Result<Option<String>, InputError> {
    match read_text(path, LIMIT) {
        Err(InputError::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound => Ok(None),
        read => read.map(Some),
    }
}

/// The keys of a file with this text.
pub(super) fn parse(path: &Path, text: &str) -> Result<Vec<Key>, KeyError> {
    let invalid = |reason: String| KeyError::Invalid { path: path.into(), reason };
    // The version first: the rest of another version would fail with a message about fields.
    let wrong = |error: json::JsonError| invalid(error.to_string());
    let version = json::read::<Versioned>(text).map_err(wrong)?.version;
    if version != VERSION {
        return Err(KeyError::Version { path: path.into(), version });
    }
    let keys = json::read::<Content>(text).map_err(wrong)?.keys;
    check(&keys).map_err(invalid)?;
    Ok(keys)
}

/// The text of the file with these keys.
pub(super) fn written(keys: &[Key]) -> Result<String, String> {
    check(keys)?;
    let content = Content { version: VERSION, keys: keys.to_vec() };
    let text = serde_json::to_string_pretty(&content).map_err(|error| error.to_string())?;
    Ok(text + "\n")
}

/// Checks what the rest of the program relies on.
fn check(keys: &[Key]) -> Result<(), String> {
    let (mut ids, mut names) = (BTreeSet::new(), BTreeSet::new());
    for key in keys {
        let Key { id, name, .. } = key;
        check_one(key)?;
        if !ids.insert(id) {
            return Err(format!("two keys have the id {id}"));
        }
        if key.is_live() && !names.insert(name) {
            return Err(format!("two live keys have the name `{name}`"));
        }
    }
    if names.len() > MOST_LIVE {
        return Err(format!("there are more than {MOST_LIVE} live keys; revoke some"));
    }
    Ok(())
}

fn check_one(key: &Key) -> Result<(), String> {
    let letters = |text: &str, most: usize| {
        let allowed = |c: u8| c.is_ascii_alphanumeric() || b"._-".contains(&c);
        (1..=most).contains(&text.len()) && text.bytes().all(allowed)
    };
    // The texts are not quoted: one may be a key that was put in the wrong place.
    if !letters(&key.name, 64) || key.name.starts_with(PREFIX) {
        return Err(format!(
            "the name of a key has 1 to 64 of the characters A-Z a-z 0-9 . _ - and does not begin \
             with {PREFIX}"
        ));
    }
    if key.experiment.as_ref().is_some_and(|name| !letters(name, 128)) {
        return Err(
            "the name of an experiment has 1 to 128 of the characters A-Z a-z 0-9 . _ -".into()
        );
    }
    let name = &key.name;
    if key.id != id_of(&key.sha256) {
        return Err(format!("the id of the key `{name}` does not belong to its sha256"));
    }
    if key.roles.is_empty() || !key.roles.is_sorted_by(|a, b| a < b) {
        return Err(format!(
            "the key `{name}` needs one or more of the roles decide, reward, read and admin, each \
             once and in this order"
        ));
    }
    if key.rate.is_some_and(|rate| rate.get() > MOST_PER_SECOND) {
        return Err(format!("the rate of the key `{name}` is more than {MOST_PER_SECOND}"));
    }
    Ok(())
}

/// The id of the key with this hash.
pub(super) fn id_of(hash: &Hash) -> String {
    let mut id = hex(&hash.0);
    id.truncate(16);
    id
}
