//! A block of lines in the file of milestones: what all lines up to its end add up to, and the
//! places of those lines in it that later ones refer to.

use crate::event::Event;
use crate::journal::{Checkpoint, Entry, LineAt, LineHash};
use crate::state::{Kept, State};
use serde::{Deserialize, Serialize};

/// The number of lines between milestones.
pub const LINES: u64 = 4096;

/// The version of the form.
pub(super) const VERSION: u32 = 1;

/// A line of the file, after its hash.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Block {
    pub(super) v: u32,
    /// The hash of the first line of the log.
    pub(super) log: String,
    /// The last line of the block.
    pub(super) end: End,
    /// What all lines up to the end add up to.
    pub(super) kept: Kept,
    pub(super) places: Places,
}

/// A line by number, hash, the bytes of the log up to its newline, and time.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(super) struct End(u64, String, u64, i64);

impl End {
    pub(super) fn of(line: &Checkpoint) -> Self {
        Self(line.seq, line.hash.to_string(), line.offset, line.at_us)
    }

    pub(super) fn seq(&self) -> u64 {
        self.0
    }

    pub(super) fn line(&self) -> Option<Checkpoint> {
        let Self(seq, hash, offset, at_us) = self;
        let hash = LineHash::parse(hash)?;
        Some(Checkpoint { seq: *seq, hash, offset: *offset, at_us: *at_us })
    }
}

/// Where lines of a block stand: numbers and bytes.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Places {
    /// The number of the first decision in the block, if there is one; likewise for sets.
    pub(super) first_decision: u64,
    pub(super) decided: Vec<(u64, u64)>,
    pub(super) first_set: u64,
    pub(super) sets: Vec<(u64, u64)>,
    /// Outcomes, each with its decision.
    pub(super) outcomes: Vec<(u64, u64, u64)>,
    /// Events that make settings, actions or the recipe.
    pub(super) structure: Vec<(u64, u64)>,
    /// The last block before this one that has such events, by its place in the file.
    pub(super) structure_before: Option<usize>,
}

pub(super) fn line_at((seq, begin): (u64, u64)) -> LineAt {
    LineAt { seq, begin }
}

impl Places {
    /// Begins a block behind these numbers of decisions and sets.
    pub(super) fn behind(decisions: u64, sets: u64, structure_before: Option<usize>) -> Self {
        let (first_decision, first_set) = (decisions + 1, sets);
        Self { first_decision, first_set, structure_before, ..Self::default() }
    }

    /// The number of decisions before a line of the block.
    pub(super) fn decisions_before(&self, seq: u64) -> u64 {
        let before = self.decided.partition_point(|(decided, _)| *decided < seq);
        self.first_decision - 1 + before as u64
    }

    /// Notes where the line of an event stands, in this state.
    pub(super) fn note(&mut self, state: &State, entry: &Entry<'_>, event: &Event) {
        let at = (entry.seq, entry.begin);
        match event {
            Event::Decided { .. } => self.decided.push(at),
            Event::SetOffered { .. } => self.sets.push(at),
            Event::Reported { .. } | Event::Late { .. } => {}
            // An outcome that is held, and does not count yet.
            Event::Corrected { decision, .. } | Event::Retracted { decision, .. }
                if state.is_pending(*decision) => {}
            _ if let Some(decision) = event.outcome_of() => {
                self.outcomes.push((decision, at.0, at.1));
            }
            _ if State::is_structure(event) => self.structure.push(at),
            _ => {}
        }
    }
}

/// The line of the file: a hash, a space, and JSON.
pub(super) fn written(json: &impl Serialize) -> String {
    let json = serde_json::to_string(json).expect("numbers and text");
    format!("{} {json}\n", LineHash::of(json.as_bytes()))
}

/// Reads what [`written`] wrote; `None` if it is anything else.
pub(super) fn read<T: for<'de> Deserialize<'de>>(line: &[u8]) -> Option<T> {
    serde_json::from_str(intact(line)?).ok()
}

/// Whether a line is one that [`written`] wrote.
pub(super) fn is_intact(line: &[u8]) -> bool {
    intact(line).is_some()
}

/// The JSON of a line whose hash is right.
fn intact(line: &[u8]) -> Option<&str> {
    let line = std::str::from_utf8(line.strip_suffix(b"\n")?).ok()?;
    let (hash, json) = line.split_once(' ')?;
    (LineHash::parse(hash)? == LineHash::of(json.as_bytes())).then_some(json)
}
