//! Verdict times: against a loop of our own, on any number of threads, and where they are known.

use plausibly::spec::Facts;
use plausibly::{Explain, Explanation, Policy, Stream};
use plausibly_sim::{Experiment, Monitor, Overrides, PolicyVerdicts, RunError, RunVerdicts};
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicU64, Ordering};

/// Arms that are told apart within some hundred rounds.
const ARMS: &str = "runs = 5\nhorizon = 900\nseed = 3\n[environment]\nkind = 'arms'\nactions = 6\n\
                    [[policy]]\nkind = 'code'\nradius = { kind = 'two-point' }\n\
                    [[policy]]\nkind = 'code'\nlabel = 'alone'\n\
                    radius = { kind = 'two-point', pairs = false }\n";

fn experiment(text: &str) -> Experiment {
    Experiment::from_toml(text, Overrides::default(), &()).unwrap()
}

fn watch(experiment: &Experiment, threads: usize) -> Vec<PolicyVerdicts> {
    PolicyVerdicts::watch(experiment, NonZeroUsize::new(threads).unwrap(), &()).unwrap()
}

/// The first policy's verdicts of a run, looking at it after every outcome up to 100.
fn by_hand(experiment: &Experiment, run: u64) -> [Option<u64>; 2] {
    let stream = |role: &str| Stream::new(experiment.seed, run, role);
    let mut problem = experiment.environment.draw(&mut stream("problem"));
    let facts: Facts = problem.facts(experiment.horizon);
    let mut policy = experiment.policies[0].build(&facts).unwrap();
    let mut choices = stream("policy/code");
    let (mut offers, mut noise) = (stream("actions"), stream("noise"));
    let mut explanation = Explanation::new();
    let mut found = [None; 2];
    for outcomes in 0..100 {
        problem.advance(&mut offers);
        let actions = problem.bandit().actions();
        let chosen = policy.select(actions, &mut choices);
        let radius = policy.radius().unwrap();
        policy.explain(actions, radius, policy.exclusion(), &mut explanation);
        let out = actions.len() - explanation.plausible().count();
        for (time, needed) in found.iter_mut().zip([1, 3]) {
            *time = time.or((out >= needed).then_some(outcomes));
        }
        let luck = problem.luck(&mut noise);
        policy.update(actions.get(chosen), problem.reward(chosen, luck));
    }
    found
}

#[test]
fn the_first_hundred_outcomes_are_looked_at_one_by_one() {
    // Quiet enough for half of the arms to go within a hundred outcomes.
    let quiet = ARMS.replace("actions = 6", "actions = 6\nhighest = 0.9\nnoise = 0.001");
    let experiment = experiment(&quiet);
    for (run, verdicts) in watch(&experiment, 1)[0].runs.iter().enumerate() {
        let found = [verdicts.first, verdicts.half];
        assert_eq!(found, by_hand(&experiment, run as u64));
        assert!(found.iter().all(Option::is_some), "{found:?}");
    }
}

#[test]
fn times_grow_and_neither_threads_nor_other_policies_change_them() {
    let (both, alone) = (experiment(ARMS), ARMS.rsplit_once("[[policy]]").unwrap().0);
    let all = watch(&both, 1);
    assert_eq!(all, watch(&both, 3));
    assert_eq!(all[..1], watch(&experiment(alone), 2));
    assert_eq!((all[0].label.as_str(), all[1].label.as_str()), ("code", "alone"));
    for run in all.iter().flat_map(|policy| &policy.runs) {
        let times = [run.first, run.half, run.one_left].map(|time| time.unwrap_or(u64::MAX));
        assert!(times.is_sorted() && times[0] < 900, "{run:?}");
        assert!(!run.best_lost && !run.truth_left && run.regret > 0.0, "{run:?}");
    }
}

/// With a radius of `√β`, on arms whose noise is known.
fn with_radius(sqrt_beta: &str) -> Vec<RunVerdicts> {
    let text = format!(
        "runs = 4\nhorizon = 300\n[environment]\nkind = 'arms'\nnoise = 0.1\n\
         [[policy]]\nkind = 'code'\nradius = {{ kind = 'fixed', sqrt_beta = {sqrt_beta} }}\n"
    );
    let experiment = experiment(&text);
    let watched = watch(&experiment, 2).swap_remove(0).runs;
    let regret = experiment.comparison().run(NonZeroUsize::MIN, &()).unwrap();
    let mean = watched.iter().map(|run| run.regret).sum::<f64>() / 4.0;
    if watched.iter().all(|run| run.one_left.is_none()) {
        let known = regret.policies[0].last().regret.mean();
        assert!((mean - known).abs() < 1e-9, "the comparison has the same regret");
    }
    watched
}

#[test]
fn wrong_verdicts_are_noticed_and_wide_sets_give_none() {
    for run in with_radius("1e3") {
        assert_eq!((run.first, run.half, run.one_left), (None, None, None));
        assert!(!run.best_lost && !run.truth_left);
    }
    // A set that is far too small: one reward of each arm decides, for the luckiest.
    let narrow = with_radius("1e-9");
    assert!(narrow.iter().all(|run| run.one_left == Some(6) && run.truth_left), "{narrow:?}");
    assert!(narrow.iter().any(|run| run.best_lost), "{narrow:?}");
}

#[test]
fn every_round_is_reported_once_and_a_run_can_be_stopped() {
    struct Counting(AtomicU64, u64);
    impl Monitor for Counting {
        fn advanced(&self, rounds: u64) {
            self.0.fetch_add(rounds, Ordering::Relaxed);
        }
        fn stopped(&self) -> bool {
            self.0.load(Ordering::Relaxed) >= self.1
        }
    }
    let experiment = experiment(ARMS);
    let count = Counting(AtomicU64::new(0), u64::MAX);
    PolicyVerdicts::watch(&experiment, NonZeroUsize::MIN, &count).unwrap();
    assert_eq!(count.0.into_inner(), 2 * 5 * 900);
    let count = Counting(AtomicU64::new(0), 1000);
    let stopped = PolicyVerdicts::watch(&experiment, NonZeroUsize::MIN, &count);
    assert!(matches!(stopped, Err(RunError::Stopped)));
}
