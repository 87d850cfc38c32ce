//! Which action follows from the grounds of a decision, why, and with which probability.

use super::basis::Basis;
use super::findings::Reason;
use super::numbers::{Choice, Numbers, largest};
use super::{GroundsError, misfit, require};
use plausibly::spec::{BuildError, History, PolicyKind, PolicySpec};
use plausibly::{Stream, Target};
use std::sync::Arc;

impl Numbers {
    /// The choice. Where it depends on unlisted actions, it is taken from the grounds.
    ///
    /// # Errors
    /// If the policy cannot be built, or the grounds give a choice that they must not give.
    pub(crate) fn choose(&self) -> Result<Choice, GroundsError> {
        let Basis { decision, ids, unlisted, committed, .. } = &self.basis;
        if let Some(unlisted) = unlisted {
            let path = "unlisted.chosen";
            if let Some(id) = unlisted.chosen {
                let what = "must not be set: the choice follows from the listed actions";
                require(!self.choice_follows(unlisted.plausible), path, what)?;
                let place = ids.iter().position(|own| *own == id);
                let place = place.ok_or_else(|| misfit(path, "is not among the actions listed"))?;
                return Ok(Choice { place, is_derived: false });
            }
            let what = "must be set: the choice depends on actions that are not listed";
            require(self.choice_follows(unlisted.plausible), path, what)?;
        }
        let ridge = self.terms().spec.ridge();
        let committed = committed.as_ref().map(|sums| self.basis.model(sums, ridge)).transpose()?;
        let history = History {
            decisions: decision.saturating_sub(1),
            committed,
            phase: self.phase.as_ref().map(|(phase, _)| phase.clone()),
            ..self.at_first()
        };
        Ok(Choice { place: self.choose_after(&self.terms().spec, history)?, is_derived: true })
    }

    /// Whether the choice follows from the listed actions, given how many unlisted ones could still
    /// be best.
    pub(super) fn choice_follows(&self, unlisted_plausible: u64) -> bool {
        match self.terms().spec.kind {
            PolicyKind::LinUcb { .. } | PolicyKind::LinTs { .. } => true,
            PolicyKind::Code { randomise, .. } => randomise == 0.0 && unlisted_plausible == 0,
            _ => false,
        }
    }

    /// What the policy inside an insured one wants among all actions on offer; `None` where not all
    /// of them are listed.
    pub(super) fn wanted_inside(&self) -> Result<Option<usize>, GroundsError> {
        if self.basis.unlisted.is_some() {
            return Ok(None);
        }
        let decisions = self.basis.decision.saturating_sub(1);
        let history = History { decisions, ..self.at_first() };
        let inside = self.terms().spec.resume_inside(&self.basis.facts(), &history)?;
        Ok(inside.map(|mut policy| policy.select(self.basis.set.view(), &mut self.stream())))
    }

    /// A history of no decisions, with the models of this one.
    fn at_first(&self) -> History {
        let (model, design) = (self.known.model.clone(), self.design.clone());
        let explained = Some(Arc::clone(&self.known.explanation));
        History { model, design, decisions: 0, committed: None, phase: None, explained }
    }

    fn choose_after(&self, spec: &PolicySpec, history: History) -> Result<usize, BuildError> {
        let mut policy = spec.resume(&self.basis.facts(), history)?;
        Ok(policy.select(self.basis.set.view(), &mut self.stream()))
    }

    fn stream(&self) -> Stream {
        Stream::new(self.terms().seed, self.basis.decision, "decision")
    }

    /// The probability with which this decision was drawn at random instead of computed, and
    /// whether it was.
    fn draw(&self) -> Option<(f64, bool)> {
        let rate = match self.terms().spec.kind {
            PolicyKind::Code { randomise, .. } if randomise > 0.0 => randomise,
            PolicyKind::EpsilonGreedy { epsilon, .. } => {
                let horizon = self.terms().horizon.unwrap_or(1) as f64;
                (epsilon * (horizon / self.basis.decision as f64).sqrt() / 2.0).min(1.0)
            }
            _ => return None,
        };
        Some((rate, self.stream().uniform() < rate))
    }

    pub(crate) fn reason(&self) -> Reason {
        match self.terms().spec.kind {
            PolicyKind::Code { greed, target, .. } => match (self.draw(), target) {
                (Some((_, true)), _) => Reason::DrawnPlausible,
                (_, Some(target)) if self.design_status(target).met() => Reason::MostPromising,
                // While intervals say nothing, widths decide at any greed.
                (_, None) if greed > 0.0 && self.known.explanation.doubt().is_none() => {
                    Reason::Tempered
                }
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
                let horizon = self.terms().horizon.unwrap_or(1);
                let rounds = self.terms().spec.commits_after(horizon).unwrap_or(0);
                if self.basis.decision <= rounds { Reason::Explored } else { Reason::Committed }
            }
        }
    }

    /// The probability of the choice, where it has a simple form. A choice that was not derived has
    /// none.
    pub(crate) fn propensity(&self, Choice { place: chosen, is_derived }: Choice) -> Option<f64> {
        if !is_derived {
            return None;
        }
        let offered = self.basis.ids.len() as f64;
        match self.terms().spec.kind {
            PolicyKind::Code { randomise, .. } if randomise > 0.0 => {
                let plausible = self.known.explanation.plausible().count() as f64;
                let by_code = self.choose_without_draw() == Some(chosen);
                let in_set = self.known.explanation.plausible().any(|action| action == chosen);
                let drawn = if in_set { randomise / plausible } else { 0.0 };
                Some(drawn + if by_code { 1.0 - randomise } else { 0.0 })
            }
            PolicyKind::EpsilonGreedy { exploration: plausibly::Exploration::Uniform, .. } => {
                let (rate, _) = self.draw()?;
                let mean = |at: usize| self.known.explanation.intervals()[at].mean;
                let best = largest(0..self.basis.ids.len(), mean);
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
        let mut spec = self.terms().spec.clone();
        if let PolicyKind::Code { randomise, .. } = &mut spec.kind {
            *randomise = 0.0;
        }
        self.choose_after(&spec, self.at_first()).ok()
    }
}
