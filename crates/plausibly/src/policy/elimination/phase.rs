//! One phase: its quota, its data, and the actions that survive it.

use crate::actions::{ActionIndex, Actions};
use crate::design::{Design, Span};
use crate::linalg::{Cholesky, dot};
use crate::rng::Stream;
use crate::state::{Reader, StateError, Writer, holds};

/// Relative gap at which a phase's design counts as optimal; the quota makes up for it.
const DESIGN_TOLERANCE: f64 = 1e-3;

/// A phase of [`Elimination`](crate::Elimination) as data: what a log keeps of it, and all that its
/// next choice and its end depend on beside the actions.
///
/// # Example
/// ```
/// use plausibly::{ActionSet, Phase};
/// let set = ActionSet::from_rows(&[[1.0, 0.0], [0.0, 1.0]])?;
/// let mut phase = Phase::first(2);
/// for (plays, paid) in phase.plays.iter_mut().zip([40.0, -2.0]) {
///     (plays.taken, plays.settled, plays.paid) = (36, 36, paid);
/// }
/// assert_eq!(phase.quota(set.view(), 0.05).remaining(), 0);
/// assert_eq!(phase.next(set.view()).survivors, [0]);
/// # Ok::<(), plausibly::ActionSetError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Phase {
    /// ℓ, from 1.
    pub number: u32,
    /// The actions not yet dropped, in order.
    pub survivors: Vec<ActionIndex>,
    /// What it has seen of each action of the set.
    pub plays: Vec<Plays>,
}

/// What a phase has seen of an action.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Plays {
    /// How often it was taken.
    pub taken: u64,
    /// How many rewards have come.
    pub settled: u64,
    /// Their sum.
    pub paid: f64,
}

/// What is still to be played in a phase.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Quota {
    left: Vec<(ActionIndex, u64)>,
    remaining: u64,
}

impl Phase {
    /// The first phase, over this many actions.
    pub fn first(actions: usize) -> Self {
        Self::over((0..actions).collect(), 1, actions)
    }

    fn over(survivors: Vec<ActionIndex>, number: u32, actions: usize) -> Self {
        Self { number, survivors, plays: vec![Plays::default(); actions] }
    }

    /// What is still to be played: the quota of the phase without what was taken.
    ///
    /// # Panics
    /// If there are no survivors, or one is not in the set.
    pub fn quota(&self, actions: Actions<'_>, delta: f64) -> Quota {
        self.quota_by(&self.design(actions), actions, delta)
    }

    /// The phase after this one, by what this one has taught.
    ///
    /// # Panics
    /// As [`Phase::quota`].
    #[must_use]
    pub fn next(&self, actions: Actions<'_>) -> Self {
        self.next_by(Lessons::new(Span::new(actions, &self.survivors), actions), actions)
    }

    pub(super) fn design(&self, actions: Actions<'_>) -> Design {
        Design::d_optimal(actions, &self.survivors, DESIGN_TOLERANCE)
    }

    pub(super) fn quota_by(&self, design: &Design, actions: Actions<'_>, delta: f64) -> Quota {
        let (k, l) = (actions.len() as f64, f64::from(self.number));
        // d as printed, also when the survivors span less; above d only by the gap at which the
        // design stopped.
        let leverage = design.largest_leverage().max(actions.dim() as f64);
        let confidence = libm::log(k * l * (l + 1.0)) - libm::log(delta);
        let scale = 2.0 * leverage * 4.0_f64.powi(self.exponent()) * confidence;
        let left: Vec<(ActionIndex, u64)> = design
            .support()
            .map(|(action, weight)| {
                #[expect(
                    clippy::cast_possible_truncation,
                    clippy::cast_sign_loss,
                    reason = "saturates, and is positive"
                )]
                let plays = (weight * scale).ceil() as u64;
                // A late phase is longer than any horizon; its sum must still be a number.
                let plays = plays.min(u64::MAX / actions.len() as u64);
                (action, plays.saturating_sub(self.plays[action].taken))
            })
            .collect();
        Quota { remaining: left.iter().map(|(_, plays)| plays).sum(), left }
    }

    /// The phase after this one, where some of its observations were counted in `lessons` already.
    pub(super) fn next_by(&self, mut lessons: Lessons, actions: Actions<'_>) -> Self {
        for (action, plays) in self.plays.iter().enumerate() {
            lessons.learn_own(action, *plays);
        }
        let tolerated = 2.0 * 0.5_f64.powi(self.exponent());
        let survivors = lessons.outlasting(&self.survivors, actions, tolerated);
        Self::over(survivors, self.number.saturating_add(1), self.plays.len())
    }

    fn exponent(&self) -> i32 {
        i32::try_from(self.number).unwrap_or(i32::MAX)
    }
}

impl Quota {
    /// Plays left in all.
    pub fn remaining(&self) -> u64 {
        self.remaining
    }

    /// Plays left of an action.
    pub fn left(&self, action: ActionIndex) -> u64 {
        self.left.iter().find(|(other, _)| *other == action).map_or(0, |(_, plays)| *plays)
    }

    /// The next play: uniform over what is left of the quota, which is a uniformly random order of
    /// all of it.
    pub(super) fn play(&mut self, rng: &mut Stream) -> ActionIndex {
        let mut ticket = rng.below(self.remaining);
        self.remaining -= 1;
        for (action, plays) in &mut self.left {
            if ticket < *plays {
                *plays -= 1;
                return *action;
            }
            ticket -= *plays;
        }
        unreachable!("`remaining` is the sum of the quota")
    }

    /// Returns a play whose reward will never come to the quota.
    pub(super) fn give_back(&mut self, action: ActionIndex) {
        if let Some((_, plays)) = self.left.iter_mut().find(|(other, _)| *other == action) {
            *plays += 1;
            self.remaining += 1;
        }
    }
}

/// `Σ x·xᵀ` and `Σ x·y` of a phase, in coordinates of the span of its survivors.
#[derive(Clone, Debug)]
pub(super) struct Lessons {
    span: Span,
    /// The features that plays of each action are counted with: those of the set, and on changing
    /// ones the last.
    rows: Vec<f64>,
    gram: Vec<f64>,
    moment: Vec<f64>,
    point: Vec<f64>,
}

impl Lessons {
    pub(super) fn new(span: Span, actions: Actions<'_>) -> Self {
        let rank = span.rank();
        let rows = actions.iter().flat_map(|action| action.features().iter().copied()).collect();
        Self {
            span,
            rows,
            gram: vec![0.0; rank * rank],
            moment: vec![0.0; rank],
            point: Vec::with_capacity(rank),
        }
    }

    /// The features that plays of this action are counted with.
    pub(super) fn row(&mut self, action: ActionIndex, dim: usize) -> Option<&mut [f64]> {
        self.rows.get_mut(action * dim..(action + 1) * dim)
    }

    /// Adds observations of these features: their number and the sum of their rewards.
    pub(super) fn learn(&mut self, features: &[f64], plays: Plays) {
        self.point.clear();
        self.span.coordinates(features, &mut self.point);
        let count = plays.settled as f64;
        for (row, x) in self.gram.chunks_exact_mut(self.point.len().max(1)).zip(&self.point) {
            for (entry, y) in row.iter_mut().zip(&self.point) {
                *entry += count * (x * y);
            }
        }
        for (entry, x) in self.moment.iter_mut().zip(&self.point) {
            *entry += x * plays.paid;
        }
    }

    /// Like `learn`, with the features stored for an action.
    pub(super) fn learn_own(&mut self, action: ActionIndex, plays: Plays) {
        if plays.settled > 0 {
            let dim = self.span.dim();
            let rows = std::mem::take(&mut self.rows);
            self.learn(&rows[action * dim..(action + 1) * dim], plays);
            self.rows = rows;
        }
    }

    pub(super) fn write(&self, quota: &Quota, out: &mut Writer) {
        out.counts(quota.left.iter().map(|(action, _)| *action as u64));
        out.counts(quota.left.iter().map(|(_, plays)| *plays));
        self.span.write(out);
        out.numbers(&self.rows);
        out.numbers(&self.gram);
        out.numbers(&self.moment);
    }

    pub(super) fn read(
        from: &mut Reader<'_>,
        actions: usize,
        dim: usize,
    ) -> Result<(Quota, Self), StateError> {
        let supported = from.places("playing.quota", actions)?;
        let plays = from.counts("playing.quota")?;
        holds("playing.quota", supported.len() == plays.len())?;
        let quota = Quota {
            remaining: plays.iter().sum(),
            left: supported.into_iter().zip(plays).collect(),
        };
        let span = Span::read(from, dim)?;
        let rank = span.rank();
        let rows = from.numbers("playing.rows", actions * dim)?;
        let gram = from.numbers("playing.gram", rank * rank)?;
        let moment = from.numbers("playing.moment", rank)?;
        Ok((quota, Self { span, rows, gram, moment, point: Vec::with_capacity(rank) }))
    }

    /// The survivors whose estimate is within `tolerated` of the best.
    fn outlasting(
        &self,
        survivors: &[ActionIndex],
        actions: Actions<'_>,
        tolerated: f64,
    ) -> Vec<ActionIndex> {
        // On a fixed set the phase played a spanning design, so there is a factor. On a changing
        // one the data may not span; then nothing is known well enough to drop anything.
        let Ok(factor) = Cholesky::new(&self.gram, self.span.rank()) else {
            return survivors.to_vec();
        };
        let mut theta = self.moment.clone();
        factor.solve(&mut theta);
        let mut point = Vec::new();
        let mut estimate = |action: ActionIndex| {
            point.clear();
            self.span.coordinates(actions.get(action).features(), &mut point);
            dot(&point, &theta)
        };
        let means: Vec<f64> = survivors.iter().map(|&action| estimate(action)).collect();
        let best = means.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let outlasts = |(_, mean): &(&ActionIndex, f64)| best - mean <= tolerated;
        survivors.iter().zip(means).filter(outlasts).map(|(action, _)| *action).collect()
    }
}
