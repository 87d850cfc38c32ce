//! Features in single precision: half the memory to read, where a bound on what is lost will do.
//!
//! With `u = 2⁻²⁴`, rounding two vectors and their products is off by at most `3u·Σ|xⱼyⱼ| ≤
//! 3u·‖x‖·‖y‖`, and each addition a product goes through by `u` more, up to terms in `u²`.

use crate::actions::{Actions, SetId};
use crate::linalg::{Aligned, norm};

/// Magnitudes beyond which single precision could overflow; products of tiny numbers are off by far
/// less than [`TINY`].
const HUGE: f64 = 1e15;
const TINY: f64 = 1e-25;

/// A copy of a set's features, and of a vector to multiply them with.
#[derive(Debug, Default)]
pub(crate) struct Singles {
    /// Of which set.
    of: Option<SetId>,
    /// In blocks of lanes; empty if that set is not suited to it.
    blocks: Aligned<f32>,
    largest_norm: f64,
    vector: Vec<f32>,
}

/// What can be computed again is not copied.
impl Clone for Singles {
    fn clone(&self) -> Self {
        Self::default()
    }
}

/// Factors in single precision.
pub(crate) struct Factors<'a> {
    pub(crate) blocks: &'a [f32],
    pub(crate) vector: &'a [f32],
    /// `u` times the norms of both.
    unit: f64,
}

impl Factors<'_> {
    /// By how much a product can be off that goes through so many additions.
    pub(crate) fn error(&self, additions: usize) -> f64 {
        // One more than needed is more than what the terms in u² come to.
        (additions + 4) as f64 * self.unit + TINY
    }
}

impl Singles {
    /// The features of this set and this vector, `None` if single precision cannot hold them.
    /// O(K·d) for another set than the last.
    pub(crate) fn factors(&mut self, actions: Actions<'_>, vector: &[f64]) -> Option<Factors<'_>> {
        if self.of != Some(actions.id()) {
            self.take(actions);
        }
        let length = norm(vector);
        if self.blocks.is_empty() || length > HUGE {
            return None;
        }
        self.vector.clear();
        self.vector.extend(vector.iter().map(|x| single(*x)));
        let unit = 2.0_f64.powi(-24) * self.largest_norm * length;
        Some(Factors { blocks: &self.blocks, vector: &self.vector, unit })
    }

    fn take(&mut self, actions: Actions<'_>) {
        self.of = Some(actions.id());
        self.largest_norm = actions.largest_norm();
        let suited = self.largest_norm <= HUGE;
        self.blocks.set_zeros(if suited { actions.blocks().len() } else { 0 });
        for (single_x, x) in self.blocks.iter_mut().zip(actions.blocks()) {
            *single_x = single(*x);
        }
    }
}

/// The nearest number in single precision.
#[expect(clippy::cast_possible_truncation, reason = "what is lost is accounted for")]
pub(crate) fn single(x: f64) -> f32 {
    x as f32
}

/// Wrong on purpose: what tests must notice.
#[cfg(test)]
impl Singles {
    /// From now on, and as long as the set is the same, products are taken for exact.
    pub(crate) fn forget_errors(&mut self) {
        self.largest_norm = 0.0;
    }
}
