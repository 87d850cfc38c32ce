//! The plausible set: the actions that could still be best, and what rules the others out.

mod choice;
mod paid;
mod witness;

use self::paid::{Beaten, BoundedArms};
use self::witness::Witness;
use super::curved::Curved;
use super::pairs::Bounds;
use super::reach::Reach;
use crate::actions::{ActionIndex, Actions};
use crate::model::{Estimator, Scores, Tallies};

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
    /// The middles of intervals that do not have their estimates there; else empty.
    middle: Vec<f64>,
    best_lower: f64,
    kind: Kind,
    /// On a curved scale, and where nothing is ruled out, the estimate of each action in rewards.
    estimate: Vec<f64>,
    /// On a curved scale how much it moves with `z`.
    weight: Vec<f64>,
    arms: BoundedArms,
    beaten: Beaten,
    /// How far an action is from being ruled out; negative where it is.
    slack: Vec<f64>,
    /// By differences the leader and the firmest action; one if they are the same.
    witnesses: [Witness; 2],
    witness_count: usize,
}

/// What intervals are made from.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
enum Kind {
    /// An estimate in the middle, and a width.
    #[default]
    Even,
    /// What an arm has paid.
    Bounded,
    /// An estimate and a width on another scale.
    Curved(Curved),
    /// Nothing: no action is ruled out.
    Open,
}

impl Plausible {
    /// An empty buffer, to be filled by [`Plausible::assess`].
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes the set by intervals, at these scores and this reach.
    ///
    /// # Panics
    /// If the radius is not positive and finite, or the reach is one for bounded arms, which
    /// [`Plausible::assess_by`] takes.
    pub fn assess(&mut self, scores: &Scores, reach: Reach) {
        self.beaten.by_nothing();
        self.assess_left(scores, reach, None);
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
        bounds: impl Into<Bounds>,
    ) {
        self.judge(exclusion, model, actions.blocks(), scores, bounds.into());
    }

    /// Takes the set; `blocks` are the features of the scored actions. With a rule for pairs all
    /// actions are scored.
    pub(crate) fn judge<E: Estimator + ?Sized>(
        &mut self,
        exclusion: Exclusion,
        model: &E,
        blocks: &[f64],
        scores: &Scores,
        Bounds { reach, pairs }: Bounds,
    ) {
        let tallies = model.tallies();
        match (pairs, tallies) {
            (Some(rule), Some(tallies)) if reach.judges_pairs() => {
                self.beaten.compare(rule, tallies);
            }
            _ => self.beaten.by_nothing(),
        }
        self.assess_left(scores, reach, tallies);
        if self.kind == Kind::Open {
            // Estimates are in rewards also where intervals say nothing.
            let estimates = self.estimate.iter_mut().zip(&scores.mean);
            estimates.for_each(|(estimate, mean)| *estimate = model.in_rewards(*mean));
        }
        if exclusion == Exclusion::Differences {
            self.compare_left(model, blocks, scores, reach);
        }
        for (slack, evidence) in self.slack.iter_mut().zip(&self.beaten.evidence) {
            if *evidence > 0.0 {
                *slack = f64::NEG_INFINITY;
            }
        }
    }

    /// Compares intervals with the largest lower bound among the actions that no pair ruled out.
    fn assess_left(&mut self, scores: &Scores, reach: Reach, tallies: Option<Tallies<'_>>) {
        let len = scores.mean.len();
        self.witness_count = 0;
        self.middle.clear();
        self.half_width.resize(len, 0.0);
        self.slack.resize(len, 0.0);
        self.kind = match reach {
            Reach::Ellipsoid { .. } | Reach::Arms(_) => Kind::Even,
            Reach::Bounded(_) => Kind::Bounded,
            Reach::Curved(curved) => Kind::Curved(curved),
            Reach::Open(_) => Kind::Open,
        };
        match reach {
            Reach::Ellipsoid { sqrt_beta } => {
                assert_radius(sqrt_beta);
                let Scores { isa, mean, width_sq } = scores;
                self.best_lower = isa.bound(mean, width_sq, sqrt_beta, &mut self.half_width);
            }
            Reach::Arms(arms) => {
                assert_radius(arms.half_width(1.0));
                let halves = scores.width_sq.iter().map(|width_sq| arms.half_width(*width_sq));
                self.half_width.iter_mut().zip(halves).for_each(|(half, new)| *half = new);
                self.best_lower = self.largest_lower(scores);
            }
            Reach::Bounded(bounded) => {
                let tallies = tallies.expect("bounded arms need a model that keeps squares");
                self.arms.bring_up(bounded, tallies);
                self.middle.extend(self.arms.intervals().map(|(low, high)| 0.5 * (low + high)));
                let halves = self.arms.intervals().map(|(low, high)| 0.5 * (high - low));
                self.half_width.iter_mut().zip(halves).for_each(|(half, new)| *half = new);
                self.best_lower = self.largest_lower(scores);
            }
            Reach::Curved(curved) => return self.assess_curved(scores, curved),
            Reach::Open(_) => {
                self.half_width.fill(f64::INFINITY);
                self.slack.fill(f64::INFINITY);
                self.best_lower = f64::NEG_INFINITY;
                self.estimate.clone_from(&scores.mean);
                return;
            }
        }
        if self.beaten.any() {
            self.best_lower = self.largest_lower(scores);
        }
        let Self { middle, half_width, slack, .. } = self;
        let middle = if middle.is_empty() { &scores.mean } else { middle };
        scores.isa.slacks(middle, half_width, self.best_lower, slack);
    }

    /// Compares intervals where the model is linear: rewards rise with `z`, so the order is the
    /// same, and nothing is lost to rounding where they hardly rise.
    fn assess_curved(&mut self, scores: &Scores, curved: Curved) {
        assert_radius(curved.radius);
        let Scores { isa, mean, width_sq } = scores;
        let Self { half_width, slack, middle, estimate, weight, .. } = self;
        let mut best_lower = isa.bound(mean, width_sq, curved.radius, half_width);
        if self.beaten.any() {
            let left = (0..mean.len()).filter(|action| !self.beaten.is(*action));
            let lower = left.map(|action| mean[action] - half_width[action]);
            best_lower = lower.fold(f64::NEG_INFINITY, f64::max);
        }
        isa.slacks(mean, half_width, best_lower, slack);
        estimate.clear();
        weight.clear();
        let (from, length) = curved.scale;
        for moved in mean {
            let (rate, variance) = curved.link.moments(curved.offset + moved);
            estimate.push(from + length * rate);
            weight.push(variance);
        }
        for ((moved, width_sq), half) in mean.iter().zip(width_sq).zip(half_width) {
            let (low, high) = curved.interval(*moved, *width_sq);
            *half = 0.5 * (high - low);
            middle.push(0.5 * (low + high));
        }
        self.best_lower = self.largest_lower(scores);
    }

    /// Compares differences with two witnesses among the actions that no pair ruled out.
    fn compare_left<E: Estimator + ?Sized>(
        &mut self,
        model: &E,
        blocks: &[f64],
        scores: &Scores,
        reach: Reach,
    ) {
        let (Reach::Ellipsoid { .. } | Reach::Curved(_)) = reach else {
            // Arms are known separately: the half-width of a difference is the sum of both.
            return;
        };
        let leader = if self.beaten.any() {
            let better = |best: usize, next| {
                if scores.mean[next] > scores.mean[best] { next } else { best }
            };
            let left = (0..scores.mean.len()).filter(|action| !self.beaten.is(*action));
            left.reduce(better).expect("no pair rules out the best average")
        } else {
            scores.isa.argmax(&scores.mean)
        };
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

    /// The largest lower bound of an action that no pair ruled out.
    fn largest_lower(&self, scores: &Scores) -> f64 {
        let left = (0..scores.mean.len()).filter(|action| !self.beaten.is(*action));
        left.map(|action| self.lower(scores, action)).fold(f64::NEG_INFINITY, f64::max)
    }

    fn lower(&self, scores: &Scores, action: ActionIndex) -> f64 {
        self.middle(scores)[action] - self.half_width[action]
    }

    /// The middles of the intervals.
    pub(crate) fn middle<'a>(&'a self, scores: &'a Scores) -> &'a [f64] {
        if self.middle.is_empty() { &scores.mean } else { &self.middle }
    }

    /// Takes these in place of its own: what differences leave by scores that follow observations.
    pub(crate) fn take_slack(&mut self, slack: &[f64]) {
        self.slack.copy_from_slice(slack);
    }

    /// The action with the largest lower bound, the lowest index among equals.
    pub(crate) fn firmest(&self, scores: &Scores) -> ActionIndex {
        let firmest = |action: &usize| {
            self.lower(scores, *action) >= self.best_lower && !self.beaten.is(*action)
        };
        (0..scores.mean.len()).find(firmest).unwrap_or(0)
    }

    /// The largest lower bound: what an upper bound must reach by intervals.
    pub fn best_lower(&self) -> f64 {
        self.best_lower
    }

    /// Whether an action could still be best.
    pub fn contains(&self, action: ActionIndex) -> bool {
        self.slack[action] >= 0.0
    }

    /// Which action rules this one out by what both have paid, and the evidence for it in nats;
    /// `None` if none does.
    pub(crate) fn beaten(&self, action: ActionIndex) -> Option<(ActionIndex, f64)> {
        let Beaten { leader, evidence, .. } = &self.beaten;
        self.beaten.is(action).then(|| (*leader, evidence[action]))
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
        let (by, at_least, at_most) = witnesses.find(|(_, at_least, _)| *at_least > 0.0)?;
        let (at_least, at_most) = self.in_rewards(scores, [by, action], [at_least, at_most]);
        Some((by, at_least, at_most))
    }

    /// How far one action is above another in rewards at least and at most, if it is this far above
    /// on the scale on which the model is linear.
    pub(crate) fn in_rewards(
        &self,
        scores: &Scores,
        [ahead, behind]: [ActionIndex; 2],
        apart: [f64; 2],
    ) -> (f64, f64) {
        let Kind::Curved(curved) = self.kind else { return (apart[0], apart[1]) };
        let half = curved.radius * scores.width_sq[behind].sqrt();
        let own = [scores.mean[behind] - half, scores.mean[behind] + half];
        let (at_least, at_most) = curved.apart(apart, own);
        // Both intervals hold at the same time as their difference.
        let [first, second] = [ahead, behind].map(|action| self.interval(scores, action));
        (at_least.max(first.lower - second.upper), at_most.min(first.upper - second.lower))
    }

    /// How far the evidence has come by which the leader would rule an action out, as a share of
    /// what is needed. Squared widths fall about as fast as outcomes come in, so a share of `p`
    /// after `n` outcomes suggests `n/p` of them.
    pub(crate) fn progress(
        &self,
        scores: &Scores,
        Bounds { reach, pairs }: Bounds,
        tallies: Option<Tallies<'_>>,
        leader: ActionIndex,
        action: ActionIndex,
    ) -> f64 {
        let witness = self.witnesses[..self.witness_count].iter().find(|one| one.action == leader);
        let alone = |action: ActionIndex| match self.kind {
            Kind::Curved(_) => reach.half_width(scores.width_sq[action]),
            _ => self.half_width[action],
        };
        let apart = || (scores.mean[leader] - scores.mean[action], alone(leader) + alone(action));
        let beside = |one: &Witness| (one.behind.mean[action], one.half_width(reach, action));
        let (gap, half) = witness.map_or_else(apart, beside);
        let ratio = (gap / half).max(0.0);
        let by_pair = pairs
            .zip(tallies)
            .and_then(|(rule, tallies)| rule.progress(tallies.get(leader), tallies.get(action)));
        // The intervals of bounded arms do not shrink evenly, and pairs decide sooner.
        let by_width = if self.is_bounded() && pairs.is_some() { 0.0 } else { ratio * ratio };
        by_pair.unwrap_or(0.0).max(by_width)
    }

    /// The interval of an action.
    pub fn interval(&self, scores: &Scores, action: ActionIndex) -> Interval {
        let (middle, half) = (self.middle(scores)[action], self.half_width[action]);
        let mean = self.estimates(scores)[action];
        Interval { lower: middle - half, mean, upper: middle + half }
    }

    /// How far the estimate of an action is from the farther end of its interval: half of it, and
    /// more where the estimate is not in the middle.
    pub(crate) fn farthest(&self, scores: &Scores, action: ActionIndex) -> f64 {
        let off = self.estimates(scores)[action] - self.middle(scores)[action];
        self.half_width[action] + off.abs()
    }

    /// The estimate of each action, in rewards.
    pub(crate) fn estimates<'a>(&'a self, scores: &'a Scores) -> &'a [f64] {
        match self.kind {
            Kind::Curved(_) | Kind::Open => &self.estimate,
            Kind::Even | Kind::Bounded => &scores.mean,
        }
    }

    /// Half the interval of each action.
    pub fn half_widths(&self) -> &[f64] {
        &self.half_width
    }

    /// Whether intervals say nothing.
    pub(crate) fn is_open(&self) -> bool {
        self.kind == Kind::Open
    }

    /// Whether intervals are those of bounded arms.
    pub(crate) fn is_bounded(&self) -> bool {
        self.kind == Kind::Bounded
    }

    /// Whether estimates and widths are on another scale than rewards.
    pub(crate) fn is_curved(&self) -> bool {
        matches!(self.kind, Kind::Curved(_))
    }

    /// Size and largest squared error of the set, given the true means.
    ///
    /// # Panics
    /// If there is not one true mean for each action.
    pub fn summary(&self, scores: &Scores, truth: &[f64]) -> PlausibleSummary {
        assert!(truth.len() == scores.mean.len(), "one true mean for each action");
        scores.isa.plausible_summary(self.estimates(scores), truth, &self.slack)
    }
}

/// How far the mean of one action is above that of another, and half the interval of their
/// difference: as verdicts by differences compute them.
pub(crate) fn difference<E: Estimator + ?Sized>(
    model: &E,
    actions: Actions<'_>,
    scores: &Scores,
    reach: Reach,
    [ahead, behind]: [ActionIndex; 2],
) -> (f64, f64) {
    let mut witness = Witness::default();
    witness.compare(model, actions.blocks(), scores, ahead);
    (witness.behind.mean[behind], witness.half_width(reach, behind))
}
