use super::laws::value;
use super::rounding::steps;
use super::{ledger_of, observation};
use plausibly::{Ledger, LedgerError, Observation, ObservationError, OffGrid, Tally, TallyError};
use proptest::prelude::*;

fn impossible(outcomes: u64, sum: i128, squares: i128) -> TallyError {
    TallyError::Impossible { outcomes, sum, squares }
}

#[test]
fn a_million_outcomes_are_one_count() {
    let [low, high] = [-0.1, 0.7];
    let outcomes = Tally::yes_no(300_000, 1_000_000, low, high).unwrap();
    let counted = Observation::counted(&[0.3, -1.0], outcomes).unwrap();
    let mut singles = Ledger::new(2).unwrap();
    for k in 0..1_000_000 {
        let reward = if k % 10 < 3 { high } else { low };
        singles.add(&observation(&[0.3, -1.0], reward)).unwrap();
    }
    assert_eq!(singles.observations(), 1_000_000);
    assert_eq!(ledger_of(2, &[counted]).to_bytes(), singles.to_bytes());
    // Two mutants, which must give other sums: the square of the mean for
    // the mean of the squares, and one outcome in the place of many.
    // Integers with this mean have up to n/4 more than its square: half of the neighbours above.
    let by_mean = outcomes.sum().pow(2) / 1_000_000 + 250_000;
    let flat = Tally::from_sums(1_000_000, outcomes.sum(), by_mean).unwrap();
    let flat = Observation::counted(&[0.3, -1.0], flat).unwrap();
    assert_ne!(ledger_of(2, &[flat]), singles);
    assert_ne!(ledger_of(2, &[observation(&[0.3, -1.0], outcomes.reward_sum() / 1e6)]), singles);
}

#[test]
fn counts_that_cannot_be_are_refused() {
    assert_eq!(Tally::yes_no(0, 0, 0.0, 1.0), Err(TallyError::NoOutcomes));
    assert_eq!(Tally::of(&[]), Err(TallyError::NoOutcomes));
    assert_eq!(Tally::from_sums(0, 0, 0), Err(TallyError::NoOutcomes));
    let none = Observation::counted(&[1.0], Tally::default());
    assert_eq!(none, Err(ObservationError::NoOutcomes));
    let empty = observation(&[1.0], 0.5).corrected(Tally::default());
    assert_eq!(empty, Err(ObservationError::NoOutcomes));
    let more = Tally::yes_no(4, 3, 0.0, 1.0).unwrap_err();
    assert_eq!(more, TallyError::Successes { successes: 4, outcomes: 3 });
    assert_eq!(more.to_string(), "4 successes of 3 outcomes are impossible");
    for (low, high, place) in [(f64::NAN, 1.0, 0), (0.0, 1025.0, 1), (0.0, f64::INFINITY, 1)] {
        let refused = Tally::yes_no(1, 2, low, high).unwrap_err();
        assert!(matches!(refused, TallyError::Reward { place: at, .. } if at == place));
        let listed = Tally::of(&[low, high]).unwrap_err();
        assert_eq!(listed.to_string(), refused.to_string());
    }
    let source = OffGrid { value: -2000.0 };
    assert_eq!(Tally::of(&[0.0, 1.0, -2000.0]), Err(TallyError::Reward { place: 2, source }));
    let beyond = (1 << 58) + 1;
    for refused in [Tally::yes_no(1, beyond, 0.0, 1.0), Tally::from_sums(beyond, 0, 0)] {
        assert_eq!(refused, Err(TallyError::Full { outcomes: 0, more: beyond }));
    }
    let feature = Observation::counted(&[1.0, f64::NAN], Tally::of(&[1.0]).unwrap());
    assert!(matches!(feature, Err(ObservationError::Feature { feature: 1, .. })));
}

#[test]
fn sums_that_no_rewards_have_are_refused() {
    let largest = 1_i128 << 34;
    for (count, sum, squares) in [
        (1, 5, 24),                      // one reward has its own square
        (1, 5, 26),                      //
        (2, 5, 12),                      // 2 and 3: no two integers do better
        (4, 8, 15),                      // below (Σy)²/N
        (3, 3 * largest + 1, 3 << 68),   // beyond the grid by its sum
        (3, -3 * largest - 1, 3 << 68),  //
        (3, 0, (3 << 68) - 1),           // beyond the grid: one of three must be inside
        (3, 0, -1),                      //
        (1 << 58, i128::MIN, i128::MAX), //
        (1 << 58, i128::MAX, i128::MIN), //
    ] {
        assert_eq!(Tally::from_sums(count, sum, squares), Err(impossible(count, sum, squares)));
    }
    for (count, sum, squares) in [
        (1, -5, 25),
        (2, 5, 13),
        (4, 8, 16),
        (3, 3 * largest, 3 << 68),
        (3, 0, 2 << 68),
        (2, 0, 2 << 68),
        (1 << 58, -(largest << 58), 1 << 126),
    ] {
        assert!(Tally::from_sums(count, sum, squares).is_ok(), "{count} {sum} {squares}");
    }
}

#[test]
fn a_tally_refuses_what_it_cannot_hold_or_lose() {
    let full = Tally::yes_no(1 << 58, 1 << 58, 0.0, -1024.0).unwrap();
    let mut tally = full;
    let one = Tally::of(&[0.5]).unwrap();
    assert_eq!(tally.add(&one), Err(TallyError::Full { outcomes: 1 << 58, more: 1 }));
    assert_eq!(tally.retract(&one).unwrap_err(), {
        let (sum, squares) = (full.sum() - one.sum(), full.squares() - one.squares());
        impossible((1 << 58) - 1, sum, squares)
    });
    assert_eq!(tally, full, "a refusal changes nothing");
    tally.retract(&full).unwrap();
    assert_eq!(tally, Tally::default());
    assert_eq!(tally.retract(&one), Err(TallyError::TooFew { outcomes: 0, fewer: 1 }));

    let counted = Observation::counted(&[1024.0], full).unwrap();
    let mut ledger = ledger_of(1, &[observation(&[1024.0], 1024.0)]);
    let refused = ledger.add(&counted);
    assert_eq!(refused, Err(LedgerError::Full { observations: 1, more: 1 << 58 }));
    let refused = ledger.retract(&counted);
    assert_eq!(refused, Err(LedgerError::TooFew { observations: 1, fewer: 1 << 58 }));
    // The largest sum without the largest product of the other sign: 2¹²⁷, beyond an i128.
    let mut largest = ledger_of(1, &[counted]);
    let before = largest.clone();
    let opposite = Tally::yes_no(1 << 58, 1 << 58, 0.0, 1024.0).unwrap();
    for features in [[1024.0], [-1024.0]] {
        let other = Observation::counted(&features, opposite).unwrap();
        let same_products = features[0] < 0.0;
        assert_eq!(largest.clone().retract(&other).is_ok(), same_products);
    }
    let other = Observation::counted(&[1024.0], opposite).unwrap();
    let refused = LedgerError::NeverAdded { left: 0, row: 0, column: 1 };
    assert_eq!(largest.retract(&other), Err(refused));
    assert_eq!(largest, before, "a refusal changes nothing");
}

#[test]
fn bytes_of_a_tally_are_its_three_numbers() {
    let tally = Tally::yes_no(2, 3, -0.5, 0.25).unwrap();
    let bytes = tally.to_bytes();
    let by_hand = [&3_u64.to_le_bytes()[..], &0_i128.to_le_bytes(), &(3_i128 << 45).to_le_bytes()];
    assert_eq!(bytes.to_vec(), by_hand.concat());
    assert_eq!(Tally::from_bytes(&bytes), Ok(tally));
    assert_eq!(Tally::from_bytes(&[0; 40]), Ok(Tally::default()));
    let mut cases = [[0; 40]; 3];
    cases[0][8] = 1; // a sum without outcomes
    cases[1][24] = 1; // squares without outcomes
    cases[2][7] = 0xff; // more outcomes than fit
    for bytes in cases {
        assert!(Tally::from_bytes(&bytes).is_err(), "{bytes:?}");
    }
}

proptest! {
    #[test]
    fn a_tally_depends_only_on_its_rewards(
        rewards in prop::collection::vec(value(), 1..30),
        cut in any::<prop::sample::Index>(),
        detour in prop::collection::vec(value(), 1..5),
    ) {
        let whole = Tally::of(&rewards).unwrap();
        let (sum, squares) = rewards.iter().map(|y| steps(*y)).fold((0, 0), |(sum, squares), u| {
            (sum + u, squares + u * u)
        });
        let count = rewards.len() as u64;
        prop_assert_eq!((whole.count(), whole.sum(), whole.squares()), (count, sum, squares));
        prop_assert_eq!(Tally::from_sums(count, sum, squares), Ok(whole));
        prop_assert_eq!(Tally::from_bytes(&whole.to_bytes()), Ok(whole));
        prop_assert_eq!(whole.reward_sum(), sum as f64 / 2.0_f64.powi(24));
        prop_assert_eq!(whole.reward_squares(), squares as f64 / 2.0_f64.powi(48));

        let (left, right) = rewards.split_at(cut.index(rewards.len()));
        let mut merged = Tally::of(&detour).unwrap();
        for part in [right, left] {
            if !part.is_empty() {
                merged.add(&Tally::of(part).unwrap()).unwrap();
            }
        }
        merged.retract(&Tally::of(&detour).unwrap()).unwrap();
        prop_assert_eq!(merged, whole);
    }

    #[test]
    fn the_least_squares_are_those_of_brute_force(
        rewards in prop::collection::vec(-3..=3_i128, 1..5),
    ) {
        // All lists of integers with this sum: the least sum of squares is accepted, one less not.
        let n = u32::try_from(rewards.len()).unwrap();
        let sum = rewards.iter().sum::<i128>();
        let digit = |code: i128, k| code / 7_i128.pow(k) % 7 - 3;
        let lists = (0..7_i128.pow(n)).map(|code| (0..n).map(move |k| digit(code, k)));
        let least = lists.filter(|list| list.clone().sum::<i128>() == sum)
            .map(|list| list.map(|u| u * u).sum::<i128>()).min().unwrap();
        prop_assert!(Tally::from_sums(u64::from(n), sum, least).is_ok());
        prop_assert!(Tally::from_sums(u64::from(n), sum, least - 1).is_err());
    }
}
