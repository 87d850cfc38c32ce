//! Which action follows from the grounds of a decision, why, and with which probability.

use super::derive::Derivation;
use super::findings::Reason;
use super::{Grounds, GroundsError};
use plausibly::spec::{History, PolicyKind, PolicySpec};
use plausibly::{Explanation, Stream};

impl Grounds {
    /// Whether the choice follows from the listed actions, given how many unlisted ones could still
    /// be best.
    pub(crate) fn choice_follows(&self, unlisted_plausible: u64) -> Result<bool, GroundsError> {
        Ok(choice_follows(&self.spec()?, unlisted_plausible))
    }
}

fn choice_follows(spec: &PolicySpec, unlisted_plausible: u64) -> bool {
    match spec.kind {
        PolicyKind::LinUcb { .. } | PolicyKind::LinTs { .. } => true,
        PolicyKind::Code { randomise, .. } => randomise == 0.0 && unlisted_plausible == 0,
        _ => false,
    }
}

impl Derivation<'_> {
    /// The place of the chosen action, and whether it was derived. Where the choice depends on
    /// unlisted actions, it is taken from the grounds.
    pub(super) fn choose(&self) -> Result<(usize, bool), GroundsError> {
        let grounds = self.grounds;
        if let Some(unlisted) = grounds.unlisted {
            let own = choice_follows(self.spec, unlisted.plausible);
            let listed = |id| grounds.actions.iter().position(|action| action.id == id);
            let misfit = |what: &str| GroundsError::Misfit {
                path: "grounds.unlisted.chosen".into(),
                what: what.into(),
            };
            match (own, unlisted.chosen) {
                (true, Some(_)) => {
                    return Err(misfit(
                        "must not be set: the choice follows from the listed actions",
                    ));
                }
                (false, None) => {
                    return Err(misfit(
                        "must be set: the choice depends on actions that are not listed",
                    ));
                }
                (false, Some(id)) => {
                    return Ok((
                        listed(id).ok_or_else(|| misfit("is not among the actions listed"))?,
                        false,
                    ));
                }
                (true, None) => {}
            }
        }
        let committed =
            grounds.committed.as_ref().map(|sums| grounds.model(sums, self.spec.ridge()));
        let history = History {
            model: self.model.clone(),
            design: self.design.clone(),
            decisions: grounds.decision.saturating_sub(1),
            committed: committed.transpose()?,
            phase: self.phase.as_ref().map(|(phase, _)| phase.clone()),
        };
        let mut policy = self.spec.resume(&grounds.facts(), history)?;
        Ok((policy.select(self.set.view(), &mut self.stream()), true))
    }

    fn stream(&self) -> Stream {
        Stream::new(self.grounds.seed, self.grounds.decision, "decision")
    }

    /// The probability with which this decision was drawn at random instead of computed, and
    /// whether it was.
    fn draw(&self) -> Option<(f64, bool)> {
        let grounds = self.grounds;
        let rate = match self.spec.kind {
            PolicyKind::Code { randomise, .. } if randomise > 0.0 => randomise,
            PolicyKind::EpsilonGreedy { epsilon, .. } => {
                let horizon = grounds.horizon.unwrap_or(1) as f64;
                (epsilon * (horizon / grounds.decision as f64).sqrt() / 2.0).min(1.0)
            }
            _ => return None,
        };
        Some((rate, self.stream().uniform() < rate))
    }

    pub(super) fn reason(&self) -> Reason {
        let grounds = self.grounds;
        match self.spec.kind {
            PolicyKind::Code { greed, target, .. } => match (self.draw(), target) {
                (Some((_, true)), _) => Reason::DrawnPlausible,
                (_, Some(target)) if self.design_target_met(target) => Reason::MostPromising,
                (_, None) if greed > 0.0 => Reason::Tempered,
                _ => Reason::LeastKnown,
            },
            PolicyKind::LinUcb { .. } => Reason::LargestUpper,
            PolicyKind::LinTs { .. } | PolicyKind::Thompson { .. } => Reason::LargestSample,
            PolicyKind::Ucb1 { .. } => Reason::LargestIndex,
            PolicyKind::EpsilonGreedy { .. } => match self.draw() {
                Some((_, true)) => Reason::Explored,
                _ => Reason::LargestMean,
            },
            PolicyKind::Elimination { .. } => Reason::DrawnInPhase,
            PolicyKind::ExploreThenCommit { .. } => {
                let rounds = self.spec.commits_after(grounds.horizon.unwrap_or(1)).unwrap_or(0);
                if grounds.decision <= rounds { Reason::Explored } else { Reason::Committed }
            }
        }
    }

    /// The probability of the choice, where it has a simple form.
    pub(super) fn propensity(&self, chosen: usize) -> Option<f64> {
        let offered = self.grounds.actions.len() as f64;
        match self.spec.kind {
            PolicyKind::Code { randomise, .. } if randomise > 0.0 => {
                let plausible = self.explanation.plausible().count() as f64;
                let by_code = self.choose_without_draw() == Some(chosen);
                let in_set = self.explanation.plausible().any(|action| action == chosen);
                let drawn = if in_set { randomise / plausible } else { 0.0 };
                Some(drawn + if by_code { 1.0 - randomise } else { 0.0 })
            }
            PolicyKind::EpsilonGreedy { exploration: plausibly::Exploration::Uniform, .. } => {
                let (rate, _) = self.draw()?;
                let best = largest_mean(&self.explanation);
                Some(rate / offered + if best == chosen { 1.0 - rate } else { 0.0 })
            }
            PolicyKind::EpsilonGreedy { .. }
            | PolicyKind::LinTs { .. }
            | PolicyKind::Thompson { .. } => None,
            PolicyKind::ExploreThenCommit { exploration, .. } => match (self.reason(), exploration)
            {
                (Reason::Committed, _) => Some(1.0),
                (_, plausibly::Exploration::Uniform) => Some(1.0 / offered),
                _ => None,
            },
            PolicyKind::Elimination { .. } => {
                let (_, quota) = self.phase.as_ref()?;
                Some(quota.left(chosen) as f64 / quota.remaining() as f64)
            }
            PolicyKind::Code { .. } | PolicyKind::LinUcb { .. } | PolicyKind::Ucb1 { .. } => {
                Some(1.0)
            }
        }
    }

    /// The choice of randomised CODE in a round that is not drawn at random.
    fn choose_without_draw(&self) -> Option<usize> {
        let mut spec = self.spec.clone();
        if let PolicyKind::Code { randomise, .. } = &mut spec.kind {
            *randomise = 0.0;
        }
        let history = History {
            model: self.model.clone(),
            design: self.design.clone(),
            decisions: 0,
            committed: None,
            phase: None,
        };
        let mut policy = spec.resume(&self.grounds.facts(), history).ok()?;
        Some(policy.select(self.set.view(), &mut self.stream()))
    }
}

fn largest_mean(explanation: &Explanation) -> usize {
    let means = explanation.intervals().iter().map(|interval| interval.mean).enumerate();
    means.fold((0, f64::NEG_INFINITY), |best, next| if next.1 > best.1 { next } else { best }).0
}
