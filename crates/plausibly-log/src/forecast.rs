//! What the reward of a decision is forecast to be: by the best of three ridges on the settled
//! rewards. Any forecast that stands in the log before its reward keeps the confidence set valid; a
//! good one makes it small.

use crate::certificate::{GroundsError, Numbers, Sums, Terms};
use crate::event::{Event, RecordedForecasts};
use crate::fold::fold;
use crate::journal::Storage;
use crate::log::LogError;
use crate::state::{About, State, StepError};
use plausibly::{Action, ActionSet, FixedForecaster, ForecasterSums, Forecasts, RidgeError};

impl Terms {
    /// What rewards are forecast from: these sums, and the errors of the candidates so far.
    pub(crate) fn forecaster(
        &self,
        statistics: &Sums,
        errors: [f64; 3],
    ) -> Result<FixedForecaster, RidgeError> {
        let Sums { gram, moment, observations, .. } = statistics;
        let (gram, ridge) = (gram.concat(), self.spec.ridge());
        let sums =
            ForecasterSums { gram: &gram, ridge, moment, observations: *observations, errors };
        FixedForecaster::new(self.scale().ends(), self.has_intercept.then_some(0), sums)
    }
}

impl Numbers {
    /// What the reward of the action at this place is forecast to be, where decisions record that.
    ///
    /// # Errors
    /// If the statistics do not describe a model.
    pub(crate) fn forecast(&self, place: usize) -> Result<Option<RecordedForecasts>, RidgeError> {
        if self.basis.forecasts.is_none() {
            return Ok(None);
        }
        Ok(Some(recorded(self.forecaster()?, self.basis.set.view().get(place))))
    }
}

fn recorded(forecaster: &FixedForecaster, action: Action<'_>) -> RecordedForecasts {
    let made = forecaster.forecast(action);
    let forecasts = Forecasts::new(made.candidates(), made.counts());
    let forecasts = forecasts.expect("forecasts are cut to the range of rewards");
    let counts = u8::try_from(forecasts.counts()).expect("there are three");
    RecordedForecasts { steps: forecasts.steps(), counts }
}

/// Checks that the forecasts of all decisions up to this one are those that follow from the lines
/// before them.
///
/// # Errors
/// [`LogError::Forecast`] names the first that does not follow. Other errors if the log is damaged.
pub fn check_forecasts<S: Storage>(storage: &S, up_to: u64) -> Result<(), LogError> {
    fold(storage, |step| {
        let Event::Decided { decision, set, context, chosen, rows, forecasts, .. } = step.event
        else {
            return Ok(());
        };
        let Some(recorded) = forecasts.filter(|_| *decision <= up_to) else { return Ok(()) };
        let about = About { set: *set, context, rows: rows.as_ref() };
        if step.state.forecast(*chosen, about)? == recorded {
            return Ok(());
        }
        Err(LogError::Forecast { seq: step.entry.seq, decision: *decision })
    })?;
    Ok(())
}

impl State {
    /// What the reward of an action is forecast to be.
    pub(crate) fn forecast(
        &self,
        action: u64,
        about: About<'_>,
    ) -> Result<RecordedForecasts, LogError> {
        let terms = self.own_terms()?;
        let errors = self.statistics().forecasts().map_or([0.0; 3], |forecasts| forecasts.errors);
        let settled = self.statistics().settled(&[], terms.spec.ridge());
        let forecaster = terms.forecaster(&settled, errors).map_err(GroundsError::from)?;
        let place = self.set(about.set)?.binary_search(&action).unwrap_or(usize::MAX);
        let row = about.rows.map(|rows| (rows, place));
        let one = self.features_in(action, about.context, row)?;
        let one = ActionSet::from_flat(one, terms.dim).map_err(|_empty| StepError::NoActions)?;
        Ok(recorded(&forecaster, one.view().get(0)))
    }
}
