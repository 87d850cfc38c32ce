//! What the file of a log holds, read without the service.

use plausibly_log::event::Event;
use plausibly_log::fold;
use plausibly_log::journal::{Entry, FileStorage};
use std::collections::BTreeMap;
use std::path::Path;

/// The line of a decision.
#[derive(Debug, PartialEq)]
pub(super) struct Decided {
    pub(super) seq: u64,
    pub(super) action: String,
    pub(super) key: Option<String>,
}

/// The lines of a log.
#[derive(Default)]
pub(super) struct Held {
    /// The hash of each line but the first, by its number.
    pub(super) hashes: BTreeMap<u64, String>,
    pub(super) decisions: BTreeMap<u64, Decided>,
    pub(super) keys: BTreeMap<String, u64>,
    /// The reward of each decision, and the number of its line.
    pub(super) rewards: BTreeMap<u64, (f64, u64)>,
    pub(super) digest: String,
    /// The number of the last line.
    pub(super) last: u64,
}

impl Held {
    /// Reads a log that nothing writes to, and checks that its lines follow and none is doubled.
    pub(super) fn of(log: &Path) -> Self {
        let mut held = Self::default();
        let (state, end) = fold(&FileStorage::new(log), |step| {
            held.note(&step.entry, step.event);
            Ok(())
        })
        .unwrap();
        assert_eq!(end.unfinished, 0, "the service repairs the end when it opens the log");
        (held.digest, held.last) = (state.unwrap().digest(), end.last.seq);
        held
    }

    fn note(&mut self, entry: &Entry<'_>, event: &Event) {
        self.hashes.insert(entry.seq, entry.hash.to_string());
        match event {
            Event::Decided { decision, label, key, .. } => {
                let (seq, action) = (entry.seq, label.clone());
                let before =
                    self.decisions.insert(*decision, Decided { seq, action, key: key.clone() });
                assert_eq!(before, None, "decision {decision} has two lines");
                if let Some(key) = key {
                    let before = self.keys.insert(key.clone(), *decision);
                    assert_eq!(before, None, "the key {key} has two decisions");
                }
            }
            Event::Rewarded { decision, reward, .. } => {
                let before = self.rewards.insert(*decision, (*reward, entry.seq));
                assert_eq!(before, None, "the reward of decision {decision} has two lines");
            }
            _ => {}
        }
    }
}
