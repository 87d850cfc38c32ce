//! The user's wish to stop.

use crate::exit::Outcome;
use crate::output;
use crate::results::Folder;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// How long work that was asked to stop may take to do so. Most stops between two rounds, at once;
/// a single step on a huge set can take longer.
const PATIENCE: Duration = Duration::from_millis(400);

const RUNNING: u8 = 0;
const STOPPING: u8 = 1;
/// Past the point where stopping makes sense: results or events are being written.
const CLOSING: u8 = 2;
/// The same, and the user has asked to stop since.
const CLOSING_ASKED: u8 = 3;

/// Ctrl-C, SIGTERM and SIGHUP: asks the work to stop, and ends the program if it does not.
#[derive(Clone, Debug)]
pub(crate) struct Interrupt {
    state: Arc<AtomicU8>,
    /// Where results will go, once that is known: cleared if the program has to be ended.
    folder: Arc<Mutex<Option<Arc<Folder>>>>,
}

impl Interrupt {
    /// From here on signals are caught.
    ///
    /// # Errors
    /// If signals cannot be caught.
    pub(crate) fn catch() -> Result<Self, ctrlc::Error> {
        Self::catch_and(|caught| {
            std::thread::sleep(PATIENCE);
            // Still here: the work sits in one long step. No results are being written, so none can
            // be torn.
            caught.outcome()
        })
    }

    /// From here until [`Interrupt::close`] a signal ends the program at once; after it, none does.
    ///
    /// # Errors
    /// If signals cannot be caught.
    pub(crate) fn catch_until_closed() -> Result<Self, ctrlc::Error> {
        Self::catch_and(|_| Outcome::interrupted())
    }

    fn catch_and(ending: impl Fn(&Self) -> Outcome + Send + 'static) -> Result<Self, ctrlc::Error> {
        let interrupt = Self { state: Arc::new(AtomicU8::new(RUNNING)), folder: Arc::default() };
        let caught = interrupt.clone();
        ctrlc::set_handler(move || {
            if caught.moves(RUNNING, STOPPING) {
                let outcome = ending(&caught);
                output::note(&outcome.message().unwrap_or_default());
                std::process::exit(130);
            }
            caught.moves(CLOSING, CLOSING_ASKED);
        })?;
        Ok(interrupt)
    }

    /// From here on the work is on results for this folder, no longer on data.
    pub(crate) fn guard(&self, folder: &Arc<Folder>) {
        *self.folder.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::clone(folder));
    }

    /// What to tell a user who stopped the work. Removes the folders that were made for results.
    pub(crate) fn outcome(&self) -> Outcome {
        match &*self.folder.lock().unwrap_or_else(PoisonError::into_inner) {
            Some(folder) => {
                folder.clear();
                Outcome::interrupted()
            }
            None => Outcome::fetch_interrupted(),
        }
    }

    fn moves(&self, from: u8, to: u8) -> bool {
        self.state.compare_exchange(from, to, Ordering::SeqCst, Ordering::SeqCst).is_ok()
    }

    /// Whether the user wants to stop.
    pub(crate) fn requested(&self) -> bool {
        matches!(self.state.load(Ordering::Relaxed), STOPPING | CLOSING_ASKED)
    }

    /// Closes the door: from here on the program finishes what it is at. False if the user was
    /// faster. Once closed, it stays closed.
    pub(crate) fn close(&self) -> bool {
        self.moves(RUNNING, CLOSING) || self.state.load(Ordering::SeqCst) != STOPPING
    }
}
