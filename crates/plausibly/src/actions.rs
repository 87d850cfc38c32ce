//! Action sets: validated once, laid out for the kernels, and known by an identity.

use crate::linalg::{Isa, LANES, norm};
use std::sync::atomic::{AtomicU64, Ordering};
use thiserror::Error;

/// The largest magnitude a feature or reward may have.
///
/// Squares, their sums and their quotients by any allowed ridge then stay finite, so no accepted input can turn a model
/// into NaN.
pub const MAX_MAGNITUDE: f64 = 1e100;

/// Position of an action in its set, from 0.
pub type ActionIndex = usize;

/// Why a set of actions was refused.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum ActionSetError {
    /// No action to choose from.
    #[error("an action set needs at least one action")]
    Empty,
    /// Actions without features; a set of plain arms comes from [`ActionSet::arms`].
    #[error("actions need at least one feature; for arms without features use ActionSet::arms")]
    ZeroDim,
    /// A row of another length than the first.
    #[error("action {action} has {found} features, the others have {expected}")]
    Ragged {
        /// The row that differs.
        action: ActionIndex,
        /// Features of the first row.
        expected: usize,
        /// Features of this one.
        found: usize,
    },
    /// NaN, infinite, or beyond [`MAX_MAGNITUDE`].
    #[error(
        "feature {feature} of action {action} is {value}; features must be finite and at most 1e100 in magnitude"
    )]
    OutOfRange {
        /// The action that holds it.
        action: ActionIndex,
        /// Its position among the features, from 0.
        feature: usize,
        /// The value refused.
        value: f64,
    },
}

/// Identity of a set's contents: equal only for the same, unchanged set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SetId(u64);

impl SetId {
    fn fresh() -> Self {
        // Only equality is ever looked at, so the order in which threads draw ids cannot reach a result.
        static NEXT: AtomicU64 = AtomicU64::new(0);
        Self(NEXT.fetch_add(1, Ordering::Relaxed))
    }
}

/// The actions offered in a round, owned.
///
/// Features are kept twice: by row, which is how one action is read, and in blocks of lanes (dimension-major, one action a
/// lane), which is how all of them are scored. The set carries an identity, under which estimators cache their scores.
///
/// # Example
/// ```
/// use plausibly::ActionSet;
/// let set = ActionSet::from_rows(&[[1.0, 0.0], [0.6, 0.8]])?;
/// assert_eq!((set.view().len(), set.view().dim()), (2, 2));
/// assert_eq!(set.view().get(1).features(), [0.6, 0.8]);
/// # Ok::<(), plausibly::ActionSetError>(())
/// ```
#[derive(Debug)]
pub struct ActionSet {
    id: SetId,
    len: usize,
    dim: usize,
    rows: Vec<f64>,
    blocks: Vec<f64>,
}

impl ActionSet {
    /// A set from rows of features.
    ///
    /// # Errors
    /// If there is no row or no feature, rows differ in length, or a feature is not finite or beyond [`MAX_MAGNITUDE`].
    pub fn from_rows<Row: AsRef<[f64]>>(rows: &[Row]) -> Result<Self, ActionSetError> {
        let expected = rows.first().ok_or(ActionSetError::Empty)?.as_ref().len();
        let mut flat = Vec::with_capacity(rows.len() * expected);
        for (action, row) in rows.iter().enumerate() {
            let row = row.as_ref();
            if row.len() != expected {
                return Err(ActionSetError::Ragged { action, expected, found: row.len() });
            }
            flat.extend_from_slice(row);
        }
        Self::from_flat(flat, expected)
    }

    /// A set from features in row-major order, `dim` to an action.
    ///
    /// # Errors
    /// As [`ActionSet::from_rows`]; a last row that is too short is [`ActionSetError::Ragged`].
    pub fn from_flat(features: Vec<f64>, dim: usize) -> Result<Self, ActionSetError> {
        if dim == 0 {
            return Err(ActionSetError::ZeroDim);
        }
        let len = features.len() / dim;
        if !features.len().is_multiple_of(dim) {
            return Err(ActionSetError::Ragged { action: len, expected: dim, found: features.len() % dim });
        }
        if len == 0 {
            return Err(ActionSetError::Empty);
        }
        let blocks = vec![0.0; len.div_ceil(LANES) * LANES * dim];
        let mut set = Self { id: SetId::fresh(), len, dim, rows: features, blocks };
        set.settle()?;
        Ok(set)
    }

    /// Arms without features, for K-armed policies: an arm is known by its index alone.
    ///
    /// # Errors
    /// If `count` is zero.
    pub fn arms(count: usize) -> Result<Self, ActionSetError> {
        if count == 0 {
            return Err(ActionSetError::Empty);
        }
        Ok(Self { id: SetId::fresh(), len: count, dim: 0, rows: Vec::new(), blocks: Vec::new() })
    }

    /// Writes new features over the old ones (row-major) without allocating, and takes a new identity.
    ///
    /// # Errors
    /// If a feature is not finite or beyond [`MAX_MAGNITUDE`]. All features of the set are zero then.
    pub fn refill(&mut self, write: impl FnOnce(&mut [f64])) -> Result<(), ActionSetError> {
        self.id = SetId::fresh();
        write(&mut self.rows);
        let settled = self.settle();
        if settled.is_err() {
            // Nothing of what was refused may be scored or learned from.
            self.rows.fill(0.0);
            self.blocks.fill(0.0);
        }
        settled
    }

    /// Checks the rows and copies them into lane blocks.
    fn settle(&mut self) -> Result<(), ActionSetError> {
        let within = |x: &f64| x.abs() <= MAX_MAGNITUDE;
        // All of them first, without a branch for each: a NaN is not within, and where one is found speed no longer matters.
        let all_within = self.rows.iter().fold(true, |all, x| all & within(x));
        if !all_within && let Some(at) = self.rows.iter().position(|x| !within(x)) {
            let (action, feature) = (at / self.dim, at % self.dim);
            return Err(ActionSetError::OutOfRange { action, feature, value: self.rows[at] });
        }
        for (action, row) in self.rows.chunks_exact(self.dim.max(1)).enumerate() {
            let (block, lane) = (action / LANES, action % LANES);
            let start = block * LANES * self.dim + lane;
            for (slot, &x) in self.blocks[start..].iter_mut().step_by(LANES).zip(row) {
                *slot = x;
            }
        }
        Ok(())
    }

    /// A view to hand to a policy.
    pub fn view(&self) -> Actions<'_> {
        Actions { set: self }
    }
}

/// The actions offered in a round, borrowed: what a policy chooses from.
#[derive(Clone, Copy, Debug)]
pub struct Actions<'a> {
    set: &'a ActionSet,
}

impl<'a> Actions<'a> {
    /// K, the number of actions; never zero.
    #[expect(clippy::len_without_is_empty, reason = "an action set is never empty")]
    pub fn len(self) -> usize {
        self.set.len
    }

    /// d, the number of features; zero for plain arms.
    pub fn dim(self) -> usize {
        self.set.dim
    }

    /// Identity of these contents.
    pub fn id(self) -> SetId {
        self.set.id
    }

    /// `⟨a, θ⟩` of every action, in place of what `out` held. O(K·d).
    ///
    /// # Panics
    /// If `theta` has another dimension than the actions, or they have none.
    pub fn dot_into(self, theta: &[f64], out: &mut Vec<f64>) {
        assert!(!theta.is_empty() && theta.len() == self.dim(), "θ and the actions differ in dimension");
        out.resize(self.len(), 0.0);
        Isa::detect().dots(self.blocks(), theta, out);
    }

    /// One action.
    ///
    /// # Panics
    /// If `index` is not below [`Actions::len`].
    pub fn get(self, index: ActionIndex) -> Action<'a> {
        assert!(index < self.len(), "action {index} of {}", self.len());
        Action { index, features: &self.set.rows[index * self.set.dim..(index + 1) * self.set.dim] }
    }

    /// All actions, by index.
    pub fn iter(self) -> impl ExactSizeIterator<Item = Action<'a>> {
        (0..self.len()).map(move |index| self.get(index))
    }

    /// The largest Euclidean norm of an action: the smallest valid `action_norm_bound` for this set.
    pub fn largest_norm(self) -> f64 {
        self.iter().map(|action| norm(action.features)).fold(0.0, f64::max)
    }

    pub(crate) fn blocks(self) -> &'a [f64] {
        &self.set.blocks
    }
}

/// One action: its index and its own features, so that a late reward needs no old set.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Action<'a> {
    index: ActionIndex,
    features: &'a [f64],
}

impl<'a> Action<'a> {
    /// An action that was taken from a set no longer at hand.
    pub fn new(index: ActionIndex, features: &'a [f64]) -> Self {
        Self { index, features }
    }

    /// Its index in the set it was chosen from.
    pub fn index(self) -> ActionIndex {
        self.index
    }

    /// Its features; empty for a plain arm.
    pub fn features(self) -> &'a [f64] {
        self.features
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refusals_name_the_culprit() {
        let rows = |rows: &[Vec<f64>]| ActionSet::from_rows(rows).unwrap_err();
        assert_eq!(rows(&[]), ActionSetError::Empty);
        assert_eq!(rows(&[vec![]]), ActionSetError::ZeroDim);
        assert_eq!(rows(&[vec![1.0], vec![]]), ActionSetError::Ragged { action: 1, expected: 1, found: 0 });
        assert_eq!(
            rows(&[vec![1.0, 2.0], vec![1.0, f64::INFINITY]]),
            ActionSetError::OutOfRange { action: 1, feature: 1, value: f64::INFINITY }
        );
        assert!(matches!(rows(&[vec![f64::NAN]]), ActionSetError::OutOfRange { .. }));
        assert_eq!(ActionSet::arms(0).unwrap_err(), ActionSetError::Empty);
    }

    #[test]
    fn a_refill_changes_the_identity_and_both_layouts() {
        let mut set = ActionSet::from_rows(&[[1.0], [2.0]]).unwrap();
        let before = set.view().id();
        set.refill(|rows| rows.copy_from_slice(&[3.0, 4.0])).unwrap();
        assert_ne!(before, set.view().id());
        assert_eq!(set.view().get(1).features(), [4.0]);
        assert_eq!(set.view().blocks()[..3], [3.0, 4.0, 0.0]);
        set.refill(|rows| rows.copy_from_slice(&[5.0, f64::NAN])).unwrap_err();
        assert_eq!((set.view().get(0).features(), set.view().blocks()[0]), (&[0.0][..], 0.0));
    }
}
