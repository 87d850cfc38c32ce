//! Delayed rewards: a delay of one round changes nothing, confidence sets stay valid if delays
//! ignore rewards, and break if delays depend on them.

use crate::experiment;
use plausibly::{Action, ActionIndex, Actions, Policy, Stream};
use plausibly_sim::{Bandit, Delay, Draws, Player, Summary, play_late};
use plausibly_testkit::most_events;
use std::num::NonZeroUsize;
use std::ops::ControlFlow;

const ENVIRONMENT: &str = "kind = \"linear\"\ndim = 2\nactions = 8\nnoise = 1.0";
const CODE: &str =
    "kind = \"code\"\nradius = { kind = \"determinant\", delta = 0.05, theta_norm_bound = 6.0 }";

fn summary(head: &str, policies: &[&str], delay: &str) -> Summary {
    let head = format!("{head}\ndelay = {{ {delay} }}");
    experiment(&head, ENVIRONMENT, policies).comparison().run(NonZeroUsize::MIN, &()).unwrap()
}

#[test]
fn a_delay_of_one_round_is_none() {
    let policies =
        [CODE, "kind = \"lin-ts\"", "kind = \"elimination\"", "kind = \"epsilon-greedy\""];
    let play = |delay| summary("runs = 5\nhorizon = 200\nseed = 2", &policies, delay);
    let at_once = play("kind = \"none\"");
    for delay in [
        "kind = \"fixed\", rounds = 1",
        "kind = \"batches\", size = 1",
        "kind = \"random\", mean = 1.0",
    ] {
        assert_eq!(at_once, play(delay), "{delay}");
    }
    let late = play("kind = \"fixed\", rounds = 100");
    for (late, prompt) in late.policies.iter().zip(&at_once.policies) {
        assert!(
            late.last().regret.mean() > prompt.last().regret.mean(),
            "{}: waiting costs",
            late.label
        );
    }
}

/// Counts updates and drops.
#[derive(Default)]
struct Counter {
    decided: u64,
    updated: u64,
    dropped: u64,
}

impl Policy for Counter {
    fn select(&mut self, actions: Actions<'_>, rng: &mut Stream) -> ActionIndex {
        rng.index(actions.len())
    }

    fn update(&mut self, action: Action<'_>, reward: f64) {
        // The reward is that of this action, however late: arms pay their own number, without
        // noise.
        assert!((reward - action.index() as f64).abs() < 1e-12);
        self.updated += 1;
    }

    fn decided(&mut self, _: Action<'_>) {
        self.decided += 1;
    }

    fn dropped(&mut self, _: Action<'_>) {
        self.dropped += 1;
    }
}

#[test]
fn every_decision_settles_once_or_is_outstanding() {
    let counts = |delay: Delay| {
        let stream = |role| Stream::new(3, 0, role);
        let mut problem = Bandit::arms((0..5).map(f64::from).collect(), 1e-300);
        let mut players =
            [Player { policy: Counter::default(), observer: (), choices: stream("policy") }];
        let mut draws = Draws { offers: stream("actions"), noise: stream("noise") };
        let late = (delay, &stream("lateness"));
        let flow = play_late(&mut problem, 1000, &mut draws, &mut players, late, |_, _| {
            ControlFlow::Continue(())
        });
        assert!(flow.is_continue());
        let Counter { decided, updated, dropped } = players[0].policy;
        assert_eq!(decided, 1000);
        (updated, dropped)
    };
    assert_eq!(counts(Delay::None), (1000, 0));
    assert_eq!(counts(Delay::Fixed { rounds: 100 }), (901, 0));
    assert_eq!(counts(Delay::Batches { size: 300 }), (900, 0));
    let (updated, dropped) = counts(Delay::Never { share: 0.5, told_after: 1 });
    assert_eq!(updated + dropped, 1000);
    // Binomial(1000, ½): 5 sd is 79, passed with probability 6e-7.
    assert!(updated.abs_diff(500) < 79, "{updated}");
}

#[test]
fn sets_stay_valid_when_lateness_ignores_rewards_and_break_when_it_does_not() {
    let runs = 400;
    let limit = most_events(runs, 0.05, 1e-6);
    let left = |delay: &str| {
        summary(&format!("runs = {runs}\nhorizon = 600\nseed = 4"), &[CODE], delay).policies[0]
            .runs_left
    };
    for delay in [
        "kind = \"fixed\", rounds = 50",
        "kind = \"random\", mean = 50.0",
        "kind = \"batches\", size = 50",
        "kind = \"never\", share = 0.3, told_after = 10",
    ] {
        let left = left(delay);
        assert!(
            left <= limit,
            "{delay}: θ* left in {left} of {runs} runs, at most {limit} are allowed"
        );
    }
    // High rewards come at once and low ones late, so the estimates are too high.
    let broken = left("kind = \"by-reward\", rounds = 500");
    assert!(broken > runs * 9 / 10, "only {broken} of {runs}");
}
