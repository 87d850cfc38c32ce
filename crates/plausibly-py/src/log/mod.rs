//! Logs, with the same files and the same code as the command line's.
//!
//! A log begins with its first decision, because only a table of actions shows what its columns
//! hold. Until then nothing is written, and [`Wanted`] holds the settings.

mod batch;
mod certificates;
mod decided;
mod refusal;
mod store;
mod table;
mod wanted;

pub(crate) use batch::PyBatch;
pub(crate) use certificates::{certificate_words, check_certificate};
pub(crate) use decided::PyDecided;
pub(crate) use refusal::{CertificateError, DamagedLogError};
pub(crate) use table::PyTable;

use crate::errors::refuse;
use plausibly::spec::Setting;
use plausibly_log::event::{FORMAT, Outcomes};
use plausibly_log::json;
use plausibly_log::policy::{Noise, PolicyTable, Rates, read_policy};
use plausibly_log::recipe::Context;
use plausibly_log::state::check_key;
use plausibly_log::table::Table;
use plausibly_log::{
    Among, Asked, Log, LogError, Recorded, Reward, certificate_keeping, compare, status,
};
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use refusal::of_log;
use serde_json::Value as Json;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard};
use store::{Memory, Place, Store};
use wanted::Wanted;

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
        let place = path.map_or_else(|| Place::Memory(Memory::default()), Place::of);
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

    /// Decides among the rows of a table.
    fn decide(
        &self,
        py: Python<'_>,
        at_us: i64,
        table: &PyTable,
        context: BTreeMap<String, String>,
        most: usize,
        key: Option<&str>,
    ) -> PyResult<PyDecided> {
        let table = table.shared();
        py.detach(|| {
            let context = read_context(context)?;
            checked_key(key)?;
            let mut open = self.lock()?;
            let log = self.begun_by(&mut open, at_us, &table, &context)?;
            let among = labelled(log, &table)?;
            let among = Among::Table(&among);
            let asked = Asked { key, ..Asked::among(among, &context) };
            let taken = log.take(at_us, &asked).map_err(|error| of_log(&error, "actions"))?;
            Ok(PyDecided::new(&self.place, taken, most))
        })
    }

    /// Carries out the requests of a batch with one sync. Each answer is a decision, whether an
    /// outcome was new, or an exception.
    fn batch<'py>(
        &self,
        py: Python<'py>,
        at_us: i64,
        batch: &PyBatch,
    ) -> PyResult<Vec<Bound<'py, PyAny>>> {
        self.carry_out(py, at_us, batch)
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

    /// The certificate of a decision as JSON, derived from the lines behind the last milestone.
    fn certificate(&self, py: Python<'_>, decision: u64, most: usize) -> PyResult<String> {
        self.read(py, |_| {
            let (found, _) = certificate_keeping(&mut self.place.storage(), decision, most)?;
            Ok(found.to_json())
        })
    }

    /// Whether numbers are used as features unchanged; `None` before the log has begun.
    fn is_given(&self) -> PyResult<Option<bool>> {
        self.begun(|log| Some(log.state()?.recipe().is_given()))
    }

    /// The policy, the range of rewards, the names of the features and the recipe in words; `None`
    /// before the log has begun.
    #[expect(clippy::type_complexity, reason = "a tuple of Python")]
    fn about(&self) -> PyResult<Option<(String, (f64, f64), Vec<String>, String)>> {
        self.begun(|log| {
            let state = log.state()?;
            let policy = Json::Object(state.policy().1.clone()).to_string();
            let recipe = state.recipe();
            let (names, words) = (recipe.feature_names(), recipe.describe().to_string());
            Some((policy, state.reward_range(), names, words))
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

    /// The open log, which this decision begins if it is the first.
    fn begun_by<'a>(
        &self,
        open: &'a mut Open,
        at_us: i64,
        table: &Table,
        context: &Context,
    ) -> PyResult<&'a mut Log<Store>> {
        if let Open::Unbegun = open {
            let log = self.wanted.begin(&self.place, at_us, table, context)?;
            *open = Open::Begun(Box::new(log));
        }
        let Open::Begun(log) = open else { unreachable!("`lock` refuses a closed log") };
        Ok(log)
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

/// The table with its labels from the column that the log takes them from.
fn labelled<'a>(log: &Log<Store>, table: &'a Table) -> PyResult<Cow<'a, Table>> {
    let label = log.state().and_then(|state| state.recipe().label());
    if label == table.label_column() {
        return Ok(Cow::Borrowed(table));
    }
    table.clone().with_label(label).map(Cow::Owned).map_err(|error| table::refused(&error))
}

fn read_context(context: BTreeMap<String, String>) -> PyResult<Context> {
    Context::try_from(context).map_err(|error| PyValueError::new_err(format!("context: {error}")))
}

fn checked_key(key: Option<&str>) -> PyResult<()> {
    match key.map(check_key) {
        Some(Err(refused)) => Err(PyValueError::new_err(format!("key: {refused}"))),
        _ => Ok(()),
    }
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
