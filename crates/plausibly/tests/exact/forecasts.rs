use super::laws::{History, exact, history};
use super::rounding::steps;
use super::{ledger_of, observation};
use plausibly::{
    ForecastError, Forecasts, Ledger, LedgerError, MalformedLedger, Observation, OffGrid, Tally,
};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use sha2::{Digest, Sha256};

/// The forecast that counts and the reward, in steps, of every reward with a forecast.
fn pairs(history: &History) -> Vec<([i128; 3], usize, i128)> {
    let mut pairs = Vec::new();
    for (_, rewards, forecasts) in &history.seen {
        if let Some((candidates, counts)) = forecasts {
            let candidates = candidates.map(steps);
            pairs.extend(rewards.iter().map(|y| (candidates, *counts, steps(*y))));
        }
    }
    pairs
}

fn forecast(features: &[f64], reward: f64, ahead: f64) -> Observation {
    observation(features, reward).with_forecasts(Forecasts::single(ahead).unwrap())
}

proptest! {
    #[test]
    fn sums_over_forecasts_are_those_of_integers(history in history()) {
        let ledger = ledger_of(history.dim, &exact(&history.seen));
        let (pairs, sums) = (pairs(&history), ledger.forecasts());
        prop_assert_eq!(sums.count(), pairs.len() as u64);
        let d: i128 = pairs.iter().map(|(c, k, y)| c[*k] * (c[*k] - 2 * y)).sum();
        prop_assert_eq!(sums.sum(), d);
        let errors: [i128; 3] =
            std::array::from_fn(|k| pairs.iter().map(|(c, _, y)| (y - c[k]).pow(2)).sum());
        prop_assert_eq!(sums.errors(), errors);
        prop_assert_eq!(Some(&errors[sums.best()]), errors.iter().min());
        let all = pairs.len() as u64 == ledger.observations();
        prop_assert_eq!(ledger.forecast_sum(), all.then(|| d as f64 / 2.0_f64.powi(48)));
        if all {
            // D + Σ y² is the sum of squared errors of the forecasts that counted.
            let counted: i128 = pairs.iter().map(|(c, k, y)| (y - c[*k]).pow(2)).sum();
            prop_assert_eq!(d + ledger.sum(history.dim, history.dim), counted);
        }
        prop_assert_eq!(*ledger.widened(history.dim + 2).unwrap().forecasts(), *sums);
        // Without forecasts the bytes are those of version 1.
        prop_assert_eq!(ledger.to_bytes()[6], if pairs.is_empty() { 1 } else { 2 });
    }
}

#[test]
fn the_law_catches_other_sums() {
    // Otherwise it could hold only because these histories have no forecasts that matter.
    let mut runner = TestRunner::deterministic();
    let (mut with_forecasts, mut half, mut renewed, mut forgotten) = (0, 0, 0, 0);
    for _ in 0..200 {
        let mut history = history().new_tree(&mut runner).unwrap().current();
        let ledger = ledger_of(history.dim, &exact(&history.seen));
        let pairs = pairs(&history);
        with_forecasts += u32::from(!pairs.is_empty());
        let mutant: i128 = pairs.iter().map(|(c, k, y)| c[*k] * (c[*k] - y)).sum();
        half += u32::from(ledger.forecasts().sum() != mutant);
        // A correction of the last decision with forecasts that gives it new ones, by one step.
        let last = history.seen.iter_mut().rev().find_map(|(_, _, forecasts)| forecasts.as_mut());
        if let Some((candidates, counts)) = last {
            candidates[*counts] -= candidates[*counts].signum() * 2.0_f64.powi(-24);
            let other = ledger_of(history.dim, &exact(&history.seen));
            renewed += u32::from(other.to_bytes() != ledger.to_bytes());
        }
        let outcomes: usize = history.seen.iter().map(|(_, rewards, _)| rewards.len()).sum();
        forgotten += u32::from(outcomes != history.seen.len());
    }
    println!("{with_forecasts} of 200 histories have forecasts: {half} {renewed} {forgotten}");
    assert!(with_forecasts > 100 && forgotten > 100, "{with_forecasts} {forgotten}");
    assert!(half > 100 && renewed > 100, "{half} {renewed} of {with_forecasts} histories differ");
}

#[test]
fn forecasts_off_the_grid_are_refused() {
    for value in [f64::NAN, f64::INFINITY, -1024.1] {
        for candidate in 0..3 {
            let mut candidates = [0.5; 3];
            candidates[candidate] = value;
            let refused = Forecasts::new(candidates, 0).unwrap_err();
            assert!(
                matches!(refused, ForecastError::Value { candidate: at, .. } if at == candidate)
            );
        }
    }
    let source = OffGrid { value: 2000.0 };
    assert_eq!(Forecasts::single(2000.0), Err(ForecastError::Value { candidate: 0, source }));
    for counts in [3, 256, usize::MAX] {
        let refused = Forecasts::new([0.5; 3], counts);
        assert_eq!(refused, Err(ForecastError::NoSuchCandidate { counts }));
    }
    let forecasts = Forecasts::new([1024.0, -0.25, 0.0], 1).unwrap();
    assert_eq!((forecasts.candidates(), forecasts.counts()), ([1024.0, -0.25, 0.0], 1));
    assert_eq!(forecasts.counted(), -0.25);
}

#[test]
fn a_missing_forecast_is_known() {
    let mut ledger = Ledger::new(1).unwrap();
    assert_eq!(ledger.forecast_sum(), Some(0.0));
    ledger.add(&forecast(&[1.0], 0.5, 0.25)).unwrap();
    // 0.25·(0.25 − 1)
    assert_eq!(ledger.forecast_sum(), Some(-0.1875));
    let plain = observation(&[1.0], 0.5);
    ledger.add(&plain).unwrap();
    assert_eq!((ledger.forecast_sum(), ledger.forecasts().count()), (None, 1));
    ledger.retract(&plain).unwrap();
    assert_eq!(ledger.forecast_sum(), Some(-0.1875));
}

#[test]
fn the_first_among_equals_counts_next() {
    let best = |candidates| {
        let forecasts = Forecasts::new(candidates, 0).unwrap();
        let seen = observation(&[1.0], 0.5).with_forecasts(forecasts);
        ledger_of(1, &[seen]).forecasts().best()
    };
    assert_eq!([best([0.5; 3]), best([0.0, 1.0, 0.0]), best([1.0, 0.5, 0.5])], [0, 0, 1]);
    assert_eq!([best([1.0, 0.5, 0.25]), best([1.0, 0.25, 0.5])], [1, 2]);
}

#[test]
fn a_retraction_with_other_forecasts_is_refused() {
    let seen = forecast(&[1.0], 0.5, 0.25);
    let mut ledger = ledger_of(1, std::slice::from_ref(&seen));
    let before = ledger.clone();
    let refused = Err(LedgerError::NeverForecast { left: 0 });
    assert_eq!(ledger.retract(&observation(&[1.0], 0.5)), refused, "without forecasts");
    let step = 2.0_f64.powi(-24);
    for other in [0.25 + step, 0.25 - step, 0.75 - step] {
        assert_eq!(ledger.retract(&forecast(&[1.0], 0.5, other)), refused, "{other}");
    }
    let mut plain = ledger_of(1, &[observation(&[1.0], 0.5)]);
    assert_eq!(plain.retract(&seen), refused, "it had none");
    assert_eq!(ledger, before, "a refusal changes nothing");
    // As far above the reward as 0.25 is below: sums cannot tell them apart, as documented.
    ledger.clone().retract(&forecast(&[1.0], 0.5, 0.75)).unwrap();
    ledger.retract(&seen).unwrap();
    assert_eq!(ledger.to_bytes(), Ledger::new(1).unwrap().to_bytes());
}

#[test]
fn the_largest_sums_over_forecasts_fit_and_one_more_is_refused() {
    let count = |n| {
        let outcomes = Tally::yes_no(n, n, 0.0, 1024.0).unwrap();
        let seen = Observation::counted(&[1024.0], outcomes).unwrap();
        seen.with_forecasts(Forecasts::single(-1024.0).unwrap())
    };
    let mut ledger = ledger_of(1, &[count((1 << 56) - 1), count(1)]);
    assert_eq!(ledger.forecasts().sum(), 3 << 124);
    assert_eq!(ledger.forecasts().errors(), [1 << 126; 3]);
    let full = ledger.clone();
    assert_eq!(Ledger::from_bytes(&full.to_bytes()), Ok(full.clone()));
    let refused = |more| Err(LedgerError::ForecastsFull { forecasts: 1 << 56, more });
    assert_eq!(ledger.add(&count(1)), refused(1));
    assert_eq!(ledger.add(&count(1 << 57)), refused(1 << 57));
    assert_eq!(ledger.merge(&full), refused(1 << 56));
    ledger.add(&observation(&[1.0], 0.0)).unwrap();
    let mixed = ledger.clone();
    let beyond = count(1 << 57);
    assert!(matches!(ledger.retract(&beyond), Err(LedgerError::TooFew { .. })));
    let mut plain = ledger_of(1, &[observation(&[1.0], 0.0)]);
    let many = Tally::yes_no(1 << 57, 1 << 57, 0.0, 1024.0).unwrap();
    plain.add(&Observation::counted(&[1024.0], many).unwrap()).unwrap();
    assert_eq!(plain.retract(&beyond), Err(LedgerError::NeverForecast { left: 1 }));
    assert_eq!(ledger, mixed, "a refusal changes nothing");
}

/// Bytes in version 2 with a fitting digest: one feature, whose sums are zero.
fn sealed(observations: u64, squares: i128, count: u64, sums: [i128; 4]) -> Vec<u8> {
    let mut bytes = b"ledger\x02\x00\x01\x00\x00\x00".to_vec();
    bytes.extend(observations.to_le_bytes());
    bytes.extend([0, 0, squares].into_iter().flat_map(i128::to_le_bytes));
    bytes.extend(count.to_le_bytes());
    bytes.extend(sums.into_iter().flat_map(i128::to_le_bytes));
    [&bytes[..], &Sha256::digest(&bytes)[..]].concat()
}

#[test]
fn bytes_with_forecasts_are_what_their_page_says() {
    let forecasts = Forecasts::new([0.25, 0.5, 1.0], 2).unwrap();
    let ledger = ledger_of(1, &[observation(&[0.0], 0.5).with_forecasts(forecasts)]);
    let unit = 1_i128 << 48;
    // By hand: 1·(1 − 1) = 0; 0.25², 0, 0.5².
    let bytes = sealed(1, unit / 4, 1, [0, unit / 16, 0, unit / 4]);
    assert_eq!(ledger.to_bytes(), bytes);
    assert_eq!(ledger.digest().as_bytes()[..], bytes[bytes.len() - 32..]);
    assert_eq!(Ledger::from_bytes(&bytes), Ok(ledger));
    for cut in 0..bytes.len() {
        let refused = Ledger::from_bytes(&bytes[..cut]).unwrap_err();
        assert!(matches!(refused, MalformedLedger::Length { found, .. } if found == cut));
    }
    for bit in 0..8 * bytes.len() {
        let mut flipped = bytes.clone();
        flipped[bit / 8] ^= 1 << (bit % 8);
        assert!(Ledger::from_bytes(&flipped).is_err(), "bit {bit}");
    }
}

#[test]
fn a_fitting_digest_does_not_make_nonsense_forecasts() {
    let (square, error) = (1_i128 << 68, 1_i128 << 70);
    assert!(Ledger::from_bytes(&sealed(1, square, 1, [3 * square, error, error, error])).is_ok());
    for (observations, squares, count, sums) in [
        (1, 0, 0, [0; 4]),               // one form for each ledger: version 1
        (1, 0, 0, [1, 0, 0, 0]),         //
        (1, 4, 2, [0; 4]),               // more forecasts than observations
        (1, 4, u64::MAX, [0; 4]),        //
        (1, 4, 1, [0, -1, 9, 9]),        // a sum of squares below zero
        (1, 4, 1, [0, error + 1, 9, 9]), // beyond the grid
        (1, 4, 1, [-5, 9, 9, 9]),        // below −Σ y²
        (1, 4, 1, [1, 1, 1, 2]),         // more than all errors: 1 + 4 > 4
        (2, 4, 1, [5, 1, 1, 2]),         // the same, of a part
        (1, square, 1, [3 * square + 1, error, error, error]),
        (1, 4, 1, [i128::MAX, error, error, error]),
        (1, 4, 1, [i128::MIN, 9, 9, 9]),
    ] {
        let refused = Ledger::from_bytes(&sealed(observations, squares, count, sums));
        let expected = MalformedLedger::Forecasts { found: count, at: 68, observations };
        assert_eq!(refused, Err(expected), "{squares} {sums:?}");
    }
}
