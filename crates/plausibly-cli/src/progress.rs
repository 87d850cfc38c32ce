//! A progress bar with the time left.

use crate::interrupt::Interrupt;
use indicatif::{ProgressBar, ProgressStyle};
use plausibly_sim::Monitor;

/// Shows the progress of a comparison, and stops it when the user interrupts.
#[derive(Debug)]
pub(crate) struct Progress {
    bar: ProgressBar,
    interrupt: Interrupt,
}

impl Progress {
    /// A bar over `rounds` rounds. It is hidden if stderr is not a terminal.
    pub(crate) fn new(rounds: u64, quiet: bool, interrupt: Interrupt) -> Self {
        Self::over(rounds, "rounds", quiet, interrupt)
    }

    /// A bar over as many of something else.
    pub(crate) fn over(total: u64, what: &str, quiet: bool, interrupt: Interrupt) -> Self {
        let bar = if quiet { ProgressBar::hidden() } else { ProgressBar::new(total) };
        let style = ProgressStyle::with_template(&format!(
            "{{bar:32}} {{percent:>3}} %  {{human_pos}} of {{human_len}} {what}  {{eta}} left  \
             {{msg}}"
        ));
        bar.set_style(style.expect("the template is well formed"));
        Self { bar, interrupt }
    }

    /// Shows the name of the current experiment.
    pub(crate) fn name(&self, name: &'static str) {
        self.bar.set_message(name);
    }

    /// Removes the bar from the terminal.
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
