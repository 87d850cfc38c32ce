//! One model per arm, learning in batches: the basis of `plausibly.compat`.
//!
//! In `plausibly.compat` a rule for choosing has no state of its own, so each call builds its
//! policy over a copy of the models. `plausibly.compat` checks and converts the arrays and explains
//! what is wrong with them; the checks here only prevent wrong results, so their messages are
//! short.

use crate::actions::PySet;
use crate::errors::refuse;
use crate::explain::{self, Asked};
use crate::guarded::unwound;
use crate::settings::Settings;
use numpy::{
    PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray2, PyUntypedArrayMethods, ToPyArray,
};
use plausibly::spec::{Facts, PolicyKind, Setting};
use plausibly::{
    ActionSet, ArmMeans, ArmRidges, ArmSums, Code, EpsilonGreedy, Estimator, Explain, LinUcb,
    Policy as _, Removed, Scores, SharedDraws, Stream, Thompson, Ucb1, Whole,
};
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::sync::{Mutex, MutexGuard};

/// One model per arm and a rule to choose by; private to `plausibly`.
#[pyclass(frozen, name = "ArmModels", module = "plausibly._core")]
pub(crate) struct PyArms {
    settings: Settings,
    /// If set, replaces the rule of the settings: each round explores with this probability, and
    /// is greedy otherwise.
    epsilon: Option<f64>,
    /// Whether Thompson sampling draws the same numbers for all arms.
    shared_draws: bool,
    seed: u64,
    known: Mutex<Known>,
}

/// What the models have learned.
#[derive(Clone)]
enum Known {
    /// For arms without contexts.
    Means(Means),
    Ridges(Box<ArmRidges>),
}

#[derive(Clone)]
struct Means {
    counts: Vec<u64>,
    totals: Vec<f64>,
    /// Sums of squares; `None` for a bandit that was saved without them.
    squares: Option<Vec<f64>>,
    removed: Removed,
    /// The number of arms at first, once one was added or removed.
    first: Option<usize>,
}

type Rule = Box<dyn Explain + Send>;

#[pymethods]
impl PyArms {
    #[new]
    #[pyo3(signature = (arms, dim, policy, facts, epsilon, seed, shared_draws=false))]
    fn new(
        arms: usize,
        dim: usize,
        policy: &Bound<'_, PyAny>,
        facts: &Bound<'_, PyAny>,
        epsilon: Option<f64>,
        seed: u64,
        shared_draws: bool,
    ) -> PyResult<Self> {
        if arms == 0 {
            refuse!("arms: at least one");
        }
        let settings = Settings::read(policy, facts)?;
        let known = match dim {
            0 => {
                settings.spec(Setting::Arms)?;
                Known::Means(Means::new(arms))
            }
            dim => {
                let facts = settings.facts(Setting::Fixed, dim, arms);
                let ridge = settings.spec(Setting::Fixed)?.ridge_in(&facts);
                Known::Ridges(Box::new(ArmRidges::new(arms, dim, ridge).map_err(refused)?))
            }
        };
        Ok(Self { settings, epsilon, shared_draws, seed, known: Mutex::new(known) })
    }

    /// Learns one reward per row; `arms` holds the index of each row's arm.
    #[pyo3(signature = (arms, rewards, contexts=None))]
    fn learn(
        &self,
        arms: &Bound<'_, PyArray1<i64>>,
        rewards: &Bound<'_, PyArray1<f64>>,
        contexts: Option<&Bound<'_, PyArray2<f64>>>,
    ) -> PyResult<()> {
        let (arms, rewards) = (arms.try_readonly()?, rewards.try_readonly()?);
        let (arms, rewards) = (arms.as_slice()?, rewards.as_slice()?);
        let mut known = self.lock()?;
        let of_arm = places(arms, rewards.len(), known.arms())?;
        match &mut *known {
            Known::Means(means) => means.learn(of_arm, rewards),
            Known::Ridges(model) => {
                learn_by_arm(model, of_arm, rows(contexts, model.dim())?.as_slice()?, rewards)?;
            }
        }
        Ok(())
    }

    /// The estimates: one row per context, one column per arm.
    #[pyo3(signature = (contexts=None))]
    fn estimates<'py>(
        &self,
        py: Python<'py>,
        contexts: Option<&Bound<'py, PyArray2<f64>>>,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let known = self.lock()?.clone();
        let (arms, model, mut all) = (known.arms(), known.estimator(), Vec::new());
        let mut scores = Scores::new();
        known.each_set(contexts, 1, |set| {
            model.means_into(set.view(), &mut scores);
            all.extend_from_slice(scores.mean());
        })?;
        all.to_pyarray(py).reshape([all.len() / arms, arms])
    }

    /// The arm to take in each context, or in each of `rounds` rounds if there are no contexts.
    /// Each `call` number has its own stream of random numbers.
    #[pyo3(signature = (contexts, rounds, call))]
    fn select<'py>(
        &self,
        py: Python<'py>,
        contexts: Option<&Bound<'py, PyArray2<f64>>>,
        rounds: usize,
        call: u64,
    ) -> PyResult<Bound<'py, PyArray1<u64>>> {
        let known = self.lock()?.clone();
        let (mut rule, _) = self.rule(&known)?;
        let mut rng = Stream::new(self.seed, call, &format!("policy/{}", self.settings.label));
        let mut chosen = Vec::new();
        let selected = unwound(|| {
            known.each_set(contexts, rounds, |set| {
                chosen.push(rule.select(set.view(), &mut rng) as u64);
            })
        });
        selected.map_err(refused)??;
        Ok(chosen.to_pyarray(py))
    }

    #[pyo3(signature = (actions, radius=None))]
    fn explain<'py>(
        &self,
        actions: &Bound<'py, PySet>,
        radius: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let known = self.lock()?.clone();
        let (rule, facts) = self.rule(&known)?;
        let model = facts.setting;
        let spec = self.settings.spec(model)?;
        let asked = Asked { policy: &*rule, spec, facts: &facts, model, actions: actions.get() };
        explain::find(&asked, &self.settings, radius, PyRuntimeError::new_err)?.to_dict(actions)
    }

    /// Adds an arm without observations at the end.
    fn add_arm(&self) -> PyResult<()> {
        match &mut *self.lock()? {
            Known::Means(means) => {
                means.first.get_or_insert(means.counts.len());
                means.counts.push(0);
                means.totals.push(0.0);
                means.squares.iter_mut().for_each(|squares| squares.push(0.0));
            }
            Known::Ridges(model) => model.add_arm(),
        }
        Ok(())
    }

    /// Removes the arm at this index; the arms after it move up.
    fn remove_arm(&self, arm: usize) -> PyResult<()> {
        let mut known = self.lock()?;
        if arm >= known.arms() || known.arms() == 1 {
            refuse!("arm: no such arm, or the last one");
        }
        match &mut *known {
            Known::Means(means) => {
                means.first.get_or_insert(means.counts.len());
                means.removed.arms += 1;
                means.removed.observations += means.counts.remove(arm);
                means.totals.remove(arm);
                means.squares.iter_mut().for_each(|squares| _ = squares.remove(arm));
            }
            Known::Ridges(model) => model.remove_arm(arm),
        }
        Ok(())
    }

    /// The number of rewards that each arm has learned from.
    #[getter]
    fn observations(&self) -> PyResult<Vec<u64>> {
        Ok(self.lock()?.observations())
    }

    /// Everything learned, as numbers and arrays, for [`PyArms::restore`].
    fn state<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let known = self.lock()?;
        let (squares, first) = match &*known {
            Known::Means(means) => (means.squares.clone(), means.first),
            Known::Ridges(_) => (None, None),
        };
        let (sums, removed) = match &*known {
            Known::Means(means) => (means.totals.clone(), means.removed),
            Known::Ridges(model) => {
                (model.sums().into_iter().flat_map(joined).collect(), model.removed())
            }
        };
        let state = PyDict::new(py);
        state.set_item("observations", known.observations())?;
        state.set_item("sums", sums.to_pyarray(py))?;
        state.set_item("removed", (removed.arms, removed.observations, removed.log_det_ratio))?;
        state.set_item("squares", squares)?;
        state.set_item("first", first)?;
        Ok(state)
    }

    /// Continues from the result of `state`; earlier versions wrote neither squares nor the first
    /// number of arms.
    #[pyo3(signature = (observations, sums, removed, squares=None, first=None))]
    fn restore(
        &self,
        observations: Vec<u64>,
        sums: &Bound<'_, PyArray1<f64>>,
        removed: (usize, u64, f64),
        squares: Option<Vec<f64>>,
        first: Option<usize>,
    ) -> PyResult<()> {
        let mut known = self.lock()?;
        let sums = sums.try_readonly()?;
        let sums = sums.as_slice()?;
        let removed =
            Removed { arms: removed.0, observations: removed.1, log_det_ratio: removed.2 };
        let of_arm = match &*known {
            Known::Means(_) => 1,
            Known::Ridges(model) => 2 * model.dim() * (model.dim() + 1),
        };
        if observations.is_empty() || sums.len() != observations.len() * of_arm {
            refuse!("state: the number of sums does not match the number of arms");
        }
        *known = match &*known {
            Known::Means(_) => {
                let totals = sums.to_vec();
                let means = Means { counts: observations, totals, squares, removed, first };
                unwound(|| means.model()).map_err(refused)?;
                Known::Means(means)
            }
            Known::Ridges(model) => {
                let (dim, ridge) = (model.dim(), model.evidence().ridge);
                let arms = observations.into_iter().zip(sums.chunks_exact(of_arm));
                let arms: Vec<ArmSums> =
                    arms.map(|(count, sums)| split(count, sums, dim)).collect();
                Known::Ridges(Box::new(
                    ArmRidges::from_sums(dim, ridge, &arms, removed).map_err(refused)?,
                ))
            }
        };
        Ok(())
    }
}

impl PyArms {
    fn lock(&self) -> PyResult<MutexGuard<'_, Known>> {
        let busy = "the bandit is busy with another call from another thread";
        self.known.try_lock().ok().ok_or_else(|| PyRuntimeError::new_err(busy))
    }

    /// Builds the policy over these models; returns it with the facts it was built for.
    fn rule(&self, known: &Known) -> PyResult<(Rule, Facts)> {
        let (setting, features) = match known {
            Known::Means(_) => (Setting::Arms, 0),
            Known::Ridges(model) => (Setting::Fixed, model.evidence().dim),
        };
        let facts = self.settings.facts(setting, features, known.arms());
        let rule = match (known, &self.settings.spec(setting)?.kind) {
            (Known::Means(means), PolicyKind::Ucb1 { noise_scale }) => {
                let noise_scale = noise_scale.unwrap_or(facts.noise_scale);
                Box::new(Ucb1::over(means.model(), noise_scale).map_err(refused)?)
            }
            (Known::Ridges(model), PolicyKind::LinTs { noise_scale, .. }) if self.shared_draws => {
                let noise_scale = noise_scale.unwrap_or(facts.noise_scale);
                let over = || SharedDraws::over(ArmRidges::clone(model), noise_scale);
                Box::new(unwound(over).map_err(refused)?.map_err(refused)?) as Rule
            }
            (Known::Means(means), _) => self.rule_over(means.model(), &facts)?,
            (Known::Ridges(model), _) => self.rule_over(ArmRidges::clone(model), &facts)?,
        };
        Ok((rule, facts))
    }

    fn rule_over<E: Estimator + Clone + Send + 'static>(
        &self,
        model: E,
        facts: &Facts,
    ) -> PyResult<Rule> {
        Ok(match (self.epsilon, &self.settings.spec(facts.setting)?.kind) {
            (Some(epsilon), _) => {
                Box::new(EpsilonGreedy::constant(model, epsilon).map_err(refused)?)
            }
            (None, PolicyKind::Code { radius, exclusion, greed, target, .. }) => {
                let code = Code::new(model, radius.build(facts).map_err(refused)?);
                let code = code.excluding(*exclusion).tempered(*greed).map_err(refused)?;
                Box::new(match target {
                    Some(target) => code.to_target(*target).map_err(refused)?,
                    None => code,
                })
            }
            (None, PolicyKind::LinUcb { radius, .. }) => {
                Box::new(LinUcb::new(model, radius.build(facts).map_err(refused)?))
            }
            (
                None,
                PolicyKind::LinTs { noise_scale, .. } | PolicyKind::Thompson { noise_scale },
            ) => Box::new(
                Thompson::over(model, noise_scale.unwrap_or(facts.noise_scale)).map_err(refused)?,
            ),
            _ => refuse!("policy: it needs more than a model to choose"),
        })
    }
}

impl Known {
    fn arms(&self) -> usize {
        match self {
            Self::Means(means) => means.counts.len(),
            Self::Ridges(model) => model.arms(),
        }
    }

    fn observations(&self) -> Vec<u64> {
        match self {
            Self::Means(means) => means.counts.clone(),
            Self::Ridges(model) => {
                (0..model.arms()).map(|arm| model.arm(arm).evidence().observations).collect()
            }
        }
    }

    fn estimator(&self) -> Box<dyn Estimator> {
        match self {
            Self::Means(means) => Box::new(means.model()),
            Self::Ridges(model) => Box::new(ArmRidges::clone(model)),
        }
    }

    /// Calls `each` with the actions of each context, all with the same features: those of the
    /// context. Without contexts, calls it `rounds` times.
    fn each_set(
        &self,
        contexts: Option<&Bound<'_, PyArray2<f64>>>,
        rounds: usize,
        mut each: impl FnMut(&ActionSet),
    ) -> PyResult<()> {
        let (arms, dim) = match self {
            Self::Means(_) => {
                let set = ActionSet::arms(self.arms()).map_err(refused)?;
                (0..rounds).for_each(|_| each(&set));
                return Ok(());
            }
            Self::Ridges(model) => (model.arms(), model.dim()),
        };
        let contexts = rows(contexts, dim)?;
        let mut set = ActionSet::from_flat(vec![0.0; arms * dim], dim).map_err(refused)?;
        for context in contexts.as_slice()?.chunks_exact(dim) {
            let copy = |rows: &mut [f64]| {
                rows.chunks_exact_mut(dim).for_each(|row| row.copy_from_slice(context));
            };
            set.refill(copy).map_err(refused)?;
            each(&set);
        }
        Ok(())
    }
}

impl Means {
    fn new(arms: usize) -> Self {
        Self {
            counts: vec![0; arms],
            totals: vec![0.0; arms],
            squares: Some(vec![0.0; arms]),
            removed: Removed::default(),
            first: None,
        }
    }

    fn learn(&mut self, arms: impl Iterator<Item = usize>, rewards: &[f64]) {
        for (arm, reward) in arms.zip(rewards) {
            self.counts[arm] += 1;
            self.totals[arm] += reward;
            self.squares.iter_mut().for_each(|squares| squares[arm] += reward * reward);
        }
    }

    /// Removed arms keep their share of δ, because they may have been removed for their rewards.
    fn model(&self) -> ArmMeans {
        let arms = self.counts.len();
        let (shares, other_observations) =
            ((arms + self.removed.arms) as u64, self.removed.observations);
        let whole = Whole { arms, shares, ever: shares, other_observations, first: self.first };
        let model = ArmMeans::from_statistics(&self.counts, &self.totals).part_of(whole);
        match &self.squares {
            Some(squares) => model.with_squares(squares),
            None => model,
        }
    }
}

/// Groups the rows by arm, keeping their order, so that each arm learns only once.
fn learn_by_arm(
    model: &mut ArmRidges,
    arms: impl Iterator<Item = usize>,
    contexts: &[f64],
    rewards: &[f64],
) -> PyResult<()> {
    let mut by_arm = vec![(Vec::new(), Vec::new()); model.arms()];
    for ((arm, context), &reward) in arms.zip(contexts.chunks_exact(model.dim())).zip(rewards) {
        by_arm[arm].0.extend_from_slice(context);
        by_arm[arm].1.push(reward);
    }
    // Learns on a copy, so that a failure in the middle leaves the model unchanged.
    let mut learned = model.clone();
    let learning = || {
        for (arm, (contexts, rewards)) in
            by_arm.iter().enumerate().filter(|(_, (_, rewards))| !rewards.is_empty())
        {
            learned.learn(arm, contexts, rewards);
        }
    };
    unwound(learning).map_err(refused)?;
    *model = learned;
    Ok(())
}

/// The index of an arm for each reward, checked.
fn places(
    arms: &[i64],
    rewards: usize,
    count: usize,
) -> PyResult<impl Iterator<Item = usize> + '_> {
    let there = |arm: &i64| usize::try_from(*arm).is_ok_and(|arm| arm < count);
    if arms.len() != rewards || !arms.iter().all(there) {
        refuse!("arms: a place from 0 for each reward");
    }
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked above")]
    Ok(arms.iter().map(|arm| *arm as usize))
}

fn rows<'py>(
    contexts: Option<&Bound<'py, PyArray2<f64>>>,
    dim: usize,
) -> PyResult<PyReadonlyArray2<'py, f64>> {
    // `as_slice` would give the columns of an array in Fortran order.
    contexts
        .filter(|contexts| contexts.shape()[1] == dim && contexts.is_c_contiguous())
        .ok_or_else(|| refused(format!("contexts: rows of {dim} features in C order")))
        .and_then(|contexts| Ok(contexts.try_readonly()?))
}

/// The sums of an arm in one list, for [`split`].
fn joined(ArmSums { gram, moment, .. }: ArmSums) -> Vec<f64> {
    [gram.concat(), moment.concat()].concat()
}

/// Reverses [`joined`].
fn split(observations: u64, sums: &[f64], dim: usize) -> ArmSums {
    let (gram, moment) = sums.split_at(2 * dim * dim);
    let halves = |both: &[f64]| [both[..both.len() / 2].to_vec(), both[both.len() / 2..].to_vec()];
    ArmSums { observations, gram: halves(gram), moment: halves(moment) }
}

#[expect(clippy::needless_pass_by_value, reason = "as map_err hands it over")]
fn refused(reason: impl ToString) -> PyErr {
    PyValueError::new_err(reason.to_string())
}
