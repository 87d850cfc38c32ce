//! Every action scored in every round, with half the memory read and the choice of doubles.
//!
//! Scores of a set offered again follow an observation by `s = ⟨a, v⟩` for every action: `mean +=
//! gain·s`, `width_sq −= s²`. For many actions that pass waits for memory. Here its factors are in
//! [single precision](crate::singles), which is off by `|s̃ − s| ≤ e`, so that the scores are off
//! by
//!
//! ```text
//! M = Σ |gain|·e     and     W = Σ e·(2·max|s̃| + e)
//! ```
//!
//! over the observations since all were scored in double. Any action's lower bound, as low as it
//! can be, tells who can have the largest; the largest of those, as high as it can be, who is
//! plausible for sure; and the widest of these who can be the widest plausible action. They are few
//! as long as `M` and `W` are small. They are scored from scratch in double, and the choice is
//! theirs. Once as many have been scored so as there are actions, all are, which costs no more than
//! they did.
//!
//! What has no margin here, the roundings of doubles, has that of [lists](super::shortlist).

use super::contenders::{Few, Moment, Seek};
use super::shortlist::{MARGIN, MEAN_MARGIN};
use super::{Contenders, Scores, Sought};
use crate::actions::{ActionIndex, Actions};
use crate::linalg::{FirstLook, MayLead, MayReach, RUN};
use crate::singles::Singles;
use crate::state::{RoughState, StateError, holds};

/// Sets with fewer features are in a cache that is near enough; the laws are about sets of any
/// size.
const LEAST: usize = if cfg!(test) { 1 } else { 1 << 16 };
/// Of sets with more features there shall be no copy of half their size.
const MOST: usize = 1 << 22;
/// The choice must be among fewer than one in so many actions.
const FEW: usize = 16;

/// How far off scores can be at most.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Off {
    pub(super) mean: f64,
    pub(super) width_sq: f64,
}

impl Off {
    /// Not at all.
    pub(super) const NONE: Self = Self { mean: 0.0, width_sq: 0.0 };
}

#[derive(Clone, Debug, Default)]
pub(super) struct Rough {
    singles: Singles,
    few: Few,
    /// How many were scored from scratch since all were.
    spent: usize,
    /// It is not tried before so many observations.
    not_before: u64,
    /// Who had the largest lower bound, which mostly is who has it next.
    leader: ActionIndex,
    /// Where to look for the largest upper bound, which moves on when its action is taken.
    first: FirstLook,
}

impl Rough {
    pub(super) fn contenders(&self) -> Contenders<'_> {
        // What the others reach is not known.
        self.few.contenders(f64::INFINITY)
    }

    /// Whether it may pay for sets of this size.
    pub(super) fn suits(actions: Actions<'_>) -> bool {
        (LEAST..=MOST).contains(&(actions.len() * actions.dim()))
    }

    /// Whether it may pay for this set now.
    pub(super) fn worth_trying(&self, actions: Actions<'_>, observations: u64) -> bool {
        self.spent < actions.len() && observations >= self.not_before
    }

    /// Not for a while: the scores of all were asked for.
    pub(super) fn wait(&mut self, observations: u64) {
        self.not_before = observations + 4 + observations / 8;
    }

    /// Brings scores of all actions one observation further; false if single precision cannot hold
    /// what it takes.
    pub(super) fn follow(
        &mut self,
        actions: Actions<'_>,
        (direction, gain): (&[f64], f64),
        scores: &mut Scores,
        off: &mut Off,
    ) -> bool {
        let Some(factors) = self.singles.factors(actions, direction) else {
            return false;
        };
        let Scores { isa, mean, width_sq, .. } = scores;
        let largest = isa.follow(factors.blocks, factors.vector, gain, mean, width_sq).sqrt();
        let error = factors.error(RUN);
        off.mean += gain.abs() * error;
        off.width_sq += error * (2.0 * largest + error);
        true
    }

    /// All have been scored in double.
    pub(super) fn begin(&mut self) {
        self.spent = 0;
    }

    /// Finds and scores those among which the choice is, by scores of all that can be off; false if
    /// they are many. `length` is `‖θ̂‖_V`.
    pub(super) fn seek(
        &mut self,
        seek: Seek<'_>,
        now: Moment<'_>,
        length: f64,
        scores: &Scores,
        off: Off,
    ) -> bool {
        let Seek { actions, sought, sqrt_beta } = seek;
        let most = actions.len() / FEW;
        let radii = Radii {
            small: sqrt_beta * (1.0 - MARGIN) - MEAN_MARGIN * length,
            large: sqrt_beta * (1.0 + MARGIN) + MEAN_MARGIN * length,
        };
        let view = View { scores, off, radii, most };
        self.few.indices.clear();
        let few = radii.small > 0.0
            && match sought {
                Sought::LargestUpper => {
                    view.may_have_largest_upper(&mut self.first, &mut self.few.indices)
                }
                Sought::Widest | Sought::Plausible => {
                    if self.spent == 0 {
                        self.leader = view.leader();
                    }
                    view.may_be_widest(self.leader, &mut self.few.indices)
                }
            };
        if !few {
            self.wait(now.observations);
            return false;
        }
        self.few.score(actions, now);
        self.spent += self.few.indices.len();
        self.leader = self.few.indices[View { scores: &self.few.scores, ..view }.leader()];
        true
    }

    /// With scores that are written down too, or without, and then nothing has been done with them.
    pub(super) fn state(&self, scored: bool) -> RoughState {
        let (spent, leader) = if scored { (self.spent, self.leader) } else { (0, 0) };
        RoughState { spent, not_before: self.not_before, leader }
    }

    pub(super) fn restored(state: RoughState, scored: usize) -> Result<Self, StateError> {
        let RoughState { spent, not_before, leader } = state;
        holds("rough.leader", leader == 0 || leader < scored)?;
        Ok(Self { spent, not_before, leader, ..Self::default() })
    }
}

/// `√β` with the margin of doubles taken off and added.
#[derive(Clone, Copy)]
struct Radii {
    small: f64,
    large: f64,
}

/// Scores that can be off.
#[derive(Clone, Copy)]
struct View<'a> {
    scores: &'a Scores,
    off: Off,
    radii: Radii,
    /// More are many.
    most: usize,
}

impl View<'_> {
    /// A bound moved by more than rounding does to it.
    fn below(bound: f64) -> f64 {
        bound - 1e-14 * bound.abs()
    }

    /// The lower bound of an action, as low as it can be.
    fn lowest(&self, action: ActionIndex) -> f64 {
        let Scores { mean, width_sq, .. } = self.scores;
        let width = (width_sq[action] + self.off.width_sq).sqrt();
        Self::below(mean[action] - self.off.mean - self.radii.large * width)
    }

    /// The same, as high as it can be.
    fn highest(&self, action: ActionIndex) -> f64 {
        let Scores { mean, width_sq, .. } = self.scores;
        let width = (width_sq[action] - self.off.width_sq).max(0.0).sqrt();
        -Self::below(-(mean[action] + self.off.mean - self.radii.small * width))
    }

    /// Its upper bound, as low as it can be.
    fn lowest_upper(&self, action: ActionIndex) -> f64 {
        let Scores { mean, width_sq, .. } = self.scores;
        let width = (width_sq[action] - self.off.width_sq).max(0.0).sqrt();
        Self::below(mean[action] - self.off.mean + self.radii.small * width)
    }

    /// Whose lower bound the others are best compared with.
    fn leader(&self) -> ActionIndex {
        let higher = |best: (ActionIndex, f64), next: (ActionIndex, f64)| {
            if next.1 > best.1 { next } else { best }
        };
        let bounds = (0..self.scores.mean.len()).map(|action| (action, self.lowest(action)));
        bounds.reduce(higher).map_or(0, |(leader, _)| leader)
    }

    fn may_have_largest_upper(&self, first: &mut FirstLook, found: &mut Vec<ActionIndex>) -> bool {
        let Scores { isa, mean, width_sq, .. } = self.scores;
        let leader = isa.largest_upper(mean, width_sq, self.radii.small, first);
        self.may_reach(self.lowest_upper(leader), f64::NEG_INFINITY, found)
    }

    /// Those who can be the widest plausible action, and those who can have the largest lower
    /// bound, without which it cannot be told.
    fn may_be_widest(&self, leader: ActionIndex, found: &mut Vec<ActionIndex>) -> bool {
        let Self { scores: Scores { isa, mean, width_sq, .. }, off, radii, most } = self;
        let threshold = self.lowest(leader);
        let lead =
            MayLead { sqrt_beta: radii.small, off: off.width_sq, least: threshold - off.mean };
        isa.may_lead(mean, width_sq, &lead, *most, found);
        if found.len() > *most {
            return false;
        }
        let highest =
            found.iter().map(|action| self.highest(*action)).fold(f64::NEG_INFINITY, f64::max);
        let widest =
            isa.widest_reaching(mean, width_sq, off.width_sq, radii.small, highest + off.mean);
        let width_sq_least = (widest - 2.0 * off.width_sq) * (1.0 - MARGIN);
        let reached = self.may_reach(threshold, width_sq_least, found);
        found.sort_unstable();
        found.dedup();
        reached
    }

    fn may_reach(&self, threshold: f64, width_sq_least: f64, found: &mut Vec<ActionIndex>) -> bool {
        let Self { scores: Scores { isa, mean, width_sq, .. }, off, radii, most } = self;
        let (sqrt_beta, off, least) = (radii.large, off.width_sq, threshold - off.mean);
        isa.may_reach(
            mean,
            width_sq,
            &MayReach { sqrt_beta, off, least, width_sq_least },
            *most,
            found,
        );
        found.len() <= *most
    }
}

/// Wrong on purpose: what the laws must notice.
#[cfg(test)]
impl Rough {
    pub(super) fn forget_errors(&mut self) {
        self.singles.forget_errors();
    }
}
