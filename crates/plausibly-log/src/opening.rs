//! The settings that a log begins with. The first line records them; only the policy, the horizon
//! and the features can change later.

use crate::event::{Event, FORMAT};
use crate::log::LogError;
use crate::policy::{self, PolicyTable};
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
    /// How rows become features.
    pub recipe: Recipe,
}

impl Opening {
    /// A log that decides by CODE with its defaults.
    pub fn new(recipe: Recipe, reward_range: (f64, f64), seed: u64) -> Self {
        Self { policy: policy::code(), reward_range, horizon: None, seed, recipe }
    }

    /// Sets another policy. Its constants are in units of reward.
    #[must_use]
    pub fn deciding_by(mut self, kind: &PolicyKind) -> Self {
        self.policy = policy::table(kind, policy::setting(self.recipe.dim()));
        self
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

    /// Whether a log that has begun has the same settings, whatever its seed.
    pub fn is_that_of(&self, state: &State) -> bool {
        State::open(&self.clone().event()).is_ok_and(|own| {
            own.policy().1 == state.policy().1
                && own.reward_range() == state.reward_range()
                && own.horizon() == state.horizon()
                && own.recipe() == state.recipe()
        })
    }

    pub(crate) fn event(self) -> Event {
        let Self { policy, reward_range, horizon, seed, recipe } = self;
        Event::Opened { format: FORMAT, policy, reward_range, horizon, seed, recipe }
    }
}
