//! Makes policies from their specs.

use super::policy::{PolicyKind, PolicySpec};
use super::radius::{RadiusKind, RadiusSpec};
use super::{Facts, Setting};
use crate::confidence::{ConfidenceRadius, Exclusion, Radius, RadiusError};
use crate::model::{ArmMeans, Ridge, RidgeError};
use crate::policy::{
    BetaThompson, Code, Elimination, EpsilonGreedy, ExploreThenCommit, Insured, LinTs, LinUcb,
    PolicyError, RandomisedCode, Thompson, Ucb1,
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
    fn finish<P: Keep + Send + 'static>(self, policy: P) -> Built;
}

/// The policy as it is.
pub(super) struct Plain;

impl Finish for Plain {
    fn finish<P: Keep + Send + 'static>(self, policy: P) -> Built {
        Ok(Box::new(policy))
    }
}

/// The policy, insured.
struct Insurer<E> {
    model: E,
    radius: Radius,
    kappa: f64,
    exclusion: Exclusion,
    count_pending: bool,
}

impl<E: DurableModel + Send + 'static> Finish for Insurer<E> {
    fn finish<P: Keep + Send + 'static>(self, policy: P) -> Built {
        let insured = Insured::new(policy, self.model, self.radius, self.kappa)?;
        let insured = insured.excluding(self.exclusion);
        Ok(Box::new(if self.count_pending { insured } else { insured.ignoring_pending() }))
    }
}

impl PolicySpec {
    /// A fresh policy for a problem.
    ///
    /// # Errors
    /// If a parameter is out of range.
    pub fn build(&self, facts: &Facts) -> Result<Box<dyn Durable + Send>, BuildError> {
        let PolicyKind::Insured { kappa, radius, exclusion, count_pending, ref inside, .. } =
            self.kind
        else {
            return self.kind.make(facts, Plain);
        };
        let radius = radius.build(facts)?;
        if facts.setting == Setting::Arms {
            let model = ArmMeans::new(facts.actions);
            inside.make(facts, Insurer { model, radius, kappa, exclusion, count_pending })
        } else {
            let model = Ridge::new(facts.dim, self.ridge_in(facts))?;
            inside.make(facts, Insurer { model, radius, kappa, exclusion, count_pending })
        }
    }

    /// λ in V for a problem; 1 for kinds that are for arms only.
    pub fn ridge_in(&self, facts: &Facts) -> f64 {
        self.kind.ridge_in(facts)
    }
}

impl PolicyKind {
    fn make(&self, facts: &Facts, finish: impl Finish) -> Built {
        let arms = facts.setting == Setting::Arms;
        let means = || ArmMeans::new(facts.actions);
        let ridge = || Ridge::new(facts.dim, self.ridge_in(facts));
        let noise = |set: Option<f64>| set.unwrap_or(facts.noise_scale);
        let n = facts.horizon;
        match *self {
            Self::Code { radius, .. } if arms => {
                self.code_on(means(), radius.build(facts)?, None, finish)
            }
            Self::Code { radius, .. } => self.code_on(ridge()?, radius.build(facts)?, None, finish),
            Self::Insured { .. } => Err(BuildError::Nested),
            Self::LinUcb { radius, .. } => {
                finish.finish(LinUcb::new(ridge()?, radius.build(facts)?))
            }
            Self::LinTs { noise_scale, .. } => {
                finish.finish(LinTs::new(ridge()?, noise(noise_scale))?)
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

    /// CODE with this model and radius and, if decisions are pending, with the model that counts
    /// them as `design`.
    pub(super) fn code_on<
        E: DurableModel + Send + 'static,
        R: ConfidenceRadius + Clone + Send + 'static,
    >(
        &self,
        model: E,
        radius: R,
        design: Option<E>,
        finish: impl Finish,
    ) -> Built {
        let Self::Code { exclusion, greed, target, randomise, count_pending, .. } = *self else {
            unreachable!("only called for a code policy");
        };
        let code = Code::new(model, radius).excluding(exclusion).tempered(greed)?;
        let code = if let Some(design) = design { code.with_design(design) } else { code };
        let code = if let Some(target) = target { code.to_target(target)? } else { code };
        let code = if count_pending { code } else { code.ignoring_pending() };
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
    /// else 1.
    pub fn natural_ridge(&self, facts: &Facts) -> f64 {
        if self.kind != RadiusKind::Additive {
            return 1.0;
        }
        let (noise, bound) = (self.noise_scale_in(facts), self.theta_norm_bound_in(facts));
        let ridge = facts.dim as f64 * (noise / bound) * (noise / bound);
        // A bound of zero, or extreme constants.
        if ridge.is_nan() { 1.0 } else { ridge.clamp(1e-50, 1e50) }
    }
}
