//! The times of a log, which are always arguments: this crate never reads a clock.

use crate::journal::{parse_utc, utc};
use std::fmt;
use std::str::FromStr;
use std::time::SystemTime;
use thiserror::Error;

/// An instant, in microseconds since the beginning of 1970 in UTC.
///
/// Every function that records something takes the time as an argument; a [`SystemTime`] or a
/// number of microseconds works too. A log refuses times before 1970 and after 9999.
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

/// A text that is not a time.
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
    /// Times beyond the range of 64-bit microseconds become the first or the last of that range.
    fn from(time: SystemTime) -> Self {
        let micros =
            |span: std::time::Duration| i64::try_from(span.as_micros()).unwrap_or(i64::MAX);
        Self(match time.duration_since(SystemTime::UNIX_EPOCH) {
            Ok(since) => micros(since),
            Err(before) => -micros(before.duration()),
        })
    }
}

/// Reads a time with or without a fraction of a second; a fraction has six digits.
impl FromStr for Time {
    type Err = TimeError;

    fn from_str(text: &str) -> Result<Self, TimeError> {
        let whole = text.strip_suffix('Z').filter(|rest| !rest.contains('.'));
        let full = whole.map(|rest| format!("{rest}.000000Z"));
        let parsed = parse_utc(full.as_deref().unwrap_or(text));
        parsed.map(Self).ok_or_else(|| TimeError { text: text.into() })
    }
}

/// Prints UTC to the microsecond, or the number of microseconds outside the years 1970 to 9999.
impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match utc(self.0) {
            Some(text) => f.write_str(&text),
            None => write!(f, "{} µs since 1970", self.0),
        }
    }
}
