//! Poisson, by its quantiles: the probabilities of 0, 1, 2, … are added up until they pass a share.

/// The largest mean. Up to it the probability of 0 is above 1e-218, and all counts are below 1024.
const LARGEST_MEAN: f64 = 500.0;

/// The count of a Poisson law that a uniform share of `[0, 1)` stands for: the least one whose
/// probability together with that of all smaller counts is above the share.
///
/// One share gives a count for every mean, and a larger count for a larger mean: luck that is drawn
/// before it is known for what.
///
/// The sum is exact up to a share of about 1e-13. Within that distance of 1 it stops growing, and
/// the count at which it stops stands for all shares that are left. No draws; the cost is O(mean).
///
/// # Panics
/// If the share is not in `[0, 1)`, or the mean not from 0 to 500.
///
/// # Example
/// ```
/// use plausibly::poisson_quantile;
/// // P(0) = 0.607 and P(0 or 1) = 0.910 at a mean of one half.
/// assert_eq!([0.6, 0.7, 0.95].map(|share| poisson_quantile(share, 0.5)), [0, 1, 2]);
/// ```
pub fn poisson_quantile(share: f64, mean: f64) -> u64 {
    assert!((0.0..1.0).contains(&share), "a share must be in [0, 1), got {share}");
    let sound = (0.0..=LARGEST_MEAN).contains(&mean);
    assert!(sound, "the mean of a count must be from 0 to {LARGEST_MEAN}, got {mean}");
    let mut probability = libm::exp(-mean);
    let (mut count, mut sum) = (0, probability);
    while share >= sum {
        count += 1;
        probability *= mean / count as f64;
        let more = sum + probability;
        if more <= sum {
            break;
        }
        sum = more;
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Stream;

    const MEANS: [f64; 8] = [1e-6, 0.2, 0.7, 1.0, 5.0, 37.5, 180.0, 500.0];
    /// The largest share below 1.
    const LAST: f64 = 1.0 - 1.0 / (1_u64 << 53) as f64;

    /// `P(count)`, by logarithms.
    fn probability(count: u64, mean: f64) -> f64 {
        let n = count as f64;
        libm::exp(n * libm::log(mean) - mean - libm::lgamma(n + 1.0))
    }

    /// How far a share is from the shares that stand for this count: at most zero within them. The
    /// sum of probabilities is taken from the far end, on the side on which it is small.
    fn outside(share: f64, mean: f64, count: u64) -> f64 {
        let below = |count: u64| (0..count).map(|n| probability(n, mean)).sum::<f64>();
        let above = |count: u64| (count + 1..1200).rev().map(|n| probability(n, mean)).sum::<f64>();
        if share < 0.5 {
            (below(count) - share).max(share - below(count + 1))
        } else {
            (1.0 - share - above(count) - probability(count, mean)).max(above(count) - 1.0 + share)
        }
    }

    /// Logarithms of factorials are off by 1e-15 of themselves, which is below 3000.
    const LINE: f64 = 1e-11;

    #[test]
    fn every_share_stands_for_its_count() {
        let mut stream = Stream::new(5, 0, "test");
        for mean in MEANS {
            for share in (0..300).map(|_| stream.uniform()).chain([0.0, 1e-9, 1.0 - 1e-9, LAST]) {
                let found = outside(share, mean, poisson_quantile(share, mean));
                assert!(found < LINE, "{share} of {mean}: {found}");
            }
        }
        // One more, one less, or the next law would be noticed.
        let (share, mean) = (0.5, 5.0);
        let count = poisson_quantile(share, mean);
        for (count, mean) in [(count + 1, mean), (count - 1, mean), (count, 1.2 * mean)] {
            assert!(outside(share, mean, count) > 0.01);
        }
    }

    #[test]
    fn a_larger_share_or_mean_has_no_smaller_count() {
        let mut stream = Stream::new(6, 0, "test");
        for _ in 0..2_000 {
            let [a, b] = [(); 2].map(|()| stream.uniform());
            let [c, d] = [(); 2].map(|()| 500.0 * stream.uniform());
            let least = poisson_quantile(a.min(b), c.min(d));
            assert!(least <= poisson_quantile(a.max(b), c.min(d)), "{a} {b} {c} {d}");
            assert!(least <= poisson_quantile(a.min(b), c.max(d)), "{a} {b} {c} {d}");
        }
    }

    #[test]
    fn the_ends_are_counts_too() {
        assert_eq!(poisson_quantile(LAST, 0.0), 0);
        assert_eq!(poisson_quantile(0.0, 500.0), 0);
        assert!(MEANS.map(|mean| poisson_quantile(LAST, mean)).is_sorted());
        assert!(poisson_quantile(LAST, 500.0) < 1024);
    }

    const DRAWS: u32 = 200_000;

    /// The largest distance of mean and mean square from those of the law, in standard errors.
    fn deviation(mean: f64, mut draw: impl FnMut() -> f64) -> f64 {
        let (mut sum, mut squares) = (0.0, 0.0);
        for _ in 0..DRAWS {
            let from_mean = draw() - mean;
            sum += from_mean;
            squares += from_mean * from_mean;
        }
        // The variance is the mean, and the fourth moment about it `mean·(1 + 3·mean)`.
        let draws = f64::from(DRAWS);
        let of_mean = (sum / draws).abs() / (mean / draws).sqrt();
        let of_square =
            (squares / draws - mean).abs() / ((mean + 2.0 * mean * mean) / draws).sqrt();
        of_mean.max(of_square)
    }

    #[test]
    fn draws_have_the_mean_and_the_variance_of_their_law() {
        // Means of many draws are nearly Gaussian: beyond 5.5 standard errors with probability
        // 3.8e-8, for 12 of them below 1e-6 together.
        let (limit, mut stream) = (5.5, Stream::new(7, 0, "test"));
        let means = [0.2, 0.7, 1.0, 5.0, 37.5, 180.0];
        for mean in means {
            let found = deviation(mean, || stream.poisson(mean) as f64);
            assert!(found < limit, "{mean}: {found}");
        }
        // A normal number in its place is caught.
        let mut wrong = |mean: f64| (mean + mean.sqrt() * stream.normal() + 0.5).floor().max(0.0);
        assert!(means.iter().any(|mean| deviation(*mean, || wrong(*mean)) > limit));
    }

    #[test]
    fn values_are_stable_and_take_one_draw() {
        let (mut stream, mut shares) = (Stream::new(1, 0, "test"), Stream::new(1, 0, "test"));
        let means = [0.7, 5.0, 180.0, 500.0, 0.7, 5.0, 180.0, 500.0, 0.7, 5.0, 180.0, 500.0];
        let seen = means.map(|mean| stream.poisson(mean));
        assert_eq!(seen, means.map(|mean| poisson_quantile(shares.uniform(), mean)));
        assert_eq!(stream.position(), shares.position());
        assert_eq!(seen, GOLDEN);
    }

    const GOLDEN: [u64; 12] = [0, 2, 170, 491, 1, 3, 176, 488, 0, 3, 174, 484];
}
