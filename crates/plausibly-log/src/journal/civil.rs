//! Times as text: UTC to the microsecond, always 27 bytes wide, so that a frame can be read by
//! position.
//!
//! The calendar is the proleptic Gregorian one, and days have 86,400 seconds. As in POSIX time,
//! leap seconds have no name.

/// 9999-12-31T23:59:59.999999Z, the last time with a four-digit year.
pub const LATEST_US: i64 = 253_402_300_799_999_999;
/// The width of a time as text, in bytes.
pub(super) const WIDTH: usize = 27;
/// The positions of digits (`0`), and the characters between them.
pub(super) const TEMPLATE: &[u8; WIDTH] = b"0000-00-00T00:00:00.000000Z";

const SECOND_US: i64 = 1_000_000;
const DAY_US: i64 = 86_400 * SECOND_US;
/// Days in 400 years, after which the calendar repeats.
const ERA_DAYS: i64 = 146_097;
/// Days from 0000-03-01, where eras begin, to 1970-01-01.
const EPOCH_DAY: i64 = 719_468;

/// The time as `2026-11-15T15:10:02.123456Z`; `None` before 1970 or after 9999.
///
/// ```
/// use plausibly_log::journal::{parse_utc, utc};
/// assert_eq!(utc(0).as_deref(), Some("1970-01-01T00:00:00.000000Z"));
/// let text = "2026-11-15T15:10:02.123456Z";
/// assert_eq!(parse_utc(text).and_then(utc).as_deref(), Some(text));
/// assert_eq!(parse_utc("2026-02-29T00:00:00.000000Z"), None);
/// ```
pub fn utc(at_us: i64) -> Option<String> {
    (0..=LATEST_US).contains(&at_us).then(|| text(at_us))
}

/// Microseconds since 1970 of a time written exactly as [`utc`] writes it; `None` for anything
/// else.
pub fn parse_utc(text: &str) -> Option<i64> {
    parse(text.as_bytes())
}

/// The text of a time, which must be in range.
pub(super) fn text(at_us: i64) -> String {
    let (year, month, day) = date(at_us.div_euclid(DAY_US));
    let us = at_us.rem_euclid(DAY_US);
    let (second, fraction) = (us / SECOND_US, us % SECOND_US);
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{fraction:06}Z")
}

/// The inverse of [`text`]; `None` for text that it never returns.
pub(super) fn parse(text: &[u8]) -> Option<i64> {
    if text.len() != WIDTH {
        return None;
    }
    let fits = |(&byte, &form): (&u8, &u8)| {
        if form == b'0' { byte.is_ascii_digit() } else { byte == form }
    };
    if !text.iter().zip(TEMPLATE).all(fits) {
        return None;
    }
    let number = |from: usize, to: usize| {
        text[from..to].iter().fold(0, |number, digit| 10 * number + i64::from(digit - b'0'))
    };
    let (year, month, day) = (number(0, 4), number(5, 7), number(8, 10));
    let (hour, minute, second) = (number(11, 13), number(14, 16), number(17, 19));
    if year < 1970 || !(1..=12).contains(&month) || hour > 23 || minute > 59 || second > 59 {
        return None;
    }
    let day_number = days(year, month, day);
    // A day that the month does not have converts to a day of the next month.
    if date(day_number) != (year, month, day) {
        return None;
    }
    Some(day_number * DAY_US + ((hour * 60 + minute) * 60 + second) * SECOND_US + number(20, 26))
}

/// Days since 1970-01-01 of a date. Years start in March, so that the leap day is the last of its
/// year.
fn days(year: i64, month: i64, day: i64) -> i64 {
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    // March to July, and August to December, have 31, 30, 31, 30, 31 days: 153 in five months.
    let of_year = (153 * month + 2) / 5 + day - 1;
    year * 365 + year / 4 - year / 100 + year / 400 + of_year - EPOCH_DAY
}

/// Year, month and day of a number of days since 1970-01-01, which must not be negative.
fn date(days: i64) -> (i64, i64, i64) {
    let day = days + EPOCH_DAY;
    let (era, of_era) = (day / ERA_DAYS, day % ERA_DAYS);
    // Subtracts the leap days: one in four years, none in 100, one in 400.
    let of_era_year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * of_era_year + of_era_year / 4 - of_era_year / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let year = of_era_year + era * 400;
    if month < 10 { (year, month + 3, day) } else { (year + 1, month - 9, day) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_leap(year: i64) -> bool {
        year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
    }

    /// Counts every day of every year one by one, and so shares nothing with the formulas.
    #[test]
    fn every_day_until_9999_is_the_next_after_the_day_before() {
        let mut number = 0;
        for year in 1970..=9999 {
            let february = if is_leap(year) { 29 } else { 28 };
            for (month, length) in (1..).zip([31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31])
            {
                for day in 1..=length {
                    assert_eq!(date(number), (year, month, day));
                    assert_eq!(days(year, month, day), number);
                    number += 1;
                }
            }
        }
        assert_eq!(number * DAY_US - 1, LATEST_US);
    }
}
