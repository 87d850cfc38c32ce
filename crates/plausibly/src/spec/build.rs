//! Makes policies from their specs.

use super::policy::{PolicyKind, PolicySpec};
use super::radius::{RadiusKind, RadiusSpec};
use super::resume::Beside;
use super::{Facts, Setting};
use crate::confidence::{ConfidenceRadius, Exclusion, Radius, RadiusError};
use crate::model::{
    ArmMeans, BellArms, BellRidge, Estimator, Forecaster, Glm, Ridge, RidgeError, Tabled,
};
use crate::policy::{
    BetaThompson, Code, Elimination, EpsilonGreedy, ExploreThenCommit, Forecasting, Insured,
    LaplaceTs, LinTs, LinUcb, PolicyError, RandomisedCode, Thompson, Ucb1,
};
use crate::state::{Durable, DurableModel, Keep};
use thiserror::Error;

/// Why a policy could not be built for a problem.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum BuildError {
    /// Its radius.
    #[error(transparent)]
    Radius(#[from] RadiusError),
    /// Its model.
    #[error(transparent)]
    Ridge(#[from] RidgeError),
    /// Its parameters.
    #[error(transparent)]
    Policy(#[from] PolicyError),
    /// An insured policy inside another.
    #[error("an insured policy cannot be inside another; use a policy of another kind inside")]
    Nested,
    /// A radius that needs a model of its own, inside an insured policy.
    #[error(
        "a policy inside an insured one cannot have the radius `{kind}`; give that radius to the \
         insured policy, and use another one inside"
    )]
    Inside {
        /// As specs name it.
        kind: &'static str,
    },
    /// A policy with another model, inside an insured one with a generalised linear model.
    #[error(
        "inside an insured policy with the set logistic or poisson, a policy must have such a \
         model too: use laplace-ts, or epsilon-greedy with that radius"
    )]
    InsideGlm,
    /// A kind that cannot go on from such statistics: its next choice depends on more than them.
    #[error(
        "this kind of policy cannot go on from these statistics; use code, lin-ucb, lin-ts, \
         elimination, epsilon-greedy or explore-then-commit for actions with features, and code, \
         ucb1, thompson, epsilon-greedy or explore-then-commit for arms"
    )]
    Unresumable,
}

pub(super) type Built = Result<Box<dyn Durable + Send>, BuildError>;

/// What becomes of a policy once it is made. It is told the concrete type, which a policy around it
/// needs to know to be written down and read back.
pub(super) trait Finish {
    /// Whether it goes inside another policy. Such a policy has a plain model: every pair of models
    /// would otherwise be compiled, which doubles the size of the command.
    const INSIDE: bool;
    /// Whether the policy around it has a generalised linear model. The one inside then has one
    /// too, for the same reason.
    const INSIDE_GLM: bool = false;

    fn finish<P: Keep + Send + 'static>(self, policy: P) -> Built;
}

/// The policy as it is.
pub(super) struct Plain;

impl Finish for Plain {
    const INSIDE: bool = false;

    fn finish<P: Keep + Send + 'static>(self, policy: P) -> Built {
        Ok(Box::new(policy))
    }
}

/// The policy with forecasts, if its radius needs them.
struct Forecasted<F> {
    forecaster: Option<Forecaster>,
    finish: F,
}

impl<F: Finish> Finish for Forecasted<F> {
    const INSIDE: bool = F::INSIDE;
    const INSIDE_GLM: bool = F::INSIDE_GLM;

    fn finish<P: Keep + Send + 'static>(self, policy: P) -> Built {
        match self.forecaster {
            Some(forecaster) => self.finish.finish(Forecasting::new(policy, forecaster)),
            None => self.finish.finish(policy),
        }
    }
}

/// The policy, insured.
struct Insurer<E, const GLM: bool> {
    model: E,
    radius: Radius,
    kappa: f64,
    exclusion: Exclusion,
    count_pending: bool,
    forecaster: Option<Forecaster>,
}

impl<E: DurableModel + Send + 'static, const GLM: bool> Finish for Insurer<E, GLM> {
    const INSIDE: bool = true;
    const INSIDE_GLM: bool = GLM;

    fn finish<P: Keep + Send + 'static>(self, policy: P) -> Built {
        let insured = Insured::new(policy, self.model, self.radius, self.kappa)?;
        let insured = insured.excluding(self.exclusion);
        let insured = if self.count_pending { insured } else { insured.ignoring_pending() };
        Forecasted { forecaster: self.forecaster, finish: Plain }.finish(insured)
    }
}

/// What is made over the model that a radius needs.
trait OnModel {
    type Made;

    fn on<E: DurableModel + Send + 'static>(self, model: E) -> Result<Self::Made, BuildError>;

    /// The same over a generalised linear model.
    fn on_glm<E: DurableModel + Send + 'static>(self, model: E) -> Result<Self::Made, BuildError>
    where
        Self: Sized,
    {
        self.on(model)
    }
}

impl RadiusSpec {
    /// The model that goes with this radius; `ridge` is λ in V where it has one.
    ///
    /// # Errors
    /// If a parameter is out of range.
    pub fn model(
        &self,
        facts: &Facts,
        ridge: f64,
    ) -> Result<Box<dyn Estimator + Send>, BuildError> {
        self.with_model(facts, ridge, Boxed)
    }

    fn with_model<T: OnModel>(
        &self,
        facts: &Facts,
        ridge: f64,
        then: T,
    ) -> Result<T::Made, BuildError> {
        let &Facts { dim, actions, action_norm_bound, theta_norm_bound, .. } = facts;
        let then = Kept { then, actions, keeps: self.compares_pairs(facts) };
        if let Some(prior) = self.glm_prior(facts)? {
            return then.on_glm(Glm::new(dim, prior)?);
        }
        if self.kind != RadiusKind::Bell {
            return match facts.setting {
                Setting::Arms => then.then.on(ArmMeans::new(actions)),
                _ => then.on(Ridge::new(dim, ridge)?),
            };
        }
        let delta = self.ellipsoid_delta(facts);
        match facts.setting {
            Setting::Arms => then.on(BellArms::new(actions, delta)?),
            Setting::Fixed => then.on(BellRidge::awaiting(dim, delta)?),
            Setting::Changing => {
                then.on(BellRidge::in_context(dim, action_norm_bound, theta_norm_bound, delta)?)
            }
        }
    }

    /// The radius of a policy inside an insured one.
    fn build_inside(&self, facts: &Facts) -> Result<Radius, BuildError> {
        match self.kind {
            RadiusKind::Forecast
            | RadiusKind::Bell
            | RadiusKind::Logistic
            | RadiusKind::Poisson => Err(BuildError::Inside { kind: self.kind.name() }),
            _ => Ok(self.build(facts)?),
        }
    }

    /// The model of a policy that has no other.
    fn glm(&self, facts: &Facts) -> Result<Glm, BuildError> {
        // It judges no pairs, so no share of δ is for them.
        let prior = Self { pairs: false, ..*self }.glm_prior(facts)?;
        let prior = prior.ok_or(RadiusError::NoGlm { kind: self.kind.name() })?;
        Ok(Glm::new(facts.dim, prior)?)
    }

    fn forecaster(&self, facts: &Facts) -> Result<Option<Forecaster>, BuildError> {
        let radius = self.build(facts)?;
        let range = radius.range().filter(|_| radius.needs_forecasts());
        Ok(range.map(|range| Forecaster::new(facts.dim, range)).transpose()?)
    }
}

/// The model alone.
struct Boxed;

impl OnModel for Boxed {
    type Made = Box<dyn Estimator + Send>;

    fn on<E: DurableModel + Send + 'static>(self, model: E) -> Result<Self::Made, BuildError> {
        Ok(Box::new(model))
    }
}

/// Keeps what each action has paid, if pairs need it.
struct Kept<T> {
    then: T,
    actions: usize,
    keeps: bool,
}

impl<T: OnModel> OnModel for Kept<T> {
    type Made = T::Made;

    fn on<E: DurableModel + Send + 'static>(self, model: E) -> Result<Self::Made, BuildError> {
        if self.keeps {
            self.then.on(Tabled::new(model, self.actions))
        } else {
            self.then.on(model)
        }
    }

    fn on_glm<E: DurableModel + Send + 'static>(self, model: E) -> Result<Self::Made, BuildError> {
        if self.keeps {
            self.then.on_glm(Tabled::new(model, self.actions))
        } else {
            self.then.on_glm(model)
        }
    }
}

struct CodeOn<'a, F> {
    kind: &'a PolicyKind,
    radius: Radius,
    finish: F,
}

impl<F: Finish> OnModel for CodeOn<'_, F> {
    type Made = Box<dyn Durable + Send>;

    fn on<E: DurableModel + Send + 'static>(self, model: E) -> Built {
        self.kind.code_on(model, self.radius, Beside::nothing(), self.finish)
    }
}

struct UpperOn<F> {
    radius: Radius,
    finish: F,
}

impl<F: Finish> OnModel for UpperOn<F> {
    type Made = Box<dyn Durable + Send>;

    fn on<E: DurableModel + Send + 'static>(self, model: E) -> Built {
        self.finish.finish(LinUcb::new(model, self.radius))
    }
}

struct InsuredOn<'a> {
    spec: &'a PolicyKind,
    facts: &'a Facts,
}

impl OnModel for InsuredOn<'_> {
    type Made = Box<dyn Durable + Send>;

    fn on<E: DurableModel + Send + 'static>(self, model: E) -> Built {
        self.insured::<E, false>(model)
    }

    fn on_glm<E: DurableModel + Send + 'static>(self, model: E) -> Built {
        self.insured::<E, true>(model)
    }
}

impl InsuredOn<'_> {
    fn insured<E: DurableModel + Send + 'static, const GLM: bool>(self, model: E) -> Built {
        let PolicyKind::Insured { kappa, radius, exclusion, count_pending, ref inside, .. } =
            *self.spec
        else {
            unreachable!("only called for an insured policy");
        };
        let forecaster = radius.forecaster(self.facts)?;
        let radius = radius.build(self.facts)?;
        let insurer =
            Insurer::<E, GLM> { model, radius, kappa, exclusion, count_pending, forecaster };
        inside.make(self.facts, insurer)
    }
}

impl PolicySpec {
    /// A fresh policy for a problem.
    ///
    /// # Errors
    /// If a parameter is out of range.
    pub fn build(&self, facts: &Facts) -> Result<Box<dyn Durable + Send>, BuildError> {
        match self.kind {
            PolicyKind::Insured { radius, .. } => {
                let insured = InsuredOn { spec: &self.kind, facts };
                radius.with_model(facts, self.ridge_in(facts), insured)
            }
            _ => self.kind.make(facts, Plain),
        }
    }

    /// λ in V for a problem; 1 for kinds that are for arms only.
    pub fn ridge_in(&self, facts: &Facts) -> f64 {
        self.kind.ridge_in(facts)
    }
}

impl PolicyKind {
    fn make<F: Finish>(&self, facts: &Facts, finish: F) -> Built {
        if F::INSIDE_GLM {
            return self.make_glm(facts, finish);
        }
        let arms = facts.setting == Setting::Arms;
        let means = || ArmMeans::new(facts.actions);
        let ridge = || Ridge::new(facts.dim, self.ridge_in(facts));
        let noise = |set: Option<f64>| set.unwrap_or(facts.noise_scale);
        let n = facts.horizon;
        match *self {
            Self::Code { radius, .. } if F::INSIDE => {
                let radius = radius.build_inside(facts)?;
                if arms {
                    self.code_on(means(), radius, Beside::nothing(), finish)
                } else {
                    self.code_on(ridge()?, radius, Beside::nothing(), finish)
                }
            }
            Self::Code { radius, .. } => {
                let finish = Forecasted { forecaster: radius.forecaster(facts)?, finish };
                let code = CodeOn { kind: self, radius: radius.build(facts)?, finish };
                radius.with_model(facts, self.ridge_in(facts), code)
            }
            Self::Insured { .. } => Err(BuildError::Nested),
            Self::LinUcb { radius, .. } if F::INSIDE => {
                finish.finish(LinUcb::new(ridge()?, radius.build_inside(facts)?))
            }
            Self::LinUcb { radius, .. } => {
                let finish = Forecasted { forecaster: radius.forecaster(facts)?, finish };
                let upper = UpperOn { radius: radius.build(facts)?, finish };
                radius.with_model(facts, self.ridge_in(facts), upper)
            }
            Self::LinTs { noise_scale, .. } => {
                finish.finish(LinTs::new(ridge()?, noise(noise_scale))?)
            }
            Self::LaplaceTs { .. } | Self::EpsilonGreedy { radius: Some(_), .. } => {
                self.make_glm(facts, finish)
            }
            Self::Elimination { delta, .. } => finish.finish(Elimination::new(ridge()?, delta)?),
            // Greed alone, for insured policies.
            Self::EpsilonGreedy { epsilon: 0.0, .. } if arms => {
                finish.finish(EpsilonGreedy::constant(means(), 0.0)?)
            }
            Self::EpsilonGreedy { epsilon: 0.0, .. } => {
                finish.finish(EpsilonGreedy::constant(ridge()?, 0.0)?)
            }
            Self::EpsilonGreedy { epsilon, .. } if arms => {
                finish.finish(EpsilonGreedy::new(means(), epsilon, n)?)
            }
            Self::EpsilonGreedy { epsilon, exploration, .. } => {
                finish.finish(EpsilonGreedy::new(ridge()?, epsilon, n)?.exploring(exploration))
            }
            Self::ExploreThenCommit { epsilon, .. } if arms => {
                finish.finish(ExploreThenCommit::new(means(), epsilon, n)?)
            }
            Self::ExploreThenCommit { epsilon, exploration, .. } => {
                finish.finish(ExploreThenCommit::new(ridge()?, epsilon, n)?.exploring(exploration))
            }
            Self::Ucb1 { noise_scale } => {
                finish.finish(Ucb1::new(facts.actions, noise(noise_scale))?)
            }
            Self::Thompson { noise_scale } => {
                finish.finish(Thompson::new(facts.actions, noise(noise_scale))?)
            }
            Self::BetaThompson => finish.finish(BetaThompson::new(facts.actions)),
        }
    }

    /// A policy with a generalised linear model and no other set.
    fn make_glm<F: Finish>(&self, facts: &Facts, finish: F) -> Built {
        match *self {
            Self::LaplaceTs { radius } => finish.finish(LaplaceTs::new(radius.glm(facts)?)),
            Self::EpsilonGreedy { epsilon: 0.0, radius: Some(radius), .. } => {
                finish.finish(EpsilonGreedy::constant(radius.glm(facts)?, 0.0)?)
            }
            Self::EpsilonGreedy { epsilon, exploration, radius: Some(radius), .. } => {
                let policy = EpsilonGreedy::new(radius.glm(facts)?, epsilon, facts.horizon)?;
                finish.finish(policy.exploring(exploration))
            }
            _ => Err(BuildError::InsideGlm),
        }
    }

    /// CODE with this model and radius, and what it goes on from beside these.
    pub(super) fn code_on<
        E: DurableModel + Send + 'static,
        R: ConfidenceRadius + Clone + Send + 'static,
    >(
        &self,
        model: E,
        radius: R,
        Beside { design, explained }: Beside<E>,
        finish: impl Finish,
    ) -> Built {
        let Self::Code { exclusion, greed, target, randomise, count_pending, .. } = *self else {
            unreachable!("only called for a code policy");
        };
        let code = Code::new(model, radius).excluding(exclusion).tempered(greed)?;
        let code = if let Some(design) = design { code.with_design(design) } else { code };
        let code = if let Some(target) = target { code.to_target(target)? } else { code };
        let code = if count_pending { code } else { code.ignoring_pending() };
        let code = if let Some(explained) = explained { code.recalling(&explained) } else { code };
        if randomise > 0.0 {
            finish.finish(RandomisedCode::new(code, randomise)?)
        } else {
            finish.finish(code)
        }
    }

    fn ridge_in(&self, facts: &Facts) -> f64 {
        match *self {
            Self::Code { ridge: None, radius, .. }
            | Self::Insured { ridge: None, radius, .. }
            | Self::LinUcb { ridge: None, radius } => radius.natural_ridge(facts),
            _ => self.ridge(),
        }
    }
}

impl RadiusSpec {
    /// The ridge that suits this radius: `d·R²/S²` for the additive form, which balances its terms;
    /// `1/(10·S²)` for the forecast set, which pays for the ridge alone; else 1.
    pub fn natural_ridge(&self, facts: &Facts) -> f64 {
        let (noise, bound) = (self.noise_scale_in(facts), self.theta_norm_bound_in(facts));
        let ridge = match self.kind {
            RadiusKind::Additive => facts.dim as f64 * (noise / bound) * (noise / bound),
            RadiusKind::Forecast => 0.1 / (bound * bound),
            _ => 1.0,
        };
        // A bound of zero, or extreme constants.
        if ridge.is_nan() { 1.0 } else { ridge.clamp(1e-50, 1e50) }
    }
}
