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

    /// A part of the work under its own name, whose rounds count so many times.
    pub(crate) fn part(&self, name: &'static str, weight: u64) -> Part<'_> {
        self.bar.set_message(name);
        Part { whole: self, weight }
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

/// A part of the work.
#[derive(Debug)]
pub(crate) struct Part<'a> {
    whole: &'a Progress,
    weight: u64,
}

impl Monitor for Part<'_> {
    fn advanced(&self, rounds: u64) {
        self.whole.advanced(rounds * self.weight);
    }

    fn stopped(&self) -> bool {
        self.whole.stopped()
    }
}
