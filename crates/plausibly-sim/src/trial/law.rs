//! Outcomes of two values.

use plausibly::Stream;

/// Outcomes of two values in [0, 1].
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Law {
    low: f64,
    high: f64,
    /// The probability of the higher one.
    rate: f64,
}

/// Number, sum and sum of squares of outcomes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Batch {
    pub(super) count: u64,
    pub(super) total: f64,
    pub(super) squares: f64,
}

impl Law {
    /// With this mean and standard deviation, which [0, 1] has room for; without one, the ends of
    /// the range. Both values are equally far from the mean if the range has room for that, and
    /// else one of them is an end of the range.
    pub(super) fn new(mean: f64, scatter: Option<f64>) -> Self {
        let mean = mean.clamp(0.0, 1.0);
        let Some(scatter) = scatter else { return Self { low: 0.0, high: 1.0, rate: mean } };
        let (low, high) = (mean - scatter, mean + scatter);
        let variance = scatter * scatter;
        if low < 0.0 {
            let high = (mean + variance / mean).min(1.0);
            Self { low: 0.0, high, rate: (mean / high).min(1.0) }
        } else if high > 1.0 {
            let low = (mean - variance / (1.0 - mean)).max(0.0);
            Self { low, high: 1.0, rate: (mean - low) / (1.0 - low) }
        } else {
            Self { low, high, rate: 0.5 }
        }
    }

    /// The sums of this many outcomes.
    pub(super) fn draw(&self, count: u64, rng: &mut Stream) -> Batch {
        let Self { low, high, rate } = *self;
        let many = rng.binomial(count, rate);
        let (above, below) = (many as f64, (count - many) as f64);
        let total = above * high + below * low;
        Batch { count, total, squares: above * high * high + below * low * low }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_law_has_its_mean_and_scatter_and_keeps_to_the_range() {
        for mean in [0.001, 0.05, 0.3, 0.5, 0.81, 0.999] {
            let most = f64::sqrt(mean * (1.0 - mean));
            for scatter in [None, Some(0.01 * most), Some(0.4 * most), Some(most)] {
                let Law { low, high, rate } = Law::new(mean, scatter);
                assert!(0.0 <= low && low < high && high <= 1.0, "{mean} {scatter:?}");
                let found = rate * high + (1.0 - rate) * low;
                let spread = (high - low) * (rate * (1.0 - rate)).sqrt();
                // A few roundings of numbers below one, divided by at least a thousandth.
                assert!((found - mean).abs() < 1e-12, "{mean} {scatter:?}: {found}");
                assert!((spread - scatter.unwrap_or(most)).abs() < 1e-12, "{mean} {scatter:?}");
            }
        }
    }

    #[test]
    fn sums_are_those_of_outcomes_drawn_one_by_one() {
        let law = Law::new(0.8, Some(0.3));
        let mut rng = Stream::new(1, 0, "test");
        let Batch { count, total, squares } = law.draw(1000, &mut rng);
        // Two values with the count and the sum have one sum of squares.
        let above = (total - 1000.0 * law.low) / (law.high - law.low);
        assert!((above - above.round()).abs() < 1e-9 && count == 1000);
        let expected = above * law.high.powi(2) + (1000.0 - above) * law.low.powi(2);
        assert!((squares - expected).abs() < 1e-9);
        // Binomial(1000, rate) is within six standard deviations but for 2e-9.
        let spread = 6.0 * (1000.0 * law.rate * (1.0 - law.rate)).sqrt();
        assert!((above - 1000.0 * law.rate).abs() < spread);
    }
}
