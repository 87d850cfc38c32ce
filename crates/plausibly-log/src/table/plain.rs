//! Reads a single number. Without the other cells of a column, a comma in it cannot be interpreted,
//! so it is refused with the possible meanings.

use super::{NumberFormat, brief};
use thiserror::Error;

/// A text that is not a number, with the numbers it may mean.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("`{found}` is not a number; write {}", suggestion(.instead))]
pub struct NumberError {
    /// The text.
    pub found: String,
    /// The numbers it may mean, written as they must be; empty if it means none.
    pub instead: Vec<String>,
}

/// Reads a number with a point before its decimals and nothing between thousands.
///
/// # Errors
/// If it is not such a number; the error suggests how to write one with a comma or a percent sign.
///
/// # Example
/// ```
/// use plausibly_log::table::read_number;
/// assert_eq!(read_number(" 0.21 "), Ok(0.21));
/// assert_eq!(read_number("0,21").unwrap_err().to_string(), "`0,21` is not a number; write 0.21");
/// ```
pub fn read_number(text: &str) -> Result<f64, NumberError> {
    let text = text.trim();
    text.parse().map_err(|_unusable| NumberError { found: brief(text), instead: meanings(text) })
}

fn suggestion(instead: &[String]) -> String {
    if instead.is_empty() {
        "one with a point before the decimals, such as 0.21".into()
    } else {
        instead.join(" or ")
    }
}

fn meanings(text: &str) -> Vec<String> {
    let (digits, percent) = match text.strip_suffix('%') {
        Some(digits) => (digits.trim_end(), true),
        None => (text, false),
    };
    let formats = [NumberFormat::Plain, NumberFormat::Comma, NumberFormat::Grouped];
    let mut all: Vec<String> = Vec::new();
    for number in formats.iter().filter_map(|format| format.parse(digits)) {
        let number = if percent { hundredth(number) } else { number.to_string() };
        if !all.contains(&number) {
            all.push(number);
        }
    }
    all
}

/// A hundredth without the digits that binary fractions add: 7 % is 0.07.
fn hundredth(number: f64) -> String {
    format!("{:.12}", number / 100.0).trim_end_matches('0').trim_end_matches('.').to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_a_comma_is_refused_with_how_to_write_it() {
        for (text, words) in [
            ("0,21", "write 0.21"),
            ("-1.234,5", "write -1234.5"),
            ("1,234.5", "write 1234.5"),
            ("1,234", "write 1.234 or 1234"),
            ("21%", "write 0.21"),
            ("7 %", "write 0.07"),
            ("2,5%", "write 0.025"),
            ("many", "write one with a point before the decimals, such as 0.21"),
            ("", "write one with a point"),
            ("0,2,1", "write one with a point"),
        ] {
            let error = read_number(text).unwrap_err().to_string();
            assert!(error.ends_with(words) || error.contains(words), "{text}: {error}");
        }
        assert_eq!(read_number("1e-3"), Ok(1e-3));
    }
}
