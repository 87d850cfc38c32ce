//! A closed loop: every connection sends its next request when the last one is answered.

use super::drive::{Job, Traffic};
use super::{Kind, Requests, Target};
use std::time::{Duration, Instant};

/// Requests that are still under way at the end get so long.
const GRACE: Duration = Duration::from_secs(10);
/// No run lasts longer, so that a run of a fixed number of requests ends too.
const LONGEST: Duration = Duration::from_mins(10);

/// What a closed loop sends.
#[derive(Clone, Debug)]
pub enum Mode {
    /// Decisions, spread over the experiments.
    Decide(Requests),
    /// A decision, then its reward.
    Pairs(Requests),
    /// One request, over and over.
    Constant(Vec<u8>),
}

impl Mode {
    /// GET of a page.
    pub fn page(target: &Target, path: &str) -> Self {
        Self::Constant(target.request("GET", path, b""))
    }
}

/// When a closed loop ends.
#[derive(Clone, Copy, Debug)]
pub enum Limit {
    /// After this time.
    Time(Duration),
    /// After this number of requests.
    Count(u64),
}

/// The traffic of a closed loop.
#[derive(Debug)]
pub struct Closed {
    mode: Mode,
    limit: Limit,
    end: Option<Instant>,
    started: u64,
    decided: u64,
    /// The decision each connection owes a reward to, as it stands in the answer; empty if none.
    owed: Vec<(usize, Vec<u8>)>,
}

impl Closed {
    /// A loop over this number of connections.
    pub fn new(mode: Mode, connections: usize, limit: Limit) -> Self {
        let owed = vec![(0, Vec::new()); connections];
        Self { mode, limit, end: None, started: 0, decided: 0, owed }
    }
}

impl Traffic for Closed {
    fn begin(&mut self, now: Instant) -> Instant {
        match self.limit {
            Limit::Time(time) => {
                let end = now + time.min(LONGEST);
                self.end = Some(end);
                end + GRACE
            }
            Limit::Count(_) => now + LONGEST,
        }
    }

    fn next(&mut self, connection: usize, now: Instant, request: &mut Vec<u8>) -> Option<Job> {
        if self.is_over(now) {
            return None;
        }
        self.started += 1;
        let (kind, experiment) = match &self.mode {
            Mode::Constant(page) => {
                request.extend_from_slice(page);
                (Kind::Constant, 0)
            }
            Mode::Pairs(requests) if !self.owed[connection].1.is_empty() => {
                let (experiment, decision) = &mut self.owed[connection];
                requests.reward(*experiment, decision, request);
                decision.clear();
                (Kind::Reward, *experiment)
            }
            Mode::Decide(requests) | Mode::Pairs(requests) => {
                self.decided += 1;
                (Kind::Decide, requests.decide(self.decided, request))
            }
        };
        Some(Job { kind, since: now, experiment })
    }

    fn answered(&mut self, connection: usize, job: Job, answer: Option<(u16, &[u8])>) -> bool {
        let (Mode::Pairs(requests), Some((200..300, body))) = (&self.mode, answer) else {
            return true;
        };
        if let Some(decision) = requests.decision(job.kind, body) {
            let owed = &mut self.owed[connection];
            owed.0 = job.experiment;
            owed.1.extend_from_slice(decision);
        }
        job.kind != Kind::Decide || !self.owed[connection].1.is_empty()
    }

    fn is_over(&self, now: Instant) -> bool {
        match self.limit {
            Limit::Time(_) => self.end.is_some_and(|end| now >= end),
            Limit::Count(count) => self.started >= count,
        }
    }
}
