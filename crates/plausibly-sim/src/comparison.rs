//! Comparisons: many runs of the same policies, in parallel, with the same result on any number of
//! threads.

use crate::delay::Delay;
use crate::environment::Environment;
use crate::grid::log_grid;
use crate::metrics::{ModelError, Regret};
use crate::part::Part;
use crate::play::{Draws, Player, play, play_late};
use crate::summary::{FinalFigures, Run, Sample, Summary};
use plausibly::spec::{BuildError, Defaults, Facts, RadiusSpec, Setting};
use plausibly::{Estimator, Exclusion, Policy, Radius, Stream};
use rayon::prelude::*;
use std::fmt;
use std::num::NonZeroUsize;
use std::ops::{ControlFlow, Range};
use thiserror::Error;

/// Makes the problem of a run from its stream.
type MakeProblem = dyn Fn(&mut Stream) -> Box<dyn Environment> + Send + Sync;
/// Makes a new policy for a problem.
type MakePolicy = dyn Fn(&Facts) -> Result<Box<dyn Policy>, BoxError> + Send + Sync;
/// Why a policy could not be built.
type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// Why a comparison did not finish.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum RunError {
    /// A policy could not be built for a problem.
    #[error("policy {label:?} cannot be built: {source}")]
    Policy {
        /// Which one.
        label: String,
        /// Why.
        source: BoxError,
    },
    /// The metric's model or radius could not be built for a problem.
    #[error("the metric cannot be built: {source}")]
    Metric {
        /// Why.
        source: BuildError,
    },
    /// The monitor asked to stop.
    #[error("stopped")]
    Stopped,
    /// The worker threads could not be started.
    #[error("cannot start worker threads: {0}")]
    Threads(#[from] rayon::ThreadPoolBuildError),
}

/// Follows a comparison from outside, from several threads at once.
pub trait Monitor: Sync {
    /// Reports rounds completed since the last call, over all runs. Called about a hundred times
    /// per run.
    fn advanced(&self, _rounds: u64) {}

    /// Whether to stop. Called every round.
    fn stopped(&self) -> bool {
        false
    }
}

/// Follows nothing.
impl Monitor for () {}

/// How much to play, and from which seed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Plan {
    /// Independent problems, at least one.
    pub runs: u64,
    /// Rounds of each, at least one.
    pub horizon: u64,
    /// Seed of all randomness.
    pub seed: u64,
}

/// What defines the plausible set inside the model error.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Metric {
    /// λ in the metric's V, else the natural one of its radius; ignored for arms.
    pub ridge: Option<f64>,
    /// Its radius.
    pub radius: RadiusSpec,
    /// What rules actions out.
    pub exclusion: Exclusion,
}

impl Metric {
    /// What `code` decides by unless a spec says otherwise.
    pub fn default_for(setting: Setting, defaults: Defaults) -> Self {
        let radius = RadiusSpec::default_for(setting, defaults);
        Self { ridge: None, radius, exclusion: Exclusion::default() }
    }

    /// The model that the metric learns a policy's history with.
    fn model(&self, facts: &Facts) -> Result<Box<dyn Estimator + Send>, BuildError> {
        let ridge = self.ridge.unwrap_or_else(|| self.radius.natural_ridge(facts));
        self.radius.model(facts, ridge)
    }
}

/// Policies to compare on the same problems, action sets and noise.
///
/// # Example
/// ```
/// use plausibly::spec::{Defaults, Setting};
/// use plausibly::{Ridge, LinTs};
/// use plausibly_sim::{Bandit, Comparison, Metric, Plan};
/// let metric = Metric::default_for(Setting::Fixed, Defaults::Current);
/// let problem = |rng: &mut _| Box::new(Bandit::random_linear(3, 10, 0.5, rng)) as _;
/// let summary = Comparison::new(problem, metric, Plan { runs: 4, horizon: 200, seed: 7 })
///     .enter("LinTS", |facts| {
///         let ridge = Ridge::new(facts.dim, 1.0)?;
///         Ok(Box::new(LinTs::new(ridge, facts.noise_scale)?))
///     })
///     .run(std::num::NonZeroUsize::MIN, &())?;
/// assert_eq!((summary.runs, summary.rounds.last()), (4, Some(&200)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Comparison {
    problem: Box<MakeProblem>,
    metric: Metric,
    plan: Plan,
    delay: Delay,
    entrants: Vec<(String, Box<MakePolicy>)>,
}

impl fmt::Debug for Comparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let labels: Vec<_> = self.entrants.iter().map(|(label, _)| label).collect();
        f.debug_struct("Comparison")
            .field("entrants", &labels)
            .field("plan", &self.plan)
            .finish_non_exhaustive()
    }
}

/// Plays runs on several threads, and hands their results to `take` in the order of their numbers.
/// Called from a thread of a pool it uses that pool, so that several comparisons can share one.
///
/// # Errors
/// The first error of a run, or if no threads can be started.
pub fn in_order<T: Send>(
    runs: u64,
    threads: NonZeroUsize,
    play: impl Fn(u64) -> Result<T, RunError> + Sync,
    mut take: impl FnMut(T),
) -> Result<(), RunError> {
    let pool = match rayon::current_thread_index() {
        Some(_) => None,
        None => Some(rayon::ThreadPoolBuilder::new().num_threads(threads.get()).build()?),
    };
    let batch = (BATCH * threads.get()) as u64;
    let mut first = 0;
    while first < runs {
        let last = runs.min(first + batch);
        let numbers: Vec<u64> = (first..last).collect();
        // One run at a time: runs are long, so a free thread can simply take the next one.
        let playing = || numbers.into_par_iter().with_max_len(1).map(&play).collect();
        let played: Vec<_> = match &pool {
            Some(pool) => pool.install(playing),
            None => playing(),
        };
        for run in played {
            take(run?);
        }
        first = last;
    }
    Ok(())
}

/// Runs per thread before their results are summed: enough that threads seldom wait, few enough
/// that memory stays small.
const BATCH: usize = 128;
/// Progress reports per run.
const REPORTS: u64 = 100;

type Watched = Player<Box<dyn Policy>, (Regret, Vec<ModelError<Radius>>)>;

impl Comparison {
    /// A comparison without policies yet, on problems made by `problem`.
    ///
    /// # Panics
    /// If the plan has no run or no round.
    pub fn new(
        problem: impl Fn(&mut Stream) -> Box<dyn Environment> + Send + Sync + 'static,
        metric: Metric,
        plan: Plan,
    ) -> Self {
        assert!(plan.runs > 0 && plan.horizon > 0, "a comparison needs a run and a round");
        Self { problem: Box::new(problem), metric, plan, delay: Delay::None, entrants: Vec::new() }
    }

    /// Delays rewards.
    #[must_use]
    pub fn late(self, delay: Delay) -> Self {
        Self { delay, ..self }
    }

    /// Enters a policy. Its randomness depends on its label, not on its position or the other
    /// policies.
    ///
    /// # Panics
    /// If the label is taken.
    #[must_use]
    pub fn enter(
        mut self,
        label: impl Into<String>,
        make: impl Fn(&Facts) -> Result<Box<dyn Policy>, BoxError> + Send + Sync + 'static,
    ) -> Self {
        let label = label.into();
        assert!(
            self.entrants.iter().all(|(taken, _)| *taken != label),
            "two policies are called {label:?}"
        );
        self.entrants.push((label, Box::new(make)));
        self
    }

    /// Rounds of all runs, for progress.
    pub fn total_rounds(&self) -> u64 {
        self.plan.runs.saturating_mul(self.plan.horizon)
    }

    /// Plays all runs on `threads` threads. The result is the same, to the last bit, for any number
    /// of threads: a run depends on its number alone, and runs are summed in order. Called from a
    /// thread of a rayon pool, it uses that pool instead.
    ///
    /// # Errors
    /// If a policy or the metric cannot be built, the monitor stops the run, or the threads cannot
    /// be started.
    pub fn run(&self, threads: NonZeroUsize, monitor: &dyn Monitor) -> Result<Summary, RunError> {
        self.run_each(threads, monitor, &mut |_, _| {})
    }

    /// Like [`Comparison::run`], and calls `each` with the number of every run, from 0, and the
    /// final figures of its policies. The calls are in the order of the runs, on any number of
    /// threads.
    ///
    /// # Errors
    /// As [`Comparison::run`].
    pub fn run_each(
        &self,
        threads: NonZeroUsize,
        monitor: &dyn Monitor,
        each: &mut dyn FnMut(u64, &[FinalFigures]),
    ) -> Result<Summary, RunError> {
        let mut summary = self.nothing_yet();
        let play = |run| play_run(&[(self, monitor)], run);
        in_order(self.plan.runs, threads, play, |runs| {
            for run in &runs {
                each(summary.runs, &run.last());
                summary.add(run);
            }
        })?;
        Ok(summary)
    }

    /// Plays comparisons on the same problems together, each with its own monitor. The outcome of
    /// each is that of [`Comparison::run`], to the last bit; a policy in several of them plays once
    /// in every run they share, and the metric of each comparison measures it. The caller must make
    /// sure that all of them draw the same problems, and that a label means the same policy
    /// everywhere; this function cannot check it.
    ///
    /// # Errors
    /// As [`Comparison::run`].
    ///
    /// # Panics
    /// If they differ in seed, horizon or delay.
    pub fn run_together(
        comparisons: &[(&Self, &dyn Monitor)],
        threads: NonZeroUsize,
    ) -> Result<Vec<Summary>, RunError> {
        let common = |(each, _): &(&Self, _)| (each.plan.seed, each.plan.horizon, each.delay);
        assert!(
            comparisons.windows(2).all(|two| common(&two[0]) == common(&two[1])),
            "comparisons that are played together have a seed, a horizon and a delay in common"
        );
        let mut summaries: Vec<Summary> =
            comparisons.iter().map(|(each, _)| each.nothing_yet()).collect();
        let most = comparisons.iter().map(|(each, _)| each.plan.runs).max().unwrap_or(0);
        let play = |run| {
            let playing = comparisons.iter().filter(|(each, _)| run < each.plan.runs);
            play_run(&playing.copied().collect::<Vec<_>>(), run)
        };
        let mut run = 0;
        in_order(most, threads, play, |runs| {
            let played = comparisons
                .iter()
                .zip(&mut summaries)
                .filter(|((each, _), _)| run < each.plan.runs);
            played.zip(&runs).for_each(|((_, summary), run)| summary.add(run));
            run += 1;
        })?;
        Ok(summaries)
    }

    /// Plays some of the runs on this thread, for callers that distribute work themselves. Start
    /// from [`Comparison::nothing_yet`] and add parts in order with [`Summary::take`].
    ///
    /// # Errors
    /// As [`Comparison::run`].
    ///
    /// # Panics
    /// If the range is empty or exceeds the planned runs.
    pub fn part(&self, runs: Range<u64>, monitor: &dyn Monitor) -> Result<Part, RunError> {
        assert!(
            runs.start < runs.end && runs.end <= self.plan.runs,
            "a part must be a non-empty range of the {} runs",
            self.plan.runs
        );
        let first = runs.start;
        let played: Result<Vec<_>, _> = runs.map(|run| play_run(&[(self, monitor)], run)).collect();
        Ok(Part { first, runs: played?.into_iter().flatten().collect() })
    }

    /// A summary without runs.
    pub fn nothing_yet(&self) -> Summary {
        let labels = self.entrants.iter().map(|(label, _)| label.clone());
        Summary::new(labels, log_grid(self.plan.horizon))
    }
}

/// The players of a run, and the column of each comparison's policies among them.
struct Cast {
    players: Vec<Watched>,
    columns: Vec<Vec<Column>>,
}

/// A player, and one of the metrics that measure it.
#[derive(Clone, Copy)]
struct Column {
    player: usize,
    metric: usize,
}

impl Cast {
    fn new(
        comparisons: &[(&Comparison, &dyn Monitor)],
        run: u64,
        facts: &Facts,
    ) -> Result<Self, RunError> {
        let mut cast = Self { players: Vec::new(), columns: Vec::new() };
        let mut known: Vec<(&str, Vec<Metric>)> = Vec::new();
        let failed = |source| RunError::Metric { source };
        for (Comparison { metric, entrants, plan, .. }, _) in comparisons {
            let radius = metric.radius.build(facts).map_err(|error| failed(error.into()))?;
            let mut columns = Vec::with_capacity(entrants.len());
            for (label, make) in entrants {
                let place = known.iter().position(|(taken, _)| taken == label);
                let player = place.unwrap_or(known.len());
                if place.is_none() {
                    let policy = make(facts)
                        .map_err(|source| RunError::Policy { label: label.clone(), source })?;
                    let choices = Stream::new(plan.seed, run, &format!("policy/{label}"));
                    cast.players.push(Player {
                        policy,
                        observer: (Regret::new(), Vec::new()),
                        choices,
                    });
                    known.push((label, Vec::new()));
                }
                let metrics = &mut known[player].1;
                let place = metrics.iter().position(|taken| taken == metric);
                columns.push(Column { player, metric: place.unwrap_or(metrics.len()) });
                if place.is_none() {
                    let model = metric.model(facts).map_err(failed)?;
                    cast.players[player].observer.1.push(ModelError::new(
                        model,
                        radius,
                        metric.exclusion,
                    ));
                    metrics.push(*metric);
                }
            }
            cast.columns.push(columns);
        }
        Ok(cast)
    }
}

/// Plays one run of comparisons on the same problems, and returns its contribution to each.
fn play_run(comparisons: &[(&Comparison, &dyn Monitor)], run: u64) -> Result<Vec<Run>, RunError> {
    let Some((Comparison { problem, plan: Plan { horizon, seed, .. }, delay, .. }, _)) =
        comparisons.first()
    else {
        return Ok(Vec::new());
    };
    let (horizon, stream) = (*horizon, |role: &str| Stream::new(*seed, run, role));
    let mut environment = problem(&mut stream("problem"));
    let Cast { mut players, columns } = Cast::new(comparisons, run, &environment.facts(horizon))?;
    let rounds = log_grid(horizon);
    let curves = |columns: &Vec<Column>| vec![Vec::with_capacity(rounds.len()); columns.len()];
    let mut curves: Vec<Vec<Vec<Sample>>> = columns.iter().map(curves).collect();
    let mut due = rounds.iter().copied().peekable();
    let step = horizon.div_ceil(REPORTS);
    let after = |round: u64, players: &[Watched]| {
        if due.next_if_eq(&round).is_some() {
            for (curve, column) in curves.iter_mut().flatten().zip(columns.iter().flatten()) {
                curve.push(sample(&players[column.player], column.metric));
            }
        }
        if round.is_multiple_of(step) || round == horizon {
            let rounds = if round.is_multiple_of(step) { step } else { round % step };
            for (_, monitor) in comparisons {
                monitor.advanced(rounds);
            }
        }
        let stopped = comparisons.iter().any(|(_, monitor)| monitor.stopped());
        if stopped { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let environment = &mut *environment;
    let draws = &mut Draws { offers: stream("actions"), noise: stream("noise") };
    let flow = if *delay == Delay::None {
        play(environment, horizon, draws, &mut players, after)
    } else {
        let late = (*delay, &stream("lateness"));
        play_late(environment, horizon, draws, &mut players, late, after)
    };
    if flow.is_break() {
        return Err(RunError::Stopped);
    }
    let left = |column: &Column| players[column.player].observer.1[column.metric].theta_star_left();
    let runs = curves.into_iter().zip(&columns);
    Ok(runs
        .map(|(curves, columns)| Run { curves, left: columns.iter().map(left).collect() })
        .collect())
}

fn sample(player: &Watched, metric: usize) -> Sample {
    let (regret, model_errors) = &player.observer;
    Sample {
        regret: regret.total(),
        model_error: model_errors[metric].total(),
        plausible: model_errors[metric].plausible_count() as f64,
    }
}
