//! The numbers of a decision: its models, which actions could still be best, and how well they are
//! known. Decisions, replays and checks derive them with this code; a certificate adds names.

use super::basis::{Basis, Terms};
use super::{ENOUGH_VALUES, GroundsError};
use plausibly::spec::{Model, PolicyKind, RadiusSpec};
use plausibly::{
    ConfidenceRadius, Exclusion, Explanation, FixedForecaster, PairRule, Phase, Quantised, Quota,
    Radius, Reach, RidgeError, Scores, Target, TargetStatus, score_by_design,
};
use std::sync::{Arc, OnceLock};

/// The numbers of a decision.
#[derive(Debug)]
pub(crate) struct Numbers {
    pub(crate) basis: Basis,
    pub(super) known: Arc<Known>,
    pub(super) design: Option<Model>,
    /// Scores with pending decisions counted, computed on first use.
    design_scores: OnceLock<Scores>,
    /// The phase of phased elimination, and the plays left in it.
    pub(super) phase: Option<(Phase, Quota)>,
}

/// What the settled decisions say about the actions on offer. It stays until an outcome comes or
/// other actions are offered.
#[derive(Debug)]
pub(super) struct Known {
    pub(super) model: Model,
    pub(super) explanation: Arc<Explanation>,
    pub(super) radius: Quantised<Radius>,
    /// How far intervals reach.
    pub(super) reach: Reach,
    /// The radius by which intervals are shown, as a spec.
    pub(super) shown: RadiusSpec,
    pub(super) confidence: Option<f64>,
    /// What rewards are forecast from, made on first use.
    pub(super) forecaster: OnceLock<FixedForecaster>,
    /// [`Numbers::known_within`], computed on first use, and so is the outlook.
    within: OnceLock<Option<f64>>,
    outlook: OnceLock<Option<plausibly::Outlook>>,
}

impl Known {
    /// `explanation` is one of another decision, or empty. Filling it computes intervals and pairs
    /// again only where sums have changed.
    fn new(
        basis: &Basis,
        model: Model,
        shown: RadiusSpec,
        mut explanation: Explanation,
    ) -> Result<Self, GroundsError> {
        let radius = shown.build_quantised(&basis.facts())?;
        explanation.fill(model.estimator(), &radius, basis.terms.exclusion(), basis.set.view());
        let reach = radius.reach(&model.estimator().evidence());
        let ridge = basis.terms.spec.ridge();
        let confidence = shown.confidence(ridge).filter(|_| !beyond_bound(&shown, basis));
        Ok(Self {
            model,
            explanation: Arc::new(explanation),
            radius,
            reach,
            shown,
            confidence,
            forecaster: OnceLock::new(),
            within: OnceLock::new(),
            outlook: OnceLock::new(),
        })
    }
}

/// The choice of a decision.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Choice {
    /// The place of the chosen action.
    pub(crate) place: usize,
    /// Whether it was derived. Where it depends on unlisted actions, grounds say it.
    pub(crate) is_derived: bool,
}

impl Numbers {
    /// Derives the numbers. Takes over from the numbers of another decision what is the same.
    ///
    /// # Errors
    /// If the statistics do not describe a model, or a policy cannot be built.
    pub(crate) fn of(basis: Basis, other: Option<&Self>) -> Result<Self, GroundsError> {
        let shown = basis.terms.shown();
        let has_model = other.is_some_and(|other| basis.has_model_of(&other.basis));
        let same = other.filter(|other| {
            Arc::ptr_eq(&basis.terms, &other.basis.terms)
                && Arc::ptr_eq(&basis.set, &other.basis.set)
        });
        let known = match (same, other) {
            (Some(other), _) if has_model => Arc::clone(&other.known),
            (_, Some(other)) if has_model => {
                let (model, empty) = (other.known.model.clone(), Explanation::new());
                Arc::new(Known::new(&basis, model, shown, empty)?)
            }
            _ => {
                let before = same.map(|other| Explanation::clone(&other.known.explanation));
                let model = basis.settled_model(&shown)?;
                Arc::new(Known::new(&basis, model, shown, before.unwrap_or_default())?)
            }
        };
        let design = basis.design_model(&known.shown, &known.model)?;
        // The findings of a policy that ignores pending decisions ignore them too.
        let ignored = matches!(
            basis.terms.spec.kind,
            PolicyKind::Code { count_pending: false, .. }
                | PolicyKind::Insured { count_pending: false, .. }
        );
        let design = design.filter(|_| !ignored);
        let phase = basis.phase_now()?;
        Ok(Self { basis, known, design, design_scores: OnceLock::new(), phase })
    }

    pub(super) fn terms(&self) -> &Terms {
        &self.basis.terms
    }

    /// The policy that decides.
    pub(crate) fn policy(&self) -> &PolicyKind {
        &self.terms().spec.kind
    }

    /// Whether each action could still be best, by place.
    pub(crate) fn standings(&self) -> impl Iterator<Item = bool> {
        let standings = self.known.explanation.standings().iter();
        standings.map(|one| *one == plausibly::Standing::Plausible)
    }

    /// The number of actions that could still be best.
    pub(crate) fn plausible(&self) -> u64 {
        self.known.explanation.plausible().count() as u64
    }

    /// The largest possible error of an estimate among the actions that could still be best, in
    /// units of reward; `None` if there is no bound.
    pub(crate) fn known_within(&self) -> Option<f64> {
        *self.known.within.get_or_init(|| {
            let errors = self.known.explanation.plausible().map(|action| self.within(action));
            finite(errors.fold(0.0, f64::max))
        })
    }

    /// The largest possible error of the estimate of an action. True averages lie within the range
    /// of rewards, which limits it further.
    pub(super) fn within(&self, action: usize) -> f64 {
        let (terms, explanation) = (self.terms(), &self.known.explanation);
        let (low, high) = terms.reward_range;
        let interval = explanation.intervals()[action];
        let estimate = self.estimate(action);
        let mean = terms.unscaled(estimate);
        let mut half = terms.range() * (interval.upper - estimate);
        if self.is_uneven() {
            // These intervals need not have the estimate in the middle.
            half = half.max(terms.range() * (estimate - interval.lower));
        }
        if explanation.width_sq()[action].is_finite() {
            half.min((high - mean).max(mean - low))
        } else {
            half
        }
    }

    /// The upper bound of an action, in units of reward.
    pub(super) fn upper(&self, action: usize) -> f64 {
        let (low, high) = self.terms().reward_range;
        let upper = self.known.explanation.intervals()[action].upper;
        self.terms().unscaled(upper).clamp(low, high)
    }

    /// How far an action is ahead of another at least and at most by what both have paid, if that
    /// shows that it is better and by how much.
    pub(super) fn ahead_by_pair(&self, ahead: usize, behind: usize) -> Option<(f64, f64)> {
        let tallies = self.known.model.estimator().tallies()?;
        let Some(PairRule::Bell(rule)) = self.pair_rule([ahead, behind]) else { return None };
        rule.rules_out(&tallies.get(ahead), &tallies.get(behind))
    }

    /// When what two actions have paid shows which of them is better; see
    /// [`Explanation::pair_rule`].
    pub(super) fn pair_rule(&self, pair: [usize; 2]) -> Option<PairRule> {
        let Known { model, explanation, radius, .. } = &*self.known;
        let model = model.estimator();
        if self.basis.unlisted.is_some_and(|unlisted| unlisted.plausible > 0) {
            return radius.pairs(&model.evidence().of_any_pair());
        }
        explanation.pair_rule(model, radius, pair)
    }

    /// Which action will probably be ruled out next; the first format has no such finding.
    pub(super) fn outlook(&self) -> Option<plausibly::Outlook> {
        let Known { model, explanation, radius, confidence, outlook, .. } = &*self.known;
        if self.terms().format < 2 || confidence.is_none() {
            return None;
        }
        *outlook.get_or_init(|| explanation.outlook(model.estimator(), radius))
    }

    pub(super) fn by_differences(&self) -> bool {
        self.terms().exclusion() == Exclusion::Differences
    }

    /// Whether intervals need not have the estimate in the middle.
    fn is_uneven(&self) -> bool {
        matches!(self.reach(), Reach::Bounded(_) | Reach::Curved(_))
    }

    pub(super) fn reach(&self) -> Reach {
        self.known.reach
    }

    /// Squared widths with pending decisions counted.
    pub(super) fn design_width_sq(&self) -> &[f64] {
        let Some(design) = &self.design else { return self.known.explanation.width_sq() };
        let scores = self.design_scores.get_or_init(|| {
            let mut scores = Scores::new();
            score_by_design(design.estimator(), self.basis.set.view(), &mut scores);
            scores
        });
        scores.width_sq()
    }

    /// Progress towards a target by the widths and the evidence of a model.
    pub(super) fn target_status(
        &self,
        target: Target,
        width_sq: &[f64],
        model: &Model,
    ) -> TargetStatus {
        let Known { explanation, reach, .. } = &*self.known;
        if let Some((gain, half_width)) = explanation.least_known(width_sq) {
            return target.status(gain, half_width, &model.estimator().evidence());
        }
        let ignorance = |at: usize| explanation.ignorance(width_sq, at);
        let wider = |best: usize, next| if ignorance(next) > ignorance(best) { next } else { best };
        let widest = explanation.plausible().reduce(wider).unwrap_or(0);
        let half_width = match *reach {
            // Pending decisions have no rewards to make an interval from.
            Reach::Bounded(_) => explanation.half_width(widest),
            reach => reach.half_width(width_sq[widest]),
        };
        target.status(width_sq[widest], half_width, &model.estimator().evidence())
    }

    /// Progress towards a target with pending decisions counted: the policy explores until it is
    /// met.
    pub(super) fn design_status(&self, target: Target) -> TargetStatus {
        let design = self.design.as_ref().unwrap_or(&self.known.model);
        self.target_status(target, self.design_width_sq(), design)
    }

    /// What rewards are forecast from.
    ///
    /// # Errors
    /// If the statistics do not describe a model.
    pub(crate) fn forecaster(&self) -> Result<&FixedForecaster, RidgeError> {
        let kept = &self.known.forecaster;
        if let Some(made) = kept.get() {
            return Ok(made);
        }
        let Basis { statistics, forecasts, .. } = &self.basis;
        let errors = forecasts.map_or([0.0; 3], |forecasts| forecasts.errors);
        let made = self.terms().forecaster(statistics, errors)?;
        Ok(kept.get_or_init(|| made))
    }

    /// The number of different outcomes that the radius `bell` has seen, where there are enough
    /// outcomes to judge by.
    pub(super) fn few_values(&self) -> Option<u64> {
        let enough = self.basis.statistics.observations >= ENOUGH_VALUES as u64;
        enough.then(|| self.basis.bell.as_ref().map_or(0, |bell| bell.values.len() as u64))
    }
}

/// `None` for an infinite value: JSON has no infinities.
pub(super) fn finite(value: f64) -> Option<f64> {
    value.is_finite().then_some(value)
}

/// Whether an action is longer than the bound of the radius, which then promises nothing.
fn beyond_bound(radius: &RadiusSpec, basis: &Basis) -> bool {
    let Some(bound) = radius.action_norm_bound else { return false };
    let norm_sq = |features: &[f64]| features.iter().map(|x| x * x).sum::<f64>();
    (0..basis.ids.len()).any(|at| norm_sq(basis.features(at)) > bound * bound)
}

/// The place with the largest value, the first of equals.
pub(super) fn largest(
    places: impl Iterator<Item = usize>,
    value: impl Fn(usize) -> f64,
) -> Option<usize> {
    places.reduce(|best, next| if value(next) > value(best) { next } else { best })
}
