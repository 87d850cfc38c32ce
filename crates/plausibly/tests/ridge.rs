use plausibly::{ActionSet, Estimator, Ridge, RidgeError};
use plausibly_testkit::{BruteForce, strategies};
use proptest::prelude::*;

/// The largest entry of `|V·W − I|`.
fn inverse_defect(gram: &[f64], inverse: &[f64], dim: usize) -> f64 {
    let mut worst = 0.0_f64;
    for i in 0..dim {
        for j in 0..dim {
            let entry: f64 = (0..dim).map(|k| gram[i * dim + k] * inverse[k * dim + j]).sum();
            worst = worst.max((entry - if i == j { 1.0 } else { 0.0 }).abs());
        }
    }
    worst
}

/// What rounding can do to `V·V⁻¹`. A fresh factor: `d²·ε·κ(V)`. Each step since: an error of
/// `ε·‖V⁻¹ before‖`, where the inverse before was at most the growth of the determinant, 100, times
/// the one after: `100·ε·κ(V)`.
fn tolerance(reference: &BruteForce, dim: usize, steps: usize) -> f64 {
    4.0 * f64::EPSILON * (dim * dim + 100 * steps) as f64 * reference.condition()
}

#[test]
fn the_inverse_law_catches_an_inverse_that_was_only_copied() {
    let model = Ridge::new(3, 2.0).unwrap();
    assert!(inverse_defect(&model.gram(), model.gram_inverse(), 3) <= 4.0 * f64::EPSILON);
    assert!(inverse_defect(&model.gram(), &model.gram(), 3) > 1.0);
}

#[test]
fn refusals_carry_the_value() {
    for ridge in [0.0, -0.1, f64::NAN, f64::INFINITY, 1e101] {
        let error = Ridge::new(2, ridge).unwrap_err();
        assert!(
            matches!(error, RidgeError::Ridge { .. })
                && error.to_string().contains(&ridge.to_string())
        );
    }
    assert_eq!(Ridge::new(0, 1.0).unwrap_err(), RidgeError::ZeroDim);
    let short = Ridge::from_statistics(2, 1.0, &[1.0, 0.0, 0.0], &[0.0; 2], 0).unwrap_err();
    assert_eq!(short, RidgeError::Shape { dim: 2, gram: 3, moment: 2 });
    let singular = Ridge::from_statistics(2, 0.0, &[1.0, 1.0, 1.0, 1.0], &[0.0; 2], 1).unwrap_err();
    assert!(matches!(singular, RidgeError::Singular { pivot: 1, .. }));
}

#[test]
fn data_that_do_not_span_leave_what_is_known_right() {
    // Three actions in five dimensions, each played n times: the widths of the played are those of
    // least squares on them, 1/n up to what the ridge takes off, whatever the ridge leaves in the
    // directions never seen.
    let rows =
        [[1.0, 0.2, -0.5, 0.3, 0.8], [-0.4, 1.0, 0.6, -0.9, 0.1], [0.7, -0.3, 1.0, 0.2, -0.6]];
    for scale in [1e-3, 1.0, 1e3, 1e8] {
        for ridge in [1e-100, 1e-60, 1e-30, 1e-20, 1e-16, 1e-14, 1e-12, 1e-9, 1e-6, 1e-3] {
            let rows = rows.map(|row| row.map(|x| scale * x));
            let set = ActionSet::from_rows(&rows).unwrap();
            let mut model = Ridge::new(5, ridge).unwrap();
            let n = 2000;
            for play in 0..3 * n {
                model.update(set.view().get(play % 3), 0.5);
            }
            let scores = crate::scores(&model, set.view());
            for (mean, width_sq) in scores.mean().iter().zip(scores.width_sq()) {
                // The ridge is at most 1e-3 beside 2000·scale²: an eigenvalue of the played
                // directions is above scale²·n/2. Rounding: d²·ε·κ, with κ at most 3/(2·10⁻¹⁰) by
                // the floor under the ridge: 8e-5.
                let shrinkage = 2.0 * ridge / (scale * scale * n as f64) + 8e-5;
                assert!(
                    (width_sq * n as f64 - 1.0).abs() < shrinkage,
                    "width² {width_sq:e} at ridge {ridge:e}, scale {scale}"
                );
                assert!(
                    (mean - 0.5).abs() < shrinkage,
                    "mean {mean} at ridge {ridge:e}, scale {scale}"
                );
            }
        }
    }
}

#[test]
#[should_panic(expected = "features must be finite")]
fn a_nan_feature_is_refused() {
    Ridge::new(2, 1.0).unwrap().update(plausibly::Action::new(0, &[f64::NAN, 0.0]), 1.0);
}

#[test]
fn malformed_statistics_are_refused() {
    let malformed =
        |gram: &[f64], moment: &[f64]| Ridge::from_statistics(2, 1.0, gram, moment, 1).unwrap_err();
    let eye = [1.0, 0.0, 0.0, 1.0];
    assert_eq!(malformed(&eye, &[f64::NAN, 0.0]), RidgeError::Malformed { row: 0, column: 2 });
    assert_eq!(
        malformed(&[1.0, 0.5, 0.4, 1.0], &[0.0; 2]),
        RidgeError::Malformed { row: 0, column: 1 }
    );
    assert_eq!(
        malformed(&[1.0, 0.0, 0.0, f64::INFINITY], &[0.0; 2]),
        RidgeError::Malformed { row: 1, column: 1 }
    );
}

#[test]
#[should_panic(expected = "reward must be finite")]
fn a_nan_reward_is_refused() {
    let set = ActionSet::from_rows(&[[1.0]]).unwrap();
    Ridge::new(1, 1.0).unwrap().update(set.view().get(0), f64::NAN);
}

#[test]
#[should_panic(expected = "a model of 2 features was asked about actions with 1")]
fn actions_of_another_dimension_are_refused() {
    let set = ActionSet::from_rows(&[[1.0]]).unwrap();
    crate::scores(&Ridge::new(2, 1.0).unwrap(), set.view());
}

#[test]
fn means_alone_follow_the_model_and_the_set() {
    let sets = [[[1.0, 0.5], [-0.3, 2.0]], [[0.2, -1.0], [4.0, 0.1]]]
        .map(|rows| ActionSet::from_rows(&rows).unwrap());
    let mut model = Ridge::new(2, 1.0).unwrap();
    for step in 0..40 {
        // Asked twice before anything changes, and about another set in between.
        for set in [&sets[0], &sets[0], &sets[1], &sets[0]] {
            let mut alone = plausibly::Scores::new();
            model.means_into(set.view(), &mut alone);
            for (alone, scored) in alone.mean().iter().zip(crate::scores(&model, set.view()).mean())
            {
                assert!((alone - scored).abs() < 1e-12, "step {step}");
            }
        }
        model.update(sets[step % 2].view().get(step / 2 % 2), (step as f64).sin());
    }
}

proptest! {
    #[test]
    fn gram_times_inverse_is_identity_from_round_zero(
        dim in 1..7_usize,
        ridge in strategies::ridge(),
        rows in strategies::actions(6, 12),
        plays in strategies::history(100),
    ) {
        let rows: Vec<Vec<f64>> = rows.into_iter().map(|row| row[..dim].to_vec()).collect();
        let set = ActionSet::from_rows(&rows).unwrap();
        let mut model = Ridge::new(dim, ridge).unwrap();
        let mut reference = BruteForce::new(dim, ridge);
        prop_assert!(
            inverse_defect(&model.gram(), model.gram_inverse(), dim) <= 4.0 * f64::EPSILON,
        );
        for (step, (which, reward)) in plays.into_iter().enumerate() {
            let action = set.view().get(which % rows.len());
            model.update(action, reward);
            reference.observe(action.features(), reward);
            let defect = inverse_defect(&model.gram(), model.gram_inverse(), dim);
            let allowed = tolerance(&reference, dim, step + 1);
            prop_assert!(defect <= allowed, "after {} steps: {defect:e} > {allowed:e}", step + 1);
        }
    }

    #[test]
    fn incremental_scores_are_brute_force_scores(
        ridge in 0.01..100.0_f64,
        rows in strategies::actions(4, 20),
        others in strategies::actions(4, 20),
        plays in strategies::history(60),
        switch in prop::collection::vec(any::<bool>(), 60),
    ) {
        let sets = [ActionSet::from_rows(&rows).unwrap(), ActionSet::from_rows(&others).unwrap()];
        let mut model = Ridge::new(4, ridge).unwrap();
        let mut reference = BruteForce::new(4, ridge);
        let mut current = 0;
        for (step, (which, reward)) in plays.into_iter().enumerate() {
            // Stay on a set for a while (refresh), change it (rebuild), or skip a scoring (two
            // observations behind).
            current = if switch[step] { 1 - current } else { current };
            let view = sets[current].view();
            if which % 3 != 0 {
                let (mean, width_sq) = {
                    let scores = crate::scores(&model, view);
                    (scores.mean().to_vec(), scores.width_sq().to_vec())
                };
                let allowed = tolerance(&reference, 4, step + 1) * 10.0;
                for action in view.iter() {
                    let (m, w) = reference.score(action.features());
                    let (dm, dw) =
                        ((mean[action.index()] - m).abs(), (width_sq[action.index()] - w).abs());
                    prop_assert!(
                        dm <= allowed * (1.0 + m.abs()) && dw <= allowed * (1.0 + w),
                        "{dm:e} {dw:e} {allowed:e}",
                    );
                }
            }
            let action = view.get(which % view.len());
            model.update(action, reward);
            reference.observe(action.features(), reward);
        }
    }

    #[test]
    fn permuting_actions_permutes_scores(
        rows in strategies::actions(3, 30),
        plays in strategies::history(40),
        rotation in 0..30_usize,
    ) {
        // A rotation after a reversal moves every action to another lane and block.
        let order: Vec<usize> =
            (0..rows.len()).rev().map(|i| (i + rotation) % rows.len()).collect();
        let permuted: Vec<Vec<f64>> = order.iter().map(|&i| rows[i].clone()).collect();
        let (set, shuffled) =
            (ActionSet::from_rows(&rows).unwrap(), ActionSet::from_rows(&permuted).unwrap());
        let (mut a, mut b) = (Ridge::new(3, 0.5).unwrap(), Ridge::new(3, 0.5).unwrap());
        for (which, reward) in plays {
            let action = set.view().get(which % rows.len());
            a.update(action, reward);
            b.update(action, reward);
            let (a, b) = (crate::scores(&a, set.view()), crate::scores(&b, shuffled.view()));
            for (position, &original) in order.iter().enumerate() {
                prop_assert_eq!(a.mean()[original].to_bits(), b.mean()[position].to_bits());
                prop_assert_eq!(a.width_sq()[original].to_bits(), b.width_sq()[position].to_bits());
            }
        }
    }

    #[test]
    fn widths_never_grow_and_rewards_scale_means(
        rows in strategies::actions(3, 10),
        plays in strategies::history(50),
    ) {
        let set = ActionSet::from_rows(&rows).unwrap();
        let (mut model, mut doubled) = (Ridge::new(3, 1.0).unwrap(), Ridge::new(3, 1.0).unwrap());
        // Both scored from the start, so that both go through the same refreshes.
        let mut last: Vec<f64> = crate::scores(&model, set.view()).width_sq().to_vec();
        crate::scores(&doubled, set.view());
        for (which, reward) in plays {
            let action = set.view().get(which % rows.len());
            model.update(action, reward);
            doubled.update(action, 2.0 * reward);
            let scores = crate::scores(&model, set.view());
            for (now, before) in scores.width_sq().iter().zip(&last) {
                prop_assert!(*now <= before * (1.0 + 1e-12));
            }
            last = scores.width_sq().to_vec();
            // A factor of two is exact in binary, through every step.
            for (one, two) in scores.mean().iter().zip(crate::scores(&doubled, set.view()).mean()) {
                prop_assert_eq!(2.0 * one, *two);
            }
        }
    }

    #[test]
    fn the_log_determinant_is_the_determinants_logarithm(
        ridge in 0.01..10.0_f64,
        rows in strategies::actions(3, 8),
        plays in strategies::history(80),
    ) {
        let set = ActionSet::from_rows(&rows).unwrap();
        let mut model = Ridge::new(3, ridge).unwrap();
        let mut reference = BruteForce::new(3, ridge);
        for (which, reward) in plays {
            let action = set.view().get(which % rows.len());
            model.update(action, reward);
            reference.observe(action.features(), reward);
        }
        let expected = reference.gram().determinant().ln() - 3.0 * ridge.ln();
        prop_assert!((model.evidence().log_det_ratio() - expected).abs() < 1e-9);
    }

    #[test]
    fn statistics_restore_the_model(
        rows in strategies::actions(3, 8),
        plays in strategies::history(60),
    ) {
        let set = ActionSet::from_rows(&rows).unwrap();
        let mut model = Ridge::new(3, 1.0).unwrap();
        for (which, reward) in &plays {
            model.update(set.view().get(which % rows.len()), *reward);
        }
        let count = plays.len() as u64;
        let restored =
            Ridge::from_statistics(3, 1.0, &model.gram(), &model.moment(), count).unwrap();
        prop_assert_eq!(restored.evidence().observations, count);
        let both = [&model, &restored].map(|model| crate::scores(model, set.view()));
        for (a, b) in both[0].mean().iter().zip(both[1].mean()) {
            prop_assert!((a - b).abs() < 1e-10);
        }
    }
}
