//! Decides what counts as a number. The rules refuse ambiguous numbers instead of guessing.

use serde::{Deserialize, Serialize};

/// A way to write numbers, which applies to a whole column.
///
/// | format | examples | not |
/// | --- | --- | --- |
/// | `Plain` | `1234.5`, `-7`, `1e3`, `.5` | `007`, `1,234`, `inf` |
/// | `Grouped` | `1,234.5`, `12`, `-1,000,000` | `1,23`, `1e3` |
/// | `Comma` | `1,5`, `12`, `1.234,5` | `1.5`, `1.234` |
///
/// A leading zero before another digit marks a code (a postcode, an article number), not a
/// quantity. A column with only cells like `1,234` could have either of the last two formats, and
/// is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NumberFormat {
    /// A point before the decimals, no separators between thousands.
    Plain,
    /// A point before the decimals, commas between thousands.
    Grouped,
    /// A comma before the decimals; points between thousands only where there is such a comma.
    Comma,
}

impl NumberFormat {
    /// Parses a cell in this format; never returns `-0.0` or an infinite number.
    pub fn parse(self, cell: &str) -> Option<f64> {
        let (sign, rest) = match cell.as_bytes().first()? {
            b'-' => (-1.0, &cell[1..]),
            b'+' => (1.0, &cell[1..]),
            _ => (1.0, cell),
        };
        let magnitude = match self {
            Self::Plain => plain(rest, true),
            Self::Grouped => {
                let (whole, decimals) =
                    rest.split_once('.').map_or((rest, None), |(w, d)| (w, Some(d)));
                plain(&joined(&without_groups(whole, ',')?, decimals), false)
            }
            Self::Comma => match rest.split_once(',') {
                None => digits(rest).then(|| plain(rest, false)).flatten(),
                Some((whole, decimals)) => {
                    plain(&joined(&without_groups(whole, '.')?, Some(decimals)), false)
                }
            },
        }?;
        // Adding zero turns −0 into 0, so that the smallest value does not depend on the order of
        // rows.
        Some(sign * magnitude + 0.0)
    }

    /// An example for messages.
    pub(crate) fn example(self) -> &'static str {
        match self {
            Self::Plain => "1234.5",
            Self::Grouped => "1,234.5",
            Self::Comma => "1234,5 or 1.234,5",
        }
    }
}

fn digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

fn joined(whole: &str, decimals: Option<&str>) -> String {
    decimals.map_or_else(|| whole.to_string(), |decimals| format!("{whole}.{decimals}"))
}

/// Removes separators between groups of three digits, after a first group of one to three.
fn without_groups(whole: &str, separator: char) -> Option<String> {
    let mut groups = whole.split(separator);
    let first = groups.next()?;
    let grouped = whole.len() > first.len();
    let sound = digits(first) && (!grouped || first.len() <= 3 && !first.starts_with('0'));
    (sound && groups.all(|group| group.len() == 3 && digits(group)))
        .then(|| whole.replace(separator, ""))
}

/// Parses `12`, `12.5`, `.5` or `12.`, with an exponent if one is allowed.
fn plain(text: &str, exponent: bool) -> Option<f64> {
    let (mantissa, power) = match text.find(['e', 'E']) {
        Some(at) if exponent => (&text[..at], Some(&text[at + 1..])),
        _ => (text, None),
    };
    let power_is_sound =
        power.is_none_or(|power| digits(power.strip_prefix(['+', '-']).unwrap_or(power)));
    let (whole, decimals) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let a_code = whole.len() > 1 && whole.starts_with('0');
    let sound = digits(&format!("{whole}{decimals}")) && !a_code && power_is_sound;
    let number = if sound { text.parse::<f64>().ok() } else { None };
    number.filter(|number| number.is_finite())
}

/// The kind of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnKind {
    /// No cell has a value.
    Blank,
    /// Every value is a number in this format.
    Numbers(NumberFormat),
    /// Every value is a number both with commas between thousands and with a comma before decimals.
    Ambiguous,
    /// Anything else.
    Text,
}

/// The kind of a column with these values.
pub(super) fn kind<'a>(values: impl Iterator<Item = &'a str>) -> ColumnKind {
    let formats = [NumberFormat::Plain, NumberFormat::Grouped, NumberFormat::Comma];
    let mut possible = [true; 3];
    let mut any = false;
    for value in values {
        any = true;
        for (possible, format) in possible.iter_mut().zip(formats) {
            *possible = *possible && format.parse(value).is_some();
        }
        if possible == [false; 3] {
            return ColumnKind::Text;
        }
    }
    match possible {
        _ if !any => ColumnKind::Blank,
        [true, _, _] => ColumnKind::Numbers(NumberFormat::Plain),
        [_, true, true] => ColumnKind::Ambiguous,
        [_, true, _] => ColumnKind::Numbers(NumberFormat::Grouped),
        _ => ColumnKind::Numbers(NumberFormat::Comma),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use NumberFormat::{Comma, Grouped, Plain};

    #[test]
    fn each_format_reads_its_own_and_refuses_what_is_not() {
        for (format, cell, value) in [
            (Plain, "1234.5", 1234.5),
            (Plain, "-7", -7.0),
            (Plain, "+.5", 0.5),
            (Plain, "1e3", 1000.0),
            (Plain, "2.5E-1", 0.25),
            (Plain, "0", 0.0),
            (Grouped, "1,234.5", 1234.5),
            (Grouped, "-1,000,000", -1_000_000.0),
            (Grouped, "12", 12.0),
            (Comma, "1,5", 1.5),
            (Comma, "1.234,5", 1234.5),
            (Comma, "-12", -12.0),
            (Comma, "1234,5", 1234.5),
        ] {
            assert_eq!(format.parse(cell), Some(value), "{format:?} {cell}");
        }
        for (format, cells) in [
            (
                Plain,
                [
                    "007", "1,234", "inf", "nan", "1e999", "", "-", ".", "e3", "1e", "--1",
                    "1.2.3", "0x10", "١",
                ],
            ),
            (
                Grouped,
                [
                    "1,23",
                    "1e3",
                    "1,2345",
                    ",123",
                    "0,123",
                    "1,,000",
                    "",
                    "-",
                    "1,234.5.6",
                    "01",
                    "+",
                    ".",
                    "a",
                    "1234,567",
                ],
            ),
            (
                Comma,
                [
                    "1.5",
                    "1.234",
                    "1e3",
                    "1,2,3",
                    "12.34,5",
                    "",
                    "-",
                    ",",
                    "0.123,4",
                    "01",
                    "1.234.567",
                    "a",
                    "1,a",
                    "+",
                ],
            ),
        ] {
            for cell in cells {
                assert_eq!(format.parse(cell), None, "{format:?} {cell}");
            }
        }
    }

    #[test]
    fn minus_zero_is_zero() {
        assert!(Plain.parse("-0").unwrap().is_sign_positive());
    }

    #[test]
    fn a_column_has_one_format_or_none() {
        let of = |cells: &[&'static str]| kind(cells.iter().copied());
        assert_eq!(of(&[]), ColumnKind::Blank);
        assert_eq!(of(&["1", "2.5"]), ColumnKind::Numbers(Plain));
        assert_eq!(of(&["1,234", "12"]), ColumnKind::Ambiguous);
        assert_eq!(of(&["1,234", "12.5"]), ColumnKind::Numbers(Grouped));
        assert_eq!(of(&["1,234", "1,5"]), ColumnKind::Numbers(Comma));
        assert_eq!(of(&["1.5", "1,5"]), ColumnKind::Text);
        assert_eq!(of(&["1,5", "1.234"]), ColumnKind::Text);
        assert_eq!(of(&["1", "red"]), ColumnKind::Text);
    }
}
