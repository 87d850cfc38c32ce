//! What has been counted since the last refit: widths follow it, the set does not.

use crate::linalg::Isa;
use crate::model::fit::Step;

/// Scores follow steps while the condition of the matrix times the share by which steps may have
/// shrunk a squared width is below this; so at most nine of sixteen digits are lost.
const MOST_LOSS: f64 = 1e9;
/// How far off a squared width can be that has followed steps, as a share of itself, and in units
/// of that condition where this is more: as in a ridge.
const MARGIN: f64 = 1e-6;
const MARGIN_PER_CONDITION: f64 = 1e-12;

/// `H̃⁻¹` with outcomes since, and with decisions that are only counted.
#[derive(Clone, Debug)]
pub(super) struct Design {
    /// Empty while nothing is counted; its room is kept for the next time.
    pub(super) inverse: Vec<f64>,
    /// The last step to it.
    step: Step,
    /// No smaller than its condition; infinite where steps are not known.
    condition: f64,
    /// For steps that move no estimate: features times the root of their weight, and zeros.
    weighted: Vec<f64>,
    still: Vec<f64>,
}

impl Design {
    /// Nothing counted yet.
    pub(super) fn new(dim: usize) -> Self {
        Self::counted(Vec::new(), dim)
    }

    /// By steps that are not known.
    pub(super) fn counted(inverse: Vec<f64>, dim: usize) -> Self {
        let step = Step { direction: vec![0.0; dim], gain: 0.0, length: 0.0 };
        let condition = f64::INFINITY;
        Self { inverse, step, condition, weighted: Vec::new(), still: vec![0.0; dim] }
    }

    /// Whether nothing is counted.
    pub(super) fn is_empty(&self) -> bool {
        self.inverse.is_empty()
    }

    /// Starts from a matrix of this condition, and counts nothing yet.
    pub(super) fn start(&mut self, inverse: &[f64], condition: f64) {
        self.inverse.extend_from_slice(inverse);
        self.condition = condition;
    }

    /// One more outcome of an action, of this weight.
    pub(super) fn count(&mut self, isa: Isa, features: &[f64], weight: f64) {
        let root = weight.sqrt();
        self.weighted.clear();
        self.weighted.extend(features.iter().map(|entry| root * entry));
        let Self { inverse, step, weighted, still, .. } = self;
        let learned = isa.take_step(inverse, still, &mut step.direction, weighted, 0.0);
        // `tr V` grows by no more than that.
        self.condition *= 1.0 + learned.width_sq;
    }

    /// The last step, if scores can follow it, and how far off those are that do.
    pub(super) fn step(&self) -> Option<(&Step, f64)> {
        let margin = MARGIN.max(MARGIN_PER_CONDITION * self.condition);
        // NaN does not follow.
        (self.condition <= MOST_LOSS).then_some((&self.step, margin))
    }
}
