//! What a run of load counts: answers, latencies, and what went wrong.

use super::Histogram;
use super::drive::Kind;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// The counts of one run.
#[derive(Clone, Debug)]
pub struct Tally {
    begun: Instant,
    /// From the beginning to the last answer.
    pub lasted: Duration,
    /// Answers by status.
    pub statuses: BTreeMap<u16, u64>,
    latencies: [Histogram; Kind::ALL.len()],
    /// Latencies of answers 429 and 503.
    pub refused: Histogram,
    /// Connections that could not be made.
    pub unconnected: u64,
    /// Connections that ended before their answer.
    pub broken: u64,
    /// Answers that are no HTTP, or lack what they are needed for.
    pub malformed: u64,
    /// Requests without an answer when the run was cut off. Their waits until then count as
    /// latencies.
    pub unanswered: u64,
    /// Requests that were not sent because every connection was taken.
    pub unsent: u64,
    /// Rewards that were not sent because their decisions were refused.
    pub forgone: u64,
    /// Every second of the run.
    pub windows: Vec<Window>,
    present: Histogram,
}

/// A second of a run.
#[derive(Clone, Copy, Debug, Default)]
pub struct Window {
    /// Answers 2xx.
    pub succeeded: u64,
    /// Other answers, and errors.
    pub failed: u64,
    /// 99 of 100 successful requests took at most this.
    pub p99: Duration,
}

impl Tally {
    pub(super) fn new(begun: Instant) -> Self {
        Self {
            begun,
            lasted: Duration::ZERO,
            statuses: BTreeMap::new(),
            latencies: Default::default(),
            refused: Histogram::default(),
            unconnected: 0,
            broken: 0,
            malformed: 0,
            unanswered: 0,
            unsent: 0,
            forgone: 0,
            windows: vec![Window::default()],
            present: Histogram::default(),
        }
    }

    /// Counts an answer that arrived now.
    pub(super) fn answered(&mut self, kind: Kind, since: Instant, status: u16, now: Instant) {
        let latency = now.saturating_duration_since(since);
        self.lasted = now.duration_since(self.begun);
        *self.statuses.entry(status).or_default() += 1;
        let window = self.window();
        if (200..300).contains(&status) {
            window.succeeded += 1;
            self.present.record(latency);
            self.latencies[kind as usize].record(latency);
        } else {
            window.failed += 1;
            if matches!(status, 429 | 503) {
                self.refused.record(latency);
            }
        }
    }

    /// Counts a request that got no answer.
    pub(super) fn failed(&mut self, now: Instant) {
        self.lasted = now.duration_since(self.begun);
        self.window().failed += 1;
    }

    /// Counts a request that waited in vain until the run was cut off.
    pub(super) fn waited(&mut self, kind: Kind, since: Instant, now: Instant) {
        self.unanswered += 1;
        self.latencies[kind as usize].record(now.saturating_duration_since(since));
    }

    /// Closes the last second.
    pub(super) fn close(&mut self) {
        if let Some(window) = self.windows.last_mut() {
            window.p99 = self.present.quantile(0.99);
        }
    }

    /// The second of the last answer.
    fn window(&mut self) -> &mut Window {
        let second = usize::try_from(self.lasted.as_secs()).unwrap_or(usize::MAX);
        if second >= self.windows.len() {
            self.close();
            self.present.clear();
            self.windows.resize(second + 1, Window::default());
        }
        let last = self.windows.len() - 1;
        &mut self.windows[last]
    }

    /// The latencies of successful requests of a kind.
    pub fn latencies(&self, kind: Kind) -> &Histogram {
        &self.latencies[kind as usize]
    }

    /// Successful requests of a kind per second.
    pub fn rate(&self, kind: Kind) -> f64 {
        per_second(self.latencies(kind).count(), self.lasted)
    }

    /// Everything as JSON; latencies in milliseconds.
    pub fn to_json(&self) -> Value {
        let statuses: Map<String, Value> = self
            .statuses
            .iter()
            .map(|(status, count)| (status.to_string(), json!(count)))
            .collect();
        let mut kinds = Map::new();
        for kind in Kind::ALL {
            let latencies = self.latencies(kind);
            if latencies.count() > 0 {
                kinds.insert(kind.name().into(), figures(latencies, self.lasted));
            }
        }
        if self.refused.count() > 0 {
            kinds.insert("refused".into(), figures(&self.refused, self.lasted));
        }
        let windows: Vec<Value> = self.windows.iter().copied().map(Window::to_json).collect();
        json!({
            "seconds": rounded(self.lasted.as_secs_f64()),
            "statuses": statuses,
            "kinds": kinds,
            "errors": {
                "unconnected": self.unconnected,
                "broken": self.broken,
                "malformed": self.malformed,
                "unanswered": self.unanswered,
            },
            "unsent": self.unsent,
            "forgone": self.forgone,
            "windows": windows,
        })
    }
}

impl Window {
    fn to_json(self) -> Value {
        json!([self.succeeded, self.failed, milliseconds(self.p99)])
    }
}

/// Count, rate and quantiles.
pub(super) fn figures(latencies: &Histogram, lasted: Duration) -> Value {
    json!({
        "count": latencies.count(),
        "per_second": rounded(per_second(latencies.count(), lasted)),
        "p50_ms": milliseconds(latencies.quantile(0.5)),
        "p99_ms": milliseconds(latencies.quantile(0.99)),
        "max_ms": milliseconds(latencies.longest()),
    })
}

pub(super) fn per_second(count: u64, lasted: Duration) -> f64 {
    if lasted.is_zero() { 0.0 } else { count as f64 / lasted.as_secs_f64() }
}

fn milliseconds(time: Duration) -> f64 {
    rounded(1e3 * time.as_secs_f64())
}

/// Three decimals, which are microseconds of milliseconds.
fn rounded(value: f64) -> f64 {
    (1e3 * value).round() / 1e3
}
