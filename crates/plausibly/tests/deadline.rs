use plausibly::{
    ActionSet, ArmMeans, Code, ConfidenceRadius, DeadlineOutcome, Determinant, Estimator, Explain,
    Explanation, Mixture, Policy, Ridge, Stream, Target,
};

fn choices() -> Stream {
    Stream::new(0, 0, "policy")
}

fn problem(run: u64) -> (ActionSet, Vec<f64>) {
    let mut rng = Stream::new(21, run, "problem");
    let set = ActionSet::from_flat((0..3 * 15).map(|_| rng.normal() / 2.0).collect(), 3).unwrap();
    let theta_star: Vec<f64> = (0..3).map(|_| rng.normal() / 2.0).collect();
    let mean =
        |i: usize| set.view().get(i).features().iter().zip(&theta_star).map(|(x, t)| x * t).sum();
    let means = (0..15).map(mean).collect();
    (set, means)
}

const RADIUS: Determinant = Determinant { delta: 0.01, noise_scale: 0.5, theta_norm_bound: 3.0 };

/// Plays past the deadline. Returns what was promised at the start, and the outcome.
fn play<E: Estimator + Clone, R: ConfidenceRadius + Copy>(
    model: E,
    radius: R,
    (set, means): &(ActionSet, Vec<f64>),
    (accuracy, by_round): (f64, u64),
    run: u64,
) -> (bool, DeadlineOutcome) {
    let target = Target::Deadline { accuracy, by_round };
    let mut code = Code::new(model, radius).to_target(target).unwrap();
    let mut noise = Stream::new(21, run, "noise");
    let mut explanation = Explanation::new();
    let mut promised = None;
    for round in 1..=by_round + 5 {
        let chosen = code.select(set.view(), &mut choices());
        code.explain(set.view(), &radius, code.exclusion(), &mut explanation);
        let status = explanation.deadline().unwrap();
        assert_eq!(status.by_round, by_round);
        assert_eq!(status.promised, *promised.get_or_insert(status.promised));
        assert_eq!(status.outcome == DeadlineOutcome::Open, round < by_round, "round {round}");
        code.update(set.view().get(chosen), means[chosen] + 0.5 * noise.normal());
    }
    (promised.unwrap(), code.deadline().unwrap().outcome)
}

#[test]
fn a_promised_deadline_is_kept() {
    for run in 0..20 {
        let problem = problem(run);
        // The smallest accuracy that can be promised, and none smaller.
        let by_round = 400;
        let model = || Ridge::new(3, 1.0).unwrap();
        let guarantee = model().guarantee(problem.0.view(), by_round).unwrap();
        let least = RADIUS.reach(&guarantee.evidence).half_width(guarantee.width_sq);
        let at = |accuracy| play(model(), RADIUS, &problem, (accuracy, by_round), run);
        assert_eq!(at(least * (1.0 + 1e-12)), (true, DeadlineOutcome::Met));
        assert!(!at(least * (1.0 - 1e-12)).0);
        // Far below it the deadline is neither promised nor met, and the status says both.
        assert_eq!(at(least / 10.0), (false, DeadlineOutcome::Missed));
    }
}

#[test]
fn exploring_reaches_what_was_guaranteed_however_rewards_fall() {
    for run in 0..10 {
        let (set, means) = problem(run);
        let mut code = Code::new(Ridge::new(3, 1.0).unwrap(), RADIUS);
        let mut noise = Stream::new(22, run, "noise");
        let mut survivors = [true; 15];
        let guarantee = |round| Ridge::new(3, 1.0).unwrap().guarantee(set.view(), round).unwrap();
        let mut explanation = Explanation::new();
        for round in 1..=300 {
            code.explain(set.view(), &RADIUS, code.exclusion(), &mut explanation);
            let plausible: Vec<usize> = explanation.plausible().collect();
            survivors
                .iter_mut()
                .enumerate()
                .for_each(|(i, survives)| *survives &= plausible.contains(&i));
            let width = |i: usize| explanation.width_sq()[i];
            let widest = (0..15)
                .filter(|i| survivors[*i])
                .max_by(|a, b| width(*a).total_cmp(&width(*b)))
                .unwrap();
            let guarantee = guarantee(round);
            assert!(width(widest) <= guarantee.width_sq, "round {round}");
            assert!(
                code.model().evidence().log_det_ratio()
                    <= guarantee.evidence.log_det_ratio() + 1e-12
            );
            code.update(set.view().get(widest), means[widest] + 0.5 * noise.normal());
        }
    }
}

#[test]
fn arms_can_be_promised_too() {
    let arms = ActionSet::arms(5).unwrap();
    let problem = (arms, vec![0.1, 0.2, 0.3, 0.2, 0.1]);
    let radius = Mixture { delta: 0.01, noise_scale: 0.5 };
    let by_round = 501;
    // Each of five arms a hundred times before round 501.
    let least = radius.reach(&ArmMeans::new(5).evidence()).half_width(0.01);
    for run in 0..20 {
        let at = |accuracy| play(ArmMeans::new(5), radius, &problem, (accuracy, by_round), run);
        assert_eq!(at(least), (true, DeadlineOutcome::Met));
        assert!(!at(least * (1.0 - 1e-12)).0);
        assert_eq!(at(least / 10.0), (false, DeadlineOutcome::Missed));
    }
}

#[test]
fn nothing_is_promised_on_changing_sets_or_by_no_round() {
    let target = |by_round| Target::Deadline { accuracy: 100.0, by_round };
    let code = || Code::new(Ridge::new(3, 1.0).unwrap(), RADIUS);
    assert!(code().to_target(target(0)).is_err());
    let mut code = code().to_target(target(10)).unwrap();
    let promised = |code: &Code<Ridge, Determinant>| code.deadline().unwrap().promised;
    code.select(problem(0).0.view(), &mut choices());
    assert!(promised(&code));
    code.select(problem(1).0.view(), &mut choices());
    assert!(!promised(&code), "the set is another one");
    code.select(problem(1).0.view(), &mut choices());
    assert!(!promised(&code));
}
