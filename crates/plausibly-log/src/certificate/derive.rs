//! Derives the findings of a decision from its grounds. Taking a decision and checking a
//! certificate both run this code.

use super::findings::{
    Alarm, Chosen, Comparison, Finding, Findings, InsuranceFinding, Outlook, RuledOut, Share,
    Standing, TargetFinding,
};
use super::rule_out::{ByPair, RuleOut};
use super::verdict::Verdict;
use super::{ENOUGH_VALUES, Grounds, GroundsError, Sums};
use crate::policy;
use plausibly::spec::{Model, PolicyKind, PolicySpec, RadiusSpec};
use plausibly::{
    ActionSet, ConfidenceRadius, Doubt, Exclusion, Explanation, PairRule, Phase, Quantised, Quota,
    Radius, Reach, Scores, Target, TargetStatus, score_by_design,
};
use std::cell::OnceCell;

/// `None` for an infinite value: JSON has no infinities.
fn finite(value: f64) -> Option<f64> {
    value.is_finite().then_some(value)
}

/// The policy and the actions of well-formed grounds.
#[derive(Debug)]
pub(super) struct Parsed {
    /// The policy for scaled rewards.
    spec: PolicySpec,
    pub(super) set: ActionSet,
}

impl Parsed {
    pub(super) fn of(grounds: &Grounds) -> Result<Self, GroundsError> {
        grounds.well_formed()?;
        Ok(Self { spec: grounds.spec()?, set: grounds.set()? })
    }
}

/// The models of the grounds, and values that several findings use.
pub(super) struct Derivation<'a> {
    pub(super) grounds: &'a Grounds,
    pub(super) spec: &'a PolicySpec,
    pub(super) set: &'a ActionSet,
    pub(super) model: Model,
    pub(super) design: Option<Model>,
    pub(super) explanation: Explanation,
    /// Scores with pending decisions counted, computed on first use.
    design_scores: OnceCell<Scores>,
    pub(super) radius: Quantised<Radius>,
    /// The radius by which intervals are shown, as a spec.
    pub(super) shown: RadiusSpec,
    pub(super) exclusion: Exclusion,
    pub(super) confidence: Option<f64>,
    /// The phase of phased elimination, and the plays left in it.
    pub(super) phase: Option<(Phase, Quota)>,
}

impl Findings {
    /// Derives the findings of grounds.
    ///
    /// # Errors
    /// If no decision can have these grounds.
    pub fn derive(grounds: &Grounds) -> Result<Self, GroundsError> {
        Derivation::of(grounds, &Parsed::of(grounds)?, None)?.findings()
    }

    /// Derives the findings, and the places of the actions they depend on. A certificate that lists
    /// these, and every action that could still be best, makes the same statements.
    pub(crate) fn derive_with_keystones(
        grounds: &Grounds,
    ) -> Result<(Self, Vec<usize>), GroundsError> {
        let parsed = Parsed::of(grounds)?;
        let derivation = Derivation::of(grounds, &parsed, None)?;
        let findings = derivation.findings()?;
        let keystones = derivation.keystones(&findings);
        Ok((findings, keystones))
    }
}

impl<'a> Derivation<'a> {
    /// Derives from parsed grounds. Reuses the models that another derivation made from the same
    /// sums.
    pub(super) fn of(
        grounds: &'a Grounds,
        Parsed { spec, set }: &'a Parsed,
        other: Option<&Self>,
    ) -> Result<Self, GroundsError> {
        let (ridge, facts) = (spec.ridge(), grounds.facts());
        let reused = |sums: &Sums| other.and_then(|other| other.made_from(sums, ridge)).cloned();
        let shown = spec.shown_radius(grounds.setting(), policy::defaults(grounds.format));
        let (model, design) = if spec.is_bell() {
            grounds.bell_models(&shown)?
        } else if spec.link().is_some() {
            grounds.glm_models(&shown)?
        } else {
            let model = match reused(&grounds.statistics) {
                Some(model) => model,
                None => grounds.settled(ridge)?,
            };
            let design = grounds.design.as_ref().map(|sums| match reused(sums) {
                Some(model) => Ok(model),
                None => grounds.model(sums, ridge),
            });
            (model, design.transpose()?)
        };
        // The findings of a policy that ignores pending decisions ignore them too.
        let ignored = matches!(
            spec.kind,
            PolicyKind::Code { count_pending: false, .. }
                | PolicyKind::Insured { count_pending: false, .. }
        );
        let design = design.filter(|_| !ignored);
        let radius = shown.build_quantised(&facts)?;
        let mut explanation = Explanation::new();
        let exclusion = match spec.kind {
            PolicyKind::Code { exclusion, .. } | PolicyKind::Insured { exclusion, .. } => exclusion,
            // The first format knows intervals alone.
            _ if grounds.format < 2 || grounds.dim() == 0 => Exclusion::Intervals,
            _ => Exclusion::Differences,
        };
        explanation.fill(model.estimator(), &radius, exclusion, set.view());
        let confidence = shown.confidence(ridge).filter(|_| !beyond_bound(&shown, grounds));
        let phase = grounds.phase_on(&spec.kind, set)?;
        Ok(Self {
            grounds,
            spec,
            set,
            model,
            design,
            explanation,
            design_scores: OnceCell::new(),
            radius,
            shown,
            exclusion,
            confidence,
            phase,
        })
    }

    /// The model of these sums, if this derivation has made it. Models of arms are cheaper to make
    /// than to compare, so they are never reused.
    fn made_from(&self, sums: &Sums, ridge: f64) -> Option<&Model> {
        let Grounds { statistics, design, .. } = self.grounds;
        if sums.gram.is_empty() || self.spec.ridge().to_bits() != ridge.to_bits() {
            None
        } else if statistics == sums {
            Some(&self.model)
        } else {
            self.design.as_ref().filter(|_| design.as_ref() == Some(sums))
        }
    }

    /// See [`Findings::derive_with_keystones`].
    fn keystones(&self, findings: &Findings) -> Vec<usize> {
        let (explanation, actions) = (&self.explanation, &findings.actions);
        let chosen = actions.iter().position(|action| action.id == findings.chosen.id);
        let (all, racing) = (0..actions.len(), || explanation.plausible());
        let lower = |at: usize| explanation.intervals()[at].lower;
        let found = [
            chosen,
            largest(all.clone(), lower),
            largest(all.filter(|at| Some(*at) != chosen), lower),
            largest(racing(), |at| explanation.width_sq()[at]),
            largest(racing(), |at| self.design_width_sq()[at]),
            largest(racing(), |at| explanation.intervals()[at].mean),
            largest(racing(), |at| self.within(at)),
        ];
        let rival = chosen.and_then(|chosen| RuleOut::closest_rival(self, chosen));
        let paid_most = chosen.and_then(|chosen| ByPair::rival(self, chosen));
        let next = self.outlook().map(|outlook| outlook.action);
        let witnesses =
            explanation.standings().iter().filter_map(plausibly::Standing::ruled_out_by);
        let mut found: Vec<usize> = found
            .into_iter()
            .flatten()
            .chain(rival)
            .chain(paid_most)
            .chain(next)
            .chain(witnesses)
            .collect();
        found.sort_unstable();
        found.dedup();
        found
    }
}

/// Whether an action is longer than the bound of the radius, which then promises nothing.
fn beyond_bound(radius: &RadiusSpec, grounds: &Grounds) -> bool {
    let Some(bound) = radius.action_norm_bound else { return false };
    let norm_sq = |features: &[f64]| features.iter().map(|x| x * x).sum::<f64>();
    grounds.actions.iter().any(|action| norm_sq(&action.features) > bound * bound)
}

/// The place with the largest value, the first of equals.
pub(super) fn largest(
    places: impl Iterator<Item = usize>,
    value: impl Fn(usize) -> f64,
) -> Option<usize> {
    places.reduce(|best, next| if value(next) > value(best) { next } else { best })
}

impl Derivation<'_> {
    pub(super) fn verdict(&self) -> Result<Verdict, GroundsError> {
        let standings = self.explanation.standings().iter();
        Ok(Verdict {
            chosen: self.choose()?.0,
            plausible: standings.map(|one| *one == plausibly::Standing::Plausible).collect(),
            known_within: finite(self.known_within()),
        })
    }

    fn findings(&self) -> Result<Findings, GroundsError> {
        let known_within = finite(self.known_within());
        Ok(Findings {
            chosen: self.chosen()?,
            plausible: self.explanation.plausible().count() as u64,
            known_within,
            model_error_bound: known_within.map(|within| within * within),
            sqrt_beta: finite(self.explanation.sqrt_beta()),
            outlook: self.outlook().map(|outlook| {
                let further = outlook.further(self.grounds.statistics.observations);
                Outlook {
                    action: self.grounds.actions[outlook.action].id,
                    outcomes: two_digits(further),
                }
            }),
            alarm: self.alarm(),
            confidence: self.confidence,
            likelihood: self.likelihood(),
            target: self.target(),
            insurance: self.insurance()?,
            plays_left: self.phase.as_ref().map(|(_, quota)| quota.remaining()),
            actions: self.actions(),
        })
    }

    /// The largest possible error of an estimate among the actions that could still be best, in
    /// units of reward.
    fn known_within(&self) -> f64 {
        self.explanation.plausible().map(|action| self.within(action)).fold(0.0, f64::max)
    }

    /// The largest possible error of the estimate of an action. True averages lie within the range
    /// of rewards, which limits it further.
    fn within(&self, action: usize) -> f64 {
        let grounds = self.grounds;
        let (low, high) = grounds.reward_range;
        let interval = self.explanation.intervals()[action];
        let estimate = self.estimate(action);
        let mean = grounds.unscaled(estimate);
        let mut half = grounds.range() * (interval.upper - estimate);
        if self.is_uneven() {
            // These intervals need not have the estimate in the middle.
            half = half.max(grounds.range() * (estimate - interval.lower));
        }
        if self.explanation.width_sq()[action].is_finite() {
            half.min((high - mean).max(mean - low))
        } else {
            half
        }
    }

    fn actions(&self) -> Vec<Finding> {
        let (grounds, explanation) = (self.grounds, &self.explanation);
        let (low, high) = grounds.reward_range;
        let bound = |scaled: f64| grounds.unscaled(scaled).clamp(low, high);
        let design_width = |at: usize| self.design_width_sq()[at];
        let ignorance = |at: usize| explanation.ignorance(self.design_width_sq(), at);
        let mut ranking: Vec<usize> = explanation.plausible().collect();
        // A stable sort keeps equals in the order of offering: the policy takes the first of them.
        ranking.sort_by(|a, b| {
            let (a, b) = (ignorance(*a), ignorance(*b));
            b.0.total_cmp(&a.0).then(b.1.total_cmp(&a.1))
        });
        let mut ranks = vec![None; grounds.actions.len()];
        for (place, at) in (1..).zip(&ranking) {
            ranks[*at] = Some(place);
        }
        let listed = grounds.actions.iter().enumerate();
        listed
            .map(|(at, action)| {
                let (interval, width_sq) =
                    (explanation.intervals()[at], explanation.width_sq()[at]);
                let known = width_sq.is_finite();
                Finding {
                    id: action.id,
                    label: action.label.clone(),
                    mean: known.then(|| grounds.unscaled(self.estimate(at))),
                    moved: self.moved(at),
                    lower: bound(interval.lower),
                    upper: bound(interval.upper),
                    width: finite(width_sq.sqrt()),
                    design_width: finite(design_width(at).sqrt()),
                    standing: self.standing(at),
                    rank: ranks[at],
                }
            })
            .collect()
    }

    fn standing(&self, at: usize) -> Standing {
        let grounds = self.grounds;
        let by = |place: usize| RuledOut {
            by: grounds.actions[place].id,
            margin: None,
            kind: None,
            behind_by: None,
            evidence: None,
            needed: None,
        };
        match self.explanation.standings()[at] {
            plausibly::Standing::Plausible => Standing::Plausible,
            plausibly::Standing::RuledOut { by: place, margin, .. } if grounds.format < 2 => {
                Standing::RuledOut(RuledOut { margin: Some(grounds.range() * margin), ..by(place) })
            }
            plausibly::Standing::RuledOut { by: place, margin, at_most } => {
                let kind = match self.exclusion {
                    Exclusion::Differences => Comparison::Difference,
                    Exclusion::Intervals => Comparison::Interval,
                };
                let range = grounds.range();
                // True averages lie in the range, so no two are farther apart.
                let behind_by = Some(((range * margin).min(range), (range * at_most).min(range)));
                Standing::RuledOut(RuledOut { kind: Some(kind), behind_by, ..by(place) })
            }
            plausibly::Standing::Beaten { by: place, evidence, needed } => {
                if let Some((at_least, at_most)) = self.ahead_by_pair(place, at) {
                    let range = grounds.range();
                    return Standing::RuledOut(RuledOut {
                        kind: Some(Comparison::Pair),
                        behind_by: Some((
                            (range * at_least).min(range),
                            (range * at_most).min(range),
                        )),
                        ..by(place)
                    });
                }
                Standing::RuledOut(RuledOut {
                    kind: Some(Comparison::Pair),
                    evidence: Some(evidence),
                    needed: Some(needed),
                    ..by(place)
                })
            }
        }
    }

    /// How far an action is ahead of another at least and at most by what both have paid, if that
    /// shows that it is better and by how much.
    pub(super) fn ahead_by_pair(&self, ahead: usize, behind: usize) -> Option<(f64, f64)> {
        let tallies = self.model.estimator().tallies()?;
        let Some(PairRule::Bell(rule)) = self.pair_rule([ahead, behind]) else { return None };
        rule.rules_out(&tallies.get(ahead), &tallies.get(behind))
    }

    /// When what two actions have paid shows which of them is better; see
    /// [`Explanation::pair_rule`].
    pub(super) fn pair_rule(&self, pair: [usize; 2]) -> Option<PairRule> {
        let model = self.model.estimator();
        if self.grounds.unlisted.is_some_and(|unlisted| unlisted.plausible > 0) {
            return self.radius.pairs(&model.evidence().of_any_pair());
        }
        self.explanation.pair_rule(model, &self.radius, pair)
    }

    /// Which action will probably be ruled out next; the first format has no such finding.
    fn outlook(&self) -> Option<plausibly::Outlook> {
        if self.grounds.format < 2 || self.confidence.is_none() {
            return None;
        }
        self.explanation.outlook(self.model.estimator(), &self.radius)
    }

    /// The doubt about what was assumed, in units of reward.
    fn alarm(&self) -> Option<Alarm> {
        let range = self.grounds.range();
        match self.explanation.doubt()? {
            Doubt::Noise { declared, suggested } => {
                Some(Alarm::Noise { declared: range * declared, suggested: range * suggested })
            }
            Doubt::Refuted => Some(Alarm::Refuted {}),
            // Five outcomes of a bell curve have five different values.
            Doubt::FewValues if self.grounds.statistics.observations >= ENOUGH_VALUES as u64 => {
                let values = self.grounds.bell.as_ref().map_or(0, |bell| bell.values.len());
                Some(Alarm::FewValues { values: values as u64 })
            }
            _ => None,
        }
    }

    pub(super) fn by_differences(&self) -> bool {
        self.exclusion == Exclusion::Differences
    }

    /// Whether intervals need not have the estimate in the middle.
    fn is_uneven(&self) -> bool {
        matches!(self.reach(), Reach::Bounded(_) | Reach::Curved(_))
    }

    pub(super) fn reach(&self) -> Reach {
        self.radius.reach(&self.model.estimator().evidence())
    }

    fn chosen(&self) -> Result<Chosen, GroundsError> {
        let grounds = self.grounds;
        let (at, stream_choice) = self.choose()?;
        let (action, width_sq) = (&grounds.actions[at], self.explanation.width_sq()[at]);
        let widths = self.design_width_sq();
        let curved = matches!(self.reach(), Reach::Curved(_));
        let design_gain =
            if curved { self.explanation.ignorance(widths, at).0 } else { widths[at] };
        Ok(Chosen {
            id: action.id,
            label: action.label.clone(),
            reason: self.reason(),
            propensity: if stream_choice { self.propensity(at) } else { None },
            log_det_gain: finite(log_det_gain(grounds.dim() == 0, design_gain)),
            rule_out: RuleOut::of(self, at),
            directions: self.model.gram_inverse().map_or_else(Vec::new, |inverse| {
                directions(&grounds.features, &action.features, inverse, width_sq)
            }),
            forecasts: grounds.forecast(at, self.spec.ridge())?,
        })
    }

    /// Squared widths with pending decisions counted.
    fn design_width_sq(&self) -> &[f64] {
        let Some(design) = &self.design else { return self.explanation.width_sq() };
        let scores = self.design_scores.get_or_init(|| {
            let mut scores = Scores::new();
            score_by_design(design.estimator(), self.set.view(), &mut scores);
            scores
        });
        scores.width_sq()
    }

    /// Progress towards a target by the widths and the evidence of a model.
    fn target_status(&self, target: Target, width_sq: &[f64], model: &Model) -> TargetStatus {
        if let Some((gain, half_width)) = self.explanation.least_known(width_sq) {
            return target.status(gain, half_width, &model.estimator().evidence());
        }
        let ignorance = |at: usize| self.explanation.ignorance(width_sq, at);
        let wider = |best: usize, next| if ignorance(next) > ignorance(best) { next } else { best };
        let widest = self.explanation.plausible().reduce(wider).unwrap_or(0);
        let half_width = match self.radius.reach(&self.model.estimator().evidence()) {
            // Pending decisions have no rewards to make an interval from.
            Reach::Bounded(_) => self.explanation.half_width(widest),
            reach => reach.half_width(width_sq[widest]),
        };
        target.status(width_sq[widest], half_width, &model.estimator().evidence())
    }

    /// Progress towards a target with pending decisions counted: the policy explores until it is
    /// met.
    pub(super) fn design_status(&self, target: Target) -> TargetStatus {
        let design = self.design.as_ref().unwrap_or(&self.model);
        self.target_status(target, self.design_width_sq(), design)
    }

    /// Which part of an insured policy decides.
    fn insurance(&self) -> Result<Option<InsuranceFinding>, GroundsError> {
        let PolicyKind::Insured { kappa, .. } = self.spec.kind else { return Ok(None) };
        let status = self.design_status(Target::Kappa(kappa));
        let is_plausible = |at: usize| self.explanation.plausible().any(|own| own == at);
        let wanted = if status.met() { self.wanted_inside()? } else { None };
        Ok(Some(InsuranceFinding {
            explored: !status.met(),
            widest: finite(status.reached),
            limit: status.wanted,
            wanted: wanted.filter(|at| !is_plausible(*at)).map(|at| self.grounds.actions[at].id),
        }))
    }

    fn target(&self) -> Option<TargetFinding> {
        let PolicyKind::Code { target: Some(target), .. } = self.spec.kind else {
            return None;
        };
        let status = self.target_status(target, self.explanation.width_sq(), &self.model);
        let unit = if let Target::Kappa(_) = target { 1.0 } else { self.grounds.range() };
        Some(TargetFinding {
            met: status.met(),
            wanted: unit * status.wanted,
            reached: finite(unit * status.reached),
        })
    }
}

/// A number of outcomes, at least 1, rounded to two significant digits: an outlook is no more
/// exact.
pub fn two_digits(outcomes: f64) -> u64 {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it saturates")]
    let outcomes = outcomes as u64;
    let mut unit = 1;
    while outcomes / unit >= 100 {
        unit *= 10;
    }
    ((outcomes + unit / 2) / unit * unit).max(1)
}

/// `log det(V + a·aᵀ) − log det V`; for arms, `log((T + 1)/T)`, which is the same with `‖a‖² =
/// 1/T`.
fn log_det_gain(arms: bool, width_sq: f64) -> f64 {
    if arms && !width_sq.is_finite() { f64::INFINITY } else { libm::log1p(width_sq) }
}

/// The share of each feature in `aᵀV⁻¹a`.
fn directions(
    names: &[String],
    features: &[f64],
    gram_inverse: &[f64],
    width_sq: f64,
) -> Vec<Share> {
    if width_sq <= 0.0 {
        return Vec::new();
    }
    let rows = gram_inverse.chunks(features.len()).zip(features).zip(names);
    let mut shares: Vec<Share> = rows
        .map(|((row, x), name)| {
            let along = row.iter().zip(features).fold(0.0, |sum, (entry, y)| sum + entry * y);
            Share { feature: name.clone(), share: x * along / width_sq }
        })
        .collect();
    shares.sort_by(|a, b| b.share.total_cmp(&a.share));
    shares.truncate(5);
    shares
}
