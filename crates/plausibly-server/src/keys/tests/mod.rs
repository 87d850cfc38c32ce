mod callers; // roles and scopes
mod kills; // a writer that ends between any two steps, or with the power
mod rings; // what the service knows while the file changes
mod stores; // commands on the file

use super::*;
use crate::world::Clock;
use plausibly_log::Time;
use std::num::NonZeroU32;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// A time to record.
const NOON: Time = Time::from_micros(1_794_744_000_000_000);

/// A grant of every role in every experiment.
pub(crate) fn grant(name: &str) -> Grant<'_> {
    Grant { name, roles: &[Role::Admin], experiment: None, rate: None }
}

/// Adds a key whose text this number determines.
pub(crate) fn add_numbered(data: &Path, grant: Grant<'_>, number: u8) -> String {
    add(data, grant, [number; 32], NOON).unwrap().text().to_string()
}

pub(crate) fn per_second(rate: u32) -> Option<NonZeroU32> {
    NonZeroU32::new(rate)
}

/// A clock that tests set.
#[derive(Default)]
pub(crate) struct Hand(AtomicU64);

impl Hand {
    pub(crate) fn advance(&self, by: Duration) {
        self.0.fetch_add(u64::try_from(by.as_nanos()).unwrap(), Ordering::SeqCst);
    }
}

impl Clock for Hand {
    fn now_us(&self) -> i64 {
        NOON.micros()
    }

    fn elapsed(&self) -> Duration {
        Duration::from_nanos(self.0.load(Ordering::SeqCst))
    }
}
