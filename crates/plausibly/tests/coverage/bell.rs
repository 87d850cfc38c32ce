//! The set of normal noise of unknown scale, at `θ* = 0` with unit noise.
//!
//! The least evidence over all scales is used, so the set has about two nats to spare, and these
//! tests notice gross mistakes only. `confidence/bell/laws.rs` compares the evidence itself with
//! densities.

use super::FALSE_ALARM;
use plausibly::{
    Action, ActionSet, Bell, BellArms, BellRidge, Code, ConfidenceRadius, Estimator, Explain,
    Policy, Stream,
};
use plausibly_testkit::{most_events, tail_above};

const ROUNDS: u64 = 150;
const RUNS: u64 = 2000;

fn holds(model: &dyn Estimator, truth: &[f64]) -> bool {
    model.holds(truth, Bell::default().reach(&model.evidence()))
}

/// Whether the truth ever leaves the set of CODE's model.
fn code_misses<E: Estimator + Clone>(model: E, set: &ActionSet, run: u64) -> bool {
    let (mut code, mut noise) = (Code::new(model, Bell::default()), Stream::new(62, run, "noise"));
    let truth = vec![0.0; set.view().len().max(set.view().dim())];
    (0..ROUNDS).any(|_| {
        let chosen = code.select(set.view(), &mut noise.clone());
        code.update(set.view().get(chosen), noise.normal());
        !holds(code.model(), &truth)
    })
}

/// A design that knows the scale: it shows nothing until the noise so far was small by luck, then a
/// long feature for as long as that lasts.
fn scale_aware_misses(delta: f64, run: u64) -> bool {
    let mut model = BellRidge::in_context(1, 1.0, 1.0, delta).unwrap();
    let mut noise = Stream::new(63, run, "noise");
    let (mut squares, mut shown) = (0.0, false);
    (0..ROUNDS).any(|round| {
        let limit = if shown { 0.7 } else { 0.8 };
        let lucky = round > 0 && squares < limit * round as f64;
        shown |= lucky;
        let y = noise.normal();
        squares += y * y;
        // Four times as long as the bound on norms: that is a unit of the prior, not an assumption.
        model.update(Action::new(0, &[if lucky { 4.0 } else { 0.0 }]), y);
        !holds(&model, &[0.0])
    })
}

/// The mutant: the set of known noise, with the standard deviation of the sample put in. One arm,
/// taken in every round.
fn plugged_in_misses(delta: f64, run: u64) -> bool {
    let mut noise = Stream::new(64, run, "noise");
    let (mut n, mut total, mut squares) = (0.0, 0.0, 0.0);
    (0..ROUNDS).any(|_| {
        let y = noise.normal();
        n += 1.0;
        total += y;
        squares += y * y;
        let variance = (squares - total * total / n) / (n - 1.0);
        let allowed = (n / 2.0_f64).ln_1p() - 2.0 * delta.ln();
        n > 2.0 && total * total / (n + 2.0) > variance * allowed
    })
}

fn misses(runs: u64, misses: impl Fn(u64) -> bool) -> u64 {
    (0..runs).filter(|run| misses(*run)).count() as u64
}

#[test]
fn the_truth_stays_in_the_bell_set() {
    let rows = [[1.0, 0.0, 0.5], [1.0, 1.0, -0.5], [1.0, -1.0, 0.0], [1.0, 0.3, 2.0]];
    let (set, arms) = (ActionSet::from_rows(&rows).unwrap(), ActionSet::arms(3).unwrap());
    for delta in [0.05, 0.01] {
        let limit = most_events(RUNS, delta, FALSE_ALARM);
        // A set that misses three times as often as it may at 5 %, or six times at 1 %, is caught.
        let caught = if delta > 0.02 { 3.0 * delta } else { 6.0 * delta };
        assert!(tail_above(RUNS, caught, limit) > 0.99);
        let linear = |run| code_misses(BellRidge::new(set.view(), delta).unwrap(), &set, run);
        let plain = |run| code_misses(BellArms::new(3, delta).unwrap(), &arms, run);
        for (name, missed) in [
            ("linear", misses(RUNS, linear)),
            ("arms", misses(RUNS, plain)),
            ("scale-aware", misses(RUNS, |run| scale_aware_misses(delta, run))),
        ] {
            assert!(missed <= limit, "{name} at {delta}: {missed} of {RUNS}, limit {limit}");
        }
        let mutant = misses(RUNS, |run| plugged_in_misses(delta, run));
        assert!(mutant > limit, "the mutant missed {mutant} times, limit {limit}");
    }
}
