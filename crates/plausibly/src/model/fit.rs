//! A linear model as a search sees it.

use crate::linalg::{CompensatedGram, Isa, dot};
use std::sync::atomic::{AtomicU64, Ordering};

/// A linear model at one time: the estimate, its matrix, and the step that led to it.
///
/// A [`Search`](crate::search::Search) bounds scores by it. It is opaque: estimators that have one
/// get it from a [`Ridge`](crate::Ridge).
#[derive(Clone, Copy, Debug)]
pub struct Fit<'a> {
    /// [`Lineage::id`] of the model.
    pub(crate) lineage: u64,
    pub(crate) isa: Isa,
    pub(crate) observations: u64,
    pub(crate) gram: &'a CompensatedGram,
    pub(crate) gram_inverse: &'a [f64],
    pub(crate) moment: &'a [f64],
    pub(crate) theta_hat: &'a [f64],
    /// Takes scores from one observation before to now, within `margin`; `None` where they have to
    /// be computed from scratch.
    pub(crate) step: Option<&'a Step>,
    /// How far off a score can be that was followed or bounded instead of computed from scratch:
    /// squared widths by this share of themselves, means by this share of `‖θ̂‖_V` times the width.
    /// `None` where nothing can be relied on.
    pub(crate) margin: Option<f64>,
}

/// The rank-one step of one observation.
#[derive(Clone, Debug)]
pub(crate) struct Step {
    /// `v = V⁻¹x/√(1 + xᵀV⁻¹x)`, by the `V⁻¹` before.
    pub(crate) direction: Vec<f64>,
    /// `θ̂` moved by `gain·v`.
    pub(crate) gain: f64,
    /// `‖gain·v‖` in the norm of the `V` before.
    pub(crate) length: f64,
}

impl Fit<'_> {
    /// `‖θ̂‖_V`, which is `√⟨θ̂, b⟩`: no mean is larger in units of its width.
    pub(crate) fn length(&self) -> f64 {
        dot(self.moment, self.theta_hat).max(0.0).sqrt()
    }

    /// Means and squared widths from scratch of the actions in these blocks. O(d²) per action.
    pub(crate) fn score(&self, blocks: &[f64], mean: &mut [f64], width_sq: &mut [f64]) {
        self.isa.rebuild(blocks, self.theta_hat, self.gram_inverse, mean, width_sq);
    }
}

/// Tells models apart, so that what a search keeps about one is never used for another.
#[derive(Debug)]
pub(crate) struct Lineage(u64);

impl Lineage {
    pub(crate) fn new() -> Self {
        // Only equality is ever used, so the order in which threads draw cannot reach a result.
        static NEXT: AtomicU64 = AtomicU64::new(0);
        Self(NEXT.fetch_add(1, Ordering::Relaxed))
    }

    pub(crate) fn id(&self) -> u64 {
        self.0
    }
}

/// A copy gets a lineage of its own: it can learn other rewards than the original.
impl Clone for Lineage {
    fn clone(&self) -> Self {
        Self::new()
    }
}
