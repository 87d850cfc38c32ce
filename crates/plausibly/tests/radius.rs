use plausibly::{Action, ArmMeans};
use plausibly::{
    ConfidenceRadius, Determinant, Estimator, Fixed, Mixture, Paper, PerArm, Radius, RadiusError,
    Ridge, Stitched, Union,
};

#[test]
fn radii_are_their_formulas() {
    let mut model = Ridge::new(2, 4.0).unwrap();
    for _ in 0..10 {
        model.update(Action::new(0, &[2.0, 0.0]), 1.0);
    }
    let evidence = model.evidence();
    let paper = Paper {
        delta: 0.05,
        lambda: 100.0,
        noise_scale: 0.5,
        theta_norm_bound: 3.0,
        action_norm_bound: 2.0,
    };
    // 0.5·√(2·log((1 + 10·4/100)/0.05)) + 10·3
    assert!(
        (paper.sqrt_beta(&evidence) - (0.5 * (2.0 * (1.4_f64 / 0.05).ln()).sqrt() + 30.0)).abs()
            < 1e-12
    );
    let determinant = Determinant { delta: 0.01, noise_scale: 2.0, theta_norm_bound: 1.5 };
    // det V = (4 + 40)·4, λᵈ = 16: ratio 11
    let expected = 2.0 * (11.0_f64.ln() + 2.0 * 100.0_f64.ln()).sqrt() + 2.0 * 1.5;
    assert!((determinant.sqrt_beta(&evidence) - expected).abs() < 1e-12);
    let per_arm = PerArm { delta: 0.05, noise_scale: 0.5 };
    assert!((per_arm.sqrt_beta(&evidence) - 0.5 * (2.0 * 20.0_f64.ln()).sqrt()).abs() < 1e-12);
    assert_eq!(Fixed { sqrt_beta: 1.25 }.sqrt_beta(&evidence), 1.25);
}

#[test]
fn anytime_radii_for_arms_are_their_formulas() {
    let mut arms = ArmMeans::new(4);
    for _ in 0..9 {
        arms.update(Action::new(2, &[]), 0.5);
    }
    let (delta, noise_scale, k, t) = (0.05, 2.0, 4.0_f64, 9.0_f64);
    let log_inverse = (k / delta).ln();
    let expected = [
        noise_scale * ((t + 1.0) / (t * t) * (t.ln_1p() + 2.0 * log_inverse)).sqrt(),
        1.7 * noise_scale * (((2.0 * t).ln().ln() + 0.72 * (10.4 * k / delta).ln()) / t).sqrt(),
        noise_scale * (2.0 * (2.0 * t * (t + 1.0) * k / delta).ln() / t).sqrt(),
    ];
    let radii: [&dyn ConfidenceRadius; 3] = [
        &Mixture { delta, noise_scale },
        &Stitched { delta, noise_scale },
        &Union { delta, noise_scale },
    ];
    for (radius, expected) in radii.into_iter().zip(expected) {
        let reach = radius.reach(&arms.evidence());
        assert!((reach.half_width(1.0 / t) - expected).abs() < 1e-12, "{radius:?}");
        assert!(
            reach.half_width(f64::INFINITY).is_infinite(),
            "an arm never taken could be anything"
        );
        assert!((radius.sqrt_beta(&arms.evidence()) - reach.half_width(1.0)).abs() < 1e-15);
        // The set is a box: the product of the intervals of the arms.
        let truth = |second: f64| [7.0, -7.0, second, 0.0];
        assert!(
            arms.holds(&truth(0.5 + 0.99 * expected), reach)
                && !arms.holds(&truth(0.5 + 1.01 * expected), reach)
        );
    }
}

#[test]
#[should_panic(expected = "does not hold in one dimension")]
fn the_papers_radius_is_refused_in_one_dimension() {
    let paper = Paper {
        delta: 0.05,
        lambda: 1.0,
        noise_scale: 1.0,
        theta_norm_bound: 1.0,
        action_norm_bound: 1.0,
    };
    paper.sqrt_beta(&Ridge::new(1, 1.0).unwrap().evidence());
}

#[test]
fn the_data_dependent_radius_is_the_tighter_one() {
    // With equal constants, from two dimensions on: the determinant is at most its bound in t.
    let mut model = Ridge::new(2, 1.0).unwrap();
    let determinant = Determinant { delta: 0.05, noise_scale: 1.0, theta_norm_bound: 1.0 };
    let paper = Paper {
        delta: 0.05,
        lambda: 1.0,
        noise_scale: 1.0,
        theta_norm_bound: 1.0,
        action_norm_bound: 1.0,
    };
    for round in 0..500_u32 {
        let angle = f64::from(round) * 0.1;
        assert!(
            determinant.sqrt_beta(&model.evidence()) <= paper.sqrt_beta(&model.evidence()) + 1e-12
        );
        model.update(Action::new(0, &[angle.cos(), angle.sin()]), 0.5);
    }
}

#[test]
#[should_panic(expected = "needs a ridge estimator")]
fn the_determinant_radius_means_nothing_for_arms() {
    let arms = ArmMeans::new(2);
    Determinant { delta: 0.05, noise_scale: 1.0, theta_norm_bound: 1.0 }
        .sqrt_beta(&arms.evidence());
}

#[test]
fn constants_out_of_range_are_refused_by_name() {
    let paper = Paper {
        delta: 0.05,
        lambda: 1.0,
        noise_scale: 1.0,
        theta_norm_bound: 0.0,
        action_norm_bound: 1.0,
    };
    assert!(Radius::Paper(paper).checked().is_ok());
    for delta in [0.0, 1.0, -1.0, f64::NAN] {
        let error = Radius::Paper(Paper { delta, ..paper }).checked().unwrap_err();
        assert!(matches!(error, RadiusError::Delta { .. }));
    }
    let error = Radius::Paper(Paper { lambda: 0.0, ..paper }).checked().unwrap_err();
    assert_eq!(error.to_string(), "lambda must be between 1e-50 and 1e50, got 0");
    let error = Radius::Paper(Paper { theta_norm_bound: -1.0, ..paper }).checked().unwrap_err();
    assert_eq!(error.to_string(), "theta_norm_bound must be between 0 and 1e50, got -1");
    assert!(Radius::Fixed(Fixed { sqrt_beta: f64::INFINITY }).checked().is_err());
    assert!(Radius::PerArm(PerArm { delta: 0.5, noise_scale: 0.0 }).checked().is_err());
}

/// A radius written outside the crate, which no constructor can check.
#[derive(Debug)]
struct Senseless;

impl ConfidenceRadius for Senseless {
    fn sqrt_beta(&self, _: &plausibly::Evidence) -> f64 {
        f64::NAN
    }
}

#[test]
#[should_panic(expected = "a confidence radius must be positive and finite, got NaN")]
fn a_senseless_radius_is_named_when_it_is_used() {
    let set = plausibly::ActionSet::from_rows(&[[1.0], [2.0]]).unwrap();
    let mut policy = plausibly::Code::new(Ridge::new(1, 1.0).unwrap(), Senseless);
    plausibly::Policy::select(&mut policy, set.view(), &mut plausibly::Stream::new(0, 0, ""));
}

/// An estimator written outside the crate.
#[derive(Clone)]
struct Prior;

impl Estimator for Prior {
    fn score_into(&self, actions: plausibly::Actions<'_>, out: &mut plausibly::Scores) {
        out.set(&vec![0.5; actions.len()], &vec![1.0; actions.len()]);
    }

    fn update(&mut self, _: Action<'_>, _: f64) {}

    fn evidence(&self) -> plausibly::Evidence {
        plausibly::Evidence::new(3, 1, 1.0, 0.0)
    }

    fn deviation(&self, theta_star: &[f64]) -> f64 {
        theta_star[0].abs()
    }
}

#[test]
fn estimators_can_be_written_outside() {
    let set = plausibly::ActionSet::from_rows(&[[1.0], [2.0]]).unwrap();
    let radius: Box<dyn ConfidenceRadius> = Box::new(Fixed { sqrt_beta: 1.0 });
    let mut policy = plausibly::Code::new(Prior, radius);
    assert_eq!(
        plausibly::Policy::select(&mut policy, set.view(), &mut plausibly::Stream::new(0, 0, "")),
        0
    );
}
