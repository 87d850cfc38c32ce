//! What experiments are asked to do: requests that own what they are about, because they wait in a
//! queue.

use crate::body::Cell;
use crate::problem::Problem;
use plausibly_log::journal::Checkpoint;
use plausibly_log::recipe::Context;
use plausibly_log::table::Table;
use plausibly_log::{Among, Asked, Log, Recorded, Request, Reward, Taken};
use std::collections::BTreeMap;
use std::sync::Arc;
use tokio::sync::oneshot;

/// The log of an experiment.
pub(crate) type OwnLog = Log<crate::AnyStorage>;

/// The actions to choose from.
#[derive(Debug)]
pub(crate) enum Choices {
    All,
    Named(Vec<String>),
    Rows(Table),
}

/// A request for a decision.
#[derive(Debug)]
pub(crate) struct Ask {
    pub(crate) choices: Choices,
    pub(crate) context: Context,
    pub(crate) key: Option<String>,
    /// SHA-256 of what was asked with the key.
    pub(crate) request: Option<String>,
    pub(crate) by: Option<Arc<str>>,
    /// The number of actions that the certificate lists; with `None` none is made.
    pub(crate) certificate: Option<usize>,
    /// A context whose unknown keys are left out, instead of the one above; `None` for a value that
    /// no feature can have.
    pub(crate) loose: Option<BTreeMap<String, Option<Cell>>>,
}

/// What is said about the outcome of a decision.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Said {
    Reward(Reward),
    Correct(Reward),
    Retract,
    Drop,
    Undrop,
}

impl Said {
    /// The field of a request that says it.
    pub(crate) fn pointer(self) -> &'static str {
        match self {
            Self::Reward(reward) | Self::Correct(reward) if reward.of().is_some() => "/successes",
            _ => "/value",
        }
    }
}

/// An outcome.
#[derive(Clone, Debug)]
pub(crate) struct Outcome {
    pub(crate) decision: u64,
    pub(crate) said: Said,
    pub(crate) by: Option<Arc<str>>,
}

impl Outcome {
    pub(super) fn request(&self) -> Request<'_> {
        let (decision, by) = (self.decision, self.by.as_deref());
        match self.said {
            Said::Reward(reward) => Request::Reward { decision, reward, by },
            Said::Correct(reward) => Request::Correct { decision, reward, by },
            Said::Retract => Request::Retract { decision, by },
            Said::Drop => Request::Drop { decision, by },
            Said::Undrop => Request::Undrop { decision, by },
        }
    }
}

impl Ask {
    /// The request, with the names of its actions borrowed from elsewhere.
    pub(super) fn request<'a>(&'a self, names: &'a [&'a str]) -> Request<'a> {
        let among = match &self.choices {
            Choices::All => Among::All,
            Choices::Named(_) => Among::Named(names),
            Choices::Rows(table) => Among::Rows(table),
        };
        Request::Decide(Asked {
            among,
            context: &self.context,
            key: self.key.as_deref(),
            request: self.request.as_deref(),
            by: self.by.as_deref(),
            certificate: self.certificate,
        })
    }

    pub(super) fn names(&self) -> Vec<&str> {
        match &self.choices {
            Choices::Named(names) => names.iter().map(String::as_str).collect(),
            Choices::All | Choices::Rows(_) => Vec::new(),
        }
    }
}

/// The answers to a job, and the last line on the disk then.
#[derive(Debug)]
pub(crate) struct Done<T> {
    pub(crate) answers: T,
    pub(crate) line: Checkpoint,
}

/// The way back to the one who asked.
pub(crate) type Reply<T> = oneshot::Sender<Result<Done<T>, Problem>>;

/// Something for an experiment to do.
pub(crate) enum Job {
    Decide(Vec<Ask>, Reply<Vec<Result<Taken, Problem>>>),
    Note(Vec<Outcome>, Reply<Vec<Result<Recorded, Problem>>>),
    /// Anything else. It is done alone; the time is that of its lines.
    Other(Act),
}

/// Does something with a log, or hears why not, and returns what then answers.
pub(crate) type Act = Box<dyn FnOnce(Result<&mut OwnLog, Problem>, i64) -> Tell + Send>;

/// Answers the one who asked.
pub(crate) type Tell = Box<dyn FnOnce()>;

impl Job {
    /// How many requests it is.
    pub(super) fn size(&self) -> usize {
        match self {
            Self::Decide(asks, _) => asks.len(),
            Self::Note(outcomes, _) => outcomes.len(),
            Self::Other(_) => 1,
        }
    }

    /// Answers that it was not done.
    pub(super) fn refuse(self, problem: &Problem) {
        match self {
            Self::Decide(_, reply) => drop(reply.send(Err(problem.clone()))),
            Self::Note(_, reply) => drop(reply.send(Err(problem.clone()))),
            Self::Other(act) => act(Err(problem.clone()), 0)(),
        }
    }
}
