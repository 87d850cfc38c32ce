//! Action sets: validated once, laid out for the kernels, and known by an identity.

use crate::linalg::{Aligned, Isa, LANES};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use thiserror::Error;

/// The largest magnitude a feature or reward may have.
///
/// Squares, their sums and their quotients by any allowed ridge then stay finite, so no accepted
/// input can turn a model into NaN.
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
        "feature {feature} of action {action} is {value}; \
         features must be finite and at most 1e100 in magnitude"
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

impl ActionSetError {
    /// Converts an index that was counted from the first action of a block.
    fn in_block(mut self, block: usize) -> Self {
        if let Self::OutOfRange { action, .. } = &mut self {
            *action += block * LANES;
        }
        self
    }
}

/// Identity of a set's contents: equal only for the same, unchanged set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SetId(u64);

impl SetId {
    pub(crate) fn fresh() -> Self {
        // Identities are only compared for equality, so the order in which threads take them does
        // not affect results.
        static NEXT: AtomicU64 = AtomicU64::new(0);
        Self(NEXT.fetch_add(1, Ordering::Relaxed))
    }
}

/// The actions offered in a round, owned.
///
/// Features are laid out for scoring, in blocks of lanes (dimension-major, one action per lane). A
/// single action is read by row. Small sets keep the rows as well; sets with a mebibyte of features
/// or more make the rows of a block when one of its actions is first read, so that features are in
/// memory once. A set has an identity, by which policies recognise it. A clone has the same
/// contents and the same identity; refilling a set gives it a new one.
///
/// # Example
/// ```
/// use plausibly::ActionSet;
/// let set = ActionSet::from_rows(&[[1.0, 0.0], [0.6, 0.8]])?;
/// assert_eq!((set.view().len(), set.view().dim()), (2, 2));
/// assert_eq!(set.view().get(1).features(), [0.6, 0.8]);
/// # Ok::<(), plausibly::ActionSetError>(())
/// ```
#[derive(Clone, Debug)]
pub struct ActionSet {
    id: SetId,
    len: usize,
    dim: usize,
    blocks: Aligned,
    rows: Rows,
}

/// Features by row.
#[derive(Clone, Debug)]
enum Rows {
    Whole(Vec<f64>),
    /// The rows of each block, made when one of its actions is first read.
    OfBlocks(Box<[OnceLock<Box<[f64]>>]>),
}

/// Sets with at least this many features (a mebibyte) keep no second copy of them.
const LARGE: usize = 1 << 17;
/// Features are copied in pieces of at most this many (8 KiB), which stay in the nearest cache.
const AT_A_TIME: usize = 1 << 10;

impl ActionSet {
    /// A set from rows of features.
    ///
    /// # Errors
    /// If there is no row or no feature, rows differ in length, or a feature is not finite or
    /// beyond [`MAX_MAGNITUDE`].
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

    /// A set from features in row-major order, `dim` per action.
    ///
    /// # Errors
    /// As [`ActionSet::from_rows`]; a last row that is too short is [`ActionSetError::Ragged`].
    pub fn from_flat(features: Vec<f64>, dim: usize) -> Result<Self, ActionSetError> {
        if dim == 0 {
            return Err(ActionSetError::ZeroDim);
        }
        let len = features.len() / dim;
        if !features.len().is_multiple_of(dim) {
            return Err(ActionSetError::Ragged {
                action: len,
                expected: dim,
                found: features.len() % dim,
            });
        }
        if len == 0 {
            return Err(ActionSetError::Empty);
        }
        let (blocks, rows) = if features.len() < LARGE {
            let mut blocks = Aligned::zeros(len.div_ceil(LANES) * LANES * dim);
            interleave(&features, &mut blocks, dim)?;
            (blocks, Rows::Whole(features))
        } else {
            (
                interleaved_in_place(features, dim)?,
                Rows::OfBlocks((0..len.div_ceil(LANES)).map(|_| OnceLock::new()).collect()),
            )
        };
        Ok(Self { id: SetId::fresh(), len, dim, blocks, rows })
    }

    /// Arms without features, for K-armed policies: an arm is known by its index alone.
    ///
    /// # Errors
    /// If `count` is zero.
    pub fn arms(count: usize) -> Result<Self, ActionSetError> {
        if count == 0 {
            return Err(ActionSetError::Empty);
        }
        Ok(Self {
            id: SetId::fresh(),
            len: count,
            dim: 0,
            blocks: Aligned::default(),
            rows: Rows::Whole(Vec::new()),
        })
    }

    /// Writes new features over the old ones (row-major) and takes a new identity. Allocates only
    /// the rows of a large set, the first time.
    ///
    /// # Errors
    /// If a feature is not finite or beyond [`MAX_MAGNITUDE`]. All features of the set are zero
    /// then.
    pub fn refill(&mut self, write: impl FnOnce(&mut [f64])) -> Result<(), ActionSetError> {
        self.id = SetId::fresh();
        if matches!(self.rows, Rows::OfBlocks(_)) {
            let blocks = self.blocks.chunks_exact(LANES * self.dim.max(1));
            let mut rows: Vec<f64> = blocks.flat_map(|block| rows_of(block, self.dim)).collect();
            rows.truncate(self.len * self.dim);
            self.rows = Rows::Whole(rows);
        }
        let Rows::Whole(rows) = &mut self.rows else { unreachable!("made whole above") };
        write(rows);
        let settled = interleave(rows, &mut self.blocks, self.dim);
        self.settle(settled)
    }

    /// Like [`ActionSet::refill`], from a slice, with one pass less. A large set keeps no rows.
    ///
    /// # Errors
    /// As [`ActionSet::refill`].
    ///
    /// # Panics
    /// If there are more or fewer than the set has.
    pub fn refill_from(&mut self, features: &[f64]) -> Result<(), ActionSetError> {
        let expected = self.len * self.dim;
        assert!(
            features.len() == expected,
            "a set of {expected} features was given {}",
            features.len()
        );
        self.id = SetId::fresh();
        let settled = match &mut self.rows {
            Rows::Whole(rows) => take_in(features, rows, &mut self.blocks, self.dim),
            Rows::OfBlocks(blocks) => {
                blocks.fill_with(OnceLock::new);
                interleave(features, &mut self.blocks, self.dim)
            }
        };
        self.settle(settled)
    }

    fn settle(&mut self, settled: Result<(), ActionSetError>) -> Result<(), ActionSetError> {
        if settled.is_err() {
            // Refused features must not be scored or learned from.
            self.blocks.fill(0.0);
            if let Rows::Whole(rows) = &mut self.rows {
                rows.fill(0.0);
            }
        }
        settled
    }

    /// A view to hand to a policy.
    pub fn view(&self) -> Actions<'_> {
        Actions { set: self }
    }
}

/// The actions offered in a round, borrowed. Policies choose from these.
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
        assert!(
            !theta.is_empty() && theta.len() == self.dim(),
            "θ and the actions differ in dimension"
        );
        out.resize(self.len(), 0.0);
        Isa::detect().dots(self.blocks(), theta, out);
    }

    /// One action.
    ///
    /// # Panics
    /// If `index` is not below [`Actions::len`].
    pub fn get(self, index: ActionIndex) -> Action<'a> {
        assert!(index < self.len(), "action {index} of {}", self.len());
        let dim = self.set.dim;
        let (rows, row) = match &self.set.rows {
            Rows::Whole(rows) => (&**rows, index),
            Rows::OfBlocks(blocks) => {
                let block = index / LANES;
                let size = LANES * dim;
                let make = || rows_of(&self.set.blocks[block * size..(block + 1) * size], dim);
                (&**blocks[block].get_or_init(make), index % LANES)
            }
        };
        Action { index, features: &rows[row * dim..(row + 1) * dim] }
    }

    /// All actions, by index.
    pub fn iter(self) -> impl ExactSizeIterator<Item = Action<'a>> {
        (0..self.len()).map(move |index| self.get(index))
    }

    /// The largest Euclidean norm of an action: the smallest valid `action_norm_bound` for this
    /// set.
    pub fn largest_norm(self) -> f64 {
        self.largest_norm_sq().sqrt()
    }

    /// The square of [`Actions::largest_norm`]. Padding of the last block is zero and adds nothing.
    pub(crate) fn largest_norm_sq(self) -> f64 {
        let blocks = self.blocks().chunks_exact(LANES * self.dim().max(1));
        let largest_of = |block: &[f64]| {
            let squares = |lane: usize| block.iter().skip(lane).step_by(LANES).map(|x| x * x);
            (0..LANES).map(|lane| squares(lane).sum()).fold(0.0, f64::max)
        };
        blocks.map(largest_of).fold(0.0, f64::max)
    }

    pub(crate) fn blocks(self) -> &'a [f64] {
        &self.set.blocks
    }

    /// Replaces the contents of `out` by the features of some actions, in blocks of lanes.
    pub(crate) fn gather_into(self, indices: &[ActionIndex], out: &mut Aligned) {
        let dim = self.dim();
        out.set_zeros(indices.len().div_ceil(LANES) * LANES * dim);
        let start = |at: usize| at / LANES * LANES * dim + at % LANES;
        for (position, &index) in indices.iter().enumerate() {
            let to = out[start(position)..].iter_mut().step_by(LANES);
            match &self.set.rows {
                Rows::Whole(rows) => {
                    for (to, from) in to.zip(&rows[index * dim..(index + 1) * dim]) {
                        *to = *from;
                    }
                }
                Rows::OfBlocks(_) => {
                    let from = self.set.blocks[start(index)..].iter().step_by(LANES);
                    for (to, from) in to.zip(from).take(dim) {
                        *to = *from;
                    }
                }
            }
        }
    }
}

/// One action: its index and its features, so that a late reward does not need the old set.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Action<'a> {
    index: ActionIndex,
    features: &'a [f64],
}

impl<'a> Action<'a> {
    /// An action of a set that may no longer exist.
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

/// Copies rows into blocks of lanes.
///
/// # Errors
/// Names the first feature that is out of range.
fn interleave(rows: &[f64], blocks: &mut [f64], dim: usize) -> Result<(), ActionSetError> {
    // Checks all features without a branch for each. Only a refusal looks for the first bad one.
    if dim == 0 || Isa::detect().interleave(rows, blocks, dim, MAX_MAGNITUDE) {
        return Ok(());
    }
    // Negated rather than turned around: a NaN must be found too.
    let within = |x: &f64| x.abs() <= MAX_MAGNITUDE;
    let at = rows.iter().position(|x| !within(x)).unwrap_or_default();
    Err(ActionSetError::OutOfRange { action: at / dim, feature: at % dim, value: rows[at] })
}

/// Copies features into rows and into blocks, in pieces, so that they are read from memory once.
fn take_in(
    features: &[f64],
    rows: &mut [f64],
    blocks: &mut [f64],
    dim: usize,
) -> Result<(), ActionSetError> {
    if features.len() <= AT_A_TIME {
        let settled = interleave(features, blocks, dim);
        rows.copy_from_slice(features);
        return settled;
    }
    let count = (AT_A_TIME / (LANES * dim)).max(1);
    let size = count * LANES * dim;
    let copies = rows.chunks_mut(size).zip(blocks.chunks_mut(size));
    for (number, (features, (rows, blocks))) in features.chunks(size).zip(copies).enumerate() {
        interleave(features, blocks, dim).map_err(|error| error.in_block(number * count))?;
        rows.copy_from_slice(features);
    }
    Ok(())
}

/// Turns rows into blocks of lanes in place: a block takes the memory of its own rows.
fn interleaved_in_place(rows: Vec<f64>, dim: usize) -> Result<Aligned, ActionSetError> {
    let size = LANES * dim;
    let padded = rows.len().next_multiple_of(size);
    let mut blocks = Aligned::from_vec(rows, padded);
    let mut scratch = vec![0.0; size];
    for (number, block) in blocks.chunks_exact_mut(size).enumerate() {
        scratch.copy_from_slice(block);
        interleave(&scratch, block, dim).map_err(|error| error.in_block(number))?;
    }
    Ok(blocks)
}

/// Makes the rows of one block.
fn rows_of(block: &[f64], dim: usize) -> Box<[f64]> {
    (0..LANES).flat_map(|lane| block[lane..].iter().step_by(LANES).take(dim)).copied().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refusals_name_the_culprit() {
        let rows = |rows: &[Vec<f64>]| ActionSet::from_rows(rows).unwrap_err();
        assert_eq!(rows(&[]), ActionSetError::Empty);
        assert_eq!(rows(&[vec![]]), ActionSetError::ZeroDim);
        assert_eq!(
            rows(&[vec![1.0], vec![]]),
            ActionSetError::Ragged { action: 1, expected: 1, found: 0 }
        );
        assert_eq!(
            rows(&[vec![1.0, 2.0], vec![1.0, f64::INFINITY]]),
            ActionSetError::OutOfRange { action: 1, feature: 1, value: f64::INFINITY }
        );
        assert!(matches!(rows(&[vec![f64::NAN]]), ActionSetError::OutOfRange { .. }));
        // In every place of whole blocks and of the last one, in small sets and in large ones.
        for (len, dim) in [(20, 3), (LARGE / 2 + 3, 2)] {
            for culprit in [0, 5, 7, 8, 17, len - 1] {
                let mut features = vec![1.0; len * dim];
                features[culprit * dim + 1] = f64::NAN;
                let refused = ActionSet::from_flat(features, dim).unwrap_err();
                let ActionSetError::OutOfRange { action, feature, .. } = refused else {
                    panic!("{refused}")
                };
                assert_eq!((action, feature), (culprit, 1));
            }
        }
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

    #[test]
    fn features_at_hand_are_taken_in_as_written_ones_are() {
        // In one piece; in several, the last not full; a block at a time; and without rows.
        for (len, dim) in
            [(20, 3), (AT_A_TIME + 5, 3), (3 * LANES + 1, AT_A_TIME), (LARGE / 2 + 3, 2)]
        {
            let features: Vec<f64> = (0..len * dim).map(|at| at as f64).collect();
            let mut given = ActionSet::from_flat(vec![1.0; len * dim], dim).unwrap();
            let mut written = ActionSet::from_flat(vec![1.0; len * dim], dim).unwrap();
            // Read before the refill, since rows that were read are kept.
            assert_eq!(given.view().get(1).features(), vec![1.0; dim]);
            let before = given.view().id();
            given.refill_from(&features).unwrap();
            written.refill(|rows| rows.copy_from_slice(&features)).unwrap();
            assert_ne!(before, given.view().id());
            assert_eq!(given.view().blocks(), written.view().blocks());
            assert!(given.view().iter().eq(written.view().iter()));
            let mut refused = features;
            refused[(len - 2) * dim + 1] = -f64::INFINITY;
            let culprit = ActionSetError::OutOfRange {
                action: len - 2,
                feature: 1,
                value: f64::NEG_INFINITY,
            };
            assert_eq!(given.refill_from(&refused), Err(culprit));
            assert!(given.view().iter().all(|action| action.features().iter().all(|x| *x == 0.0)));
        }
    }

    #[test]
    #[should_panic(expected = "a set of 2 features was given 3")]
    fn more_features_than_the_set_has_are_refused() {
        ActionSet::from_rows(&[[1.0], [2.0]]).unwrap().refill_from(&[1.0, 2.0, 3.0]).unwrap();
    }

    #[test]
    fn a_large_set_is_held_once_and_reads_the_same() {
        let dim = 3;
        let len = LARGE / dim + 5;
        let features: Vec<f64> = (0..len * dim).map(|at| (at as f64 * 0.37).sin()).collect();
        let mut set = ActionSet::from_flat(features.clone(), dim).unwrap();
        assert!(matches!(set.rows, Rows::OfBlocks(_)));
        for index in [0, 7, 8, 12_345, len - 1] {
            assert_eq!(set.view().get(index).features(), &features[index * dim..(index + 1) * dim]);
        }
        let Rows::OfBlocks(blocks) = &set.rows else { unreachable!() };
        assert_eq!(blocks.iter().filter(|block| block.get().is_some()).count(), 4);
        let small = ActionSet::from_flat(features[..300].to_vec(), dim).unwrap();
        assert_eq!(small.view().blocks()[..288], set.view().blocks()[..288]);
        let norm_sq = |row: &[f64]| row.iter().map(|x| x * x).sum::<f64>();
        let largest = features.chunks_exact(dim).map(norm_sq).fold(0.0, f64::max);
        assert_eq!(set.view().largest_norm().to_bits(), largest.sqrt().to_bits());
        set.refill(|rows| {
            assert_eq!(rows, features);
            rows[1] = 9.0;
        })
        .unwrap();
        assert_eq!((set.view().get(0).features()[1], set.view().blocks()[LANES]), (9.0, 9.0));
    }
}
