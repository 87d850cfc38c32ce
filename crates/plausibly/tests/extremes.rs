//! Many dimensions, features far larger than the ridge, and inputs that models refuse.

use crate::policies::{Entrant, linear_entrants, teach};
use plausibly::spec::{Defaults, Facts, Fields, Node, PolicySpec, Setting, Value};
use plausibly::{
    Action, ActionSet, ArmMeans, ArmRidges, Code, ConfidenceRadius, Determinant, Estimator,
    Evidence, Explain, Explanation, Fixed, LinTs, LinUcb, Misfit, Policy, Ridge, Standing, Stream,
};
use plausibly_testkit::PreciseGram;
use std::time::{Duration, Instant};

fn normals(rng: &mut Stream, count: usize) -> Vec<f64> {
    (0..count).map(|_| rng.normal()).collect()
}

/// Plays, saves and loads the policy halfway, and goes on with both: every radius must be finite
/// and all choices must agree.
fn plays_and_goes_on(entrant: &Entrant, dim: usize, rounds: usize) {
    let mut draw = Stream::new(11, 0, "features");
    let set = ActionSet::from_flat(normals(&mut draw, 20 * dim), dim).unwrap();
    let mut policy = (entrant.make)();
    let mut restored: Option<Box<dyn plausibly::state::Durable + Send>> = None;
    let (mut rng, mut rng_again) = (Stream::new(1, 0, "policy"), Stream::new(1, 0, "policy"));
    for round in 0..rounds {
        if round == rounds / 2 {
            let mut again = (entrant.make)();
            again.restore(&policy.state()).unwrap();
            rng_again = rng.clone();
            restored = Some(again);
        }
        let chosen = policy.select(set.view(), &mut rng);
        let reward = 0.1 * draw.normal();
        teach(&mut *policy, set.view().get(chosen), reward);
        if let Some(restored) = &mut restored {
            assert_eq!(
                restored.select(set.view(), &mut rng_again),
                chosen,
                "{} d = {dim}",
                entrant.name
            );
            teach(&mut **restored, set.view().get(chosen), reward);
        }
        let evidence = policy.model().evidence();
        // Arms have no determinant.
        let finite = evidence.ridge == 0.0 || evidence.log_det_ratio().is_finite();
        assert!(finite, "{} d = {dim} round {round}", entrant.name);
        if let Some(radius) = policy.radius() {
            assert!(radius.sqrt_beta(&evidence).is_finite());
        }
    }
}

fn code_with_ridge(dim: usize, ridge: f64) -> Entrant {
    let facts = Facts {
        setting: Setting::Fixed,
        dim,
        actions: 20,
        horizon: 200,
        noise_scale: 0.5,
        theta_norm_bound: 1.5,
        action_norm_bound: 2.0,
        reward_range: None,
    };
    let node = |value| Node { value, line: 0 };
    let table = node(Value::Table(vec![
        ("kind".into(), node(Value::Text("code".into()))),
        ("ridge".into(), node(Value::Float(ridge))),
    ]));
    let mut problems = Vec::new();
    let spec = PolicySpec::read(
        &mut Fields::new("policy", &table, &mut problems),
        Setting::Fixed,
        Defaults::Current,
    )
    .unwrap();
    assert_eq!(problems, []);
    Entrant { name: "code", make: Box::new(move || spec.build(&facts).unwrap()) }
}

#[test]
fn every_policy_plays_in_one_and_in_many_dimensions() {
    for dim in [1, 64] {
        for entrant in linear_entrants(dim, 20) {
            plays_and_goes_on(&entrant, dim, 3 * dim.max(40));
        }
    }
}

#[test]
fn determinants_do_not_overflow_between_refactorisations() {
    // Each of the first 20 steps multiplies det V by some 500,000, and there is no refactorisation
    // before the 63rd.
    plays_and_goes_on(&code_with_ridge(500, 1e-3), 500, 80);
    let (dim, mut rng) = (860, Stream::new(4, 0, "features"));
    let mut model = Ridge::new(dim, 1.0).unwrap();
    // Different features each time: some 860 to the power of 107 before the first refactorisation,
    // 1e313.
    for _ in 0..107 {
        model.update(Action::new(0, &normals(&mut rng, dim)), 0.0);
    }
    let stepped = model.evidence().log_det_ratio();
    let whole = Ridge::from_statistics(dim, 1.0, &model.gram(), &model.moment(), 107).unwrap();
    let exact = whole.evidence().log_det_ratio();
    assert!((stepped - exact).abs() < 1e-9 * exact, "{stepped} {exact}");
}

#[test]
fn a_fresh_model_of_4096_features_takes_no_minutes() {
    let begun = Instant::now();
    let model = Ridge::new(4096, 0.25).unwrap();
    assert_eq!(model.gram_inverse()[4097], 4.0);
    LinTs::new(model, 1.0).unwrap();
    // At quadratic cost this takes a second, at cubic cost several minutes.
    assert!(begun.elapsed() < Duration::from_secs(30), "{:?}", begun.elapsed());
}

/// Features of size 1e6 beside a ridge of 1, all seen in one direction: doubles cannot tell `V`
/// from a singular matrix.
fn one_direction(theta_star: [f64; 2]) -> Ridge {
    let mut model = Ridge::new(2, 1.0).unwrap();
    let x = [1e6, 1e6];
    for _ in 0..300 {
        model.update(Action::new(0, &x), x[0] * theta_star[0] + x[1] * theta_star[1]);
    }
    model
}

#[test]
fn nothing_is_ruled_out_for_want_of_digits() {
    let radius = Determinant { delta: 0.05, noise_scale: 1.0, theta_norm_bound: 1.0 };
    let set = ActionSet::from_rows(&[[1e6, 1e6], [1e6, -1e6]]).unwrap();
    let policy = Code::new(one_direction([0.75, -0.65]), radius);
    let mut explanation = Explanation::new();
    policy.explain(set.view(), &radius, policy.exclusion(), &mut explanation);
    assert_eq!(explanation.standings()[1], Standing::Plausible, "the better action");
}

/// Counts the truths on a circle that leave the set or an interval under this radius.
fn left(sqrt_beta: impl Fn(&Evidence) -> f64) -> usize {
    let probes = ActionSet::from_rows(&[[1e6, 1e6], [1e6, -1e6], [1.0, 0.0], [0.0, 1e6]]).unwrap();
    let truths =
        (0..64).map(|k| f64::from(k) * std::f64::consts::TAU / 64.0).map(|a| [a.cos(), a.sin()]);
    let leaves = |theta: &[f64; 2]| {
        let model = one_direction(*theta);
        let sqrt_beta = sqrt_beta(&model.evidence());
        let outside = model.deviation(theta) > sqrt_beta;
        let scores = crate::scores(&model, probes.view());
        outside
            || probes.view().iter().zip(scores.mean()).zip(scores.width_sq()).any(
                |((action, mean), width_sq)| {
                    let truth = action.features()[0] * theta[0] + action.features()[1] * theta[1];
                    (mean - truth).abs() > sqrt_beta * width_sq.sqrt()
                },
            )
    };
    truths.filter(leaves).count()
}

#[test]
fn the_radius_pays_for_the_floor() {
    // There is no noise, so a truth can leave only because of rounding.
    let radius = Determinant { delta: 0.05, noise_scale: 1.0, theta_norm_bound: 1.0 };
    assert!(one_direction([1.0, 0.0]).evidence().floor > 0.0, "the test must reach the floor");
    assert_eq!(left(|evidence| radius.sqrt_beta(evidence)), 0);
    // A radius that does not pay for the floor must be noticed.
    let unpaid = |evidence: &Evidence| {
        let mut evidence = *evidence;
        evidence.floor = 0.0;
        radius.sqrt_beta(&evidence)
    };
    assert!(left(unpaid) > 10, "{}", left(unpaid));
}

/// The largest relative error of widths that followed the model by steps, over random histories of
/// a tiny ridge.
#[test]
fn widths_keep_their_digits_through_refactorisations() {
    let mut worst = 0.0_f64;
    for seed in 0..4000 {
        let mut rng = Stream::new(seed, 0, "history");
        let set = ActionSet::from_flat(normals(&mut rng, 12), 2).unwrap();
        let probes: Vec<Vec<f64>> =
            set.view().iter().map(|action| action.features().to_vec()).collect();
        let ridge = 1e-4;
        let (mut model, mut precise) = (Ridge::new(2, ridge).unwrap(), PreciseGram::new(2, ridge));
        crate::scores(&model, set.view());
        let scale = 10.0_f64.powf(2.0 * rng.uniform());
        for _ in 0..2 + rng.index(10) {
            let x = [scale * rng.normal(), scale * rng.normal()];
            model.update(Action::new(0, &x), 0.0);
            precise.add(&x);
            let widths = crate::scores(&model, set.view()).width_sq().to_vec();
            let gram = model.gram();
            let condition = (gram[0] + gram[3]).powi(2) / (gram[0] * gram[3] - gram[1] * gram[1]);
            if condition > 100.0 {
                continue;
            }
            for (width, truth) in widths.iter().zip(precise.widths_sq(&probes)) {
                worst = worst.max(((width - truth) / truth).abs());
            }
        }
    }
    println!("worst {worst:e}");
    assert!(worst < 1e-7, "{worst:e}");
}

#[test]
fn what_does_not_fit_is_an_error_where_asked_for() {
    let radius = Fixed { sqrt_beta: 1.0 };
    let mut policy = Code::new(Ridge::new(2, 1.0).unwrap(), radius);
    let mut rng = Stream::new(1, 0, "policy");
    let (two, three) =
        (ActionSet::from_rows(&[[1.0, 0.0]]).unwrap(), ActionSet::from_rows(&[[1.0; 3]]).unwrap());
    assert_eq!(policy.try_select(two.view(), &mut rng), Ok(0));
    let misfit = Misfit::Features { expected: 2, found: 3 };
    assert_eq!(policy.try_select(three.view(), &mut rng), Err(misfit));
    assert_eq!(policy.try_update(three.view().get(0), 1.0), Err(misfit));
    for reward in [f64::INFINITY, -1e101] {
        assert_eq!(policy.try_update(two.view().get(0), reward), Err(Misfit::Reward { reward }));
    }
    assert!(policy.try_update(two.view().get(0), f64::NAN).is_err());
    assert_eq!(policy.model().evidence().observations, 0);
    assert_eq!(policy.try_update(two.view().get(0), 1.0), Ok(()));

    let arms = ActionSet::arms(3).unwrap();
    let mut by_arm = LinUcb::new(ArmMeans::new(2), radius);
    assert_eq!(
        by_arm.try_select(arms.view(), &mut rng),
        Err(Misfit::Arms { expected: 2, found: 3 })
    );
    assert_eq!(by_arm.try_update(arms.view().get(2), 1.0), Err(Misfit::Arm { arm: 2, arms: 2 }));
    let mut contexts = LinUcb::new(ArmRidges::new(1, 2, 1.0).unwrap(), radius);
    assert_eq!(contexts.try_select(three.view(), &mut rng), Err(misfit));
    assert_eq!(contexts.try_select(two.view(), &mut rng), Ok(0));
}

#[test]
fn a_clone_of_a_set_is_the_same_set_until_it_is_refilled() {
    let set = ActionSet::from_rows(&[[1.0, 2.0], [3.0, 4.0]]).unwrap();
    let mut copy = set.clone();
    assert_eq!(copy.view().id(), set.view().id());
    copy.refill_from(&[5.0, 6.0, 7.0, 8.0]).unwrap();
    assert_ne!(copy.view().id(), set.view().id());
    assert_eq!(set.view().get(1).features(), [3.0, 4.0]);
    assert_eq!(copy.view().get(1).features(), [7.0, 8.0]);
}

#[test]
#[should_panic(expected = "delta must be between 0 and 1")]
fn a_radius_out_of_range_is_refused_where_a_policy_is_built() {
    let radius = Determinant { delta: 5.0, noise_scale: 1.0, theta_norm_bound: 1.0 };
    Code::new(Ridge::new(2, 1.0).unwrap(), radius);
}

mod full {
    use super::*;

    #[test]
    fn every_policy_plays_in_hundreds_and_thousands_of_dimensions() {
        for dim in [500, 860, 1024] {
            for entrant in linear_entrants(dim, 20) {
                plays_and_goes_on(&entrant, dim, 3 * dim);
            }
            plays_and_goes_on(&code_with_ridge(dim, 1e-3), dim, 3 * dim);
        }
        for entrant in linear_entrants(4096, 20) {
            plays_and_goes_on(&entrant, 4096, 50);
        }
    }
}
