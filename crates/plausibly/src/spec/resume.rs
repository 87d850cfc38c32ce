//! Policies that go on from the statistics of a log.
//!
//! A log keeps exact sums and no policy. For each decision the policy is built from them, so its
//! choice is a function of the log.

use super::build::{BuildError, Plain};
use super::policy::{PolicyKind, PolicySpec};
use super::radius::{RadiusKind, RadiusSpec};
use super::{Defaults, Facts, Setting};
use crate::confidence::{Quantised, Radius, RadiusError};
use crate::explain::Explanation;
use crate::model::{ArmMeans, BellArms, BellRidge, Estimator, Glm, Ridge, RidgeError, Tabled};
use crate::policy::{
    Elimination, EpsilonGreedy, Explain, ExploreThenCommit, Insured, LaplaceTs, LinTs, LinUcb,
    Phase, Thompson, Ucb1, exploring_rounds,
};
use crate::state::DurableModel;
use std::sync::Arc;

/// A model of either kind.
#[derive(Clone, Debug)]
pub enum Model {
    /// For actions with features, from a [`Ledger`](crate::Ledger).
    Features(Box<Ridge>),
    /// For actions with features in a table, with what each of them has paid.
    Table(Box<Tabled<Ridge>>),
    /// For plain arms.
    Arms(ArmMeans),
    /// For actions with features, under the radius [`Bell`](crate::Bell).
    Bell(Box<BellRidge>),
    /// For a table of actions with features, under the radius [`Bell`](crate::Bell).
    BellTable(Box<Tabled<BellRidge>>),
    /// For plain arms, under the radius [`Bell`](crate::Bell).
    BellArms(Box<Tabled<BellArms>>),
    /// A generalised linear model, under the radius [`Likelihood`](crate::Likelihood).
    Glm(Box<Glm>),
    /// Such a model for a table of actions, with what each of them has paid.
    GlmTable(Box<Tabled<Glm>>),
}

/// What a policy goes on from: the statistics of earlier decisions, of any process.
#[derive(Clone, Debug)]
pub struct History {
    /// What the rewards so far have taught.
    pub model: Model,
    /// That model with decisions counted whose rewards are outstanding; `None` if there is none.
    pub design: Option<Model>,
    /// The number of earlier decisions.
    pub decisions: u64,
    /// The model that explore-then-commit committed to, once it has.
    pub committed: Option<Model>,
    /// The phase of elimination, once it has begun.
    pub phase: Option<Phase>,
    /// What [`Explanation::fill`] made of `model` under the radius and the exclusion of the policy,
    /// if that is at hand. The choice among the actions of the explanation is then found faster,
    /// and is the same.
    pub explained: Option<Arc<Explanation>>,
}

/// What CODE goes on from beside its model.
pub(super) struct Beside<E> {
    /// The model with pending decisions counted, if there are any.
    pub(super) design: Option<E>,
    pub(super) explained: Option<Arc<Explanation>>,
}

impl<E> Beside<E> {
    /// Of a policy that begins.
    pub(super) fn nothing() -> Self {
        Self { design: None, explained: None }
    }
}

impl Model {
    /// The model as an [`Estimator`].
    pub fn estimator(&self) -> &dyn Estimator {
        match self {
            Self::Features(model) => &**model,
            Self::Table(model) => &**model,
            Self::Arms(model) => model,
            Self::Bell(model) => &**model,
            Self::BellTable(model) => &**model,
            Self::BellArms(model) => &**model,
            Self::Glm(model) => &**model,
            Self::GlmTable(model) => &**model,
        }
    }

    /// `V⁻¹` of the model of features, row-major, if it has one: of a generalised linear model,
    /// `H̃⁻¹`.
    pub fn gram_inverse(&self) -> Option<&[f64]> {
        match self {
            Self::Features(model) => Some(model.gram_inverse()),
            Self::Table(model) => Some(model.model().gram_inverse()),
            Self::Bell(model) => Some(model.gram_inverse()),
            Self::BellTable(model) => Some(model.model().gram_inverse()),
            Self::Glm(model) => Some(model.form_inverse()),
            Self::GlmTable(model) => Some(model.model().form_inverse()),
            Self::Arms(_) | Self::BellArms(_) => None,
        }
    }

    fn features(self) -> Option<Ridge> {
        match self {
            Self::Features(model) => Some(*model),
            Self::Table(model) => Some(model.into_model()),
            _ => None,
        }
    }

    /// The same observations with another ridge; what each action has paid is left out.
    fn with_ridge(&self, ridge: f64) -> Result<Self, RidgeError> {
        Ok(match self {
            Self::Features(model) => Self::Features(Box::new(model.with_ridge(ridge)?)),
            Self::Table(model) => Self::Features(Box::new(model.model().with_ridge(ridge)?)),
            others => others.clone(),
        })
    }

    fn bell(self) -> Option<BellRidge> {
        match self {
            Self::Bell(model) => Some(*model),
            Self::BellTable(model) => Some(model.into_model()),
            _ => None,
        }
    }

    fn glm(self) -> Option<Glm> {
        match self {
            Self::Glm(model) => Some(*model),
            Self::GlmTable(model) => Some(model.into_model()),
            _ => None,
        }
    }

    fn bell_arms(self) -> Option<Tabled<BellArms>> {
        if let Self::BellArms(model) = self { Some(*model) } else { None }
    }

    fn arms(self) -> Option<ArmMeans> {
        match self {
            Self::Arms(model) => Some(model),
            _ => None,
        }
    }
}

impl RadiusSpec {
    /// Whether it needs a model of its own, as [`Model`] has for it.
    pub fn is_bell(&self) -> bool {
        self.kind == RadiusKind::Bell
    }

    /// δ of the set that goes with the radius, where pairs of actions may have a share.
    pub fn set_delta(&self, facts: &Facts) -> f64 {
        self.ellipsoid_delta(facts)
    }

    /// The radius for statistics on the grid of a [`Ledger`](crate::Ledger): it covers their
    /// rounding.
    ///
    /// # Errors
    /// If a constant is out of range.
    pub fn build_quantised(&self, facts: &Facts) -> Result<Quantised<Radius>, RadiusError> {
        // Arms are unit vectors, which are on the grid.
        let facts_bound = if facts.setting == Setting::Arms { 0.0 } else { facts.theta_norm_bound };
        let theta_norm_bound = self.theta_norm_bound.unwrap_or(facts_bound);
        Quantised { radius: self.build(facts)?, theta_norm_bound }.checked()
    }
}

impl PolicySpec {
    /// The policy after a history. Its next choice is a function of the spec, the facts, the
    /// history and its random numbers. Radii cover the rounding of the statistics.
    ///
    /// # Errors
    /// If a parameter is out of range, or the kind cannot go on from statistics alone.
    pub fn resume(
        &self,
        facts: &Facts,
        history: History,
    ) -> Result<Box<dyn Explain + Send>, BuildError> {
        if let Some(inside) = self.resume_inside(facts, &history)? {
            return self.resume_insured(facts, inside, history);
        }
        let History { model, design, decisions, committed, phase, explained } = history;
        match model {
            Model::Features(model) => {
                let design = design.and_then(Model::features);
                let (committed, beside) =
                    (committed.and_then(Model::features), Beside { design, explained });
                self.resume_features(facts, *model, beside, decisions, committed, phase)
            }
            Model::Table(model) => {
                if let PolicyKind::Code { radius, .. } = self.kind {
                    // Only widths are asked of the design; what actions have paid is the same.
                    let design = design.and_then(Model::features);
                    let design = design.map(|design| model.with_model(design));
                    let radius = radius.build_quantised(facts)?;
                    let beside = Beside { design, explained };
                    return Ok(self.kind.code_on(*model, radius, beside, Plain)?);
                }
                let model = Model::Features(Box::new(model.into_model()));
                // The explanation is one of the table.
                let explained = None;
                self.resume(
                    facts,
                    History { model, design, decisions, committed, phase, explained },
                )
            }
            Model::Arms(model) => {
                let design = design.and_then(Model::arms);
                let (committed, beside) =
                    (committed.and_then(Model::arms), Beside { design, explained });
                self.resume_arms(facts, model, beside, decisions, committed)
            }
            Model::Bell(model) => {
                let design = design.and_then(Model::bell);
                self.resume_own_set(facts, *model, Beside { design, explained })
            }
            Model::BellTable(model) => {
                let design = design.and_then(Model::bell).map(|design| model.with_model(design));
                self.resume_own_set(facts, *model, Beside { design, explained })
            }
            Model::BellArms(model) => {
                let design = design.and_then(Model::bell_arms);
                self.resume_own_set(facts, *model, Beside { design, explained })
            }
            Model::Glm(model) => {
                let design = design.and_then(Model::glm);
                self.resume_glm(facts, *model, Beside { design, explained }, decisions)
            }
            Model::GlmTable(model) => match self.kind {
                PolicyKind::Code { .. } | PolicyKind::LinUcb { .. } => {
                    let design = design.and_then(Model::glm);
                    let design = design.map(|design| model.with_model(design));
                    self.resume_own_set(facts, *model, Beside { design, explained })
                }
                _ => self.resume_glm(facts, model.into_model(), Beside::nothing(), decisions),
            },
        }
    }

    /// The policy inside an insured one, by itself: it goes on from the same observations, with a
    /// ridge of its own. `None` for other kinds.
    ///
    /// # Errors
    /// As [`PolicySpec::resume`].
    pub fn resume_inside(
        &self,
        facts: &Facts,
        history: &History,
    ) -> Result<Option<Box<dyn Explain + Send>>, BuildError> {
        let PolicyKind::Insured { inside, .. } = &self.kind else { return Ok(None) };
        let inside = Self { label: self.label.clone(), kind: (**inside).clone() };
        let ridge = inside.ridge_in(facts);
        let design = history.design.as_ref().map(|design| design.with_ridge(ridge));
        let history = History {
            model: history.model.with_ridge(ridge)?,
            design: design.transpose()?,
            decisions: history.decisions,
            committed: None,
            phase: None,
            explained: None,
        };
        inside.resume(facts, history).map(Some)
    }

    fn resume_insured(
        &self,
        facts: &Facts,
        inside: Box<dyn Explain + Send>,
        history: History,
    ) -> Result<Box<dyn Explain + Send>, BuildError> {
        let History { model, design, explained, .. } = history;
        match model {
            Model::Features(model) => {
                let design = design.and_then(Model::features);
                self.insured_on(facts, inside, *model, Beside { design, explained })
            }
            Model::Table(model) => {
                let design = design.and_then(Model::features);
                let design = design.map(|design| model.with_model(design));
                self.insured_on(facts, inside, *model, Beside { design, explained })
            }
            Model::Arms(model) => {
                let design = design.and_then(Model::arms);
                self.insured_on(facts, inside, model, Beside { design, explained })
            }
            // The policy inside has no such set.
            Model::Bell(_) | Model::BellTable(_) | Model::BellArms(_) => {
                Err(BuildError::Unresumable)
            }
            Model::Glm(model) => {
                let design = design.and_then(Model::glm);
                self.insured_on(facts, inside, *model, Beside { design, explained })
            }
            Model::GlmTable(model) => {
                let design = design.and_then(Model::glm).map(|design| model.with_model(design));
                self.insured_on(facts, inside, *model, Beside { design, explained })
            }
        }
    }

    fn insured_on<E: Estimator + Clone + Send + 'static>(
        &self,
        facts: &Facts,
        inside: Box<dyn Explain + Send>,
        model: E,
        Beside { design, explained }: Beside<E>,
    ) -> Result<Box<dyn Explain + Send>, BuildError> {
        let PolicyKind::Insured { kappa, radius, exclusion, count_pending, .. } = self.kind else {
            unreachable!("only called for an insured policy");
        };
        let insured = Insured::new(inside, model, radius.build_quantised(facts)?, kappa)?;
        let insured = insured.excluding(exclusion);
        let insured = if let Some(design) = design { insured.with_design(design) } else { insured };
        let insured = match explained {
            Some(explained) => insured.recalling(&explained),
            None => insured,
        };
        Ok(Box::new(if count_pending { insured } else { insured.ignoring_pending() }))
    }

    /// Over a generalised linear model.
    fn resume_glm(
        &self,
        facts: &Facts,
        model: Glm,
        beside: Beside<Glm>,
        decisions: u64,
    ) -> Result<Box<dyn Explain + Send>, BuildError> {
        Ok(match self.kind {
            PolicyKind::LaplaceTs { .. } => Box::new(LaplaceTs::new(model)),
            PolicyKind::EpsilonGreedy { epsilon: 0.0, .. } => {
                Box::new(EpsilonGreedy::constant(model, 0.0)?)
            }
            PolicyKind::EpsilonGreedy { epsilon, exploration, .. } => {
                let policy = EpsilonGreedy::new(model, epsilon, facts.horizon)?;
                Box::new(policy.exploring(exploration).after(decisions))
            }
            _ => return self.resume_own_set(facts, model, beside),
        })
    }

    /// Over a model that has a set of its own.
    fn resume_own_set<E: DurableModel + Send + 'static>(
        &self,
        facts: &Facts,
        model: E,
        beside: Beside<E>,
    ) -> Result<Box<dyn Explain + Send>, BuildError> {
        Ok(match self.kind {
            PolicyKind::Code { radius, .. } => {
                self.kind.code_on(model, radius.build_quantised(facts)?, beside, Plain)?
            }
            PolicyKind::LinUcb { radius, .. } => {
                Box::new(LinUcb::new(model, radius.build_quantised(facts)?))
            }
            _ => return Err(BuildError::Unresumable),
        })
    }

    fn resume_features(
        &self,
        facts: &Facts,
        model: Ridge,
        beside: Beside<Ridge>,
        decisions: u64,
        committed: Option<Ridge>,
        phase: Option<Phase>,
    ) -> Result<Box<dyn Explain + Send>, BuildError> {
        Ok(match self.kind {
            PolicyKind::Code { radius, .. } => {
                self.kind.code_on(model, radius.build_quantised(facts)?, beside, Plain)?
            }
            PolicyKind::LinUcb { radius, .. } => {
                Box::new(LinUcb::new(model, radius.build_quantised(facts)?))
            }
            PolicyKind::LinTs { noise_scale, .. } => {
                Box::new(LinTs::new(model, noise_scale.unwrap_or(facts.noise_scale))?)
            }
            // Greed alone, inside an insured policy.
            PolicyKind::EpsilonGreedy { epsilon: 0.0, .. } => {
                Box::new(EpsilonGreedy::constant(model, 0.0)?)
            }
            PolicyKind::EpsilonGreedy { epsilon, exploration, .. } => {
                let policy = EpsilonGreedy::new(model, epsilon, facts.horizon)?;
                Box::new(policy.exploring(exploration).after(decisions))
            }
            PolicyKind::ExploreThenCommit { epsilon, exploration, .. } => {
                let policy = ExploreThenCommit::new(model, epsilon, facts.horizon)?;
                Box::new(policy.exploring(exploration).after(decisions, committed))
            }
            PolicyKind::Elimination { delta, .. } => {
                let policy = Elimination::new(model, delta)?;
                Box::new(if let Some(phase) = phase { policy.in_phase(phase) } else { policy })
            }
            PolicyKind::Insured { .. }
            | PolicyKind::Ucb1 { .. }
            | PolicyKind::LaplaceTs { .. }
            | PolicyKind::Thompson { .. }
            | PolicyKind::BetaThompson => {
                return Err(BuildError::Unresumable);
            }
        })
    }

    fn resume_arms(
        &self,
        facts: &Facts,
        model: ArmMeans,
        beside: Beside<ArmMeans>,
        decisions: u64,
        committed: Option<ArmMeans>,
    ) -> Result<Box<dyn Explain + Send>, BuildError> {
        Ok(match self.kind {
            PolicyKind::Code { radius, .. } => {
                self.kind.code_on(model, radius.build_quantised(facts)?, beside, Plain)?
            }
            PolicyKind::EpsilonGreedy { epsilon: 0.0, .. } => {
                Box::new(EpsilonGreedy::constant(model, 0.0)?)
            }
            PolicyKind::EpsilonGreedy { epsilon, .. } => {
                Box::new(EpsilonGreedy::new(model, epsilon, facts.horizon)?.after(decisions))
            }
            PolicyKind::ExploreThenCommit { epsilon, .. } => Box::new(
                ExploreThenCommit::new(model, epsilon, facts.horizon)?.after(decisions, committed),
            ),
            PolicyKind::Ucb1 { noise_scale } => {
                Box::new(Ucb1::over(model, noise_scale.unwrap_or(facts.noise_scale))?)
            }
            PolicyKind::Thompson { noise_scale } => {
                Box::new(Thompson::over(model, noise_scale.unwrap_or(facts.noise_scale))?)
            }
            // The rewards of a log are scaled to [−½, ½].
            PolicyKind::BetaThompson
            | PolicyKind::LaplaceTs { .. }
            | PolicyKind::Elimination { .. }
            | PolicyKind::Insured { .. }
            | PolicyKind::LinUcb { .. }
            | PolicyKind::LinTs { .. } => {
                return Err(BuildError::Unresumable);
            }
        })
    }

    /// The radius that its intervals are shown with: its own if it has one, else the default of the
    /// setting.
    pub fn shown_radius(&self, setting: Setting, defaults: Defaults) -> RadiusSpec {
        match self.kind {
            PolicyKind::Code { radius, .. }
            | PolicyKind::Insured { radius, .. }
            | PolicyKind::LinUcb { radius, .. }
            | PolicyKind::LaplaceTs { radius }
            | PolicyKind::EpsilonGreedy { radius: Some(radius), .. } => radius,
            _ => RadiusSpec::default_for(setting, defaults),
        }
    }

    /// Whether its radius is [`Bell`](crate::Bell), which needs a model of its own.
    pub fn is_bell(&self) -> bool {
        matches!(
            self.kind,
            PolicyKind::Code { radius, .. } | PolicyKind::LinUcb { radius, .. } if radius.is_bell()
        )
    }

    /// λ in V where it is set, as in every log; else 1. Zero under the radius
    /// [`Bell`](crate::Bell), whose model has none.
    pub fn ridge(&self) -> f64 {
        self.kind.ridge()
    }

    /// The number of decisions after which it commits to what it knows; `None` if it never does.
    pub fn commits_after(&self, horizon: u64) -> Option<u64> {
        match self.kind {
            PolicyKind::ExploreThenCommit { epsilon, .. } => {
                Some(exploring_rounds(epsilon, horizon))
            }
            _ => None,
        }
    }

    /// Whether its next choice depends on the number of decisions before, and so on a horizon.
    pub fn needs_horizon(&self) -> bool {
        self.kind.needs_horizon()
    }
}

impl PolicyKind {
    fn needs_horizon(&self) -> bool {
        match self {
            Self::Insured { inside, .. } => inside.needs_horizon(),
            Self::EpsilonGreedy { epsilon, .. } => *epsilon > 0.0,
            Self::ExploreThenCommit { .. } => true,
            _ => false,
        }
    }

    pub(super) fn ridge(&self) -> f64 {
        match *self {
            // The set of the bell radius has no ridge; a generalised linear model has its own.
            Self::Code { radius, .. }
            | Self::Insured { radius, .. }
            | Self::LinUcb { radius, .. }
            | Self::EpsilonGreedy { radius: Some(radius), .. }
                if radius.is_bell() || radius.kind.link().is_some() =>
            {
                0.0
            }
            Self::LaplaceTs { .. } => 0.0,
            Self::Code { ridge, .. } | Self::Insured { ridge, .. } | Self::LinUcb { ridge, .. } => {
                ridge.unwrap_or(1.0)
            }
            Self::LinTs { ridge, .. }
            | Self::Elimination { ridge, .. }
            | Self::EpsilonGreedy { ridge, .. }
            | Self::ExploreThenCommit { ridge, .. } => ridge,
            Self::Ucb1 { .. } | Self::Thompson { .. } | Self::BetaThompson => 1.0,
        }
    }
}
