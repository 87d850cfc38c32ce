//! The loop over all connections: one thread, which asks the traffic what to send.

use super::connection::{Connection, Lost};
use super::{Tally, Target};
use mio::{Events, Poll, Token, Waker};
use std::collections::VecDeque;
use std::fmt;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// The token of the pacer.
const PACER: Token = Token(usize::MAX);
/// A connection rests so long after it was lost, so that a service that is gone does not get all
/// of the processor's time.
const REST: Duration = Duration::from_millis(10);
/// A run fails if connections are lost for so long without one answer.
const PATIENCE: Duration = Duration::from_secs(5);

/// What a request asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A decision.
    Decide,
    /// The reward of an earlier decision.
    Reward,
    /// A page that is always the same.
    Constant,
}

impl Kind {
    /// All kinds.
    pub const ALL: [Self; 3] = [Self::Decide, Self::Reward, Self::Constant];

    /// The name in results.
    pub fn name(self) -> &'static str {
        match self {
            Self::Decide => "decide",
            Self::Reward => "reward",
            Self::Constant => "constant",
        }
    }
}

/// A request on its way.
#[derive(Clone, Copy, Debug)]
pub struct Job {
    /// What it asks for.
    pub kind: Kind,
    /// When its latency begins.
    pub since: Instant,
    /// The experiment it is about.
    pub experiment: usize,
}

/// What to send, and when.
pub trait Traffic {
    /// The run begins now. Returns when it is cut off at the latest.
    fn begin(&mut self, now: Instant) -> Instant;

    /// The time between requests, if they start at fixed times.
    fn pace(&self) -> Option<Duration> {
        None
    }

    /// Writes the next request for a connection, if one is due.
    fn next(&mut self, connection: usize, now: Instant, request: &mut Vec<u8>) -> Option<Job>;

    /// Takes the answer, or learns that there will be none. Returns whether a successful answer has
    /// what later requests need.
    fn answered(&mut self, connection: usize, job: Job, answer: Option<(u16, &[u8])>) -> bool;

    /// Whether no request is due from now on.
    fn is_over(&self, now: Instant) -> bool;

    /// The run has ended; adds what only the traffic knows.
    fn finish(&mut self, _now: Instant, _tally: &mut Tally) {}
}

/// Why a run ended early.
#[derive(Debug)]
pub enum LoadError {
    /// No connection can be made.
    Connect(io::Error),
    /// The system refuses what the loop needs.
    System(io::Error),
    /// Connections were lost for seconds without one answer.
    Gone(String),
}

impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Connect(error) => write!(f, "cannot connect: {error}; is the service running?"),
            Self::System(error) => write!(f, "cannot wait for connections: {error}"),
            Self::Gone(last) => write!(
                f,
                "no answer for {} seconds, and no connection lasts: {last}",
                PATIENCE.as_secs()
            ),
        }
    }
}

impl std::error::Error for LoadError {}

/// Sends the traffic over these connections until it is over and answered.
///
/// # Errors
/// If a connection cannot be made at the beginning, or the service stops answering.
pub fn drive(
    target: &Target,
    connections: usize,
    traffic: &mut impl Traffic,
) -> Result<Tally, LoadError> {
    let poll = Poll::new().map_err(LoadError::System)?;
    let waker = Waker::new(poll.registry(), PACER).map_err(LoadError::System)?;
    let mut made = Vec::with_capacity(connections);
    for index in 0..connections {
        let connection = Connection::made(target, poll.registry(), Token(index));
        made.push(connection.map_err(LoadError::Connect)?);
    }
    let begun = Instant::now();
    let cut = traffic.begin(begun);
    let pace = traffic.pace();
    let driver = Driver {
        poll,
        target,
        traffic,
        idle: (0..connections).rev().collect(),
        connections: made,
        resting: VecDeque::new(),
        failing: None,
        tally: Tally::new(begun),
        chunk: vec![0; 1 << 16],
        body: Vec::new(),
    };
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let (waker, over) = (&waker, &over);
        if let Some(pace) = pace {
            scope.spawn(move || keep_pace(waker, begun, pace, over));
        }
        let _over = Over(over);
        driver.run(cut)
    })
}

/// Ends the pacer, also when the traffic panics.
struct Over<'a>(&'a AtomicBool);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Wakes the loop at each scheduled start. A thread does it, because the loop itself can wait only
/// for whole milliseconds.
fn keep_pace(waker: &Waker, begun: Instant, pace: Duration, over: &AtomicBool) {
    let mut next = begun;
    while !over.load(Ordering::Relaxed) {
        let now = Instant::now();
        next = (next + pace).max(now);
        std::thread::sleep(next - now);
        if waker.wake().is_err() {
            return;
        }
    }
}

struct Driver<'a, T> {
    poll: Poll,
    target: &'a Target,
    traffic: &'a mut T,
    connections: Vec<Connection>,
    idle: Vec<usize>,
    /// Connections that were lost, and until when they rest.
    resting: VecDeque<(Instant, usize)>,
    /// Since when connections have been lost without an answer.
    failing: Option<Instant>,
    tally: Tally,
    chunk: Vec<u8>,
    body: Vec<u8>,
}

impl<T: Traffic> Driver<'_, T> {
    fn run(mut self, cut: Instant) -> Result<Tally, LoadError> {
        let mut events = Events::with_capacity(self.connections.len().max(64));
        loop {
            let now = Instant::now();
            while let Some((until, index)) = self.resting.front().copied() {
                if until > now {
                    break;
                }
                self.resting.pop_front();
                self.idle.push(index);
            }
            self.send(now)?;
            let at_rest = self.idle.len() + self.resting.len() == self.connections.len();
            if now >= cut || (at_rest && self.traffic.is_over(now)) {
                return Ok(self.finish(now));
            }
            let wait = if self.resting.is_empty() { 5 * REST } else { REST / 2 };
            match self.poll.poll(&mut events, Some(wait.min(cut - now))) {
                Err(error) if error.kind() != io::ErrorKind::Interrupted => {
                    return Err(LoadError::System(error));
                }
                _ => {}
            }
            for event in events.iter().filter(|event| event.token() != PACER) {
                let index = event.token().0;
                if event.is_writable() {
                    let written = self.connections[index].write();
                    self.keep(index, written)?;
                }
                if event.is_readable() || event.is_read_closed() || event.is_error() {
                    self.receive(index)?;
                }
            }
        }
    }

    /// Sends what is due over idle connections.
    fn send(&mut self, now: Instant) -> Result<(), LoadError> {
        while let Some(index) = self.idle.last().copied() {
            let connection = &mut self.connections[index];
            let Some(job) = self.traffic.next(index, now, connection.reset()) else {
                return Ok(());
            };
            self.idle.pop();
            connection.job = Some(job);
            let sent = if connection.is_down() {
                connection.connect(self.target, self.poll.registry(), Token(index))
            } else {
                connection.write()
            };
            self.keep(index, sent)?;
        }
        Ok(())
    }

    /// Takes an answer, and sends the next request at once.
    fn receive(&mut self, index: usize) -> Result<(), LoadError> {
        let connection = &mut self.connections[index];
        let answer = match connection.read(&mut self.chunk, &mut self.body) {
            Ok(None) => return Ok(()),
            Ok(Some(answer)) => answer,
            Err(lost) => return self.keep(index, Err(lost)),
        };
        let Some(job) = connection.job.take() else {
            connection.shut();
            self.tally.malformed += 1;
            return Ok(());
        };
        if answer.close {
            connection.shut();
        }
        let now = Instant::now();
        self.failing = None;
        self.tally.answered(job.kind, job.since, answer.status, now);
        if !self.traffic.answered(index, job, Some((answer.status, &self.body))) {
            self.tally.malformed += 1;
        }
        self.idle.push(index);
        self.send(now)
    }

    /// Ends a connection that is lost, and lets it rest.
    fn keep(&mut self, index: usize, kept: Result<(), Lost>) -> Result<(), LoadError> {
        let Err(lost) = kept else { return Ok(()) };
        let Some(job) = self.connections[index].shut() else {
            // The service may close an idle connection; the next request makes another one.
            return Ok(());
        };
        let now = Instant::now();
        let why = match lost {
            Lost::Unconnected(error) => {
                self.tally.unconnected += 1;
                error.to_string()
            }
            Lost::Broken(why) => {
                self.tally.broken += 1;
                why
            }
            Lost::Malformed(why) => {
                self.tally.malformed += 1;
                why.to_string()
            }
        };
        self.tally.failed(now);
        self.traffic.answered(index, job, None);
        self.resting.push_back((now + REST, index));
        if now - *self.failing.get_or_insert(now) > PATIENCE {
            return Err(LoadError::Gone(why));
        }
        Ok(())
    }

    fn finish(mut self, now: Instant) -> Tally {
        for job in self.connections.iter().filter_map(|connection| connection.job) {
            self.tally.waited(job.kind, job.since, now);
        }
        self.traffic.finish(now, &mut self.tally);
        self.tally.close();
        self.tally
    }
}
