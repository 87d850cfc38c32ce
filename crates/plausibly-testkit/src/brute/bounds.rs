//! Confidence intervals of a round, and the actions they leave plausible.

use super::Ranking;
use super::model::Scored;
use super::radius::Reach;

/// Half-widths of all actions, and which actions could still be best.
#[derive(Clone, Debug)]
pub(super) struct Bounds {
    pub(super) half: Vec<f64>,
    pub(super) half_tolerance: Vec<f64>,
    /// By plain comparison of bounds.
    pub(super) plausible: Vec<bool>,
    /// Whatever rounding does.
    pub(super) sure: Vec<bool>,
    /// If rounding helps.
    pub(super) maybe: Vec<bool>,
}

impl Bounds {
    pub(super) fn new(scored: &Scored, reach: &Reach) -> Self {
        let (half, half_tolerance) = halves(scored, reach);
        let count = scored.len();
        let tolerance = |a: usize| scored.mean_tolerance[a] + half_tolerance[a];
        let lower = |a: usize, sign: f64| scored.mean[a] - half[a] + sign * tolerance(a);
        let best_lower =
            |sign: f64| (0..count).map(|a| lower(a, sign)).fold(f64::NEG_INFINITY, f64::max);
        let reaching = |sign: f64, level: f64| {
            (0..count).map(|a| scored.mean[a] + half[a] + sign * tolerance(a) >= level).collect()
        };
        let plausible = reaching(0.0, best_lower(0.0));
        let (sure, maybe) = (reaching(-1.0, best_lower(1.0)), reaching(1.0, best_lower(-1.0)));
        Self { half, half_tolerance, plausible, sure, maybe }
    }

    /// A ranking of the plausible actions.
    pub(super) fn rank(&self, value: Vec<f64>, tolerance: Vec<f64>) -> Ranking {
        let (plain, sure, maybe) = (self.plausible.clone(), self.sure.clone(), self.maybe.clone());
        Ranking { value, tolerance, plain, sure, maybe }
    }

    /// Whether rounding decides about an action.
    pub(super) fn is_unclear(&self, action: usize) -> bool {
        self.sure[action] != self.maybe[action]
    }
}

/// Half-widths with what rounding can change of them.
pub(super) fn halves(scored: &Scored, reach: &Reach) -> (Vec<f64>, Vec<f64>) {
    let half: Vec<f64> = scored.width_sq.iter().map(|width_sq| reach.half(*width_sq)).collect();
    let tolerance = |(half, epsilon): (&f64, &f64)| {
        if half.is_infinite() { 0.0 } else { half * (epsilon + reach.epsilon) }
    };
    let half_tolerance = half.iter().zip(&scored.epsilon).map(tolerance).collect();
    (half, half_tolerance)
}
