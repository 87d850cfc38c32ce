//! How many outcomes a verdict took, over all runs.

use super::play::Run;

/// How many outcomes a verdict took in each run.
#[derive(Clone, Debug, PartialEq)]
pub struct Times {
    /// In ascending order; runs without the verdict come last.
    sorted: Vec<Option<u64>>,
    best_lost: u64,
}

/// A share of runs, and how sure it is that the cautious figure covers this share.
const KEPT: f64 = 0.9;
const SURE: f64 = 0.95;

impl Times {
    pub(super) fn of(runs: &[Run]) -> Self {
        let mut sorted: Vec<_> = runs.iter().map(|run| run.verdict).collect();
        sorted.sort_by_key(|time| time.unwrap_or(u64::MAX));
        let best_lost = runs.iter().filter(|run| run.best_lost).count() as u64;
        Self { sorted, best_lost }
    }

    /// Outcomes that about half of the runs took; `None` if half of them ended without the verdict.
    pub fn median(&self) -> Option<u64> {
        *self.sorted.get(self.sorted.len() / 2)?
    }

    /// Outcomes that nine in ten runs take at most; `None` if too many of them ended without the
    /// verdict, or there are fewer than 29.
    ///
    /// It is the smallest of the times that the simulated runs took of which this is true with a
    /// probability of 95 %.
    pub fn cautious(&self) -> Option<u64> {
        let longer = most_longer(self.sorted.len())?;
        self.sorted[self.sorted.len() - 1 - longer]
    }

    /// How many runs had all the best choices out at some time.
    pub fn best_lost(&self) -> u64 {
        self.best_lost
    }

    /// All times in ascending order. `None` stands for a run that ended without the verdict, and
    /// comes last.
    pub fn sorted(&self) -> &[Option<u64>] {
        &self.sorted
    }
}

/// How many of `runs` times may be longer than the cautious one: the time with `longer` above it is
/// below the nine-in-ten time of all runs if at most `longer` are above that, and each is with
/// probability 0.1.
fn most_longer(runs: usize) -> Option<usize> {
    let n = runs as f64;
    let odds = libm::log((1.0 - KEPT) / KEPT);
    let (mut log_mass, mut total) = (n * libm::log(KEPT), 0.0);
    let mut fits = None;
    for longer in 0..runs {
        total += libm::exp(log_mass);
        if total > 1.0 - SURE {
            break;
        }
        fits = Some(longer);
        let k = longer as f64;
        log_mass += libm::log((n - k) / (k + 1.0)) + odds;
    }
    fits
}

#[cfg(test)]
mod tests {
    use super::*;
    use plausibly_testkit::tail_above;

    #[test]
    fn the_cautious_time_is_the_smallest_of_which_its_promise_is_true() {
        for runs in [29, 40, 100, 200, 1000] {
            let longer = most_longer(runs).unwrap() as u64;
            // P(at most `longer` of the runs need more than nine in ten do).
            let wrong = |longer: u64| 1.0 - tail_above(runs as u64, 0.1, longer);
            assert!(wrong(longer) <= 0.05 && wrong(longer + 1) > 0.05, "{runs}: {longer}");
        }
        // Of 28 runs none is longer than that time with a probability of 0.9²⁸ = 5.2 %.
        assert_eq!((most_longer(28), most_longer(29), most_longer(200)), (None, Some(0), Some(12)));
        // 0.9ⁿ is zero in doubles. Nearly normal: 10,000 − 1.645·94.9 = 9,844.
        let many = most_longer(100_000).unwrap();
        assert!(many.abs_diff(9_844) <= 2, "{many}");
    }

    #[test]
    fn runs_without_the_verdict_come_last() {
        let times = |without: usize| {
            let time = |time: usize| (time + without <= 100).then_some(time as u64);
            let run = |number| Run { verdict: time(number), best_lost: false };
            Times::of(&(1..=100).rev().map(run).collect::<Vec<_>>())
        };
        assert_eq!((times(0).median(), times(0).cautious()), (Some(51), Some(96)));
        assert_eq!((times(4).median(), times(4).cautious()), (Some(51), Some(96)));
        assert_eq!((times(5).median(), times(5).cautious()), (Some(51), None));
        assert_eq!((times(49).median(), times(50).median()), (Some(51), None));
        assert_eq!(times(99).sorted()[..2], [Some(1), None]);
    }
}
