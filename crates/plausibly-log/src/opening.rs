//! The settings that a log begins with. The first line records them. Only the policy, the horizon,
//! the kind of outcomes and the features can change later.

use crate::assumed::assumed;
use crate::event::{Event, FORMAT, GROWTH, Outcomes, Window};
use crate::log::LogError;
use crate::policy::{self, Noise, PolicyTable, Rates};
use crate::recipe::Recipe;
use crate::state::{State, StepError};
use plausibly::spec::PolicyKind;

/// The settings that a log begins with.
#[derive(Clone, Debug)]
pub struct Opening {
    /// The policy that takes the decisions.
    pub policy: PolicyTable,
    /// The smallest and the largest reward there can be.
    pub reward_range: (f64, f64),
    /// The number of decisions expected in all, for policies that need it.
    pub horizon: Option<u64>,
    /// The seed of all randomness.
    pub seed: u64,
    /// What an outcome is.
    pub outcomes: Outcomes,
    /// How rows become features.
    pub recipe: Recipe,
    /// The number of features that the recipe may grow to. A recipe that has more at first cannot
    /// grow; [`GROWTH`] unless you know better.
    pub growth: u64,
    /// How long after its decision an outcome may come, and what happens without one; with `None`
    /// an outcome counts whenever it comes.
    pub window: Option<Window>,
}

impl Opening {
    /// A log that decides by the [default policy](policy::default_for).
    pub fn new(recipe: Recipe, reward_range: (f64, f64), seed: u64) -> Self {
        let outcomes = Outcomes::default();
        let policy = policy::default_for(&recipe, reward_range, outcomes);
        Self {
            policy,
            reward_range,
            horizon: None,
            seed,
            outcomes,
            recipe,
            growth: GROWTH,
            window: None,
        }
    }

    /// Says what an outcome is. The policy becomes the default one for such outcomes.
    #[must_use]
    pub fn about(self, outcomes: Outcomes) -> Self {
        let policy = policy::default_for(&self.recipe, self.reward_range, outcomes);
        Self { policy, outcomes, ..self }
    }

    /// Declares what is usual, and by what factor odds can differ from it.
    ///
    /// # Errors
    /// If the policy has no place for it, or a number is not one.
    pub fn usually(mut self, rates: Rates) -> Result<Self, LogError> {
        let declared = policy::declare_rates(&mut self.policy, rates, self.reward_range);
        declared.map_err(StepError::from)?;
        Ok(self)
    }

    /// Sets another policy. Its constants are in units of reward.
    #[must_use]
    pub fn deciding_by(mut self, kind: &PolicyKind) -> Self {
        self.policy = policy::table(kind, policy::setting(self.recipe.dim()));
        self
    }

    /// Declares how much outcomes of the same action scatter. With a number, about two thirds of
    /// them lie within it of their average.
    ///
    /// # Errors
    /// If outcomes in this range cannot scatter like that, or the policy has no place for it.
    pub fn scattering(mut self, noise: Noise) -> Result<Self, LogError> {
        let (low, high) = self.reward_range;
        let is_number = self.outcomes == Outcomes::Number;
        match noise {
            Noise::Scale(_) if !is_number => return Err(StepError::NoiseOfYesNo.into()),
            Noise::Bell if !is_number => {
                return Err(StepError::BellOfYesNo { outcomes: self.outcomes }.into());
            }
            Noise::Scale(noise) if !(noise > 0.0 && noise <= 0.5 * (high - low)) => {
                return Err(StepError::Noise { noise, low, high }.into());
            }
            _ => {}
        }
        let setting = policy::setting(self.recipe.dim());
        policy::declare_noise(&mut self.policy, noise, setting).map_err(StepError::from)?;
        Ok(self)
    }

    /// Whether a log could begin with these settings.
    ///
    /// # Errors
    /// If the settings are not consistent.
    pub fn check(&self) -> Result<(), LogError> {
        let setting = policy::setting(self.recipe.dim());
        policy::check_new_policy(&self.policy, setting, self.horizon, FORMAT)
            .map_err(StepError::from)?;
        State::open(&self.clone().event())?;
        Ok(())
    }

    /// What a log with these settings assumes, one sentence each: what an outcome is, how outcomes
    /// scatter, how sure statements are. A log records them when it begins.
    ///
    /// # Errors
    /// If a log could not begin with these settings.
    pub fn assumed(&self) -> Result<Vec<String>, LogError> {
        self.check()?;
        let state = State::open(&self.clone().event())?;
        Ok(assumed(&state, state.policy().0, state.outcomes()))
    }

    /// The policy with every field, as a log records it when it begins.
    ///
    /// # Errors
    /// If a log could not begin with these settings.
    pub fn resolved_policy(&self) -> Result<PolicyTable, LogError> {
        Ok(State::open(&self.clone().event())?.policy().1.clone())
    }

    /// Whether a log that has begun has the same settings, whatever its seed.
    pub fn is_that_of(&self, state: &State) -> bool {
        State::open(&self.clone().event()).is_ok_and(|own| {
            own.policy().1 == state.policy().1
                && own.reward_range() == state.reward_range()
                && own.outcomes() == state.outcomes()
                && own.horizon() == state.horizon()
                && own.recipe() == state.recipe()
                && own.most_features() == state.most_features()
                && own.window() == state.window()
        })
    }

    pub(crate) fn event(self) -> Event {
        let Self { policy, reward_range, horizon, seed, outcomes, recipe, growth, window } = self;
        Event::Opened {
            format: FORMAT,
            policy,
            reward_range,
            horizon,
            seed,
            outcomes,
            assumed: Vec::new(),
            upgraded: None,
            growth: Some(growth),
            window,
            recipe,
        }
    }
}
