//! A policy that goes on from a history may begin with an explanation of its model. That saves work
//! and must change no choice, whatever the explanation is about.

use plausibly::spec::{
    Defaults, Facts, History, Model, PolicyKind, PolicySpec, RadiusKind, RadiusSpec, Setting,
};
use plausibly::{
    ActionSet, ArmMeans, Earnings, Exclusion, Explanation, Ridge, Stream, Tabled, Target, Whole,
};
use std::sync::Arc;

/// A model, its radius and two sets of as many actions.
struct Problem {
    facts: Facts,
    radius: RadiusSpec,
    model: Model,
    design: Option<Model>,
    sets: [ActionSet; 2],
}

const ACTIONS: usize = 24;
const DIM: usize = 4;

fn problem(number: u64) -> Problem {
    let rng = &mut Stream::new(11, number, "problem");
    let setting = if number.is_multiple_of(3) { Setting::Arms } else { Setting::Fixed };
    let facts = Facts {
        setting,
        dim: if setting == Setting::Arms { 0 } else { DIM },
        actions: ACTIONS,
        horizon: 1,
        noise_scale: 0.5,
        theta_norm_bound: 1.0,
        action_norm_bound: 2.0,
        reward_range: Some((-0.5, 0.5)),
    };
    let logged = RadiusSpec::default_for(setting, Defaults::Logged);
    let mut paid = vec![Earnings::default(); ACTIONS];
    let plays = 1 + rng.index(400);
    let mut play = |action: usize, reward: f64| {
        let Earnings { count, total, squares } = &mut paid[action];
        (*count, *total, *squares) = (*count + 1, *total + reward, *squares + reward * reward);
    };
    let reward = |rng: &mut Stream, mean: f64| {
        if 0.5 * rng.uniform() < 0.25 + mean { 0.5 } else { -0.5 }
    };
    if setting == Setting::Arms {
        for _ in 0..plays {
            let arm = rng.index(ACTIONS);
            play(arm, reward(rng, arm as f64 / ACTIONS as f64 - 0.5));
        }
        let counts: Vec<u64> = paid.iter().map(|arm| arm.count).collect();
        let [totals, squares] = [|arm: &Earnings| arm.total, |arm: &Earnings| arm.squares]
            .map(|of| paid.iter().map(of).collect::<Vec<f64>>());
        let model = ArmMeans::from_statistics(&counts, &totals).with_squares(&squares);
        let taken: Vec<u64> = counts.iter().map(|count| count + rng.index(3) as u64).collect();
        let design = Model::Arms(ArmMeans::from_statistics(&taken, &totals));
        let design = number.is_multiple_of(2).then_some(design);
        let sets = [ActionSet::arms(ACTIONS).unwrap(), ActionSet::arms(ACTIONS).unwrap()];
        return Problem { facts, radius: logged, model: Model::Arms(model), design, sets };
    }
    let sets = [(); 2].map(|()| {
        let rows = (0..ACTIONS * DIM).map(|_| 2.0 * rng.uniform() - 1.0).collect();
        ActionSet::from_flat(rows, DIM).unwrap()
    });
    let mut model = Ridge::new(DIM, 1.0).unwrap();
    for _ in 0..plays {
        let action = sets[0].view().get(rng.index(ACTIONS));
        let reward = reward(rng, 0.3 * action.features()[0]);
        play(action.index(), reward);
        plausibly::Estimator::update(&mut model, action, reward);
    }
    let mut design = model.clone();
    for _ in 0..rng.index(9) {
        plausibly::Estimator::count(&mut design, sets[0].view().get(rng.index(ACTIONS)));
    }
    let design = number.is_multiple_of(2).then_some(Model::Features(Box::new(design)));
    let is_table = number % 3 == 1;
    let model = if is_table {
        let shares = ACTIONS as u64;
        let whole =
            Whole { arms: ACTIONS, shares, ever: shares, other_observations: 0, first: None };
        let tabled = Tabled::from_statistics(model, &paid, whole);
        Model::Table(Box::new(tabled))
    } else {
        Model::Features(Box::new(model))
    };
    let radius = RadiusSpec { kind: RadiusKind::Additive, pairs: is_table, ..logged };
    Problem { facts, radius, model, design, sets }
}

fn policies(radius: RadiusSpec, is_arms: bool) -> Vec<PolicyKind> {
    use Exclusion::{Differences, Intervals};
    let code = |exclusion, greed, target, randomise| PolicyKind::Code {
        ridge: Some(1.0),
        radius,
        exclusion,
        greed,
        target,
        randomise,
        count_pending: true,
    };
    let exclusion = if is_arms { Intervals } else { Differences };
    let inside = PolicyKind::EpsilonGreedy {
        ridge: 1.0,
        epsilon: 0.0,
        exploration: plausibly::Exploration::Uniform,
        radius: None,
    };
    vec![
        code(exclusion, 0.0, None, 0.0),
        code(Intervals, 0.0, None, 0.0),
        code(exclusion, 0.6, None, 0.0),
        code(exclusion, 1.0, None, 0.0),
        code(exclusion, 0.0, Some(Target::Kappa(0.02)), 0.0),
        code(exclusion, 0.0, None, 0.7),
        PolicyKind::Insured {
            kappa: 0.02,
            ridge: Some(1.0),
            radius,
            exclusion,
            count_pending: true,
            inside: Box::new(inside),
        },
    ]
}

fn exclusion_of(kind: &PolicyKind) -> Exclusion {
    match kind {
        PolicyKind::Code { exclusion, .. } | PolicyKind::Insured { exclusion, .. } => *exclusion,
        _ => unreachable!("only these are tested"),
    }
}

/// What the model says about a set under this radius.
fn explained(
    problem: &Problem,
    radius: RadiusSpec,
    exclusion: Exclusion,
    set: &ActionSet,
) -> Arc<Explanation> {
    let radius = radius.build_quantised(&problem.facts).unwrap();
    let mut explanation = Explanation::new();
    explanation.fill(problem.model.estimator(), &radius, exclusion, set.view());
    Arc::new(explanation)
}

#[test]
fn an_explanation_at_hand_changes_no_choice() {
    let (mut choices, mut by_others) = ([0; ACTIONS], 0);
    for number in 0..300 {
        let problem = problem(number);
        let [set, other_set] = &problem.sets;
        for kind in policies(problem.radius, problem.facts.dim == 0) {
            let own = exclusion_of(&kind);
            let spec = PolicySpec { label: "policy".into(), kind };
            let choose = |explained: Option<Arc<Explanation>>| {
                let (model, design) = (problem.model.clone(), problem.design.clone());
                let (committed, phase) = (None, None);
                let history = History { model, design, decisions: 0, committed, phase, explained };
                let mut policy = spec.resume(&problem.facts, history).unwrap();
                let mut rng = Stream::new(5, number, "policy");
                // The second question is about the same actions, and finds what the first left.
                [(); 2].map(|()| policy.select(set.view(), &mut rng))
            };
            let expected = choose(None);
            choices[expected[0]] += 1;
            let other = if own == Exclusion::Intervals {
                Exclusion::Differences
            } else {
                Exclusion::Intervals
            };
            let narrow = RadiusSpec { delta: 0.9, ..problem.radius };
            let about = |radius, exclusion, set| explained(&problem, radius, exclusion, set);
            let same = about(problem.radius, own, set);
            assert_eq!(choose(Some(same.clone())), expected, "{number}, {:?}", spec.kind);
            // An explanation of another question is not an answer to this one.
            for wrong in [
                about(problem.radius, own, other_set),
                about(problem.radius, other, set),
                about(narrow, own, set),
            ] {
                by_others += u32::from(wrong.plausible().ne(same.plausible()));
                assert_eq!(choose(Some(wrong)), expected, "{number}, {:?}", spec.kind);
            }
        }
    }
    assert!(choices.iter().filter(|count| **count > 0).count() > ACTIONS / 2, "{choices:?}");
    assert!(by_others > 500, "only {by_others} wrong explanations would be noticed");
}
