use plausibly::{
    Action, ArmMeans, ConfidenceRadius, Estimator, Exclusion, Fixed, Glm, GlmPrior, Likelihood,
    LinTs, Link, PerArm, Policy, Reach, Ridge, Scores, Stream, Ucb1,
};
use plausibly_sim::{
    Bandit, Draws, Experiment, ModelError, Overrides, Player, Regret, log_grid, play,
};
use plausibly_testkit::BruteForce;
use std::ops::ControlFlow;

#[test]
fn model_error_and_regret_are_their_definitions() {
    let mut environment = Bandit::random_linear(3, 20, 0.5, &mut Stream::new(5, 0, "problem"));
    let (theta_star, means) = (environment.theta_star().to_vec(), environment.means().to_vec());
    let rows: Vec<Vec<f64>> =
        environment.actions().iter().map(|action| action.features().to_vec()).collect();
    let sqrt_beta = 1.1;
    let stream = |role| Stream::new(5, 0, role);
    let player = Player {
        policy: LinTs::new(Ridge::new(3, 1.0).unwrap(), 0.5).unwrap(),
        observer: (
            Regret::new(),
            ModelError::new(
                Box::new(Ridge::new(3, 2.0).unwrap()),
                Fixed { sqrt_beta },
                Exclusion::Intervals,
            ),
        ),
        choices: stream("policy"),
    };
    let mut draws = Draws { offers: stream("actions"), noise: stream("noise") };
    let mut measured = Vec::new();
    let mut players = [player];
    let flow = play(&mut environment, 300, &mut draws, &mut players, |_, players| {
        let (regret, error) = &players[0].observer;
        measured.push((
            regret.total(),
            error.total(),
            error.plausible_count(),
            error.theta_star_left(),
        ));
        ControlFlow::Continue(())
    });
    assert!(flow.is_continue());

    // Computes both again from their definitions, with a new inverse in every round.
    let mut policy = LinTs::new(Ridge::new(3, 1.0).unwrap(), 0.5).unwrap();
    let (mut rng, mut noise) = (stream("policy"), stream("noise"));
    let mut reference = BruteForce::new(3, 2.0);
    let best = means.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let (mut regret, mut error, mut left) = (0.0, 0.0, false);
    for (round, seen) in measured.iter().enumerate() {
        let chosen = policy.select(environment.actions(), &mut rng);
        let scores: Vec<(f64, f64)> = rows.iter().map(|row| reference.score(row)).collect();
        let lower =
            scores.iter().map(|(m, w)| m - sqrt_beta * w.sqrt()).fold(f64::NEG_INFINITY, f64::max);
        let plausible: Vec<usize> = (0..rows.len())
            .filter(|&i| scores[i].0 + sqrt_beta * scores[i].1.sqrt() >= lower)
            .collect();
        error += plausible.iter().map(|&i| (scores[i].0 - means[i]).powi(2)).fold(0.0, f64::max);
        regret += best - means[chosen];
        left = left || reference.deviation(&theta_star) > sqrt_beta;
        assert!(
            (seen.0 - regret).abs() < 1e-9 && (seen.1 - error).abs() < 1e-9,
            "round {}",
            round + 1
        );
        assert_eq!((seen.2, seen.3), (plausible.len(), left), "round {}", round + 1);
        let reward = means[chosen] + 0.5 * noise.normal();
        policy.update(Action::new(chosen, &rows[chosen]), reward);
        reference.observe(&rows[chosen], reward);
    }
    assert!(left, "a case in which θ* never leaves tests little");
}

/// Clicks between 1 % and 10 %, uniformly chosen, in `rounds` rounds: whether the metric says that
/// the truth has left the set of this prior, and whether a true mean has left its interval.
fn clicks(prior: GlmPrior, rounds: u64) -> (bool, bool) {
    let spec = "[environment]\nkind = 'clicks'\nactions = 20\n[[policy]]\nkind = 'lin-ts'\n";
    let spec = Experiment::from_toml(spec, Overrides::default(), &()).unwrap();
    let stream = |role| Stream::new(6, 0, role);
    let mut environment = spec.environment.draw(&mut stream("problem"));
    let means = environment.bandit().means().to_vec();
    let glm = || Glm::new(5, prior).unwrap();
    let observer = ModelError::new(Box::new(glm()), Likelihood::default(), Exclusion::Differences);
    let policy = LinTs::new(Ridge::new(5, 1.0).unwrap(), 1e6).unwrap();
    let mut players = [Player { policy, observer, choices: stream("policy") }];
    let mut draws = Draws { offers: stream("actions"), noise: stream("noise") };
    let flow =
        play(&mut *environment, rounds, &mut draws, &mut players, |_, _| ControlFlow::Continue(()));
    assert!(flow.is_continue());

    let (mut model, mut scores, mut left) = (glm(), Scores::new(), false);
    let mut policy = LinTs::new(Ridge::new(5, 1.0).unwrap(), 1e6).unwrap();
    let (mut rng, mut noise) = (stream("policy"), stream("noise"));
    for _ in 0..rounds {
        let actions = environment.bandit().actions();
        let chosen = policy.select(actions, &mut rng);
        let Reach::Curved(curved) = Likelihood::default().reach(&model.evidence()) else {
            panic!("a set on the scale of logits")
        };
        model.score_into(actions, &mut scores);
        left |= means.iter().enumerate().any(|(action, mean)| {
            // Judged in logits, where the metric judges in rates.
            let logit = (mean / (1.0 - mean)).ln() - curved.offset;
            let half = curved.radius * scores.width_sq()[action].sqrt();
            (logit - scores.mean()[action]).abs() > half
        });
        let reward = f64::from(u8::from(noise.uniform() < means[chosen]));
        policy.update(actions.get(chosen), reward);
        model.update(actions.get(chosen), reward);
    }
    (players[0].observer.theta_star_left(), left)
}

#[test]
fn on_a_curved_scale_the_truth_is_judged_by_intervals() {
    let range = (0.0, 1.0);
    let around = |rate, factor| {
        GlmPrior::around(Link::Logistic, range, rate, factor, (1, 2.3), 0.05).unwrap()
    };
    // Any offset that leaves room for the truth will do. About an even chance the linear rule
    // nearest to the rates, taken for a rule of logits, is soon outside the set.
    for rate in [0.05, 0.5] {
        assert_eq!(clicks(around(rate, 1e5), 400), (false, false));
    }
    // Odds within a thousandth of those of 90 % leave no room for rates from 1 % to 10 %.
    assert_eq!(clicks(around(0.9, 1.001), 100), (true, true));
}

#[test]
fn an_arm_never_taken_counts_with_the_estimate_it_has() {
    // A policy that never takes an arm must not be measured as if it knew it.
    let mut environment = Bandit::arms(vec![0.2, 0.9, 0.5], 1e-9);
    let stream = |role| Stream::new(2, 0, role);
    let observer = ModelError::new(
        Box::new(ArmMeans::new(3)),
        PerArm { delta: 0.05, noise_scale: 0.3 },
        Exclusion::Intervals,
    );
    let policy = Ucb1::new(3, 0.3).unwrap();
    let mut players = [Player { policy, observer, choices: stream("policy") }];
    let mut draws = Draws { offers: stream("actions"), noise: stream("noise") };
    let mut errors = Vec::new();
    let _ = play(&mut environment, 5, &mut draws, &mut players, |_, players| {
        errors.push(players[0].observer.total());
        ControlFlow::Continue(())
    });
    // Nothing known: 0.9². After the first arm: 0.9² again. After the second: 0.5². Then all are
    // known.
    let expected = [0.81, 1.62, 1.87, 1.87, 1.87];
    assert!(errors.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-6), "{errors:?}");
}

#[test]
fn curves_are_recorded_on_the_grid() {
    assert_eq!(log_grid(1), [1]);
    assert_eq!(log_grid(10_000).len(), 38);
}
