//! An open loop: requests start at fixed times, whether or not earlier ones are answered.

use super::drive::{Job, Traffic};
use super::{Kind, Requests, Tally};
use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// Rewards start so long after the decisions, so that each has a decision to be about.
const LAG: Duration = Duration::from_millis(500);
/// Requests that wait at the end get so long.
const GRACE: Duration = Duration::from_secs(10);
/// The loop wakes at most once in this time, so that it does not take a core from the service.
const SHORTEST_PACE: Duration = Duration::from_micros(100);
/// Where requests do not wait, they are not sent if they could not start within this time.
const TOO_LATE: Duration = Duration::from_millis(10);

/// What happens to a request whose time has come while every connection is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Full {
    /// It waits, and its latency counts from the scheduled start.
    Wait,
    /// It is not sent, and latencies count from the sending: for more load than can be sent.
    Skip,
}

/// The traffic of an open loop.
#[derive(Debug)]
pub struct Open {
    requests: Requests,
    full: Full,
    decisions: Schedule,
    rewards: Schedule,
    /// Experiments and decisions without a reward, in the order of their answers; `None` for a
    /// decision that was refused.
    unrewarded: VecDeque<Option<(usize, Vec<u8>)>>,
    unsent: u64,
    forgone: u64,
}

impl Open {
    /// Decisions and rewards at these rates per second, for this time.
    pub fn new(requests: Requests, rates: (f64, f64), time: Duration, full: Full) -> Self {
        let now = Instant::now();
        Self {
            requests,
            full,
            decisions: Schedule::new(now, rates.0, time),
            rewards: Schedule::new(now, rates.1, time),
            unrewarded: VecDeque::new(),
            unsent: 0,
            forgone: 0,
        }
    }

    /// Passes over rewards whose decisions were refused, and over what is too late to be sent.
    fn pass_over(&mut self, now: Instant) {
        while self.rewards.due(now).is_some() && matches!(self.unrewarded.front(), Some(None)) {
            self.unrewarded.pop_front();
            self.rewards.next += 1;
            self.forgone += 1;
        }
        if self.full == Full::Skip {
            for schedule in [&mut self.decisions, &mut self.rewards] {
                while schedule.due(now).is_some_and(|due| now - due > TOO_LATE) {
                    schedule.next += 1;
                    self.unsent += 1;
                }
            }
        }
    }
}

impl Traffic for Open {
    fn begin(&mut self, now: Instant) -> Instant {
        self.decisions.begin = now;
        self.rewards.begin = now + LAG;
        self.decisions.end().max(self.rewards.end()) + GRACE
    }

    fn pace(&self) -> Option<Duration> {
        let rate = self.decisions.rate + self.rewards.rate;
        Some(Duration::from_secs_f64(rate.recip()).max(SHORTEST_PACE))
    }

    fn next(&mut self, _: usize, now: Instant, request: &mut Vec<u8>) -> Option<Job> {
        self.pass_over(now);
        let reward = self.rewards.due(now).filter(|_| !self.unrewarded.is_empty());
        let decision = self.decisions.due(now);
        let since = |due| if self.full == Full::Wait { due } else { now };
        // The one that is due first.
        match (decision, reward) {
            (decision, Some(due)) if decision.is_none_or(|decision| due < decision) => {
                let (experiment, decision) = self.unrewarded.pop_front()??;
                self.requests.reward(experiment, &decision, request);
                self.rewards.next += 1;
                Some(Job { kind: Kind::Reward, since: since(due), experiment })
            }
            (Some(due), _) => {
                let experiment = self.requests.decide(self.decisions.next, request);
                self.decisions.next += 1;
                Some(Job { kind: Kind::Decide, since: since(due), experiment })
            }
            _ => None,
        }
    }

    fn answered(&mut self, _: usize, job: Job, answer: Option<(u16, &[u8])>) -> bool {
        if job.kind != Kind::Decide || self.rewards.total == 0 {
            return true;
        }
        let accepted = answer.filter(|(status, _)| (200..300).contains(status));
        let decision = accepted.and_then(|(_, body)| self.requests.decision(job.kind, body));
        self.unrewarded.push_back(decision.map(|decision| (job.experiment, decision.to_vec())));
        accepted.is_none() || decision.is_some()
    }

    fn is_over(&self, _: Instant) -> bool {
        self.decisions.is_over() && self.rewards.is_over()
    }

    fn finish(&mut self, now: Instant, tally: &mut Tally) {
        tally.unsent += self.unsent;
        tally.forgone += self.forgone;
        for (kind, schedule) in
            [(Kind::Decide, &mut self.decisions), (Kind::Reward, &mut self.rewards)]
        {
            while let Some(due) = schedule.due(now) {
                schedule.next += 1;
                tally.waited(kind, due, now);
            }
        }
    }
}

/// Starts at a fixed rate.
#[derive(Debug)]
pub(super) struct Schedule {
    begin: Instant,
    rate: f64,
    pub(super) next: u64,
    total: u64,
}

impl Schedule {
    pub(super) fn new(begin: Instant, rate: f64, time: Duration) -> Self {
        #[expect(clippy::cast_possible_truncation, reason = "rates and times are small")]
        #[expect(clippy::cast_sign_loss, reason = "rates are not negative")]
        let total = (rate * time.as_secs_f64()).round() as u64;
        Self { begin, rate, next: 0, total }
    }

    fn at(&self, number: u64) -> Instant {
        if self.total == 0 {
            return self.begin;
        }
        self.begin + Duration::from_secs_f64(number as f64 / self.rate)
    }

    fn end(&self) -> Instant {
        self.at(self.total)
    }

    pub(super) fn is_over(&self) -> bool {
        self.next >= self.total
    }

    /// When the next start is scheduled, unless there is none.
    pub(super) fn upcoming(&self) -> Option<Instant> {
        (!self.is_over()).then(|| self.at(self.next))
    }

    /// The next start, if its time has come.
    pub(super) fn due(&self, now: Instant) -> Option<Instant> {
        self.upcoming().filter(|&due| due <= now)
    }
}
