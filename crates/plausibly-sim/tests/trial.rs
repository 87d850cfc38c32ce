//! Trials: against a slow simulation of our own, on any number of threads, and what they refuse.

use plausibly::{
    ActionSet, ArmMeans, Code, Exclusion, Explain, Explanation, Policy, Stream, TwoPoint, Whole,
};
use plausibly_sim::{Case, Effort, Monitor, RunError, Times, Trial, TrialError};
use std::num::NonZeroUsize;

const EFFORT: Effort = Effort { runs: 120, seed: 4, longest: 1_000_000 };

fn simulate(trial: Trial, effort: Effort, threads: usize) -> Times {
    let threads = NonZeroUsize::new(threads).unwrap();
    trial.simulate(Case::OneBetter, effort, threads, &()).unwrap()
}

fn yes_no(choices: usize, usual: f64, difference: f64) -> Trial {
    Trial::new(choices, (0.0, 1.0), usual, difference, None).unwrap()
}

/// Outcomes until one choice is left, or until the first one is out: one outcome per decision,
/// drawn and looked at one by one. `pairs` is true in logs.
fn slow(case: Case, means: &[f64], run: u64, pairs: bool) -> u64 {
    let (set, mut rng) = (ActionSet::arms(means.len()).unwrap(), Stream::new(77, run, "slow"));
    let radius = TwoPoint { delta: 0.05, low: 0.0, high: 1.0, pairs };
    let arms = means.len();
    let shares = 2 * arms as u64;
    let model = ArmMeans::new(arms).part_of(Whole {
        arms,
        shares,
        ever: arms as u64,
        other_observations: 0,
        first: None,
    });
    let code = Code::new(model, radius).excluding(Exclusion::Differences);
    let (mut policy, mut explanation) = (code.tempered(0.3).unwrap(), Explanation::new());
    for outcomes in 0.. {
        policy.explain(set.view(), &radius, policy.exclusion(), &mut explanation);
        let decided = match case {
            Case::OneBetter => explanation.plausible().count() == 1,
            Case::OneWorse => explanation.plausible().all(|choice| choice != 0),
        };
        if decided {
            return outcomes;
        }
        let chosen = policy.select(set.view(), &mut rng);
        let reward = f64::from(u8::from(rng.uniform() < means[chosen]));
        policy.update(set.view().get(chosen), reward);
    }
    unreachable!("a run ends with a verdict")
}

/// The largest distance between the shares of runs that took at most a time: Kolmogorov's and
/// Smirnov's.
fn distance(one: &[u64], other: &[u64]) -> f64 {
    let share = |times: &[u64], most: u64| {
        times.iter().filter(|time| **time <= most).count() as f64 / times.len() as f64
    };
    let all = one.iter().chain(other);
    all.map(|time| (share(one, *time) - share(other, *time)).abs()).fold(0.0, f64::max)
}

#[test]
fn times_are_those_of_outcomes_drawn_and_looked_at_one_by_one() {
    // Of equal laws the distance of two samples of 80 is above c with probability at most
    // 2·exp(−2c²·40) in the limit: 1e-6 at c = 0.426. Batches delay a verdict by up to 3 %, which
    // moves the shares by about 0.05.
    let (limit, effort) = (0.48, Effort { runs: 80, ..EFFORT });
    let trial = yes_no(3, 0.2, 0.3);
    for (case, means) in [(Case::OneBetter, [0.5, 0.2, 0.2]), (Case::OneWorse, [0.2, 0.5, 0.5])] {
        let times = trial.simulate(case, effort, NonZeroUsize::MIN, &()).unwrap();
        let fast: Vec<u64> = times.sorted().iter().map(|time| time.unwrap()).collect();
        let played = |pairs| -> Vec<u64> {
            (0..effort.runs).map(|run| slow(case, &means, run, pairs)).collect()
        };
        let found = distance(&fast, &played(true));
        assert!(found < limit, "{case:?}: {found}");
        // Without verdicts between pairs it takes about 1.5 times as long.
        let wrong = distance(&fast, &played(false));
        assert!(wrong > limit, "{case:?}: {wrong}");
    }
}

#[test]
fn neither_threads_nor_more_runs_change_a_run() {
    let trial = yes_no(4, 0.1, 0.3);
    let one = simulate(trial, EFFORT, 1);
    assert_eq!(one, simulate(trial, EFFORT, 3));
    assert_ne!(one, simulate(trial, Effort { seed: 5, ..EFFORT }, 1));
    let few = simulate(trial, Effort { runs: 30, ..EFFORT }, 2);
    assert!(few.sorted().iter().all(|time| one.sorted().contains(time)));
    assert_eq!((one.sorted().len(), few.sorted().len()), (120, 30));
}

#[test]
fn larger_differences_less_scatter_and_fewer_choices_take_fewer_outcomes() {
    let median = |trial| simulate(trial, Effort { runs: 40, ..EFFORT }, 2).median();
    // A doubled difference takes about a quarter, so these are far apart.
    let by_difference = [0.4, 0.2, 0.1].map(|difference| median(yes_no(3, 0.3, difference)));
    assert!(by_difference.is_sorted() && by_difference[0].is_some(), "{by_difference:?}");
    let by_choices = [2, 6, 20].map(|choices| median(yes_no(choices, 0.3, 0.4)));
    assert!(by_choices.is_sorted(), "{by_choices:?}");
    let quiet = |scatter| Trial::new(4, (1.0, 10.0), 6.0, 1.0, scatter).unwrap();
    let by_scatter = [Some(0.2), Some(1.0), None].map(|scatter| median(quiet(scatter)));
    assert!(by_scatter.is_sorted(), "{by_scatter:?}");
    assert!(by_scatter[2] > by_scatter[0].map(|times| 10 * times), "{by_scatter:?}");
}

#[test]
fn the_unit_of_outcomes_does_not_matter() {
    // The same numbers scaled by powers of two, which is exact.
    let trial = Trial::new(3, (0.0, 1.0), 0.25, 0.25, Some(0.125)).unwrap();
    let scaled = Trial::new(3, (-4.0, 4.0), -2.0, 2.0, Some(1.0)).unwrap();
    assert_eq!(simulate(trial, EFFORT, 2), simulate(scaled, EFFORT, 2));
}

#[test]
fn a_run_that_is_too_long_says_so() {
    let effort = Effort { longest: 500, ..EFFORT };
    let times = simulate(yes_no(3, 0.05, 0.01), effort, 2);
    assert_eq!((times.median(), times.cautious()), (None, None));
    let all = simulate(yes_no(3, 0.2, 0.25), EFFORT, 2);
    let some = simulate(yes_no(3, 0.2, 0.25), effort, 2);
    // The last batch is cut short, so a run may also end there.
    let early = |times: &Times| -> Vec<u64> {
        times.sorted().iter().flatten().copied().filter(|time| *time < 500).collect()
    };
    assert_eq!(early(&some), early(&all));
    assert!(!early(&some).is_empty() && some.sorted().contains(&None));
}

#[test]
fn what_cannot_be_is_refused_with_what_can() {
    let trial = |choices, usual, difference, scatter| {
        Trial::new(choices, (0.0, 10.0), usual, difference, scatter).unwrap_err().to_string()
    };
    for (found, said) in [
        (trial(1, 5.0, 1.0, None), "a verdict compares at least 2 choices, and this is 1"),
        (trial(3, 12.0, 1.0, None), "an average of 12 is impossible for outcomes from 0 to 10"),
        (
            trial(3, f64::NAN, 1.0, None),
            "an average of NaN is impossible for outcomes from 0 to 10",
        ),
        (trial(3, 5.0, 0.0, None), "a difference of 0 is not one: it must be above 0"),
        (
            trial(3, 8.0, 3.0, None),
            "no choice can be better than 8 by 3, because outcomes end at 10; take a smaller \
             difference or a lower usual average",
        ),
        (trial(3, 5.0, 1.0, Some(0.0)), "a scatter of 0 is not one: it must be above 0"),
        (
            trial(3, 7.0, 1.0, Some(4.5)),
            "outcomes from 0 to 10 with an average of 8 scatter by at most 4, not by 4.5",
        ),
    ] {
        assert_eq!(found, said);
    }
    let upside_down = Trial::new(3, (1.0, 0.0), 0.5, 0.1, None);
    assert_eq!(upside_down, Err(TrialError::Range { low: 1.0, high: 0.0 }));
    let twice = yes_no(2, 0.3, 0.4).differing_by(0.8);
    assert_eq!(twice, Err(TrialError::Beyond { usual: 0.3, difference: 0.8, high: 1.0 }));
}

struct Stops;

impl Monitor for Stops {
    fn stopped(&self) -> bool {
        true
    }
}

#[test]
fn it_stops_when_it_is_asked_to() {
    let stopped = yes_no(2, 0.3, 0.4).simulate(Case::OneWorse, EFFORT, NonZeroUsize::MIN, &Stops);
    assert!(matches!(stopped, Err(RunError::Stopped)));
}
