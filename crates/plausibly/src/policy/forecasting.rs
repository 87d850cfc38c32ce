//! A policy with a forecast for every reward.

use super::queue::Queue;
use super::{DeadlineStatus, Explain, Policy, Target, check_reward, outcomes};
use crate::actions::{Action, ActionIndex, Actions};
use crate::arms::ArmMove;
use crate::confidence::{ConfidenceRadius, Exclusion};
use crate::explain::Explanation;
use crate::model::{Estimator, ForecastChoice, Forecaster, Misfit, Outcome};
use crate::rng::Stream;
use crate::state::{Keep, Reader, StateError, Writer, holds};
use std::collections::VecDeque;

/// How many decisions that were selected and not announced are kept.
const MOST_SELECTED: usize = 100;

/// Forecasts each reward when its decision is taken, and hands the forecast to a policy together
/// with the reward.
///
/// The forecast set ([`Forecast`](crate::Forecast)) needs forecasts that were fixed before their
/// rewards were seen. Here that is when [`Policy::select`] takes the decision, or when
/// [`Policy::decided`] announces one that was taken elsewhere. A reward of an action that was
/// neither is forecast just before it is learned. Forecasts made at decisions keep the set
/// independent of the order in which rewards arrive.
///
/// Decisions of which nothing was heard after [`Policy::select`] may never have been carried out,
/// so only the last 100 of them are kept.
///
/// # Cost
/// That of the policy and of a [`Forecaster`]. No draws.
///
/// # Example
/// ```
/// use plausibly::{ActionSet, Code, Forecast, Forecaster, Forecasting, Policy, Ridge, Stream};
/// let set = ActionSet::from_rows(&[[1.0, 0.0], [1.0, 1.0]])?;
/// let radius = Forecast {
///     delta: 0.05, noise_scale: 0.5, theta_norm_bound: 1.0, low: -0.5, high: 0.5, pairs: false,
/// };
/// let code = Code::new(Ridge::new(2, 0.1)?, radius);
/// let mut policy = Forecasting::new(code, Forecaster::new(2, (-0.5, 0.5))?);
/// let mut rng = Stream::new(1, 0, "policy");
/// for _ in 0..20 {
///     let chosen = policy.select(set.view(), &mut rng);
///     let action = set.view().get(chosen);
///     policy.decided(action);
///     policy.update(action, [-0.2, 0.3][chosen]);
/// }
/// assert_eq!(policy.select(set.view(), &mut rng), 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Forecasting<P> {
    policy: P,
    forecaster: Forecaster,
    /// Decisions that were announced.
    announced: Forecasts,
    /// Decisions that were selected and not announced.
    selected: Forecasts,
    /// Whether the first set was searched for an intercept.
    searched: bool,
}

impl<P> Forecasting<P> {
    /// This policy with forecasts by this forecaster.
    pub fn new(policy: P, forecaster: Forecaster) -> Self {
        Self {
            policy,
            forecaster,
            announced: Forecasts::default(),
            selected: Forecasts::default(),
            searched: false,
        }
    }

    /// Takes out the forecast of a decision for this action.
    fn known(&mut self, action: Action<'_>) -> Option<ForecastChoice> {
        self.announced.take(action).or_else(|| self.selected.take_latest(action))
    }

    /// The forecast of a decision whose reward has come, or one made now if none was made.
    fn forecast_of(&mut self, action: Action<'_>) -> ForecastChoice {
        self.known(action).unwrap_or_else(|| self.forecaster.forecast(action))
    }
}

/// Decisions with outstanding rewards and their forecasts, the oldest first.
#[derive(Clone, Debug, Default)]
struct Forecasts {
    waiting: Queue,
    forecasts: VecDeque<ForecastChoice>,
}

impl Forecasts {
    fn push(&mut self, action: Action<'_>, forecast: ForecastChoice) {
        self.waiting.push(action);
        self.forecasts.push_back(forecast);
    }

    /// Takes out the oldest decision for this action.
    fn take(&mut self, action: Action<'_>) -> Option<ForecastChoice> {
        let place = self.waiting.remove(action)?;
        self.forecasts.remove(place)
    }

    /// Takes out the latest decision for this action: earlier ones may not have been carried out.
    fn take_latest(&mut self, action: Action<'_>) -> Option<ForecastChoice> {
        let place = self.waiting.remove_latest(action)?;
        self.forecasts.remove(place)
    }

    fn write(&self, out: &mut Writer) {
        self.waiting.write(out);
        let numbers: Vec<f64> =
            self.forecasts.iter().flat_map(|forecast| forecast.to_numbers()).collect();
        out.numbers(&numbers);
    }

    fn read(from: &mut Reader<'_>, forecaster: &Forecaster) -> Result<Self, StateError> {
        let waiting = Queue::read(from, forecaster.takes())?;
        let numbers = from.some_numbers("forecasts")?;
        let (rows, rest) = numbers.as_chunks::<4>();
        let forecasts = rows.iter().map(|row| ForecastChoice::from_numbers(*row));
        let forecasts: Option<VecDeque<_>> = forecasts.collect();
        let forecasts = forecasts.ok_or(StateError::Number { what: "forecasts" })?;
        let decisions = waiting.indices().count();
        holds("forecasts", rest.is_empty() && forecasts.len() == decisions)?;
        Ok(Self { waiting, forecasts })
    }
}

/// The first feature that is 1 in every action of a set of several.
fn intercept(actions: Actions<'_>) -> Option<usize> {
    let constant = |feature: &usize| {
        actions.iter().all(|action| action.features()[*feature].to_bits() == 1.0_f64.to_bits())
    };
    (0..actions.dim()).find(constant).filter(|_| actions.len() > 1)
}

impl<P: Policy> Policy for Forecasting<P> {
    fn select(&mut self, actions: Actions<'_>, rng: &mut Stream) -> ActionIndex {
        if !self.searched {
            self.searched = true;
            if let Some(feature) = intercept(actions) {
                self.forecaster.set_intercept(feature);
            }
        }
        let chosen = self.policy.select(actions, rng);
        let action = actions.get(chosen);
        if self.selected.forecasts.len() == MOST_SELECTED {
            self.selected.waiting.remove_at(0);
            self.selected.forecasts.pop_front();
        }
        self.selected.push(action, self.forecaster.forecast(action));
        chosen
    }

    fn select_among(
        &mut self,
        actions: Actions<'_>,
        among: &[ActionIndex],
        rng: &mut Stream,
    ) -> Option<ActionIndex> {
        self.policy.select_among(actions, among, rng)
    }

    fn reward_range(&self) -> Option<(f64, f64)> {
        self.policy.reward_range()
    }

    fn update(&mut self, action: Action<'_>, reward: f64) {
        let forecast = self.forecast_of(action);
        let counted = Some(forecast.counted());
        self.policy.learn(action, Outcome { forecast: counted, ..Outcome::from(reward) });
        self.forecaster.learn(action, reward, forecast);
    }

    fn count(&mut self, action: Action<'_>, successes: u64, of: u64) {
        let forecast = self.forecast_of(action);
        for outcome in outcomes(successes, of, Some(forecast.counted())) {
            self.policy.learn(action, outcome);
            self.forecaster.learn(action, outcome.reward, forecast);
        }
    }

    fn decided(&mut self, action: Action<'_>) {
        let forecast = self.selected.take_latest(action);
        let forecast = forecast.unwrap_or_else(|| self.forecaster.forecast(action));
        self.announced.push(action, forecast);
        self.policy.decided(action);
    }

    fn dropped(&mut self, action: Action<'_>) {
        self.known(action);
        self.policy.dropped(action);
    }
}

impl<P: Explain> Explain for Forecasting<P> {
    fn model(&self) -> &dyn Estimator {
        self.policy.model()
    }

    fn radius(&self) -> Option<&dyn ConfidenceRadius> {
        self.policy.radius()
    }

    fn exclusion(&self) -> Exclusion {
        self.policy.exclusion()
    }

    fn target(&self) -> Option<Target> {
        self.policy.target()
    }

    fn deadline(&self) -> Option<DeadlineStatus> {
        self.policy.deadline()
    }

    fn try_update(&mut self, action: Action<'_>, reward: f64) -> Result<(), Misfit> {
        let shape = self.model().shape();
        shape.map_or(Ok(()), |shape| shape.check_reward(action, reward))?;
        check_reward(self.reward_range(), reward)?;
        self.update(action, reward);
        Ok(())
    }

    fn explain(
        &self,
        actions: Actions<'_>,
        radius: &dyn ConfidenceRadius,
        exclusion: Exclusion,
        out: &mut Explanation,
    ) {
        self.policy.explain(actions, radius, exclusion, out);
    }
}

impl<P: Keep> Keep for Forecasting<P> {
    const KIND: &'static str = P::KIND;

    fn write(&self, out: &mut Writer) {
        self.policy.write(out);
        self.forecaster.write(out);
        self.announced.write(out);
        self.selected.write(out);
        out.flag(self.searched);
    }

    fn read(&mut self, from: &mut Reader<'_>) -> Result<(), StateError> {
        self.policy.read(from)?;
        self.forecaster.read(from)?;
        self.announced = Forecasts::read(from, &self.forecaster)?;
        self.selected = Forecasts::read(from, &self.forecaster)?;
        let selected = self.selected.forecasts.len();
        holds("forecasts", selected <= MOST_SELECTED)?;
        self.searched = from.flag("forecaster.searched")?;
        Ok(())
    }

    fn move_arms(&mut self, moved: &mut ArmMove<'_>) {
        self.policy.move_arms(moved);
    }
}
