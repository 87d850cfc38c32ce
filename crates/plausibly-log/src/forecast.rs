//! What the reward of a decision is forecast to be: by the best of three ridges on the settled
//! rewards. Any forecast that stands in the log before its reward keeps the confidence set valid; a
//! good one makes it small.

use crate::certificate::{Grounds, Sums};
use crate::event::{Event, RecordedForecasts};
use crate::fold::fold;
use crate::journal::Storage;
use crate::log::LogError;
use crate::recipe::Context;
use crate::scale::Scale;
use crate::state::{State, StepError};
use plausibly::{ActionSet, Forecaster, ForecasterSums, Forecasts, RidgeError};

/// The name of the feature that is 1 in every action, where there is one.
const INTERCEPT: &str = "intercept";

/// What forecasts are made from.
struct Basis<'a> {
    sums: &'a Sums,
    ridge: f64,
    errors: [f64; 3],
    has_intercept: bool,
    scale: Scale,
}

impl Basis<'_> {
    /// The forecasts for an action.
    fn forecast(&self, features: &[f64]) -> Result<RecordedForecasts, RidgeError> {
        let Sums { gram, moment, observations, .. } = self.sums;
        let gram = gram.concat();
        let sums = ForecasterSums {
            gram: &gram,
            ridge: self.ridge,
            moment,
            observations: *observations,
            errors: self.errors,
        };
        let intercept = self.has_intercept.then_some(0);
        let forecaster = Forecaster::from_sums(self.scale.ends(), intercept, sums)?;
        let one = ActionSet::from_rows(&[features]).expect("features of a log are finite");
        let made = forecaster.forecast(one.view().get(0));
        let forecasts = Forecasts::new(made.candidates(), made.counts());
        let forecasts = forecasts.expect("forecasts are cut to the range of rewards");
        let counts = u8::try_from(forecasts.counts()).expect("there are three");
        Ok(RecordedForecasts { steps: forecasts.steps(), counts })
    }
}

impl Grounds {
    /// What the reward of the action at this place is forecast to be, where decisions record that.
    pub(crate) fn forecast(
        &self,
        place: usize,
        ridge: f64,
    ) -> Result<Option<RecordedForecasts>, RidgeError> {
        let Some(forecasts) = self.forecasts else { return Ok(None) };
        let basis = Basis {
            sums: &self.statistics,
            ridge,
            errors: forecasts.errors,
            has_intercept: !self.as_given && self.features.first().is_some_and(|f| f == INTERCEPT),
            scale: Scale::new(self.reward_range, self.as_given),
        };
        basis.forecast(&self.actions[place].features).map(Some)
    }
}

/// Checks that the forecasts of all decisions up to this one are those that follow from the lines
/// before them.
///
/// # Errors
/// [`LogError::Forecast`] names the first that does not follow. Other errors if the log is damaged.
pub fn check_forecasts<S: Storage>(storage: &S, up_to: u64) -> Result<(), LogError> {
    fold(storage, |step| {
        let Event::Decided { decision, context, chosen, forecasts: Some(recorded), .. } =
            step.event
        else {
            return Ok(());
        };
        if *decision > up_to || step.state.forecast(*chosen, context)? == *recorded {
            return Ok(());
        }
        Err(LogError::Forecast { seq: step.entry.seq, decision: *decision })
    })?;
    Ok(())
}

impl State {
    /// What the reward of an action in a context is forecast to be.
    pub(crate) fn forecast(
        &self,
        action: u64,
        context: &Context,
    ) -> Result<RecordedForecasts, LogError> {
        let unknown = StepError::Unknown { what: "action", number: action };
        let offered = self.offered(&[action], context)?.pop().ok_or(unknown)?;
        let (ridge, recipe) = (self.policy().0.ridge(), self.recipe());
        let basis = Basis {
            sums: &self.statistics().settled(&[], ridge),
            ridge,
            errors: self.statistics().forecasts().map_or([0.0; 3], |forecasts| forecasts.errors),
            has_intercept: recipe.has_intercept(),
            scale: Scale::new(self.reward_range(), recipe.is_given()),
        };
        Ok(basis.forecast(&offered.features).map_err(crate::certificate::GroundsError::from)?)
    }
}
