//! The settings of a log, as a caller passed them.

use super::refusal::of_log;
use super::store::{Place, Store};
use crate::errors::refuse;
use plausibly::spec::Setting;
use plausibly_log::event::Outcomes;
use plausibly_log::policy::{
    Noise, PolicyRefusal, PolicyTable, Rates, declare_noise, declare_rates,
};
use plausibly_log::recipe::{Context, Recipe};
use plausibly_log::table::Table;
use plausibly_log::{Log, LogError, Opening};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use serde_json::Value as Json;

/// The settings that a caller passed when opening a log.
pub(super) struct Wanted {
    pub(super) policy: Option<PolicyTable>,
    pub(super) reward_range: Option<(f64, f64)>,
    pub(super) outcomes: Option<Outcomes>,
    /// How much outcomes of the same action scatter.
    pub(super) noise: Option<Noise>,
    /// What rates are usual, and by what factor odds can differ.
    pub(super) rates: Rates,
    pub(super) horizon: Option<u64>,
    pub(super) seed: Option<u64>,
    pub(super) leave_out: Vec<String>,
    /// If set, the numbers of a table are used as features unchanged, and this bounds the norm of
    /// the true parameter.
    pub(super) theta_norm_bound: Option<f64>,
}

impl Wanted {
    /// Begins a log. The first table determines how columns become features, and everything is
    /// checked before a file is created.
    pub(super) fn begin(
        &self,
        place: &Place,
        at_us: i64,
        table: &Table,
        context: &Context,
    ) -> PyResult<Log<Store>> {
        let leave_out: Vec<&str> = self.leave_out.iter().map(String::as_str).collect();
        let recipe = match self.theta_norm_bound {
            Some(bound) => Recipe::given(table, &leave_out, bound),
            None => Recipe::infer_without(table, context, &leave_out),
        };
        let recipe = recipe.map_err(|error| PyValueError::new_err(format!("actions: {error}")))?;
        let reward_range = self.reward_range.unwrap_or((0.0, 1.0));
        let outcomes = self.outcomes.unwrap_or_default();
        let usual = || plausibly_log::policy::default_for(&recipe, reward_range, outcomes);
        let mut opening = Opening {
            policy: self.policy.clone().unwrap_or_else(usual),
            horizon: self.horizon,
            outcomes,
            ..Opening::new(recipe, reward_range, self.seed.unwrap_or(at_us.unsigned_abs()))
        };
        if let Some(noise) = self.noise {
            opening = opening.scattering(noise).map_err(|error| of_log(&error, "noise"))?;
        }
        declare_rates(&mut opening.policy, self.rates, reward_range).map_err(of_rates)?;
        let refuse = |error: LogError| of_log(&error, "actions");
        opening.check().map_err(refuse)?;
        let mut log = Log::open(place.storage()).map_err(refuse)?;
        log.begin(at_us, opening).map_err(refuse)?;
        Ok(log)
    }

    /// Refuses settings that differ from those fixed when the log began.
    pub(super) fn check(&self, log: &Log<Store>) -> PyResult<()> {
        let Some(state) = log.state() else { return Ok(()) };
        let fixed = "when the log began; begin another log for another one";
        let (low, high) = state.reward_range();
        if self.reward_range.is_some_and(|range| range != (low, high)) {
            refuse!("reward_range: it was fixed as ({low}, {high}) {fixed}");
        }
        let outcomes = state.outcomes();
        if self.outcomes.is_some_and(|wanted| wanted != outcomes) {
            refuse!(
                "outcomes: those of this log are {outcomes}; call change_outcomes to change that \
                 from now on"
            );
        }
        let seed = state.seed();
        if self.seed.is_some_and(|wanted| wanted != seed) {
            refuse!("seed: it was fixed as {seed} {fixed}");
        }
        let recipe = state.recipe();
        let as_fixed = |bound: f64| {
            recipe.is_given() && recipe.theta_norm_bound(1.0).to_bits() == bound.to_bits()
        };
        if self.theta_norm_bound.is_some_and(|bound| !as_fixed(bound)) {
            refuse!("theta_norm_bound: how columns become features was fixed {fixed}");
        }
        let used = |name: &String| {
            let columns = || recipe.columns().iter().chain(recipe.context());
            !columns().any(|column| column.name == *name && !column.is_used())
        };
        if let Some(name) = self.leave_out.iter().find(|name| used(name)) {
            refuse!("leave_out: what becomes of {name:?} was fixed {fixed}");
        }
        let horizon = self.horizon.or(state.horizon());
        let mut policy = self.policy.clone().unwrap_or_else(|| state.policy().1.clone());
        if let Some(noise) = self.noise {
            let setting = if recipe.dim() == 0 { Setting::Arms } else { Setting::Changing };
            declare_noise(&mut policy, noise, setting)
                .map_err(|refusal| PyValueError::new_err(format!("noise: {refusal}")))?;
        }
        declare_rates(&mut policy, self.rates, (low, high)).map_err(of_rates)?;
        let changes = state
            .would_change(&policy, horizon)
            .map_err(|error| of_log(&error.into(), "policy"))?;
        if changes {
            let own = Json::Object(state.policy().1.clone());
            refuse!(
                "policy: the log decides by {own}; leave policy and horizon out to go on with it, \
                 or call change_policy"
            );
        }
        Ok(())
    }
}

#[expect(clippy::needless_pass_by_value, reason = "as map_err calls it")]
fn of_rates(refusal: PolicyRefusal) -> PyErr {
    PyValueError::new_err(format!("usual_rate, odds_factor: {refusal}"))
}
