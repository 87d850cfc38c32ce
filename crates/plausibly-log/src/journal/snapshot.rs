//! What was made of a log, saved beside it: a cache that is never the truth.
//!
//! ```text
//! {"v":1,"seq":12,"at":"…Z","offset":4711,"hash":"<64 hex>","bytes":100,"sha256":"<64 hex>"}\n
//! 100 bytes of payload
//! ```
//!
//! `sha256` is over everything else: the first line up to, excluding, `,"sha256"`, and the payload.

use super::line::LineHash;
use super::reader::holds;
use super::storage::Storage;
use super::{Checkpoint, parse_utc, utc};
use serde::Deserialize;
use sha2::{Digest, Sha256};
use std::fmt::Write as _;
use std::io;
use thiserror::Error;

/// The snapshot is the log's path with a dot and this.
pub(super) const SUFFIX: &str = "snapshot";

/// What was made of the log up to a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Snapshot {
    /// The line; the log holds it.
    pub checkpoint: Checkpoint,
    /// The bytes that were saved.
    pub payload: Vec<u8>,
}

/// What there is in the way of a snapshot.
#[derive(Debug)]
pub enum LoadedSnapshot {
    /// One that was saved for this log.
    Found(Snapshot),
    /// None.
    Missing,
    /// One that must be ignored: everything can be had from the log.
    Ignored(Unusable),
}

/// Why a snapshot is ignored.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum Unusable {
    /// It, or the log beside it, cannot be read.
    #[error("the snapshot is ignored: it cannot be read: {0}")]
    Unreadable(#[from] io::Error),
    /// Written by another version.
    #[error("the snapshot is ignored: it has version {found}, and this library knows version 1")]
    Version {
        /// The version found.
        found: u64,
    },
    /// Not what was written.
    #[error("the snapshot is ignored: it is damaged")]
    Damaged,
    /// The log does not have the line it was made for.
    #[error("the snapshot is ignored: it was made for line {seq} of another log")]
    OtherLog {
        /// The line it names.
        seq: u64,
    },
}

/// Loads what [`Journal::save_snapshot`](super::Journal::save_snapshot) saved, if it is still of use.
///
/// That is, if it is intact and the log holds the line it was made for. Needs no lock. Whatever is wrong with it is no
/// error: the log is then read from the start.
pub fn load_snapshot<S: Storage>(storage: &S) -> LoadedSnapshot {
    match try_load(storage) {
        Ok(Some(snapshot)) => LoadedSnapshot::Found(snapshot),
        Ok(None) => LoadedSnapshot::Missing,
        Err(why) => LoadedSnapshot::Ignored(why),
    }
}

fn try_load<S: Storage>(storage: &S) -> Result<Option<Snapshot>, Unusable> {
    let Some(bytes) = storage.read_side(SUFFIX)? else { return Ok(None) };
    let snapshot = decode(bytes)?;
    if !holds(&mut storage.reader()?, &snapshot.checkpoint)? {
        return Err(Unusable::OtherLog { seq: snapshot.checkpoint.seq });
    }
    Ok(Some(snapshot))
}

/// The bytes of a snapshot, of which there is one form.
pub(super) fn encode(checkpoint: &Checkpoint, payload: &[u8]) -> Vec<u8> {
    let Checkpoint { seq, hash, offset, at_us } = checkpoint;
    let at = utc(*at_us).unwrap_or_default();
    let mut head = format!(
        r#"{{"v":1,"seq":{seq},"at":"{at}","offset":{offset},"hash":"{hash}","bytes":{}"#,
        payload.len()
    );
    let digest = Sha256::new().chain_update(&head).chain_update(payload).finalize();
    head.push_str(r#","sha256":""#);
    for byte in digest {
        // Writing to a string does not fail.
        let _ = write!(head, "{byte:02x}");
    }
    head.push_str("\"}\n");
    [head.as_bytes(), payload].concat()
}

#[derive(Deserialize)]
struct Head {
    seq: u64,
    at: String,
    offset: u64,
    hash: String,
}

#[derive(Deserialize)]
struct Version {
    v: u64,
}

fn decode(mut bytes: Vec<u8>) -> Result<Snapshot, Unusable> {
    let end = bytes.iter().position(|&byte| byte == b'\n').ok_or(Unusable::Damaged)? + 1;
    let head = &bytes[..end];
    // Another version may have any other fields.
    match serde_json::from_slice(head) {
        Ok(Version { v: 1 }) => {}
        Ok(Version { v: found }) => return Err(Unusable::Version { found }),
        Err(_) => return Err(Unusable::Damaged),
    }
    let parsed = serde_json::from_slice::<Head>(head).ok();
    let checkpoint = parsed.and_then(|Head { seq, at, offset, hash }| {
        Some(Checkpoint { seq, hash: LineHash::parse(&hash)?, offset, at_us: parse_utc(&at)? })
    });
    let checkpoint = checkpoint.ok_or(Unusable::Damaged)?;
    // There is one form only, so writing it again shows every difference, also in the digest.
    if encode(&checkpoint, &bytes[end..]) != bytes {
        return Err(Unusable::Damaged);
    }
    Ok(Snapshot { checkpoint, payload: bytes.split_off(end) })
}
