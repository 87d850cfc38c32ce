use crate::policies::{Entrant, arm_entrants, linear_entrants, teach};
use plausibly::{
    ActionSet, ArmMeans, Code, Exclusion, Explain, Explanation, Fixed, Glm, GlmPrior, Likelihood,
    Link, Policy, Ridge, Standing, Stream, Target, TwoPoint,
};
use plausibly_testkit::strategies;
use proptest::prelude::*;

fn check(
    explanation: &Explanation,
    sqrt_beta: f64,
    exclusion: Exclusion,
) -> Result<(), TestCaseError> {
    let intervals = explanation.intervals();
    let best_lower = intervals.iter().map(|i| i.lower).fold(f64::NEG_INFINITY, f64::max);
    for (action, (interval, standing)) in intervals.iter().zip(explanation.standings()).enumerate()
    {
        let half = sqrt_beta * explanation.width_sq()[action].sqrt();
        prop_assert!(
            interval.lower == interval.mean - half && interval.upper == interval.mean + half
        );
        match *standing {
            // What differences leave, intervals leave as well.
            Standing::Plausible => prop_assert!(interval.upper >= best_lower - 1e-9),
            Standing::Beaten { .. } => panic!("no rule for pairs is in force"),
            Standing::RuledOut { by, margin, at_most } => {
                prop_assert!(margin > 0.0 && margin <= at_most);
                prop_assert_eq!(explanation.standings()[by], Standing::Plausible);
                let ahead = intervals[by];
                if exclusion == Exclusion::Differences {
                    // A difference is known no worse than its two sides.
                    prop_assert!(margin >= ahead.lower - interval.upper - 1e-9);
                    prop_assert!(at_most <= ahead.upper - interval.lower + 1e-9);
                    continue;
                }
                prop_assert!(margin == ahead.lower - interval.upper);
                prop_assert!(at_most == ahead.upper - interval.lower);
                // The witness is the first action with the best lower bound.
                prop_assert!(intervals[by].lower == best_lower);
                prop_assert!(intervals[..by].iter().all(|i| i.lower < best_lower));
            }
        }
    }
    let widest = explanation.plausible().map(|a| explanation.width_sq()[a]).fold(0.0, f64::max);
    let half = sqrt_beta * widest.sqrt();
    prop_assert_eq!(explanation.model_error_bound(), half * half);
    Ok(())
}

/// Plays a policy twice, the second time with explanations before and after every choice, and
/// asserts equal choices.
fn explaining_changes_nothing(
    set: &ActionSet,
    entrant: &Entrant,
    rounds: u64,
) -> Result<(), TestCaseError> {
    let (mut silent, mut asked) = ((entrant.make)(), (entrant.make)());
    let (mut silent_rng, mut asked_rng) =
        (Stream::new(4, 0, "policy"), Stream::new(4, 0, "policy"));
    let mut noise = Stream::new(4, 0, "noise");
    let (mut before, mut after) = (Explanation::new(), Explanation::new());
    let radius = Fixed { sqrt_beta: 0.8 };
    for round in 0..rounds {
        if round % 3 != 1 {
            asked.explain(set.view(), &radius, asked.exclusion(), &mut before);
            check(&before, 0.8, asked.exclusion())?;
        }
        let chosen = asked.select(set.view(), &mut asked_rng);
        prop_assert_eq!(
            silent.select(set.view(), &mut silent_rng),
            chosen,
            "{} in round {}",
            entrant.name,
            round
        );
        asked.explain(set.view(), &radius, asked.exclusion(), &mut after);
        if round % 3 != 1 {
            // Nothing was learned since, so the explanation is the same to the bit.
            prop_assert_eq!(before.intervals(), after.intervals());
        }
        let reward = (chosen as f64).cos() + noise.normal();
        teach(&mut *silent, set.view().get(chosen), reward);
        teach(&mut *asked, set.view().get(chosen), reward);
    }
    Ok(())
}

#[test]
fn an_explanation_says_whether_the_target_is_met() {
    let set = ActionSet::from_rows(&[[1.0, 0.0], [0.0, 1.0]]).unwrap();
    let radius = Fixed { sqrt_beta: 1.0 };
    let code = || Code::new(Ridge::new(2, 1.0).unwrap(), radius);
    let mut rng = Stream::new(1, 0, "policy");
    let mut explanation = Explanation::new();
    // Half an interval is 1/√(1 + plays): after 15 plays each, a quarter.
    let mut policy = code().to_target(Target::Accuracy(0.25)).unwrap();
    for round in 0..30 {
        policy.explain(set.view(), &radius, policy.exclusion(), &mut explanation);
        let status = explanation.target().unwrap();
        assert!(!status.met() && status.wanted == 0.25, "round {round}: {status:?}");
        let chosen = policy.select(set.view(), &mut rng);
        assert_eq!(chosen, round % 2, "explores the less known one while the target is missed");
        policy.update(set.view().get(chosen), if chosen == 1 { 0.3 } else { 0.2 });
    }
    policy.explain(set.view(), &radius, policy.exclusion(), &mut explanation);
    assert!(explanation.target().unwrap().met());
    for _ in 0..5 {
        let chosen = policy.select(set.view(), &mut rng);
        assert_eq!(chosen, 1, "and takes the better one once it is met");
        policy.update(set.view().get(chosen), 0.3);
    }
    let plain = code();
    plain.explain(set.view(), &radius, plain.exclusion(), &mut explanation);
    assert!(explanation.target().is_none());
    assert!(
        code().to_target(Target::Kappa(0.0)).is_err()
            && code().to_target(Target::Accuracy(f64::NAN)).is_err()
    );
}

/// Whether no plausible estimate can be farther from the truth than the bound on the model error
/// says, and one can be as far; and whether half of every plausible interval would be less.
fn error_bound_is_reached(policy: &impl Explain, set: &ActionSet) -> bool {
    let mut explanation = Explanation::new();
    let radius = policy.radius().unwrap();
    policy.explain(set.view(), radius, policy.exclusion(), &mut explanation);
    let plausible = || explanation.plausible().map(|action| explanation.intervals()[action]);
    let farthest = plausible().map(|i| (i.upper - i.mean).max(i.mean - i.lower));
    let farthest = farthest.fold(0.0, f64::max);
    let half = plausible().map(|i| 0.5 * (i.upper - i.lower)).fold(0.0, f64::max);
    let bound = explanation.model_error_bound();
    assert!((bound.sqrt() - farthest).abs() < 1e-12, "{bound} {farthest}");
    half < 0.95 * farthest
}

#[test]
fn an_error_is_bounded_where_estimates_are_not_in_the_middle() {
    let (set, arms) = (ActionSet::from_rows(&[[1.0], [0.5]]).unwrap(), ActionSet::arms(2).unwrap());
    let prior = GlmPrior::around(Link::Logistic, (0.0, 1.0), 0.05, 20.0, (1, 1.0), 0.05).unwrap();
    let mut curved = Code::new(Glm::new(1, prior).unwrap(), Likelihood::default());
    let two_point = TwoPoint { delta: 0.05, low: 0.0, high: 1.0, pairs: false };
    let mut bounded = Code::new(ArmMeans::new(2), two_point);
    for round in 0..40 {
        assert!(error_bound_is_reached(&curved, &set), "round {round}");
        assert!(error_bound_is_reached(&bounded, &arms), "round {round}");
        for action in 0..2 {
            let reward = f64::from(u8::from(round % 20 == 19));
            curved.update(set.view().get(action), reward);
            bounded.update(arms.view().get(action), reward);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn explaining_never_changes_a_later_choice(rows in strategies::actions(3, 12)) {
        let set = ActionSet::from_rows(&rows).unwrap();
        for entrant in linear_entrants(3, rows.len()) {
            explaining_changes_nothing(&set, &entrant, 60)?;
        }
        let arms = ActionSet::arms(rows.len()).unwrap();
        for entrant in arm_entrants(rows.len()) {
            explaining_changes_nothing(&arms, &entrant, 60)?;
        }
    }
}
