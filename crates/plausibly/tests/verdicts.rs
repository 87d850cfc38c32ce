//! What rules an action out: the bounds of `docs/concepts/verdicts.md`, each asserted on the good
//! event, and mistakes that they must notice.

use plausibly::{
    ActionSet, Additive, Code, ConfidenceRadius, Determinant, Estimator, Exclusion, Explain,
    Explanation, Fixed, Ridge, Standing,
};
use plausibly_testkit::strategies;
use proptest::prelude::*;

/// A model after some plays, and the truth just inside its confidence set.
#[derive(Debug)]
struct Case {
    set: ActionSet,
    rows: Vec<Vec<f64>>,
    model: Ridge,
    theta_star: Vec<f64>,
    sqrt_beta: f64,
}

impl Case {
    fn new(rows: Vec<Vec<f64>>, plays: &[(usize, f64)], theta_star: &[f64]) -> Self {
        let set = ActionSet::from_rows(&rows).unwrap();
        let mut model = Ridge::new(theta_star.len(), 0.5).unwrap();
        for (play, reward) in plays {
            model.update(set.view().get(play % rows.len()), *reward);
        }
        let sqrt_beta = model.deviation(theta_star).max(1e-3);
        Self { set, rows, model, theta_star: theta_star.to_vec(), sqrt_beta }
    }

    fn explain(&self, exclusion: Exclusion) -> Explanation {
        let radius = Fixed { sqrt_beta: self.sqrt_beta };
        let (code, mut out) = (Code::new(self.model.clone(), radius), Explanation::new());
        code.excluding(exclusion).explain(self.set.view(), &radius, exclusion, &mut out);
        out
    }

    fn truth(&self, action: usize) -> f64 {
        dot(&self.rows[action], &self.theta_star)
    }

    fn best(&self) -> f64 {
        (0..self.rows.len()).map(|action| self.truth(action)).fold(f64::NEG_INFINITY, f64::max)
    }
}

fn dot(x: &[f64], y: &[f64]) -> f64 {
    x.iter().zip(y).map(|(x, y)| x * y).sum()
}

fn minus(x: &[f64], y: &[f64]) -> Vec<f64> {
    x.iter().zip(y).map(|(x, y)| x - y).collect()
}

fn cases() -> impl Strategy<Value = Case> {
    let plays = prop::collection::vec((0..12_usize, -2.0..2.0_f64), 0..60);
    let theta = prop::collection::vec(-2.0..2.0_f64, 3);
    (strategies::actions(3, 12), plays, theta)
        .prop_map(|(rows, plays, theta)| Case::new(rows, &plays, &theta))
}

proptest! {
    #[test]
    fn a_verdict_is_true_and_its_bounds_hold_the_difference(case in cases()) {
        for exclusion in [Exclusion::Differences, Exclusion::Intervals] {
            let explanation = case.explain(exclusion);
            for (action, standing) in explanation.standings().iter().enumerate() {
                let Standing::RuledOut { by, margin, at_most } = *standing else { continue };
                let ahead = case.truth(by) - case.truth(action);
                prop_assert!(margin <= ahead + 1e-9 && ahead <= at_most + 1e-9, "{exclusion:?}");
                prop_assert!(case.truth(action) < case.best());
            }
            let best = (0..case.rows.len()).filter(|a| case.truth(*a) >= case.best());
            for action in best {
                prop_assert_eq!(explanation.standings()[action], Standing::Plausible);
            }
        }
    }

    #[test]
    fn differences_leave_the_leader_and_nothing_that_intervals_rule_out(case in cases()) {
        let by_differences = case.explain(Exclusion::Differences);
        let by_intervals = case.explain(Exclusion::Intervals);
        let means = || by_differences.intervals().iter().map(|interval| interval.mean);
        let largest = means().fold(f64::NEG_INFINITY, f64::max);
        let leader = means().position(|mean| mean >= largest).unwrap();
        prop_assert_eq!(by_differences.standings()[leader], Standing::Plausible);
        for (one, other) in by_differences.standings().iter().zip(by_intervals.standings()) {
            let Standing::RuledOut { margin, .. } = *other else { continue };
            // Within rounding of the boundary either answer is right.
            prop_assert!(margin < 1e-9 || *one != Standing::Plausible);
        }
    }

    /// Any plausible action that is at least `g` times as wide as the widest.
    #[test]
    fn whatever_chooses_among_the_plausible_has_its_price(case in cases(), pick in 0..12_usize) {
        for exclusion in [Exclusion::Differences, Exclusion::Intervals] {
            let explanation = case.explain(exclusion);
            let plausible: Vec<usize> = explanation.plausible().collect();
            let half = |a: usize| case.sqrt_beta * explanation.width_sq()[a].sqrt();
            let widest = plausible.iter().map(|a| half(*a)).fold(0.0, f64::max);
            let taken = plausible[pick % plausible.len()];
            let g = half(taken) / widest;
            if widest == 0.0 || g < 1e-6 {
                continue;
            }
            let regret = case.best() - case.truth(taken);
            prop_assert!(regret <= 2.0 * (1.0 + 1.0 / g) * half(taken) + 1e-9, "{exclusion:?}");
            for action in plausible {
                let error = explanation.intervals()[action].mean - case.truth(action);
                prop_assert!(error.abs() <= half(taken) / g + 1e-9);
            }
        }
    }

    #[test]
    fn the_additive_radius_is_never_wider(
        rows in strategies::actions(3, 8),
        plays in prop::collection::vec((0..8_usize, -1.0..1.0_f64), 0..30),
        ridge in 1e-3..1e3_f64,
        noise_scale in 1e-3..1e3_f64,
        theta_norm_bound in 0.0..1e3_f64,
        delta in 1e-9..0.999_f64,
    ) {
        let set = ActionSet::from_rows(&rows).unwrap();
        let mut model = Ridge::new(3, ridge).unwrap();
        for (play, reward) in plays {
            model.update(set.view().get(play % rows.len()), reward);
        }
        let evidence = model.evidence();
        let additive = Additive { delta, noise_scale, theta_norm_bound }.sqrt_beta(&evidence);
        let determinant = Determinant { delta, noise_scale, theta_norm_bound };
        let noise = noise_scale.powi(2) * (evidence.log_det_ratio() - 2.0 * delta.ln());
        let formula = (noise + ridge * theta_norm_bound.powi(2)).sqrt();
        prop_assert!((additive - formula).abs() <= 1e-9 * formula);
        prop_assert!(additive <= determinant.sqrt_beta(&evidence) * (1.0 + 1e-12));
    }
}

/// Every parameter on the boundary of the set, in two dimensions: `θ̂ + √β·V^(−1/2)·u`.
fn boundary(case: &Case) -> Vec<[f64; 2]> {
    let theta_hat = case.model.theta_hat();
    // V⁻¹ = L·Lᵀ, from the widths of the unit vectors and their sum.
    let units = ActionSet::from_rows(&[[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]).unwrap();
    let scores = crate::scores(&case.model, units.view());
    let [a, c, sum] = [0, 1, 2].map(|at| scores.width_sq()[at]);
    let b = (sum - a - c) / 2.0;
    let (l11, l21) = (a.sqrt(), b / a.sqrt());
    let l22 = (c - l21 * l21).max(0.0).sqrt();
    let turn = |step: u32| f64::from(step) / 3600.0 * std::f64::consts::TAU;
    let point = |(sin, cos): (f64, f64)| {
        let (x, y) = (l11 * cos, l21 * cos + l22 * sin);
        [theta_hat[0] + case.sqrt_beta * x, theta_hat[1] + case.sqrt_beta * y]
    };
    (0..3600).map(|step| point(turn(step).sin_cos())).collect()
}

/// Random cases in two dimensions, some with copies.
fn flat_cases(count: u64) -> impl Iterator<Item = Case> {
    (0..count).map(|number| {
        let rng = &mut plausibly::Stream::new(20, number, "verdicts");
        let mut rows: Vec<Vec<f64>> =
            (0..6).map(|_| (0..2).map(|_| rng.normal()).collect()).collect();
        rows.push(rows[0].clone());
        let theta: Vec<f64> = (0..2).map(|_| rng.normal()).collect();
        let draw = |_| {
            let action = rng.index(6);
            (action, dot(&rows[action], &theta) + 0.3 * rng.normal())
        };
        let plays: Vec<(usize, f64)> = (0..40).map(draw).collect();
        Case::new(rows, &plays, &theta)
    })
}

#[test]
fn verdicts_are_those_of_every_parameter_on_the_boundary() {
    let mut verdicts = 0;
    for case in flat_cases(300) {
        let (boundary, explanation) = (boundary(&case), case.explain(Exclusion::Differences));
        for (action, standing) in explanation.standings().iter().enumerate() {
            let Standing::RuledOut { by, margin, at_most } = *standing else { continue };
            verdicts += 1;
            let difference = minus(&case.rows[by], &case.rows[action]);
            let values = boundary.iter().map(|theta| dot(&difference, theta));
            let (least, most) =
                values.fold((f64::INFINITY, f64::NEG_INFINITY), |(l, m), v| (l.min(v), m.max(v)));
            // 3,600 directions come within 2e-6 of the ends.
            let near = |x: f64, y: f64| (x - y).abs() <= 1e-5 * (at_most - margin).max(1e-6);
            assert!(near(least, margin) && near(most, at_most), "{least} {margin} {most}");
        }
    }
    assert!(verdicts > 300, "{verdicts} verdicts test little");
}

/// How many cases a rule for ruling out gets wrong: it rules out the best action, or a copy of its
/// witness.
fn wrong(rules_out: impl Fn(&Case, &Explanation, usize, usize) -> bool) -> usize {
    let is_wrong = |case: &Case| {
        let explanation = case.explain(Exclusion::Differences);
        let count = case.rows.len();
        let pairs = (0..count).flat_map(|by| (0..count).map(move |action| (by, action)));
        pairs.filter(|(by, action)| by != action).any(|(by, action)| {
            let out = rules_out(case, &explanation, by, action);
            out && case.truth(action) >= case.truth(by)
        })
    };
    flat_cases(300).filter(is_wrong).count()
}

/// By how much one action is ahead of another, and the half-width of that.
fn difference(case: &Case, by: usize, action: usize) -> (f64, f64) {
    let row = ActionSet::from_rows(&[minus(&case.rows[by], &case.rows[action])]).unwrap();
    let scores = crate::scores(&case.model, row.view());
    (scores.mean()[0], case.sqrt_beta * scores.width_sq()[0].sqrt())
}

#[test]
fn wrong_rules_are_noticed() {
    let right = |case: &Case, _: &Explanation, by: usize, action: usize| {
        let (ahead, half) = difference(case, by, action);
        ahead > half + 1e-12
    };
    assert_eq!(wrong(right), 0);
    // The difference of the widths in the place of the width of the difference.
    let of_widths = |case: &Case, explanation: &Explanation, by: usize, action: usize| {
        let half = |a: usize| case.sqrt_beta * explanation.width_sq()[a].sqrt();
        difference(case, by, action).0 > (half(by) - half(action)).abs()
    };
    assert!(wrong(of_widths) > 30);
    // `≥` in the place of `>`: copies rule each other out.
    let or_equal = |case: &Case, _: &Explanation, by: usize, action: usize| {
        let (ahead, half) = difference(case, by, action);
        ahead >= half
    };
    assert!(wrong(or_equal) > 30);
    // Widths by a `V` with twice the data: what a set without its logarithm would be like.
    let too_narrow = |case: &Case, _: &Explanation, by: usize, action: usize| {
        let (ahead, half) = difference(case, by, action);
        ahead > half / 2.0
    };
    assert!(wrong(too_narrow) > 5);
}
