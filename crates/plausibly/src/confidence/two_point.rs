//! Intervals for arms with rewards in a range, from their number, sum and sum of squares.
//!
//! Evidence against a mean is the fortune of a gambler who bets on rewards above it. The fortune
//! depends on every reward, but a lower bound on it depends on three sums: it is the fortune on a
//! sample of two values, 0 and one other, with the same sums. So the intervals are functions of
//! exact sums, in any order of arrival.

#[cfg(test)]
mod laws;

use super::pairs::PairRule;
use super::radius::{ConfidenceRadius, RadiusError, check_delta};
use super::reach::Reach;
use crate::actions::ActionIndex;
use crate::model::{Earnings, Estimator, Evidence};
use std::sync::LazyLock;

/// The two-point mixture: intervals for arms with rewards in a range, the default for them.
///
/// With rewards scaled to [0, 1], `n` plays, `S = Σ y`, `Q = Σ y²`, `p = S²/Q` and `ξ = Q/S`:
///
/// ```text
/// up(m)    = log Σ_j ω_j·exp((n − p)·log(1 − c_j) + p·log(1 − c_j + c_j·ξ/m))
/// down(m)  = the same for 1 − y and 1 − m
/// interval = {m : up(m) < log(2K/δ) and down(m) < log(2K/δ)}
/// ```
///
/// The 55 bets have odds `c_j/(1 − c_j) = 2^(j/2)` for `j = −44 … 10`. For yes/no rewards these are
/// mixtures of likelihood ratios; for rewards that hardly scatter the interval shrinks with their
/// own variance, which need not be known.
///
/// With `pairs`, half of δ goes to verdicts between pairs of arms ([`PairRule`]), which need fewer
/// plays than two intervals that do not overlap.
///
/// # Guarantee
/// For rewards in the range with a fixed mean given the past, the means of all arms are inside
/// their intervals at all times at once with probability at least `1 − δ` (`1 − δ/2` with pairs,
/// and the other half covers the verdicts). Proof in `docs/concepts/validity.md`.
///
/// # What you must know
/// The least and the largest reward. A reward outside is refused.
///
/// # Cost
/// About ten evaluations of 55 bets per end of an interval, only for arms with new rewards.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TwoPoint {
    /// δ in (0, 1).
    pub delta: f64,
    /// The least reward.
    pub low: f64,
    /// The largest reward.
    pub high: f64,
    /// Whether half of δ goes to verdicts between pairs.
    pub pairs: bool,
}

impl ConfidenceRadius for TwoPoint {
    /// Half the range: the interval of an arm never taken.
    fn sqrt_beta(&self, _: &Evidence) -> f64 {
        0.5 * (self.high - self.low)
    }

    fn reach(&self, evidence: &Evidence) -> Reach {
        let delta = if self.pairs { 0.5 * self.delta } else { self.delta };
        Reach::Bounded(Bounded {
            low: self.low,
            range: self.high - self.low,
            needed: libm::log(2.0 * evidence.shares as f64) - libm::log(delta),
            allowance: 0.0,
        })
    }

    fn pairs(&self, evidence: &Evidence) -> Option<PairRule> {
        let delta = 0.5 * self.delta;
        self.pairs.then(|| PairRule::TwoPoint {
            low: self.low,
            range: self.high - self.low,
            needed: libm::log(evidence.pair_shares) - libm::log(delta),
            // The intervals hold with the other half of δ.
            aside: libm::log(2.0 * evidence.shares as f64) - libm::log(delta),
            allowance: 0.0,
        })
    }

    fn range(&self) -> Option<(f64, f64)> {
        Some((self.low, self.high))
    }

    fn check(&self) -> Result<(), RadiusError> {
        check_delta(self.delta)?;
        check_range(self.low, self.high)
    }
}

/// A range in which sums of squares of scaled rewards keep their digits.
pub(crate) fn check_range(low: f64, high: f64) -> Result<(), RadiusError> {
    let width = high - low;
    let sound = low.abs() <= 1e50 && high.abs() <= 1e50 && width >= 1e-50;
    // A range far from zero would lose the digits that its width has.
    if sound && low.abs().max(high.abs()) <= 1e6 * width {
        Ok(())
    } else {
        Err(RadiusError::Range { low, high })
    }
}

/// The intervals of bounded arms at one moment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bounded {
    low: f64,
    range: f64,
    /// The evidence, in nats, that rules a mean out.
    needed: f64,
    /// What is added to every interval on both sides, in units of the range.
    allowance: f64,
}

impl Bounded {
    /// The largest reward less the least.
    pub fn range(&self) -> f64 {
        self.range
    }

    /// The lower and the upper end of the interval of an arm: the whole range if it was never
    /// taken.
    pub fn interval(&self, tally: Earnings) -> (f64, f64) {
        let sample = Sample::of(tally, self.low, self.range);
        let lower = sample.lower_end(self.needed) - self.allowance;
        let upper = 1.0 - sample.mirrored().lower_end(self.needed) + self.allowance;
        let place = |share: f64| self.low + self.range * share.clamp(0.0, 1.0);
        (place(lower), place(upper))
    }

    /// Half the interval of an arm of this model.
    pub(crate) fn half_width<E: Estimator + ?Sized>(&self, model: &E, arm: ActionIndex) -> f64 {
        let tallies = model.tallies().expect("bounded arms need a model that keeps squares");
        let (lower, upper) = self.interval(tallies.get(arm));
        0.5 * (upper - lower)
    }

    /// The same with this much of a reward added on both sides of every interval.
    pub(super) fn widened(self, allowance: f64) -> Self {
        Self { allowance: self.allowance + allowance / self.range, ..self }
    }
}

/// The sums of an arm's rewards, scaled to [0, 1].
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Sample {
    count: f64,
    sum: f64,
    squares: f64,
}

impl Sample {
    pub(super) fn of(tally: Earnings, low: f64, range: f64) -> Self {
        let (count, total) = (tally.count as f64, tally.total);
        let sum = (total - count * low) / range;
        let squares = (tally.squares - low * (2.0 * total - count * low)) / (range * range);
        Self::clamped(count, sum, squares)
    }

    /// Rounding alone can take sums outside of what rewards in [0, 1] have. A sum that is too small
    /// to be squared counts as zero, which only lowers the evidence.
    fn clamped(count: f64, sum: f64, squares: f64) -> Self {
        let sum = if sum < 1e-150 { 0.0 } else { sum.min(count) };
        let least = if count > 0.0 { sum * sum / count } else { 0.0 };
        Self { count, sum, squares: squares.clamp(least.min(sum), sum) }
    }

    /// The sums of `1 − y`.
    pub(super) fn mirrored(self) -> Self {
        let Self { count, sum, squares } = self;
        Self::clamped(count, count - sum, count - 2.0 * sum + squares)
    }

    /// The average; needs a play.
    pub(super) fn mean(self) -> f64 {
        self.sum / self.count
    }

    pub(super) fn count(self) -> f64 {
        self.count
    }

    /// `up(m)` and its slope: the evidence that the mean is above `m`, in nats.
    pub(super) fn evidence_above(self, m: f64) -> (f64, f64) {
        let Self { count, sum, squares } = self;
        if sum <= 0.0 {
            return mixture(|bet| (count * bet.log_rest, 0.0));
        }
        if m <= 0.0 {
            return (f64::INFINITY, f64::NEG_INFINITY);
        }
        let (plays, value) = (sum * sum / squares, squares / sum);
        mixture(|bet| {
            // (1 − c)·(1 + odds·ξ/m) is 1 − c + c·ξ/m.
            let gain = bet.odds * value;
            let log = count * bet.log_rest + plays * libm::log1p(gain / m);
            (log, -plays * gain / (m * (m + gain)))
        })
    }

    /// A mean with at least this much evidence above it, just below the largest one.
    ///
    /// `up` is convex and decreasing in `log m`. A Newton step for such a function ends left of the
    /// root from wherever it starts, so every value after the first step is valid.
    fn lower_end(self, needed: f64) -> f64 {
        if self.sum <= 0.0 {
            return 0.0;
        }
        let mut m = self.mean();
        for step in 0..MOST_STEPS {
            let (evidence, slope) = self.evidence_above(m);
            let missing = evidence - needed;
            if step > 0 && missing < SETTLED {
                break;
            }
            // Where much evidence is needed the first step can end beyond what doubles hold.
            m = (m * libm::exp(-missing / (slope * m))).max(LEAST_END);
        }
        // Rounding of the evidence moves the root by less than this share.
        if m > LEAST_END { m * (1.0 - 1e-10) } else { 0.0 }
    }
}

/// Steps for one end; ten are enough, and fewer than the limit only widen the interval.
const MOST_STEPS: usize = 60;
/// Ends below this are 0: odds divided by a smaller one are infinite.
const LEAST_END: f64 = 1e-250;
/// An end is final when its evidence exceeds what is needed by less than this.
const SETTLED: f64 = 1e-9;

/// One bet of the mixture.
#[derive(Clone, Copy, Debug)]
struct Bet {
    /// `c/(1 − c)`.
    odds: f64,
    /// `log(1 − c)`.
    log_rest: f64,
    log_weight: f64,
}

const BETS: usize = 55;
/// `j` of the smallest bet.
const FIRST: i32 = -44;
/// Bets from here on share nine tenths of the weight. The smaller ones let intervals shrink to a
/// point: the smallest bet puts a floor under the length.
const MAIN: i32 = -18;

static MIXTURE: LazyLock<[Bet; BETS]> = LazyLock::new(|| {
    std::array::from_fn(|place| {
        let j = FIRST + i32::try_from(place).unwrap_or(0);
        // 2^(j/2), by an exact power of two.
        let root = if j % 2 == 0 { 1.0 } else { std::f64::consts::SQRT_2 };
        let odds = root * libm::ldexp(1.0, j.div_euclid(2));
        let weight = if j >= MAIN { 0.9 / 29.0 } else { 0.1 / 26.0 };
        Bet { odds, log_rest: -libm::log1p(odds), log_weight: libm::log(weight) }
    })
});

/// Terms this far below the largest, in nats, are left out, which only lowers the evidence.
const NEGLIGIBLE: f64 = 40.0;

/// The logarithm of the weighted mean over the bets of what `log_fortune` gives, and its slope.
fn mixture(log_fortune: impl Fn(&Bet) -> (f64, f64)) -> (f64, f64) {
    let mut terms = [(0.0, 0.0); BETS];
    let mut largest = f64::NEG_INFINITY;
    for (term, bet) in terms.iter_mut().zip(MIXTURE.iter()) {
        let (log, slope) = log_fortune(bet);
        *term = (bet.log_weight + log, slope);
        largest = largest.max(term.0);
    }
    let (mut total, mut slopes) = (0.0, 0.0);
    for (log, slope) in terms {
        if log > largest - NEGLIGIBLE {
            let share = libm::exp(log - largest);
            total += share;
            slopes += share * slope;
        }
    }
    (largest + libm::log(total), slopes / total)
}
