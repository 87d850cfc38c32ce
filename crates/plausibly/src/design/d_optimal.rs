//! D-optimal designs by Frank–Wolfe with away steps.

use super::Span;
use crate::actions::{ActionIndex, Actions};
use crate::linalg::{Cholesky, Isa, dot, scaled_identity};

/// After this many rank-one steps the inverse is computed from the weights, which removes drift.
const RESTART_EVERY: usize = 64;
/// The search stops after this many steps. Convergence is linear, so only a tolerance that rounding
/// does not allow gets this far.
const MAX_STEPS: usize = 200_000;

/// Weights `π` over actions that maximise `log det Σ π(a)·a·aᵀ`, with the gap to the optimum.
///
/// ```text
/// leverage(a) = aᵀ·M(π)⁻¹·a,   M(π) = Σ π(a)·a·aᵀ,   optimal ⟺ max leverage = r
/// ```
///
/// By the equivalence theorem \[KW60\] the D-optimal design is also G-optimal: it minimises the
/// largest variance over the actions. `r` is the dimension of the span of the actions; if they do
/// not span ℝᵈ, the design is computed in their span.
///
/// # Method
/// Frank–Wolfe steps towards the action of largest leverage or away from the supported one of
/// smallest, whichever violates optimality more, with exact line search (Wolfe–Atwood; \[TY07\]).
/// The search stops at its duality gap: when the largest leverage, recomputed from the weights, is
/// at most `(1 + tolerance)·r`. If rounding does not allow the tolerance it stops after 200,000
/// steps; [`Design::largest_leverage`] is what it reached. An action whose weight reaches zero in a
/// step away from it leaves the support, so designs are sparse.
///
/// # Cost
/// O(K·r) per step and O(K·r²) every 64 steps; no draws.
///
/// # Example
/// ```
/// use plausibly::{ActionSet, Design};
/// let set = ActionSet::from_rows(&[[1.0, 0.0], [0.0, 1.0], [0.1, 0.1]])?;
/// let design = Design::d_optimal(set.view(), &[0, 1, 2], 1e-6);
/// assert_eq!(design.support().map(|(action, _)| action).collect::<Vec<_>>(), [0, 1]);
/// assert!(design.largest_leverage() <= 2.0 * (1.0 + 1e-6));
/// # Ok::<(), plausibly::ActionSetError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Design {
    among: Vec<ActionIndex>,
    weights: Vec<f64>,
    span: Span,
    largest_leverage: f64,
}

impl Design {
    /// The design over the actions listed in `among`.
    ///
    /// # Panics
    /// If `among` is empty or names an action that is not in the set, the actions have no features,
    /// or `tolerance` is not positive.
    pub fn d_optimal(actions: Actions<'_>, among: &[ActionIndex], tolerance: f64) -> Self {
        assert!(!among.is_empty(), "a design needs actions to choose from");
        assert!(tolerance > 0.0, "the tolerance of a design must be positive, got {tolerance}");
        let span = Span::new(actions, among);
        let rank = span.rank();
        if rank == 0 {
            // There are only zero vectors, so nothing can be learned and every design is optimal.
            let mut weights = vec![0.0; among.len()];
            weights[0] = 1.0;
            return Self { among: among.to_vec(), weights, span, largest_leverage: 0.0 };
        }
        let mut search = Search::new(actions, among, &span);
        let limit = (1.0 + tolerance) * rank as f64;
        for step in 1..=MAX_STEPS {
            let fresh = step % RESTART_EVERY == 0;
            if fresh {
                search.recompute();
            }
            let (towards, largest) = search.largest();
            if largest <= limit {
                // Leverages that followed steps have drifted: convergence is judged by new ones.
                search.recompute();
                if search.largest().1 <= limit {
                    break;
                }
                continue;
            }
            let (away, smallest) = search.smallest_supported();
            if largest - rank as f64 >= rank as f64 - smallest {
                search.move_weight(towards);
            } else {
                search.move_weight(away);
            }
        }
        search.recompute();
        let largest_leverage = search.largest().1;
        Self { among: among.to_vec(), weights: search.weights, span, largest_leverage }
    }

    /// The actions with positive weights, in the order of the list given, with their weights, which
    /// sum to one.
    pub fn support(&self) -> impl Iterator<Item = (ActionIndex, f64)> {
        self.among
            .iter()
            .copied()
            .zip(self.weights.iter().copied())
            .filter(|(_, weight)| *weight > 0.0)
    }

    /// r, the dimension of the span of the actions.
    pub fn rank(&self) -> usize {
        self.span.rank()
    }

    pub(crate) fn into_span(self) -> Span {
        self.span
    }

    /// The largest leverage over all actions of the list; `largest_leverage / r − 1` is the
    /// relative gap to the optimum.
    pub fn largest_leverage(&self) -> f64 {
        self.largest_leverage
    }
}

/// The state of the search, in coordinates of the span.
struct Search {
    rank: usize,
    points: Vec<f64>,
    weights: Vec<f64>,
    inverse: Vec<f64>,
    leverage: Vec<f64>,
}

impl Search {
    /// Equal weights on the pivots of the span, which are independent: `M` has an inverse from the
    /// start.
    fn new(actions: Actions<'_>, among: &[ActionIndex], span: &Span) -> Self {
        let rank = span.rank();
        let mut points = Vec::with_capacity(among.len() * rank);
        for &action in among {
            span.coordinates(actions.get(action).features(), &mut points);
        }
        let mut weights = vec![0.0; among.len()];
        for &pivot in &span.pivots {
            weights[pivot] = 1.0 / rank as f64;
        }
        let (inverse, leverage) = (scaled_identity(rank, 1.0), vec![0.0; among.len()]);
        let mut search = Self { rank, points, weights, inverse, leverage };
        search.recompute();
        search
    }

    /// `M⁻¹` and all leverages from the weights.
    fn recompute(&mut self) {
        let rank = self.rank;
        let total: f64 = self.weights.iter().sum();
        let mut matrix = vec![0.0; rank * rank];
        for (point, weight) in self.points.chunks_exact(rank).zip(&mut self.weights) {
            *weight /= total;
            if *weight > 0.0 {
                for (row, x) in matrix.chunks_exact_mut(rank).zip(point) {
                    for (entry, y) in row.iter_mut().zip(point) {
                        *entry += *weight * (x * y);
                    }
                }
            }
        }
        // The support always spans: it does at the start, and a line search that maximises log det
        // never ends where that is −∞.
        if let Ok(factor) = Cholesky::new(&matrix, rank) {
            factor.inverse_into(&mut self.inverse);
        }
        let isa = Isa::detect();
        let mut solved = vec![0.0; rank];
        for (point, leverage) in self.points.chunks_exact(rank).zip(&mut self.leverage) {
            isa.symmetric_product(&self.inverse, point, &mut solved);
            *leverage = dot(point, &solved);
        }
    }

    fn largest(&self) -> (usize, f64) {
        let all = self.leverage.iter().copied().enumerate();
        all.fold((0, f64::NEG_INFINITY), |best, next| if next.1 > best.1 { next } else { best })
    }

    fn smallest_supported(&self) -> (usize, f64) {
        let all = self.leverage.iter().copied().enumerate().filter(|(i, _)| self.weights[*i] > 0.0);
        all.fold((0, f64::INFINITY), |best, next| if next.1 < best.1 { next } else { best })
    }

    /// Line search along `M ↦ (1 − α)·M + α·x·xᵀ`: α > 0 for an action of large leverage, α < 0 for
    /// one of small.
    fn move_weight(&mut self, j: usize) {
        let (rank, leverage, weight) = (self.rank as f64, self.leverage[j], self.weights[j]);
        let lowest = -weight / (1.0 - weight);
        // d/dα log det = 0 at (g − r)/(r·(g − 1)); for g ≤ 1 the determinant grows until the action
        // is dropped.
        let best =
            if leverage > 1.0 { (leverage - rank) / (rank * (leverage - 1.0)) } else { lowest };
        let alpha = best.max(lowest);
        let mut direction = vec![0.0; self.rank];
        let point = &self.points[j * self.rank..(j + 1) * self.rank];
        Isa::detect().symmetric_product(&self.inverse, point, &mut direction);
        let shrink = alpha / (1.0 - alpha + alpha * leverage);
        for (point, leverage) in self.points.chunks_exact(self.rank).zip(&mut self.leverage) {
            let s = dot(point, &direction);
            *leverage = (*leverage - shrink * s * s) / (1.0 - alpha);
        }
        for (row, x) in self.inverse.chunks_exact_mut(self.rank).zip(&direction) {
            for (entry, y) in row.iter_mut().zip(&direction) {
                *entry = (*entry - shrink * (x * y)) / (1.0 - alpha);
            }
        }
        for weight in &mut self.weights {
            *weight *= 1.0 - alpha;
        }
        // The weight of a dropped action must be exactly zero, or a rounding error would keep the
        // action in the support.
        self.weights[j] = if best <= lowest { 0.0 } else { self.weights[j] + alpha };
    }
}
