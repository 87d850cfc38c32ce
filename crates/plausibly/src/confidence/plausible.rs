//! The plausible set: the actions that could still be best, and what rules the others out.

use super::radius::Reach;
use crate::actions::{ActionIndex, Actions};
use crate::linalg::{Aligned, LANES};
use crate::model::{Estimator, Scores};

pub use crate::linalg::PlausibleSummary;

/// What is compared to rule an action out.
///
/// Both rules are valid at the level of the confidence set: neither needs a share of δ. The actions
/// that differences leave are among those that intervals leave, and the best action is among both
/// while the set holds the truth. Proofs in `docs/concepts/verdicts.md`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Exclusion {
    /// An action is out if one of two witnesses beats it by more than the half-width of their
    /// *difference*: `⟨a − b, θ̂⟩ > √β·‖a − b‖_{V⁻¹}`. The witnesses are the leader, which has the
    /// largest mean, and the firmest action, which has the largest lower bound.
    ///
    /// What two actions have in common is as uncertain for one as for the other, and cancels. With
    /// intervals of separate arms nothing cancels, and this is the same as intervals.
    #[default]
    Differences,
    /// An action is out if its upper bound is below the lower bound of another: the paper's rule.
    Intervals,
}

impl Exclusion {
    /// As specs name it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Differences => "differences",
            Self::Intervals => "intervals",
        }
    }
}

/// A confidence interval for the mean reward of an action.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// Lower confidence bound, `mean − √β·width`.
    pub lower: f64,
    /// The estimate.
    pub mean: f64,
    /// Upper confidence bound, `mean + √β·width`.
    pub upper: f64,
}

/// One rule for radii everywhere: with a NaN, or zero beside the infinite width of an arm never
/// taken, no bound means anything.
pub(crate) fn assert_radius(sqrt_beta: f64) {
    assert!(
        sqrt_beta > 0.0 && sqrt_beta.is_finite(),
        "a confidence radius must be positive and finite, got {sqrt_beta}"
    );
}

/// The actions of a round that could still be best, by one [`Exclusion`].
///
/// By intervals this is the paper's `Ã = {a : upper(a) ≥ max lower}`. Equality counts as plausible.
/// The set always holds the action with the largest lower bound (by intervals) or the largest mean
/// (by differences), so it is never empty.
///
/// # Cost
/// By intervals one pass over the scores with one square root per action; by differences O(d²) per
/// action for each of two witnesses. Each question is one more pass. Buffers are reused between
/// rounds.
#[derive(Clone, Debug, Default)]
pub struct Plausible {
    half_width: Vec<f64>,
    best_lower: f64,
    /// How far an action is from being ruled out; negative where it is.
    slack: Vec<f64>,
    /// By differences the leader and the firmest action; one if they are the same.
    witnesses: [Witness; 2],
    witness_count: usize,
}

impl Plausible {
    /// An empty buffer, to be filled by [`Plausible::assess`].
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes the set by intervals, at these scores and this reach.
    ///
    /// # Panics
    /// If the radius is not positive and finite.
    pub fn assess(&mut self, scores: &Scores, reach: Reach) {
        assert_radius(reach.half_width(1.0));
        self.witness_count = 0;
        self.half_width.resize(scores.mean.len(), 0.0);
        self.slack.resize(scores.mean.len(), 0.0);
        self.best_lower = match reach {
            Reach::Ellipsoid { sqrt_beta } => {
                scores.isa.bound(&scores.mean, &scores.width_sq, sqrt_beta, &mut self.half_width)
            }
            Reach::Arms(arms) => {
                let mut best = f64::NEG_INFINITY;
                for ((half, width_sq), mean) in
                    self.half_width.iter_mut().zip(&scores.width_sq).zip(&scores.mean)
                {
                    *half = arms.half_width(*width_sq);
                    best = best.max(mean - *half);
                }
                best
            }
        };
        scores.isa.slacks(&scores.mean, &self.half_width, self.best_lower, &mut self.slack);
    }

    /// Takes the set by this exclusion, at scores of these actions by this model.
    ///
    /// # Panics
    /// If the radius is not positive and finite, or the actions do not fit the model.
    pub fn assess_by<E: Estimator + ?Sized>(
        &mut self,
        exclusion: Exclusion,
        model: &E,
        actions: Actions<'_>,
        scores: &Scores,
        reach: Reach,
    ) {
        match exclusion {
            Exclusion::Intervals => self.assess(scores, reach),
            Exclusion::Differences => self.compare(model, actions.blocks(), scores, reach),
        }
    }

    /// Takes the set by differences; `blocks` are the features of the scored actions.
    pub(crate) fn compare<E: Estimator + ?Sized>(
        &mut self,
        model: &E,
        blocks: &[f64],
        scores: &Scores,
        reach: Reach,
    ) {
        self.assess(scores, reach);
        if let Reach::Arms(_) = reach {
            // Arms are known separately: the half-width of a difference is the sum of both.
            return;
        }
        let leader = scores.isa.argmax(&scores.mean);
        let firmest = self.firmest(scores);
        self.witness_count = if leader == firmest { 1 } else { 2 };
        self.slack.fill(f64::INFINITY);
        let Self { witnesses, slack, .. } = self;
        for (witness, action) in witnesses[..self.witness_count].iter_mut().zip([leader, firmest]) {
            witness.compare(model, blocks, scores, action);
            for (other, slack) in slack.iter_mut().enumerate() {
                *slack = slack.min(witness.half_width(reach, other) - witness.behind.mean[other]);
            }
        }
    }

    /// Takes these in place of its own: what differences leave by scores that follow observations.
    pub(crate) fn take_slack(&mut self, slack: &[f64]) {
        self.slack.copy_from_slice(slack);
    }

    /// The action with the largest lower bound, the lowest index among equals.
    pub(crate) fn firmest(&self, scores: &Scores) -> ActionIndex {
        let lower = |action: usize| scores.mean[action] - self.half_width[action];
        (0..scores.mean.len()).find(|action| lower(*action) >= self.best_lower).unwrap_or(0)
    }

    /// The largest lower bound: what an upper bound must reach by intervals.
    pub fn best_lower(&self) -> f64 {
        self.best_lower
    }

    /// Whether an action could still be best.
    pub fn contains(&self, action: ActionIndex) -> bool {
        self.slack[action] >= 0.0
    }

    /// What rules an action out: another action, and how far it is behind that one at least and at
    /// most. `None` for a plausible action.
    pub(crate) fn ruled_out(
        &self,
        scores: &Scores,
        reach: Reach,
        action: ActionIndex,
    ) -> Option<(ActionIndex, f64, f64)> {
        if self.contains(action) {
            return None;
        }
        if self.witness_count == 0 {
            let by = self.firmest(scores);
            let (ahead, own) = (self.interval(scores, by), self.interval(scores, action));
            return Some((by, ahead.lower - own.upper, ahead.upper - own.lower));
        }
        let against = |witness: &Witness| {
            let (mean, half) = (witness.behind.mean[action], witness.half_width(reach, action));
            (witness.action, mean - half, mean + half)
        };
        // The leader comes first, because nothing rules it out.
        let mut witnesses = self.witnesses[..self.witness_count].iter().map(against);
        witnesses.find(|(_, at_least, _)| *at_least > 0.0)
    }

    /// The interval of an action.
    pub fn interval(&self, scores: &Scores, action: ActionIndex) -> Interval {
        let (mean, half) = (scores.mean[action], self.half_width[action]);
        Interval { lower: mean - half, mean, upper: mean + half }
    }

    /// Half the interval of each action.
    pub fn half_widths(&self) -> &[f64] {
        &self.half_width
    }

    /// The plausible action with the largest width, the lowest index among equals.
    ///
    /// # Panics
    /// If the scores are not the ones assessed.
    pub fn widest(&self, scores: &Scores) -> ActionIndex {
        self.widest_by(scores, &scores.width_sq)
    }

    /// The plausible action with the largest of these squared widths, the lowest index among
    /// equals.
    ///
    /// # Panics
    /// If the scores are not the ones assessed, or there is not one width for each action.
    pub fn widest_by(&self, scores: &Scores, width_sq: &[f64]) -> ActionIndex {
        assert!(width_sq.len() == self.slack.len(), "one width for each action");
        let best = scores.isa.widest(width_sq, &self.slack);
        let attains = |&action: &ActionIndex| width_sq[action] >= best && self.contains(action);
        (0..width_sq.len()).find(attains).expect("a plausible set is never empty")
    }

    /// The plausible action with the largest `greed·mean + half-width`, the lowest index among
    /// equals.
    ///
    /// # Panics
    /// If the scores are not the ones assessed.
    pub fn tempered(&self, scores: &Scores, greed: f64) -> ActionIndex {
        let best = scores.isa.tempered(&scores.mean, &self.half_width, greed, &self.slack);
        let value = |action: usize| greed * scores.mean[action] + self.half_width[action];
        let attains = |&action: &ActionIndex| value(action) >= best && self.contains(action);
        (0..scores.mean.len()).find(attains).expect("a plausible set is never empty")
    }

    /// The choice at this greed: [`Plausible::widest`] at 0, else [`Plausible::tempered`].
    pub(crate) fn best(&self, scores: &Scores, greed: f64) -> ActionIndex {
        if greed > 0.0 { self.tempered(scores, greed) } else { self.widest(scores) }
    }

    /// Size and largest squared error of the set, given the true means.
    ///
    /// # Panics
    /// If there is not one true mean for each action.
    pub fn summary(&self, scores: &Scores, truth: &[f64]) -> PlausibleSummary {
        assert!(truth.len() == scores.mean.len(), "one true mean for each action");
        scores.isa.plausible_summary(&scores.mean, truth, &self.slack)
    }
}

/// One witness, and by how much it beats each action.
#[derive(Clone, Debug, Default)]
struct Witness {
    /// Which action it is.
    action: ActionIndex,
    /// The difference of each action from it: by how much it is behind, with its squared width.
    behind: Scores,
    rows: Aligned,
}

impl Witness {
    /// Scores the differences from scratch, each as if it were an action. O(d²) per action.
    ///
    /// `blocks` are the features of the scored actions. Differences of equal rows are exactly zero,
    /// so copies never rule each other out.
    fn compare<E: Estimator + ?Sized>(
        &mut self,
        model: &E,
        blocks: &[f64],
        scores: &Scores,
        action: ActionIndex,
    ) {
        self.action = action;
        self.behind.resize(scores.mean.len());
        let Some(fit) = model.fit() else {
            let Scores { mean, width_sq, .. } = &mut self.behind;
            for other in 0..scores.mean.len() {
                mean[other] = scores.mean[action] - scores.mean[other];
                width_sq[other] = model.difference_sq(scores, action, other);
            }
            return;
        };
        self.behind.isa = fit.isa;
        let dim = fit.theta_hat.len();
        let start = action / LANES * LANES * dim + action % LANES;
        self.rows.set_zeros(blocks.len());
        let lanes = self.rows.as_chunks_mut::<LANES>().0.chunks_exact_mut(dim);
        for (rows, block) in lanes.zip(blocks.as_chunks::<LANES>().0.chunks_exact(dim)) {
            let features = blocks[start..].iter().step_by(LANES);
            for ((rows, others), own) in rows.iter_mut().zip(block).zip(features) {
                for (row, other) in rows.iter_mut().zip(others) {
                    *row = own - other;
                }
            }
        }
        fit.score(&self.rows, &mut self.behind.mean, &mut self.behind.width_sq);
    }

    /// Half the interval of the difference of an action from the witness.
    fn half_width(&self, reach: Reach, action: ActionIndex) -> f64 {
        reach.half_width(self.behind.width_sq[action])
    }
}
