//! Cholesky factor: built, updated by rank one, solved with and inverted.
//!
//! Hand-written rather than taken from a general library because those dispatch to fused
//! multiply-add where the processor has it, which changes the last bits from machine to machine
//! (`docs/design/numerics.md`).

use super::Isa;
use thiserror::Error;

/// The matrix is singular, or too close to it for a factor to mean anything.
#[derive(Clone, Copy, Debug, Error, PartialEq)]
#[error("matrix is not positive definite: pivot {index} is {pivot}")]
pub(crate) struct NotPositive {
    pub(crate) index: usize,
    pub(crate) pivot: f64,
}

/// A pivot below this share of its diagonal entry counts as zero.
///
/// A pivot is what elimination leaves of the diagonal entry, so its rounding error is about 1e-16
/// of that entry. If the condition passes 1e10, the entries of the inverse are so large that their
/// cancellation destroys the quadratic forms of directions that *are* well known.
pub(crate) const PIVOT_TOLERANCE: f64 = 1e-10;

/// `A = L·Lᵀ`, with `L` kept as its transpose: row `k` is column `k` of `L`, so every inner loop
/// runs along a row.
#[derive(Clone, Debug)]
pub(crate) struct Cholesky {
    dim: usize,
    upper: Vec<f64>,
}

impl Cholesky {
    /// Factors a symmetric matrix; reads only its upper triangle. O(d³/3).
    pub(crate) fn new(matrix: &[f64], dim: usize) -> Result<Self, NotPositive> {
        let mut upper = matrix.to_vec();
        for k in 0..dim {
            let (head, tail) = upper.split_at_mut((k + 1) * dim);
            let row = &mut head[k * dim..];
            let pivot = row[k];
            // Written so that NaN fails too.
            let usable = pivot > PIVOT_TOLERANCE * matrix[k * dim + k] && pivot.is_finite();
            if !usable {
                return Err(NotPositive { index: k, pivot });
            }
            let root = pivot.sqrt();
            for entry in &mut row[k..] {
                *entry /= root;
            }
            row[..k].fill(0.0);
            for (below, i) in tail.chunks_exact_mut(dim).zip(k + 1..) {
                let scale = row[i];
                // Most entries of a prior, or of blocks that do not meet, are zero: a diagonal
                // matrix is O(d²).
                if scale == 0.0 {
                    continue;
                }
                for (entry, other) in below[i..].iter_mut().zip(&row[i..]) {
                    *entry -= scale * other;
                }
            }
        }
        Ok(Self { dim, upper })
    }

    /// `Lᵀ`, row-major.
    pub(crate) fn upper(&self) -> &[f64] {
        &self.upper
    }

    /// From `Lᵀ`; `None` if a pivot is not positive.
    pub(crate) fn from_upper(upper: Vec<f64>, dim: usize) -> Option<Self> {
        let factor = Self { dim, upper };
        (0..dim).all(|k| factor.row(k)[k] > 0.0).then_some(factor)
    }

    /// Becomes the factor of `A + x·xᵀ`, using `x` as scratch. O(d²), by one Givens rotation a row.
    pub(crate) fn add_outer(&mut self, x: &mut [f64]) {
        Isa::detect().rotate_in(&mut self.upper, x);
    }

    /// Solves `L·z = b` in place.
    pub(crate) fn solve_lower(&self, b: &mut [f64]) {
        for k in 0..self.dim {
            let row = self.row(k);
            b[k] /= row[k];
            let solved = b[k];
            for (b, entry) in b[k + 1..].iter_mut().zip(&row[k + 1..]) {
                *b -= solved * entry;
            }
        }
    }

    /// Solves `Lᵀ·z = b` in place.
    pub(crate) fn solve_upper(&self, b: &mut [f64]) {
        Isa::detect().solve_upper(&self.upper, b);
    }

    /// Solves `A·z = b` in place. O(d²).
    pub(crate) fn solve(&self, b: &mut [f64]) {
        self.solve_lower(b);
        self.solve_upper(b);
    }

    /// `A⁻¹`, exactly symmetric, into `out`. O(d³), along rows throughout.
    pub(crate) fn inverse_into(&self, out: &mut [f64]) {
        let dim = self.dim;
        // S = (Lᵀ)⁻¹ from its last row up: what row k of Lᵀ·S = I leaves, once the rows below are
        // known.
        let mut inverse = vec![0.0; dim * dim];
        for k in (0..dim).rev() {
            let (head, below) = inverse.split_at_mut((k + 1) * dim);
            let target = &mut head[k * dim..];
            let row = self.row(k);
            for (other, i) in below.chunks_exact(dim).zip(k + 1..) {
                if row[i] == 0.0 {
                    continue;
                }
                for (entry, value) in target[i..].iter_mut().zip(&other[i..]) {
                    *entry -= row[i] * value;
                }
            }
            for entry in &mut target[k + 1..] {
                *entry /= row[k];
            }
            target[k] = 1.0 / row[k];
        }
        // A⁻¹ = S·Sᵀ as a sum of outer products of the columns of S; products commute, so the
        // result is symmetric to the bit.
        out.fill(0.0);
        let mut column = vec![0.0; dim];
        for k in 0..dim {
            for (entry, row) in column[..=k].iter_mut().zip(inverse.chunks_exact(dim)) {
                *entry = row[k];
            }
            for (row, scale) in out.chunks_exact_mut(dim).zip(&column[..=k]) {
                if *scale == 0.0 {
                    continue;
                }
                for (entry, value) in row.iter_mut().zip(&column[..=k]) {
                    *entry += scale * value;
                }
            }
        }
    }

    /// `log det A`.
    pub(crate) fn log_det(&self) -> f64 {
        (0..self.dim).map(|k| 2.0 * libm::log(self.row(k)[k])).sum()
    }

    fn row(&self, k: usize) -> &[f64] {
        &self.upper[k * self.dim..(k + 1) * self.dim]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_nan_pivot_is_refused() {
        let error = Cholesky::new(&[1.0, 0.0, 0.0, f64::NAN], 2).unwrap_err();
        assert_eq!(error.index, 1);
        assert!(Cholesky::new(&[1.0, 2.0, 2.0, 1.0], 2).is_err());
    }

    #[test]
    fn an_update_equals_a_new_factor() {
        let mut updated = Cholesky::new(&crate::linalg::scaled_identity(3, 2.0), 3).unwrap();
        let mut matrix = crate::linalg::scaled_identity(3, 2.0);
        for x in [[1.0, -0.5, 2.0], [0.0, 3.0, 0.25], [-1.0, -1.0, 0.5]] {
            updated.add_outer(&mut x.clone());
            for i in 0..3 {
                for j in 0..3 {
                    matrix[i * 3 + j] += x[i] * x[j];
                }
            }
        }
        let fresh = Cholesky::new(&matrix, 3).unwrap();
        for (a, b) in updated.upper.iter().zip(&fresh.upper) {
            assert!((a - b).abs() < 1e-14, "{a} {b}");
        }
        let mut b = [1.0, 2.0, 3.0];
        fresh.solve(&mut b);
        let back: Vec<f64> =
            (0..3).map(|i| crate::linalg::dot(&matrix[i * 3..i * 3 + 3], &b)).collect();
        for (a, b) in back.iter().zip([1.0, 2.0, 3.0]) {
            assert!((a - b).abs() < 1e-13);
        }
    }

    #[test]
    fn updates_from_almost_nothing_stay_close_to_the_sum() {
        let mut rng = crate::rng::Stream::new(2, 0, "factor");
        for round in 0..60 {
            let (dim, updates) = (1 + round % 12, 1500);
            let scale = |rng: &mut crate::rng::Stream| libm::pow(10.0, 8.0 * rng.uniform() - 4.0);
            let ridge = 1e-8 * scale(&mut rng);
            let mut matrix = crate::linalg::scaled_identity(dim, ridge);
            let mut updated = Cholesky::new(&matrix, dim).unwrap();
            for _ in 0..updates {
                let size = scale(&mut rng);
                let mut x: Vec<f64> = (0..dim).map(|_| size * rng.normal()).collect();
                for i in 0..dim {
                    for j in 0..dim {
                        matrix[i * dim + j] += x[i] * x[j];
                    }
                }
                updated.add_outer(&mut x);
            }
            // A rotation is off by a few units in the last place of what it turns, and they add up
            // over rows and updates.
            let trace: f64 = matrix.iter().step_by(dim + 1).sum();
            let tolerance = 20.0 * (dim * updates) as f64 * f64::EPSILON * trace;
            for i in 0..dim {
                for j in i..dim {
                    let product: f64 = (0..=i).map(|k| updated.row(k)[i] * updated.row(k)[j]).sum();
                    let entry = matrix[i * dim + j];
                    assert!(
                        (product - entry).abs() <= tolerance,
                        "round {round}: {product} for {entry}"
                    );
                }
            }
        }
    }
}
