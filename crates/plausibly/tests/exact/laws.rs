use super::{ledger_of, observation};
use plausibly::{Ledger, Observation, Stream};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{Config, TestRunner};

/// Ordinary values, the edges of the grid, ties between its points, and values that round to zero.
pub(super) fn value() -> impl Strategy<Value = f64> {
    let step = 2.0_f64.powi(-24);
    prop_oneof![
        6 => -2.0..2.0_f64,
        2 => -1024.0..=1024.0_f64,
        1 => any::<i32>().prop_map(move |halves| f64::from(halves) * step / 2.0),
        1 => prop::sample::select(vec![
            0.0, -0.0, 1024.0, -1024.0, step, -step, step / 2.0, -1.5 * step, 1e-300,
        ]),
    ]
}

type Plain = (Vec<f64>, f64);

fn plain(dim: usize, most: usize) -> impl Strategy<Value = Vec<Plain>> {
    prop::collection::vec((prop::collection::vec(value(), dim), value()), 0..=most)
}

/// Observations to keep, observations to add and retract, and a seed for their order.
#[derive(Clone, Debug)]
struct History {
    dim: usize,
    seen: Vec<Plain>,
    detours: Vec<Plain>,
    seed: u64,
}

fn history() -> impl Strategy<Value = History> {
    let of = |dim| (Just(dim), plain(dim, 40), plain(dim, 12), any::<u64>());
    (1..6_usize).prop_flat_map(of).prop_map(|(dim, seen, detours, seed)| History {
        dim,
        seen,
        detours,
        seed,
    })
}

fn exact(plain: &[Plain]) -> Vec<Observation> {
    plain.iter().map(|(x, y)| observation(x, *y)).collect()
}

fn shuffle<T>(items: &mut [T], rng: &mut Stream) {
    for last in (1..items.len()).rev() {
        items.swap(last, rng.index(last + 1));
    }
}

/// Adds each observation once, and adds and retracts each detour, at random moments.
fn with_detours(history: &History, rng: &mut Stream) -> Ledger {
    enum Step {
        Add(Observation),
        Retract(Observation),
    }
    let mut steps: Vec<(f64, Step)> = Vec::new();
    steps.extend(exact(&history.seen).into_iter().map(|seen| (rng.uniform(), Step::Add(seen))));
    for detour in exact(&history.detours) {
        let (a, b) = (rng.uniform(), rng.uniform());
        steps.push((a.min(b), Step::Add(detour.clone())));
        steps.push((a.max(b), Step::Retract(detour)));
    }
    // A stable sort, so that a detour at one moment is added before it is retracted.
    steps.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut ledger = Ledger::new(history.dim).unwrap();
    for (_, step) in &steps {
        match step {
            Step::Add(observation) => ledger.add(observation).unwrap(),
            Step::Retract(observation) => ledger.retract(observation).unwrap(),
        }
    }
    ledger
}

/// Ledgers of parts, merged two by two in random order. Detours are retracted from the whole, not
/// from the part they were added to.
fn split_and_merged(history: &History, rng: &mut Stream) -> Ledger {
    let mut parts = vec![Ledger::new(history.dim).unwrap(); 1 + rng.index(5)];
    let all: Vec<Plain> = history.seen.iter().chain(&history.detours).cloned().collect();
    for observation in exact(&all) {
        let part = rng.index(parts.len());
        parts[part].add(&observation).unwrap();
    }
    while parts.len() > 1 {
        shuffle(&mut parts, rng);
        let part = parts.pop().unwrap();
        parts[0].merge(&part).unwrap();
    }
    let mut whole = parts.remove(0);
    for detour in exact(&history.detours) {
        whole.retract(&detour).unwrap();
    }
    whole
}

fn check(history: &History) {
    let mut rng = Stream::new(history.seed, 0, "ways");
    let mut seen = exact(&history.seen);
    let straight = ledger_of(history.dim, &seen);
    let bytes = straight.to_bytes();
    shuffle(&mut seen, &mut rng);
    for other in [
        ledger_of(history.dim, &seen),
        with_detours(history, &mut rng),
        split_and_merged(history, &mut rng),
        Ledger::from_bytes(&bytes).unwrap(),
    ] {
        assert_eq!(other.to_bytes(), bytes);
        assert_eq!(other, straight);
        assert_eq!(other.digest(), straight.digest());
    }
    let mut emptied = straight;
    shuffle(&mut seen, &mut rng);
    for observation in &seen {
        emptied.retract(observation).unwrap();
    }
    assert_eq!(emptied.to_bytes(), Ledger::new(history.dim).unwrap().to_bytes());
}

/// Checks the law on this many random histories.
pub(super) fn hold_for(histories: u32) {
    let config = Config { cases: histories, failure_persistence: None, ..Config::default() };
    let law = |history: History| {
        check(&history);
        Ok(())
    };
    TestRunner::new(config).run(&history(), law).unwrap();
}

#[test]
fn only_what_was_seen_matters() {
    hold_for(200);
}

/// `Σ x₁·y` by plain addition of doubles, over observations that a ledger sums exactly.
fn float_sum(start: f64, sign: f64, observations: &[Observation]) -> f64 {
    let product = |seen: &Observation| sign * seen.features().next().unwrap() * seen.reward();
    observations.iter().fold(start, |sum, seen| sum + product(seen))
}

#[test]
fn the_law_catches_sums_of_doubles() {
    // Otherwise the law could hold only because nothing in these histories rounds.
    let mut runner = TestRunner::deterministic();
    let (mut by_order, mut by_detour) = (0, 0);
    for _ in 0..200 {
        let history = history().new_tree(&mut runner).unwrap().current();
        let (mut seen, detours) = (exact(&history.seen), exact(&history.detours));
        let straight = float_sum(0.0, 1.0, &seen);
        let there = float_sum(float_sum(0.0, 1.0, &detours), 1.0, &seen);
        by_detour += u32::from(float_sum(there, -1.0, &detours) != straight);
        shuffle(&mut seen, &mut Stream::new(history.seed, 0, "ways"));
        by_order += u32::from(float_sum(0.0, 1.0, &seen) != straight);
    }
    println!(
        "doubles break the law by order in {by_order}, by detour in {by_detour} of 200 histories"
    );
    assert!(
        by_order > 50 && by_detour > 50,
        "only {by_order} and {by_detour} of 200 histories round"
    );
}

#[test]
fn histories_are_told_apart() {
    // The laws above say when bytes agree; these assertions, that they can differ.
    let seen = [observation(&[1.0, 2.0], 3.0), observation(&[1.0, -2.0], 3.0)];
    let ledger = ledger_of(2, &seen);
    let step = 2.0_f64.powi(-24);
    for others in [
        vec![seen[0].clone()],
        vec![seen[0].clone(), seen[0].clone()],
        vec![seen[0].clone(), observation(&[1.0, -2.0], 3.0 + step)],
        vec![seen[0].clone(), seen[1].clone(), observation(&[0.0, 0.0], 0.0)],
    ] {
        let other = ledger_of(2, &others);
        assert!(
            other != ledger
                && other.to_bytes() != ledger.to_bytes()
                && other.digest() != ledger.digest()
        );
    }
}
