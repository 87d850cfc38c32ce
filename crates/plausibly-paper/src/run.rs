//! Plays the jobs of a request.

use crate::plan::{Job, Part, Role};
use crate::reproduction::{
    Checked, Compared, Late, Measured, Reproduction, Ruled, Skipped, Watched,
};
use crate::request::{DELAY, DIFFERENCES, FRONTIER, Request, VERDICTS, YES_NO};
use crate::theory::{ArmsTheory, LinearTheory, TheoryError};
use plausibly_sim::{
    Comparison, Experiment, Monitor, Overrides, PolicyVerdicts, Pools, RunError, SpecError, Summary,
};
use rayon::prelude::*;
use std::num::NonZeroUsize;
use thiserror::Error;

/// Why a reproduction did not finish.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum PaperError {
    /// A spec cannot be read, for example because its data are missing.
    #[error("{name} cannot be run: {source}")]
    Spec {
        /// Name of the spec.
        name: &'static str,
        /// Why.
        source: SpecError,
    },
    /// The monitor asked to stop.
    #[error("stopped")]
    Stopped,
    /// A run failed.
    #[error(transparent)]
    Run(TheoryError),
}

impl From<TheoryError> for PaperError {
    fn from(error: TheoryError) -> Self {
        match error {
            TheoryError::Run(RunError::Stopped) => Self::Stopped,
            other => Self::Run(other),
        }
    }
}

/// The jobs of a request, read and checked.
#[derive(Debug)]
pub struct Prepared {
    request: Request,
    skipped: Vec<Skipped>,
    jobs: Vec<(Job, Experiment)>,
}

impl Prepared {
    /// Reads all specs of a request except those of skipped experiments.
    ///
    /// # Errors
    /// If the data of one of them are missing.
    pub fn new(
        request: &Request,
        skipped: Vec<Skipped>,
        pools: &dyn Pools,
    ) -> Result<Self, PaperError> {
        let mut jobs = Vec::new();
        for job in request.jobs(&skipped) {
            let read = Experiment::from_toml(&job.spec, Overrides::default(), pools);
            let experiment =
                read.map_err(|source| PaperError::Spec { name: job.spec_name, source })?;
            jobs.push((job, experiment));
        }
        Ok(Self { request: request.clone(), skipped, jobs })
    }

    /// The names of the experiments to run.
    pub fn names(&self) -> Vec<&'static str> {
        let mut names = Vec::new();
        for (job, _) in &self.jobs {
            let name = match job.role {
                Role::Frontier(_) => FRONTIER,
                Role::Delay { .. } => DELAY,
                Role::Verdicts(_) => VERDICTS,
                Role::Differences { .. } => DIFFERENCES,
                Role::YesNo(_) | Role::YesNoTable(..) => YES_NO,
                _ => job.study,
            };
            if !names.contains(&name) {
                names.push(name);
            }
        }
        names
    }

    /// The comparisons and checks of theory, in the order in which they are run.
    pub fn experiments(&self) -> impl ExactSizeIterator<Item = &Experiment> {
        self.jobs.iter().map(|(_, experiment)| experiment)
    }

    /// Rounds of all runs and policies together, for progress.
    pub fn total_rounds(&self) -> u64 {
        let work = |experiment: &Experiment| {
            experiment.runs * experiment.horizon * experiment.policies.len() as u64
        };
        self.experiments().map(work).sum()
    }

    /// Plays everything on `threads` threads, which continue with the next spec instead of waiting
    /// for one another; calls `begins` with the name of every spec before it is played. The outcome
    /// is the same, to the last bit, for any number of threads.
    ///
    /// # Errors
    /// If the monitor asks to stop, or a run fails.
    pub fn run(
        &self,
        threads: NonZeroUsize,
        monitor: &dyn Monitor,
        begins: impl Fn(&'static str) + Sync,
    ) -> Result<Reproduction, PaperError> {
        let run = |group: &Vec<usize>| {
            let jobs: Vec<_> = group.iter().map(|job| &self.jobs[*job]).collect();
            for (job, _) in &jobs {
                begins(job.spec_name);
            }
            let outcomes = run_group(&jobs, threads, monitor)?;
            Ok::<_, TheoryError>(group.iter().copied().zip(outcomes).collect())
        };
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads.get()).build();
        let pool = pool.map_err(|error| TheoryError::from(RunError::from(error)))?;
        let groups = self.groups();
        let outcomes: Vec<Vec<_>> =
            pool.install(|| groups.par_iter().with_max_len(1).map(run).collect::<Result<_, _>>())?;
        let mut outcomes: Vec<(usize, Outcome)> = outcomes.into_iter().flatten().collect();
        outcomes.sort_by_key(|(job, _)| *job);
        let mut reproduction = self.nothing_yet();
        for ((job, experiment), (_, outcome)) in self.jobs.iter().zip(outcomes) {
            outcome.put(job, experiment, &mut reproduction);
        }
        Ok(reproduction)
    }

    /// Groups jobs that are played together: comparisons on the same problems.
    fn groups(&self) -> Vec<Vec<usize>> {
        let mut groups: Vec<Vec<usize>> = Vec::new();
        for (at, (job, experiment)) in self.jobs.iter().enumerate() {
            let fits = |other: &usize| {
                let (other, theirs) = &self.jobs[*other];
                job.role.is_comparison()
                    && other.role.is_comparison()
                    && experiment.plays_with(theirs)
            };
            match groups.iter_mut().find(|group| group.iter().all(fits)) {
                Some(group) => group.push(at),
                None => groups.push(vec![at]),
            }
        }
        groups
    }

    fn nothing_yet(&self) -> Reproduction {
        let Request { runs, quick, seed, reading, .. } = self.request;
        Reproduction {
            version: env!("CARGO_PKG_VERSION"),
            command: self.request.command(),
            seed,
            quick: quick && runs.is_none(),
            reading,
            skipped: self.skipped.clone(),
            ..Reproduction::default()
        }
    }
}

/// Counts each round once per policy.
struct Weighted<'a> {
    monitor: &'a dyn Monitor,
    weight: u64,
}

impl Monitor for Weighted<'_> {
    fn advanced(&self, rounds: u64) {
        self.monitor.advanced(rounds * self.weight);
    }

    fn stopped(&self) -> bool {
        self.monitor.stopped()
    }
}

/// The result of a job.
enum Outcome {
    Summary(Summary),
    ArmsTheory(ArmsTheory),
    LinearTheory(LinearTheory),
    Verdicts(Vec<PolicyVerdicts>),
}

fn run_group(
    group: &[&(Job, Experiment)],
    threads: NonZeroUsize,
    monitor: &dyn Monitor,
) -> Result<Vec<Outcome>, TheoryError> {
    let weigh =
        |experiment: &Experiment| Weighted { monitor, weight: experiment.policies.len() as u64 };
    if let [(job, experiment)] = group {
        if job.role.is_watched() {
            let watched = PolicyVerdicts::watch(experiment, threads, monitor)?;
            return Ok(vec![Outcome::Verdicts(watched)]);
        }
        let monitor = weigh(experiment);
        match job.role {
            Role::ArmsTheory => {
                let theory = ArmsTheory::check(experiment, threads, &monitor)?;
                return Ok(vec![Outcome::ArmsTheory(theory)]);
            }
            Role::LinearTheory => {
                let theory = LinearTheory::check(experiment, threads, &monitor)?;
                return Ok(vec![Outcome::LinearTheory(theory)]);
            }
            _ => {}
        }
    }
    let played: Vec<_> =
        group.iter().map(|(_, experiment)| (experiment.comparison(), weigh(experiment))).collect();
    let followed: Vec<_> =
        played.iter().map(|(each, monitor)| (each, monitor as &dyn Monitor)).collect();
    let summaries = Comparison::run_together(&followed, threads)?;
    Ok(summaries.into_iter().map(Outcome::Summary).collect())
}

impl Outcome {
    /// Stores it in its place in the reproduction.
    fn put(self, job: &Job, experiment: &Experiment, into: &mut Reproduction) {
        let &Job { study, role, spec_name, ref spec } = job;
        let spec = spec.clone();
        let summary = match self {
            Self::ArmsTheory(theory) => {
                return into.arms_theory.push(Checked { spec_name, spec, theory });
            }
            Self::LinearTheory(theory) => {
                into.linear_theory = Some(Checked { spec_name, spec, theory });
                return;
            }
            Self::Verdicts(policies) => {
                let horizon = experiment.horizon;
                let watched = |problem| Watched { problem, spec, horizon, policies };
                match role {
                    Role::YesNoTable(table, Part::Arms) => {
                        into.yes_no.add_arms(table, watched(&table.arms));
                    }
                    Role::YesNoTable(table, _) => {
                        into.yes_no.add_features(table, watched(&table.features));
                    }
                    Role::Verdicts(problem) => into.verdicts.push(watched(problem)),
                    _ => {}
                }
                return;
            }
            Self::Summary(summary) => summary,
        };
        let horizon = experiment.horizon;
        let measured = |variant| Measured { study, variant, spec_name, spec, horizon, summary };
        match role {
            Role::PolicyReadings => {
                into.policy_readings = Some(measured(Some("policies read in other ways")));
            }
            Role::RulerReading => {
                into.ruler_reading = Some(measured(Some("Qₙ measured by another ruler")));
            }
            Role::ProblemReading(variant) => into.problem_readings.push(measured(Some(variant))),
            Role::Frontier(variant) => into.frontier.push(measured(Some(variant))),
            Role::Delay { variant, rounds } => {
                into.delay.push(Late { rounds, measured: measured(Some(variant)) });
            }
            Role::Differences { variant, ruler } => {
                into.differences.push(Ruled { ruler, measured: measured(Some(variant)) });
            }
            Role::YesNo(comparison) => {
                into.yes_no.compared.push(Compared { comparison, measured: measured(None) });
            }
            Role::YesNoTable(table, _) => into.yes_no.add_beta(table, measured(None)),
            Role::Experiment | Role::ArmsTheory | Role::LinearTheory | Role::Verdicts(_) => {
                into.experiments.push(measured(None));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reproduction::Reading;

    #[test]
    fn what_is_played_on_the_same_problems_is_played_together() {
        let groups = |reading| {
            let request =
                Request { experiments: vec!["linear".into()], reading, ..Request::default() };
            Prepared::new(&request, Vec::new(), &()).unwrap().groups()
        };
        // The experiment, its policies read in other ways and measured by another ruler; and a
        // theory.
        assert_eq!(groups(Reading::Adopted), [vec![0, 1, 2], vec![3]]);
        // Read literally the experiment's CODE is another one, under the same label.
        assert_eq!(groups(Reading::Literal), [vec![0], vec![1, 2], vec![3]]);
    }
}
