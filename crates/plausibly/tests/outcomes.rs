//! Forecasts belong to decisions, and a count is its outcomes one by one.

use crate::allocations::allocations;
use plausibly::state::{Durable, Keep};
use plausibly::{
    ActionSet, ArmMeans, BetaThompson, Code, Exclusion, Explain, Explanation, Forecast, Forecaster,
    Forecasting, Insured, LinUcb, Policy, Ridge, Stream, TwoPoint,
};

const RADIUS: Forecast = Forecast {
    delta: 0.05,
    noise_scale: 0.5,
    theta_norm_bound: 1.0,
    low: 0.0,
    high: 1.0,
    pairs: false,
};

fn forecaster() -> Forecaster {
    Forecaster::new(2, (0.0, 1.0)).unwrap()
}

fn ridge() -> Ridge {
    Ridge::new(2, 0.1).unwrap()
}

/// The radius after a policy has chosen from new sets, and learned each reward five rounds later;
/// `after` is called with every choice.
fn late_radius(after: impl Fn(&mut dyn Policy, plausibly::Action<'_>)) -> f64 {
    let mut policy = Forecasting::new(LinUcb::new(ridge(), RADIUS), forecaster());
    let (mut rng, mut waiting) = (Stream::new(3, 0, "sets"), Vec::new());
    for round in 0..60 {
        let rows: Vec<[f64; 2]> =
            (0..4).map(|row| [1.0 / f64::from(1 + round), 0.2 * f64::from(row)]).collect();
        let set = ActionSet::from_rows(&rows).unwrap();
        let chosen = policy.select(set.view(), &mut rng);
        after(&mut policy, set.view().get(chosen));
        waiting.push((set, chosen, f64::from(u8::from(round % 3 == 0))));
        if round >= 5 {
            let (set, chosen, reward) = waiting.remove(0);
            policy.update(set.view().get(chosen), reward);
        }
    }
    let mut found = Explanation::new();
    let set = ActionSet::from_rows(&[[1.0, 0.0], [0.0, 1.0]]).unwrap();
    policy.explain(set.view(), policy.radius().unwrap(), Exclusion::Differences, &mut found);
    found.sqrt_beta()
}

#[test]
fn a_forecast_is_made_with_its_choice_and_kept_until_the_reward_comes() {
    let selected = late_radius(|_, _| {});
    let announced = late_radius(|policy, action| policy.decided(action));
    // Drops the forecast made with the choice, so that another is made when the reward comes.
    let forgotten = late_radius(|policy, action| policy.dropped(action));
    assert_eq!(selected.to_bits(), announced.to_bits());
    assert_ne!(selected.to_bits(), forgotten.to_bits());
}

#[test]
fn choices_that_were_never_carried_out_are_forgotten_and_the_latest_one_counts() {
    let set = ActionSet::from_rows(&[[1.0, 0.5]]).unwrap();
    let (action, mut rng) = (set.view().get(0), Stream::new(1, 0, "policy"));
    let fresh = || Forecasting::new(LinUcb::new(ridge(), RADIUS), forecaster());
    let (mut asked, mut plain) = (fresh(), fresh());
    let mut sizes = Vec::new();
    for round in 0..300 {
        asked.select(set.view(), &mut rng);
        for policy in [&mut asked, &mut plain] {
            policy.select(set.view(), &mut rng);
            policy.update(action, f64::from(u8::from(round % 4 == 0)));
        }
        sizes.push(asked.state().as_bytes().len());
    }
    let radius = |policy: &Forecasting<LinUcb<Ridge, Forecast>>| {
        let evidence = policy.model().evidence();
        policy.radius().unwrap().sqrt_beta(&evidence).to_bits()
    };
    assert_eq!(radius(&asked), radius(&plain), "a choice that was only asked for came between");
    assert_eq!(sizes[150], sizes[299], "the memory of choices grows without end");
}

/// What a policy keeps after a count, after as many decisions with single outcomes, and after a
/// count whose outcomes were entered as if each were a decision of its own.
fn ways<P: Keep>(fresh: &P, set: &ActionSet) -> [Vec<u8>; 3] {
    let (successes, of) = (3_u64, 8_u64);
    let action = set.view().get(1);
    let kept = |play: &dyn Fn(&mut P)| {
        let mut policy = fresh.clone();
        for (index, reward) in [(0, 1.0), (1, 0.0), (1, 1.0)] {
            policy.update(set.view().get(index), reward);
        }
        policy.decided(set.view().get(1));
        play(&mut policy);
        policy.state().as_bytes().to_vec()
    };
    let rewards = || (0..of).map(|place| f64::from(u8::from(place < successes)));
    let counted = kept(&|policy| {
        policy.decided(action);
        policy.count(action, successes, of);
    });
    let single = kept(&|policy| {
        rewards().for_each(|_| policy.decided(action));
        rewards().for_each(|reward| policy.update(action, reward));
    });
    let unannounced = kept(&|policy| {
        policy.decided(action);
        rewards().for_each(|reward| policy.update(action, reward));
    });
    [counted, single, unannounced]
}

#[test]
fn a_count_is_its_outcomes_one_by_one_and_settles_one_decision() {
    let set = ActionSet::from_rows(&[[1.0, 0.0], [0.3, 0.7]]).unwrap();
    let code = Code::new(ridge(), RADIUS);
    let inside = LinUcb::new(ridge(), RADIUS);
    let insured = Insured::new(inside.clone(), ridge(), RADIUS, 4.0).unwrap();
    let by_features = [
        ways(&Forecasting::new(code.clone(), forecaster()), &set),
        ways(&Forecasting::new(insured, forecaster()), &set),
        ways(&Forecasting::new(inside, forecaster()), &set),
    ];
    let arms = ActionSet::arms(2).unwrap();
    let two_point = TwoPoint { delta: 0.05, low: 0.0, high: 1.0, pairs: true };
    let by_arm = ways(&Code::new(ArmMeans::new(2), two_point), &arms);
    let beta = ways(&BetaThompson::new(2), &arms);
    for [counted, single, unannounced] in by_features.into_iter().chain([by_arm]) {
        assert_eq!(counted, single);
        assert_ne!(counted, unannounced, "a count must settle one decision, with one forecast");
    }
    // It neither forecasts nor keeps decisions.
    assert!(beta.iter().all(|state| *state == beta[0]));
}

#[test]
#[should_panic(expected = "5 successes of 4 outcomes")]
fn a_count_has_no_more_successes_than_outcomes() {
    let arms = ActionSet::arms(1).unwrap();
    BetaThompson::new(1).count(arms.view().get(0), 5, 4);
}

#[test]
fn two_actions_compare_as_verdicts_do() {
    let set = ActionSet::from_rows(&[[1.0, 0.0], [0.9, 0.3], [0.0, 1.0], [0.0, 1.0]]).unwrap();
    let mut policy = Forecasting::new(Code::new(ridge(), RADIUS), forecaster());
    let (mut rng, mut found) = (Stream::new(1, 0, "policy"), Explanation::new());
    let mut decided = 0;
    for round in 0..400 {
        let chosen = policy.select(set.view(), &mut rng);
        let action = set.view().get(chosen);
        let reward = 0.2 + 0.5 * action.features()[0] + 0.01 * f64::from(round % 3);
        policy.update(action, reward);
        let (radius, by) = (policy.radius().unwrap(), policy.exclusion());
        policy.explain(set.view(), radius, by, &mut found);
        let compare = |pair| found.compare(policy.model(), radius, by, set.view(), pair);
        for (action, standing) in found.standings().iter().enumerate() {
            if let plausibly::Standing::RuledOut { by, margin, at_most } = *standing {
                let difference = compare([action, by]);
                assert_eq!((difference.ahead, difference.behind), (by, action));
                let ends = [difference.at_least, difference.at_most].map(f64::to_bits);
                assert_eq!(ends, [margin, at_most].map(f64::to_bits));
                assert!(difference.decided && difference.further(400).is_none());
                decided += 1;
            }
        }
        assert!(!compare([2, 3]).decided && compare([2, 3]).at_most == 0.0, "copies");
    }
    assert!(decided > 400, "{decided} verdicts");
}

#[test]
fn keeping_forecasts_allocates_nothing() {
    let mut rng = Stream::new(1, 0, "problem");
    let rows: Vec<[f64; 2]> = (0..50).map(|row| [1.0, 0.02 * f64::from(row)]).collect();
    let set = ActionSet::from_rows(&rows).unwrap();
    let mut policy = Forecasting::new(LinUcb::new(ridge(), RADIUS), forecaster());
    let mut allocating_rounds = 0;
    for round in 0..3000 {
        let before = allocations();
        // Half of the choices are never carried out.
        policy.select(set.view(), &mut rng);
        let chosen = policy.select(set.view(), &mut rng);
        policy.update(set.view().get(chosen), f64::from(u8::from(round % 2 == 0)));
        allocating_rounds += u64::from(allocations() > before);
    }
    // Buffers grow to 101 choices by doubling, of indices, features and forecasts (fewer than 30
    // times), and each of the two models refactors when its determinant has grown a hundredfold
    // (2·log(3000)/log(100) ≈ 4 times each).
    assert!(allocating_rounds < 45, "allocated in {allocating_rounds} of 3000 rounds");
}
