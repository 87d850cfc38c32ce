//! An alarm about counts that scatter more than Poisson counts of the same mean.
//!
//! It bets on counts whose mean varies from one to the next. For each row it needs only how often
//! the row was taken, the sum of its counts and the sum of their squares. Proof in
//! `docs/concepts/yes-no.md`.

use super::Doubt;
use super::reach::ALARM_SHARE;
use crate::exact::Tally;

/// The bets: the mean of a count varies as a gamma variable of this shape, so that the variance of
/// counts of mean μ is `1 + μ/shape` times as large. Powers of four from ¼ to 2²⁰.
const BETS: usize = 12;
/// The largest count.
const LARGEST: f64 = 1024.0;
/// A share of the terms of a sum that covers the rounding of doubles.
const ROUNDING: f64 = 1.0 / (1_u64 << 46) as f64;

/// The doubt that counts scatter as little as assumed, if the counts of the rows contradict that.
pub(crate) fn scatter_doubt<'a>(
    tallies: impl Iterator<Item = &'a Tally>,
    delta: f64,
) -> Option<Doubt> {
    let rows: Vec<Counts> = tallies.map(Counts::of).collect();
    let total = |of: fn(&Counts) -> f64| rows.iter().map(of).sum::<f64>();
    let scatter = total(|row| row.times * row.variance);
    let expected = total(|row| (row.times - 1.0) * row.mean);
    // Where counts do not scatter too much there is no evidence, and this check is cheaper.
    if scatter <= expected {
        return None;
    }
    let nats: [f64; BETS] =
        std::array::from_fn(|bet| rows.iter().map(|row| row.evidence(shape(bet))).sum());
    let most = nats.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let shares: f64 = nats.iter().map(|nats| libm::exp(nats - most) / BETS as f64).sum();
    let alarmed = most + libm::log(shares) >= -libm::log(ALARM_SHARE * delta);
    alarmed.then_some(Doubt::Scatter { times: scatter / expected })
}

fn shape(bet: usize) -> f64 {
    0.25 * (1_u64 << (2 * bet)) as f64
}

/// The counts of one row.
#[derive(Clone, Copy, Debug)]
struct Counts {
    /// n.
    times: f64,
    mean: f64,
    /// `Σ(y − mean)²/n`.
    variance: f64,
}

impl Counts {
    fn of(tally: &Tally) -> Self {
        let times = tally.count() as f64;
        let mean = tally.reward_sum() / times;
        let variance = (tally.reward_squares() / times - mean * mean).max(0.0);
        Self { times, mean, variance }
    }

    /// At most the nats that a bet of this shape has won, whatever the counts and their true mean:
    ///
    /// ```text
    /// Σ log Γ(y+k)/Γ(k) − n·[(k+m)·log(k+m) − k·log k − m]
    /// ```
    fn evidence(&self, shape: f64) -> f64 {
        let Self { times, mean, .. } = *self;
        let (low, high, outliers) = self.two_points();
        let start = libm::lgamma(shape);
        let rise = |count: f64| libm::lgamma(shape + count) - start;
        let won = (times - outliers) * rise(low) + outliers * rise(high);
        let growth = shape * libm::log1p(mean / shape) + mean * libm::log(shape + mean);
        let terms = start.abs() + libm::lgamma(shape + high).abs() + growth.abs() + mean;
        won - times * (growth - mean) - times * ROUNDING * terms
    }

    /// The sample with these sums for which the bet won least: all counts are `low` but `outliers`
    /// of them, which are as high as any count can be.
    fn two_points(&self) -> (f64, f64, f64) {
        let Self { times, mean, variance } = *self;
        // No count is farther from the mean, because those on its other side balance it.
        let above = ((times - 1.0) * variance).sqrt().min(LARGEST - mean);
        if above <= 0.0 {
            return (mean, mean, 0.0);
        }
        let outliers = times * variance / (variance + above * above);
        ((mean - variance / above).max(0.0), mean + above, outliers)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Stream;

    /// `Σ log Γ(y+k)/Γ(k)` of a sample.
    fn won(sample: &[f64], shape: f64) -> f64 {
        sample.iter().map(|y| libm::lgamma(shape + y) - libm::lgamma(shape)).sum()
    }

    fn of_two_points(counts: &Counts, shape: f64) -> f64 {
        let (low, high, outliers) = counts.two_points();
        won(&[low], shape) * (counts.times - outliers) + won(&[high], shape) * outliers
    }

    /// Samples of every kind: steady, scattered, with outliers, mostly zeros.
    fn samples() -> impl Iterator<Item = (Vec<f64>, f64)> {
        let mut rng = Stream::new(91, 0, "samples");
        (0..20_000).map(move |case| {
            let len = 1 + rng.index(30);
            let (mean, kind) = (10.0 * rng.uniform(), case % 4);
            let mut sample: Vec<f64> = (0..len)
                .map(|_| match kind {
                    0 => rng.poisson(mean) as f64,
                    1 => rng.index(1025) as f64,
                    2 => f64::from(u8::from(rng.uniform() < 0.1)) * rng.poisson(mean) as f64,
                    _ => mean.round(),
                })
                .collect();
            if kind == 3 {
                sample[0] += rng.index(200) as f64;
            }
            (sample, shape(rng.index(BETS)))
        })
    }

    #[test]
    fn no_sample_with_the_same_sums_won_less() {
        let (mut reached, mut mutant) = (0, 0);
        for (sample, shape) in samples() {
            let counts = Counts::of(&Tally::of(&sample).unwrap());
            let (bound, truth) = (of_two_points(&counts, shape), won(&sample, shape));
            let rounded = counts.times * ROUNDING * libm::lgamma(shape + LARGEST);
            let slack = 1e-10 * (1.0 + truth.abs()) + rounded;
            assert!(bound <= truth + slack, "{sample:?} {shape}: {bound} > {truth}");
            reached += u64::from(bound > truth - slack);
            // The mutant lets the outliers be zeros.
            let Counts { times, mean, variance } = counts;
            if mean > 0.0 {
                let zeros = times * variance / (variance + mean * mean);
                let mirrored = won(&[mean + variance / mean], shape) * (times - zeros);
                mutant += u64::from(mirrored > truth + slack);
            }
        }
        assert!(reached > 5_000 && mutant > 5_000, "{reached} {mutant}");
    }

    #[test]
    fn no_true_mean_makes_the_evidence_smaller() {
        let mut rng = Stream::new(92, 0, "means");
        let mut mutant = 0;
        for (sample, shape) in samples() {
            let counts = Counts::of(&Tally::of(&sample).unwrap());
            let (n, sum) = (counts.times, counts.times * counts.mean);
            // The logarithm of the ratio of likelihoods, negative binomial to Poisson.
            let ratio = |mu: f64| {
                won(&sample, shape) + n * shape * shape.ln() + n * mu
                    - (n * shape + sum) * (shape + mu).ln()
            };
            let slack = 1e-9 * (1.0 + ratio(counts.mean).abs()) + 1e-9 * n * shape;
            let evidence = counts.evidence(shape);
            for mu in [counts.mean, 20.0 * rng.uniform(), counts.mean + 0.1 * rng.uniform()] {
                assert!(evidence <= ratio(mu) + slack, "{sample:?} {shape} {mu}");
            }
            // The mutant takes the mean for twice what it is.
            mutant += u64::from(ratio(2.0 * counts.mean) > ratio(counts.mean) + slack);
        }
        assert!(mutant > 5_000, "{mutant}");
    }

    #[test]
    fn sums_of_any_size_give_numbers() {
        for (times, sum, squares) in [
            (1, 0, 0),
            (1, 1024, 1024 * 1024),
            (1 << 50, 0, 0),
            (1 << 50, 1 << 60, 1 << 70),
            (1 << 50, 1 << 51, 1 << 60),
            (2, 1024, 1024 * 1024),
        ] {
            let tally = Tally::from_sums(times, sum << 24, squares << 48).unwrap();
            for bet in 0..BETS {
                let evidence = Counts::of(&tally).evidence(shape(bet));
                assert!(evidence.is_finite(), "{times} {sum} {squares}");
            }
            let steady = sum == 0 || squares == sum * sum / i128::from(times);
            assert_eq!(scatter_doubt([tally].iter(), 0.05).is_none(), steady, "{tally:?}");
        }
        assert_eq!(scatter_doubt([].iter(), 0.05), None);
    }
}
