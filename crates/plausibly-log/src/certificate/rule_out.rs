//! Computes what would rule out an action that could still be best.

use super::bell::More;
use super::numbers::{Known, Numbers};
use plausibly::spec::Model;
use plausibly::{
    ActionIndex, Bounded, ConfidenceRadius, Earnings, Evidence, Explanation, PairRule, Reach,
    Scores, Standing,
};
use serde::{Deserialize, Serialize};

/// No search goes beyond 2⁴⁰ observations: no log has as many.
const MOST: u64 = 1 << 40;

/// What would rule out an action.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct RuleOut {
    /// How far its estimate would have to fall now, in units of reward; `null` if no fall would be
    /// enough, or where evidence between pairs decides.
    pub shift: Option<f64>,
    /// The number of further observations of it that would be enough, if they pay its current
    /// estimate and nothing is learned about the others; `null` if no number is.
    pub observations: Option<u64>,
}

impl RuleOut {
    /// For an action that could still be best; `None` for others.
    pub(super) fn of(numbers: &Numbers, action: ActionIndex) -> Option<Self> {
        let Known { model, explanation, radius, .. } = &*numbers.known;
        if explanation.standings()[action] != Standing::Plausible {
            return None;
        }
        let (terms, evidence) = (numbers.terms(), model.estimator().evidence());
        Some(match radius.reach(&evidence) {
            _ if terms.format < 2 => {
                Self::by_intervals(action, explanation, evidence, radius, terms.range())
            }
            _ if terms.spec.is_bell() => Self::by_bell(numbers, action),
            // There is no set, and no width that would make one.
            Reach::Open(_) if terms.spec.link().is_some() => {
                Self { shift: None, observations: None }
            }
            Reach::Curved(curved) => numbers.by_curve(action, curved),
            Reach::Bounded(bounded) => Self::by_payments(numbers, action, bounded),
            _ => match Differences::of(numbers, action) {
                Some(differences) => Self::by_differences(&differences),
                None => Self::by_intervals(action, explanation, evidence, radius, terms.range()),
            },
        })
    }

    fn by_intervals(
        action: ActionIndex,
        explanation: &Explanation,
        evidence: Evidence,
        radius: &dyn ConfidenceRadius,
        range: f64,
    ) -> Self {
        let intervals = explanation.intervals().iter().enumerate();
        let rivals = intervals.filter(|(other, _)| *other != action);
        let best_lower =
            rivals.map(|(_, interval)| interval.lower).fold(f64::NEG_INFINITY, f64::max);
        let (interval, width_sq) =
            (explanation.intervals()[action], explanation.width_sq()[action]);
        let out = |observations: u64| {
            let after = after(evidence, observations, width_sq);
            interval.mean + radius.reach(&after).half_width(shrunk(width_sq, observations))
                < best_lower
        };
        Self {
            shift: Some(range * (interval.upper - best_lower)).filter(|shift| shift.is_finite()),
            observations: (width_sq.is_finite() && out(MOST)).then(|| smallest(out)),
        }
    }

    /// The plausible rival whose difference is closest to ruling the action out; `None` where
    /// differences do not decide.
    pub(super) fn closest_rival(numbers: &Numbers, action: ActionIndex) -> Option<ActionIndex> {
        Some(closest(&Differences::of(numbers, action)?)?.0)
    }

    fn by_differences(differences: &Differences<'_>) -> Self {
        let Differences { numbers, action } = differences;
        let Some((rival, slack)) = closest(differences) else {
            return Self { shift: None, observations: None };
        };
        let width_sq = numbers.known.explanation.width_sq()[*action];
        let (apart, along) = (differences.apart(rival), differences.along(rival));
        let (gap, evidence) = (differences.gap(rival), numbers.known.model.estimator().evidence());
        let by_pair = ByPair::of(numbers, *action);
        let out = |observations: u64| {
            let n = observations as f64;
            // Observations of the action narrow what it and the difference have in common.
            let left = apart - along * along * n / (1.0 + n * width_sq);
            let after = after(evidence, observations, width_sq);
            gap > numbers.known.radius.reach(&after).half_width(left.max(0.0))
                || by_pair.as_ref().is_some_and(|pair| pair.decides_after(observations))
        };
        let range = numbers.terms().range();
        let shift = Some(range * slack.max(0.0)).filter(|shift| shift.is_finite());
        Self { shift, observations: first(out) }
    }

    /// Under the radius `bell`, whose set has another shape after more outcomes.
    fn by_bell(numbers: &Numbers, action: ActionIndex) -> Self {
        let (basis, explanation) = (&numbers.basis, &numbers.known.explanation);
        let nearest = Differences::of(numbers, action).and_then(|all| closest(&all));
        let range = basis.terms.range();
        let shift = nearest.map(|(_, slack)| range * slack.max(0.0)).filter(|by| by.is_finite());
        let means = |at: usize| explanation.intervals()[at].mean;
        let known = (0..basis.ids.len())
            .filter(|at| *at != action && explanation.width_sq()[*at].is_finite());
        let leader = known.reduce(|best, next| if means(next) > means(best) { next } else { best });
        let rival = nearest.map(|(rival, _)| rival).or(leader);
        let Some(rival) = rival.filter(|_| explanation.width_sq()[action].is_finite()) else {
            return Self { shift, observations: None };
        };
        let (mean, gap) = (means(action), means(rival) - means(action));
        let (scatter, by_pair) =
            (basis.bell_scatter(&numbers.known.model), ByPair::of(numbers, action));
        let out = |outcomes: u64| {
            let more = More { action, outcomes, mean, scatter };
            let by_set = basis.bell_after(&numbers.known.shown, more).is_ok_and(|after| {
                let reach = numbers.known.radius.reach(&after.estimator().evidence());
                let apart = numbers.apart(&after, rival, action);
                gap > reach.half_width(apart.max(0.0))
            });
            by_set || by_pair.as_ref().is_some_and(|pair| pair.decides_after(outcomes))
        };
        // An action that is ahead of its rivals stays so.
        let observations = if gap > 0.0 { first(out) } else { None };
        Self { shift, observations }
    }

    /// By what arms have paid: more outcomes like those so far.
    fn by_payments(numbers: &Numbers, action: ActionIndex, bounded: Bounded) -> Self {
        let Some(pair) = ByPair::of(numbers, action) else {
            return Self { shift: None, observations: None };
        };
        let tallies = numbers.known.model.estimator().tallies().expect("bounded arms keep squares");
        let rivals = (0..tallies.len()).filter(|arm| *arm != action && tallies.get(*arm).count > 0);
        let lower = rivals.map(|arm| bounded.interval(tallies.get(arm)).0);
        let best_lower = lower.fold(f64::NEG_INFINITY, f64::max);
        let out = |observations: u64| {
            bounded.interval(pair.after(observations)).1 < best_lower
                || pair.decides_after(observations)
        };
        Self { shift: None, observations: first(out) }
    }
}

/// An action and the rival that has paid most on average, compared by what both have paid.
pub(super) struct ByPair {
    rule: Option<PairRule>,
    ahead: Earnings,
    own: Earnings,
}

impl ByPair {
    /// `None` where nothing is kept about single actions, or no rival is ahead.
    pub(super) fn of(numbers: &Numbers, action: ActionIndex) -> Option<Self> {
        let model = numbers.known.model.estimator();
        let tallies = model.tallies()?;
        let ahead = tallies.get(Self::rival(numbers, action)?);
        let own = tallies.get(action);
        let rule = numbers.known.radius.bounds(&model.evidence()).pairs;
        (own.count > 0 && ahead.mean() > own.mean()).then_some(Self { rule, ahead, own })
    }

    /// The other action that has paid most on average, the first among equals.
    pub(super) fn rival(numbers: &Numbers, action: ActionIndex) -> Option<ActionIndex> {
        let tallies = numbers.known.model.estimator().tallies()?;
        let mean = |arm: usize| tallies.get(arm).mean();
        let rivals = (0..tallies.len()).filter(|arm| *arm != action && tallies.get(*arm).count > 0);
        rivals.reduce(|best, next| if mean(next) > mean(best) { next } else { best })
    }

    /// What the action will have paid after more outcomes like those so far.
    fn after(&self, observations: u64) -> Earnings {
        let Earnings { count, total, squares } = self.own;
        let grown = 1.0 + observations as f64 / count as f64;
        Earnings { count: count + observations, total: total * grown, squares: squares * grown }
    }

    pub(super) fn decides_after(&self, observations: u64) -> bool {
        self.rule.is_some_and(|rule| rule.rules_out(self.ahead, self.after(observations)).is_some())
    }
}

/// The differences of the other actions from one action, under an ellipsoid.
pub(super) struct Differences<'a> {
    numbers: &'a Numbers,
    action: ActionIndex,
}

impl<'a> Differences<'a> {
    /// `None` where differences do not rule actions out.
    pub(super) fn of(numbers: &'a Numbers, action: ActionIndex) -> Option<Self> {
        let reach = numbers.reach();
        let decide =
            matches!(reach, Reach::Ellipsoid { .. } | Reach::Curved(_)) && numbers.by_differences();
        decide.then_some(Self { numbers, action })
    }

    /// How far the estimate of a rival is above that of the action, on the scale on which the model
    /// is linear.
    pub(super) fn gap(&self, rival: ActionIndex) -> f64 {
        let moved = |at: ActionIndex| self.numbers.moved(at);
        if let (Some(above), Some(own)) = (moved(rival), moved(self.action)) {
            return above - own;
        }
        let intervals = self.numbers.known.explanation.intervals();
        intervals[rival].mean - intervals[self.action].mean
    }

    /// `gᵀV⁻¹g`, with `g` the features of a rival less those of the action.
    pub(super) fn apart(&self, rival: ActionIndex) -> f64 {
        let Known { model, explanation, .. } = &*self.numbers.known;
        let Some(inverse) = model.gram_inverse() else {
            // Arms have nothing in common.
            return explanation.width_sq()[rival] + explanation.width_sq()[self.action];
        };
        let apart = self.beyond(rival);
        form(inverse, &apart, &apart).max(0.0)
    }

    /// `gᵀV⁻¹a`, with `a` the features of the action.
    pub(super) fn along(&self, rival: ActionIndex) -> f64 {
        let Known { model, explanation, .. } = &*self.numbers.known;
        let Some(inverse) = model.gram_inverse() else {
            return -explanation.width_sq()[self.action];
        };
        form(inverse, &self.beyond(rival), self.numbers.basis.features(self.action))
    }

    /// The features of a rival less those of the action.
    fn beyond(&self, rival: ActionIndex) -> Vec<f64> {
        let basis = &self.numbers.basis;
        minus(basis.features(rival), basis.features(self.action))
    }
}

impl Numbers {
    /// The squared width of the difference of two actions by a model of them.
    fn apart(&self, model: &Model, one: ActionIndex, other: ActionIndex) -> f64 {
        let Some(inverse) = model.gram_inverse() else {
            let mut scores = Scores::new();
            model.estimator().score_into(self.basis.set.view(), &mut scores);
            return scores.width_sq()[one] + scores.width_sq()[other];
        };
        let [one, other] = [one, other].map(|at| self.basis.features(at));
        let apart = minus(one, other);
        form(inverse, &apart, &apart)
    }
}

fn minus(one: &[f64], other: &[f64]) -> Vec<f64> {
    one.iter().zip(other).map(|(a, b)| a - b).collect()
}

/// `xᵀ·M·y`.
fn form(matrix: &[f64], x: &[f64], y: &[f64]) -> f64 {
    let rows = matrix.chunks(x.len()).zip(x);
    rows.fold(0.0, |sum, (row, x)| sum + x * dot(row, y))
}

/// The plausible rival that is closest to ruling the action out, and how far it is from that.
pub(super) fn closest(differences: &Differences<'_>) -> Option<(ActionIndex, f64)> {
    let Differences { numbers, action } = differences;
    let reach = numbers.reach();
    let rivals = numbers.known.explanation.plausible().filter(|rival| rival != action);
    let slacks = rivals
        .map(|rival| (rival, reach.half_width(differences.apart(rival)) - differences.gap(rival)));
    slacks.reduce(|best, next| if next.1 < best.1 { next } else { best })
}

fn dot(x: &[f64], y: &[f64]) -> f64 {
    x.iter().zip(y).fold(0.0, |sum, (x, y)| sum + x * y)
}

/// The squared width after this many more observations of the action itself.
fn shrunk(width_sq: f64, observations: u64) -> f64 {
    width_sq / (1.0 + observations as f64 * width_sq)
}

fn after(evidence: Evidence, observations: u64, width_sq: f64) -> Evidence {
    let mut after = evidence;
    if evidence.ridge > 0.0 {
        let log_det = evidence.log_det_ratio() + libm::log1p(observations as f64 * width_sq);
        after = Evidence::new(evidence.observations, evidence.dim, evidence.ridge, log_det);
        after.floor = evidence.floor;
        // As if what comes were forecast without error.
        after.squares = evidence.squares;
    }
    after.observations += observations;
    after
}

/// The smallest number found for which `out` holds, `None` if no power of two up to [`MOST`] is
/// enough. What is known about the rival does not grow, so `out` may fail again for very many.
pub(super) fn first(out: impl Fn(u64) -> bool) -> Option<u64> {
    let enough = (0..=40).map(|power| 1 << power).find(|observations| out(*observations))?;
    Some(bisect(enough / 2, enough, out))
}

/// The smallest positive number for which `out` holds, given that it holds at [`MOST`]. A binary
/// search is right because the width falls faster than the radius grows from the second observation
/// on, so intervals only shrink.
fn smallest(out: impl Fn(u64) -> bool) -> u64 {
    bisect(0, MOST, out)
}

/// A number at which `out` begins to hold, between one where it does not and one where it does.
fn bisect(mut not_yet: u64, mut enough: u64, out: impl Fn(u64) -> bool) -> u64 {
    while enough - not_yet > 1 {
        let middle = not_yet + (enough - not_yet) / 2;
        if out(middle) {
            enough = middle;
        } else {
            not_yet = middle;
        }
    }
    enough
}
