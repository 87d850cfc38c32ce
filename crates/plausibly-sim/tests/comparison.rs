use crate::experiment;
use plausibly::spec::{Defaults, Setting};
use plausibly::{Action, ActionIndex, Actions, Policy, Stream};
use plausibly_sim::{Bandit, Comparison, Metric, Monitor, Plan, RunError, Summary};
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicU64, Ordering};

const LINEAR: &str = "kind = 'linear'\ndim = 3\nactions = 12\nnoise = 0.5";
const CHANGING: &str = "kind = 'changing'\ndim = 2\nactions = 5";
const ARMED: &str = "kind = 'k-armed'\nactions = 4";
const DAYS: &str = "kind = 'arms'\nrewards = 'yes-no'\ndays = 0.5\nday_length = 9";
const TABLE: &str = "kind = 'table'\nactions = 12";
const CLICKS: &str = "kind = 'clicks'\nactions = 12\ndim = 3";
const COUNTS: &str = "kind = 'poisson'\nactions = 12\ndim = 3";

fn run(environment: &str, policies: &[&str], threads: usize) -> Summary {
    let head = "runs = 150\nhorizon = 120\nseed = 3";
    experiment(head, environment, policies)
        .comparison()
        .run(NonZeroUsize::new(threads).unwrap(), &())
        .unwrap()
}

#[test]
fn threads_change_nothing() {
    // 150 runs: more than one batch for one thread, and a last batch that is not full.
    for (environment, policies) in [
        (LINEAR, ["kind = 'code'", "kind = 'lin-ts'"]),
        (CHANGING, ["kind = 'elimination'", "kind = 'lin-ucb'"]),
        (ARMED, ["kind = 'code'", "kind = 'epsilon-greedy'"]),
        (DAYS, ["kind = 'code'", "kind = 'ucb1'"]),
        (TABLE, ["kind = 'code'", "kind = 'lin-ts'"]),
        (COUNTS, ["kind = 'code'", "kind = 'lin-ts'"]),
    ] {
        let one = run(environment, &policies, 1);
        for threads in [2, 3, 7] {
            assert!(
                one == run(environment, &policies, threads),
                "{threads} threads differ on {environment}"
            );
        }
    }
}

#[test]
fn a_policy_does_the_same_alone_in_company_and_in_any_order() {
    let (ts, greedy, ucb) = ("kind = 'lin-ts'", "kind = 'epsilon-greedy'", "kind = 'lin-ucb'");
    for problems in [LINEAR, TABLE, CLICKS, COUNTS] {
        // The metric must be given: by default it is that of the first code policy.
        let metric =
            format!("{problems}\n[metric]\nradius = {{ kind = 'fixed', sqrt_beta = 2.0 }}");
        let alone = run(&metric, &[ts], 1);
        let company = run(&metric, &[ucb, greedy, ts, "kind = 'code'"], 1);
        let reversed = run(&metric, &[ts, greedy, ucb], 1);
        assert_eq!(alone.policies[0], company.policies[2]);
        assert_eq!(alone.policies[0], reversed.policies[0]);
        assert_eq!(company.policies[1], reversed.policies[1]);
    }
}

#[test]
fn comparisons_played_together_come_out_as_alone() {
    let (code, ts, ucb) = ("kind = 'code'", "kind = 'lin-ts'", "kind = 'lin-ucb'");
    let ruler = |sqrt_beta| {
        format!("{LINEAR}\n[metric]\nradius = {{ kind = 'fixed', sqrt_beta = {sqrt_beta:?} }}")
    };
    let made = |runs: u64, environment: &str, policies: &[&str]| {
        experiment(&format!("runs = {runs}\nhorizon = 120\nseed = 3"), environment, policies)
    };
    // More runs, other policies in another order, and another ruler.
    let experiments = [
        made(60, &ruler(2.0), &[code, ts]),
        made(140, &ruler(2.0), &[ucb, ts, "kind = 'epsilon-greedy'"]),
        made(60, &ruler(0.5), &[ts, code]),
    ];
    for pair in experiments.windows(2) {
        assert!(pair[0].plays_with(&pair[1]) && pair[1].plays_with(&pair[0]));
    }
    let comparisons: Vec<_> =
        experiments.iter().map(plausibly_sim::Experiment::comparison).collect();
    let counters: Vec<Counter> = experiments
        .iter()
        .map(|_| Counter { rounds: AtomicU64::new(0), limit: u64::MAX })
        .collect();
    let followed: Vec<_> = comparisons
        .iter()
        .zip(&counters)
        .map(|(each, counter)| (each, counter as &dyn Monitor))
        .collect();
    for threads in [1, 2] {
        let threads = NonZeroUsize::new(threads).unwrap();
        let together = Comparison::run_together(&followed, threads).unwrap();
        for (summary, alone) in together.iter().zip(&comparisons) {
            assert_eq!(*summary, alone.run(threads, &()).unwrap());
        }
        assert_ne!(
            together[0].policies[1].last().model_error,
            together[2].policies[0].last().model_error
        );
    }
    for (comparison, counter) in comparisons.iter().zip(&counters) {
        assert_eq!(counter.rounds.load(Ordering::Relaxed), 2 * comparison.total_rounds());
    }
}

#[test]
fn what_has_less_in_common_is_not_played_together() {
    let head = "runs = 2\nhorizon = 9\nseed = 3";
    let one = experiment(head, LINEAR, &["kind = 'lin-ts'"]);
    for other in [
        experiment("runs = 2\nhorizon = 9\nseed = 4", LINEAR, &["kind = 'lin-ts'"]),
        experiment("runs = 2\nhorizon = 8\nseed = 3", LINEAR, &["kind = 'lin-ts'"]),
        experiment(
            head,
            "kind = 'linear'\ndim = 3\nactions = 11\nnoise = 0.5",
            &["kind = 'lin-ts'"],
        ),
        experiment(head, LINEAR, &["kind = 'lin-ts'\nnoise_scale = 2.0"]),
    ] {
        assert!(!one.plays_with(&other) && !other.plays_with(&one));
    }
    let (one, other) = (
        one.comparison(),
        experiment("runs = 2\nhorizon = 9\nseed = 4", LINEAR, &["kind = 'code'"]),
    );
    let other = other.comparison();
    let together = || Comparison::run_together(&[(&one, &()), (&other, &())], NonZeroUsize::MIN);
    assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(together)).is_err());
}

#[test]
fn compared_policies_see_the_same_problems_and_noise() {
    // Two copies of a deterministic policy must have the same figures.
    for environment in [LINEAR, CHANGING] {
        let twins = run(
            environment,
            &["kind = 'lin-ucb'\nlabel = 'a'", "kind = 'lin-ucb'\nlabel = 'b'"],
            2,
        );
        assert_eq!(twins.policies[0].points, twins.policies[1].points);
    }
}

/// A policy from outside the crate.
struct Cycle(usize);

impl Policy for Cycle {
    fn select(&mut self, actions: Actions<'_>, _: &mut Stream) -> ActionIndex {
        self.0 += 1;
        self.0 % actions.len()
    }

    fn update(&mut self, _: Action<'_>, _: f64) {}
}

fn cycling(runs: u64, horizon: u64) -> Comparison {
    let metric = Metric::default_for(Setting::Fixed, Defaults::Current);
    let problem = |rng: &mut Stream| Box::new(Bandit::random_linear(2, 6, 0.1, rng)) as _;
    Comparison::new(problem, metric, Plan { runs, horizon, seed: 1 })
        .enter("cycle", |_| Ok(Box::new(Cycle(0))))
}

#[test]
fn policies_from_outside_are_measured_like_any_other() {
    let summary = cycling(20, 400).run(NonZeroUsize::MIN, &()).unwrap();
    let last = summary.policies[0].last();
    // Playing all actions in turn learns them all: regret grows with the rounds, the plausible set
    // closes in.
    assert!(last.regret.mean() > 100.0 && last.plausible.mean() < 3.0, "{last:?}");
    assert!(last.model_error.mean() > 0.0 && last.model_error.standard_error().unwrap() > 0.0);
}

/// Counts rounds, and stops after some.
struct Counter {
    rounds: AtomicU64,
    limit: u64,
}

impl Monitor for Counter {
    fn advanced(&self, rounds: u64) {
        self.rounds.fetch_add(rounds, Ordering::Relaxed);
    }

    fn stopped(&self) -> bool {
        self.rounds.load(Ordering::Relaxed) >= self.limit
    }
}

#[test]
fn progress_adds_up_and_a_monitor_can_stop() {
    for horizon in [1, 99, 100, 101, 1234] {
        let comparison = cycling(3, horizon);
        let counter = Counter { rounds: AtomicU64::new(0), limit: u64::MAX };
        comparison.run(NonZeroUsize::MIN, &counter).unwrap();
        assert_eq!(counter.rounds.load(Ordering::Relaxed), comparison.total_rounds());
    }
    let counter = Counter { rounds: AtomicU64::new(0), limit: 500 };
    let error = cycling(1_000_000, 1000).run(NonZeroUsize::new(2).unwrap(), &counter).unwrap_err();
    assert!(matches!(error, RunError::Stopped));
}
