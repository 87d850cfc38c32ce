use plausibly::{
    Action, ActionSet, ArmMeans, Code, ConfidenceRadius, Estimator, Exclusion, Explain,
    Explanation, Fixed, LinUcb, PerArm, Policy, Ridge, Stream,
};
use plausibly_testkit::{BruteForce, strategies};
use proptest::prelude::*;

/// The constant of the per-round bound is attained: with `A* = −(1−c)/(1+c)·a`, an estimate at the
/// edge of the set and the truth at the other, tempered CODE loses `4/(1+c)·w`.
#[test]
fn the_constant_of_the_regret_bound_is_tight() {
    for greed in [0.0, 0.3, 0.7, 1.0] {
        let shrink = (1.0 - greed) / (1.0 + greed);
        let set = ActionSet::from_rows(&[[1.0], [-shrink]]).unwrap();
        // V = 4 after three plays of the unit action: its width is ½, and w = √β/2 for √β = 1.
        let (sqrt_beta, w) = (1.0, 0.5);
        // At ⟨a, θ̂⟩ = −w both actions are just plausible. A little above it, rounding cannot rule
        // one out.
        let theta_hat = -w * (1.0 - 1e-9);
        let model = Ridge::from_statistics(1, 1.0, &[4.0], &[4.0 * theta_hat], 3).unwrap();
        let mut code = Code::new(model, Fixed { sqrt_beta }).tempered(greed).unwrap();
        assert_eq!(code.select(set.view(), &mut Stream::new(0, 0, "policy")), 0, "greed {greed}");
        // θ* = −2w is in the set: |θ̂ − θ*|·√4 = 2·w = 1 = √β.
        let theta_star = -2.0 * w;
        let regret = (-shrink * theta_star) - theta_star;
        assert!((regret - 4.0 / (1.0 + greed) * w).abs() < 1e-12, "greed {greed}: {regret}");
    }
}

#[test]
fn greed_is_refused_outside_its_range() {
    let code = || Code::new(ArmMeans::new(2), Fixed { sqrt_beta: 1.0 });
    for greed in [-0.1, 1.1, f64::NAN] {
        let error = code().tempered(greed).unwrap_err();
        assert!(error.to_string().contains(&format!("got {greed}")), "{error}");
    }
}

proptest! {
    /// On the good event, for any actions, history and truth, the regret of a round is at most
    /// `4/(1+c)·w`, and no plausible action is wider than `(1+c)/(1−c)` times the one taken.
    #[test]
    fn tempered_code_keeps_its_bounds(
        rows in strategies::actions(3, 12),
        plays in prop::collection::vec((0..12_usize, -2.0..2.0_f64), 0..40),
        theta_star in prop::array::uniform3(-2.0..2.0_f64),
        greed in prop_oneof![Just(0.0), Just(1.0), 0.0..1.0_f64],
    ) {
        let set = ActionSet::from_rows(&rows).unwrap();
        let mut model = Ridge::new(3, 1.0).unwrap();
        for (play, reward) in plays {
            model.update(set.view().get(play % rows.len()), reward);
        }
        // The smallest set that holds the truth: the good event, just so.
        let sqrt_beta = model.deviation(&theta_star).max(1e-3);
        let half: Vec<f64> = crate::scores(&model, set.view())
            .width_sq()
            .iter()
            .map(|w| sqrt_beta * w.sqrt())
            .collect();
        let mut code = Code::new(model.clone(), Fixed { sqrt_beta }).tempered(greed).unwrap();
        let chosen = code.select(set.view(), &mut Stream::new(0, 0, "policy"));
        let truth = |row: &[f64]| row.iter().zip(&theta_star).map(|(x, t)| x * t).sum::<f64>();
        let best = rows.iter().map(|row| truth(row)).fold(f64::NEG_INFINITY, f64::max);
        let regret = best - truth(&rows[chosen]);
        prop_assert!(
            regret <= 4.0 / (1.0 + greed) * half[chosen] + 1e-9,
            "regret {} width {}",
            regret,
            half[chosen],
        );
        let mut explanation = Explanation::new();
        code.explain(set.view(), &Fixed { sqrt_beta }, code.exclusion(), &mut explanation);
        if greed < 1.0 {
            let widest = explanation.plausible().map(|action| half[action]).fold(0.0, f64::max);
            prop_assert!(widest <= (1.0 + greed) / (1.0 - greed) * half[chosen] + 1e-9);
        }
        // At greed 1 the choice is LinUCB's.
        let mut optimist = LinUcb::new(model, Fixed { sqrt_beta });
        let optimistic = optimist.select(set.view(), &mut Stream::new(0, 0, "policy"));
        prop_assert!(greed < 1.0 || optimistic == chosen);
    }

    #[test]
    fn code_maximises_the_log_determinant_over_the_plausible_set(
        rows in strategies::actions(3, 15),
        rewards in prop::collection::vec(-1.0..1.0_f64, 1..50),
        sqrt_beta in 0.1..3.0_f64,
    ) {
        let set = ActionSet::from_rows(&rows).unwrap();
        let model = Ridge::new(3, 1.0).unwrap();
        let mut code = Code::new(model, Fixed { sqrt_beta }).excluding(Exclusion::Intervals);
        let mut reference = BruteForce::new(3, 1.0);
        let mut rng = Stream::new(0, 0, "policy");
        for reward in rewards {
            let chosen = code.select(set.view(), &mut rng);
            let scores: Vec<(f64, f64)> = rows.iter().map(|row| reference.score(row)).collect();
            let half = |i: usize| sqrt_beta * scores[i].1.max(0.0).sqrt();
            let best_lower =
                (0..rows.len()).map(|i| scores[i].0 - half(i)).fold(f64::NEG_INFINITY, f64::max);
            // Within rounding of the boundary either answer is right; elsewhere only one is.
            let slack = 1e-9;
            let surely = |i: usize| scores[i].0 + half(i) >= best_lower + slack;
            let possibly = |i: usize| scores[i].0 + half(i) >= best_lower - slack;
            prop_assert!(possibly(chosen), "an implausible action was chosen");
            let gain = reference.log_det_with(&rows[chosen]);
            for i in (0..rows.len()).filter(|&i| surely(i)) {
                prop_assert!(
                    reference.log_det_with(&rows[i]) <= gain + slack,
                    "{i} would teach more than {chosen}",
                );
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
        let unit: Vec<Vec<f64>> =
            (0..arms).map(|i| (0..arms).map(|j| f64::from(u8::from(i == j))).collect()).collect();
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
                let linear = Code::new(model, Fixed { sqrt_beta: constant });
                let mut linear = linear.excluding(Exclusion::Intervals);
                prop_assert_eq!(
                    linear.select(unit.view(), &mut noise.clone()),
                    chosen,
                    "round {}",
                    round + 1,
                );
            }
            let reward = chosen as f64 / arms as f64 + sigma * noise.normal();
            k_armed.update(Action::new(chosen, &[]), reward);
            gram[chosen * arms + chosen] += 1.0;
            moment[chosen] += reward;
        }
    }
}
