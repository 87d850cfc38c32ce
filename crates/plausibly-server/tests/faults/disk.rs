//! A disk that fails at a chosen call, and is whole otherwise.

use plausibly_log::journal::{FileStorage, LogReader, Storage};
use plausibly_server::AnyStorage;
use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard};

/// How a call fails.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Kind {
    /// EIO.
    Broken,
    /// ENOSPC.
    Full,
    /// A part of the bytes is written, then there is no more space.
    Short,
}

/// Which calls fail.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fault {
    /// The calls before the first one that fails.
    pub(super) after: usize,
    pub(super) kind: Kind,
    /// All later calls fail, too.
    pub(super) for_good: bool,
    /// The log cannot be cut back while it fails.
    pub(super) uncut: bool,
}

#[derive(Debug, Default)]
struct Plan {
    fault: Option<Fault>,
    /// The calls since the fault was set.
    calls: usize,
    failed: usize,
    opened: usize,
}

/// A disk for the logs whose path has a word in it.
#[derive(Clone, Debug, Default)]
pub(super) struct Disk(Arc<Mutex<Plan>>);

impl Disk {
    fn plan(&self) -> MutexGuard<'_, Plan> {
        self.0.lock().unwrap()
    }

    pub(super) fn fail(&self, fault: Fault) {
        let mut plan = self.plan();
        (plan.fault, plan.calls, plan.failed) = (Some(fault), 0, 0);
    }

    pub(super) fn heal(&self) {
        self.plan().fault = None;
    }

    /// The calls that failed since the fault was set.
    pub(super) fn failed(&self) -> usize {
        self.plan().failed
    }

    /// How often a log was opened for writing.
    pub(super) fn opened(&self) -> usize {
        self.plan().opened
    }

    pub(super) fn storage(&self, path: &Path) -> AnyStorage {
        Box::new(Faulty { inner: FileStorage::new(path), disk: self.clone() })
    }

    /// How the next call fails, if it does.
    fn next(&self) -> Option<Kind> {
        let mut plan = self.plan();
        let (fault, call) = (plan.fault?, plan.calls);
        plan.calls += 1;
        let fails = call == fault.after || fault.for_good && call > fault.after;
        plan.failed += usize::from(fails);
        fails.then_some(fault.kind)
    }

    /// Whether a fault that lasts has begun.
    fn is_down(&self, uncut: bool) -> bool {
        let plan = self.plan();
        plan.failed > 0
            && plan.fault.is_some_and(|fault| if uncut { fault.uncut } else { fault.for_good })
    }
}

fn error(kind: Kind) -> io::Error {
    // EIO and ENOSPC.
    io::Error::from_raw_os_error(if kind == Kind::Broken { 5 } else { 28 })
}

/// A log on a [`Disk`].
struct Faulty {
    inner: FileStorage,
    disk: Disk,
}

impl Faulty {
    fn unless_down(&self) -> io::Result<()> {
        if self.disk.is_down(false) { Err(error(Kind::Broken)) } else { Ok(()) }
    }
}

impl Storage for Faulty {
    type Reader = LogReader;

    fn path(&self) -> &Path {
        self.inner.path()
    }

    fn lock(&mut self) -> io::Result<()> {
        self.disk.plan().opened += 1;
        self.inner.lock()
    }

    fn reader(&self) -> io::Result<LogReader> {
        self.inner.reader()
    }

    fn length(&self) -> io::Result<u64> {
        self.inner.length()
    }

    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        match self.disk.next() {
            None => self.inner.append(bytes),
            Some(kind) => {
                if kind == Kind::Short {
                    self.inner.append(&bytes[..bytes.len() / 2])?;
                }
                Err(error(kind))
            }
        }
    }

    fn sync(&mut self) -> io::Result<()> {
        match self.disk.next() {
            None => self.inner.sync(),
            Some(kind) => Err(error(kind)),
        }
    }

    fn truncate(&mut self, len: u64) -> io::Result<()> {
        if self.disk.is_down(true) { Err(error(Kind::Broken)) } else { self.inner.truncate(len) }
    }

    fn sync_folder(&mut self) -> io::Result<()> {
        self.unless_down()?;
        self.inner.sync_folder()
    }

    fn read_side(&self, suffix: &str) -> io::Result<Option<Vec<u8>>> {
        self.inner.read_side(suffix)
    }

    fn write_side(&mut self, suffix: &str, bytes: &[u8]) -> io::Result<()> {
        self.unless_down()?;
        self.inner.write_side(suffix, bytes)
    }

    fn rename_side(&mut self, from: &str, to: &str) -> io::Result<()> {
        self.unless_down()?;
        self.inner.rename_side(from, to)
    }
}
