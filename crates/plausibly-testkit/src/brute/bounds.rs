//! Confidence intervals of a round, and the actions they leave plausible.

use super::Ranking;
use super::model::{BruteModel, Scored};
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

    /// By differences: an action is out if the leader or the firmest action beats it by more than
    /// the half-width of their difference. Where rounding decides who these are, each candidate
    /// counts.
    pub(super) fn by_differences(
        model: &BruteModel,
        rows: &[Vec<f64>],
        scored: &Scored,
        reach: &Reach,
    ) -> Self {
        let mut bounds = Self::new(scored, reach);
        let lower: Vec<f64> = scored.mean.iter().zip(&bounds.half).map(|(m, h)| m - h).collect();
        let tolerance: Vec<f64> =
            scored.mean_tolerance.iter().zip(&bounds.half_tolerance).map(|(m, h)| m + h).collect();
        let witnesses =
            [candidates(&scored.mean, &scored.mean_tolerance), candidates(&lower, &tolerance)];
        let count = scored.len();
        let (mut plain, mut sure, mut maybe) =
            (vec![true; count], vec![true; count], vec![true; count]);
        for candidates in witnesses {
            let mut some_leaves = vec![false; count];
            for (at, witness) in candidates.into_iter().enumerate() {
                let Some(behind) = model.behind(rows, scored, witness) else { return bounds };
                let (half, half_tolerance) = halves(&behind, reach);
                for action in 0..count {
                    let slack = half[action] - behind.mean[action];
                    let off = behind.mean_tolerance[action] + half_tolerance[action];
                    plain[action] &= at > 0 || slack >= 0.0;
                    sure[action] &= slack - off >= 0.0;
                    some_leaves[action] |= slack + off >= 0.0;
                }
            }
            maybe.iter_mut().zip(some_leaves).for_each(|(maybe, leaves)| *maybe &= leaves);
        }
        (bounds.plausible, bounds.sure, bounds.maybe) = (plain, sure, maybe);
        bounds
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

/// The first of the largest, then all others that rounding could make the first of the largest.
pub(super) fn candidates(value: &[f64], tolerance: &[f64]) -> Vec<usize> {
    let first =
        (0..value.len()).reduce(|best, next| if value[next] > value[best] { next } else { best });
    let first = first.expect("there is an action");
    let least = value.iter().zip(tolerance).map(|(value, off)| value - off);
    let least = least.fold(f64::NEG_INFINITY, f64::max);
    let could = |at: &usize| *at != first && value[*at] + tolerance[*at] >= least;
    std::iter::once(first).chain((0..value.len()).filter(could)).collect()
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
