//! The quantiles that intervals need, exact to about ten digits.
//!
//! They rest on the regularised incomplete beta function `I_x(a, b)`, by its continued fraction
//! (Lentz's method), and are found by bisection: a report needs a few hundred values, so simple
//! code beats fast code.

/// `I_x(a, b)` for `0 ≤ x ≤ 1`.
fn incomplete_beta(x: f64, a: f64, b: f64) -> f64 {
    if x <= 0.0 || x >= 1.0 {
        return x.clamp(0.0, 1.0);
    }
    // The fraction converges fast on one side of the mean only.
    if x > (a + 1.0) / (a + b + 2.0) {
        return 1.0 - incomplete_beta(1.0 - x, b, a);
    }
    let log_front = libm::lgamma(a + b) - libm::lgamma(a) - libm::lgamma(b)
        + a * libm::log(x)
        + b * libm::log1p(-x);
    let away_from_zero = |value: f64| if value.abs() < 1e-300 { 1e-300 } else { value };
    let mut d = 1.0 / away_from_zero(1.0 - (a + b) * x / (a + 1.0));
    let (mut c, mut fraction) = (1.0, d);
    for m in 1..500 {
        let m = f64::from(m);
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        let before = fraction;
        for term in [even, odd] {
            d = 1.0 / away_from_zero(1.0 + term * d);
            c = away_from_zero(1.0 + term / c);
            fraction *= c * d;
        }
        if ((fraction - before) / fraction).abs() < 1e-15 {
            break;
        }
    }
    libm::exp(log_front) * fraction / a
}

/// Where a function that grows crosses a level, between `low` and `high`.
fn crossing(mut low: f64, mut high: f64, level: f64, grows: impl Fn(f64) -> f64) -> f64 {
    for _ in 0..200 {
        let middle = f64::midpoint(low, high);
        if grows(middle) < level {
            low = middle;
        } else {
            high = middle;
        }
    }
    f64::midpoint(low, high)
}

/// The value that Student's t with `freedom` degrees of freedom stays below with this probability,
/// from a half up.
pub(crate) fn student_t(probability: f64, freedom: f64) -> f64 {
    let cdf = |t: f64| 1.0 - incomplete_beta(freedom / (freedom + t * t), freedom / 2.0, 0.5) / 2.0;
    crossing(0.0, 1e8, probability, cdf)
}

/// The interval that holds the probability of an event seen `events` times in `trials`, at this
/// confidence (Clopper and Pearson's, which never covers less).
pub(crate) fn clopper_pearson(events: u64, trials: u64, confidence: f64) -> (f64, f64) {
    let (k, n, tail) = (events as f64, trials as f64, (1.0 - confidence) / 2.0);
    // P(X ≥ k) = I_p(k, n − k + 1) grows in p, and P(X ≤ k) = 1 − I_p(k + 1, n − k) falls.
    let low = if events == 0 {
        0.0
    } else {
        crossing(0.0, 1.0, tail, |p| incomplete_beta(p, k, n - k + 1.0))
    };
    let high = if events == trials {
        1.0
    } else {
        crossing(0.0, 1.0, 1.0 - tail, |p| incomplete_beta(p, k + 1.0, n - k))
    };
    (low, high)
}

/// The distance from either end of `n` sorted numbers to the ends of an interval that holds the
/// median at this confidence; `None` if all of them do not reach that far. The numbers of a
/// distribution without ties fall on either side of its median like tosses of a coin.
pub(crate) fn median_rank(n: usize, confidence: f64) -> Option<usize> {
    let tail = (1.0 - confidence) / 2.0;
    // P(at most `rank` of n below the median) = I_½(n − rank, rank + 1), which grows in the rank.
    let below = |rank: usize| incomplete_beta(0.5, (n - rank) as f64, rank as f64 + 1.0);
    (0..n.div_ceil(2)).take_while(|rank| below(*rank) <= tail).last()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(found: f64, known: f64) {
        assert!((found - known).abs() < 1e-6 * known.abs().max(1.0), "{found} is not {known}");
    }

    #[test]
    fn student_t_is_that_of_the_tables() {
        close(student_t(0.975, 1.0), 12.706_204_7);
        close(student_t(0.975, 49.0), 2.009_575_2);
        close(student_t(0.975, 199.0), 1.971_956_5);
        close(student_t(0.995, 9.0), 3.249_835_5);
        // Cauchy and the closed form for two degrees of freedom.
        close(student_t(0.75, 1.0), 1.0);
        close(student_t(0.9, 2.0), 0.8 * (2.0_f64 / (1.0 - 0.64)).sqrt());
    }

    #[test]
    fn the_ranks_about_a_median_are_those_of_the_tables() {
        // Ends counted from 1: of 10 numbers the 2nd and the 9th, of 20 the 6th and the 15th, of
        // 200 the 86th and the 115th; 6 numbers are the fewest that reach 95 %.
        let ranks = [5, 6, 10, 20, 200].map(|n| median_rank(n, 0.95));
        assert_eq!(ranks, [None, Some(0), Some(1), Some(5), Some(85)]);
        assert_eq!(median_rank(0, 0.95), None);
    }

    #[test]
    fn clopper_pearson_is_where_the_binomial_tails_are() {
        let choose =
            |n: u32, k: u32| (0..k).fold(1.0, |c, i| c * f64::from(n - i) / f64::from(i + 1));
        let pmf = |k: u32, p: f64| {
            choose(20, k) * p.powi(k.cast_signed()) * (1.0 - p).powi((20 - k).cast_signed())
        };
        let (low, high) = clopper_pearson(3, 20, 0.95);
        close((3..=20).map(|k| pmf(k, low)).sum(), 0.025);
        close((0..=3).map(|k| pmf(k, high)).sum(), 0.025);
        // Nothing seen: the rule of three, exactly.
        let (low, high) = clopper_pearson(0, 100, 0.95);
        close(low, 0.0);
        close(high, 1.0 - 0.025_f64.powf(0.01));
        close(clopper_pearson(100, 100, 0.95).1, 1.0);
    }
}
