//! Exact lazy scoring of a set never seen before: most of its actions are told by a bound on their
//! width that costs O(d), and few are scored.
//!
//! With `D` the diagonal of `V⁻¹` and `ρ` no less than the largest eigenvalue of `D^-½·V⁻¹·D^-½`,
//!
//! ```text
//! aᵀV⁻¹a ≤ u_a = ρ·Σᵢ aᵢ²·Dᵢᵢ.
//! ```
//!
//! `V` only grows, so the bound is one on all later widths as well, and is made anew only now and
//! then. It is no worse for features of different scales, and the better the more evenly directions
//! are known: `ρ` is 1 where they are known independently.
//!
//! Score one action that promises a large lower bound `L`. Whoever has `m_a + √β·√u_a < L` is not
//! plausible, and has neither the largest lower nor the largest upper bound. Where the largest
//! upper bound alone is sought, `L` is the upper bound of one action that promises a large one. All
//! others are scored, to the bits they would have among all.

use super::contenders::{Few, Moment, Seek};
use super::{Contenders, Sought};
use crate::actions::Actions;
use crate::linalg::Isa;
use crate::state::{SieveState, StateError, holds};

/// What rounding may do to a bound, far above what it does to a model in good condition.
const MARGIN: f64 = 1e-6;
/// It pays if it leaves no more than one in so many actions.
const WORTHWHILE: usize = 2;
/// Sets so small are scored faster than sieved; and so are those with fewer actions than four times
/// their features.
const SMALL: usize = 32;
/// From so many actions on the width of one is worth computing to rule out others.
const LARGE: usize = 512;
/// With so few features a width costs little more than a bound on it, and only large sets are
/// sieved.
const NARROW: usize = 6;
/// Squarings of a matrix: its largest eigenvalue is then known up to a factor of `d` to the power
/// of one by twice two to the power of these.
const SQUARINGS: u32 = 4;

#[derive(Clone, Debug, Default)]
pub(super) struct Sieve {
    /// `ρ·Dᵢᵢ`, with the margin.
    limits: Vec<f64>,
    /// After how many observations; the limits hold from there on.
    made_at: u64,
    /// It is not tried before so many.
    not_before: u64,
    /// Means, and bounds on squared widths, of all actions.
    mean: Vec<f64>,
    bound_sq: Vec<f64>,
    /// Those that come into question.
    few: Few,
    /// `L`.
    beyond: f64,
    scratch: [Vec<f64>; 2],
}

impl Sieve {
    pub(super) fn contenders(&self) -> Contenders<'_> {
        self.few.contenders(self.beyond)
    }

    /// Whether it may pay for this set, by a model that has learned so much.
    pub(super) fn worth_trying(&self, actions: Actions<'_>, observations: u64) -> bool {
        let least = if actions.dim() <= NARROW { LARGE } else { SMALL.max(4 * actions.dim()) };
        actions.len() >= least && observations > 0 && observations >= self.not_before
    }

    /// Scores those that come into question, unless they are too many for it to be of use.
    pub(super) fn sift(&mut self, seek: Seek<'_>, now: Moment<'_>) -> bool {
        let Seek { actions, sought, sqrt_beta } = seek;
        if self.limits.is_empty() || now.observations > self.made_at + self.made_at / 16 {
            self.make_limits(now);
        }
        self.mean.resize(actions.len(), 0.0);
        self.bound_sq.resize(actions.len(), 0.0);
        let Self { mean, bound_sq, .. } = self;
        now.isa.limit(actions.blocks(), now.theta_hat, &self.limits, mean, bound_sq);
        // Any action would do; one that promises much rules out many.
        let scale = if sought == Sought::LargestUpper { sqrt_beta } else { -sqrt_beta };
        let anchor = now.isa.farthest_along(mean, bound_sq, scale);
        let (anchor_mean, mut anchor_sq) = (mean[anchor], bound_sq[anchor]);
        // In a small set the width of one costs more than it saves beside a bound on it; but of a
        // bound it is not known that an upper bound reaches so far.
        if sought == Sought::LargestUpper || actions.len() >= LARGE {
            self.few.indices.clear();
            self.few.indices.push(anchor);
            self.few.score(actions, now);
            anchor_sq = self.few.scores.width_sq[0];
        }
        let half_width = sqrt_beta * anchor_sq.sqrt();
        self.beyond = match sought {
            Sought::Plausible | Sought::Widest => anchor_mean - half_width,
            Sought::LargestUpper => anchor_mean + half_width,
        };
        self.few.indices.clear();
        let most = actions.len() / WORTHWHILE;
        // The limits have a margin for what rounding does to squares and roots.
        now.isa.reaching(
            &self.mean,
            &self.bound_sq,
            sqrt_beta,
            self.beyond,
            most,
            &mut self.few.indices,
        );
        if self.few.indices.len() > most {
            self.not_before = now.observations + 4 + now.observations / 8;
            return false;
        }
        self.few.score(actions, now);
        true
    }

    /// O(d³).
    fn make_limits(&mut self, now: Moment<'_>) {
        let dim = now.theta_hat.len();
        let diagonal = |i: usize| now.gram_inverse[i * dim + i];
        let [matrix, product] = &mut self.scratch;
        matrix.clear();
        matrix.extend(
            (0..dim * dim)
                .map(|at| now.gram_inverse[at] / (diagonal(at / dim) * diagonal(at % dim)).sqrt()),
        );
        let rho = largest_eigenvalue(now.isa, matrix, product, dim);
        self.limits.clear();
        self.limits.extend((0..dim).map(|i| rho * (1.0 + MARGIN) * diagonal(i)));
        self.made_at = now.observations;
    }

    pub(super) fn state(&self) -> SieveState {
        SieveState {
            limits: self.limits.clone(),
            made_at: self.made_at,
            not_before: self.not_before,
        }
    }

    pub(super) fn restored(state: SieveState, dim: usize) -> Result<Self, StateError> {
        let SieveState { limits, made_at, not_before } = state;
        let fits = limits.is_empty() || limits.len() == dim;
        holds(
            "sieve.limits",
            fits && limits.iter().all(|limit| limit.is_finite() && *limit > 0.0),
        )?;
        Ok(Self { limits, made_at, not_before, ..Self::default() })
    }
}

/// No less than the largest eigenvalue of a positive matrix, and at most `d^(1/32)` times it: the
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
        // Once, and they are not made anew.
        const DONE: u64 = u64::MAX / 2;
        if !self.limits.is_empty() && self.made_at < DONE {
            self.made_at = DONE;
            for limit in &mut self.limits {
                *limit /= 16.0;
            }
        }
    }
}
