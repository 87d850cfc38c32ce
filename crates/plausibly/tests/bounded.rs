//! CODE on arms with rewards in a range: what it takes, what that costs, and what it refuses.

use plausibly::spec::{Defaults, Facts, Fields, Node, PolicySpec, Setting, Value};
use plausibly::state::Durable as _;
use plausibly::{
    Action, ActionSet, ArmMeans, Code, ConfidenceRadius as _, Exclusion, Explain as _, Explanation,
    Misfit, Policy as _, PolicyError, RadiusError, Stream, Target, TwoPoint,
};
use std::panic::{AssertUnwindSafe, catch_unwind};

const RANGE: (f64, f64) = (-1.0, 3.0);

/// δ this small, so that the good event fails in none of the runs here but with a probability below
/// 1e-7.
const RADIUS: TwoPoint = TwoPoint { delta: 1e-9, low: RANGE.0, high: RANGE.1, pairs: true };

type Player = Code<ArmMeans, TwoPoint>;

fn code() -> Player {
    Code::new(ArmMeans::new(5), RADIUS)
}

/// What is said before each choice, the choice, and how often each arm was taken before.
struct Round<'a> {
    shown: &'a Explanation,
    chosen: usize,
    counts: &'a [u64],
    /// By how much the choice is worse than the best.
    regret: f64,
    code: &'a Player,
}

/// Plays; rewards are yes/no or quiet by run.
fn play(mut code: Player, rounds: usize, run: u64, mut visit: impl FnMut(&Round<'_>)) {
    let set = ActionSet::arms(5).unwrap();
    let mut noise = Stream::new(95, run, "noise");
    let rates: Vec<f64> = (0..5).map(|_| noise.uniform()).collect();
    let best = rates.iter().copied().fold(0.0, f64::max);
    let (mut shown, mut counts) = (Explanation::new(), vec![0; 5]);
    for _ in 0..rounds {
        code.explain(set.view(), &RADIUS, Exclusion::Differences, &mut shown);
        let chosen = code.select(set.view(), &mut noise.clone());
        let regret = (RANGE.1 - RANGE.0) * (best - rates[chosen]);
        visit(&Round { shown: &shown, chosen, counts: &counts, regret, code: &code });
        let scaled = if run.is_multiple_of(2) {
            f64::from(u8::from(noise.uniform() < rates[chosen]))
        } else {
            // As far to one side as to the other, so that the mean stays.
            let room = rates[chosen].min(1.0 - rates[chosen]).min(0.05);
            rates[chosen] + room * (2.0 * noise.uniform() - 1.0)
        };
        let reward = (RANGE.0 + (RANGE.1 - RANGE.0) * scaled).clamp(RANGE.0, RANGE.1);
        code.update(set.view().get(chosen), reward);
        counts[chosen] += 1;
    }
}

fn length(shown: &Explanation, arm: usize) -> f64 {
    shown.intervals()[arm].upper - shown.intervals()[arm].lower
}

#[test]
fn code_takes_the_longest_plausible_interval_and_regret_is_at_most_twice_it() {
    let mut verdicts = 0;
    for run in 0..6 {
        play(code(), 600, run, |round| {
            let Round { shown, chosen, counts, .. } = *round;
            let plausible: Vec<usize> = shown.plausible().collect();
            assert!(plausible.contains(&chosen));
            let longest = plausible.iter().map(|arm| length(shown, *arm)).fold(0.0, f64::max);
            assert!(length(shown, chosen) >= longest - 1e-12, "run {run}");
            let whole = |arm: &&usize| length(shown, **arm) >= RANGE.1 - RANGE.0;
            if let Some(least) = plausible.iter().filter(whole).map(|arm| counts[*arm]).min() {
                assert_eq!(counts[chosen], least, "run {run}");
            }
            assert!(round.regret <= 2.0 * length(shown, chosen) + 1e-9, "run {run}");
            verdicts += 5 - plausible.len();
        });
    }
    assert!(verdicts > 1000, "{verdicts}");
}

#[test]
fn greed_weighs_the_middle_of_an_interval() {
    for greed in [0.3, 1.0] {
        for run in 0..4 {
            play(code().tempered(greed).unwrap(), 300, run, |round| {
                let shown = round.shown;
                let value = |arm: usize| {
                    let interval = shown.intervals()[arm];
                    0.5 * greed * (interval.lower + interval.upper) + 0.5 * length(shown, arm)
                };
                let best = shown.plausible().map(value).fold(f64::NEG_INFINITY, f64::max);
                assert!(shown.plausible().any(|arm| arm == round.chosen));
                assert!(value(round.chosen) >= best - 1e-9, "greed {greed}, run {run}");
                // At greed 1 this is the largest upper bound of all.
                let upper = |arm: usize| shown.intervals()[arm].upper;
                let largest = (0..5).map(upper).fold(f64::NEG_INFINITY, f64::max);
                assert!(greed < 1.0 || upper(round.chosen) >= largest - 1e-9);
            });
        }
    }
}

#[test]
fn targets_are_explored_for_until_they_are_met() {
    for target in [Target::Kappa(3.0), Target::Accuracy(0.8)] {
        let (mut explored, mut met) = (0, 0);
        for run in 0..4 {
            play(code().to_target(target).unwrap(), 800, run, |round| {
                let (shown, mut status) = (round.shown, Explanation::new());
                let set = ActionSet::arms(5).unwrap();
                round.code.explain(set.view(), &RADIUS, Exclusion::Differences, &mut status);
                let lengths = shown.plausible().map(|arm| length(shown, arm));
                let longest = lengths.fold(0.0, f64::max);
                let upper = |arm: usize| shown.intervals()[arm].upper;
                let largest = shown.plausible().map(upper).fold(f64::NEG_INFINITY, f64::max);
                if status.target().unwrap().met() {
                    met += 1;
                    assert!(upper(round.chosen) >= largest - 1e-9);
                } else {
                    explored += 1;
                    assert!(length(shown, round.chosen) >= longest - 1e-9);
                }
                if let Target::Accuracy(accuracy) = target {
                    let known = 0.5 * longest <= accuracy;
                    assert_eq!(known, status.target().unwrap().met(), "run {run}");
                }
            });
        }
        assert!(explored > 100 && met > 100, "{target:?}: {explored} {met}");
    }
    let deadline = Target::Deadline { accuracy: 0.1, by_round: 100 };
    assert!(matches!(code().to_target(deadline), Err(PolicyError::BoundedDeadline)));
}

/// Decisions without rewards spread over the arms.
#[test]
fn pending_decisions_spread() {
    let (set, mut code) = (ActionSet::arms(5).unwrap(), code());
    let mut rng = Stream::new(96, 0, "policy");
    for rewards in [0, 40] {
        for round in 0..rewards {
            let reward = [1.0, 1.1][round % 2];
            code.update(Action::new(round % 5, &[]), reward);
        }
        let mut taken = [0; 5];
        for _ in 0..15 {
            let chosen = code.select(set.view(), &mut rng);
            code.decided(set.view().get(chosen));
            taken[chosen] += 1;
        }
        assert_eq!(taken, [3; 5]);
        for arm in 0..5 {
            (0..3).for_each(|_| code.dropped(Action::new(arm, &[])));
        }
    }
    let mut ignoring = Code::new(ArmMeans::new(5), RADIUS).ignoring_pending();
    for _ in 0..5 {
        let chosen = ignoring.select(set.view(), &mut rng);
        ignoring.decided(set.view().get(chosen));
        assert_eq!(chosen, 0);
    }
}

#[test]
fn saved_and_loaded_it_goes_on_to_the_bit() {
    let set = ActionSet::arms(5).unwrap();
    let (mut one, mut noise) = (code(), Stream::new(97, 0, "noise"));
    for round in 0..300 {
        if round % 50 == 7 {
            let mut other = code();
            other.restore(&one.state()).unwrap();
            assert_eq!(other.state(), one.state());
            let [mut here, mut there] = [Explanation::new(), Explanation::new()];
            one.explain(set.view(), &RADIUS, Exclusion::Differences, &mut here);
            other.explain(set.view(), &RADIUS, Exclusion::Differences, &mut there);
            assert_eq!(here.intervals(), there.intervals());
            assert_eq!(here.standings(), there.standings());
            one = other;
        }
        let chosen = one.select(set.view(), &mut noise.clone());
        one.decided(set.view().get(chosen));
        if round % 3 > 0 {
            one.update(set.view().get(chosen), RANGE.0 + 4.0 * noise.uniform());
        }
    }
}

#[test]
fn rewards_outside_the_range_are_refused_and_nothing_is_lost() {
    let mut code = code();
    code.update(Action::new(0, &[]), RANGE.0);
    code.update(Action::new(1, &[]), RANGE.1);
    let before = code.state();
    for reward in [RANGE.0 - 1e-9, RANGE.1 + 1e-9, 1e9] {
        let refused = code.try_update(Action::new(0, &[]), reward).unwrap_err();
        assert_eq!(refused, Misfit::RewardRange { reward, low: RANGE.0, high: RANGE.1 });
        assert!(refused.to_string().contains("from -1 to 3"), "{refused}");
        let update = || code.update(Action::new(0, &[]), reward);
        assert!(catch_unwind(AssertUnwindSafe(update)).is_err());
    }
    assert!(code.try_update(Action::new(0, &[]), f64::NAN).is_err());
    assert_eq!(code.state(), before);
}

#[test]
fn ranges_that_are_none_are_refused() {
    for (low, high) in [(1.0, 1.0), (1.0, 0.0), (1e9, 1e9 + 1.0), (f64::NAN, 1.0), (0.0, 1e60)] {
        let refused = TwoPoint { low, high, ..RADIUS }.check();
        assert!(matches!(refused, Err(RadiusError::Range { .. })), "{low} {high} {refused:?}");
    }
    let refused = TwoPoint { delta: 0.0, ..RADIUS }.check();
    assert!(matches!(refused, Err(RadiusError::Delta { .. })));
}

/// A spec for rewards in a range, where the environment has none.
#[test]
fn a_spec_needs_a_range() {
    let node = |value| Node { value, line: 1 };
    let text = |text: &str| node(Value::Text(text.into()));
    let built = |ends: &[(&str, f64)], reward_range| {
        let mut radius = vec![("kind".to_string(), text("two-point"))];
        let ends = ends.iter().map(|(name, x)| ((*name).to_string(), node(Value::Float(*x))));
        radius.extend(ends);
        let table = node(Value::Table(vec![
            ("kind".into(), text("code")),
            ("radius".into(), node(Value::Table(radius))),
        ]));
        let mut problems = Vec::new();
        let mut fields = Fields::new("policy", &table, &mut problems);
        let spec = PolicySpec::read(&mut fields, Setting::Arms, Defaults::Current).unwrap();
        let facts = Facts {
            setting: Setting::Arms,
            dim: 0,
            actions: 3,
            horizon: 10,
            noise_scale: 1.0,
            theta_norm_bound: 1.0,
            action_norm_bound: 1.0,
            reward_range,
        };
        spec.build(&facts).map(|_| ()).map_err(|error| error.to_string())
    };
    assert_eq!(built(&[], Some((0.0, 1.0))), Ok(()));
    assert_eq!(built(&[("lowest_reward", 0.0), ("highest_reward", 2.0)], None), Ok(()));
    for ends in [&[][..], &[("highest_reward", 1.0)]] {
        let error = built(ends, None).unwrap_err();
        assert!(error.contains("set lowest_reward and highest_reward"), "{error}");
    }
}
