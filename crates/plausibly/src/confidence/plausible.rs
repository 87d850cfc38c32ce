//! The plausible set: the actions that could still be best.

use super::radius::Reach;
use crate::actions::ActionIndex;
use crate::model::Scores;

pub use crate::linalg::PlausibleSummary;

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

/// The set `Ã = {a : upper(a) ≥ max lower}` of a round.
///
/// Equality counts as plausible. The set always holds the action with the largest lower bound, so
/// it is never empty.
///
/// # Cost
/// [`Plausible::assess`] is one pass over the scores with one square root an action; each question
/// is one more pass. The buffer is reused between rounds.
#[derive(Clone, Debug, Default)]
pub struct Plausible {
    half_width: Vec<f64>,
    best_lower: f64,
}

impl Plausible {
    /// An empty buffer, to be filled by [`Plausible::assess`].
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes the set at these scores and this reach.
    ///
    /// # Panics
    /// If the radius is not positive and finite.
    pub fn assess(&mut self, scores: &Scores, reach: Reach) {
        assert_radius(reach.half_width(1.0));
        self.half_width.resize(scores.mean.len(), 0.0);
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
    }

    /// The largest lower bound: what an upper bound must reach.
    pub fn best_lower(&self) -> f64 {
        self.best_lower
    }

    /// Whether an action could still be best.
    pub fn contains(&self, scores: &Scores, action: ActionIndex) -> bool {
        scores.mean[action] + self.half_width[action] >= self.best_lower
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
        assert!(width_sq.len() == scores.mean.len(), "one width for each action");
        let best = scores.isa.widest(&scores.mean, width_sq, &self.half_width, self.best_lower);
        let attains =
            |&action: &ActionIndex| width_sq[action] >= best && self.contains(scores, action);
        (0..scores.mean.len())
            .find(attains)
            .expect("the action with the best lower bound is plausible")
    }

    /// The plausible action with the largest `greed·mean + half-width`, the lowest index among
    /// equals.
    ///
    /// # Panics
    /// If the scores are not the ones assessed.
    pub fn tempered(&self, scores: &Scores, greed: f64) -> ActionIndex {
        let best = scores.isa.tempered(&scores.mean, &self.half_width, greed, self.best_lower);
        let attains = |&action: &ActionIndex| {
            greed * scores.mean[action] + self.half_width[action] >= best
                && self.contains(scores, action)
        };
        (0..scores.mean.len())
            .find(attains)
            .expect("the action with the best lower bound is plausible")
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
        scores.isa.plausible_summary(&scores.mean, &self.half_width, truth, self.best_lower)
    }
}
