//! Which action follows from the grounds of a decision, why, and with which probability.

use super::derive::{Derivation, largest};
use super::findings::Reason;
use super::{GroundsError, misfit, require};
use plausibly::spec::{BuildError, History, PolicyKind, PolicySpec};
use plausibly::{Stream, Target};

/// Whether the choice follows from the listed actions, given how many unlisted ones could still be
/// best.
pub(super) fn choice_follows(spec: &PolicySpec, unlisted_plausible: u64) -> bool {
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
            let path = "unlisted.chosen";
            if let Some(id) = unlisted.chosen {
                let what = "must not be set: the choice follows from the listed actions";
                require(!choice_follows(self.spec, unlisted.plausible), path, what)?;
                let place = grounds.actions.iter().position(|action| action.id == id);
                let unknown = || misfit(path, "is not among the actions listed");
                return Ok((place.ok_or_else(unknown)?, false));
            }
            let what = "must be set: the choice depends on actions that are not listed";
            require(choice_follows(self.spec, unlisted.plausible), path, what)?;
        }
        let committed =
            grounds.committed.as_ref().map(|sums| grounds.model(sums, self.spec.ridge()));
        let history = History {
            decisions: grounds.decision.saturating_sub(1),
            committed: committed.transpose()?,
            phase: self.phase.as_ref().map(|(phase, _)| phase.clone()),
            ..self.at_first()
        };
        Ok((self.choose_after(self.spec, history)?, true))
    }

    /// What the policy inside an insured one wants among all actions on offer; `None` where not all
    /// of them are listed.
    pub(super) fn wanted_inside(&self) -> Result<Option<usize>, GroundsError> {
        if self.grounds.unlisted.is_some() {
            return Ok(None);
        }
        let decisions = self.grounds.decision.saturating_sub(1);
        let history = History { decisions, ..self.at_first() };
        let inside = self.spec.resume_inside(&self.grounds.facts(), &history)?;
        Ok(inside.map(|mut policy| policy.select(self.set.view(), &mut self.stream())))
    }

    /// A history of no decisions, with the models of this one.
    fn at_first(&self) -> History {
        let (model, design) = (self.model.clone(), self.design.clone());
        History { model, design, decisions: 0, committed: None, phase: None }
    }

    fn choose_after(&self, spec: &PolicySpec, history: History) -> Result<usize, BuildError> {
        let mut policy = spec.resume(&self.grounds.facts(), history)?;
        Ok(policy.select(self.set.view(), &mut self.stream()))
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
                (_, Some(target)) if self.design_status(target).met() => Reason::MostPromising,
                // While intervals say nothing, widths decide at any greed.
                (_, None) if greed > 0.0 && self.explanation.doubt().is_none() => Reason::Tempered,
                _ => Reason::LeastKnown,
            },
            PolicyKind::Insured { kappa, .. } => {
                let explores = !self.design_status(Target::Kappa(kappa)).met();
                if explores { Reason::LeastKnown } else { Reason::Inside }
            }
            PolicyKind::LinUcb { .. } => Reason::LargestUpper,
            PolicyKind::LinTs { .. }
            | PolicyKind::LaplaceTs { .. }
            | PolicyKind::Thompson { .. }
            | PolicyKind::BetaThompson => Reason::LargestSample,
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
                let mean = |at: usize| self.explanation.intervals()[at].mean;
                let best = largest(0..self.grounds.actions.len(), mean);
                Some(rate / offered + if best == Some(chosen) { 1.0 - rate } else { 0.0 })
            }
            PolicyKind::EpsilonGreedy { .. }
            | PolicyKind::Insured { .. }
            | PolicyKind::LinTs { .. }
            | PolicyKind::LaplaceTs { .. }
            | PolicyKind::Thompson { .. }
            | PolicyKind::BetaThompson => None,
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
        self.choose_after(&spec, self.at_first()).ok()
    }
}
