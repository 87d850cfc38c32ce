//! Binomial, by halves: the middle one of `n` uniform numbers has a Beta law, and it shows on which
//! side of the probability about half of the numbers are.

use super::Stream;
use super::gamma::beta;

/// Below this, uniform numbers are drawn one by one: a Beta costs about as much as ten of them.
const FEW: u64 = 16;

/// How many of `trials` uniform numbers are below `probability`.
pub(super) fn sample(stream: &mut Stream, trials: u64, probability: f64) -> u64 {
    let (mut undecided, mut probability, mut below) = (trials, probability, 0);
    while undecided > FEW {
        let rank = undecided / 2 + 1;
        let middle = beta(stream, rank as f64, (undecided + 1 - rank) as f64);
        // The others are uniform on either side of it.
        if middle < probability {
            below += rank;
            undecided -= rank;
            probability = (probability - middle) / (1.0 - middle);
        } else {
            undecided = rank - 1;
            probability /= middle;
        }
    }
    below + (0..undecided).map(|_| u64::from(stream.uniform() < probability)).sum::<u64>()
}

#[cfg(test)]
mod tests {
    use super::*;

    const DRAWS: u32 = 200_000;

    /// The largest distance of mean and mean square from those of a binomial, in standard errors.
    fn deviation(trials: u64, p: f64, mut draw: impl FnMut() -> u64) -> f64 {
        let (mut sum, mut squares) = (0.0, 0.0);
        let (n, mean) = (trials as f64, trials as f64 * p);
        for _ in 0..DRAWS {
            let from_mean = draw() as f64 - mean;
            sum += from_mean;
            squares += from_mean * from_mean;
        }
        let (variance, draws) = (n * p * (1.0 - p), f64::from(DRAWS));
        let fourth = variance * (1.0 + 3.0 * (n - 2.0) * p * (1.0 - p));
        let of_mean = (sum / draws).abs() / (variance / draws).sqrt();
        let of_square =
            (squares / draws - variance).abs() / ((fourth - variance * variance) / draws).sqrt();
        of_mean.max(of_square)
    }

    const LAWS: [(u64, f64); 6] =
        [(10, 0.3), (17, 0.05), (100, 0.5), (1_000, 0.003), (5_000, 0.97), (3_000_000, 0.2)];
    /// Means of many draws are nearly Gaussian: beyond 5.5 standard errors with probability 3.8e-8,
    /// for 12 of them below 1e-6 together.
    const LIMIT: f64 = 5.5;

    #[test]
    fn draws_have_the_mean_and_the_variance_of_a_binomial() {
        let mut stream = Stream::new(8, 0, "test");
        for (trials, p) in LAWS {
            let found = deviation(trials, p, || sample(&mut stream, trials, p));
            assert!(found < LIMIT, "{trials} {p}: {found}");
        }
    }

    #[test]
    fn a_normal_number_in_its_place_is_caught() {
        let mut stream = Stream::new(8, 0, "test");
        let caught = LAWS.iter().any(|&(trials, p)| {
            let n = trials as f64;
            let root = (n * p * (1.0 - p)).sqrt();
            let mut wrong = || (n * p + root * stream.normal() + 0.5).max(0.0);
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "small")]
            let found = deviation(trials, p, || wrong() as u64);
            found > LIMIT
        });
        assert!(caught);
    }

    #[test]
    fn impossible_and_certain_events_and_no_trials_are_exact() {
        let mut stream = Stream::new(8, 0, "test");
        for trials in [0, 1, 16, 17, 1_000_000] {
            assert_eq!(sample(&mut stream, trials, 0.0), 0);
            assert_eq!(sample(&mut stream, trials, 1.0), trials);
        }
    }

    #[test]
    fn small_binomials_have_the_right_probability_at_every_value() {
        // 17 trials take one split. Frequencies of 18 values, each within 5.6 standard errors.
        let (mut stream, trials, p) = (Stream::new(9, 0, "test"), 17_u32, 0.4_f64);
        let mut seen = [0_u32; 18];
        for _ in 0..DRAWS {
            seen[usize::try_from(sample(&mut stream, trials.into(), p)).unwrap()] += 1;
        }
        let mut mass = (1.0 - p).powi(17);
        for (value, count) in (0_u32..).zip(seen) {
            let expected = f64::from(DRAWS) * mass;
            // A count with a mean of at most 1 is 10 or more with probability 1.1e-7 at most.
            let line = 5.6 * (expected * (1.0 - mass)).sqrt() + 9.0;
            assert!((f64::from(count) - expected).abs() < line, "{value}: {count} of {expected}");
            mass *=
                f64::from(trials - value.min(trials - 1)) / f64::from(value + 1) * p / (1.0 - p);
        }
    }

    #[test]
    fn values_are_stable() {
        let mut stream = Stream::new(1, 0, "test");
        let seen = LAWS.map(|(trials, p)| sample(&mut stream, trials, p));
        assert_eq!(seen, GOLDEN);
    }

    const GOLDEN: [u64; 6] = [6, 1, 50, 2, 4850, 601_133];
}
