//! Which actions the two witnesses do not rule out for sure.
//!
//! By differences an action is judged beside the leader, which has the largest mean, and the
//! firmest action, which has the largest lower bound. Scores that follow observations can be off,
//! so they may leave several candidates for each. The candidates are scored from scratch, and then
//! both witnesses are known. For a witness `a` and `u = V⁻¹a`,
//!
//! ```text
//! ‖a − b‖²_{V⁻¹} = ‖a‖² + ‖b‖² − 2·⟨b, u⟩
//! ```
//!
//! costs one dot product per action. Small differences of long actions lose digits this way, so
//! it only filters: an action that no witness rules out by more than the margin is kept, and the
//! difference itself is scored from scratch.

use super::{Question, Sought};
use crate::actions::ActionIndex;
use crate::linalg::{Aligned, LANES, Witness};
use crate::model::Scores;

/// The actions among which an answer is sought, with scores within the margin of the fit.
pub(super) struct Field<'a, 'b> {
    /// Their features.
    pub(super) blocks: &'b [f64],
    pub(super) scores: &'a Scores,
    /// Which actions they are; `None` if they are all.
    pub(super) indices: Option<&'a [ActionIndex]>,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Contest {
    half_width: Vec<f64>,
    /// Positions of those that may be a witness.
    candidates: Vec<usize>,
    indices: Vec<ActionIndex>,
    rows: Aligned,
    scores: Scores,
    /// `u`, and the features of its witness.
    solved: Vec<f64>,
    features: Vec<f64>,
    dots: Vec<f64>,
    sure: Vec<f64>,
    maybe: Vec<f64>,
}

impl Contest {
    /// Leaves in `found` the positions of the actions among which the answer is and, if there are
    /// several, of both witnesses, in order.
    pub(super) fn filter(
        &mut self,
        ask: &Question<'_>,
        field: &Field<'_, '_>,
        sought: Sought,
        found: &mut Vec<usize>,
    ) {
        let Question { fit, margin, sqrt_beta, .. } = *ask;
        let relative = fit.length() / sqrt_beta;
        let mean_pad = margin * relative;
        let [leader, firmest] = self.witnesses(ask, field, mean_pad);
        self.judge(ask, field, mean_pad, leader, true);
        if firmest != leader {
            self.judge(ask, field, mean_pad, firmest, false);
        }
        // No mean is larger, so nothing rules it out.
        self.sure[leader] = f64::INFINITY;
        let Scores { isa, mean, .. } = field.scores;
        let greed = if let Sought::Best { greed } = sought { Some(greed) } else { None };
        let value_pad = margin * (1.0 + greed.unwrap_or(0.0) * relative);
        let slack = [&self.sure[..], &self.maybe[..]];
        isa.undecided(mean, &self.half_width, slack, greed, value_pad, found);
        if found.len() > 1 {
            found.extend([leader, firmest]);
            found.sort_unstable();
            found.dedup();
        }
    }

    /// How far each action is from being ruled out, by scores that follow observations.
    pub(super) fn slack_nearly(&mut self, ask: &Question<'_>, field: &Field<'_, '_>) -> &[f64] {
        let Scores { isa, mean, width_sq } = field.scores;
        self.half_width.resize(mean.len(), 0.0);
        let best_lower = isa.bound(mean, width_sq, ask.sqrt_beta, &mut self.half_width);
        let leader = isa.argmax(mean);
        let lower = |position: usize| mean[position] - self.half_width[position];
        let firmest = (0..mean.len()).find(|position| lower(*position) >= best_lower);
        let exact = Question { margin: 0.0, ..*ask };
        self.judge(&exact, field, 0.0, leader, true);
        if let Some(firmest) = firmest.filter(|firmest| *firmest != leader) {
            self.judge(&exact, field, 0.0, firmest, false);
        }
        &self.maybe
    }

    /// The positions of the leader and of the firmest action, by scores from scratch. Fills the
    /// half-widths.
    fn witnesses(
        &mut self,
        ask: &Question<'_>,
        field: &Field<'_, '_>,
        mean_pad: f64,
    ) -> [usize; 2] {
        let Scores { isa, mean, width_sq } = field.scores;
        let pad = ask.margin + mean_pad;
        self.half_width.resize(mean.len(), 0.0);
        let pads = [mean_pad, pad];
        let least = isa.leads(mean, width_sq, ask.sqrt_beta, pads, &mut self.half_width);
        let (by_mean, by_lower) = ((mean_pad, least[0], 0.0), (pad - 1.0, least[1], 1.0));
        [by_mean, by_lower].map(|(pad, least, halves)| {
            isa.reaching(mean, &self.half_width, pad, least, &mut self.candidates);
            if let [only] = self.candidates[..] { only } else { self.resolve(ask, field, halves) }
        })
    }

    /// The one of several candidates with the largest mean less this many half-widths.
    #[inline(never)]
    fn resolve(&mut self, ask: &Question<'_>, field: &Field<'_, '_>, halves: f64) -> usize {
        let index =
            |position: &usize| field.indices.map_or(*position, |indices| indices[*position]);
        self.indices.clear();
        self.indices.extend(self.candidates.iter().map(index));
        ask.actions.gather_into(&self.indices, &mut self.rows);
        self.scores.isa = ask.fit.isa;
        self.scores.resize(self.indices.len());
        let Scores { isa, mean, width_sq } = &mut self.scores;
        ask.fit.score(&self.rows, mean, width_sq);
        for (mean, width_sq) in mean.iter_mut().zip(width_sq) {
            *mean -= halves * (ask.sqrt_beta * width_sq.sqrt());
        }
        self.candidates[isa.argmax(mean)]
    }

    /// Lowers the limits of all slacks to those beside this witness; starts them with it if it is
    /// the first.
    fn judge(
        &mut self,
        ask: &Question<'_>,
        field: &Field<'_, '_>,
        mean_pad: f64,
        position: usize,
        first: bool,
    ) {
        let Scores { isa, mean, width_sq } = field.scores;
        let dim = ask.fit.theta_hat.len();
        let start = position / LANES * LANES * dim + position % LANES;
        self.features.clear();
        self.features.extend(field.blocks[start..].iter().step_by(LANES).take(dim));
        self.solved.resize(dim, 0.0);
        isa.symmetric_product(ask.fit.gram_inverse, &self.features, &mut self.solved);
        for values in [&mut self.dots, &mut self.sure, &mut self.maybe] {
            values.resize(mean.len(), 0.0);
        }
        if first {
            self.sure.fill(f64::INFINITY);
            self.maybe.fill(f64::INFINITY);
        }
        isa.dots(field.blocks, &self.solved, &mut self.dots);
        let witness = Witness {
            mean: mean[position],
            width_sq: width_sq[position],
            sqrt_beta: ask.sqrt_beta,
            mean_pad,
            // Both squared widths and twice the product are off by at most this share of the sum.
            width_pad: 4.0 * ask.margin,
        };
        isa.contest(mean, width_sq, &self.dots, witness, &mut self.sure, &mut self.maybe);
    }
}
