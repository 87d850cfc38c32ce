//! Linear axes.

use crate::number;

/// Maps values to positions, evenly.
#[derive(Clone, Copy, Debug)]
pub(super) struct LinearAxis {
    low: f64,
    high: f64,
    from: f64,
    to: f64,
}

impl LinearAxis {
    /// From `low` at `from` to `high` at `to`. Widens degenerate limits.
    pub(super) fn new(low: f64, high: f64, from: f64, to: f64) -> Self {
        let low = if low.is_finite() { low } else { 0.0 };
        let least = 1e-9 * low.abs().max(1e-3);
        let high =
            if high.is_finite() && high - low > least { high } else { low + low.abs().max(1.0) };
        Self { low, high, from, to }
    }

    /// The position of a value; values beyond the axis are placed at its ends.
    pub(super) fn at(&self, value: f64) -> f64 {
        let share = (value - self.low) / (self.high - self.low);
        self.from + (self.to - self.from) * share.clamp(0.0, 1.0)
    }

    /// Whether a value lies on the axis.
    pub(super) fn has(&self, value: f64) -> bool {
        let slack = 1e-9 * (self.high - self.low);
        (self.low - slack..=self.high + slack).contains(&value)
    }

    /// Round values with labels and positions: about `about` of them, at least `least` apart.
    pub(super) fn ticks(&self, about: f64, least: f64) -> Vec<(String, f64)> {
        let raw = ((self.high - self.low) / about).max(least);
        let exponent = libm::log10(raw).floor();
        let power = libm::pow(10.0, exponent);
        let step = [1.0, 2.0, 5.0]
            .map(|digit| digit * power)
            .into_iter()
            .find(|step| *step >= 0.999 * raw);
        let step = step.unwrap_or(10.0 * power);
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "from 0 to 12")]
        let decimals = (-libm::log10(step).floor()).clamp(0.0, 12.0) as usize;
        let first = (self.low / step - 1e-9).ceil();
        let values = (0..60_u32).map(|index| (first + f64::from(index)) * step);
        values
            .take_while(|value| self.has(*value))
            .map(|value| (label(value, decimals), self.at(value)))
            .collect()
    }
}

fn label(value: f64, decimals: usize) -> String {
    if decimals == 0 {
        number::grouped(value.round() + 0.0)
    } else {
        number::minus(&format!("{:.decimals$}", value + 0.0))
    }
}

#[cfg(test)]
mod tests {
    use super::LinearAxis;

    #[test]
    fn ticks_are_round_and_within() {
        let labels = |low, high, about, least| -> Vec<String> {
            LinearAxis::new(low, high, 0.0, 100.0)
                .ticks(about, least)
                .into_iter()
                .map(|(label, _)| label)
                .collect()
        };
        assert_eq!(labels(0.0, 1.0, 5.0, 0.0), ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]);
        assert_eq!(labels(-1.3, 1.1, 5.0, 0.0), ["−1.0", "−0.5", "0.0", "0.5", "1.0"]);
        assert_eq!(labels(1.0, 3.0, 10.0, 1.0), ["1", "2", "3"]);
        assert_eq!(labels(0.0, 20_000.0, 2.0, 1.0), ["0", "10,000", "20,000"]);
        assert!(
            !labels(5.0, 5.0, 4.0, 0.0).is_empty() && labels(f64::NAN, 0.0, 4.0, 0.0).len() < 20
        );
    }
}
