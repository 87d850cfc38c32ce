//! Progress with the time left.

use crate::interrupt::Interrupt;
use indicatif::{ProgressBar, ProgressStyle};
use plausibly_sim::Monitor;

/// Shows how far a comparison is, and passes on the user's wish to stop.
#[derive(Debug)]
pub(crate) struct Progress {
    bar: ProgressBar,
    interrupt: Interrupt,
}

impl Progress {
    /// Over `rounds` rounds. The bar hides itself when stderr is no terminal.
    pub(crate) fn new(rounds: u64, quiet: bool, interrupt: Interrupt) -> Self {
        let bar = if quiet { ProgressBar::hidden() } else { ProgressBar::new(rounds) };
        let style = ProgressStyle::with_template(
            "{bar:32} {percent:>3} %  {human_pos} of {human_len} rounds  {eta} left  {msg}",
        );
        bar.set_style(style.expect("the template is well formed"));
        Self { bar, interrupt }
    }

    /// What is being worked on.
    pub(crate) fn name(&self, name: &'static str) {
        self.bar.set_message(name);
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
        self.interrupt.requested()
    }
}
