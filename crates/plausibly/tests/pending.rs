use plausibly::state::Durable;
use plausibly::{
    Action, ActionSet, ArmMeans, Code, ConfidenceRadius, Determinant, Estimator, Exclusion,
    Explain, Explanation, Fixed, Glm, GlmPrior, Insured, Likelihood, Link, Mixture, Policy, Ridge,
    Stream,
};
use plausibly_testkit::{BruteForce, strategies};
use proptest::prelude::*;
use std::collections::VecDeque;

fn nothing() -> Stream {
    Stream::new(0, 0, "policy")
}

/// What happens to a decision.
#[derive(Clone, Copy, Debug)]
enum Fate {
    Waits,
    Pays(f64),
    Drops,
}

fn fate() -> impl Strategy<Value = Fate> {
    prop_oneof![
        3 => Just(Fate::Waits),
        4 => (-2.0..2.0_f64).prop_map(Fate::Pays),
        1 => Just(Fate::Drops),
    ]
}

proptest! {
    /// Rewards wait, come and are dropped in any order. The plausible set depends on those that
    /// came, the choice in it on all decisions. On the good event, the regret of the round is at
    /// most `4r/(1+cr)·√β·‖A‖` and no plausible action is wider than `r·(1+cr)/(1−cr)` times the
    /// one taken, where widths of taken actions are by `V_all`.
    #[test]
    fn pending_decisions_count_in_the_design_and_nowhere_else(
        rows in strategies::actions(3, 10),
        steps in prop::collection::vec(
            (any::<prop::sample::Index>(), fate(), any::<prop::sample::Index>()),
            0..40,
        ),
        theta_star in prop::array::uniform3(-2.0..2.0_f64),
        greed in prop_oneof![Just(0.0), Just(1.0), 0.0..1.0_f64],
    ) {
        let set = ActionSet::from_rows(&rows).unwrap();
        let mut waiting: Vec<usize> = Vec::new();
        let (mut settled, mut model) = (BruteForce::new(3, 1.0), Ridge::new(3, 1.0).unwrap());
        let mut told = Vec::new();
        for (taken, fate, late) in steps {
            let taken = taken.index(rows.len());
            waiting.push(taken);
            told.push((taken, Fate::Waits));
            let which = late.index(waiting.len());
            if !matches!(fate, Fate::Waits) {
                let action = waiting.remove(which);
                told.push((action, fate));
                if let Fate::Pays(reward) = fate {
                    settled.observe(&rows[action], reward);
                    model.update(set.view().get(action), reward);
                }
            }
        }
        let sqrt_beta = settled.deviation(&theta_star).max(1e-3);
        let radius = Fixed { sqrt_beta };
        let code = Code::new(Ridge::new(3, 1.0).unwrap(), radius).excluding(Exclusion::Intervals);
        let mut code = code.tempered(greed).unwrap();
        for (index, fate) in told {
            let action = set.view().get(index);
            match fate {
                Fate::Waits => code.decided(action),
                Fate::Pays(reward) => code.update(action, reward),
                Fate::Drops => code.dropped(action),
            }
            // A choice in between must not change later ones.
            code.select(set.view(), &mut nothing());
        }
        let chosen = code.select(set.view(), &mut nothing());

        let mut all = settled.clone();
        for index in &waiting {
            all.observe(&rows[*index], 0.0);
        }
        let known: Vec<(f64, f64)> = rows.iter().map(|row| settled.score(row)).collect();
        let half = |i: usize| sqrt_beta * known[i].1.sqrt();
        let width = |row: &Vec<f64>| sqrt_beta * all.score(row).1.sqrt();
        let by_design: Vec<f64> = rows.iter().map(width).collect();
        let lower = (0..rows.len()).map(|i| known[i].0 - half(i));
        let best_lower = lower.fold(f64::NEG_INFINITY, f64::max);
        let reaches = |&i: &usize| known[i].0 + half(i) >= best_lower - 1e-9;
        let plausible: Vec<usize> = (0..rows.len()).filter(reaches).collect();
        prop_assert!(plausible.contains(&chosen));
        let wide = plausible.iter().filter(|&&i| by_design[i] > 0.0);
        let inflation = wide.map(|&i| half(i) / by_design[i]).fold(1.0, f64::max);
        let pending: f64 = waiting.iter().map(|i| known[*i].1).sum();
        prop_assert!(inflation <= (1.0 + pending).sqrt() + 1e-9);
        let c = greed.min(1.0 / inflation);
        let surely = plausible.iter().filter(|&&i| known[i].0 + half(i) >= best_lower + 1e-9);
        for &i in surely {
            let value = |i: usize| c * known[i].0 + by_design[i];
            prop_assert!(value(i) <= value(chosen) + 1e-8, "{} beats {}", i, chosen);
        }

        let truth = |i: usize| rows[i].iter().zip(&theta_star).map(|(x, t)| x * t).sum::<f64>();
        let regret = (0..rows.len()).map(truth).fold(f64::NEG_INFINITY, f64::max) - truth(chosen);
        prop_assert!(regret <= 4.0 * inflation / (1.0 + c * inflation) * by_design[chosen] + 1e-8);
        if c * inflation < 1.0 - 1e-6 {
            let ratio = inflation * (1.0 + c * inflation) / (1.0 - c * inflation);
            let widest = plausible.iter().map(|&i| half(i)).fold(0.0, f64::max);
            prop_assert!(widest <= ratio * by_design[chosen] * (1.0 + 1e-9) + 1e-8 * ratio);
        }

        // Explanations depend on rewards that came, not on decisions that wait or were dropped.
        let (mut shown, mut plain) = (Explanation::new(), Explanation::new());
        code.explain(set.view(), &radius, code.exclusion(), &mut shown);
        Code::new(model, radius).explain(set.view(), &radius, Exclusion::default(), &mut plain);
        for (shown, plain) in shown.intervals().iter().zip(plain.intervals()) {
            let close = |x: f64, y: f64| (x - y).abs() <= 1e-9 * (1.0 + y.abs());
            prop_assert!(close(shown.lower, plain.lower) && close(shown.upper, plain.upper));
        }
    }
}

#[test]
fn a_decision_settled_at_once_leaves_no_trace() {
    let mut rng = Stream::new(2, 0, "problem");
    let set = ActionSet::from_flat((0..3 * 20).map(|_| rng.normal()).collect(), 3).unwrap();
    for greed in [0.0, 0.4] {
        let make = || {
            Code::new(Ridge::new(3, 1.0).unwrap(), Fixed { sqrt_beta: 1.0 })
                .tempered(greed)
                .unwrap()
        };
        let (mut told, mut untold, mut undone) = (make(), make(), make());
        for _ in 0..200 {
            let chosen = untold.select(set.view(), &mut nothing());
            assert_eq!(told.select(set.view(), &mut nothing()), chosen);
            assert_eq!(undone.select(set.view(), &mut nothing()), chosen);
            let (action, reward) = (set.view().get(chosen), rng.normal());
            told.decided(action);
            told.update(action, reward);
            untold.update(action, reward);
            // A dropped decision counts as never taken; dropping one that was never taken changes
            // nothing.
            undone.decided(set.view().get(7));
            undone.select(set.view(), &mut nothing());
            undone.dropped(set.view().get(7));
            undone.dropped(set.view().get(8));
            undone.update(action, reward);
        }
    }
}

/// `log det V` after these choices, from scratch.
fn log_det(rows: &[Vec<f64>], choices: &[usize]) -> f64 {
    let mut model = BruteForce::new(rows[0].len(), 1.0);
    for choice in choices {
        model.observe(&rows[*choice], 0.0);
    }
    model.gram().determinant().ln()
}

#[test]
fn decisions_without_rewards_spread_over_the_design() {
    let mut rng = Stream::new(3, 0, "problem");
    let rows: Vec<Vec<f64>> = (0..30).map(|_| (0..4).map(|_| rng.normal()).collect()).collect();
    let set = ActionSet::from_rows(&rows).unwrap();
    let decide = |mut code: Code<Ridge, Fixed>| -> Vec<usize> {
        (0..300)
            .map(|_| {
                let chosen = code.select(set.view(), &mut nothing());
                code.decided(set.view().get(chosen));
                chosen
            })
            .collect()
    };
    let code = || Code::new(Ridge::new(4, 1.0).unwrap(), Fixed { sqrt_beta: 10.0 });
    // Without rewards nothing is ruled out, so each decision must be the next of the greedy design.
    let (mut greedy, mut design) = (Vec::new(), BruteForce::new(4, 1.0));
    for _ in 0..300 {
        let gain = |i: &usize| design.score(&rows[*i]).1;
        let next = (0..30).max_by(|a, b| gain(a).total_cmp(&gain(b))).unwrap();
        design.observe(&rows[next], 0.0);
        greedy.push(next);
    }
    let spread = log_det(&rows, &decide(code()));
    assert!((spread - log_det(&rows, &greedy)).abs() < 1e-6, "{spread}");
    let repeated = decide(code().ignoring_pending());
    assert!(repeated.iter().all(|choice| *choice == repeated[0]), "blind to what is on its way");

    let arms = ActionSet::arms(4).unwrap();
    let mut code = Code::new(ArmMeans::new(4), Mixture { delta: 0.05, noise_scale: 1.0 });
    let taken: Vec<usize> = (0..12)
        .map(|_| {
            let chosen = code.select(arms.view(), &mut nothing());
            code.decided(Action::new(chosen, &[]));
            chosen
        })
        .collect();
    assert_eq!(taken, [0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3]);
}

/// Beyond the cap there is no bound: the short action scores above the long one that is pending,
/// and is known so well that no multiple of its width covers what it loses.
#[test]
fn greed_is_capped_where_pending_decisions_shrink_the_widths_it_is_weighed_against() {
    let short = 1e-6;
    let set = ActionSet::from_rows(&[[short], [1.0]]).unwrap();
    // One observation of the long action: V = 2, θ̂ = −½·w for w = √β/√2.
    let (sqrt_beta, w) = (1.0, 1.0 / 2.0_f64.sqrt());
    let model = Ridge::from_statistics(1, 1.0, &[2.0], &[-w], 1).unwrap();
    let mut code = Code::new(model, Fixed { sqrt_beta }).tempered(1.0).unwrap();
    for _ in 0..40 {
        code.decided(set.view().get(1));
    }
    // θ* = +½·w is in the set: |θ̂ − θ*|·√2 = w·√2 = √β.
    let theta_star = 0.5 * w;
    let (by_design, inflation) = (sqrt_beta / 42.0_f64.sqrt(), 21.0_f64.sqrt());
    assert!(
        short * (-0.5 * w + by_design) > -0.5 * w + by_design,
        "uncapped, greed 1 takes the short one"
    );
    let lost = (1.0 - short) * theta_star;
    assert!(lost > 1e3 * inflation * short * by_design, "and loses any multiple of its width");
    assert_eq!(code.select(set.view(), &mut nothing()), 1, "capped, it takes the long one");
}

/// Late rewards in simulation, with a valid radius: on the good event no bound on sums is exceeded.
#[test]
fn sums_over_rounds_keep_their_bounds_when_rewards_are_late() {
    let (dim, horizon) = (3, 800_u32);
    for (delay, greed) in [(1, 0.0), (10, 0.0), (100, 0.0), (100, 0.3), (400, 0.0)] {
        for run in 0..10 {
            let mut rng = Stream::new(9, run, "problem");
            let rows: Vec<Vec<f64>> =
                (0..20).map(|_| (0..dim).map(|_| rng.normal()).collect()).collect();
            let theta_star: Vec<f64> = (0..dim).map(|_| 0.5 * rng.normal()).collect();
            let set = ActionSet::from_rows(&rows).unwrap();
            let dot = |x: &[f64], y: &[f64]| x.iter().zip(y).map(|(x, y)| x * y).sum::<f64>();
            let truth: Vec<f64> = rows.iter().map(|row| dot(row, &theta_star)).collect();
            let best = truth.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let radius = Determinant { delta: 0.01, noise_scale: 0.5, theta_norm_bound: 3.0 };
            let mut code =
                Code::new(Ridge::new(dim, 1.0).unwrap(), radius).tempered(greed).unwrap();
            let mut all = Ridge::new(dim, 1.0).unwrap();
            let mut waiting = VecDeque::new();
            let (mut regret, mut model_error, mut potential) = (0.0, 0.0, 0.0);
            let (mut regret_bound, mut error_bound) = (0.0, 0.0);
            let mut explanation = Explanation::new();
            for _ in 0..horizon {
                assert!(
                    code.model().holds(&theta_star, radius.reach(&code.model().evidence())),
                    "the good event"
                );
                code.explain(set.view(), &radius, code.exclusion(), &mut explanation);
                let chosen = code.select(set.view(), &mut nothing());
                let by_design = crate::scores(&all, set.view()).width_sq().to_vec();
                let ratio = |i: usize| explanation.width_sq()[i] / by_design[i];
                let inflation = explanation.plausible().map(ratio).fold(1.0, f64::max).sqrt();
                let (width, cr) = (
                    explanation.sqrt_beta() * by_design[chosen].sqrt(),
                    (greed * inflation).min(1.0),
                );
                let wrong = |i: usize| (explanation.intervals()[i].mean - truth[i]).powi(2);
                regret += best - truth[chosen];
                model_error += explanation.plausible().map(wrong).fold(0.0, f64::max);
                potential += by_design[chosen];
                regret_bound += 4.0 * inflation / (1.0 + cr) * width;
                error_bound += (inflation * (1.0 + cr) / (1.0 - cr) * width).powi(2);
                let action = set.view().get(chosen);
                code.decided(action);
                all.update(action, 0.0);
                waiting.push_back((chosen, truth[chosen] + 0.5 * rng.normal()));
                if waiting.len() >= delay {
                    let (index, reward) = waiting.pop_front().unwrap();
                    code.update(set.view().get(index), reward);
                }
            }
            let ell = rows.iter().map(|row| dot(row, row)).fold(0.0, f64::max);
            let (n, d) = (f64::from(horizon), dim as f64);
            let bound = ell / ell.ln_1p() * d * (n * ell / d).ln_1p();
            assert!(potential <= bound, "delay {delay}: {potential} > {bound}");
            assert!(regret <= regret_bound, "delay {delay}: {regret} > {regret_bound}");
            assert!(model_error <= error_bound, "delay {delay}: {model_error} > {error_bound}");
        }
    }
}

/// What the next round of an insured policy asks of its plausible actions, as the `t` of `κ·d/t`.
/// The policy is saved and read back in every round.
fn rounds_counted<P: Durable>(make: impl Fn() -> P) -> Vec<f64> {
    let set = ActionSet::from_rows(&[[1.0, 0.0], [0.6, 0.8]]).unwrap();
    let (mut policy, mut shown) = (make(), Explanation::new());
    let mut rng = Stream::new(1, 0, "policy");
    let mut rounds = Vec::new();
    for rewarded in [false, false, false, true, true, false] {
        let action = set.view().get(policy.select(set.view(), &mut rng));
        policy.decided(action);
        if rewarded {
            policy.update(action, 1.0);
        }
        let mut copy = make();
        copy.restore(&policy.state()).unwrap();
        policy = copy;
        let radius = policy.radius().unwrap();
        policy.explain(set.view(), radius, Exclusion::Differences, &mut shown);
        rounds.push(KAPPA * 2.0 / shown.insurance().unwrap().target.wanted);
    }
    rounds
}

const KAPPA: f64 = 2.0;

fn insured<E: Estimator + Clone, R: ConfidenceRadius + Copy>(
    model: E,
    radius: R,
) -> Insured<Code<E, R>, E, R> {
    Insured::new(Code::new(model.clone(), radius), model, radius, KAPPA).unwrap()
}

#[test]
fn pending_decisions_count_as_rounds_of_a_target() {
    let linear = || insured(Ridge::new(2, 1.0).unwrap(), Fixed { sqrt_beta: 1.0 });
    let prior = GlmPrior::around(Link::Logistic, (0.0, 1.0), 0.1, 9.0, (2, 1.0), 0.05).unwrap();
    let curved = || insured(Glm::new(2, prior).unwrap(), Likelihood::default());
    // Every decision is a round, and one more is asked about.
    let rounds = vec![2.0, 3.0, 4.0, 5.0, 6.0, 7.0];
    assert_eq!((rounds_counted(linear), rounds_counted(curved)), (rounds.clone(), rounds));
}
