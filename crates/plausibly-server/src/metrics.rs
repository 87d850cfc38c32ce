//! Figures about the service, in the text format of Prometheus. Labels are names of experiments,
//! routes and statuses, and never anything that a request brings.

use crate::acceptor::Connections;
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::registry::Registry;
use std::sync::Arc;
use std::time::Duration;

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct OfExperiment {
    experiment: String,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct OfAnswer {
    route: String,
    status: u16,
}

type PerExperiment<M> = Family<OfExperiment, M>;

/// Figures about the service.
#[derive(Debug)]
pub(crate) struct Metrics {
    registry: Registry,
    answers: Family<OfAnswer, Counter>,
    decisions: PerExperiment<Gauge>,
    pending: PerExperiment<Gauge>,
    settled: PerExperiment<Counter>,
    shed: PerExperiment<Counter>,
    requests_at_once: Histogram,
    write_seconds: Histogram,
    connections: Gauge,
    evicted: Gauge,
    refused: Gauge,
    open: Arc<Connections>,
}

impl Metrics {
    pub(crate) fn new(open: Arc<Connections>) -> Self {
        let mut registry = Registry::with_prefix("plausibly");
        let metrics = Self {
            answers: Family::default(),
            decisions: Family::default(),
            pending: Family::default(),
            settled: Family::default(),
            shed: Family::default(),
            requests_at_once: Histogram::new(exponential_buckets(1.0, 2.0, 9)),
            write_seconds: Histogram::new(exponential_buckets(0.000_1, 2.0, 16)),
            connections: Gauge::default(),
            evicted: Gauge::default(),
            refused: Gauge::default(),
            open,
            registry: Registry::default(),
        };
        registry.register("answers", "Answers by route and status", metrics.answers.clone());
        registry.register(
            "decisions",
            "Decisions of an open experiment",
            metrics.decisions.clone(),
        );
        registry.register("pending", "Decisions without an outcome", metrics.pending.clone());
        registry.register("settled", "Decisions settled at deadlines", metrics.settled.clone());
        registry.register("shed", "Requests refused by a full queue", metrics.shed.clone());
        registry.register("batch_requests", "Requests per write", metrics.requests_at_once.clone());
        registry.register(
            "batch_seconds",
            "Deciding, write and sync",
            metrics.write_seconds.clone(),
        );
        registry.register("connections", "Open connections", metrics.connections.clone());
        let evicted = "Idle connections closed to make room for others";
        registry.register("connections_evicted", evicted, metrics.evicted.clone());
        let refused = "Connections closed because there was no room";
        registry.register("connections_refused", refused, metrics.refused.clone());
        Self { registry, ..metrics }
    }

    /// The answer to a request; `route` is the pattern of its path.
    pub(crate) fn answered(&self, route: &str, status: u16) {
        self.answers.get_or_create(&OfAnswer { route: route.into(), status }).inc();
    }

    pub(crate) fn batch(&self, requests: usize, took: Duration) {
        self.requests_at_once.observe(requests as f64);
        self.write_seconds.observe(took.as_secs_f64());
    }

    pub(crate) fn reached(&self, experiment: &str, decisions: u64, pending: u64) {
        let of = of(experiment);
        self.decisions.get_or_create(&of).set(whole(decisions));
        self.pending.get_or_create(&of).set(whole(pending));
    }

    pub(crate) fn settled(&self, experiment: &str, decisions: u64) {
        self.settled.get_or_create(&of(experiment)).inc_by(decisions);
    }

    pub(crate) fn shed(&self, experiment: &str) {
        self.shed.get_or_create(&of(experiment)).inc();
    }

    /// Forgets an experiment that was removed.
    pub(crate) fn forget(&self, experiment: &str) {
        let of = of(experiment);
        self.decisions.remove(&of);
        self.pending.remove(&of);
        self.settled.remove(&of);
        self.shed.remove(&of);
    }

    /// All figures as text.
    pub(crate) fn text(&self) -> String {
        self.connections.set(whole(self.open.open() as u64));
        self.evicted.set(whole(self.open.evicted()));
        self.refused.set(whole(self.open.refused()));
        let mut text = String::new();
        encode(&mut text, &self.registry).expect("text takes everything");
        text
    }
}

fn of(experiment: &str) -> OfExperiment {
    OfExperiment { experiment: experiment.into() }
}

fn whole(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}
