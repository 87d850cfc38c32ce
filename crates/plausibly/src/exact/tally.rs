//! Sums over outcomes alone: how many, their sum and the sum of their squares.

use super::bytes::part;
use super::grid::{LARGEST_STEPS, OffGrid, STEPS, from_square_steps, to_steps};
use thiserror::Error;

/// As many outcomes as a ledger holds: sums of squares stay within 2¹²⁶.
pub(super) const MAX_OUTCOMES: u64 = 1 << 58;
const LARGEST: i128 = LARGEST_STEPS as i128;

/// Why outcomes were refused. A refusal leaves a tally unchanged.
#[derive(Clone, Copy, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum TallyError {
    /// No outcomes.
    #[error("a count needs at least one outcome, got 0")]
    NoOutcomes,
    /// More successes than outcomes.
    #[error("{successes} successes of {outcomes} outcomes are impossible")]
    Successes {
        /// The number of successes.
        successes: u64,
        /// The number of outcomes.
        outcomes: u64,
    },
    /// A reward that is not finite or beyond 1024.
    #[error("reward {place} is refused: {source}")]
    Reward {
        /// Its place in the list, from 0. Of a yes/no outcome, 0 stands for `low`, 1 for `high`.
        place: usize,
        /// The value refused.
        source: OffGrid,
    },
    /// More outcomes than the sums have room for.
    #[error("a tally holds at most 2^58 outcomes; it has {outcomes} and was given {more}")]
    Full {
        /// How many it holds.
        outcomes: u64,
        /// How many were to be added.
        more: u64,
    },
    /// A retraction of more outcomes than there are.
    #[error("a tally of {outcomes} outcomes cannot lose {fewer}")]
    TooFew {
        /// How many it holds.
        outcomes: u64,
        /// How many were to be retracted.
        fewer: u64,
    },
    /// Sums that no rewards on the grid have.
    #[error(
        "no {outcomes} rewards within 1024 have the sum {sum}·2^-24 and the sum of squares \
         {squares}·2^-48"
    )]
    Impossible {
        /// The number of outcomes.
        outcomes: u64,
        /// Their sum, in steps of 2⁻²⁴.
        sum: i128,
        /// The sum of their squares, in steps of 2⁻⁴⁸.
        squares: i128,
    },
}

/// Exact sums over outcomes: how many, `Σ y` and `Σ y²`.
///
/// ```text
/// u = round(2²⁴·y)     n = Σ 1     Σ y = 2⁻²⁴·Σu     Σ y² = 2⁻⁴⁸·Σu²
/// ```
///
/// A tally is what is known about a plain arm, and what a
/// [counted observation](super::Observation::counted) is made of. It may come from rewards, from
/// yes/no outcomes or from sums: the same rewards give the same tally.
///
/// # Guarantee
/// A tally depends only on which rewards are in it, and how often, as a [`Ledger`](super::Ledger)
/// does. Sums that no `n` rewards have are refused. For a given sum, `Σu²` is least if all `u` are
/// equal or neighbours, and largest if at most one of them is inside the grid; both ends are
/// computed exactly, so no check rounds.
///
/// # Cost
/// 40 bytes. Every operation is O(1), whatever the count; [`Tally::of`] is O(n).
///
/// # Example
/// ```
/// use plausibly::Tally;
/// let mut clicks = Tally::of(&[1.0, 0.0, 0.0])?;
/// clicks.add(&Tally::yes_no(40, 1_000, 0.0, 1.0)?)?;
/// assert_eq!((clicks.count(), clicks.reward_sum()), (1_003, 41.0));
/// clicks.retract(&Tally::of(&[1.0, 0.0, 0.0])?)?;
/// assert_eq!(clicks, Tally::yes_no(40, 1_000, 0.0, 1.0)?);
/// # Ok::<(), plausibly::TallyError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Tally {
    count: u64,
    sum: i128,
    squares: i128,
}

impl Tally {
    /// The number of bytes of a tally.
    pub const BYTES: usize = 40;

    /// The tally of these rewards, each rounded to the grid as [`quantise`](super::quantise) does.
    ///
    /// # Errors
    /// If there are none, or one is not finite or beyond 1024 in magnitude.
    pub fn of(rewards: &[f64]) -> Result<Self, TallyError> {
        let mut tally = Self { count: rewards.len() as u64, ..Self::default() }.counted()?;
        for (place, &reward) in rewards.iter().enumerate() {
            let Self { sum, squares, .. } = Self::listed(place, reward)?;
            tally.sum += sum;
            tally.squares += squares;
        }
        Ok(tally)
    }

    /// The tally of one reward.
    pub(super) fn single(reward: f64) -> Result<Self, OffGrid> {
        let sum = i128::from(to_steps(reward)?);
        Ok(Self { count: 1, sum, squares: sum * sum })
    }

    fn listed(place: usize, reward: f64) -> Result<Self, TallyError> {
        Self::single(reward).map_err(|source| TallyError::Reward { place, source })
    }

    /// The tally of yes/no outcomes: a success pays `high`, a failure `low`, both rounded to the
    /// grid.
    ///
    /// # Errors
    /// If there are no outcomes, more than 2⁵⁸, or fewer than successes; if `low` or `high` is not
    /// finite or beyond 1024 in magnitude.
    pub fn yes_no(successes: u64, outcomes: u64, low: f64, high: f64) -> Result<Self, TallyError> {
        let failures =
            outcomes.checked_sub(successes).ok_or(TallyError::Successes { successes, outcomes })?;
        let counted = Self { count: outcomes, ..Self::default() }.counted()?;
        let (low, high) = (Self::listed(0, low)?, Self::listed(1, high)?);
        let both = |low, high| low * i128::from(failures) + high * i128::from(successes);
        let (sum, squares) = (both(low.sum, high.sum), both(low.squares, high.squares));
        Ok(Self { sum, squares, ..counted })
    }

    /// The tally of `count` rewards on the grid with this sum, in steps of 2⁻²⁴, and this sum of
    /// squares, in steps of 2⁻⁴⁸.
    ///
    /// Sums in doubles are not accepted: they were rounded, and the sums of single rewards are not.
    /// If you have the rewards, use [`Tally::of`].
    ///
    /// # Errors
    /// If `count` is zero or above 2⁵⁸, or no `count` rewards have these sums.
    pub fn from_sums(count: u64, sum: i128, squares: i128) -> Result<Self, TallyError> {
        Self { count, sum, squares }.counted()?.possible()
    }

    /// n.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// `Σ y` in steps of 2⁻²⁴.
    pub fn sum(&self) -> i128 {
        self.sum
    }

    /// `Σ y²` in steps of 2⁻⁴⁸.
    pub fn squares(&self) -> i128 {
        self.squares
    }

    /// `Σ y`, the double nearest to the exact sum.
    pub fn reward_sum(&self) -> f64 {
        self.sum as f64 / STEPS
    }

    /// `Σ y²`, the double nearest to the exact sum.
    pub fn reward_squares(&self) -> f64 {
        from_square_steps(self.squares)
    }

    /// Adds outcomes, or merges another tally: both are the same.
    ///
    /// # Errors
    /// If both together have more than 2⁵⁸ outcomes.
    pub fn add(&mut self, more: &Self) -> Result<(), TallyError> {
        let full = TallyError::Full { outcomes: self.count, more: more.count };
        let total = self.count.checked_add(more.count).filter(|total| *total <= MAX_OUTCOMES);
        self.count = total.ok_or(full)?;
        self.sum += more.sum;
        self.squares += more.squares;
        Ok(())
    }

    /// Takes outcomes back: the exact inverse of [`Tally::add`].
    ///
    /// # Errors
    /// If there are fewer outcomes, or no rewards have the sums that would be left. Sums cannot
    /// always show that outcomes were never added.
    pub fn retract(&mut self, fewer: &Self) -> Result<(), TallyError> {
        let few = TallyError::TooFew { outcomes: self.count, fewer: fewer.count };
        let count = self.count.checked_sub(fewer.count).ok_or(few)?;
        let (sum, squares) = (self.sum - fewer.sum, self.squares - fewer.squares);
        *self = Self { count, sum, squares }.possible()?;
        Ok(())
    }

    /// The tally as bytes, little-endian: n in 8, then `Σu` and `Σu²`, signed, in 16 each. Equal
    /// tallies give equal bytes.
    pub fn to_bytes(&self) -> [u8; Self::BYTES] {
        let mut bytes = [0; Self::BYTES];
        bytes[..8].copy_from_slice(&self.count.to_le_bytes());
        bytes[8..24].copy_from_slice(&self.sum.to_le_bytes());
        bytes[24..].copy_from_slice(&self.squares.to_le_bytes());
        bytes
    }

    /// Reads what [`Tally::to_bytes`] wrote.
    ///
    /// # Errors
    /// If no rewards have these sums. Other damage is not detected: forty bytes have no digest.
    pub fn from_bytes(bytes: &[u8; Self::BYTES]) -> Result<Self, TallyError> {
        let count = u64::from_le_bytes(part(bytes, 0));
        let (sum, squares) =
            (i128::from_le_bytes(part(bytes, 8)), i128::from_le_bytes(part(bytes, 24)));
        Self { count, sum, squares }.possible()
    }

    /// Whether rewards from 0 to a whole number `high` can have these sums. For a given sum `Σu²`
    /// is largest if all are at an end but one, so with `Σy = q·high + rest` it is at most
    /// `q·high² + rest²`.
    pub(crate) fn fits_below(&self, high: f64) -> bool {
        let Ok(top) = to_steps(high).map(i128::from) else { return false };
        let (q, rest) = (self.sum.div_euclid(top), self.sum.rem_euclid(top));
        let within = self.sum >= 0 && self.sum <= i128::from(self.count) * top;
        within && self.squares <= q * top * top + rest * rest
    }

    /// Refuses a count of zero, or one beyond the room of the sums.
    fn counted(self) -> Result<Self, TallyError> {
        match self.count {
            0 => Err(TallyError::NoOutcomes),
            1..=MAX_OUTCOMES => Ok(self),
            more => Err(TallyError::Full { outcomes: 0, more }),
        }
    }

    /// Refuses sums that no `count` rewards have; without rewards, sums are zero.
    fn possible(self) -> Result<Self, TallyError> {
        let Self { count, sum, squares } = self;
        let impossible = TallyError::Impossible { outcomes: count, sum, squares };
        if count > MAX_OUTCOMES {
            return Err(TallyError::Full { outcomes: 0, more: count });
        }
        let n = i128::from(count);
        if sum.unsigned_abs() > (n * LARGEST).unsigned_abs() {
            return Err(impossible);
        }
        let (least, most) = if n == 0 { (0, 0) } else { squares_between(n, sum) };
        if (least..=most).contains(&squares) { Ok(self) } else { Err(impossible) }
    }
}

/// The least and the largest sum of squares of `n ≥ 1` integers within ±2³⁴ with this sum.
fn squares_between(n: i128, sum: i128) -> (i128, i128) {
    // Least: n − r integers are q and r of them q + 1.
    let (q, r) = (sum.div_euclid(n), sum.rem_euclid(n));
    let least = n * q * q + r * (2 * q + 1);
    // Largest: all are at an end of the grid but one, which lies `rest` above the lower end.
    let rest = (sum + n * LARGEST) % (2 * LARGEST);
    let inside = rest - LARGEST;
    (least, (n - 1) * LARGEST * LARGEST + inside * inside)
}
