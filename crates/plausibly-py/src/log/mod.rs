//! Logs, with the same files and the same code as the command line's.
//!
//! A log begins with its first decision, because only a table of actions shows what its columns
//! hold. Until then nothing is written, and [`Wanted`] holds the settings.

mod certificates;
mod refusal;
mod store;

pub(crate) use certificates::{certificate_words, check_certificate};
pub(crate) use refusal::{CertificateError, DamagedLogError};

use crate::errors::refuse;
use plausibly::spec::Setting;
use plausibly_log::event::{FORMAT, Outcomes};
use plausibly_log::json;
use plausibly_log::policy::{
    Noise, PolicyRefusal, PolicyTable, Rates, declare_noise, declare_rates, read_policy,
};
use plausibly_log::recipe::{Context, Recipe};
use plausibly_log::state::check_key;
use plausibly_log::table::Table;
use plausibly_log::{Log, LogError, Opening, Recorded, Reward, certificate, compare, status};
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use refusal::of_log;
use serde_json::Value as Json;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard};
use store::{Memory, Place, Store};

/// The settings that a caller passed when opening a log.
struct Wanted {
    policy: Option<PolicyTable>,
    reward_range: Option<(f64, f64)>,
    outcomes: Option<Outcomes>,
    /// How much outcomes of the same action scatter.
    noise: Option<Noise>,
    /// What rates are usual, and by what factor odds can differ.
    rates: Rates,
    horizon: Option<u64>,
    seed: Option<u64>,
    leave_out: Vec<String>,
    /// If set, the numbers of a table are used as features unchanged, and this bounds the norm of
    /// the true parameter.
    theta_norm_bound: Option<f64>,
}

/// A log in use. Threads take turns, and other Python code runs during disk access.
#[pyclass(frozen, name = "Log", module = "plausibly._core")]
pub(crate) struct PyLog {
    place: Place,
    wanted: Wanted,
    open: Mutex<Open>,
}

enum Open {
    /// Before the first decision nothing is written.
    Unbegun,
    Begun(Box<Log<Store>>),
    Closed,
}

#[pymethods]
impl PyLog {
    #[new]
    #[pyo3(signature = (
        path, policy, reward_range, outcomes, noise, usual_rate, odds_factor, horizon, seed,
        leave_out, theta_norm_bound
    ))]
    #[expect(clippy::too_many_arguments, reason = "keywords of the class in Python")]
    fn new(
        py: Python<'_>,
        path: Option<PathBuf>,
        policy: Option<&str>,
        reward_range: Option<(f64, f64)>,
        outcomes: Option<&str>,
        noise: Option<&Bound<'_, PyAny>>,
        usual_rate: Option<f64>,
        odds_factor: Option<f64>,
        horizon: Option<u64>,
        seed: Option<u64>,
        leave_out: Vec<String>,
        theta_norm_bound: Option<f64>,
    ) -> PyResult<Self> {
        let policy = policy.map(table).transpose()?;
        if let Some(policy) = &policy {
            check_policy(policy, horizon)?;
        }
        let place = path.map_or_else(|| Place::Memory(Memory::default()), Place::File);
        let outcomes = outcomes.map(kind_of_outcome).transpose()?;
        let noise = noise.map(kind_of_noise).transpose()?;
        let wanted = Wanted {
            policy,
            reward_range,
            outcomes,
            noise,
            rates: Rates { usual: usual_rate, factor: odds_factor },
            horizon,
            seed,
            leave_out,
            theta_norm_bound,
        };
        let open = py.detach(|| -> PyResult<Open> {
            if !place.has_content() {
                return Ok(Open::Unbegun);
            }
            let log = Log::open(place.storage()).map_err(|error| of_log(&error, "path"))?;
            if log.state().is_none() {
                // A crash interrupted the writing of the first line, so the log has not begun.
                return Ok(Open::Unbegun);
            }
            wanted.check(&log)?;
            Ok(Open::Begun(Box::new(log)))
        })?;
        Ok(Self { place, wanted, open: Mutex::new(open) })
    }

    /// Decides among the rows of a CSV table, and returns the certificate as JSON.
    fn decide(
        &self,
        py: Python<'_>,
        at_us: i64,
        table: &[u8],
        context: BTreeMap<String, String>,
        most: usize,
        key: Option<&str>,
    ) -> PyResult<String> {
        py.detach(|| {
            let refuse = |reason: &dyn std::fmt::Display| {
                PyValueError::new_err(format!("actions: {reason}"))
            };
            let table = Table::read(table).map_err(|error| refuse(&error))?;
            let context = Context::try_from(context)
                .map_err(|error| PyValueError::new_err(format!("context: {error}")))?;
            if let Some(Err(refused)) = key.map(check_key) {
                return Err(PyValueError::new_err(format!("key: {refused}")));
            }
            let mut open = self.lock()?;
            if let Open::Unbegun = *open {
                let log = self.wanted.begin(&self.place, at_us, &table, &context)?;
                *open = Open::Begun(Box::new(log));
            }
            let Open::Begun(log) = &mut *open else { unreachable!("`lock` refuses a closed log") };
            let label = log.state().and_then(|state| state.recipe().label().map(str::to_string));
            let table = table.with_label(label.as_deref()).map_err(|error| refuse(&error))?;
            let decided = match key {
                Some(key) => {
                    log.decide_once(key, at_us, &table, &context, most).map(|(taken, _)| taken)
                }
                None => log.decide(at_us, &table, &context, most),
            };
            Ok(decided.map_err(|error| of_log(&error, "actions"))?.to_json())
        })
    }

    /// Records a reward, or a count of outcomes; false if that changes nothing: the log has it
    /// already, or it came after the deadline of its decision.
    fn reward(
        &self,
        py: Python<'_>,
        at_us: i64,
        decision: u64,
        value: Option<f64>,
        counts: Option<(u64, u64)>,
    ) -> PyResult<bool> {
        let reward = paid(value, counts)?;
        self.record(py, |log| log.reward(at_us, decision, reward))
    }

    fn correct(
        &self,
        py: Python<'_>,
        at_us: i64,
        decision: u64,
        value: Option<f64>,
        counts: Option<(u64, u64)>,
    ) -> PyResult<bool> {
        let reward = paid(value, counts)?;
        self.record(py, |log| log.correct(at_us, decision, reward))
    }

    /// Changes what an outcome is from now on.
    fn change_outcomes(&self, py: Python<'_>, at_us: i64, outcomes: &str) -> PyResult<bool> {
        let outcomes = kind_of_outcome(outcomes)?;
        self.record(py, |log| log.change_outcomes(at_us, outcomes))
    }

    fn retract(&self, py: Python<'_>, at_us: i64, decision: u64) -> PyResult<bool> {
        self.record(py, |log| log.retract(at_us, decision))
    }

    fn drop(&self, py: Python<'_>, at_us: i64, decision: u64, undo: bool) -> PyResult<bool> {
        self.record(py, |log| {
            if undo { log.undrop(at_us, decision) } else { log.drop_decision(at_us, decision) }
        })
    }

    fn change_policy(
        &self,
        py: Python<'_>,
        at_us: i64,
        policy: &str,
        horizon: Option<u64>,
    ) -> PyResult<bool> {
        let policy = table(policy)?;
        self.record(py, |log| {
            let horizon = horizon.or_else(|| log.state()?.horizon());
            log.change_policy(at_us, &policy, horizon)
        })
    }

    /// The status of the log, as JSON.
    fn status(&self, py: Python<'_>, now_us: i64, points: u64) -> PyResult<String> {
        self.read(py, |storage| {
            let found = status(storage, now_us, points)?;
            serde_json::to_string(&found).map_err(LogError::Unwritable)
        })
    }

    /// How two actions compare now, as JSON.
    fn compare(&self, py: Python<'_>, now_us: i64, first: &str, second: &str) -> PyResult<String> {
        self.read(py, |storage| {
            let found = compare(storage, now_us, [first, second])?;
            serde_json::to_string(&found).map_err(LogError::Unwritable)
        })
    }

    /// The certificate of a decision as JSON, derived from the lines of the log alone.
    fn certificate(&self, py: Python<'_>, decision: u64, most: usize) -> PyResult<String> {
        self.read(py, |storage| Ok(certificate(storage, decision, most)?.to_json()))
    }

    /// The policy, the range of rewards, the names of the features, the recipe in words, and
    /// whether numbers are used as features unchanged; `None` before the log has begun.
    #[expect(clippy::type_complexity, reason = "a tuple of Python")]
    fn about(&self) -> PyResult<Option<(String, (f64, f64), Vec<String>, String, bool)>> {
        self.begun(|log| {
            let state = log.state()?;
            let policy = Json::Object(state.policy().1.clone()).to_string();
            let recipe = state.recipe();
            let (names, words) = (recipe.feature_names(), recipe.describe().to_string());
            Some((policy, state.reward_range(), names, words, recipe.is_given()))
        })
    }

    /// The decisions that wait for their rewards, oldest first, with the label chosen.
    fn pending(&self) -> PyResult<Vec<(u64, String)>> {
        let pending = self.begun(|log| {
            let state = log.state()?;
            let named = |decision| Some((decision, state.label_of(decision).ok()?.to_string()));
            Some(state.pending().filter_map(named).collect())
        })?;
        Ok(pending.unwrap_or_default())
    }

    /// How opening repaired an interrupted write, if there was one.
    fn recovery(&self) -> PyResult<Option<String>> {
        self.begun(|log| log.recovery().map(ToString::to_string))
    }

    fn close(&self, py: Python<'_>) {
        py.detach(|| {
            *self.open.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = Open::Closed;
        });
    }
}

impl PyLog {
    /// Waits until other threads are done with the log. No Python code runs under this lock, so a
    /// thread cannot wait for itself.
    fn lock(&self) -> PyResult<MutexGuard<'_, Open>> {
        let poisoned = "the log failed in the middle of a step; open it again";
        let open = self.open.lock().ok().ok_or_else(|| PyRuntimeError::new_err(poisoned))?;
        if matches!(*open, Open::Closed) {
            refuse!("the log is closed");
        }
        Ok(open)
    }

    /// Records an event; false if that changes nothing.
    fn record(
        &self,
        py: Python<'_>,
        step: impl FnOnce(&mut Log<Store>) -> Result<Recorded, LogError> + Send,
    ) -> PyResult<bool> {
        py.detach(|| match &mut *self.lock()? {
            Open::Begun(log) => {
                let recorded = step(log).map_err(|error| of_log(&error, "decision"))?;
                Ok(recorded == Recorded::Now)
            }
            _ => Err(of_log(&LogError::Empty, "decision")),
        })
    }

    /// Reads from the lines of the log, under the lock so that no line is half written.
    fn read<T: Send>(
        &self,
        py: Python<'_>,
        read: impl FnOnce(&Store) -> Result<T, LogError> + Send,
    ) -> PyResult<T> {
        py.detach(|| {
            let open = self.lock()?;
            if matches!(*open, Open::Unbegun) {
                return Err(of_log(&LogError::Empty, "decision"));
            }
            read(&self.place.storage()).map_err(|error| of_log(&error, "decision"))
        })
    }

    /// Asks the log; `None` before it has begun.
    fn begun<T>(&self, ask: impl FnOnce(&Log<Store>) -> Option<T>) -> PyResult<Option<T>> {
        match &*self.lock()? {
            Open::Begun(log) => Ok(ask(log)),
            _ => Ok(None),
        }
    }
}

impl Wanted {
    /// Begins a log. The first table determines how columns become features, and everything is
    /// checked before a file is created.
    fn begin(
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
    fn check(&self, log: &Log<Store>) -> PyResult<()> {
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

/// What an outcome is, by the name it has in Python.
fn kind_of_outcome(name: &str) -> PyResult<Outcomes> {
    Ok(match name {
        "number" => Outcomes::Number,
        "yes/no" => Outcomes::YesNo,
        "counts" => Outcomes::Counts,
        other => refuse!("outcomes: expected 'number', 'yes/no' or 'counts', found {other:?}"),
    })
}

/// How much outcomes scatter: a number, or the name that it has in Python.
fn kind_of_noise(said: &Bound<'_, PyAny>) -> PyResult<Noise> {
    match said.extract::<f64>() {
        Ok(scale) => Ok(Noise::Scale(scale)),
        Err(_) if said.extract::<String>().is_ok_and(|name| name == "bell") => Ok(Noise::Bell),
        Err(_) => refuse!("noise: expected a number or 'bell', found {}", said.repr()?),
    }
}

/// One reward, or how many of how many outcomes were yes.
fn paid(value: Option<f64>, counts: Option<(u64, u64)>) -> PyResult<Reward> {
    match (value, counts) {
        (Some(value), None) => Ok(value.into()),
        (None, Some((yes, of))) => Ok(Reward::counts(yes, of)),
        _ => refuse!("give either a value, or successes and of"),
    }
}

fn table(policy: &str) -> PyResult<PolicyTable> {
    json::read(policy).map_err(|error| PyValueError::new_err(format!("policy: {error}")))
}

/// Refuses a policy that cannot decide in any log, neither with features nor over plain arms.
fn check_policy(policy: &PolicyTable, horizon: Option<u64>) -> PyResult<()> {
    let with = |setting| read_policy(policy, setting, horizon, FORMAT);
    match (with(Setting::Changing), with(Setting::Arms)) {
        (Err(refusal), Err(_)) => refuse!("policy: {refusal}"),
        _ => Ok(()),
    }
}
