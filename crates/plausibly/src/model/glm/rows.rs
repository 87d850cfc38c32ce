//! The rows that were taken, with what they paid, laid out for sums over them.

use super::Link;
use crate::exact::RowSums;
use crate::linalg::{Aligned, Isa, LANES, norm};

/// The rows of [`RowSums`] in their order.
#[derive(Clone, Debug)]
pub(super) struct Rows {
    pub(super) isa: Isa,
    pub(super) dim: usize,
    /// One row after the other, and the same in blocks of lanes.
    flat: Vec<f64>,
    blocks: Aligned,
    pub(super) norms: Vec<f64>,
    /// `n` and `Σy` of each row.
    pub(super) counts: Vec<f64>,
    pub(super) totals: Vec<f64>,
    /// Whether every reward is 0 or 1.
    pub(super) yes_no: bool,
}

impl Rows {
    pub(super) fn new(sums: &RowSums, isa: Isa) -> Self {
        let (dim, len) = (sums.dim(), sums.len());
        let mut rows = Self {
            isa,
            dim,
            flat: Vec::with_capacity(len * dim),
            blocks: Aligned::zeros(len.div_ceil(LANES) * LANES * dim),
            norms: Vec::with_capacity(len),
            counts: Vec::with_capacity(len),
            totals: Vec::with_capacity(len),
            // Rewards in [0, 1] are at least their squares, and equal to them only at the ends.
            yes_no: sums.tallies().all(|tally| tally.squares() == tally.sum() << 24),
        };
        sums.features_into(&mut rows.flat);
        rows.norms.extend(rows.flat.chunks_exact(dim).map(norm));
        for tally in sums.tallies() {
            rows.counts.push(tally.count() as f64);
            rows.totals.push(tally.reward_sum());
        }
        isa.interleave(&rows.flat, &mut rows.blocks, dim, f64::INFINITY);
        rows
    }

    pub(super) fn len(&self) -> usize {
        self.counts.len()
    }

    /// `⟨x, θ⟩` of each row.
    pub(super) fn dots(&self, theta: &[f64]) -> Vec<f64> {
        let mut out = vec![0.0; self.len()];
        self.isa.dots(&self.blocks, theta, &mut out);
        out
    }

    /// `⟨x, θ⟩` and `xᵀMx` of each row.
    pub(super) fn scores(&self, theta: &[f64], matrix: &[f64]) -> (Vec<f64>, Vec<f64>) {
        let (mut dots, mut squares) = (vec![0.0; self.len()], vec![0.0; self.len()]);
        self.isa.rebuild(&self.blocks, theta, matrix, &mut dots, &mut squares);
        (dots, squares)
    }

    /// `λI + Σ w·x·xᵀ`, all of it.
    pub(super) fn gram(&self, ridge: f64, weights: &[f64]) -> Vec<f64> {
        let dim = self.dim;
        let mut sum = crate::linalg::scaled_identity(dim, ridge);
        self.isa.add_weighted(&mut sum, &self.flat, weights, dim);
        for i in 0..dim {
            for j in 0..i {
                sum[i * dim + j] = sum[j * dim + i];
            }
        }
        sum
    }

    /// By how much `Σ [n·m(z) − z·Σy]` rises if each `z` falls by this much, with `moved` the
    /// `⟨x, θ⟩` of the rows.
    pub(super) fn rise(&self, (link, offset): (Link, f64), moved: &[f64], by: &[f64]) -> f64 {
        let rows = moved.iter().zip(by).zip(self.counts.iter().zip(&self.totals));
        let rise = |((moved, by), (count, total)): ((&f64, &f64), (&f64, &f64))| {
            let z = offset + moved;
            count * (link.cumulant(z - by) - link.cumulant(z)) + total * by
        };
        rows.map(rise).sum()
    }

    /// `∇f(θ) = λθ + Σ (n·μ(z) − Σy)·x`, with `moved` the `⟨x, θ⟩` of the rows.
    pub(super) fn gradient(
        &self,
        (link, offset): (Link, f64),
        ridge: f64,
        theta: &[f64],
        moved: &[f64],
    ) -> Vec<f64> {
        let mut sum: Vec<f64> = theta.iter().map(|entry| ridge * entry).collect();
        let rows = self.flat.chunks_exact(self.dim).zip(moved);
        for ((row, moved), (count, total)) in rows.zip(self.counts.iter().zip(&self.totals)) {
            let excess = count * link.mean(offset + moved) - total;
            for (sum, x) in sum.iter_mut().zip(row) {
                *sum += excess * x;
            }
        }
        sum
    }
}
