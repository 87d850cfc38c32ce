//! Handles Ctrl-C, SIGTERM and SIGHUP. Work stops at the next safe point; once results or events
//! are being written, signals wait until that is finished.

use crate::exit::Ending;
use crate::output;
use crate::results::Folder;
use anyhow::{Context, Result};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// Gives work 400 ms to stop by itself after a signal. Most work stops between two rounds, at once;
/// a single step on a huge set can take longer.
const PATIENCE: Duration = Duration::from_millis(400);

const RUNNING: u8 = 0;
const STOPPING: u8 = 1;
/// Results or events are being written, so signals no longer stop the work.
const CLOSING: u8 = 2;
/// As `CLOSING`, after a signal.
const CLOSING_ASKED: u8 = 3;

/// Catches signals: asks the work to stop, and ends the program if it does not.
#[derive(Clone, Debug)]
pub(crate) struct Interrupt {
    state: Arc<AtomicU8>,
    /// The folder of results, once it is known; cleared before the program is ended.
    folder: Arc<Mutex<Option<Arc<Folder>>>>,
    /// An unfinished file, removed before the program is ended.
    unfinished: Arc<Mutex<Option<PathBuf>>>,
}

impl Interrupt {
    /// Catches signals from here on.
    ///
    /// # Errors
    /// If signals cannot be caught.
    pub(crate) fn catch() -> Result<Self> {
        Self::catch_and(|caught| {
            std::thread::sleep(PATIENCE);
            // The work is in one long step. No results are being written, so ending the program
            // loses nothing.
            caught.ending()
        })
    }

    /// Catches signals: until [`Interrupt::close`] a signal ends the program at once, and after it
    /// none does.
    ///
    /// # Errors
    /// If signals cannot be caught.
    pub(crate) fn catch_until_closed() -> Result<Self> {
        Self::catch_and(|caught| {
            if let Some(file) = &*caught.unfinished.lock().unwrap_or_else(PoisonError::into_inner) {
                // If that fails, a later command removes it, as what a killed process leaves.
                let _ = std::fs::remove_file(file);
            }
            Ending::interrupted()
        })
    }

    /// Removes this file if a signal ends the program.
    pub(crate) fn remove_if_ended(&self, file: &Path) {
        *self.unfinished.lock().unwrap_or_else(PoisonError::into_inner) = Some(file.into());
    }

    fn catch_and(ending: impl Fn(&Self) -> Ending + Send + 'static) -> Result<Self> {
        let interrupt = Self {
            state: Arc::new(AtomicU8::new(RUNNING)),
            folder: Arc::default(),
            unfinished: Arc::default(),
        };
        let caught = interrupt.clone();
        ctrlc::set_handler(move || {
            if caught.moves(RUNNING, STOPPING) {
                output::note(&ending(&caught).to_string());
                std::process::exit(130);
            }
            caught.moves(CLOSING, CLOSING_ASKED);
        })
        .context("cannot catch Ctrl-C")?;
        Ok(interrupt)
    }

    /// Marks the start of work on results for this folder; before it, data was fetched.
    pub(crate) fn guard(&self, folder: &Arc<Folder>) {
        *self.folder.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::clone(folder));
    }

    /// How the command ends after an interrupt. Removes the folders created for results.
    pub(crate) fn ending(&self) -> Ending {
        match &*self.folder.lock().unwrap_or_else(PoisonError::into_inner) {
            Some(folder) => {
                folder.clear();
                Ending::interrupted()
            }
            None => Ending::Interrupted(
                "interrupted: the download so far is kept, and the next fetch continues it".into(),
            ),
        }
    }

    fn moves(&self, from: u8, to: u8) -> bool {
        self.state.compare_exchange(from, to, Ordering::SeqCst, Ordering::SeqCst).is_ok()
    }

    /// Whether a signal asked the work to stop.
    pub(crate) fn requested(&self) -> bool {
        matches!(self.state.load(Ordering::Relaxed), STOPPING | CLOSING_ASKED)
    }

    /// Protects the writing that follows from signals. Returns false if a signal came first.
    /// Calling it again changes nothing.
    pub(crate) fn close(&self) -> bool {
        self.moves(RUNNING, CLOSING) || self.state.load(Ordering::SeqCst) != STOPPING
    }
}
