//! Formats numbers for readers.

/// A figure with its confidence interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// The figure.
    pub value: f64,
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

/// A whole number with commas between thousands.
pub fn grouped(value: f64) -> String {
    let digits = format!("{:.0}", value.abs());
    let mut text = String::from(if value < 0.0 { "−" } else { "" });
    for (position, digit) in digits.chars().enumerate() {
        if position > 0 && (digits.len() - position).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// About three or four significant digits.
pub fn figure(value: f64) -> String {
    let sign = if value < 0.0 { "−" } else { "" };
    let size = value.abs();
    match size {
        _ if value.is_nan() => "–".into(),
        _ if size.is_infinite() => format!("{sign}∞"),
        _ if size >= 1000.0 => grouped(value),
        _ if size >= 100.0 => format!("{sign}{size:.0}"),
        _ if size >= 10.0 => format!("{sign}{size:.1}"),
        _ if size >= 0.1 || size == 0.0 => format!("{sign}{size:.2}"),
        _ if size >= 0.001 => format!("{sign}{size:.4}"),
        _ => format!("{value:.1e}").replace('-', "−"),
    }
}

/// A ratio and its interval. An end close to 1 gets more digits, so that rounding does not hide on
/// which side it lies.
pub fn interval(estimate: &Estimate) -> (String, String) {
    let near_one = |end: f64| (end - 1.0).abs() < 0.005;
    let end = |end: f64| if near_one(end) { format!("{end:.4}") } else { figure(end) };
    (figure(estimate.value), format!("[{}, {}]", end(estimate.low), end(estimate.high)))
}

/// A share in percent, with enough decimals to be visible.
pub fn percent(events: u64, of: u64) -> String {
    let share = 100.0 * events as f64 / of as f64;
    match share {
        _ if events == 0 || share >= 10.0 => format!("{share:.0} %"),
        _ if share >= 1.0 => format!("{share:.1} %"),
        _ if share >= 0.01 => format!("{share:.2} %"),
        _ => "below 0.01 %".into(),
    }
}

/// Replaces the hyphen of a negative number by a minus sign.
pub(crate) fn minus(text: &str) -> String {
    text.replace('-', "−")
}

/// The word for this many.
pub(crate) fn plural<'a>(count: u64, one: &'a str, many: &'a str) -> &'a str {
    if count == 1 { one } else { many }
}

/// A number of things.
pub fn counted(count: u64, one: &str, many: &str) -> String {
    format!("{} {}", grouped(count as f64), plural(count, one, many))
}

/// An age in words.
pub(crate) fn age(seconds: f64) -> String {
    let whole = |unit: f64, name: &str| {
        let count = (seconds / unit).floor();
        format!("{} {name}{}", grouped(count), if count < 2.0 { "" } else { "s" })
    };
    match seconds {
        _ if seconds < 60.0 => "less than a minute".into(),
        _ if seconds < 3600.0 => whole(60.0, "minute"),
        _ if seconds < 2.0 * 86_400.0 => whole(3600.0, "hour"),
        _ => whole(86_400.0, "day"),
    }
}

/// A chosen constant, with all its digits.
pub fn constant(value: f64) -> String {
    if value >= 1e-4 { format!("{value}") } else { format!("{value:e}").replace('-', "−") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_read_well() {
        for (value, text) in [
            (12_345.6, "12,346"),
            (-1000.0, "−1,000"),
            (999.6, "1000"),
            (246.71, "247"),
            (46.03, "46.0"),
            (1.2537, "1.25"),
            (0.0, "0.00"),
            (0.02, "0.0200"),
            (1.2e-5, "1.2e−5"),
            (f64::INFINITY, "∞"),
        ] {
            assert_eq!(figure(value), text);
        }
        assert_eq!(grouped(1_234_567.0), "1,234,567");
        assert_eq!((constant(0.05), constant(1e-12)), ("0.05".into(), "1e−12".into()));
        assert_eq!((percent(1, 20_000), percent(1, 200)), ("below 0.01 %".into(), "0.50 %".into()));
        assert_eq!(
            (percent(0, 200), percent(3, 200), percent(126, 200)),
            ("0 %".into(), "1.5 %".into(), "63 %".into())
        );
    }
    #[test]
    fn ages_are_words() {
        for (seconds, text) in [
            (-3.0, "less than a minute"),
            (60.0, "1 minute"),
            (3599.0, "59 minutes"),
            (3600.0, "1 hour"),
            (47.5 * 3600.0, "47 hours"),
            (86_400.0 * 1234.5, "1,234 days"),
        ] {
            assert_eq!(age(seconds), text);
        }
    }
}
