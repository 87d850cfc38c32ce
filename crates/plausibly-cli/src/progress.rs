//! Progress with the time left, and the user's wish to stop.

use indicatif::{ProgressBar, ProgressStyle};
use plausibly_sim::Monitor;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Shows how far a comparison is, and tells it to stop on Ctrl-C.
#[derive(Debug)]
pub(crate) struct Progress {
    bar: ProgressBar,
    stop: Arc<AtomicBool>,
}

impl Progress {
    /// Over `rounds` rounds. The bar hides itself when stderr is no terminal.
    ///
    /// # Errors
    /// If Ctrl-C cannot be caught.
    pub(crate) fn start(rounds: u64, quiet: bool) -> Result<Self, ctrlc::Error> {
        let stop = Arc::new(AtomicBool::new(false));
        let flag = Arc::clone(&stop);
        ctrlc::set_handler(move || flag.store(true, Ordering::Relaxed))?;
        let bar = if quiet { ProgressBar::hidden() } else { ProgressBar::new(rounds) };
        let style = ProgressStyle::with_template(
            "{bar:32} {percent:>3} %  {human_pos} of {human_len} rounds  {eta} left",
        );
        bar.set_style(style.expect("the template is well formed"));
        Ok(Self { bar, stop })
    }

    /// Takes the bar off the terminal.
    pub(crate) fn clear(&self) {
        self.bar.finish_and_clear();
    }
}

impl Monitor for Progress {
    fn advanced(&self, rounds: u64) {
        self.bar.inc(rounds);
    }

    fn stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}
