//! Instants of a log.

use crate::journal::{parse_utc, utc};
use std::fmt;
use std::str::FromStr;
use std::time::SystemTime;
use thiserror::Error;

/// An instant, in microseconds since the beginning of 1970 in UTC.
///
/// This crate never reads a clock: every function that records something takes the time as an
/// argument. A [`SystemTime`] and a number of microseconds will do as well. A log has no instants
/// before 1970 or after 9999, and refuses them.
///
/// ```
/// use plausibly_log::Time;
/// let noon: Time = "2026-11-15T12:00:00Z".parse()?;
/// assert_eq!(noon.to_string(), "2026-11-15T12:00:00.000000Z");
/// assert_eq!(noon.micros(), 1_794_744_000_000_000);
/// assert_eq!(Time::from(std::time::SystemTime::UNIX_EPOCH).micros(), 0);
/// # Ok::<(), plausibly_log::TimeError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time(i64);

/// A text that is no instant.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("`{}` is not a time in UTC; write it as 2026-11-15T15:10:02Z", crate::table::brief(.text))]
pub struct TimeError {
    /// The text.
    pub text: String,
}

impl Time {
    /// The instant this many microseconds after the beginning of 1970.
    pub const fn from_micros(micros: i64) -> Self {
        Self(micros)
    }

    /// Microseconds since the beginning of 1970.
    pub const fn micros(self) -> i64 {
        self.0
    }
}

impl From<i64> for Time {
    fn from(micros: i64) -> Self {
        Self(micros)
    }
}

impl From<SystemTime> for Time {
    /// What is beyond the microseconds that 64 bits can count is the last or the first of them.
    fn from(time: SystemTime) -> Self {
        let micros =
            |span: std::time::Duration| i64::try_from(span.as_micros()).unwrap_or(i64::MAX);
        Self(match time.duration_since(SystemTime::UNIX_EPOCH) {
            Ok(since) => micros(since),
            Err(before) => -micros(before.duration()),
        })
    }
}

/// With or without a fraction of a second; if there is one, it has six digits.
impl FromStr for Time {
    type Err = TimeError;

    fn from_str(text: &str) -> Result<Self, TimeError> {
        let whole = text.strip_suffix('Z').filter(|rest| !rest.contains('.'));
        let full = whole.map(|rest| format!("{rest}.000000Z"));
        let parsed = parse_utc(full.as_deref().unwrap_or(text));
        parsed.map(Self).ok_or_else(|| TimeError { text: text.into() })
    }
}

/// In UTC to the microsecond; an instant that no log has, as its number.
impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match utc(self.0) {
            Some(text) => f.write_str(&text),
            None => write!(f, "{} µs since 1970", self.0),
        }
    }
}
