//! Finds lines by what they record, and rebuilds states at milestones. What does not fit the log is
//! [`LogError::Milestones`], and makes a caller read the log from its first line.

use super::MILESTONES;
use super::block::{Block, LINES, Places, VERSION, is_intact, line_at, read};
use crate::fold::parse;
use crate::journal::{LineAt, Storage};
use crate::log::LogError;
use crate::recall::Recall;
use crate::state::{Needs, State, Waiting};
use std::ops::Range;
use std::sync::OnceLock;

/// The blocks of a log, each read when it is first asked for.
#[derive(Debug)]
pub(crate) struct Index {
    blocks: Vec<Unread>,
}

#[derive(Debug)]
struct Unread {
    /// Its place in the file.
    bytes: Range<u64>,
    block: OnceLock<Option<Block>>,
}

impl Index {
    /// The blocks that begin at these bytes of the file, which has this length.
    pub(super) fn new(begins: &[u64], end: u64) -> Self {
        let ends = begins.iter().skip(1).copied().chain([end]);
        let unread =
            |(begin, end): (&u64, u64)| Unread { bytes: *begin..end, block: OnceLock::new() };
        Self { blocks: begins.iter().zip(ends).map(unread).collect() }
    }

    /// Adds a block that is in no file.
    pub(super) fn push(&mut self, block: Block) {
        self.blocks.push(Unread { bytes: 0..0, block: OnceLock::from(Some(block)) });
    }

    pub(super) fn len(&self) -> usize {
        self.blocks.len()
    }

    /// Keeps the blocks before the line of a decision.
    pub(super) fn keep_before<S: Storage>(
        &mut self,
        storage: &S,
        decision: u64,
    ) -> Result<(), LogError> {
        let place = self.block_with(storage, |places| places.first_decision, decision)?;
        let Places { first_decision, decided, .. } = &self.block(storage, place)?.places;
        let is_inside = decision - first_decision < decided.len() as u64;
        self.blocks.truncate(if is_inside { place } else { place + 1 });
        Ok(())
    }

    pub(super) fn block<S: Storage>(&self, storage: &S, place: usize) -> Result<&Block, LogError> {
        let Unread { bytes, block } = self.blocks.get(place).ok_or(LogError::Milestones)?;
        let from_file = || {
            let len = bytes.end.checked_sub(bytes.start)?;
            let line = storage.read_side_part(MILESTONES, bytes.start, len).ok()??;
            // Another reader may have added the same blocks once more.
            let is_here = |block: &Block| block.end.seq() == (place as u64 + 1) * LINES;
            read(&line).filter(|block: &Block| block.v == VERSION && is_here(block))
        };
        block.get_or_init(from_file).as_ref().ok_or(LogError::Milestones)
    }

    /// Checks that the file has all blocks as they were written.
    pub(super) fn check<S: Storage>(&self, storage: &S) -> Result<(), LogError> {
        for Unread { bytes, .. } in self.blocks.iter().filter(|block| block.bytes.end > 0) {
            let len = bytes.end.saturating_sub(bytes.start);
            let line = storage.read_side_part(MILESTONES, bytes.start, len).ok().flatten();
            if !line.is_some_and(|line| is_intact(&line)) {
                return Err(LogError::Milestones);
            }
        }
        Ok(())
    }

    /// The last block whose first number is at most this one.
    fn block_with<S: Storage>(
        &self,
        storage: &S,
        first: impl Fn(&Places) -> u64,
        number: u64,
    ) -> Result<usize, LogError> {
        let (mut low, mut high) = (0, self.len());
        while low < high {
            let middle = low.midpoint(high);
            if first(&self.block(storage, middle)?.places) <= number {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        low.checked_sub(1).ok_or(LogError::Milestones)
    }

    /// The line of a decision.
    pub(crate) fn decided<S: Storage>(
        &self,
        storage: &S,
        decision: u64,
    ) -> Result<LineAt, LogError> {
        let place = self.block_with(storage, |places| places.first_decision, decision)?;
        let Places { first_decision, decided, .. } = &self.block(storage, place)?.places;
        at(decided, decision - first_decision)
    }

    /// The line of a set.
    pub(crate) fn set<S: Storage>(&self, storage: &S, set: u64) -> Result<LineAt, LogError> {
        let place = self.block_with(storage, |places| places.first_set, set)?;
        let Places { first_set, sets, .. } = &self.block(storage, place)?.places;
        at(sets, set - first_set)
    }

    /// The last line that changed the outcome of a decision, if there is one.
    pub(crate) fn outcome<S: Storage>(
        &self,
        storage: &S,
        decision: u64,
    ) -> Result<Option<LineAt>, LogError> {
        for place in (0..self.len()).rev() {
            let outcomes = &self.block(storage, place)?.places.outcomes;
            let found = outcomes.iter().rev().find(|(number, ..)| *number == decision);
            if let Some((_, seq, begin)) = found {
                return Ok(Some(line_at((*seq, *begin))));
            }
        }
        Ok(None)
    }

    /// The state after the last block, without its decisions and sets. With `waiting` new lines can
    /// follow; without, only those that the log has.
    pub(super) fn state<S: Storage>(
        &self,
        storage: &S,
        waiting: Option<&Waiting>,
    ) -> Result<State, LogError> {
        let last_place = self.len().checked_sub(1).ok_or(LogError::Milestones)?;
        let last = self.block(storage, last_place)?;
        let mut with_structure = Vec::new();
        let mut next = Some(last_place);
        while let Some(place) = next {
            with_structure.push(place);
            next = self
                .block(storage, place)?
                .places
                .structure_before
                .filter(|before| *before < place);
        }
        let recall = Recall { storage, index: Some(self) };
        let mut lines = recall.lines()?;
        let mut state: Option<State> = None;
        for place in with_structure.into_iter().rev() {
            let places = &self.block(storage, place)?.places;
            for at in &places.structure {
                let at = line_at(*at);
                let entry = lines.line_at(at, storage.path())?;
                let (event, hash) = (parse(&entry)?, entry.hash);
                match &mut state {
                    Some(state) => state.rebuild(&event, places.decisions_before(at.seq))?,
                    None if at == LineAt { seq: 1, begin: 0 } && hash.to_string() == last.log => {
                        state = Some(State::open(&event)?);
                    }
                    None => return Err(LogError::Milestones),
                }
            }
        }
        let mut state = state.ok_or(LogError::Milestones)?;
        if last.kept.decisions.max(last.kept.sets) > last.end.seq() {
            return Err(LogError::Milestones);
        }
        state.restore(&last.kept, waiting).map_err(|_malformed| LogError::Milestones)?;
        // The first set says how δ is shared. A writer names sets by their actions.
        let sets = if waiting.is_some() { last.kept.sets } else { last.kept.sets.min(1) };
        for set in 0..sets {
            recall.fetch(&mut state, Needs::Set { set }, 0)?;
        }
        Ok(state)
    }
}

fn at(places: &[(u64, u64)], place: u64) -> Result<LineAt, LogError> {
    let found = usize::try_from(place).ok().and_then(|place| places.get(place));
    found.copied().map(line_at).ok_or(LogError::Milestones)
}
