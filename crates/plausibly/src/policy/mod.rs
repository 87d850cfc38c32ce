//! Policies: which action to take next.
//!
//! One policy a file, each reading like its page of the paper. All of them break ties towards the
//! lowest index.

mod beta_thompson;
mod coarse;
mod code;
mod deadline;
mod elimination;
mod epsilon_greedy;
mod exploration;
mod explore_then_commit;
mod forecasting;
mod insured;
mod laplace_ts;
mod lin_ts;
mod lin_ucb;
mod pending;
mod queue;
mod randomised;
mod shared_draws;
mod target;
mod thompson;
mod ucb1;

pub use beta_thompson::BetaThompson;
pub use code::Code;
pub use deadline::{DeadlineOutcome, DeadlineStatus};
pub use elimination::{Elimination, Phase, Plays, Quota};
pub use epsilon_greedy::EpsilonGreedy;
pub use exploration::Exploration;
pub use explore_then_commit::ExploreThenCommit;
pub(crate) use explore_then_commit::exploring_rounds;
pub use forecasting::Forecasting;
pub use insured::{Decider, Insured};
pub use laplace_ts::LaplaceTs;
pub use lin_ts::LinTs;
pub use lin_ucb::LinUcb;
pub use randomised::RandomisedCode;
pub use shared_draws::SharedDraws;
pub use target::{Target, TargetStatus};
pub use thompson::Thompson;
pub use ucb1::Ucb1;

use crate::actions::{Action, ActionIndex, Actions, MAX_MAGNITUDE};
use crate::confidence::{ConfidenceRadius, Exclusion};
use crate::explain::Explanation;
use crate::linalg::Isa;
use crate::model::{Estimator, Misfit, Outcome};
use crate::rng::Stream;
use thiserror::Error;

/// An algorithm that chooses actions: the only trait a new one must implement.
///
/// The whole set is handed over once a round, so a `Box<dyn Policy>` costs nanoseconds a round, not
/// an action.
pub trait Policy {
    /// The action to take next. All randomness comes from `rng`.
    ///
    /// # Panics
    /// If the actions do not fit the policy (another number of features, or of arms).
    fn select(&mut self, actions: Actions<'_>, rng: &mut Stream) -> ActionIndex;

    /// What the policy takes instead of the action that [`Policy::select`] has just chosen, if only
    /// these may be taken: its best one of them. They ascend, and there is at least one. `None`,
    /// the default, if the policy does not rank actions. [`Insured`] asks this of a policy that
    /// wants an action which is ruled out.
    ///
    /// # Panics
    /// As [`Policy::select`].
    fn select_among(
        &mut self,
        _: Actions<'_>,
        _among: &[ActionIndex],
        _: &mut Stream,
    ) -> Option<ActionIndex> {
        None
    }

    /// The least and the largest reward that the policy takes; `None`, the default, if every finite
    /// one will do.
    fn reward_range(&self) -> Option<(f64, f64)> {
        None
    }

    /// Learns the reward of an action that was taken, now or earlier.
    ///
    /// # Panics
    /// If the action does not fit the policy, or the reward is not finite, beyond
    /// [`crate::MAX_MAGNITUDE`] or outside of [`Policy::reward_range`].
    fn update(&mut self, action: Action<'_>, reward: f64);

    /// Learns a reward together with its forecast. The default ignores the forecast, as policies do
    /// that decide by no set of forecasts.
    ///
    /// # Panics
    /// As [`Policy::update`].
    fn learn(&mut self, action: Action<'_>, outcome: Outcome) {
        self.update(action, outcome.reward);
    }

    /// Learns how many of the outcomes of one decision were yes: as many single rewards of 1, and
    /// then of 0, of which only the first settles the decision. They all have the forecast of the
    /// decision, so their order makes no difference to a set.
    ///
    /// # Panics
    /// As [`Policy::update`], or if there are more successes than outcomes.
    fn count(&mut self, action: Action<'_>, successes: u64, of: u64) {
        outcomes(successes, of, None).for_each(|outcome| self.learn(action, outcome));
    }

    /// An action was taken, and its reward is outstanding until [`Policy::update`] brings it. Where
    /// rewards may come after the next choice, call it once after each choice; where they come
    /// before, it changes nothing. [`Code`] counts such decisions in its design at once;
    /// [`Elimination`] plays a dropped one again; the other policies do not care.
    fn decided(&mut self, _: Action<'_>) {}

    /// The reward of an action that was taken, and told to [`Policy::decided`], will never come.
    fn dropped(&mut self, _: Action<'_>) {}
}

/// A policy that can explain its estimates and its choice.
///
/// An explanation takes `&self` and no randomness, so asking for one cannot change a later choice.
pub trait Explain: Policy {
    /// What has been learned, from all of the policy's data.
    fn model(&self) -> &dyn Estimator;

    /// The radius the policy itself decides by; `None`, the default, if it decides by none.
    fn radius(&self) -> Option<&dyn ConfidenceRadius> {
        None
    }

    /// What rules actions out in its choices, if it keeps to plausible actions; differences by
    /// default.
    fn exclusion(&self) -> Exclusion {
        Exclusion::default()
    }

    /// Like [`Policy::select`], for actions that may not fit.
    ///
    /// # Errors
    /// If they do not fit the model; the policy is unchanged then.
    fn try_select(
        &mut self,
        actions: Actions<'_>,
        rng: &mut Stream,
    ) -> Result<ActionIndex, Misfit> {
        self.model().shape().map_or(Ok(()), |shape| shape.check(actions))?;
        Ok(self.select(actions, rng))
    }

    /// Like [`Policy::update`], for an action or a reward that may not fit.
    ///
    /// # Errors
    /// If the action does not fit the model, or the reward is not finite, beyond
    /// [`crate::MAX_MAGNITUDE`] or outside of [`Policy::reward_range`]; the policy is unchanged
    /// then.
    fn try_update(&mut self, action: Action<'_>, reward: f64) -> Result<(), Misfit> {
        self.model().shape().map_or(Ok(()), |shape| shape.check_reward(action, reward))?;
        self.model().check_reward(reward)?;
        check_reward(self.reward_range(), reward)?;
        self.radius().map_or(Ok(()), |radius| check_forecast(radius, None))?;
        self.update(action, reward);
        Ok(())
    }

    /// Like [`Policy::learn`], for an action, a reward or a forecast that may not fit.
    ///
    /// # Errors
    /// As [`Explain::try_update`], and if the forecast is not finite or beyond
    /// [`crate::MAX_MAGNITUDE`], or missing where the radius needs one; the policy is unchanged
    /// then.
    fn try_learn(&mut self, action: Action<'_>, outcome: Outcome) -> Result<(), Misfit> {
        let shape = self.model().shape();
        shape.map_or(Ok(()), |shape| shape.check_reward(action, outcome.reward))?;
        self.model().check_reward(outcome.reward)?;
        check_reward(self.reward_range(), outcome.reward)?;
        self.radius().map_or(Ok(()), |radius| check_forecast(radius, outcome.forecast))?;
        self.learn(action, outcome);
        Ok(())
    }

    /// What the policy explores for; `None`, the default, if it has no target.
    fn target(&self) -> Option<Target> {
        None
    }

    /// What became of the deadline of its target; `None`, the default, if that has none.
    fn deadline(&self) -> Option<DeadlineStatus> {
        None
    }

    /// Fills `out` with intervals and standings of all actions: this policy's estimates under
    /// `radius`, with actions ruled out by `exclusion`. Pass [`Explain::radius`] and
    /// [`Explain::exclusion`] to see the choice through the policy's own eyes.
    fn explain(
        &self,
        actions: Actions<'_>,
        radius: &dyn ConfidenceRadius,
        exclusion: Exclusion,
        out: &mut Explanation,
    ) {
        out.fill(self.model(), radius, exclusion, actions);
        out.note_target(self.target(), self.deadline(), &self.model().evidence());
    }
}

impl<P: Policy + ?Sized> Policy for Box<P> {
    fn select(&mut self, actions: Actions<'_>, rng: &mut Stream) -> ActionIndex {
        (**self).select(actions, rng)
    }

    fn select_among(
        &mut self,
        actions: Actions<'_>,
        among: &[ActionIndex],
        rng: &mut Stream,
    ) -> Option<ActionIndex> {
        (**self).select_among(actions, among, rng)
    }

    fn reward_range(&self) -> Option<(f64, f64)> {
        (**self).reward_range()
    }

    fn update(&mut self, action: Action<'_>, reward: f64) {
        (**self).update(action, reward);
    }

    fn learn(&mut self, action: Action<'_>, outcome: Outcome) {
        (**self).learn(action, outcome);
    }

    fn count(&mut self, action: Action<'_>, successes: u64, of: u64) {
        (**self).count(action, successes, of);
    }

    fn decided(&mut self, action: Action<'_>) {
        (**self).decided(action);
    }

    fn dropped(&mut self, action: Action<'_>) {
        (**self).dropped(action);
    }
}

impl<P: Policy + ?Sized> Policy for &mut P {
    fn select(&mut self, actions: Actions<'_>, rng: &mut Stream) -> ActionIndex {
        (**self).select(actions, rng)
    }

    fn select_among(
        &mut self,
        actions: Actions<'_>,
        among: &[ActionIndex],
        rng: &mut Stream,
    ) -> Option<ActionIndex> {
        (**self).select_among(actions, among, rng)
    }

    fn reward_range(&self) -> Option<(f64, f64)> {
        (**self).reward_range()
    }

    fn update(&mut self, action: Action<'_>, reward: f64) {
        (**self).update(action, reward);
    }

    fn learn(&mut self, action: Action<'_>, outcome: Outcome) {
        (**self).learn(action, outcome);
    }

    fn count(&mut self, action: Action<'_>, successes: u64, of: u64) {
        (**self).count(action, successes, of);
    }

    fn decided(&mut self, action: Action<'_>) {
        (**self).decided(action);
    }

    fn dropped(&mut self, action: Action<'_>) {
        (**self).dropped(action);
    }
}

impl<P: Explain + ?Sized> Explain for Box<P> {
    fn model(&self) -> &dyn Estimator {
        (**self).model()
    }

    fn radius(&self) -> Option<&dyn ConfidenceRadius> {
        (**self).radius()
    }

    fn exclusion(&self) -> Exclusion {
        (**self).exclusion()
    }

    fn try_update(&mut self, action: Action<'_>, reward: f64) -> Result<(), Misfit> {
        (**self).try_update(action, reward)
    }

    fn target(&self) -> Option<Target> {
        (**self).target()
    }

    fn deadline(&self) -> Option<DeadlineStatus> {
        (**self).deadline()
    }

    fn explain(
        &self,
        actions: Actions<'_>,
        radius: &dyn ConfidenceRadius,
        exclusion: Exclusion,
        out: &mut Explanation,
    ) {
        (**self).explain(actions, radius, exclusion, out);
    }
}

/// Why the parameters of a policy were refused.
#[derive(Clone, Copy, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum PolicyError {
    /// Outside (0, 1].
    #[error("epsilon must be above 0 and at most 1, got {epsilon}")]
    Epsilon {
        /// The value refused.
        epsilon: f64,
    },
    /// Outside (0, 1).
    #[error("delta must be between 0 and 1, both excluded, got {delta}")]
    Delta {
        /// The value refused.
        delta: f64,
    },
    /// Outside [0, 1].
    #[error("greed must be from 0 to 1, got {greed}")]
    Greed {
        /// The value refused.
        greed: f64,
    },
    /// Outside [0, 1).
    #[error("share must be from 0 to below 1, got {share}")]
    Share {
        /// The value refused.
        share: f64,
    },
    /// A target that is not positive, or extreme, or due in no round.
    #[error(
        "a target must be above 0 and at most 1e50, got {value}, and its deadline a round from 1"
    )]
    Target {
        /// The value refused.
        value: f64,
    },
    /// A deadline with a radius for bounded arms, or with a [`Glm`](crate::Glm).
    #[error(
        "no deadline can be promised here, because the length of intervals depends on rewards to \
         come; use accuracy without by_round or, for arms, the radius mixture"
    )]
    BoundedDeadline,
    /// A model whose gram matrix has no Cholesky factor to sample with.
    #[error("the gram matrix is not positive definite (pivot {pivot})")]
    Singular {
        /// Which pivot failed.
        pivot: usize,
    },
    /// Not positive, or extreme.
    #[error("noise_scale must be between 1e-50 and 1e50, got {noise_scale}")]
    NoiseScale {
        /// The value refused.
        noise_scale: f64,
    },
}

/// The single outcomes of a count.
///
/// # Panics
/// If there are more successes than outcomes.
fn outcomes(successes: u64, of: u64, forecast: Option<f64>) -> impl Iterator<Item = Outcome> {
    assert!(successes <= of, "{successes} successes of {of} outcomes");
    (0..of).map(move |place| Outcome {
        reward: if place < successes { 1.0 } else { 0.0 },
        forecast,
        further: place > 0,
    })
}

fn check_epsilon(epsilon: f64) -> Result<(), PolicyError> {
    if epsilon > 0.0 && epsilon <= 1.0 { Ok(()) } else { Err(PolicyError::Epsilon { epsilon }) }
}

fn check_noise_scale(noise_scale: f64) -> Result<(), PolicyError> {
    if (1e-50..=1e50).contains(&noise_scale) {
        Ok(())
    } else {
        Err(PolicyError::NoiseScale { noise_scale })
    }
}

fn check_reward(range: Option<(f64, f64)>, reward: f64) -> Result<(), Misfit> {
    match range {
        Some((low, high)) if !(low..=high).contains(&reward) => {
            Err(Misfit::RewardRange { reward, low, high })
        }
        _ => Ok(()),
    }
}

/// A reward outside of the range would break what the policy promises for good.
fn assert_taken(policy: &impl Policy, reward: f64) {
    if let Err(misfit) = check_reward(policy.reward_range(), reward) {
        panic!("{misfit}");
    }
}

fn check_forecast<R: ConfidenceRadius + ?Sized>(
    radius: &R,
    forecast: Option<f64>,
) -> Result<(), Misfit> {
    match forecast {
        None if radius.needs_forecasts() => Err(Misfit::NoForecast),
        Some(forecast) if forecast.is_nan() || forecast.abs() > MAX_MAGNITUDE => {
            Err(Misfit::Forecast { forecast })
        }
        _ => Ok(()),
    }
}

/// Refuses what would break the promise of a radius for good: a reward outside of its range, and a
/// reward without a forecast where it needs one.
fn assert_outcome<R: ConfidenceRadius + ?Sized>(radius: &R, outcome: Outcome) {
    let Outcome { reward, forecast, .. } = outcome;
    let checked = check_reward(radius.range(), reward);
    if let Err(misfit) = checked.and_then(|()| check_forecast(radius, forecast)) {
        panic!("{misfit}");
    }
}

/// The first of these actions with the largest value.
fn best_among(among: &[ActionIndex], value: impl Fn(ActionIndex) -> f64) -> Option<ActionIndex> {
    let valued = among.iter().map(|action| (*action, value(*action)));
    valued.reduce(|best, next| if next.1 > best.1 { next } else { best }).map(|best| best.0)
}

/// The first position of the largest value.
fn argmax(values: &[f64]) -> ActionIndex {
    Isa::detect().argmax(values)
}
