//! A command that writes to a log: how it waits for the lock, and how signals stop it.
//!
//! Until [`Recording::begin_write`] a signal ends the command and nothing is written. From then on
//! signals wait, so that everything recorded is also reported.

use super::args::Wait;
use crate::exit::Ending;
use crate::interrupt::Interrupt;
use crate::output;
use anyhow::{Context as _, Result, bail};
use plausibly_log::Log;
use plausibly_log::journal::FileStorage;
use std::io::ErrorKind;
use std::path::Path;
use std::time::{Duration, Instant};

/// Waits half a second for the lock before it prints a note.
const SILENT: Duration = Duration::from_millis(500);
/// Tries for the lock every 10 ms, about the duration of a decision.
const PAUSE: Duration = Duration::from_millis(10);

/// Access of one command to one log.
#[derive(Debug)]
pub(super) struct Recording<'a> {
    path: &'a Path,
    wait: Duration,
    interrupt: Interrupt,
}

impl<'a> Recording<'a> {
    /// Catches signals from here on.
    pub(super) fn new(path: &'a Path, wait: &Wait) -> Result<Self> {
        Ok(Self { path, wait: wait.wait, interrupt: Interrupt::catch_until_closed()? })
    }

    /// Opens the log, waits for another writer if there is one, and prints a note if the log was
    /// repaired.
    pub(super) fn open(&self) -> Result<Log<FileStorage>> {
        let opened = Log::open(self.locked()?);
        let log = opened.with_context(|| format!("cannot open {}", self.path.display()))?;
        if let Some(recovery) = log.recovery() {
            output::note(&format!("note: {recovery}"));
        }
        Ok(log)
    }

    /// Locks the log, and waits for another writer if there is one.
    pub(super) fn locked(&self) -> Result<FileStorage> {
        let mut storage = FileStorage::new(self.path);
        self.lock(&mut storage)?;
        Ok(storage)
    }

    fn lock(&self, storage: &mut FileStorage) -> Result<()> {
        let log = self.path.display();
        let began = Instant::now();
        let (mut noted, mut held_by) = (false, String::new());
        let locked = storage.lock_or_wait(|holder| {
            let waited = began.elapsed();
            held_by = holder.to_string();
            if waited >= self.wait || self.interrupt.requested() {
                return false;
            }
            if waited >= SILENT && !noted {
                let most = self.wait.as_secs_f64();
                output::note(&format!(
                    "{holder} is writing to {log}; waiting for it for up to {most} s"
                ));
                noted = true;
            }
            std::thread::sleep(PAUSE.min(self.wait.saturating_sub(waited)));
            true
        });
        match locked {
            Err(error) if error.kind() == ErrorKind::WouldBlock && self.interrupt.requested() => {
                bail!(Ending::interrupted())
            }
            Err(error) if error.kind() == ErrorKind::WouldBlock => bail!(
                "{held_by} is writing to {log}, and did not finish within {} s; try again when it \
                 has, or wait longer with --wait SECONDS. Nothing was written.",
                self.wait.as_secs_f64()
            ),
            locked => locked.with_context(|| format!("cannot open {log}")),
        }
    }

    /// Until [`Recording::begin_write`], a signal removes this file, which is not complete.
    pub(super) fn remove_if_ended(&self, file: &Path) {
        self.interrupt.remove_if_ended(file);
    }

    /// From here on, signals wait until the command has finished.
    ///
    /// # Errors
    /// If the user has stopped it.
    pub(super) fn begin_write(&self) -> Result<()> {
        if !self.interrupt.close() {
            bail!(Ending::interrupted());
        }
        Ok(())
    }

    /// Prints the answer, as text or JSON. If that fails, the error says what was recorded.
    pub(super) fn answer(&self, recorded: &str, text: &str, is_json: bool) -> Result<()> {
        let recorded = || {
            format!(
                "{recorded} and is in {}, but the answer could not be printed",
                self.path.display()
            )
        };
        output::answer(text, is_json).with_context(|| Ending::Recorded(recorded()))
    }
}
