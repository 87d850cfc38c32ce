//! What each distinct row of features has paid.

use super::tally::{MAX_OUTCOMES, Tally, TallyError};
use crate::actions::MAX_MAGNITUDE;
use std::collections::BTreeMap;
use thiserror::Error;

/// Why rewards of a row were refused. A refusal leaves the sums unchanged.
#[derive(Clone, Copy, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum RowSumsError {
    /// Another number of features.
    #[error("rows of {expected} features were given one with {found}")]
    Features {
        /// Of the sums.
        expected: usize,
        /// Of the row.
        found: usize,
    },
    /// A feature that is not finite or beyond [`MAX_MAGNITUDE`].
    #[error("a feature must be finite and at most 1e100 in magnitude, got {feature}")]
    Feature {
        /// The value refused.
        feature: f64,
    },
    /// Rewards that the row has no room for, or never had.
    #[error(transparent)]
    Rewards(#[from] TallyError),
}

/// Exact sums of rewards by row of features: what a [`Glm`](crate::Glm) is made from.
///
/// # Guarantee
/// The sums depend only on which rewards of which rows are in them, not on the order in which they
/// came, on splits and merges, or on rewards that were added and retracted. Rows stand in one
/// order, by their features, so everything computed from them is the same to the bit.
///
/// # Example
/// ```
/// use plausibly::{RowSums, Tally};
/// let mut sums = RowSums::new(2);
/// sums.add(&[1.0, 0.5], &Tally::yes_no(30, 1_000, 0.0, 1.0)?)?;
/// sums.add(&[1.0, 0.5], &Tally::of(&[1.0])?)?;
/// let (row, tally) = sums.iter().next().unwrap();
/// assert_eq!((row, tally.count(), tally.reward_sum()), (vec![1.0, 0.5], 1_001, 31.0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RowSums {
    dim: usize,
    outcomes: u64,
    rows: BTreeMap<Box<[u64]>, Tally>,
}

impl RowSums {
    /// Nothing yet, for rows of this many features.
    ///
    /// # Panics
    /// If `dim` is zero.
    pub fn new(dim: usize) -> Self {
        assert!(dim > 0, "rows need at least one feature");
        Self { dim, outcomes: 0, rows: BTreeMap::new() }
    }

    /// d.
    pub fn dim(&self) -> usize {
        self.dim
    }

    /// The number of rewards.
    pub fn outcomes(&self) -> u64 {
        self.outcomes
    }

    /// The number of distinct rows.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether there are no rewards.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The rows in order, each with its rewards.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (Vec<f64>, &Tally)> {
        self.rows
            .iter()
            .map(|(key, tally)| (key.iter().map(|word| value_of(*word)).collect(), tally))
    }

    /// The rewards of each row, in the order of the rows.
    pub(crate) fn tallies(&self) -> impl ExactSizeIterator<Item = &Tally> {
        self.rows.values()
    }

    /// Appends the rows in order, one after the other.
    pub(crate) fn features_into(&self, out: &mut Vec<f64>) {
        for key in self.rows.keys() {
            out.extend(key.iter().map(|word| value_of(*word)));
        }
    }

    /// Adds rewards of a row.
    ///
    /// # Errors
    /// If the row has another number of features or one that is not finite, or all rewards together
    /// are more than 2⁵⁸.
    pub fn add(&mut self, row: &[f64], rewards: &Tally) -> Result<(), RowSumsError> {
        let key = self.key(row)?;
        let outcomes = self.with(rewards.count())?;
        match self.rows.get_mut(&key) {
            Some(tally) => tally.add(rewards)?,
            None if rewards.count() > 0 => drop(self.rows.insert(key, *rewards)),
            None => {}
        }
        self.outcomes = outcomes;
        Ok(())
    }

    /// Takes rewards of a row back: the exact inverse of [`RowSums::add`].
    ///
    /// # Errors
    /// If the row does not fit, or does not have such rewards. Sums cannot always show that rewards
    /// were never added.
    pub fn retract(&mut self, row: &[f64], rewards: &Tally) -> Result<(), RowSumsError> {
        let key = self.key(row)?;
        let mut left = self.rows.get(&key).copied().unwrap_or_default();
        left.retract(rewards)?;
        if left.count() == 0 {
            self.rows.remove(&key);
        } else {
            self.rows.insert(key, left);
        }
        self.outcomes -= rewards.count();
        Ok(())
    }

    /// Adds all rewards of other sums.
    ///
    /// # Errors
    /// If their rows have another number of features, or both together have more than 2⁵⁸ rewards.
    pub fn merge(&mut self, other: &Self) -> Result<(), RowSumsError> {
        if self.dim != other.dim {
            return Err(RowSumsError::Features { expected: self.dim, found: other.dim });
        }
        self.with(other.outcomes)?;
        for (row, tally) in other.iter() {
            self.add(&row, tally)?;
        }
        Ok(())
    }

    /// The number of rewards with these added; the bound on a tally holds for all together.
    fn with(&self, more: u64) -> Result<u64, TallyError> {
        let total = self.outcomes.checked_add(more).filter(|total| *total <= MAX_OUTCOMES);
        total.ok_or(TallyError::Full { outcomes: self.outcomes, more })
    }

    fn key(&self, row: &[f64]) -> Result<Box<[u64]>, RowSumsError> {
        if row.len() != self.dim {
            return Err(RowSumsError::Features { expected: self.dim, found: row.len() });
        }
        // This comparison is false for NaN too.
        let refused = row.iter().find(|feature| {
            let within = feature.abs() <= MAX_MAGNITUDE;
            !within
        });
        match refused {
            Some(&feature) => Err(RowSumsError::Feature { feature }),
            None => Ok(row.iter().map(|feature| word_of(*feature)).collect()),
        }
    }
}

const SIGN: u64 = 1 << 63;

/// Words in the order of the numbers; the two zeros have the same.
fn word_of(feature: f64) -> u64 {
    // A negative zero becomes a positive one.
    let bits = (feature + 0.0).to_bits();
    if bits & SIGN == 0 { bits | SIGN } else { !bits }
}

fn value_of(word: u64) -> f64 {
    f64::from_bits(if word & SIGN == 0 { !word } else { word & !SIGN })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Stream;

    /// A few rows, with rewards of every kind, in this order.
    fn history(rng: &mut Stream, len: usize) -> Vec<([f64; 2], Tally)> {
        let row = |rng: &mut Stream| [[-0.0, 1.0, -2.5][rng.index(3)], [0.0, 3.0][rng.index(2)]];
        let rewards = |rng: &mut Stream| match rng.index(3) {
            0 => Tally::of(&[rng.uniform()]).unwrap(),
            1 => Tally::yes_no(rng.index(5) as u64, 7, 0.0, 1.0).unwrap(),
            _ => Tally::of(&[1.0]).unwrap(),
        };
        (0..len).map(|_| (row(rng), rewards(rng))).collect()
    }

    fn sums_of(history: &[([f64; 2], Tally)]) -> RowSums {
        let mut sums = RowSums::new(2);
        for (row, rewards) in history {
            sums.add(row, rewards).unwrap();
        }
        sums
    }

    #[test]
    fn any_order_split_merge_and_retraction_give_the_same_sums() {
        let mut rng = Stream::new(7, 0, "rows");
        for _ in 0..300 {
            let mut all = history(&mut rng, 30);
            let expected = sums_of(&all);
            for i in (1..all.len()).rev() {
                all.swap(i, rng.index(i + 1));
            }
            let cut = rng.index(31);
            let mut merged = sums_of(&all[..cut]);
            merged.merge(&sums_of(&all[cut..])).unwrap();
            assert_eq!(merged, expected);
            let more = history(&mut rng, 10);
            for (row, rewards) in &more {
                merged.add(row, rewards).unwrap();
            }
            assert_ne!(merged, expected);
            for (row, rewards) in more.iter().rev() {
                merged.retract(row, rewards).unwrap();
            }
            assert_eq!(merged, expected);
        }
    }

    #[test]
    fn rows_stand_in_the_order_of_their_features() {
        let values = [f64::MIN_POSITIVE, -1e100, 0.0, -3.0, 1e100, -f64::MIN_POSITIVE, 2.0];
        let mut sums = RowSums::new(1);
        let one = Tally::of(&[1.0]).unwrap();
        for value in values {
            sums.add(&[value], &one).unwrap();
        }
        sums.add(&[-0.0], &one).unwrap();
        let found: Vec<f64> = sums.iter().flat_map(|(row, _)| row).collect();
        let mut sorted = values.to_vec();
        sorted.sort_by(f64::total_cmp);
        assert_eq!(found, sorted);
        assert_eq!(sums.outcomes(), 8);
    }

    #[test]
    fn what_does_not_fit_is_refused_and_changes_nothing() {
        let mut sums = RowSums::new(2);
        let one = Tally::of(&[1.0]).unwrap();
        sums.add(&[1.0, 2.0], &one).unwrap();
        let before = sums.clone();
        assert!(matches!(sums.add(&[1.0], &one), Err(RowSumsError::Features { .. })));
        assert!(matches!(sums.add(&[1.0, f64::NAN], &one), Err(RowSumsError::Feature { .. })));
        assert!(matches!(sums.retract(&[1.0, 0.0], &one), Err(RowSumsError::Rewards(_))));
        let two = Tally::of(&[1.0, 1.0]).unwrap();
        assert!(sums.retract(&[1.0, 2.0], &two).is_err());
        let most = Tally::yes_no(0, 1 << 58, 0.0, 1.0).unwrap();
        assert!(sums.add(&[3.0, 3.0], &most).is_err());
        assert_eq!(sums, before);
    }
}
