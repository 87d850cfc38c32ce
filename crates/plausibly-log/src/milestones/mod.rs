//! Milestones: what the lines of a log add up to after each 4,096 of them, in a file beside it.
//! With them the certificate of any decision is made from a few thousand lines, and a writer can
//! open a long log without reading all of it.
//!
//! Milestones are a cache. They follow from the lines, and are written by readers of the log, never
//! by its writer. A file that does not fit the log is not used: the log is then read from its first
//! line. A file that fits is trusted; only a reading of all lines ([`audit`](crate::audit),
//! `verify --log`) proves what it says.

mod block;
mod index;

pub use block::LINES;
pub(crate) use index::Index;

use crate::certificate::{Certificate, certificate, certificate_of_step};
use crate::fold::{Folding, Step, fold_from};
use crate::journal::{Checkpoint, JournalError, LineHash, Storage, holds_line};
use crate::log::LogError;
use crate::state::{State, Waiting};
use block::{Block, End, Places, VERSION};
use serde::{Deserialize, Serialize};
use std::io;

/// The file of whole blocks.
const MILESTONES: &str = "milestones";
/// The file of the lines behind them, with what a writer needs.
const SNAPSHOT: &str = "snapshot";

/// What a writer needs to go on behind a line that is no milestone.
#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct Snapshot {
    /// The number of whole blocks before.
    blocks: usize,
    /// The lines behind them.
    block: Block,
    waiting: Waiting,
}

/// How far the milestones of a log reach.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Milestones {
    /// The number of milestones.
    pub milestones: usize,
    /// The number of lines that were read to bring them up to date.
    pub read: u64,
}

/// A state that was rebuilt, and the last line it includes.
#[derive(Default)]
pub(crate) struct Rebuilt {
    pub(crate) folding: Folding,
    pub(crate) at: Checkpoint,
}

/// Brings the milestones of a log up to date. Takes no lock on the log, and may run beside its
/// writer.
///
/// Decisions of some policies depend on more than sums: those of phased elimination and of
/// explore-then-commit, those with the radius `bell`, and those of a generalised linear model with
/// very many rows. A log has no milestones from the line on at which such a policy decides, and no
/// snapshot there. A log of fewer than 4,096 lines has neither.
///
/// # Errors
/// If the log is damaged, or the files beside it cannot be written.
pub fn keep_milestones<S: Storage>(storage: &mut S) -> Result<Milestones, LogError> {
    let (mut keeper, begin) = Keeper::resumed(storage).unwrap_or_default();
    let from = begin.at;
    let first = keeper.blocks;
    let (state, end) = match fold_from(storage, begin.folding, &from, |step| keeper.visit(step)) {
        Ok((folding, end)) => (folding.state, end.last),
        Err(Halt::Done(at)) => (None, at),
        Err(Halt::Failed(failed)) => return Err(failed),
    };
    if let Some(state) = &state {
        keeper.close_block(state, &end);
    }
    keeper.write(storage, first, state.as_ref(), &end)?;
    Ok(Milestones { milestones: keeper.blocks, read: end.seq - from.seq })
}

/// The certificate of a decision, made from the lines after the last milestone before it.
///
/// It is the certificate that [`certificate`] makes. Also returns the number of lines that were not
/// checked: those up to that milestone, 0 if there is none.
///
/// # Errors
/// As [`certificate`].
pub fn certificate_near<S: Storage>(
    storage: &S,
    decision: u64,
    most: usize,
) -> Result<(Certificate, u64), LogError> {
    match near(storage, decision, most) {
        Ok(found) => Ok(found),
        // Only the whole log can say what is wrong.
        Err(_) => Ok((certificate(storage, decision, most)?, 0)),
    }
}

/// Like [`certificate_near`]; also brings the milestones up to date if that took more than two
/// times [`LINES`] lines.
///
/// So the next certificate takes few. If the files beside the log cannot be written, the
/// certificate is returned all the same.
///
/// # Errors
/// As [`certificate`].
pub fn certificate_keeping<S: Storage>(
    storage: &mut S,
    decision: u64,
    most: usize,
) -> Result<(Certificate, u64), LogError> {
    let (found, unread) = certificate_near(storage, decision, most)?;
    if found.grounds.log.seq > unread + 2 * LINES {
        let _ = keep_milestones(storage);
    }
    Ok((found, unread))
}

fn near<S: Storage>(
    storage: &S,
    decision: u64,
    most: usize,
) -> Result<(Certificate, u64), LogError> {
    let file = storage.read_side(MILESTONES).ok().flatten().ok_or(LogError::Milestones)?;
    let mut index = Index::new(lines(&file)?);
    index.keep_before(decision)?;
    let Rebuilt { folding, at } =
        if index.len() == 0 { Rebuilt::default() } else { rebuilt(storage, index, None)? };
    let mut found = None;
    let read = fold_from(storage, folding, &at, |step| {
        found = certificate_of_step(step, decision, most)?;
        if found.is_some() { Err(Halt::Done(at)) } else { Ok(()) }
    });
    match (read, found) {
        (Err(Halt::Done(_)), Some(certificate)) => Ok((certificate, at.seq)),
        (Err(Halt::Failed(failed)), _) => Err(failed),
        _ => Err(LogError::Milestones),
    }
}

/// The state at the snapshot of a log, to which new lines can be added.
///
/// # Errors
/// If there is no snapshot that fits the log.
pub(crate) fn resume<S: Storage>(storage: &S) -> Result<Rebuilt, LogError> {
    let (index, snapshot) = with_snapshot(storage)?;
    rebuilt(storage, index, Some(&snapshot.waiting))
}

/// The snapshot of a log, and the index of all lines up to it.
fn with_snapshot<S: Storage>(storage: &S) -> Result<(Index, Snapshot), LogError> {
    let read = |suffix| storage.read_side(suffix).ok().flatten().ok_or(LogError::Milestones);
    let (file, snapshot) = (read(MILESTONES)?, read(SNAPSHOT)?);
    let snapshot = snapshot.strip_suffix(b"\n").and_then(block::read::<Snapshot>);
    let snapshot = snapshot.ok_or(LogError::Milestones)?;
    let unfinished = block::written(&snapshot.block);
    let whole: Vec<&[u8]> = lines(&file)?.collect();
    if whole.len() != snapshot.blocks {
        return Err(LogError::Milestones);
    }
    let all = whole.into_iter().chain([unfinished.trim_end().as_bytes()]);
    Ok((Index::new(all), snapshot))
}

/// The lines of a file, without their newlines.
fn lines(file: &[u8]) -> Result<impl Iterator<Item = &[u8]>, LogError> {
    let whole = file.strip_suffix(b"\n").ok_or(LogError::Milestones)?;
    Ok(whole.split(|&byte| byte == b'\n'))
}

/// The state at the end of an index, if the log has that line.
fn rebuilt<S: Storage>(
    storage: &S,
    index: Index,
    waiting: Option<&Waiting>,
) -> Result<Rebuilt, LogError> {
    let last = index.block(index.len() - 1)?;
    let at = last.end.line().ok_or(LogError::Milestones)?;
    let id = LineHash::parse(&last.log).ok_or(LogError::Milestones)?;
    if !holds_line(storage, &at) {
        return Err(LogError::Milestones);
    }
    let state = index.state(storage, waiting)?;
    Ok(Rebuilt { folding: Folding::from_milestone(state, id, &at, index), at })
}

/// A reading that ends early.
enum Halt {
    /// After this line, because nothing more is needed.
    Done(Checkpoint),
    Failed(LogError),
}

impl From<LogError> for Halt {
    fn from(failed: LogError) -> Self {
        Self::Failed(failed)
    }
}

impl From<JournalError> for Halt {
    fn from(failed: JournalError) -> Self {
        Self::Failed(failed.into())
    }
}

/// Makes milestones while a log is read.
struct Keeper {
    /// The hash of the first line.
    log: String,
    /// The number of whole blocks.
    blocks: usize,
    /// The block that is not whole yet.
    places: Places,
    /// The lines of the new blocks.
    written: String,
}

impl Default for Keeper {
    fn default() -> Self {
        // The first line is no step of a state, and always has structure.
        let places = Places { structure: vec![(1, 0)], ..Places::behind(0, 0, None) };
        Self { log: String::new(), blocks: 0, places, written: String::new() }
    }
}

impl Keeper {
    /// Goes on behind the snapshot; `None` if there is none that fits the log.
    fn resumed<S: Storage>(storage: &S) -> Option<(Self, Rebuilt)> {
        let (index, Snapshot { blocks, block, waiting }) = with_snapshot(storage).ok()?;
        let begin = rebuilt(storage, index, Some(&waiting)).ok()?;
        let Block { log, places, .. } = block;
        Some((Self { log, blocks, places, written: String::new() }, begin))
    }

    fn visit(&mut self, step: &Step<'_>) -> Result<(), Halt> {
        if self.log.is_empty() {
            self.log = step.position().id;
        }
        let before = step.last_line();
        self.close_block(step.state, &before);
        if before.seq.is_multiple_of(LINES) && step.state.kept().is_none() {
            return Err(Halt::Done(before));
        }
        self.places.note(step.state, &step.entry, step.event);
        Ok(())
    }

    /// Ends the block if this is its last line.
    fn close_block(&mut self, state: &State, end: &Checkpoint) {
        if end.seq != (self.blocks as u64 + 1) * LINES {
            return;
        }
        let Some(block) = self.block(state, end) else { return };
        self.written += &block::written(&block);
        let structure = if self.places.structure.is_empty() {
            self.places.structure_before
        } else {
            Some(self.blocks)
        };
        let (decisions, sets) = (state.count_decisions(), state.sets().len() as u64);
        self.places = Places::behind(decisions, sets, structure);
        self.blocks += 1;
    }

    /// The block up to this line; `None` if a state is more than what a milestone keeps.
    fn block(&self, state: &State, end: &Checkpoint) -> Option<Block> {
        let (kept, places) = (state.kept()?, self.places.clone());
        Some(Block { v: VERSION, log: self.log.clone(), end: End::of(end), kept, places })
    }

    /// Writes the new blocks behind the first ones, and the snapshot of a state that goes on.
    fn write<S: Storage>(
        &self,
        storage: &mut S,
        first: usize,
        state: Option<&State>,
        end: &Checkpoint,
    ) -> Result<(), LogError> {
        if self.blocks == 0 {
            return Ok(());
        }
        let path = storage.path().to_owned();
        let io = |source| JournalError::Io { what: "write beside", path: path.clone(), source };
        if first == 0 {
            replace(storage, MILESTONES, &self.written).map_err(io)?;
        } else if !self.written.is_empty() {
            storage.append_side(MILESTONES, self.written.as_bytes()).map_err(io)?;
        }
        let Some((state, block)) = state.and_then(|state| Some((state, self.block(state, end)?)))
        else {
            return Ok(());
        };
        let snapshot = Snapshot { blocks: self.blocks, block, waiting: state.waiting_and_keys() };
        Ok(replace(storage, SNAPSHOT, &block::written(&snapshot)).map_err(io)?)
    }
}

/// Replaces a file beside the log, in one step.
fn replace<S: Storage>(storage: &mut S, suffix: &str, content: &str) -> io::Result<()> {
    let temporary = format!("{suffix}.tmp");
    storage.write_side(&temporary, content.as_bytes())?;
    storage.rename_side(&temporary, suffix)
}
