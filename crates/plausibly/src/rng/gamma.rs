//! Gamma and Beta, by Marsaglia and Tsang's squeeze (2000): a cube of a shifted normal, accepted
//! with a probability above 0.95.

use super::Stream;

/// Beta(`a`, `b`) as the share of one gamma in the sum of two. Both shapes are at least 1.
pub(super) fn beta(stream: &mut Stream, a: f64, b: f64) -> f64 {
    let (first, second) = (gamma(stream, a), gamma(stream, b));
    first / (first + second)
}

/// Gamma of scale 1 and a shape of at least 1.
fn gamma(stream: &mut Stream, shape: f64) -> f64 {
    let d = shape - 1.0 / 3.0;
    let c = 1.0 / (9.0 * d).sqrt();
    loop {
        let x = stream.normal();
        let root = 1.0 + c * x;
        if root <= 0.0 {
            continue;
        }
        let v = root * root * root;
        // 1 − uniform is in (0, 1]: its logarithm is finite.
        let u = 1.0 - stream.uniform();
        if libm::log(u) < 0.5 * x * x + d * (1.0 - v + libm::log(v)) {
            return d * v;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DRAWS: u32 = 1_000_000;

    /// How far the mean and the mean square of draws are from these moments, in their own standard
    /// errors, which the third and fourth moments give.
    fn deviations(moments: [f64; 4], mut draw: impl FnMut() -> f64) -> [f64; 2] {
        let (mut sum, mut squares) = (0.0, 0.0);
        for _ in 0..DRAWS {
            let x = draw();
            sum += x;
            squares += x * x;
        }
        let n = f64::from(DRAWS);
        let [first, second, _, fourth] = moments;
        let error = |variance: f64| (variance / n).sqrt();
        [
            (sum / n - first).abs() / error(second - first * first),
            (squares / n - second).abs() / error(fourth - second * second),
        ]
    }

    /// `E xᵏ = Π (a + i)/(a + b + i)`.
    fn beta_moments(a: f64, b: f64) -> [f64; 4] {
        let mut moment = 1.0;
        [0.0, 1.0, 2.0, 3.0].map(|i| {
            moment *= (a + i) / (a + b + i);
            moment
        })
    }

    // Means of a million draws are nearly Gaussian: beyond 5.6 standard errors with probability
    // 2.1e-8, for 14 of them below 1e-6 together.
    const LIMIT: f64 = 5.6;

    #[test]
    fn draws_have_the_moments_of_beta_and_gamma() {
        let mut stream = Stream::new(8, 0, "test");
        for (a, b) in [(1.0, 1.0), (1.0, 30.5), (2.5, 1.0), (40.0, 900.0), (1e5, 3e5)] {
            let found = deviations(beta_moments(a, b), || beta(&mut stream, a, b));
            assert!(found.iter().all(|deviation| *deviation < LIMIT), "{a} {b}: {found:?}");
        }
        for shape in [1.0_f64, 7.5] {
            let mut moment = 1.0;
            let moments = [0.0, 1.0, 2.0, 3.0].map(|i| {
                moment *= shape + i;
                moment
            });
            let found = deviations(moments, || gamma(&mut stream, shape));
            assert!(found.iter().all(|deviation| *deviation < LIMIT), "{shape}: {found:?}");
        }
    }

    #[test]
    fn a_sampler_that_never_rejects_is_caught() {
        let mut stream = Stream::new(8, 0, "test");
        let mut wrong = |shape: f64| {
            let d = shape - 1.0 / 3.0;
            let root = (1.0 + stream.normal() / (9.0 * d).sqrt()).max(1e-9);
            d * root * root * root
        };
        let found = deviations(beta_moments(1.0, 1.0), || {
            let (first, second) = (wrong(1.0), wrong(1.0));
            first / (first + second)
        });
        assert!(found.iter().any(|deviation| *deviation > LIMIT), "{found:?}");
    }

    #[test]
    fn values_are_stable() {
        let mut stream = Stream::new(1, 0, "test");
        let seen: Vec<u64> = [(1.0, 1.0), (3.0, 1.5), (100.0, 7.0)]
            .map(|(a, b)| beta(&mut stream, a, b).to_bits())
            .into();
        assert_eq!(seen, GOLDEN);
    }

    const GOLDEN: [u64; 3] =
        [4_602_008_220_746_635_549, 4_605_342_764_233_002_229, 4_606_462_400_735_299_756];
}
