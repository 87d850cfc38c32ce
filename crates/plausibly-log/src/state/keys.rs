//! The keys of the last decisions, as hashes. A key has as many bytes as its caller likes; its hash
//! has sixteen, and no two keys that anyone finds have the same.

use crate::journal::LineHash;
use std::collections::{BTreeMap, VecDeque};

/// So many keys are remembered; older ones may come again.
pub const REMEMBERED_KEYS: usize = 1_000_000;

/// Which decision has which key.
#[derive(Clone, Debug, Default, PartialEq)]
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
        if self.order.len() == REMEMBERED_KEYS
            && let Some(oldest) = self.order.pop_front()
        {
            self.decisions.remove(&oldest);
        }
        let hash = hash(key);
        self.order.push_back(hash);
        self.decisions.insert(hash, decision);
    }
}

fn hash(key: &str) -> u128 {
    LineHash::of(key.as_bytes()).first_half()
}
