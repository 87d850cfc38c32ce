//! What the service needs from the world: clocks, disks, random bytes and a place for its own
//! reports. All are arguments, so that tests can replace them.

use plausibly_log::Time;
use plausibly_log::journal::{FileStorage, LogReader, Storage};
use std::fmt;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// A log on any disk.
pub type AnyStorage = Box<dyn Storage<Reader = LogReader> + Send>;

/// Clocks.
pub trait Clock: Send + Sync {
    /// The time that is recorded, in microseconds since 1970.
    fn now_us(&self) -> i64;
    /// The time since some instant, by a clock that is never set.
    fn elapsed(&self) -> Duration;
}

/// What the service needs from the world.
#[derive(Clone)]
pub struct World {
    /// Clocks.
    pub clock: Arc<dyn Clock>,
    /// Opens the log at a path.
    pub disk: Arc<dyn Fn(&Path) -> AnyStorage + Send + Sync>,
    /// Takes one line of JSON for each thing worth knowing.
    pub report: Arc<dyn Fn(&str) + Send + Sync>,
}

impl World {
    /// Logs on the local disk.
    pub fn on_disk(clock: Arc<dyn Clock>, report: Arc<dyn Fn(&str) + Send + Sync>) -> Self {
        Self { clock, disk: Arc::new(|path| Box::new(FileStorage::new(path))), report }
    }
}

impl World {
    /// Reports an event with what it is about, as one line of JSON.
    pub(crate) fn say(&self, event: &str, about: &[(&str, &str)]) {
        let at = Time::from_micros(self.clock.now_us()).to_string();
        let mut line = serde_json::Map::new();
        line.insert("at".into(), at.into());
        line.insert("event".into(), event.into());
        line.extend(about.iter().map(|(name, value)| ((*name).into(), (*value).into())));
        (self.report)(&serde_json::Value::Object(line).to_string());
    }
}

impl fmt::Debug for World {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("World")
    }
}
