//! Exact statistics depend only on the observations, and their numbers are right.

mod accuracy; // models from exact sums against double-double arithmetic
mod bytes; // the form as bytes, and everything that is not one
mod forecasts; // forecasts of rewards and the sums over them
mod laws; // order, splits, merges, counts, corrections and detours leave no trace
mod rounding; // the sums against integer arithmetic; what rounding costs a radius
mod tally; // outcomes alone, and counts of them

use crate::allocations::allocations;
use plausibly::{Ledger, LedgerError, Observation, ObservationError, OffGrid};

/// A ledger of these observations, in this order.
fn ledger_of(dim: usize, seen: &[Observation]) -> Ledger {
    let mut ledger = Ledger::new(dim).unwrap();
    for observation in seen {
        ledger.add(observation).unwrap();
    }
    ledger
}

fn observation(features: &[f64], reward: f64) -> Observation {
    Observation::new(features, reward).unwrap()
}

#[test]
fn values_off_the_grid_are_refused_by_place_and_value() {
    let just_beyond = 1024.0_f64.next_up();
    for value in [just_beyond, -just_beyond, 1e300, f64::INFINITY, f64::NEG_INFINITY] {
        let source = OffGrid { value };
        let feature = Observation::new(&[0.0, value], 0.0).unwrap_err();
        assert_eq!(feature, ObservationError::Feature { feature: 1, source });
        assert!(feature.to_string().contains(&format!("feature 1 is {value};")), "{feature}");
        let reward = Observation::new(&[0.0, 1.0], value).unwrap_err();
        assert_eq!(reward, ObservationError::Reward { source });
        assert!(reward.to_string().contains(&format!("the reward is {value};")), "{reward}");
        assert_eq!(plausibly::quantise(value), Err(source));
    }
    let nan = Observation::new(&[f64::NAN], 0.0).unwrap_err();
    assert!(
        matches!(nan, ObservationError::Feature { feature: 0, source } if source.value.is_nan())
    );
    for value in [1024.0, -1024.0, 1024.0_f64.next_down(), f64::MIN_POSITIVE] {
        assert!(Observation::new(&[value], value).is_ok(), "{value}");
    }
}

#[test]
fn what_does_not_fit_is_refused_and_changes_nothing() {
    for dim in [0, 4097, usize::MAX] {
        assert_eq!(Ledger::new(dim), Err(LedgerError::Dim { dim }));
    }
    let mut ledger = ledger_of(2, &[observation(&[1.0, 2.0], 3.0)]);
    let before = ledger.clone();
    let mismatch = |found| Err(LedgerError::Mismatch { expected: 2, found });
    assert_eq!(ledger.add(&observation(&[1.0], 3.0)), mismatch(1));
    assert_eq!(ledger.retract(&observation(&[], 3.0)), mismatch(0));
    assert_eq!(ledger.merge(&Ledger::new(3).unwrap()), mismatch(3));
    // With one observation left, a retraction of a slightly different one must be refused.
    let step = 2.0_f64.powi(-24);
    for other in [observation(&[1.0, 2.0], 3.0 + step), observation(&[1.0 - step, 2.0], 3.0)] {
        assert!(matches!(ledger.retract(&other), Err(LedgerError::NeverAdded { left: 0, .. })));
    }
    assert_eq!(ledger, before);
    ledger.retract(&observation(&[1.0, 2.0], 3.0)).unwrap();
    assert_eq!(ledger, Ledger::new(2).unwrap());
    assert_eq!(
        ledger.retract(&observation(&[1.0, 2.0], 3.0)),
        Err(LedgerError::TooFew { observations: 0, fewer: 1 })
    );
    // The negative has the same products, so sums cannot tell them apart, as documented.
    ledger.add(&observation(&[1.0, 2.0], 3.0)).unwrap();
    ledger.retract(&observation(&[-1.0, -2.0], -3.0)).unwrap();
    assert_eq!(ledger.observations(), 0);
}

#[test]
fn adding_and_merging_allocate_nothing() {
    let seen = observation(&[1.0, 2.0], 3.0);
    let (mut ledger, other) = (Ledger::new(2).unwrap(), ledger_of(2, &vec![seen.clone(); 3]));
    let before = allocations();
    ledger.add(&seen).unwrap();
    ledger.merge(&other).unwrap();
    assert_eq!(allocations(), before);
    assert_eq!(ledger.observations(), 4);
}

mod full {
    use super::accuracy;

    #[test]
    fn ten_million_updates() {
        accuracy::measure_all(10_000_000);
    }
}
