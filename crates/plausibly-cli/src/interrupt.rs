//! The user's wish to stop.

use crate::exit::Outcome;
use crate::output;
use crate::results::Folder;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::Duration;

/// How long work that was asked to stop may take to do so. Most stops between two rounds, at once; a single step on a huge
/// set can take longer.
const PATIENCE: Duration = Duration::from_millis(400);

const RUNNING: u8 = 0;
const STOPPING: u8 = 1;
/// Past the point where stopping makes sense: results are being written.
const CLOSING: u8 = 2;

/// Ctrl-C, SIGTERM and SIGHUP: asks the work to stop, and ends the program if it does not.
#[derive(Clone, Debug)]
pub(crate) struct Interrupt {
    state: Arc<AtomicU8>,
}

impl Interrupt {
    /// From here on signals are caught. The folder is cleared if the program has to be ended.
    ///
    /// # Errors
    /// If signals cannot be caught.
    pub(crate) fn catch(folder: &Arc<Folder>) -> Result<Self, ctrlc::Error> {
        let interrupt = Self { state: Arc::new(AtomicU8::new(RUNNING)) };
        let (state, folder) = (Arc::clone(&interrupt.state), Arc::clone(folder));
        ctrlc::set_handler(move || {
            let asked = state.compare_exchange(RUNNING, STOPPING, Ordering::SeqCst, Ordering::SeqCst);
            if asked.is_ok() {
                std::thread::sleep(PATIENCE);
                // Still here: the work sits in one long step. Nothing is being written, so nothing can be torn.
                folder.clear();
                let outcome = Outcome::interrupted();
                output::note(&outcome.message().unwrap_or_default());
                std::process::exit(130);
            }
        })?;
        Ok(interrupt)
    }

    /// Whether the user wants to stop.
    pub(crate) fn requested(&self) -> bool {
        self.state.load(Ordering::Relaxed) == STOPPING
    }

    /// Closes the door: from here on the program finishes what it is at. False if the user was faster.
    pub(crate) fn close(&self) -> bool {
        self.state.compare_exchange(RUNNING, CLOSING, Ordering::SeqCst, Ordering::SeqCst).is_ok()
    }
}
