//! The clock that people set, watched by one that is never set.

use crate::world::Clock;
use std::sync::Arc;

/// From this difference on, in microseconds, the clocks have parted.
const PARTED_US: i64 = 60_000_000;

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

    pub(crate) fn now_us(&self) -> i64 {
        self.clock.now_us()
    }

    pub(crate) fn elapsed(&self) -> std::time::Duration {
        self.clock.elapsed()
    }

    /// Whether the clock was set by more than a minute since the start. Deadlines then pass at the
    /// wrong time, so nothing is settled.
    pub(crate) fn have_parted(&self) -> bool {
        let by_hand = self.clock.now_us().saturating_sub(self.begun_us);
        let alone = self.clock.elapsed().saturating_sub(self.begun).as_micros();
        let alone = i64::try_from(alone).unwrap_or(i64::MAX);
        by_hand.abs_diff(alone) > PARTED_US.unsigned_abs()
    }
}
