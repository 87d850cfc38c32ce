//! The experiments of a data folder: one log each, in `DATA/NAME/log`. A running experiment has a
//! thread, which alone writes to its log; it begins with the first request and ends when nothing
//! was asked for a while.

mod clocks;
mod folder;
mod jobs;
#[cfg(test)]
mod tests;
mod worker;

pub(crate) use clocks::Clocks;
pub(crate) use folder::{Folder, check_name};
pub(crate) use jobs::{Ask, Choices, Done, Job, Outcome, OwnLog, Reply, Said};

use crate::keys::no_experiment;
use crate::metrics::Metrics;
use crate::problem::{Code, Problem};
use crate::refusal;
use crate::world::World;
use plausibly_log::{Log, LogError};
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;
use tokio::sync::oneshot;
use worker::{End, Worker};

/// At most this many requests wait for an experiment. Each holds a connection, so there are not
/// many more.
const QUEUE: usize = 512;
/// At most this many logs are open at once.
const MOST_OPEN: usize = 1024;
/// A failed experiment is tried again after this time.
const AGAIN: Duration = Duration::from_secs(10);
/// A log that another process writes to is tried again after this time.
const SOON: Duration = Duration::from_secs(1);

/// What a worker shares with the rest of the service.
pub(crate) struct Shared {
    pub(crate) name: Arc<str>,
    clocks: Arc<Clocks>,
    metrics: Arc<Metrics>,
    world: World,
    /// The number of the last line on the disk.
    last: AtomicU64,
    /// The number of that line when the snapshot was last written.
    kept: AtomicU64,
    /// Whether it was said that deadlines are not settled.
    doubted: AtomicBool,
}

impl Shared {
    /// The number of the last line on the disk.
    pub(crate) fn last(&self) -> u64 {
        self.last.load(Ordering::Acquire)
    }

    fn publish(&self, last: u64, decisions: u64, pending: u64) {
        self.last.store(last, Ordering::Release);
        self.metrics.reached(&self.name, decisions, pending);
    }

    /// Says one thing about this experiment.
    fn report(&self, event: &str, detail: &str) {
        self.world.say(event, &[("experiment", &self.name), ("detail", detail)]);
    }

    /// Whether the clock was set, which is said once.
    fn clocks_in_doubt(&self) -> bool {
        let doubt = self.clocks.have_parted();
        if doubt != self.doubted.swap(doubt, Ordering::Relaxed) {
            if doubt {
                self.report(
                    "not_settling",
                    "the clock was set by more than a minute, so no deadline is settled; set it \
                     back, or restart the service if it is right now",
                );
            } else {
                self.report("settling", "the clock is set back, so deadlines are settled again");
            }
        }
        doubt
    }
}

/// A running experiment.
struct Running {
    queue: SyncSender<Job>,
    shared: Arc<Shared>,
    thread: JoinHandle<()>,
}

/// What is known about an experiment beside its folder.
enum Slot {
    Running(Running),
    /// It failed, and is not tried again before this time.
    Failed(Problem, Duration),
    /// Its folder is being moved away.
    Leaving,
}

impl Slot {
    /// Whether the experiment has failed, and can be tried again.
    fn is_free(&self, now: Duration) -> bool {
        matches!(self, Self::Failed(_, until) if *until <= now)
    }
}

/// The experiments of a data folder.
pub(crate) struct Experiments {
    pub(crate) folder: Folder,
    pub(crate) clocks: Arc<Clocks>,
    world: World,
    metrics: Arc<Metrics>,
    idle: Duration,
    slots: Mutex<HashMap<Arc<str>, Slot>>,
    closing: AtomicBool,
}

impl Experiments {
    pub(crate) fn new(
        folder: Folder,
        world: World,
        metrics: Arc<Metrics>,
        idle: Duration,
    ) -> Arc<Self> {
        let clocks = Arc::new(Clocks::start(Arc::clone(&world.clock)));
        let (slots, closing) = (Mutex::default(), AtomicBool::new(false));
        Arc::new(Self { folder, clocks, world, metrics, idle, slots, closing })
    }

    /// Takes decisions.
    pub(crate) async fn decide(
        self: &Arc<Self>,
        name: &str,
        asks: Vec<Ask>,
    ) -> Result<Done<Vec<Result<plausibly_log::Taken, Problem>>>, Problem> {
        self.ask(name, |reply| Job::Decide(asks, reply)).await
    }

    /// Notes outcomes.
    pub(crate) async fn note(
        self: &Arc<Self>,
        name: &str,
        outcomes: Vec<Outcome>,
    ) -> Result<Done<Vec<Result<plausibly_log::Recorded, Problem>>>, Problem> {
        self.ask(name, |reply| Job::Note(outcomes, reply)).await
    }

    /// Does something with the log of an experiment, at a time for its lines.
    pub(crate) async fn with<T: Send + 'static>(
        self: &Arc<Self>,
        name: &str,
        act: impl FnOnce(&mut OwnLog, i64) -> Result<T, Problem> + Send + 'static,
    ) -> Result<T, Problem> {
        let done = self.ask(name, |reply: Reply<T>| {
            Job::Other(Box::new(move |log, at| {
                let done = log.and_then(|log| {
                    let answers = act(log, at)?;
                    Ok(Done { answers, line: log.last() })
                });
                Box::new(move || drop(reply.send(done)))
            }))
        });
        Ok(done.await?.answers)
    }

    async fn ask<T>(
        self: &Arc<Self>,
        name: &str,
        job: impl FnOnce(Reply<T>) -> Job,
    ) -> Result<Done<T>, Problem> {
        let (reply, answer) = oneshot::channel();
        self.send(name, job(reply))?;
        let lost = |_: oneshot::error::RecvError| {
            Problem::new(
                Code::Internal,
                "the service failed while it did this; look before you ask again, or ask with the \
                 same key",
            )
        };
        answer.await.map_err(lost)?
    }

    /// Puts a job into the queue of an experiment, which begins to run if it does not.
    fn send(self: &Arc<Self>, name: &str, job: Job) -> Result<(), Problem> {
        // Looked up without the lock, because a disk may be slow.
        let is_known = self.slots().contains_key(name) || self.folder.has(name);
        if !is_known {
            return Err(no_experiment(name));
        }
        let mut slots = self.slots();
        let queue = match slots.get(name) {
            Some(Slot::Running(running)) => running.queue.clone(),
            Some(Slot::Failed(problem, until)) if self.clocks.elapsed() < *until => {
                return Err(problem.clone());
            }
            Some(Slot::Leaving) => return Err(no_experiment(name)),
            Some(Slot::Failed(..)) | None => self.start(&mut slots, name)?,
        };
        match queue.try_send(job) {
            Ok(()) => Ok(()),
            Err(TrySendError::Full(_)) => {
                self.metrics.shed(name);
                Err(Problem::new(Code::Busy, "too many requests wait for this experiment"))
            }
            Err(TrySendError::Disconnected(_)) => {
                // Its thread has ended without saying so; the next request begins another.
                slots.remove(name);
                Err(Problem::new(Code::Busy, "the experiment is being opened again"))
            }
        }
    }

    /// Begins to run an experiment.
    fn start(
        self: &Arc<Self>,
        slots: &mut HashMap<Arc<str>, Slot>,
        name: &str,
    ) -> Result<SyncSender<Job>, Problem> {
        // While it closes there are no slots, so every request comes here.
        if self.closing.load(Ordering::Relaxed) {
            return Err(Problem::new(Code::Leaving, "the service is shutting down"));
        }
        if !self.folder.has(name) {
            return Err(no_experiment(name));
        }
        let open = slots.values().filter(|slot| matches!(slot, Slot::Running(_))).count();
        if open >= MOST_OPEN {
            return Err(Problem::new(Code::Busy, "too many experiments are open at once"));
        }
        let name: Arc<str> = name.into();
        let (queue, jobs) = sync_channel(QUEUE);
        let shared = Arc::new(Shared {
            name: Arc::clone(&name),
            clocks: Arc::clone(&self.clocks),
            metrics: Arc::clone(&self.metrics),
            world: self.world.clone(),
            last: AtomicU64::new(0),
            kept: AtomicU64::new(0),
            doubted: AtomicBool::new(false),
        });
        let (all, own) = (Arc::clone(self), Arc::clone(&shared));
        let thread = std::thread::Builder::new()
            .name(name.chars().take(15).collect())
            .spawn(move || all.run(&own, jobs))
            .map_err(|_no_thread| Problem::new(Code::Busy, "the system gives no more threads"))?;
        slots.insert(name, Slot::Running(Running { queue: queue.clone(), shared, thread }));
        Ok(queue)
    }

    /// The thread of an experiment.
    fn run(&self, shared: &Arc<Shared>, queue: Receiver<Job>) {
        let opened = Log::open_from_snapshot((self.world.disk)(&self.folder.log(&shared.name)));
        let opened = opened.and_then(|log| match log.state() {
            Some(_) => Ok(log),
            None => Err(LogError::Empty),
        });
        let log = match opened {
            Ok(log) => log,
            Err(error) => {
                shared.report("experiment_not_opened", &error.to_string());
                let problem = match &error {
                    LogError::Empty => no_experiment(&shared.name),
                    error => refusal::stopped(error),
                };
                return self.fail(&shared.name, &problem, &queue);
            }
        };
        if let Some(recovery) = log.recovery() {
            shared.report("log_repaired", &recovery.to_string());
        }
        let mut worker = Worker { log, queue, shared: Arc::clone(shared), idle: self.idle };
        let problem = loop {
            match worker.run() {
                End::Closed => return,
                End::Failed(problem) => break problem,
                End::Idle => {
                    let mut slots = self.slots();
                    // Jobs are sent under this lock, so nothing can come after this look.
                    match worker.queue.try_recv() {
                        Err(_) => {
                            // The log is closed before another thread can open it.
                            drop(worker);
                            if matches!(slots.get(&shared.name), Some(Slot::Running(_))) {
                                slots.remove(&shared.name);
                            }
                            return;
                        }
                        Ok(job) => {
                            drop(slots);
                            if let Err(problem) = worker.carry_out(job) {
                                break problem;
                            }
                        }
                    }
                }
            }
        };
        let Worker { log, queue, .. } = worker;
        // Closed before the experiment can be tried again.
        drop(log);
        self.fail(&shared.name, &problem, &queue);
    }

    /// Notes that an experiment has failed, and refuses what waits for it.
    fn fail(&self, name: &Arc<str>, problem: &Problem, queue: &Receiver<Job>) {
        let pause = if problem.code == Code::Busy { SOON } else { AGAIN };
        let until = self.clocks.elapsed() + pause;
        let mut slots = self.slots();
        if matches!(slots.get(name), Some(Slot::Leaving)) {
            // Its folder is about to be moved.
        } else if problem.code == Code::NoExperiment {
            slots.remove(name);
        } else {
            slots.insert(Arc::clone(name), Slot::Failed(problem.clone(), until));
        }
        for job in queue.try_iter() {
            job.refuse(problem);
        }
    }

    fn slots(&self) -> MutexGuard<'_, HashMap<Arc<str>, Slot>> {
        self.slots.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The running experiments.
    pub(crate) fn running(&self) -> Vec<Arc<Shared>> {
        let slots = self.slots();
        let running = slots.values().filter_map(|slot| match slot {
            Slot::Running(running) => Some(Arc::clone(&running.shared)),
            Slot::Failed(..) | Slot::Leaving => None,
        });
        running.collect()
    }

    /// The number of the last line that was acknowledged, if the experiment runs.
    pub(crate) fn last(&self, name: &str) -> Option<u64> {
        match self.slots().get(name)? {
            Slot::Running(running) => Some(running.shared.last()).filter(|last| *last > 0),
            Slot::Failed(..) | Slot::Leaving => None,
        }
    }

    /// The experiments that have failed and are not yet tried again.
    pub(crate) fn failed(&self) -> Vec<String> {
        let now = self.clocks.elapsed();
        let slots = self.slots();
        let failed = slots.iter().filter(|(_, slot)| {
            matches!(slot, Slot::Failed(problem, until)
                if *until > now && problem.code == Code::Stopped)
        });
        let mut names: Vec<String> = failed.map(|(name, _)| name.to_string()).collect();
        names.sort();
        names
    }

    /// Reads the log of an experiment without its thread. `read` may take long.
    pub(crate) fn reader(&self, name: &str) -> Result<crate::AnyStorage, Problem> {
        if !self.folder.has(name) {
            return Err(no_experiment(name));
        }
        Ok((self.world.disk)(&self.folder.log(name)))
    }

    /// Moves the folder of an experiment aside, once its thread has ended. Blocks for that long.
    pub(crate) fn remove(&self, name: &str, at_us: i64) -> Result<String, Problem> {
        let before = {
            let mut slots = self.slots();
            if !self.folder.has(name) || matches!(slots.get(name), Some(Slot::Leaving)) {
                return Err(no_experiment(name));
            }
            slots.insert(name.into(), Slot::Leaving)
        };
        if let Some(Slot::Running(Running { queue, thread, .. })) = before {
            drop(queue);
            let _ = thread.join();
        }
        let moved = self.folder.remove(name, at_us);
        self.slots().remove(name);
        self.metrics.forget(name);
        moved.map_err(|error| {
            self.world.say("not_removed", &[("experiment", name), ("detail", &error.to_string())]);
            Problem::new(Code::Stopped, "the folder of the experiment could not be moved")
        })
    }

    /// Opens the experiments that are not open and whose deadlines must be settled: at the start,
    /// and again later, because one may have failed, or be new in the folder.
    pub(crate) fn wake(self: &Arc<Self>) {
        let names = self.folder.names().into_iter();
        let with_window = names.filter(|name| self.folder.has_window(name));
        for name in with_window {
            let mut slots = self.slots();
            let now = self.clocks.elapsed();
            if slots.get(name.as_str()).is_none_or(|slot| slot.is_free(now))
                && let Err(problem) = self.start(&mut slots, &name)
            {
                let about = [("experiment", name.as_str()), ("detail", &problem.detail)];
                self.world.say("not_settling", &about);
            }
        }
    }

    /// Writes snapshots of experiments that have gone on by many lines since the last one.
    pub(crate) fn keep_snapshots(&self) {
        for shared in self.running() {
            let (last, kept) = (shared.last(), shared.kept.load(Ordering::Relaxed));
            if last < kept + 2 * plausibly_log::LINES {
                continue;
            }
            let mut storage = (self.world.disk)(&self.folder.log(&shared.name));
            match plausibly_log::keep_milestones(&mut storage) {
                Ok(_) => shared.kept.store(last, Ordering::Relaxed),
                Err(error) => shared.report("no_snapshot", &error.to_string()),
            }
        }
    }

    /// Takes no more jobs, answers those that wait, and returns when all logs are closed or the
    /// time is over. Blocks.
    pub(crate) fn close(&self, patience: Duration) {
        let deadline = self.clocks.elapsed() + patience;
        let slots = {
            let mut slots = self.slots();
            self.closing.store(true, Ordering::Relaxed);
            std::mem::take(&mut *slots)
        };
        let threads = slots.into_values().filter_map(|slot| match slot {
            Slot::Running(Running { queue, thread, .. }) => {
                drop(queue);
                Some(thread)
            }
            Slot::Failed(..) | Slot::Leaving => None,
        });
        for thread in threads.collect::<Vec<_>>() {
            while !thread.is_finished() && self.clocks.elapsed() < deadline {
                std::thread::sleep(Duration::from_millis(2));
            }
            if thread.is_finished() {
                let _ = thread.join();
            }
        }
    }
}
