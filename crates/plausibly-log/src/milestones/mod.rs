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

/// Where the blocks are: the first line of the file of the snapshot, which is always written after
/// the blocks.
#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct Directory {
    v: u32,
    /// The byte at which each block begins.
    begins: Vec<u64>,
    /// The length of the file of blocks.
    end: u64,
}

/// What a writer needs to go on behind a line that is no milestone: the second line of that file,
/// if the log could have a milestone there.
#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct Snapshot {
    /// The lines behind the last whole block.
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
    if let Some((keeper, begin)) = Keeper::resumed(storage)
        && let Ok(kept) = keeper.keep(storage, begin)
    {
        return Ok(kept);
    }
    Keeper::default().keep(storage, Rebuilt::default())
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

/// The last milestone before a line; `None` if there is none that fits the log.
pub(crate) fn checkpoint_before<S: Storage>(storage: &S, seq: u64) -> Option<Checkpoint> {
    let Directory { begins, end, .. } = directory(storage).ok()?;
    let before = usize::try_from(seq.saturating_sub(1) / LINES).ok()?.min(begins.len());
    let found = Index::new(&begins, end).block(storage, before.checked_sub(1)?).ok()?.end.line()?;
    holds_line(storage, &found).then_some(found)
}

fn near<S: Storage>(
    storage: &S,
    decision: u64,
    most: usize,
) -> Result<(Certificate, u64), LogError> {
    let Directory { begins, end, .. } = directory(storage)?;
    let mut index = Index::new(&begins, end);
    index.keep_before(storage, decision)?;
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

/// The state of a log, to which new lines can be added, made from its snapshot and the lines behind
/// it.
///
/// # Errors
/// If there is no snapshot that fits the log, or a line behind it needs all lines before.
pub(crate) fn resume<S: Storage>(storage: &S) -> Result<Rebuilt, LogError> {
    let (directory, snapshot) = with_snapshot(storage)?;
    let index = index_of(&directory, &snapshot);
    index.check(storage)?;
    let Rebuilt { folding, at } = rebuilt(storage, index, Some(&snapshot.waiting))?;
    let (folding, end) = fold_from(storage, folding, &at, |_| Ok::<(), LogError>(()))?;
    Ok(Rebuilt { folding, at: end.last })
}

/// The directory of a log.
fn directory<S: Storage>(storage: &S) -> Result<Directory, LogError> {
    // A log of a million decisions has five hundred blocks.
    let mut len = 1 << 14;
    loop {
        let part = storage.read_side_part(SNAPSHOT, 0, len).ok().flatten();
        let part = part.ok_or(LogError::Milestones)?;
        if let Some(newline) = part.iter().position(|&byte| byte == b'\n') {
            let read = block::read::<Directory>(&part[..=newline]);
            return read.filter(|found| found.v == VERSION).ok_or(LogError::Milestones);
        }
        if (part.len() as u64) < len {
            return Err(LogError::Milestones);
        }
        len *= 8;
    }
}

/// The directory and the snapshot of a log, if the file of blocks is as long as they say.
fn with_snapshot<S: Storage>(storage: &S) -> Result<(Directory, Snapshot), LogError> {
    let directory = directory(storage)?;
    let file = storage.read_side(SNAPSHOT).ok().flatten().ok_or(LogError::Milestones)?;
    let second = file.iter().position(|&byte| byte == b'\n').map_or(0, |newline| newline + 1);
    let snapshot = block::read::<Snapshot>(&file[second..]).ok_or(LogError::Milestones)?;
    let behind = storage.read_side_part(MILESTONES, directory.end, 1).ok().flatten();
    if behind.is_some_and(|behind| behind.is_empty()) {
        Ok((directory, snapshot))
    } else {
        Err(LogError::Milestones)
    }
}

/// The index of all lines up to a snapshot.
fn index_of(Directory { begins, end, .. }: &Directory, snapshot: &Snapshot) -> Index {
    let mut index = Index::new(begins, *end);
    index.push(snapshot.block.clone());
    index
}

/// The state at the end of an index, if the log has that line.
fn rebuilt<S: Storage>(
    storage: &S,
    index: Index,
    waiting: Option<&Waiting>,
) -> Result<Rebuilt, LogError> {
    let last = index.block(storage, index.len() - 1)?;
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
    /// The whole blocks.
    directory: Directory,
    /// The block that is not whole yet.
    places: Places,
    /// The lines of the new blocks.
    written: String,
}

impl Default for Keeper {
    fn default() -> Self {
        // The first line is no step of a state, and always has structure.
        let places = Places { structure: vec![(1, 0)], ..Places::behind(0, 0, None) };
        let directory = Directory { v: VERSION, begins: Vec::new(), end: 0 };
        Self { log: String::new(), directory, places, written: String::new() }
    }
}

impl Keeper {
    /// Goes on behind the snapshot; `None` if there is none that fits the log.
    fn resumed<S: Storage>(storage: &S) -> Option<(Self, Rebuilt)> {
        let (directory, snapshot) = with_snapshot(storage).ok()?;
        let index = index_of(&directory, &snapshot);
        let begin = rebuilt(storage, index, Some(&snapshot.waiting)).ok()?;
        let Block { log, places, .. } = snapshot.block;
        Some((Self { log, directory, places, written: String::new() }, begin))
    }

    /// Reads the lines behind the beginning, and writes what is new.
    fn keep<S: Storage>(mut self, storage: &mut S, begin: Rebuilt) -> Result<Milestones, LogError> {
        let (from, first) = (begin.at, self.directory.begins.len());
        let (state, end) = match fold_from(storage, begin.folding, &from, |step| self.visit(step)) {
            Ok((folding, end)) => (folding.state, end.last),
            Err(Halt::Done(at)) => (None, at),
            Err(Halt::Failed(failed)) => return Err(failed),
        };
        if let Some(state) = &state {
            self.close_block(state, &end);
        }
        self.write(storage, first, state.as_ref(), &end)?;
        Ok(Milestones { milestones: self.directory.begins.len(), read: end.seq - from.seq })
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
        let blocks = self.directory.begins.len();
        if end.seq != (blocks as u64 + 1) * LINES {
            return;
        }
        let Some(block) = self.block(state, end) else { return };
        let line = block::written(&block);
        self.directory.begins.push(self.directory.end);
        self.directory.end += line.len() as u64;
        self.written += &line;
        let structure = if self.places.structure.is_empty() {
            self.places.structure_before
        } else {
            Some(blocks)
        };
        let (decisions, sets) = (state.count_decisions(), state.sets().len() as u64);
        self.places = Places::behind(decisions, sets, structure);
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
        if self.directory.begins.is_empty() {
            return Ok(());
        }
        let path = storage.path().to_owned();
        let io = |source| JournalError::Io { what: "write beside", path: path.clone(), source };
        if first == 0 {
            replace(storage, MILESTONES, &self.written).map_err(io)?;
        } else if !self.written.is_empty() {
            storage.append_side(MILESTONES, self.written.as_bytes()).map_err(io)?;
        }
        let mut file = block::written(&self.directory);
        if let Some((state, block)) = state.and_then(|state| Some((state, self.block(state, end)?)))
        {
            file += &block::written(&Snapshot { block, waiting: state.waiting_and_keys() });
        }
        Ok(replace(storage, SNAPSHOT, &file).map_err(io)?)
    }
}

/// Replaces a file beside the log, in one step.
fn replace<S: Storage>(storage: &mut S, suffix: &str, content: &str) -> io::Result<()> {
    let temporary = format!("{suffix}.tmp");
    storage.write_side(&temporary, content.as_bytes())?;
    storage.rename_side(&temporary, suffix)
}
