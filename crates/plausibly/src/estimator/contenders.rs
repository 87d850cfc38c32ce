//! The actions that can matter in a round.

use super::Scores;
use crate::actions::{ActionIndex, Actions};
use crate::linalg::{Aligned, Isa};

/// What is looked for among the actions of a set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sought {
    /// Every action that could still be best.
    Plausible,
    /// The widest of them.
    Widest,
    /// The action with the largest upper bound.
    LargestUpper,
}

/// The model at some moment.
#[derive(Clone, Copy)]
pub(super) struct Moment<'a> {
    pub(super) isa: Isa,
    pub(super) observations: u64,
    pub(super) theta_hat: &'a [f64],
    pub(super) gram_inverse: &'a [f64],
}

/// What is to be listed.
#[derive(Clone, Copy)]
pub(super) struct Seek<'a> {
    pub(super) actions: Actions<'a>,
    pub(super) sought: Sought,
    pub(super) sqrt_beta: f64,
}

/// Some actions of a set, scored from scratch.
#[derive(Clone, Debug, Default)]
pub(super) struct Few {
    /// Which, ascending.
    pub(super) indices: Vec<ActionIndex>,
    /// Their features, in blocks of lanes.
    blocks: Aligned,
    pub(super) scores: Scores,
}

impl Few {
    /// Scores those at hand. O(d²) each.
    pub(super) fn score(&mut self, actions: Actions<'_>, now: Moment<'_>) {
        actions.gather_into(&self.indices, &mut self.blocks);
        (self.scores.isa, self.scores.anew) = (now.isa, true);
        let Scores { mean, width_sq, .. } = &mut self.scores;
        mean.resize(self.indices.len(), 0.0);
        width_sq.resize(self.indices.len(), 0.0);
        now.isa.rebuild(&self.blocks, now.theta_hat, now.gram_inverse, mean, width_sq);
    }

    /// With a bound that the upper bounds of all others are below.
    pub(super) fn contenders(&self, beyond: f64) -> Contenders<'_> {
        let Self { indices, blocks, .. } = self;
        Contenders::some(&self.scores, Listed { indices, blocks, beyond })
    }
}

/// Scores of the actions among which everything sought is to be found; often a few of very many.
///
/// They are in the order of their indices, so the first of several equals is the same one as among
/// all actions.
#[derive(Clone, Copy, Debug)]
pub struct Contenders<'a> {
    scores: &'a Scores,
    /// `None` if they are all.
    listed: Option<Listed<'a>>,
}

/// Some of the actions of a set.
#[derive(Clone, Copy, Debug)]
pub(super) struct Listed<'a> {
    pub(super) indices: &'a [ActionIndex],
    /// Their features, in blocks of lanes.
    pub(super) blocks: &'a [f64],
    /// Above the upper bounds of all others.
    pub(super) beyond: f64,
}

impl<'a> Contenders<'a> {
    /// All actions of the set.
    pub fn all(scores: &'a Scores) -> Self {
        Self { scores, listed: None }
    }

    pub(super) fn some(scores: &'a Scores, listed: Listed<'a>) -> Self {
        Self { scores, listed: Some(listed) }
    }

    /// Their scores, one a contender.
    pub fn scores(self) -> &'a Scores {
        self.scores
    }

    /// The index in the set of the contender at a position among the scores.
    pub fn index(self, position: usize) -> ActionIndex {
        self.listed.map_or(position, |listed| listed.indices[position])
    }

    /// Which actions they are, ascending; `None` if all.
    pub fn indices(self) -> Option<&'a [ActionIndex]> {
        self.listed.map(|listed| listed.indices)
    }

    /// What the upper bound of no other action reaches.
    pub(crate) fn beyond(self) -> f64 {
        self.listed.map_or(f64::NEG_INFINITY, |listed| listed.beyond)
    }

    /// `⟨a, θ⟩` of each contender from this set, in place of what `out` held.
    pub(crate) fn dot_into(self, actions: Actions<'a>, theta: &[f64], out: &mut Vec<f64>) {
        out.resize(self.scores.mean.len(), 0.0);
        let blocks = self.listed.map_or(actions.blocks(), |listed| listed.blocks);
        self.scores.isa.dots(blocks, theta, out);
    }
}
