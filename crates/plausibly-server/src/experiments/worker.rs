//! The thread of an experiment. It alone owns the log: it takes what waits in the queue, carries it
//! out with one write and one sync, and answers. While nothing waits it settles deadlines.

use super::Shared;
use super::jobs::{Ask, Choices, Done, Job, Outcome, OwnLog};
use crate::body::{self, check_size};
use crate::problem::{Code, Problem};
use crate::refusal;
use plausibly_log::state::{State, StepError};
use plausibly_log::table::Table;
use plausibly_log::{Answer, LogError, Request};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;

/// One write has at most about this many requests.
const MOST_AT_ONCE: usize = 256;
/// An experiment has at most this many decisions without an outcome.
const MOST_PENDING: u64 = 1_000_000;
/// Looks at the clocks at least this often while decisions wait for their deadlines.
const LOOK: Duration = Duration::from_secs(10);

/// Why a worker ended.
pub(super) enum End {
    /// Nothing was asked for a long time.
    Idle,
    /// All who could ask are gone.
    Closed,
    /// The log can no longer be used.
    Failed(Problem),
}

pub(super) struct Worker {
    pub(super) log: OwnLog,
    pub(super) queue: Receiver<Job>,
    pub(super) shared: Arc<Shared>,
    /// How long nothing may be asked before the log is closed.
    pub(super) idle: Duration,
}

impl Worker {
    pub(super) fn run(&mut self) -> End {
        let mut last_job = self.shared.clocks.elapsed();
        self.publish();
        loop {
            if let Err(problem) = self.settle() {
                return End::Failed(problem);
            }
            let patience = self.patience(last_job);
            match self.queue.recv_timeout(patience) {
                Ok(first) => {
                    last_job = self.shared.clocks.elapsed();
                    // What is due counts before what is asked now.
                    if let Err(problem) = self.settle() {
                        first.refuse(&problem);
                        return End::Failed(problem);
                    }
                    if let Err(problem) = self.carry_out(first) {
                        return End::Failed(problem);
                    }
                }
                Err(RecvTimeoutError::Disconnected) => return End::Closed,
                Err(RecvTimeoutError::Timeout) => {
                    let quiet = self.shared.clocks.elapsed().saturating_sub(last_job);
                    if quiet >= self.idle && !self.waits() {
                        return End::Idle;
                    }
                }
            }
        }
    }

    /// Whether decisions wait for their deadlines.
    fn waits(&self) -> bool {
        self.log.state().is_some_and(|state| state.window().is_some() && state.count_pending() > 0)
    }

    /// How long to wait for the next job.
    fn patience(&mut self, last_job: Duration) -> Duration {
        let quiet = self.shared.clocks.elapsed().saturating_sub(last_job);
        let idle = self.idle.saturating_sub(quiet).max(Duration::from_millis(1));
        if !self.waits() {
            return idle;
        }
        if self.shared.clocks.have_parted() {
            return LOOK;
        }
        let deadline = self.log.next_deadline().ok().flatten();
        let left = deadline.map_or(i64::MAX, |due| due.micros() - self.shared.clocks.now_us());
        let left = Duration::from_micros(u64::try_from(left).unwrap_or(0));
        left.clamp(Duration::from_millis(1), LOOK)
    }

    /// Settles what is due, unless the clock is in doubt.
    fn settle(&mut self) -> Result<(), Problem> {
        if !self.waits() || self.shared.clocks_in_doubt() {
            return Ok(());
        }
        let settled = self.log.settle_due(self.shared.clocks.now_us());
        let settled = settled.map_err(|error| self.failed(&error))?;
        if settled > 0 {
            self.shared.metrics.settled(&self.shared.name, settled);
            self.publish();
        }
        Ok(())
    }

    /// Carries out a job, and what else waits in the queue.
    pub(super) fn carry_out(&mut self, first: Job) -> Result<(), Problem> {
        let mut size = first.size();
        let mut jobs = vec![first];
        while size < MOST_AT_ONCE
            && let Ok(job) = self.queue.try_recv()
        {
            size += job.size();
            jobs.push(job);
        }
        let mut jobs = jobs.into_iter().peekable();
        while let Some(job) = jobs.next() {
            let outcome = match job {
                Job::Other(act) => {
                    let tell = act(Ok(&mut self.log), self.shared.clocks.now_us());
                    self.publish();
                    tell();
                    self.still_usable()
                }
                job => {
                    let mut together = vec![job];
                    while let Some(job) = jobs.next_if(|job| !matches!(job, Job::Other(_))) {
                        together.push(job);
                    }
                    // They came at the same time, so any order is right. With the outcomes first,
                    // what is known is derived once for all decisions.
                    together.sort_by_key(|job| matches!(job, Job::Decide(..)));
                    self.batch(together)
                }
            };
            if let Err(problem) = outcome {
                for job in jobs {
                    job.refuse(&problem);
                }
                return Err(problem);
            }
        }
        Ok(())
    }

    /// Carries out decisions and outcomes with one write.
    fn batch(&mut self, mut jobs: Vec<Job>) -> Result<(), Problem> {
        let refused = self.prepare(&mut jobs);
        let names: Vec<Vec<&str>> = jobs.iter().flat_map(asks).map(Ask::names).collect();
        let mut names = names.iter();
        let mut requests: Vec<Request<'_>> = Vec::new();
        for job in &jobs {
            match job {
                Job::Decide(asks, _) => {
                    let named = asks.iter().zip(names.by_ref());
                    requests.extend(named.map(|(ask, names)| ask.request(names)));
                }
                Job::Note(outcomes, _) => requests.extend(outcomes.iter().map(Outcome::request)),
                Job::Other(_) => {}
            }
        }
        let began = self.shared.clocks.elapsed();
        let answers = self.log.batch(self.shared.clocks.now_us(), &requests);
        let took = self.shared.clocks.elapsed().saturating_sub(began);
        self.shared.metrics.batch(requests.len(), took);
        match answers {
            Ok(answers) => {
                // Before the answers, so that those who have one find what it is about.
                self.publish();
                self.answer(jobs, answers, refused);
            }
            Err(error) => {
                let problem = self.failed(&error);
                for job in jobs {
                    job.refuse(&problem);
                }
                return Err(problem);
            }
        }
        Ok(())
    }

    /// Passes the answers of a batch to those who asked.
    fn answer(
        &mut self,
        jobs: Vec<Job>,
        answers: Vec<Result<Answer, LogError>>,
        refused: Vec<Refused>,
    ) {
        let line = self.log.last();
        let (mut answers, mut refused) = (answers.into_iter(), refused.into_iter().peekable());
        for (job, work) in jobs.into_iter().enumerate() {
            match work {
                Job::Decide(asks, reply) => {
                    let own = asks.iter().zip(answers.by_ref()).map(|(ask, answer)| match answer {
                        Ok(Answer::Taken(taken)) => Ok(taken),
                        Ok(Answer::Recorded(_)) => unreachable!("a decision was asked for"),
                        Err(error) => Err(refusal::of_ask(&error, ask)),
                    });
                    let mut own: Vec<_> = own.collect();
                    // By place, so that each is put where it was taken out.
                    while let Some(other) = refused.next_if(|refused| refused.job == job) {
                        own.insert(other.place, Err(other.problem));
                    }
                    drop(reply.send(Ok(Done { answers: own, line })));
                }
                Job::Note(outcomes, reply) => {
                    let own = outcomes.iter().zip(answers.by_ref());
                    let own = own.map(|(outcome, answer)| match answer {
                        Ok(Answer::Recorded(recorded)) => Ok(recorded),
                        Ok(Answer::Taken(_)) => unreachable!("an outcome was noted"),
                        Err(error) => Err(self.refused_outcome(outcome, &error)),
                    });
                    let own = own.collect();
                    drop(reply.send(Ok(Done { answers: own, line })));
                }
                Job::Other(_) => {}
            }
        }
    }

    /// Fits what is asked to the experiment, and takes out what cannot be carried out.
    fn prepare(&self, jobs: &mut [Job]) -> Vec<Refused> {
        let mut refused = Vec::new();
        let Some(state) = self.log.state() else { return refused };
        let mut room = MOST_PENDING.saturating_sub(state.count_pending());
        let mut new_keys = BTreeSet::new();
        for (job, work) in jobs.iter_mut().enumerate() {
            let Job::Decide(asks, _) = work else { continue };
            let mut place = 0;
            asks.retain_mut(|ask| {
                let is_old = ask.key.as_ref().is_some_and(|key| {
                    state.decision_with_key(key).is_some() || !new_keys.insert(key.clone())
                });
                if is_old {
                    // Made by a reader instead: the thread would have to read the whole log.
                    ask.certificate = None;
                }
                let fitted = if room == 0 && !is_old {
                    Err(too_many_pending())
                } else {
                    room = room.saturating_sub(1);
                    fit(ask, state)
                };
                let kept = fitted.map_err(|problem| refused.push(Refused { job, place, problem }));
                place += 1;
                kept.is_ok()
            });
        }
        refused
    }

    /// Why an outcome was refused, with what the log holds instead.
    fn refused_outcome(&mut self, outcome: &Outcome, error: &LogError) -> Problem {
        let is_other = matches!(error, LogError::Step(StepError::Outcome { .. }));
        let held = is_other.then(|| self.log.look(outcome.decision).ok()).flatten();
        refusal::of_outcome(error, outcome, held.as_ref())
    }

    /// An error after a job that was done alone, if the log cannot go on.
    fn still_usable(&self) -> Result<(), Problem> {
        if self.log.state().is_some() {
            return Ok(());
        }
        Err(self.failed(&LogError::Stopped))
    }

    /// Reports that the log has stopped, and says so to callers.
    fn failed(&self, error: &LogError) -> Problem {
        self.shared.report("experiment_stopped", &error.to_string());
        refusal::stopped(error)
    }

    /// Makes known how far the log is.
    fn publish(&self) {
        if let Some(state) = self.log.state() {
            let (decisions, pending) = (state.count_decisions(), state.count_pending());
            self.shared.publish(self.log.last().seq, decisions, pending);
        }
    }
}

/// A decision that is refused before the log is asked: its job, and its place in it.
struct Refused {
    job: usize,
    place: usize,
    problem: Problem,
}

fn asks(job: &Job) -> &[Ask] {
    match job {
        Job::Decide(asks, _) => asks,
        _ => &[],
    }
}

/// Fits a request to the recipe of the log: labels from its column, and of a loose context the
/// known keys.
fn fit(ask: &mut Ask, state: &State) -> Result<(), Problem> {
    let recipe = state.recipe();
    if let Some(loose) = ask.loose.take() {
        let is_known = |key: &str| recipe.context().iter().any(|column| column.name == key);
        ask.context = body::known_context(loose, is_known)?;
    }
    if let Choices::Rows(table) = &mut ask.choices {
        let labelled = table.clone().with_label(recipe.label());
        *table = labelled.map_err(|error| refusal::of_table(&error, "/rows"))?;
        check_room(table, state)?;
    }
    Ok(())
}

/// Checks that rows stay few enough for quick decisions, and that those with new names do not make
/// the actions of the experiment too many.
fn check_room(table: &Table, state: &State) -> Result<(), Problem> {
    check_size(table.len(), state.recipe().dim(), "/rows")?;
    let new = table.labels().iter().filter(|label| state.live(label).is_none()).count();
    if new == 0 {
        return Ok(());
    }
    let live = state.actions().iter().filter(|action| !action.retired).count();
    if live + new <= body::MOST_ROWS {
        return Ok(());
    }
    let detail = format!(
        "{new} new names would make {} actions, at most {} are allowed; retire some with PUT \
         …/actions",
        live + new,
        body::MOST_ROWS
    );
    Err(Problem::new(Code::NoRoom, detail).at("/rows"))
}

fn too_many_pending() -> Problem {
    Problem::new(
        Code::TooManyPending,
        format!(
            "{MOST_PENDING} decisions of this experiment wait for their outcomes; record outcomes, \
             or drop decisions, and ask again"
        ),
    )
}
