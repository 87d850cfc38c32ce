//! Verdicts between two actions, by what each has paid.
//!
//! Two intervals that do not overlap say more than the question asks. If `a` is not better than
//! `b`, some `m` has the mean of `a` at or below it and that of `b` at or above it; so evidence
//! that `a` is above `m` and evidence that `b` is below `m` may be added up for every `m`.

use super::bell::BellPairs;
use super::reach::Reach;
use super::two_point::Sample;
use crate::model::{Earnings, Evidence};

/// What is certain at one moment: how far estimates may be off, and when a pair is decided.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bounds {
    /// How far intervals reach.
    pub reach: Reach,
    /// When one action rules another out by what both have paid; `None` where only intervals or
    /// differences of estimates do.
    pub pairs: Option<PairRule>,
}

impl From<Reach> for Bounds {
    fn from(reach: Reach) -> Self {
        Self { reach, pairs: None }
    }
}

/// When one action rules another out by what both have paid.
///
/// An action is compared with the one that has the largest average, if both were taken.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum PairRule {
    /// For rewards in a range, by the evidence of [`TwoPoint`](super::TwoPoint):
    ///
    /// ```text
    /// min over m between the averages of [up_a(m) + down_b(m)] ≥ needed
    /// up_a(average of b) ≥ aside     and     down_b(average of a) ≥ aside
    /// ```
    ///
    /// The second line covers truths outside of both averages. Proof in
    /// `docs/concepts/validity.md`.
    TwoPoint {
        /// The least reward.
        low: f64,
        /// The largest reward less the least.
        range: f64,
        /// Evidence for a verdict, in nats.
        needed: f64,
        /// Evidence of each action alone, in nats.
        aside: f64,
        /// How far each average may be off by rounding, in units of the range.
        allowance: f64,
    },
    /// For normal noise of unknown scale.
    Bell(BellPairs),
}

impl PairRule {
    /// For rewards in this range, beside a model that does not keep the arms' own intervals: half
    /// of δ is for these.
    pub(super) fn without_intervals(
        evidence: &Evidence,
        delta: f64,
        (low, high): (f64, f64),
    ) -> Self {
        Self::TwoPoint {
            low,
            range: high - low,
            needed: libm::log(2.0 * evidence.pair_shares) - libm::log(delta),
            aside: libm::log(4.0 * evidence.shares as f64) - libm::log(delta),
            allowance: 0.0,
        }
    }

    /// The evidence for a verdict, in nats.
    pub fn needed(&self) -> f64 {
        match *self {
            Self::TwoPoint { needed, .. } | Self::Bell(BellPairs { needed, .. }) => needed,
        }
    }

    /// A lower bound on the evidence, in nats, by which an action that has paid `ahead` rules out
    /// one that has paid `behind`; `None` if it does not.
    pub fn rules_out(&self, ahead: Earnings, behind: Earnings) -> Option<f64> {
        if ahead.count == 0 || behind.count == 0 || ahead.mean() <= behind.mean() {
            return None;
        }
        match *self {
            Self::TwoPoint { low, range, needed, aside, allowance } => {
                let [ahead, behind] = [ahead, behind].map(|tally| Sample::of(tally, low, range));
                let pair = Pair { ahead, behind, mirrored: behind.mirrored(), allowance };
                pair.evidence(needed, aside)
            }
            Self::Bell(rule) => rule.rules_out(&ahead, &behind).map(|_| rule.needed),
        }
    }

    /// How far the evidence has come by which an action that has paid `ahead` would rule out one
    /// that has paid `behind`, as a share: evidence so far divided by evidence needed, both with
    /// what the mixture of bets costs. `None` for a rule without such a share.
    pub(crate) fn progress(&self, ahead: Earnings, behind: Earnings) -> Option<f64> {
        let Self::TwoPoint { low, range, needed, aside, allowance } = *self else { return None };
        if ahead.count == 0 || behind.count == 0 || ahead.mean() <= behind.mean() {
            return None;
        }
        let [ahead, behind] = [ahead, behind].map(|tally| Sample::of(tally, low, range));
        let pair = Pair { ahead, behind, mirrored: behind.mirrored(), allowance };
        let alone = [
            pair.ahead.evidence_above(behind.mean() + allowance).0,
            pair.mirrored.evidence_above(1.0 - ahead.mean() + allowance).0,
        ];
        let share = |evidence: f64, needed: f64, cost: f64| {
            let gained = (evidence + cost).max(0.0);
            // The largest of several rivals looks clearer than it is.
            (gained - LUCK * (2.0 * gained).sqrt()) / (needed + cost)
        };
        let both = share(pair.at(pair.pooled()).value, needed, 2.0 * MIXTURE_COST);
        let alone = alone.map(|evidence| share(evidence, aside, MIXTURE_COST));
        Some(alone.into_iter().fold(both, f64::min))
    }

    /// The same for rewards that were rounded by up to this much.
    pub(super) fn widened(self, by: f64) -> Self {
        match self {
            Self::TwoPoint { low, range, needed, aside, allowance } => {
                let allowance = allowance + by / range;
                Self::TwoPoint { low, range, needed, aside, allowance }
            }
            Self::Bell(rule) => Self::Bell(BellPairs { error: rule.error + by, ..rule }),
        }
    }
}

/// Two samples of rewards in [0, 1].
struct Pair {
    ahead: Sample,
    behind: Sample,
    mirrored: Sample,
    allowance: f64,
}

/// What a mixture of bets loses to the best single bet, in nats, about: bets share the weight, and
/// a few neighbours of the best one do nearly as well.
const MIXTURE_COST: f64 = 2.0;
/// Evidence of E nats scatters by about `√(2E)`. Half of that is taken for luck.
const LUCK: f64 = 0.5;

/// Points at which the evidence of a pair is evaluated at most. Without an answer by then the pair
/// is not decided, which is always valid.
const MOST_POINTS: usize = 60;

/// A point of a convex function with its slope there.
#[derive(Clone, Copy)]
struct Tangent {
    at: f64,
    value: f64,
    slope: f64,
}

impl Tangent {
    fn value_at(&self, at: f64) -> f64 {
        self.value + self.slope * (at - self.at)
    }
}

impl Pair {
    /// `up_a(m) + down_b(m)`, which is convex in `m`.
    fn at(&self, m: f64) -> Tangent {
        let (up, up_slope) = self.ahead.evidence_above(m + self.allowance);
        let (down, down_slope) = self.mirrored.evidence_above(1.0 - m + self.allowance);
        Tangent { at: m, value: up + down, slope: up_slope - down_slope }
    }

    /// The average of all rewards of both.
    fn pooled(&self) -> f64 {
        let plays = self.ahead.count() + self.behind.count();
        (self.ahead.count() * self.ahead.mean() + self.behind.count() * self.behind.mean()) / plays
    }

    /// A lower bound on the least evidence over all `m` between the averages, if that is enough.
    fn evidence(&self, needed: f64, aside: f64) -> Option<f64> {
        let (low, high) = (self.behind.mean(), self.ahead.mean());
        // Most pairs are undecided, and one point shows it.
        if low >= high || self.at(self.pooled()).value < needed {
            return None;
        }
        let alone = self.ahead.evidence_above(low + self.allowance).0 >= aside
            && self.mirrored.evidence_above(1.0 - high + self.allowance).0 >= aside;
        if alone { self.least(low, high, needed) } else { None }
    }

    /// Follows the lower of two tangents to the minimum.
    fn least(&self, low: f64, high: f64, needed: f64) -> Option<f64> {
        let (mut left, mut right) = (self.at(low), self.at(high));
        if left.slope >= 0.0 || right.slope <= 0.0 {
            let end = if left.slope >= 0.0 { left.value } else { right.value };
            return (end >= needed).then_some(end);
        }
        for point in 0..MOST_POINTS {
            // The tangents meet below the function. Every other point halves the interval, since
            // tangents of infinite slope meet nowhere.
            let meet = (right.value_at(0.0) - left.value_at(0.0)) / (left.slope - right.slope);
            if left.at < meet && meet < right.at && left.value_at(meet) >= needed {
                return Some(left.value_at(meet));
            }
            let inside = left.at < meet && meet < right.at && point % 2 == 0;
            let next = self.at(if inside { meet } else { 0.5 * (left.at + right.at) });
            if next.value < needed {
                return None;
            }
            if next.slope < 0.0 { left = next } else { right = next }
        }
        None
    }
}
