use plausibly::{
    Action, ActionSet, ArmMeans, Code, ConfidenceRadius, Explain, Fixed, PerArm, Policy, Ridge, Stream,
};
use plausibly_testkit::{BruteForce, strategies};
use proptest::prelude::*;

proptest! {
    #[test]
    fn code_maximises_the_log_determinant_over_the_plausible_set(
        rows in strategies::actions(3, 15),
        rewards in prop::collection::vec(-1.0..1.0_f64, 1..50),
        sqrt_beta in 0.1..3.0_f64,
    ) {
        let set = ActionSet::from_rows(&rows).unwrap();
        let mut code = Code::new(Ridge::new(3, 1.0).unwrap(), Fixed { sqrt_beta });
        let mut reference = BruteForce::new(3, 1.0);
        let mut rng = Stream::new(0, 0, "policy");
        for reward in rewards {
            let chosen = code.select(set.view(), &mut rng);
            let scores: Vec<(f64, f64)> = rows.iter().map(|row| reference.score(row)).collect();
            let half = |i: usize| sqrt_beta * scores[i].1.max(0.0).sqrt();
            let best_lower = (0..rows.len()).map(|i| scores[i].0 - half(i)).fold(f64::NEG_INFINITY, f64::max);
            // Within rounding of the boundary either answer is right; elsewhere only one is.
            let slack = 1e-9;
            let surely = |i: usize| scores[i].0 + half(i) >= best_lower + slack;
            let possibly = |i: usize| scores[i].0 + half(i) >= best_lower - slack;
            prop_assert!(possibly(chosen), "an implausible action was chosen");
            let gain = reference.log_det_with(&rows[chosen]);
            for i in (0..rows.len()).filter(|&i| surely(i)) {
                prop_assert!(reference.log_det_with(&rows[i]) <= gain + slack, "{i} would teach more than {chosen}");
            }
            code.update(set.view().get(chosen), reward);
            reference.observe(&rows[chosen], reward);
        }
    }

    #[test]
    fn k_armed_code_is_linear_code_on_unit_vectors(
        arms in 1..8_usize,
        sigma in 0.2..2.0_f64,
        delta in 0.01..0.5_f64,
        seed in any::<u64>(),
    ) {
        let per_arm = PerArm { delta, noise_scale: sigma };
        let constant = sigma * (2.0 * (1.0 / delta).ln()).sqrt();
        let plain = ActionSet::arms(arms).unwrap();
        let unit: Vec<Vec<f64>> = (0..arms).map(|i| (0..arms).map(|j| f64::from(u8::from(i == j))).collect()).collect();
        let unit = ActionSet::from_rows(&unit).unwrap();
        let mut k_armed = Code::new(ArmMeans::new(arms), per_arm);
        prop_assert!((per_arm.sqrt_beta(&k_armed.model().evidence()) - constant).abs() < 1e-12);
        let (mut gram, mut moment) = (vec![0.0; arms * arms], vec![0.0; arms]);
        let mut noise = Stream::new(seed, 0, "noise");
        for round in 0..300_u64 {
            let chosen = k_armed.select(plain.view(), &mut noise.clone());
            if round < arms as u64 {
                prop_assert_eq!(chosen as u64, round, "each arm once first, in order");
            } else {
                let model = Ridge::from_statistics(arms, 0.0, &gram, &moment, round).unwrap();
                let mut linear = Code::new(model, Fixed { sqrt_beta: constant });
                prop_assert_eq!(linear.select(unit.view(), &mut noise.clone()), chosen, "round {}", round + 1);
            }
            let reward = chosen as f64 / arms as f64 + sigma * noise.normal();
            k_armed.update(Action::new(chosen, &[]), reward);
            gram[chosen * arms + chosen] += 1.0;
            moment[chosen] += reward;
        }
    }
}
