//! Logarithmic axes.

/// Maps positive values to positions, evenly by their logarithm.
#[derive(Clone, Copy, Debug)]
pub(super) struct LogAxis {
    low: f64,
    high: f64,
    from: f64,
    to: f64,
}

impl LogAxis {
    /// From `low` at `from` to `high` at `to`. Widens degenerate limits, so that a figure of a
    /// single value can be drawn.
    pub(super) fn new(low: f64, high: f64, from: f64, to: f64) -> Self {
        let low = if low.is_finite() && low > 0.0 { low } else { 1.0 };
        let high = if high.is_finite() && high > 1.01 * low { high } else { 10.0 * low };
        Self { low: libm::log10(low), high: libm::log10(high), from, to }
    }

    /// The position of a value; values beyond the axis are placed at its ends.
    pub(super) fn at(&self, value: f64) -> f64 {
        let share = (libm::log10(value.max(1e-300)) - self.low) / (self.high - self.low);
        self.from + (self.to - self.from) * share.clamp(0.0, 1.0)
    }

    /// Powers of ten; also their doubles and fives if there would be fewer than three.
    pub(super) fn ticks(&self) -> Vec<(f64, f64)> {
        let of = |digits: &[f64]| -> Vec<(f64, f64)> {
            let powers = -12..16_i32;
            let values =
                powers.flat_map(|power| digits.iter().map(move |digit| decimal(*digit, power)));
            let inside = |value: &f64| {
                let log = libm::log10(*value);
                log > self.low - 1e-9 && log < self.high + 1e-9
            };
            values.filter(inside).map(|value| (value, self.at(value))).collect()
        };
        let decades = of(&[1.0]);
        if decades.len() < 3 { of(&[1.0, 2.0, 5.0]) } else { decades }
    }
}

/// `digit·10^power`, exact where the division or product is.
fn decimal(digit: f64, power: i32) -> f64 {
    if power < 0 { digit / 10.0_f64.powi(-power) } else { digit * 10.0_f64.powi(power) }
}

#[cfg(test)]
mod tests {
    use super::LogAxis;

    #[test]
    fn ticks_are_within_and_enough() {
        let values = |low, high| -> Vec<f64> {
            LogAxis::new(low, high, 0.0, 100.0)
                .ticks()
                .into_iter()
                .map(|(value, _)| value)
                .collect()
        };
        assert_eq!(values(10.0, 10_000.0), [10.0, 100.0, 1000.0, 10_000.0]);
        assert_eq!(values(0.4, 30.0), [0.5, 1.0, 2.0, 5.0, 10.0, 20.0]);
        let axis = LogAxis::new(1.0, 100.0, 0.0, 100.0);
        assert!((axis.at(10.0) - 50.0).abs() < 1e-12);
        assert!((axis.at(0.0) - 0.0).abs() < 1e-12 && (axis.at(1e9) - 100.0).abs() < 1e-12);
        assert!(!values(f64::NAN, 0.0).is_empty());
    }
}
