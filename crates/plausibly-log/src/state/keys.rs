//! The keys of the last decisions, as hashes. A key has as many bytes as its caller likes; its hash
//! has sixteen, and no two keys that anyone finds have the same.

use crate::journal::LineHash;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, VecDeque};
use std::num::ParseIntError;

/// The number of keys remembered; older ones may come again.
pub const REMEMBERED_KEYS: usize = 1_000_000;

/// Which decision has which key.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[serde(try_from = "Vec<(String, u64)>", into = "Vec<(String, u64)>")]
pub(super) struct Keys {
    decisions: BTreeMap<u128, u64>,
    /// The hashes, the oldest first.
    order: VecDeque<u128>,
}

impl Keys {
    pub(super) fn decision(&self, key: &str) -> Option<u64> {
        self.decisions.get(&hash(key)).copied()
    }

    pub(super) fn add(&mut self, key: &str, decision: u64) {
        self.insert(hash(key), decision);
    }

    fn insert(&mut self, hash: u128, decision: u64) {
        if self.order.len() == REMEMBERED_KEYS
            && let Some(oldest) = self.order.pop_front()
        {
            self.decisions.remove(&oldest);
        }
        self.order.push_back(hash);
        self.decisions.insert(hash, decision);
    }
}

/// Each hash in hexadecimal with its decision, the oldest first.
impl From<Keys> for Vec<(String, u64)> {
    fn from(keys: Keys) -> Self {
        let entry = |hash: &u128| (format!("{hash:032x}"), keys.decisions[hash]);
        keys.order.iter().map(entry).collect()
    }
}

impl TryFrom<Vec<(String, u64)>> for Keys {
    type Error = ParseIntError;

    fn try_from(entries: Vec<(String, u64)>) -> Result<Self, ParseIntError> {
        let mut keys = Self::default();
        for (hash, decision) in entries {
            keys.insert(u128::from_str_radix(&hash, 16)?, decision);
        }
        Ok(keys)
    }
}

fn hash(key: &str) -> u128 {
    LineHash::of(key.as_bytes()).first_half()
}
