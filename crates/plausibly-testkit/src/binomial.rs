//! Exact binomial limits for tests of rates.

/// The most events that `trials` at a rate of at most `rate` exceed with probability no more than
/// `false_alarm`.
pub fn most_events(trials: u64, rate: f64, false_alarm: f64) -> u64 {
    // From the top down: the tail grows, and the first count at which it passes the limit is the
    // most allowed.
    let mut tail = 0.0;
    for events in (0..=trials).rev() {
        tail += probability(trials, rate, events);
        if tail > false_alarm {
            return events;
        }
    }
    0
}

/// The probability that more than `limit` events happen in `trials` at this rate: the power of a
/// test against it.
pub fn tail_above(trials: u64, rate: f64, limit: u64) -> f64 {
    (limit + 1..=trials).map(|events| probability(trials, rate, events)).sum()
}

/// `P(X = events)`, through logarithms: factorials of thousands do not fit.
fn probability(trials: u64, rate: f64, events: u64) -> f64 {
    let ln_factorial = |n: u64| (1..=n).map(|k| (k as f64).ln()).sum::<f64>();
    let choose = if events == 0 || events == trials {
        0.0
    } else {
        // C(n, k) as a product of the smaller side.
        let few = events.min(trials - events);
        (0..few).map(|i| ((trials - i) as f64).ln()).sum::<f64>() - ln_factorial(few)
    };
    (choose + events as f64 * rate.ln() + (trials - events) as f64 * (-rate).ln_1p()).exp()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_exact() {
        // Two coins: more than one head has probability ¼.
        assert_eq!(most_events(2, 0.5, 0.25), 1);
        assert_eq!(most_events(2, 0.5, 0.24), 2);
        assert!((tail_above(2, 0.5, 1) - 0.25).abs() < 1e-12);
        assert!((tail_above(30, 0.1, 0) - (1.0 - 0.9_f64.powi(30))).abs() < 1e-12);
        // The limits that published suites use for coverage.
        assert_eq!(most_events(4000, 0.05, 1e-6), 269);
        assert_eq!(most_events(10_000, 0.01, 1e-6), 151);
    }
}
