//! Dense arithmetic that gives the same bits on every instruction set.
//!
//! Matrices are `dim × dim`, row-major, in plain slices. Every sum has one written order, nothing
//! is fused, and a vector lane always holds one action (or one column), so wider registers change
//! the speed and never the result.

mod aligned;
mod cholesky;
mod compensated;
mod simd;

pub(crate) use aligned::Aligned;
pub(crate) use cholesky::{Cholesky, NotPositive, PIVOT_TOLERANCE};
pub(crate) use compensated::{Compensated, CompensatedGram, CompensatedSum};
pub(crate) use simd::{Beside, Finalists, LANES, Learned, Witness};
pub use simd::{Isa, PlausibleSummary};

/// `Σ xᵢ·yᵢ`, summed from the first entry to the last.
#[inline]
pub(crate) fn dot(x: &[f64], y: &[f64]) -> f64 {
    x.iter().zip(y).fold(0.0, |sum, (a, b)| sum + a * b)
}

/// Euclidean norm, plain: the inputs are bounded far from overflow by [`crate::ActionSet`].
pub(crate) fn norm(x: &[f64]) -> f64 {
    dot(x, x).sqrt()
}

/// The features of one action less those of each, in blocks of lanes as both are.
pub(crate) fn differences_into(blocks: &[f64], dim: usize, action: usize, out: &mut Aligned) {
    let start = action / LANES * LANES * dim + action % LANES;
    out.set_zeros(blocks.len());
    let lanes = out.as_chunks_mut::<LANES>().0.chunks_exact_mut(dim);
    for (rows, block) in lanes.zip(blocks.as_chunks::<LANES>().0.chunks_exact(dim)) {
        let features = blocks[start..].iter().step_by(LANES);
        for ((rows, others), own) in rows.iter_mut().zip(block).zip(features) {
            for (row, other) in rows.iter_mut().zip(others) {
                *row = own - other;
            }
        }
    }
}

/// `scale` times the identity.
pub(crate) fn scaled_identity(dim: usize, scale: f64) -> Vec<f64> {
    let mut matrix = vec![0.0; dim * dim];
    for i in 0..dim {
        matrix[i * dim + i] = scale;
    }
    matrix
}
