//! A list of the actions that can matter for a while, on a set that is offered again and again.
//!
//! Let an action have been scored at time `s`: mean `m`, width `w = ‖a‖_{V_s⁻¹}`. Widths only
//! shrink, so at a later `t`
//!
//! ```text
//! |⟨a, θ̂_t − θ̂_s⟩| ≤ w·D,     D = ‖θ̂_t − θ̂_s‖_{V_s}
//! m − w·(D + √β_t) ≤ lower_t(a) ≤ upper_t(a) ≤ m + w·(D + √β_t)
//! ```
//!
//! **The list.** With all actions scored at `s` and a ceiling `G > √β_s`, it holds every `a` with
//! `m_a + w_a·G ≥ max_b (m_b − w_b·G)`. While `D + √β_t ≤ G`, the upper bound of an action off the
//! list is below the lower bound of a listed one. So it is not plausible, has not the largest lower
//! bound, and cannot be the answer.
//!
//! **By differences** `a` stays ahead of `b` by more than the half-width of their difference while
//! `D + √β_t ≤ G`, if it was ahead at `s` by more than `G·‖a − b‖_{V_s⁻¹}`: both inequalities above
//! hold for the row `a − b`. If the leader is that far ahead of every other listed action, it alone
//! is listed, and it is the answer. It is both witnesses then, because `lower(a) − lower(b)` is at
//! least `⟨a − b, θ̂⟩ − √β·‖a − b‖_{V⁻¹}`. Otherwise `beside.rs` compares the listed with it.
//!
//! **The next list** does not need all actions scored again. With scores of all from a time `r ≤ s`
//! (the base) and any lower limit `L` of `max_b (m_b − w_b·G)`, only actions with
//! `m_a + w_a·(D_r + G) ≥ L` by the base can be on it. They are scored from scratch. All actions
//! are scored again, as a new base, only when those are more than a quarter of the set.

use super::beside::Beside;
use super::contest::Field;
use super::{Followed, Question, Sought};
use crate::actions::{ActionIndex, Actions};
use crate::linalg::{Aligned, Isa, LANES, dot};
use crate::model::{Fit, Scores};

/// `G/√β` when a list is made. A higher ceiling makes longer lists that last longer.
const CEILING: f64 = 1.25;
/// A list, and the actions that can be on the next one, are at most one in this many.
const FEW: usize = 4;
/// Sets with fewer actions are scored faster than lists are made.
const SMALL: usize = 16;

/// A time to measure drift from.
#[derive(Clone, Debug, Default)]
struct Origin {
    theta_hat: Vec<f64>,
    gram: Vec<f64>,
    offset: Vec<f64>,
    product: Vec<f64>,
}

impl Origin {
    fn set(&mut self, fit: &Fit<'_>) {
        self.theta_hat.clear();
        self.theta_hat.extend_from_slice(fit.theta_hat);
        fit.gram.rounded_into(&mut self.gram);
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

/// The listed actions of one set, with scores that follow observations.
#[derive(Clone, Debug, Default)]
pub(super) struct Shortlist {
    /// Whether there is a list.
    listed: bool,
    indices: Vec<ActionIndex>,
    blocks: Aligned,
    followed: Followed,
    beside: Beside,
    origin: Origin,
    /// `G`.
    ceiling: f64,
    /// No less than `D`, after `seen` observations.
    drift: f64,
    seen: u64,
    made_at: u64,
    /// No list is tried before this many observations.
    not_before: u64,
    /// When all actions were scored, and the number of observations then.
    base: Origin,
    base_at: Option<u64>,
    half_width: Vec<f64>,
}

impl Shortlist {
    pub(super) fn indices(&self) -> &[ActionIndex] {
        &self.indices
    }

    /// The listed, with their scores.
    pub(super) fn field(&self) -> Field<'_, '_> {
        let (scores, indices) = (&self.followed.scores, &self.indices[..]);
        Field { blocks: &self.blocks, scores, indices: Some(indices) }
    }

    /// Brings the scores of the listed up to the fit.
    pub(super) fn follow(&mut self, fit: &Fit<'_>) {
        self.followed.bring_up(fit, &self.blocks, self.indices.len());
    }

    /// [`Beside::filter`] among the listed, whose scores must be those of the fit.
    pub(super) fn filter(
        &mut self,
        ask: &Question<'_>,
        sought: Sought,
        found: &mut Vec<usize>,
    ) -> bool {
        let Self { followed: Followed { scores, .. }, blocks, indices, beside, .. } = self;
        let field = Field { blocks, scores, indices: Some(indices) };
        beside.filter(ask, &field, sought, found)
    }

    /// Brings the list up to the fit, or makes the next one; false if there is none worth having.
    /// `all` holds scores of every action, which become the base of new lists. By differences there
    /// is a `found` for scratch, and lists that are longer than one action grow old.
    #[inline]
    pub(super) fn bring_up(
        &mut self,
        ask: &Question<'_>,
        all: &mut Followed,
        found: Option<&mut Vec<usize>>,
    ) -> bool {
        let short = if found.is_some() { 1 } else { LANES };
        self.listed = self.covers(ask.fit, ask.sqrt_beta, short) || self.renew(ask, all, found);
        self.listed
    }

    /// Whether the answer is on the list, and it is not time for a shorter one.
    #[inline]
    fn covers(&mut self, fit: &Fit<'_>, sqrt_beta: f64, short: usize) -> bool {
        if !self.listed || self.is_old(fit.observations) && self.indices.len() > short {
            return false;
        }
        let passed = fit.observations - self.seen;
        self.seen = fit.observations;
        // Steps add up to no less than they moved the estimate together. What they did move is
        // computed only where the sum does not tell.
        self.drift += match fit.step {
            _ if passed == 0 => 0.0,
            Some(step) if passed == 1 => step.length,
            _ => f64::INFINITY,
        };
        self.drift + sqrt_beta <= self.ceiling || {
            self.drift = self.origin.distance(fit.theta_hat, fit.isa);
            self.drift + sqrt_beta <= self.ceiling
        }
    }

    /// A quarter more is known than when the list was made.
    fn is_old(&self, observations: u64) -> bool {
        observations >= self.made_at + self.made_at / 4 + 8
    }

    /// Makes the next list.
    #[inline(never)]
    fn renew(
        &mut self,
        ask: &Question<'_>,
        all: &mut Followed,
        found: Option<&mut Vec<usize>>,
    ) -> bool {
        let Question { fit, margin, actions, sqrt_beta } = *ask;
        if actions.len() < SMALL || fit.observations < self.not_before {
            return false;
        }
        self.ceiling = CEILING * sqrt_beta;
        let padded = self.ceiling * (1.0 + margin) + margin * fit.length();
        let listed = self.draw_now(ask, all, padded);
        if let (true, Some(found)) = (listed, found) {
            self.leave_leader(&Question { sqrt_beta: padded, ..*ask }, found);
        }
        listed
    }

    /// Lists from the base or, if that leaves too many, from a new one.
    fn draw_now(&mut self, ask: &Question<'_>, all: &mut Followed, padded: f64) -> bool {
        let Question { fit, margin, actions, .. } = *ask;
        if all.at.is_some() && all.at == self.base_at {
            let drift = self.base.distance(fit.theta_hat, fit.isa);
            if self.draw(fit, actions, padded, drift * (1.0 + margin), &all.scores) {
                return true;
            }
        }
        all.bring_up(fit, actions.blocks(), actions.len());
        if !self.draw(fit, actions, padded, 0.0, &all.scores) {
            self.not_before = fit.observations + 4 + fit.observations / 8;
            return false;
        }
        self.base.set(fit);
        self.base_at = all.at;
        true
    }

    /// Lists the actions that belong on a list by scores of all from a time since when the estimate
    /// has moved by `drift`; false if too many can. `padded` is the ceiling with the margin added.
    fn draw(
        &mut self,
        fit: &Fit<'_>,
        actions: Actions<'_>,
        padded: f64,
        drift: f64,
        base: &Scores,
    ) -> bool {
        let Scores { mean, width_sq, .. } = base;
        self.half_width.resize(mean.len(), 0.0);
        let mut least = fit.isa.bound(mean, width_sq, padded + drift, &mut self.half_width);
        if drift > 0.0 {
            // The leader, scored from scratch, is a better limit than its bound by the base.
            let leads = |at: &usize| mean[*at] - self.half_width[*at] >= least;
            self.indices.clear();
            self.indices.extend((0..mean.len()).find(leads));
            self.score(fit, actions);
            let Scores { mean, width_sq, .. } = &self.followed.scores;
            least = mean[0] - padded * width_sq[0].sqrt();
        }
        let most = mean.len() / FEW;
        let uppers = mean.iter().zip(&self.half_width).map(|(mean, half)| mean + half);
        let can = uppers.enumerate().filter(|(_, upper)| *upper >= least).map(|(index, _)| index);
        self.indices.clear();
        self.indices.extend(can.take(most + 1));
        if self.indices.len() > most {
            return false;
        }
        self.score(fit, actions);
        self.drop_short(fit, padded);
        self.score(fit, actions);
        self.origin.set(fit);
        (self.listed, self.drift) = (true, 0.0);
        (self.seen, self.made_at) = (fit.observations, fit.observations);
        true
    }

    /// Drops those that, scored from scratch, do not belong on the list.
    fn drop_short(&mut self, fit: &Fit<'_>, padded: f64) {
        let Scores { mean, width_sq, .. } = &self.followed.scores;
        self.half_width.resize(mean.len(), 0.0);
        let least = fit.isa.bound(mean, width_sq, padded, &mut self.half_width);
        let mut uppers = mean.iter().zip(&self.half_width).map(|(mean, half)| mean + half);
        self.indices.retain(|_| uppers.next().is_some_and(|upper| upper >= least));
    }

    /// Leaves the leader alone if by differences it rules out all others at this radius.
    fn leave_leader(&mut self, ask: &Question<'_>, found: &mut Vec<usize>) {
        if self.filter(ask, Sought::Plausible, found)
            && let [leader] = found[..]
        {
            self.indices.swap(0, leader);
            self.indices.truncate(1);
            self.score(ask.fit, ask.actions);
        }
    }

    /// Scores the listed from scratch.
    fn score(&mut self, fit: &Fit<'_>, actions: Actions<'_>) {
        self.beside.forget();
        actions.gather_into(&self.indices, &mut self.blocks);
        self.followed.at = None;
        self.followed.bring_up(fit, &self.blocks, self.indices.len());
    }
}

/// Wrong on purpose: what the laws must notice.
#[cfg(test)]
impl Shortlist {
    pub(super) fn forget_drift(&mut self) {
        self.drift = 0.0;
    }

    pub(super) fn hold_on_to_leader(&mut self) {
        if self.indices.len() == 1 {
            self.ceiling = f64::INFINITY;
        }
    }

    pub(super) fn skip_differences(&mut self) {
        self.beside.skip_step();
    }

    pub(super) fn forget_base_drift(&mut self) {
        self.base.gram.fill(0.0);
    }
}
