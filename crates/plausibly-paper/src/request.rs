//! Which experiments to run, and how much of them.

use crate::plan::{self, Job, Scale};
use crate::reproduction::{Reading, STUDIES, Skipped};
use plausibly_data::{DATA_SETS, DataSet};
use thiserror::Error;

/// Tempered CODE and targets: beyond the paper, so it runs only if named.
pub const FRONTIER: &str = "frontier";
/// CODE with pending decisions counted and ignored: beyond the paper, so it runs only if named.
pub const DELAY: &str = "delay";
/// CODE by differences beside CODE by intervals: beyond the paper, so it runs only if named.
pub const DIFFERENCES: &str = "differences";
/// Logistic CODE, and CODE for counts, beside linear rivals: beyond the paper, so it runs only if
/// named.
pub const YES_NO: &str = "yes-no";
/// How soon actions are ruled out by each set: beyond the paper, so it runs only if named.
pub const VERDICTS: &str = "verdicts";

/// Which experiments, and how much of them. The same request gives the same results, byte for byte.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// Each the `id` of a study, [`FRONTIER`], [`DELAY`], [`DIFFERENCES`], [`VERDICTS`] or
    /// [`YES_NO`]; empty for all of the paper's.
    pub experiments: Vec<String>,
    /// Runs per experiment, instead of the paper's number.
    pub runs: Option<u64>,
    /// A tenth of the runs.
    pub quick: bool,
    /// Seed of all randomness.
    pub seed: u64,
    /// How the paper's λ = 10⁴ is read.
    pub reading: Reading,
}

/// A request that makes no sense.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum RequestError {
    /// The study is not the paper's, so it has no literal reading.
    #[error("{what} has no literal reading: {because}")]
    NoLiteralReading {
        /// Its name.
        name: &'static str,
        /// The study in words.
        what: &'static str,
        /// Why not.
        because: &'static str,
    },
    /// There is no such experiment.
    #[error("there is no experiment {name:?}; there are {}", Request::names().join(", "))]
    Unknown {
        /// The name in the request.
        name: String,
    },
}

/// All of the paper's experiments, with its numbers of runs.
impl Default for Request {
    fn default() -> Self {
        Self {
            experiments: Vec::new(),
            runs: None,
            quick: false,
            seed: 2024,
            reading: Reading::Adopted,
        }
    }
}

impl Request {
    /// The names of all experiments.
    pub fn names() -> Vec<&'static str> {
        let beyond = [FRONTIER, DELAY, DIFFERENCES, VERDICTS, YES_NO];
        STUDIES.map(|study| study.id).into_iter().chain(beyond).collect()
    }

    /// Whether an experiment is asked for by its name.
    pub fn is_named(&self, experiment: &str) -> bool {
        self.experiments.iter().any(|name| name == experiment)
    }

    /// Checks that it makes sense.
    ///
    /// # Errors
    /// If it names an unknown experiment, or asks for a literal reading of one that is not the
    /// paper's.
    pub fn check(&self) -> Result<(), RequestError> {
        if let Some(name) =
            self.experiments.iter().find(|name| !Self::names().contains(&name.as_str()))
        {
            return Err(RequestError::Unknown { name: name.clone() });
        }
        let beyond = [
            (FRONTIER, "the frontier", "tempered CODE and targets are not the paper's"),
            (DELAY, "the delay study", "late rewards are not the paper's"),
            (VERDICTS, "the study of verdicts", "its sets are not the paper's"),
            (YES_NO, "the study of yes and no", "the paper's rewards have Gaussian noise"),
            (DIFFERENCES, "the study of differences", "the paper rules out by intervals"),
        ];
        for (name, what, because) in beyond {
            if self.reading == Reading::Literal && self.is_named(name) {
                return Err(RequestError::NoLiteralReading { name, what, because });
            }
        }
        Ok(())
    }

    /// The data sets it needs.
    pub fn data_sets(&self) -> impl Iterator<Item = &'static DataSet> + '_ {
        let wanted = |name: &str| {
            self.experiments.is_empty()
                || [name, FRONTIER, DIFFERENCES].iter().any(|name| self.is_named(name))
        };
        DATA_SETS.iter().filter(move |set| wanted(set.name))
    }

    /// The command that gives the same report, without options that do not change it.
    pub fn command(&self) -> String {
        let mut words = vec!["plausibly reproduce".to_string()];
        words.extend(self.experiments.iter().cloned());
        if self.quick {
            words.push("--quick".into());
        }
        words.extend(self.runs.map(|runs| format!("--runs {runs}")));
        words.push(format!("--seed {}", self.seed));
        if self.reading == Reading::Literal {
            words.push("--reading literal".into());
        }
        words.join(" ")
    }

    /// The jobs of the request, without those that were skipped.
    pub(crate) fn jobs(&self, skipped: &[Skipped]) -> Vec<Job> {
        let there = |id: &&'static str| skipped.iter().all(|skipped| skipped.study != *id);
        let there: Vec<_> = STUDIES.map(|study| study.id).into_iter().filter(there).collect();
        let named = |id: &&'static str| self.experiments.is_empty() || self.is_named(id);
        let studies: Vec<_> = there.iter().copied().filter(named).collect();
        let scale = Scale { runs: self.runs, quick: self.quick };
        let mut jobs = plan::plan(&studies, scale, self.seed, self.reading);
        if self.is_named(FRONTIER) {
            jobs.extend(plan::frontier(&there, scale, self.seed));
        }
        if self.is_named(DELAY) {
            jobs.extend(plan::delay(scale, self.seed));
        }
        if self.is_named(VERDICTS) {
            jobs.extend(plan::verdicts(scale, self.seed));
        }
        if self.is_named(YES_NO) {
            jobs.extend(plan::yes_no(scale, self.seed));
        }
        if self.is_named(DIFFERENCES) {
            jobs.extend(plan::differences(&there, scale, self.seed));
        }
        jobs
    }
}
