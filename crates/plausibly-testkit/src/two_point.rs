//! The evidence of the two-point mixture, written as its definition reads.

use std::sync::LazyLock;

/// Bets `c_j` and their weights.
static BETS: LazyLock<Vec<(f64, f64)>> = LazyLock::new(|| {
    let bet = |j: i32| {
        let odds = 2.0_f64.powf(f64::from(j) / 2.0);
        (odds / (1.0 + odds), if j >= -18 { 0.9 / 29.0 } else { 0.1 / 26.0 })
    };
    (-44..=10).map(bet).collect()
});

/// Plays, sum and sum of squares of rewards in [0, 1].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PlainSums {
    /// n.
    pub count: u64,
    /// S.
    pub sum: f64,
    /// Q.
    pub squares: f64,
}

impl PlainSums {
    /// Of these rewards.
    pub fn of(rewards: &[f64]) -> Self {
        Self {
            count: rewards.len() as u64,
            sum: rewards.iter().sum(),
            squares: rewards.iter().map(|y| y * y).sum(),
        }
    }

    /// Of this many yes/no rewards.
    pub fn yes_no(count: u64, yes: f64) -> Self {
        Self { count, sum: yes, squares: yes }
    }

    /// S/n.
    pub fn mean(&self) -> f64 {
        self.sum / self.count as f64
    }

    /// Those of `1 − y`.
    #[must_use]
    pub fn mirrored(&self) -> Self {
        let Self { count, sum, squares } = *self;
        let plays = count as f64;
        Self { count, sum: plays - sum, squares: plays - 2.0 * sum + squares }
    }

    /// The sample of two values with these sums that stands for them: the first value, how often
    /// the second comes, and the second.
    pub fn two_points(&self) -> (f64, f64, f64) {
        if self.sum <= 0.0 {
            return (0.0, 0.0, 0.0);
        }
        (0.0, (self.sum * self.sum / self.squares).min(self.count as f64), self.squares / self.sum)
    }

    /// Evidence that the mean is above `m`, in nats.
    pub fn up(&self, m: f64) -> f64 {
        log_fortune(self.count, self.two_points(), m)
    }

    /// Evidence that the mean is below `m`, in nats.
    pub fn down(&self, m: f64) -> f64 {
        self.mirrored().up(1.0 - m)
    }
}

/// The logarithm of the fortune of all bets against `m` on a sample of two values.
pub fn log_fortune(count: u64, (one, plays, other): (f64, f64, f64), m: f64) -> f64 {
    if m <= 0.0 && plays > 0.0 {
        return f64::INFINITY;
    }
    let log = |c: f64, y: f64| (1.0 - c + if y > 0.0 { c * y / m } else { 0.0 }).ln();
    let term = |(c, weight): &(f64, f64)| {
        weight.ln() + (count as f64 - plays) * log(*c, one) + plays * log(*c, other)
    };
    let largest = BETS.iter().map(term).fold(f64::NEG_INFINITY, f64::max);
    largest + BETS.iter().map(|bet| (term(bet) - largest).exp()).sum::<f64>().ln()
}

/// The logarithm of the fortune of all bets against `m` on every reward.
pub fn log_fortune_of(rewards: &[f64], m: f64) -> f64 {
    let fortune = |(c, weight): &(f64, f64)| {
        weight * rewards.iter().map(|y| 1.0 - c + c * y / m).product::<f64>()
    };
    BETS.iter().map(fortune).sum::<f64>().ln()
}
