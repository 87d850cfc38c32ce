//! Explanations: whether each action could still be best and, if not, which other rules it out.
//!
//! An explanation is computed on request, from a shared reference to the model, so it changes no
//! later choice.

use crate::actions::{ActionIndex, Actions, SetId};
use crate::confidence::{
    Bounds, ConfidenceRadius, Doubt, Exclusion, Interval, PairRule, Plausible, Reach, difference,
};
use crate::model::{Estimator, Evidence, Scores};
use crate::policy::{DeadlineStatus, Target, TargetStatus};

/// Whether an action could still be best.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Standing {
    /// Nothing rules it out.
    Plausible,
    /// Another action is better under every parameter of the confidence set.
    RuledOut {
        /// That action, which is plausible itself.
        by: ActionIndex,
        /// How far this action is behind it at least; positive, or zero where that is less than
        /// the smallest double.
        margin: f64,
        /// How far it is behind it at most.
        at_most: f64,
    },
    /// What both have paid shows that the action is not the best, although estimates alone do not.
    /// It need not show that the other action is better than this one, unless that is the best:
    /// see [`Explanation::compare`].
    Beaten {
        /// The other action, which has the largest average.
        by: ActionIndex,
        /// The evidence for it, in nats.
        evidence: f64,
        /// The evidence that was needed.
        needed: f64,
    },
}

impl Standing {
    /// The action that rules this one out; `None` if it could still be best.
    pub fn ruled_out_by(&self) -> Option<ActionIndex> {
        match *self {
            Self::Plausible => None,
            Self::RuledOut { by, .. } | Self::Beaten { by, .. } => Some(by),
        }
    }
}

/// What decides in a round of [`Insured`](crate::Insured), and why.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Insurance {
    /// The largest squared width among the plausible actions, and the one above which CODE
    /// explores. Decisions whose rewards are outstanding count, unless the policy ignores them.
    pub target: TargetStatus,
}

impl Insurance {
    /// Whether CODE explores; otherwise the policy inside decides.
    pub fn explores(&self) -> bool {
        !self.target.met()
    }
}

/// Which action will probably be ruled out next, and when.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Outlook {
    /// The action.
    pub action: ActionIndex,
    /// How far the evidence against it has come, as a share of what rules it out.
    pub progress: f64,
}

impl Outlook {
    /// With a smaller share of the evidence, chance decides what an outlook says.
    pub const LEAST_PROGRESS: f64 = 0.15;

    /// About how many further outcomes it takes after this many, if they go on as they did.
    pub fn further(&self, outcomes: u64) -> f64 {
        outcomes as f64 * (1.0 / self.progress - 1.0)
    }
}

/// What is known about the difference between the true averages of two actions.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Difference {
    /// The action with the higher estimate.
    pub ahead: ActionIndex,
    /// The other one.
    pub behind: ActionIndex,
    /// How far `ahead` is above `behind` at least; negative if it may be below.
    pub at_least: f64,
    /// How far it is above at most.
    pub at_most: f64,
    /// Whether `ahead` is certain to be better. What has been paid may show that although
    /// `at_least` is negative.
    pub decided: bool,
    /// How far the evidence for that has come, as a share of what decides it.
    pub progress: f64,
}

impl Difference {
    /// About how many further outcomes decide it after this many, if they go on as they did; `None`
    /// if it is decided, and while there is too little evidence to tell.
    pub fn further(&self, outcomes: u64) -> Option<f64> {
        let said = !self.decided && self.progress >= Outlook::LEAST_PROGRESS;
        said.then(|| outcomes as f64 * (1.0 / self.progress.min(1.0) - 1.0))
    }
}

/// What the model of a policy says about every action at one moment, under one radius.
///
/// It is a buffer: [`crate::Explain::explain`] fills it again without allocating.
#[derive(Clone, Debug, Default)]
pub struct Explanation {
    scores: Scores,
    plausible: Plausible,
    intervals: Vec<Interval>,
    standings: Vec<Standing>,
    sqrt_beta: f64,
    doubt: Option<Doubt>,
    target: Option<TargetStatus>,
    deadline: Option<DeadlineStatus>,
    insurance: Option<Insurance>,
    /// Scores by a design that counts more than the estimate knows; else empty.
    by_design: Scores,
    /// How far the estimate leans to the edge of what was thought possible.
    leaning: Option<f64>,
    asked: Option<Asked>,
}

/// What an explanation is about, beside its model.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Asked {
    pub(crate) set: SetId,
    pub(crate) exclusion: Exclusion,
    pub(crate) bounds: Bounds,
}

impl Explanation {
    /// Empty.
    pub fn new() -> Self {
        Self::default()
    }

    /// Replaces the contents by what `model` says under `radius`, with actions ruled out by this
    /// comparison.
    ///
    /// The scores are those of the model's choices, bit for bit. Costs as much as scoring the set.
    pub fn fill(
        &mut self,
        model: &(impl Estimator + ?Sized),
        radius: &dyn ConfidenceRadius,
        exclusion: Exclusion,
        actions: Actions<'_>,
    ) {
        (self.target, self.deadline, self.insurance) = (None, None, None);
        model.score_into(actions, &mut self.scores);
        let evidence = model.evidence();
        self.sqrt_beta = radius.sqrt_beta(&evidence);
        let bounds @ Bounds { reach, pairs } = radius.bounds(&evidence);
        self.asked = Some(Asked { set: actions.id(), exclusion, bounds });
        self.doubt = reach.doubt();
        self.leaning = if let Reach::Curved(curved) = reach { Some(curved.leaning) } else { None };
        self.by_design.resize(0);
        if model.design().is_some() {
            score_by_design(model, actions, &mut self.by_design);
        }
        let Self { scores, plausible, .. } = self;
        plausible.assess_by(exclusion, model, actions, scores, bounds);
        let interval = |action| plausible.interval(scores, action);
        self.intervals.clear();
        self.intervals.extend((0..actions.len()).map(interval));
        let needed = pairs.map_or(0.0, |rule| rule.needed());
        let standing = |action| {
            if let Some((by, evidence)) = plausible.beaten(action) {
                return Standing::Beaten { by, evidence, needed };
            }
            match plausible.ruled_out(scores, reach, action) {
                None => Standing::Plausible,
                Some((by, margin, at_most)) => Standing::RuledOut { by, margin, at_most },
            }
        };
        self.standings.clear();
        self.standings.extend((0..actions.len()).map(standing));
    }

    /// What it is about; `None` before it is filled.
    pub(crate) fn asked(&self) -> Option<Asked> {
        self.asked
    }

    /// The scores of all actions, and which of these could still be best.
    pub(crate) fn answered(&self) -> (&Scores, &Plausible) {
        (&self.scores, &self.plausible)
    }

    /// Adds the status of a target, by the rewards that have come.
    pub(crate) fn note_target(
        &mut self,
        target: Option<Target>,
        deadline: Option<DeadlineStatus>,
        evidence: &Evidence,
    ) {
        self.target = target.map(|target| {
            let Self { scores, plausible, by_design, .. } = self;
            let counted = if by_design.width_sq.is_empty() { &*scores } else { by_design };
            if let Some((gain, half_width)) = plausible.least_known(scores, &counted.width_sq) {
                return target.status(gain, half_width, evidence);
            }
            let widest = plausible.widest(scores);
            target.status(scores.width_sq[widest], plausible.half_widths()[widest], evidence)
        });
        self.deadline = deadline;
    }

    /// Adds what decides in an insured policy. Where decisions are pending, `design` is the model
    /// that counts them; else the target that was noted already is the one that decides.
    pub(crate) fn note_insurance(
        &mut self,
        target: Option<Target>,
        design: Option<&dyn Estimator>,
        radius: &dyn ConfidenceRadius,
        actions: Actions<'_>,
    ) {
        let status = match (target, design) {
            (Some(target), Some(design)) => {
                let Self { scores, plausible, by_design, .. } = self;
                score_by_design(design, actions, by_design);
                let (width_sq, evidence) = (&by_design.width_sq, design.evidence());
                let known = plausible.least_known(scores, width_sq);
                let (widest_sq, half_width) = known.unwrap_or_else(|| {
                    let widest = plausible.widest_by(scores, width_sq);
                    (width_sq[widest], radius.reach(&evidence).half_width(width_sq[widest]))
                });
                Some(target.status(widest_sq, half_width, &evidence))
            }
            _ => self.target,
        };
        self.insurance = status.map(|target| Insurance { target });
    }

    /// What decides in the next round of an insured policy, as seen under the radius and the
    /// exclusion of this explanation; `None` for other policies.
    pub fn insurance(&self) -> Option<Insurance> {
        self.insurance
    }

    /// Whether the policy's target is met, and by how much; `None` if it has none.
    pub fn target(&self) -> Option<TargetStatus> {
        self.target
    }

    /// What became of the deadline of the policy's target, over the actions that were plausible in
    /// every round so far; `None` if it has none.
    pub fn deadline(&self) -> Option<DeadlineStatus> {
        self.deadline
    }

    /// Why nothing is ruled out; `None` where something may be.
    pub fn doubt(&self) -> Option<Doubt> {
        self.doubt
    }

    /// How far the estimate is from what was expected, as a share of the farthest that was thought
    /// possible; beyond [`Curved::LEANING`](crate::Curved::LEANING) one should think again about
    /// what is. `None` for a model that expects nothing.
    pub fn leaning(&self) -> Option<f64> {
        self.leaning
    }

    /// `√β`, the radius in force for an action of width one.
    pub fn sqrt_beta(&self) -> f64 {
        self.sqrt_beta
    }

    /// The interval of each action.
    pub fn intervals(&self) -> &[Interval] {
        &self.intervals
    }

    /// `‖a‖²_{V⁻¹}` of each action: how little is known about it.
    pub fn width_sq(&self) -> &[f64] {
        self.scores.width_sq()
    }

    /// Which of the plausible actions will probably be ruled out next, and how far the evidence for
    /// that has come. `None` if one action is left, an assumption is in doubt,
    /// or there is too little evidence to tell. For the model, the radius and the actions of the
    /// explanation.
    ///
    /// This is a forecast and promises nothing; `docs/results/outlook.md` shows how good it is.
    pub fn outlook(
        &self,
        model: &(impl Estimator + ?Sized),
        radius: &dyn ConfidenceRadius,
    ) -> Option<Outlook> {
        let evidence = model.evidence();
        let bounds = radius.bounds(&evidence);
        if bounds.reach.doubt().is_some() {
            return None;
        }
        let Scores { mean, width_sq, .. } = &self.scores;
        let known = || self.plausible().filter(|action| width_sq[*action].is_finite());
        let better = |best: usize, next| if mean[next] > mean[best] { next } else { best };
        let leader = known().reduce(better)?;
        let progress =
            |action| self.plausible.progress(&self.scores, bounds, model.tallies(), leader, action);
        let rivals = known().filter(|action| *action != leader);
        let further = rivals.map(|action| Outlook { action, progress: progress(action).min(1.0) });
        let first = further.reduce(|a, b| if b.progress > a.progress { b } else { a })?;
        (first.progress >= Outlook::LEAST_PROGRESS).then_some(first)
    }

    /// How far the evidence has come that one action is better than another, as a share of what
    /// decides it, by what both have paid ([`Explanation::pair_rule`]) or by their intervals. For
    /// the model and the radius of the explanation.
    pub fn progress(
        &self,
        model: &(impl Estimator + ?Sized),
        radius: &dyn ConfidenceRadius,
        ahead: ActionIndex,
        behind: ActionIndex,
    ) -> f64 {
        let reach = radius.reach(&model.evidence());
        let bounds = Bounds { reach, pairs: self.pair_rule(model, radius, [ahead, behind]) };
        self.plausible.progress(&self.scores, bounds, model.tallies(), ahead, behind)
    }

    /// When what two actions have paid shows which of them is better, however the two were picked.
    /// For the model and the radius of the explanation.
    ///
    /// If no third action is plausible, one of the two is a best action, and the evidence that
    /// rules actions out is enough. Otherwise it takes the evidence that holds for all pairs at
    /// once ([`Evidence::of_any_pair`]).
    pub fn pair_rule(
        &self,
        model: &(impl Estimator + ?Sized),
        radius: &dyn ConfidenceRadius,
        pair: [ActionIndex; 2],
    ) -> Option<PairRule> {
        let evidence = model.evidence();
        let has_a_best = self.plausible().all(|action| pair.contains(&action));
        radius.pairs(&if has_a_best { evidence } else { evidence.of_any_pair() })
    }

    /// Whether no other action is plausible, so that none is better.
    pub fn is_alone(&self, action: ActionIndex) -> bool {
        self.plausible().eq([action])
    }

    /// Compares two actions, which may be picked after looking. For the model, the radius, the
    /// exclusion and the actions of the explanation.
    ///
    /// A pair is decided by intervals or differences, by what both have paid
    /// ([`Explanation::pair_rule`]), or because every other action is ruled out. So an action may
    /// be ruled out while it is not decided whether another one, which is not the best either, is
    /// better than it.
    ///
    /// # Panics
    /// If there is no action at one of the places.
    pub fn compare(
        &self,
        model: &(impl Estimator + ?Sized),
        radius: &dyn ConfidenceRadius,
        exclusion: Exclusion,
        actions: Actions<'_>,
        [a, b]: [ActionIndex; 2],
    ) -> Difference {
        let mean = &self.scores.mean;
        let (ahead, behind) = if mean[b] > mean[a] { (b, a) } else { (a, b) };
        let reach = radius.reach(&model.evidence());
        let by_differences = matches!(reach, Reach::Ellipsoid { .. } | Reach::Curved(_))
            && exclusion == Exclusion::Differences;
        let (at_least, at_most, by_width) = if by_differences {
            let (gap, half) = difference(model, actions, &self.scores, reach, [ahead, behind]);
            let apart = [gap - half, gap + half];
            let (at_least, at_most) =
                self.plausible.in_rewards(&self.scores, [ahead, behind], apart);
            (at_least, at_most, if half > 0.0 { (gap / half) * (gap / half) } else { 0.0 })
        } else {
            let (first, second) = (self.intervals[ahead], self.intervals[behind]);
            (first.lower - second.upper, first.upper - second.lower, 0.0)
        };
        let rule = self.pair_rule(model, radius, [ahead, behind]);
        let by_pair = reach.judges_pairs()
            && rule.zip(model.tallies()).is_some_and(|(rule, tallies)| {
                rule.rules_out(tallies.get(ahead), tallies.get(behind)).is_some()
            });
        let apart = reach.doubt().is_none() && at_least > 0.0;
        let decided = apart || by_pair || self.is_alone(ahead);
        let progress = if reach.doubt().is_some() {
            0.0
        } else {
            by_width.max(self.progress(model, radius, ahead, behind))
        };
        Difference { ahead, behind, at_least, at_most, decided, progress }
    }

    /// Half the interval of an action.
    pub fn half_width(&self, action: ActionIndex) -> f64 {
        self.plausible.half_widths()[action]
    }

    /// How little is known about an action by these squared widths, to be compared with that of
    /// others: its width or, where intervals depend on what arms have paid, half its interval, and
    /// the width among equals. CODE takes the plausible action with the largest.
    pub fn ignorance(&self, width_sq: &[f64], action: ActionIndex) -> (f64, f64) {
        let own = width_sq[action];
        if self.plausible.is_bounded() {
            (self.plausible.half_by(&self.scores, width_sq, action), own)
        } else {
            (self.plausible.gain(width_sq, action), own)
        }
    }

    /// How little is known about the plausible actions of a model on a curved scale by these
    /// squared widths: the largest gain of an outcome, and half the longest interval. `None` for
    /// others.
    pub fn least_known(&self, width_sq: &[f64]) -> Option<(f64, f64)> {
        self.plausible.least_known(&self.scores, width_sq)
    }

    /// The standing of each action.
    pub fn standings(&self) -> &[Standing] {
        &self.standings
    }

    /// The plausible actions, by index.
    pub fn plausible(&self) -> impl Iterator<Item = ActionIndex> {
        self.standings
            .iter()
            .enumerate()
            .filter(|(_, standing)| **standing == Standing::Plausible)
            .map(|(action, _)| action)
    }

    /// The largest squared distance from the estimate of a plausible action to the farther end of
    /// its interval, `β·max width²` for an ellipsoid. While the confidence set holds the truth, no
    /// estimate of a plausible action has a larger squared error. Infinite while a plausible arm
    /// whose interval has no ends was never taken.
    pub fn model_error_bound(&self) -> f64 {
        let farthest = |action| self.plausible.farthest(&self.scores, action);
        let error = self.plausible().map(farthest).fold(0.0, f64::max);
        error * error
    }
}

/// Scores by all that the model counts, also what its estimate does not know yet.
pub fn score_by_design(model: &(impl Estimator + ?Sized), actions: Actions<'_>, out: &mut Scores) {
    let Some(fit) = model.design() else { return model.score_into(actions, out) };
    out.resize(actions.len());
    fit.score(actions.blocks(), &mut out.mean, &mut out.width_sq);
}
