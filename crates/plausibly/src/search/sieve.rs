//! A bound on the widths of another set than last time, which rules out most of its actions.
//!
//! With `D` the diagonal of `V⁻¹` and `ρ` no less than the largest eigenvalue of
//! `D^-½·V⁻¹·D^-½`,
//!
//! ```text
//! aᵀV⁻¹a ≤ ρ·Σᵢ aᵢ²·Dᵢᵢ
//! ```
//!
//! which costs O(d) per action instead of O(d²). `V` only grows, so the bound holds for all later
//! widths as well, and is renewed only now and then. It does not depend on the units of features,
//! and is best where directions are known independently: `ρ` is 1 there.
//!
//! One action, scored from scratch or bounded, gives a lower limit `L` of the largest lower bound.
//! An action whose mean and bounded half-width stay below `L` is not plausible. Means need no
//! margin here: they are summed as scores from scratch sum them. At greed 1 the
//! limit is the upper bound of one action instead.

use super::{Question, Sought};
use crate::actions::ActionIndex;
use crate::linalg::{Aligned, Isa};
use crate::model::Fit;

/// The sieve is used if it leaves at most one in this many actions.
const FEW: usize = 2;
/// Sets with fewer actions, or with fewer than four per feature, are scored faster than sieved.
const SMALL: usize = 32;
/// With this many actions the exact width of one is worth computing to rule out others.
const LARGE: usize = 512;
/// With this many features or fewer, a width costs little more than its bound, and only large sets
/// are sieved.
const NARROW: usize = 6;
/// Squarings of a matrix: its largest eigenvalue is then known up to a factor of `d^(1/32)`.
const SQUARINGS: u32 = 4;

#[derive(Clone, Debug, Default)]
pub(super) struct Sieve {
    /// `ρ·Dᵢᵢ`, with a margin.
    limits: Vec<f64>,
    /// The limits hold from this number of observations on.
    made_at: u64,
    /// No set is sieved before this many observations.
    not_before: u64,
    mean: Vec<f64>,
    bound_sq: Vec<f64>,
    /// Bounds on half-widths.
    half_width: Vec<f64>,
    anchor: Aligned,
    scratch: [Vec<f64>; 2],
}

impl Sieve {
    /// Leaves in `found` the actions among which the answer is; false if the sieve is not worth its
    /// while on this set.
    pub(super) fn sift(
        &mut self,
        ask: &Question<'_>,
        sought: Sought,
        found: &mut Vec<ActionIndex>,
    ) -> bool {
        let Question { fit, margin, actions, sqrt_beta } = *ask;
        let fewest = if actions.dim() <= NARROW { LARGE } else { SMALL.max(4 * actions.dim()) };
        if actions.len() < fewest || fit.observations == 0 || fit.observations < self.not_before {
            return false;
        }
        if self.limits.is_empty() || fit.observations > self.made_at + self.made_at / 16 {
            self.make_limits(fit, margin);
        }
        let (isa, len) = (fit.isa, actions.len());
        for values in [&mut self.mean, &mut self.bound_sq, &mut self.half_width] {
            values.resize(len, 0.0);
        }
        let Self { mean, bound_sq, half_width, .. } = self;
        isa.limit(actions.blocks(), fit.theta_hat, &self.limits, mean, bound_sq);
        isa.bound(mean, bound_sq, sqrt_beta, half_width);
        let greedy = sought == Sought::Best { greed: 1.0 };
        let least = self.limit_by_one(ask, greedy);
        isa.reaching(&self.mean, &self.half_width, 1.0 + margin, least, found);
        if found.len() > len / FEW {
            self.not_before = fit.observations + 4 + fit.observations / 8;
            return false;
        }
        true
    }

    /// What the mean and half-width of the answer must reach: the lower bound of one action that
    /// promises a large one or, where the largest upper bound is sought, its upper bound.
    fn limit_by_one(&mut self, ask: &Question<'_>, greedy: bool) -> f64 {
        let Question { fit, actions, sqrt_beta, .. } = *ask;
        let Self { mean, bound_sq: promises, half_width, anchor, .. } = self;
        let sign = if greedy { 1.0 } else { -1.0 };
        for ((promise, mean), half) in promises.iter_mut().zip(&*mean).zip(&*half_width) {
            *promise = mean + sign * half;
        }
        let at = fit.isa.argmax(promises);
        let mut half = half_width[at];
        // A bound on a width limits a lower bound from below, and an upper bound from above only.
        if greedy || actions.len() >= LARGE {
            actions.gather_into(&[at], anchor);
            let mut width_sq = [0.0];
            fit.score(anchor, &mut [0.0], &mut width_sq);
            half = sqrt_beta * width_sq[0].sqrt();
        }
        mean[at] + sign * half
    }

    /// O(d³).
    fn make_limits(&mut self, fit: &Fit<'_>, margin: f64) {
        let (dim, inverse) = (fit.theta_hat.len(), fit.gram_inverse);
        let diagonal = |i: usize| inverse[i * dim + i];
        let [matrix, product] = &mut self.scratch;
        let scaled = |at: usize| inverse[at] / (diagonal(at / dim) * diagonal(at % dim)).sqrt();
        matrix.clear();
        matrix.extend((0..dim * dim).map(scaled));
        let rho = largest_eigenvalue(fit.isa, matrix, product, dim);
        self.limits.clear();
        self.limits.extend((0..dim).map(|i| rho * (1.0 + margin) * diagonal(i)));
        self.made_at = fit.observations;
    }
}

/// An upper limit of the largest eigenvalue of a positive matrix, at most `d^(1/32)` times it: the
/// 32nd root of the trace of its 32nd power, which is the sum of squares of the 16th.
fn largest_eigenvalue(isa: Isa, matrix: &mut Vec<f64>, product: &mut Vec<f64>, dim: usize) -> f64 {
    product.resize(dim * dim, 0.0);
    for _ in 0..SQUARINGS {
        for (out, row) in product.chunks_exact_mut(dim).zip(matrix.chunks_exact(dim)) {
            isa.symmetric_product(matrix, row, out);
        }
        std::mem::swap(matrix, product);
    }
    let trace: f64 = matrix.iter().map(|x| x * x).sum();
    (0..=SQUARINGS).fold(trace, |root, _| root.sqrt())
}

/// Wrong on purpose: what the laws must notice.
#[cfg(test)]
impl Sieve {
    pub(super) fn tighten_limits(&mut self) {
        // Once, and they are not renewed.
        const DONE: u64 = u64::MAX / 2;
        if !self.limits.is_empty() && self.made_at < DONE {
            self.made_at = DONE;
            for limit in &mut self.limits {
                *limit /= 16.0;
            }
        }
    }
}
