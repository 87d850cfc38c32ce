//! The clock that people set, watched by one that is never set.

use crate::world::Clock;
use std::sync::Arc;

/// From this difference on, in microseconds, the clocks have parted.
const PARTED_US: u64 = 60_000_000;

/// Both clocks, and what they showed at the start.
pub(crate) struct Clocks {
    clock: Arc<dyn Clock>,
    begun_us: i64,
    begun: std::time::Duration,
}

impl Clocks {
    pub(crate) fn start(clock: Arc<dyn Clock>) -> Self {
        let (begun_us, begun) = (clock.now_us(), clock.elapsed());
        Self { clock, begun_us, begun }
    }

    /// The time for new lines. After the clock was set it goes on as if it had not been: times of
    /// lines never go back, so one wrong hour in the log could not be taken out again.
    pub(crate) fn now_us(&self) -> i64 {
        if self.have_parted() { self.alone() } else { self.clock.now_us() }
    }

    /// The time by the clock that is never set.
    fn alone(&self) -> i64 {
        let passed = self.clock.elapsed().saturating_sub(self.begun).as_micros();
        self.begun_us.saturating_add(i64::try_from(passed).unwrap_or(i64::MAX))
    }

    pub(crate) fn elapsed(&self) -> std::time::Duration {
        self.clock.elapsed()
    }

    /// Whether the clock was set by more than a minute since the start, and not back. It is then
    /// unknown which time is right, so nothing is settled.
    pub(crate) fn have_parted(&self) -> bool {
        self.clock.now_us().abs_diff(self.alone()) > PARTED_US
    }
}
