use plausibly::{ActionSet, Design};
use plausibly_testkit::{leverages, rank, strategies};
use proptest::prelude::*;

/// Checks a design by its weights alone, with the pseudo-inverse of another library.
fn check(points: &[Vec<f64>], tolerance: f64) -> Result<(), TestCaseError> {
    let set = ActionSet::from_rows(points).unwrap();
    let among: Vec<usize> = (0..points.len()).collect();
    let design = Design::d_optimal(set.view(), &among, tolerance);
    let mut weights = vec![0.0; points.len()];
    for (action, weight) in design.support() {
        weights[action] = weight;
    }
    let total: f64 = weights.iter().sum();
    prop_assert!((total - 1.0).abs() < 1e-12, "weights sum to {total}");
    prop_assert_eq!(design.rank(), rank(points));
    let worst = leverages(points, &weights).into_iter().fold(0.0, f64::max);
    let limit = (1.0 + tolerance) * design.rank() as f64;
    prop_assert!(worst <= limit * (1.0 + 1e-6), "largest leverage {worst}, limit {limit}");
    let claimed = design.largest_leverage();
    prop_assert!((worst - claimed).abs() <= 1e-5 * worst.max(1.0), "claimed {claimed}, is {worst}");
    Ok(())
}

#[test]
fn the_gap_check_catches_a_uniform_design() {
    let points = vec![vec![1.0, 0.0], vec![0.0, 1.0], vec![0.1, 0.1], vec![0.1, -0.1]];
    let uniform = leverages(&points, &[0.25; 4]).into_iter().fold(0.0, f64::max);
    assert!(uniform > 2.0 * 1.5, "{uniform}");
}

#[test]
fn known_optima() {
    // The corners of a square share the weight; a point inside gets none.
    let square = [[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0], [0.2, 0.1]];
    let set = ActionSet::from_rows(&square).unwrap();
    let design = Design::d_optimal(set.view(), &[0, 1, 2, 3, 4], 1e-9);
    assert!((design.largest_leverage() - 2.0).abs() < 1e-8);
    assert!(design.support().all(|(action, _)| action != 4));
    // On a line the longest action has all the weight.
    let line = ActionSet::from_rows(&[[0.5], [-2.0], [1.0]]).unwrap();
    let design = Design::d_optimal(line.view(), &[0, 1, 2], 1e-9);
    assert_eq!(design.support().collect::<Vec<_>>(), [(1, 1.0)]);
    // Nothing can be learned from zero vectors; they must not break the search either.
    let zeros = ActionSet::from_rows(&[[0.0, 0.0], [0.0, 0.0]]).unwrap();
    let design = Design::d_optimal(zeros.view(), &[0, 1], 1e-3);
    assert_eq!((design.rank(), design.support().count()), (0, 1));
}

proptest! {
    #[test]
    fn the_gap_is_real(points in strategies::actions(4, 40), exponent in 1..5_i32) {
        check(&points, 10.0_f64.powi(-exponent))?;
    }

    #[test]
    fn the_gap_is_real_when_actions_do_not_span(
        coordinates in strategies::actions(2, 30),
        frame in prop::collection::vec(strategies::action(5), 2),
    ) {
        // Combinations of two vectors in ℝ⁵.
        let lift = |c: &Vec<f64>| (0..5).map(|j| c[0] * frame[0][j] + c[1] * frame[1][j]).collect();
        let points: Vec<Vec<f64>> = coordinates.iter().map(lift).collect();
        // The rank of nearly dependent vectors is a matter of tolerance, so two implementations may
        // disagree.
        prop_assume!(nearly_singular(&points).is_none_or(|ratio| ratio > 1e-4));
        check(&points, 1e-3)?;
    }
}

/// Smallest over largest of the singular values that count, if there are two.
fn nearly_singular(points: &[Vec<f64>]) -> Option<f64> {
    let norm = |v: &[f64]| v.iter().map(|x| x * x).sum::<f64>().sqrt();
    let longest = points.iter().max_by(|a, b| norm(a).total_cmp(&norm(b)))?;
    let length = norm(longest);
    let outside = |v: &Vec<f64>| {
        let along: f64 = v.iter().zip(longest).map(|(a, b)| a * b).sum::<f64>() / (length * length);
        norm(&v.iter().zip(longest).map(|(a, b)| a - along * b).collect::<Vec<_>>())
    };
    let rest = points.iter().map(outside).fold(0.0, f64::max);
    (length > 0.0 && rest > 1e-12 * length).then_some(rest / length)
}
