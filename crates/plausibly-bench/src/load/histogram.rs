//! Latencies in classes that are at most a 128th of their value wide.

use std::time::Duration;

/// A power of two has this many bits of classes.
const BITS: u32 = 7;
const EACH: u64 = 1 << BITS;

/// Counts of latencies. It takes the same memory however many are recorded.
#[derive(Clone, Debug, Default)]
pub struct Histogram {
    counts: Vec<u64>,
    count: u64,
    longest: Duration,
}

impl Histogram {
    /// Adds one latency.
    pub fn record(&mut self, latency: Duration) {
        let class = class(nanoseconds(latency));
        if class >= self.counts.len() {
            self.counts.resize(class + 1, 0);
        }
        self.counts[class] += 1;
        self.count += 1;
        self.longest = self.longest.max(latency);
    }

    /// The number of latencies.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The longest latency.
    pub fn longest(&self) -> Duration {
        self.longest
    }

    /// The upper end of the class that contains this quantile, so never too short; zero if nothing
    /// is recorded.
    pub fn quantile(&self, share: f64) -> Duration {
        #[expect(clippy::cast_possible_truncation, reason = "at most the count")]
        #[expect(clippy::cast_sign_loss, reason = "shares are not negative")]
        let rank = ((share * self.count as f64).ceil() as u64).clamp(1, self.count.max(1));
        let mut below = 0;
        for (class, count) in self.counts.iter().enumerate() {
            below += count;
            if below >= rank {
                return Duration::from_nanos(upper_end(class as u64)).min(self.longest);
            }
        }
        Duration::ZERO
    }

    /// Removes all latencies, and keeps the memory.
    pub fn clear(&mut self) {
        self.counts.clear();
        self.count = 0;
        self.longest = Duration::ZERO;
    }

    /// Adds all latencies of another histogram.
    pub fn merge(&mut self, other: &Self) {
        if other.counts.len() > self.counts.len() {
            self.counts.resize(other.counts.len(), 0);
        }
        for (count, more) in self.counts.iter_mut().zip(&other.counts) {
            *count += more;
        }
        self.count += other.count;
        self.longest = self.longest.max(other.longest);
    }
}

fn nanoseconds(latency: Duration) -> u64 {
    u64::try_from(latency.as_nanos()).unwrap_or(u64::MAX)
}

/// Values below 2⁸ have classes of their own; above, the highest eight bits name the class.
fn class(value: u64) -> usize {
    let shift = (u64::BITS - value.leading_zeros()).saturating_sub(BITS + 1);
    let class = u64::from(shift) * EACH + (value >> shift);
    usize::try_from(class).unwrap_or(usize::MAX)
}

/// The largest value of a class.
fn upper_end(class: u64) -> u64 {
    let shift = (class / EACH).saturating_sub(1);
    let high = class - shift * EACH;
    // The highest class ends at the largest number.
    (high << shift) | ((1 << shift) - 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use plausibly::Stream;

    #[test]
    fn quantiles_are_those_of_the_sorted_latencies_within_a_128th() {
        let mut rng = Stream::new(1, 0, "latencies");
        for size in [1, 2, 99, 100, 101, 5_000_usize] {
            let mut histogram = Histogram::default();
            let mut sorted: Vec<u64> = (0..size)
                // Of all sizes, up to a quarter of an hour.
                .map(|_| rng.bits() >> (24 + rng.index(40)))
                .collect();
            for &latency in &sorted {
                histogram.record(Duration::from_nanos(latency));
            }
            sorted.sort_unstable();
            for (share, rank) in [(0.0, 1), (0.5, size.div_ceil(2)), (1.0, size)] {
                between(&histogram, share, sorted[rank - 1]);
            }
            between(&histogram, 0.99, sorted[(99 * size).div_ceil(100) - 1]);
            assert_eq!(nanoseconds(histogram.longest()), sorted[size - 1]);
            assert_eq!(histogram.count(), size as u64);
        }
    }

    fn between(histogram: &Histogram, share: f64, exact: u64) {
        let found = nanoseconds(histogram.quantile(share));
        assert!((exact..=exact + exact / EACH).contains(&found), "{share}: {found} for {exact}");
    }

    #[test]
    fn classes_follow_each_other_without_gaps() {
        for class_number in 0..usize::try_from(56 * EACH).unwrap() {
            let end = upper_end(class_number as u64);
            assert_eq!(class(end), class_number);
            assert_eq!(class(end + 1), class_number + 1);
        }
        assert_eq!(upper_end(class(u64::MAX) as u64), u64::MAX);
    }

    #[test]
    fn a_merged_histogram_is_that_of_all_latencies() {
        let (mut all, mut some, mut others) =
            (Histogram::default(), Histogram::default(), Histogram::default());
        for latency in (0..2_000).map(Duration::from_micros) {
            all.record(latency);
            if latency.as_micros() < 500 { &mut some } else { &mut others }.record(latency);
        }
        some.merge(&others);
        assert_eq!((some.counts, some.count, some.longest), (all.counts, all.count, all.longest));
        others.clear();
        assert_eq!(others.quantile(0.5), Duration::ZERO);
    }
}
