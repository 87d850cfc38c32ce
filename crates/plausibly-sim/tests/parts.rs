use crate::experiment;
use plausibly_sim::{Comparison, Monitor, Part, PartError, RunError, summary_csv};
use proptest::prelude::*;
use std::num::NonZeroUsize;

const RUNS: u64 = 23;

fn comparison() -> Comparison {
    let head = format!("runs = {RUNS}\nhorizon = 60\nseed = 3");
    let environment = "kind = 'linear'\ndim = 3\nactions = 12\nnoise = 0.5";
    experiment(&head, environment, &["kind = 'code'", "kind = 'lin-ts'"]).comparison()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn however_it_is_cut_a_comparison_comes_out_the_same(
        cuts in prop::collection::btree_set(1..RUNS, 0..8),
    ) {
        let comparison = comparison();
        let whole = comparison.run(NonZeroUsize::new(3).unwrap(), &()).unwrap();
        let ends: Vec<u64> = cuts.into_iter().chain([RUNS]).collect();
        let mut sum = comparison.nothing_yet();
        let mut first = 0;
        for end in ends {
            let part = comparison.part(first..end, &()).unwrap();
            let read = Part::from_bytes(&part.to_bytes()).unwrap();
            prop_assert_eq!(&read, &part);
            prop_assert_eq!(read.range(), first..end);
            sum.take(&read).unwrap();
            first = end;
        }
        prop_assert!(sum == whole);
        prop_assert_eq!(summary_csv(&[("x", &sum)]), summary_csv(&[("x", &whole)]));
    }

    #[test]
    fn bytes_that_are_no_part_are_refused(
        bytes in prop::collection::vec(any::<u8>(), 0..100),
        cut in 0_usize..1000,
    ) {
        // Random lengths would allocate much memory if the reader trusted them.
        prop_assert_eq!(Part::from_bytes(&bytes), Err(PartError::Form));
        let whole = comparison().part(0..2, &()).unwrap().to_bytes();
        let cut = cut % whole.len();
        prop_assert_eq!(Part::from_bytes(&whole[..cut]), Err(PartError::Form));
    }
}

#[test]
fn a_part_out_of_order_twice_or_from_elsewhere_is_refused_and_changes_nothing() {
    let comparison = comparison();
    let part = |runs| comparison.part(runs, &()).unwrap();
    let mut sum = comparison.nothing_yet();
    assert_eq!(sum.take(&part(1..2)), Err(PartError::Order { expected: 0, found: 1 }));
    sum.take(&part(0..2)).unwrap();
    let before = sum.clone();
    assert_eq!(sum.take(&part(0..2)), Err(PartError::Order { expected: 2, found: 0 }), "twice");
    let other =
        experiment("runs = 5\nhorizon = 60", "kind = 'k-armed'\nactions = 3", &["kind = 'ucb1'"]);
    let other = other.comparison().part(2..3, &()).unwrap();
    let rounds = before.rounds.len();
    assert_eq!(sum.take(&other), Err(PartError::Shape { policies: 1, rounds }));
    assert!(sum == before);
}

#[test]
fn the_order_of_parts_matters_to_the_last_bit() {
    // Runs are summed in order because another order gives another sum.
    let comparison = comparison();
    let run = |number: u64| comparison.part(number..number + 1, &()).unwrap();
    let mut backwards = comparison.nothing_yet();
    for place in 0..RUNS {
        let mut bytes = run(RUNS - 1 - place).to_bytes();
        bytes[..8].copy_from_slice(&place.to_le_bytes());
        backwards.take(&Part::from_bytes(&bytes).unwrap()).unwrap();
    }
    assert!(backwards != comparison.run(NonZeroUsize::MIN, &()).unwrap());
}

#[test]
fn a_part_stops_when_asked_to() {
    struct Enough;
    impl Monitor for Enough {
        fn stopped(&self) -> bool {
            true
        }
    }
    assert!(matches!(comparison().part(0..1, &Enough), Err(RunError::Stopped)));
}
