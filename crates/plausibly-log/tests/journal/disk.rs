//! A disk in memory that fails at a chosen step, and can lose its power.
//!
//! It behaves as badly as real disks: unsynced bytes and names may vanish, stay or be torn when the
//! power fails; a failed sync drops bytes that it could not write, still shows them, and lets the
//! next sync succeed.

use super::Draws;
use plausibly_log::journal::Storage;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io::{self, Read, Seek, SeekFrom};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// An operation of the disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    Lock,
    Open,
    Length,
    Append,
    Sync,
    Truncate,
    SyncFolder,
    ReadSide,
    WriteSide,
    RenameSide,
}

/// Which step fails, counted from 0, and how.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fault {
    pub(crate) at: usize,
    /// All steps after it fail too.
    pub(crate) for_good: bool,
    /// How many quarters of its bytes a failing write has written.
    pub(crate) quarters: usize,
}

#[derive(Clone, Debug, Default)]
struct Inode {
    /// The bytes that reading shows.
    shown: Vec<u8>,
    /// The bytes on the disk.
    durable: Vec<u8>,
    /// Bytes shown but not on the disk and never written again, after a failed sync.
    dropped: Option<Range<usize>>,
}

impl Inode {
    /// The bytes that a sync would write: dropped bytes are zeros.
    fn synced(&self) -> Vec<u8> {
        let mut bytes = self.shown.clone();
        if let Some(range) = self.dropped.clone() {
            bytes[range].fill(0);
        }
        bytes
    }

    /// A possible content of the disk after a power cut.
    fn after_power_cut(&self, draws: &mut Draws) -> Vec<u8> {
        let synced = self.synced();
        let common = synced.iter().zip(&self.durable).take_while(|(a, b)| a == b).count();
        match draws.below(4) {
            0 => self.durable.clone(),
            1 => synced,
            // A truncation that is not synced: the old end or the new one.
            _ if common == synced.len() => self.durable.clone(),
            torn => {
                let mut bytes = synced;
                let arrived = common + draws.below(bytes.len() - common);
                if torn == 2 {
                    bytes.truncate(arrived);
                } else {
                    bytes[arrived..].fill(0);
                }
                bytes
            }
        }
    }
}

#[derive(Debug, Default)]
struct State {
    inodes: Vec<Inode>,
    names: BTreeMap<String, usize>,
    durable_names: BTreeMap<String, usize>,
    locked: bool,
    steps: Vec<Step>,
    fault: Option<Fault>,
    /// The content of the log after the next piece of it was read.
    meanwhile: Option<Vec<u8>>,
}

impl State {
    /// Counts a step; an error if it is one that fails.
    fn step(&mut self, step: Step) -> io::Result<()> {
        let number = self.steps.len();
        self.steps.push(step);
        match self.fault {
            Some(fault) if number == fault.at || fault.for_good && number > fault.at => {
                Err(io::Error::other(format!("made to fail: {step:?}")))
            }
            _ => Ok(()),
        }
    }

    /// How many bytes of a failing write are written.
    fn part<'a>(&self, failed: bool, bytes: &'a [u8]) -> &'a [u8] {
        let quarters = self.fault.map_or(4, |fault| fault.quarters);
        if failed { &bytes[..bytes.len() * quarters / 4] } else { bytes }
    }

    fn create(&mut self, name: &str) -> &mut Inode {
        let next = self.inodes.len();
        let inode = *self.names.entry(name.into()).or_insert(next);
        if inode == next {
            self.inodes.push(Inode::default());
        }
        &mut self.inodes[inode]
    }

    fn log(&mut self) -> &mut Inode {
        self.create("")
    }
}

/// The disk; storages on it come and go.
#[derive(Clone, Debug, Default)]
pub(crate) struct Disk(Rc<RefCell<State>>);

impl Disk {
    pub(crate) fn new() -> Self {
        Self::default()
    }

    /// A disk with this log on it, safely.
    pub(crate) fn with_log(bytes: &[u8]) -> Self {
        let disk = Self::new();
        {
            let mut state = disk.0.borrow_mut();
            *state.log() = Inode { shown: bytes.into(), durable: bytes.into(), dropped: None };
            state.durable_names = state.names.clone();
        }
        disk
    }

    pub(crate) fn storage(&self) -> FaultyStorage {
        FaultyStorage { disk: self.clone(), has_lock: false, path: "LOG".into() }
    }

    pub(crate) fn set_fault(&self, fault: Option<Fault>) {
        self.0.borrow_mut().fault = fault;
    }

    pub(crate) fn steps(&self) -> Vec<Step> {
        self.0.borrow().steps.clone()
    }

    /// The log as reading shows it.
    pub(crate) fn log(&self) -> Vec<u8> {
        self.0.borrow_mut().log().shown.clone()
    }

    pub(crate) fn side(&self, suffix: &str) -> Option<Vec<u8>> {
        let state = self.0.borrow();
        state.names.get(suffix).map(|&inode| state.inodes[inode].shown.clone())
    }

    /// Appends bytes without a sync, as a killed writer leaves them.
    pub(crate) fn leave_behind(&self, bytes: &[u8]) {
        self.0.borrow_mut().log().shown.extend_from_slice(bytes);
    }

    /// Replaces the log after a reader has got one piece of it.
    pub(crate) fn replace_while_read(&self, bytes: &[u8]) {
        self.0.borrow_mut().meanwhile = Some(bytes.into());
    }

    /// The disk after power was lost and came back.
    pub(crate) fn power_cut(&self, draws: &mut Draws) -> Self {
        let before = self.0.borrow();
        let names = if draws.below(2) == 0 { &before.names } else { &before.durable_names };
        let inodes = before.inodes.iter().map(|inode| {
            let bytes = inode.after_power_cut(draws);
            Inode { shown: bytes.clone(), durable: bytes, dropped: None }
        });
        let inodes = inodes.collect();
        let (names, durable_names) = (names.clone(), names.clone());
        Self(Rc::new(RefCell::new(State { inodes, names, durable_names, ..State::default() })))
    }
}

/// The storage that a journal uses.
#[derive(Debug)]
pub(crate) struct FaultyStorage {
    disk: Disk,
    has_lock: bool,
    path: PathBuf,
}

impl Drop for FaultyStorage {
    fn drop(&mut self) {
        if self.has_lock {
            self.disk.0.borrow_mut().locked = false;
        }
    }
}

/// Reads the current log.
#[derive(Debug)]
pub(crate) struct LiveReader {
    disk: Disk,
    at: usize,
}

impl Read for LiveReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut state = self.disk.0.borrow_mut();
        let left = state.log().shown.get(self.at..).unwrap_or_default();
        let count = left.len().min(buffer.len());
        buffer[..count].copy_from_slice(&left[..count]);
        self.at += count;
        if let Some(bytes) = state.meanwhile.take() {
            state.log().shown = bytes;
        }
        Ok(count)
    }
}

impl Seek for LiveReader {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let to = match to {
            SeekFrom::Start(at) => at,
            SeekFrom::End(0) => self.disk.log().len() as u64,
            other => unreachable!("a journal does not seek {other:?}"),
        };
        self.at = usize::try_from(to).unwrap();
        Ok(to)
    }
}

impl Storage for FaultyStorage {
    type Reader = LiveReader;

    fn path(&self) -> &Path {
        &self.path
    }

    fn lock(&mut self) -> io::Result<()> {
        let mut state = self.disk.0.borrow_mut();
        state.step(Step::Lock)?;
        if state.locked {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        state.log();
        state.locked = true;
        self.has_lock = true;
        Ok(())
    }

    fn reader(&self) -> io::Result<Self::Reader> {
        let mut state = self.disk.0.borrow_mut();
        state.step(Step::Open)?;
        state.log();
        Ok(LiveReader { disk: self.disk.clone(), at: 0 })
    }

    fn length(&self) -> io::Result<u64> {
        let mut state = self.disk.0.borrow_mut();
        state.step(Step::Length)?;
        Ok(state.log().shown.len() as u64)
    }

    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        assert!(self.has_lock, "written without the lock");
        let mut state = self.disk.0.borrow_mut();
        let outcome = state.step(Step::Append);
        let part = state.part(outcome.is_err(), bytes);
        state.log().shown.extend_from_slice(part);
        outcome
    }

    fn sync(&mut self) -> io::Result<()> {
        let mut state = self.disk.0.borrow_mut();
        let outcome = state.step(Step::Sync);
        let log = state.log();
        if outcome.is_ok() {
            log.durable = log.synced();
        } else if log.shown.len() > log.durable.len() {
            log.dropped = Some(log.durable.len()..log.shown.len());
        }
        outcome
    }

    fn truncate(&mut self, len: u64) -> io::Result<()> {
        assert!(self.has_lock, "cut without the lock");
        let mut state = self.disk.0.borrow_mut();
        state.step(Step::Truncate)?;
        let len = usize::try_from(len).unwrap();
        let log = state.log();
        log.shown.truncate(len);
        log.dropped = log
            .dropped
            .take()
            .map(|range| range.start..range.end.min(len))
            .filter(|left| !left.is_empty());
        Ok(())
    }

    fn sync_folder(&mut self) -> io::Result<()> {
        let mut state = self.disk.0.borrow_mut();
        state.step(Step::SyncFolder)?;
        state.durable_names = state.names.clone();
        Ok(())
    }

    fn read_side(&self, suffix: &str) -> io::Result<Option<Vec<u8>>> {
        self.disk.0.borrow_mut().step(Step::ReadSide)?;
        Ok(self.disk.side(suffix))
    }

    fn write_side(&mut self, suffix: &str, bytes: &[u8]) -> io::Result<()> {
        let mut state = self.disk.0.borrow_mut();
        let outcome = state.step(Step::WriteSide);
        let part = state.part(outcome.is_err(), bytes).to_vec();
        let inode = state.create(suffix);
        inode.shown.clone_from(&part);
        if outcome.is_ok() {
            inode.durable = part;
        }
        outcome
    }

    fn rename_side(&mut self, from: &str, to: &str) -> io::Result<()> {
        let mut state = self.disk.0.borrow_mut();
        state.step(Step::RenameSide)?;
        let inode = state.names.remove(from).ok_or(io::ErrorKind::NotFound)?;
        state.names.insert(to.into(), inode);
        Ok(())
    }
}
