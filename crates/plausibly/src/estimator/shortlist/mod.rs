//! Exact lazy scoring: on a fixed set most actions need not be looked at in most rounds.
//!
//! Let an action have been scored at some moment `s`: mean `m_a`, width `w_a = ‖a‖_{V_s⁻¹}`. Widths
//! only shrink, and at a later `t`
//!
//! ```text
//! |⟨a, θ̂_t − θ̂_s⟩| ≤ w_a·D,   D = ‖θ̂_t − θ̂_s‖_{V_s},   so   m_a − w_a·(D + √β_t) ≤ lower_t(a) ≤ upper_t(a) ≤ m_a + w_a·(D + √β_t).
//! ```
//!
//! **A list.** Let all actions be scored at `s`, fix a ceiling `G > √β_s` and list every `a` with
//! `m_a + w_a·G ≥ max_b (m_b − w_b·G)`. While `D + √β_t ≤ G`, an action off the list has its upper
//! bound below the lower bound of a listed one: it is not plausible, and has neither the largest
//! lower nor the largest upper bound. So a round among the listed is a round among all. For the
//! largest upper bound alone a shorter list will do: as `upper_t(b) ≥ m_b − w_b·D`, the right side
//! becomes `max_b (m_b − w_b·(G − √β_s))`, and `D ≤ G − √β_s` is asked as well.
//!
//! **The next list.** It does not need all actions scored again. With scores of all from a moment
//! `r ≤ s` (the *base*) and any lower bound `L` on the right side, only actions with `m_a +
//! w_a·(D_r + G) ≥ L` can be on it; those few are scored afresh. All are, and become the new base,
//! only when they are no longer few.

mod state;

use super::contenders::{Listed, Moment, Seek};
use super::{Contenders, Scores, Sought};
use crate::actions::{ActionIndex, Actions, SetId};
use crate::linalg::{Aligned, Isa, LANES, dot};

/// What rounding may do, as a share of the ceiling …
pub(super) const MARGIN: f64 = 1e-6;
/// … and of `‖θ̂‖_V`, which bounds a mean in units of its width. Both are far above the errors of a
/// model in good condition.
pub(super) const MEAN_MARGIN: f64 = 1e-9;
/// `G/√β_s` starts at the first; after a list that did not last it grows by the third, after one
/// that did it shrinks, within the first two.
const CEILINGS: (f64, f64, f64) = (1.1, 4.0, 1.1);
/// A list pays if it holds less than one in so many actions.
const WORTHWHILE: usize = 4;
/// So many are few enough to be scored afresh instead of all: one in this many.
const FEW: usize = 4;
/// Sets so small are scored faster than lists are made.
const SMALL: usize = 16;

/// A moment to measure drift from.
#[derive(Clone, Debug, Default)]
struct Origin {
    theta_hat: Vec<f64>,
    gram: Vec<f64>,
    offset: Vec<f64>,
    product: Vec<f64>,
}

impl Origin {
    fn set(&mut self, theta_hat: &[f64], gram: impl FnOnce(&mut Vec<f64>)) {
        self.theta_hat.clear();
        self.theta_hat.extend_from_slice(theta_hat);
        gram(&mut self.gram);
    }

    /// `‖θ − θ̂_s‖_{V_s}`. O(d²).
    fn distance(&mut self, theta: &[f64], isa: Isa) -> f64 {
        self.offset.clear();
        self.offset.extend(theta.iter().zip(&self.theta_hat).map(|(now, then)| now - then));
        self.product.resize(theta.len(), 0.0);
        isa.symmetric_product(&self.gram, &self.offset, &mut self.product);
        // A form of a positive matrix; rounding alone can make it negative.
        dot(&self.offset, &self.product).max(0.0).sqrt()
    }
}

/// Scores of all actions at some moment: what later lists are drawn from.
#[derive(Clone, Debug, Default)]
struct Base {
    of: Option<SetId>,
    origin: Origin,
    mean: Vec<f64>,
    width: Vec<f64>,
}

/// Actions of a fixed set that can matter for a while, with their scores.
#[derive(Clone, Debug, Default)]
pub(super) struct Shortlist {
    /// Of which set, and what for; `None` if there is no list.
    of: Option<(SetId, Sought)>,
    indices: Vec<ActionIndex>,
    /// Their features, in blocks of lanes.
    blocks: Aligned,
    scores: Scores,
    /// After how many observations the scores are theirs.
    scored_at: u64,
    /// After how many it was made.
    made_at: u64,
    origin: Origin,
    /// `G`.
    ceiling: f64,
    /// `G/√β` of the next list.
    ratio: f64,
    /// How large `D` may become.
    leeway: f64,
    /// `max_b (m_b − w_b·G)`, or what it becomes for the largest upper bound: what the upper bound
    /// of no action off the list reaches.
    beyond: f64,
    /// No less than `D`.
    drift: f64,
    base: Base,
    half_width: Vec<f64>,
    /// No list is tried before so many observations.
    not_before: u64,
}

impl Shortlist {
    pub(super) fn contenders(&self) -> Contenders<'_> {
        let Self { indices, blocks, beyond, .. } = self;
        Contenders::some(&self.scores, Listed { indices, blocks, beyond: *beyond })
    }

    /// The estimate has moved by at most so much, in the norm of `V`.
    pub(super) fn drifted(&mut self, by: f64) {
        self.drift += by;
    }

    /// No list any more, nor anything to draw one from.
    pub(super) fn discard(&mut self) {
        self.of = None;
        self.base.of = None;
    }

    /// Whether these are actions of this set, scored after so many observations.
    pub(super) fn is_scored(&self, set: SetId, observations: u64) -> bool {
        self.of.is_some_and(|(of, _)| of == set) && self.scored_at == observations
    }

    /// Whether everything sought is on the list, and it is not time for a shorter one.
    pub(super) fn covers(&mut self, seek: Seek<'_>, now: Moment<'_>) -> bool {
        let sqrt_beta = seek.sqrt_beta;
        if self.of != Some((seek.actions.id(), seek.sought)) || self.is_old(now.observations) {
            return false;
        }
        self.within(sqrt_beta) || self.is_within_after_all(sqrt_beta, now)
    }

    /// Steps add up to more than they moved the estimate; what they did is looked at only where it
    /// matters.
    #[inline(never)]
    fn is_within_after_all(&mut self, sqrt_beta: f64, now: Moment<'_>) -> bool {
        self.drift = self.origin.distance(now.theta_hat, now.isa);
        self.within(sqrt_beta)
    }

    fn within(&self, sqrt_beta: f64) -> bool {
        self.drift <= self.leeway && self.drift + sqrt_beta <= self.ceiling
    }

    /// A quarter more is known than when it was made, and it is long enough for a shorter one to be
    /// faster.
    fn is_old(&self, observations: u64) -> bool {
        observations >= self.made_at + self.made_at / 4 + 8 && self.indices.len() > LANES
    }

    /// Whether it is time to try a list of a set of so many actions.
    pub(super) fn worth_trying(&self, actions: usize, observations: u64) -> bool {
        actions >= SMALL && observations >= self.not_before
    }

    /// The scores of the listed at a moment; by the last step if they are one observation behind.
    pub(super) fn bring_up(&mut self, now: Moment<'_>, step: Option<(&[f64], f64)>) {
        let (mean, width_sq) = (&mut self.scores.mean, &mut self.scores.width_sq);
        if self.scored_at == now.observations {
            return;
        }
        match step {
            Some((direction, gain)) if self.scored_at + 1 == now.observations => {
                now.isa.refresh(&self.blocks, direction, gain, mean, width_sq);
            }
            _ => now.isa.rebuild(&self.blocks, now.theta_hat, now.gram_inverse, mean, width_sq),
        }
        self.scored_at = now.observations;
    }

    /// Draws the next list from the base, if few actions come into question. `gram` writes `V`.
    /// O(K), and O(d²) for each of them.
    pub(super) fn redraw(
        &mut self,
        seek: Seek<'_>,
        now: Moment<'_>,
        gram: impl FnOnce(&mut Vec<f64>),
    ) -> bool {
        let Seek { actions, sought, .. } = seek;
        if self.base.of != Some(actions.id()) || self.of != Some((actions.id(), sought)) {
            return false;
        }
        self.adapt(now.observations);
        self.origin.set(now.theta_hat, gram);
        let (padded, against) = self.raise_ceiling(seek, now);
        self.half_width.resize(self.scores.mean.len(), 0.0);
        let least =
            now.isa.bound(&self.scores.mean, &self.scores.width_sq, against, &mut self.half_width);
        let reach = padded + self.base.origin.distance(now.theta_hat, now.isa) * (1.0 + MARGIN);
        let Base { mean, width, .. } = &self.base;
        let most = mean.len() / FEW;
        self.indices.clear();
        let possible = mean
            .iter()
            .zip(width)
            .enumerate()
            .filter(|(_, (mean, width))| *mean + reach * *width >= least);
        self.indices.extend(possible.map(|(index, _)| index).take(most + 1));
        if self.indices.len() > most {
            return false;
        }
        actions.gather_into(&self.indices, &mut self.blocks);
        self.scores.mean.resize(self.indices.len(), 0.0);
        self.scores.width_sq.resize(self.indices.len(), 0.0);
        now.isa.rebuild(
            &self.blocks,
            now.theta_hat,
            now.gram_inverse,
            &mut self.scores.mean,
            &mut self.scores.width_sq,
        );
        self.narrow(actions, padded, against, now);
        true
    }

    /// Finds those that a list would hold by these scores of all actions; false if they are too
    /// many for it to be of use. `gram` writes `V`. O(K).
    pub(super) fn try_all(
        &mut self,
        seek: Seek<'_>,
        now: Moment<'_>,
        scores: &Scores,
        gram: impl FnOnce(&mut Vec<f64>),
    ) -> bool {
        self.origin.set(now.theta_hat, gram);
        let (padded, against) = self.raise_ceiling(seek, now);
        self.half_width.resize(scores.mean.len(), 0.0);
        let least = now.isa.bound(&scores.mean, &scores.width_sq, against, &mut self.half_width);
        now.isa.bound(&scores.mean, &scores.width_sq, padded, &mut self.half_width);
        self.indices.clear();
        let uppers = scores.mean.iter().zip(&self.half_width).map(|(mean, half)| mean + half);
        self.indices.extend(
            uppers.enumerate().filter(|(_, upper)| *upper >= least).map(|(index, _)| index),
        );
        if self.indices.len() * WORTHWHILE > scores.mean.len() {
            self.discard();
            self.not_before = now.observations + 4 + now.observations / 8;
            return false;
        }
        self.beyond = least;
        true
    }

    /// Makes all actions the base, and those found by [`Shortlist::try_all`] among them the list.
    pub(super) fn begin(&mut self, seek: Seek<'_>, now: Moment<'_>, scores: &Scores) {
        let Seek { actions, sought, .. } = seek;
        self.base.of = Some(actions.id());
        self.base.origin.clone_from(&self.origin);
        self.base.mean.clone_from(&scores.mean);
        self.base.width.clear();
        self.base.width.extend(scores.width_sq.iter().map(|width_sq| width_sq.sqrt()));
        self.of = Some((actions.id(), sought));
        actions.gather_into(&self.indices, &mut self.blocks);
        self.scores.isa = scores.isa;
        for (own, all) in
            [(&mut self.scores.mean, &scores.mean), (&mut self.scores.width_sq, &scores.width_sq)]
        {
            own.clear();
            own.extend(self.indices.iter().map(|index| all[*index]));
        }
        self.start(now.observations);
    }

    /// A list that lasted may be tighter next time, one that did not may not.
    fn adapt(&mut self, observations: u64) {
        let (least, most, by) = CEILINGS;
        let lasted = observations >= self.made_at + self.made_at / 8;
        self.ratio = if lasted { self.ratio / by } else { self.ratio * by }.clamp(least, most);
    }

    /// Sets the ceiling; returns it with its margin, and what is to be subtracted on the other
    /// side.
    fn raise_ceiling(&mut self, seek: Seek<'_>, now: Moment<'_>) -> (f64, f64) {
        let Seek { sought, sqrt_beta, .. } = seek;
        self.ratio = self.ratio.max(CEILINGS.0);
        self.ceiling = self.ratio * sqrt_beta;
        let Origin { gram, product, .. } = &mut self.origin;
        product.resize(now.theta_hat.len(), 0.0);
        now.isa.symmetric_product(gram, now.theta_hat, product);
        let norm = dot(now.theta_hat, product).max(0.0).sqrt();
        let padded = self.ceiling * (1.0 + MARGIN) + MEAN_MARGIN * norm;
        match sought {
            Sought::Plausible | Sought::Widest => {
                self.leeway = f64::INFINITY;
                (padded, padded)
            }
            Sought::LargestUpper => {
                self.leeway = self.ceiling - sqrt_beta;
                (padded, padded - sqrt_beta)
            }
        }
    }

    /// Drops what came into question and, scored afresh, does not belong on the list.
    fn narrow(&mut self, actions: Actions<'_>, padded: f64, against: f64, now: Moment<'_>) {
        let Scores { mean, width_sq, .. } = &mut self.scores;
        self.half_width.resize(mean.len(), 0.0);
        let least = now.isa.bound(mean, width_sq, against, &mut self.half_width);
        now.isa.bound(mean, width_sq, padded, &mut self.half_width);
        self.beyond = least;
        let mut kept = 0;
        for position in 0..self.indices.len() {
            if mean[position] + self.half_width[position] >= least {
                self.indices[kept] = self.indices[position];
                (mean[kept], width_sq[kept]) = (mean[position], width_sq[position]);
                kept += 1;
            }
        }
        self.indices.truncate(kept);
        mean.truncate(kept);
        width_sq.truncate(kept);
        actions.gather_into(&self.indices, &mut self.blocks);
        self.start(now.observations);
    }

    fn start(&mut self, observations: u64) {
        self.drift = 0.0;
        self.scored_at = observations;
        self.made_at = observations;
    }

    /// Writes the scores of the listed over those of all: what was decided by is what is shown.
    pub(super) fn overlay(&self, scores: &mut Scores) {
        for (position, index) in self.indices.iter().enumerate() {
            scores.mean[*index] = self.scores.mean[position];
            scores.width_sq[*index] = self.scores.width_sq[position];
        }
    }
}

/// Wrong on purpose: what the laws must notice.
#[cfg(test)]
impl Shortlist {
    pub(super) fn forget_drift(&mut self) {
        self.drift = 0.0;
    }

    pub(super) fn forget_base_drift(&mut self) {
        self.base.origin.gram.fill(0.0);
    }
}
