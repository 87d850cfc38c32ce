//! Derives the findings of a decision: its numbers with the names that its grounds have.

use super::basis::Basis;
use super::findings::{
    Alarm, Chosen, Comparison, Finding, Findings, InsuranceFinding, Outlook, RuledOut, Share,
    Standing, TargetFinding,
};
use super::numbers::{Choice, Numbers, finite, largest};
use super::rule_out::{ByPair, RuleOut};
use super::{Grounds, GroundsError};
use plausibly::spec::PolicyKind;
use plausibly::{Doubt, Exclusion, Reach, Target};

impl Findings {
    /// Derives the findings of grounds.
    ///
    /// # Errors
    /// If no decision can have these grounds.
    pub fn derive(grounds: &Grounds) -> Result<Self, GroundsError> {
        let numbers = Numbers::of(Basis::of(grounds)?, None)?;
        Self::of(&numbers, numbers.choose()?, grounds)
    }

    /// The findings of a decision with these numbers.
    ///
    /// # Errors
    /// If the statistics do not describe a model, or a policy cannot be built.
    pub(crate) fn of(
        numbers: &Numbers,
        choice: Choice,
        grounds: &Grounds,
    ) -> Result<Self, GroundsError> {
        Derivation { numbers, choice, grounds }.findings()
    }
}

/// The numbers and the choice of a decision, and its grounds.
struct Derivation<'a> {
    numbers: &'a Numbers,
    choice: Choice,
    grounds: &'a Grounds,
}

impl Numbers {
    /// Whether the action at this place could still be best, with the numbers that actions have in
    /// the log.
    pub(super) fn standing(&self, at: usize) -> Standing {
        let (terms, ids) = (self.terms(), &self.basis.ids);
        let range = terms.range();
        let by = |place: usize| RuledOut {
            by: ids[place],
            margin: None,
            kind: None,
            behind_by: None,
            evidence: None,
            needed: None,
        };
        match self.known.explanation.standings()[at] {
            plausibly::Standing::Plausible => Standing::Plausible,
            plausibly::Standing::RuledOut { by: place, margin, .. } if terms.format < 2 => {
                Standing::RuledOut(RuledOut { margin: Some(range * margin), ..by(place) })
            }
            plausibly::Standing::RuledOut { by: place, margin, at_most } => {
                let kind = match terms.exclusion() {
                    Exclusion::Differences => Comparison::Difference,
                    Exclusion::Intervals => Comparison::Interval,
                };
                // True averages lie in the range, so no two are farther apart.
                let behind_by = Some(((range * margin).min(range), (range * at_most).min(range)));
                Standing::RuledOut(RuledOut { kind: Some(kind), behind_by, ..by(place) })
            }
            plausibly::Standing::Beaten { by: place, evidence, needed } => {
                if let Some((at_least, at_most)) = self.ahead_by_pair(place, at) {
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

    /// The places of the actions that the findings depend on. A certificate that lists these, and
    /// every action that could still be best, makes the same statements.
    pub(super) fn keystones(&self, choice: Choice) -> Vec<usize> {
        let explanation = &self.known.explanation;
        let chosen = choice.place;
        let (all, racing) = (0..self.basis.ids.len(), || explanation.plausible());
        let lower = |at: usize| explanation.intervals()[at].lower;
        let found = [
            Some(chosen),
            largest(all.clone(), lower),
            largest(all.filter(|at| *at != chosen), lower),
            largest(racing(), |at| explanation.width_sq()[at]),
            largest(racing(), |at| self.design_width_sq()[at]),
            largest(racing(), |at| explanation.intervals()[at].mean),
            largest(racing(), |at| self.within(at)),
        ];
        let rival = RuleOut::closest_rival(self, chosen);
        let paid_most = ByPair::rival(self, chosen);
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

impl Derivation<'_> {
    fn findings(&self) -> Result<Findings, GroundsError> {
        let Self { numbers, grounds, .. } = self;
        let known = &numbers.known;
        let known_within = numbers.known_within();
        Ok(Findings {
            chosen: self.chosen()?,
            plausible: numbers.plausible(),
            known_within,
            model_error_bound: known_within.map(|within| within * within),
            sqrt_beta: finite(known.explanation.sqrt_beta()),
            outlook: numbers.outlook().map(|outlook| {
                let further = outlook.further(grounds.statistics.observations);
                Outlook {
                    action: grounds.actions[outlook.action].id,
                    outcomes: two_digits(further),
                }
            }),
            alarm: self.alarm(),
            confidence: known.confidence,
            likelihood: numbers.likelihood(),
            target: self.target(),
            insurance: self.insurance()?,
            plays_left: numbers.phase.as_ref().map(|(_, quota)| quota.remaining()),
            actions: self.actions(),
        })
    }

    fn actions(&self) -> Vec<Finding> {
        let Self { numbers, grounds, .. } = self;
        let explanation = &numbers.known.explanation;
        let (low, high) = grounds.reward_range;
        let bound = |scaled: f64| grounds.unscaled(scaled).clamp(low, high);
        let design_width_sq = numbers.design_width_sq();
        let ignorance = |at: usize| explanation.ignorance(design_width_sq, at);
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
                    mean: known.then(|| grounds.unscaled(numbers.estimate(at))),
                    moved: numbers.moved(at),
                    lower: bound(interval.lower),
                    upper: bound(interval.upper),
                    width: finite(width_sq.sqrt()),
                    design_width: finite(design_width_sq[at].sqrt()),
                    standing: numbers.standing(at),
                    rank: ranks[at],
                }
            })
            .collect()
    }

    /// The doubt about what was assumed, in units of reward.
    fn alarm(&self) -> Option<Alarm> {
        let range = self.grounds.range();
        match self.numbers.known.explanation.doubt()? {
            Doubt::Noise { declared, suggested } => {
                Some(Alarm::Noise { declared: range * declared, suggested: range * suggested })
            }
            Doubt::Refuted => Some(Alarm::Refuted {}),
            // Five outcomes of a bell curve have five different values.
            Doubt::FewValues => self.numbers.few_values().map(|values| Alarm::FewValues { values }),
            _ => None,
        }
    }

    fn chosen(&self) -> Result<Chosen, GroundsError> {
        let Self { numbers, grounds, choice } = self;
        let (at, known) = (choice.place, &numbers.known);
        let (action, width_sq) = (&grounds.actions[at], known.explanation.width_sq()[at]);
        let widths = numbers.design_width_sq();
        let curved = matches!(numbers.reach(), Reach::Curved(_));
        let design_gain =
            if curved { known.explanation.ignorance(widths, at).0 } else { widths[at] };
        Ok(Chosen {
            id: action.id,
            label: action.label.clone(),
            reason: numbers.reason(),
            propensity: numbers.propensity(*choice),
            log_det_gain: finite(log_det_gain(grounds.dim() == 0, design_gain)),
            rule_out: RuleOut::of(numbers, at),
            directions: known.model.gram_inverse().map_or_else(Vec::new, |inverse| {
                directions(&grounds.features, &action.features, inverse, width_sq)
            }),
            forecasts: numbers.forecast(at)?,
        })
    }

    /// Which part of an insured policy decides.
    fn insurance(&self) -> Result<Option<InsuranceFinding>, GroundsError> {
        let numbers = self.numbers;
        let PolicyKind::Insured { kappa, .. } = numbers.terms().spec.kind else { return Ok(None) };
        let status = numbers.design_status(Target::Kappa(kappa));
        let explanation = &numbers.known.explanation;
        let is_plausible = |at: usize| explanation.plausible().any(|own| own == at);
        let wanted = if status.met() { numbers.wanted_inside()? } else { None };
        Ok(Some(InsuranceFinding {
            explored: !status.met(),
            widest: finite(status.reached),
            limit: status.wanted,
            wanted: wanted.filter(|at| !is_plausible(*at)).map(|at| self.grounds.actions[at].id),
        }))
    }

    fn target(&self) -> Option<TargetFinding> {
        let numbers = self.numbers;
        let PolicyKind::Code { target: Some(target), .. } = numbers.terms().spec.kind else {
            return None;
        };
        let known = &numbers.known;
        let width_sq = known.explanation.width_sq();
        let status = numbers.target_status(target, width_sq, &known.model);
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
