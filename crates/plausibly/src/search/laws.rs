//! What a search promises, against brute force: every action scored from scratch in every round.
//!
//! Both score from scratch what decides, so they must return the same index, and no tolerance is
//! needed.

use super::Search;
use crate::actions::{ActionSet, Actions};
use crate::confidence::{
    Bounds, ConfidenceRadius, Determinant, Exclusion, Fixed, Likelihood, Paper, Plausible, Radius,
    Reach,
};
use crate::linalg::{dot, norm};
use crate::model::{Estimator, Glm, GlmPrior, Link, Ridge, Scores};
use crate::rng::Stream;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// A problem, and how it is played.
struct Problem {
    /// Offered in turn; one alone is a fixed set.
    sets: Vec<ActionSet>,
    theta: Vec<f64>,
    noise: f64,
    ridge: f64,
    radius: Radius,
    search: Search,
    greed: f64,
    /// Rewards between two choices.
    batch: usize,
    rounds: u64,
}

/// What a play came to.
#[derive(Default)]
struct Played {
    rounds: u64,
    /// Rounds in which a list or a sieve was used.
    lazy: u64,
}

/// Scales over several powers of ten.
fn spread(rng: &mut Stream, low: f64, high: f64) -> f64 {
    libm::pow(10.0, low + (high - low) * rng.uniform())
}

fn features(rng: &mut Stream, count: usize, dim: usize) -> Vec<Vec<f64>> {
    let kind = rng.index(4);
    let scale = spread(rng, -1.0, 1.0);
    let mut rows: Vec<Vec<f64>> = Vec::with_capacity(count);
    while rows.len() < count {
        let row = match kind {
            // One row in three is a copy.
            0 if !rows.is_empty() && rng.index(3) == 0 => rows[rng.index(rows.len())].clone(),
            // Corners of a cube, which tie again and again.
            1 => (0..dim).map(|_| if rng.index(2) == 0 { scale } else { -scale }).collect(),
            // One direction much shorter than the others.
            2 => {
                (0..dim).map(|j| rng.normal() * if j == 0 { 1e-3 * scale } else { scale }).collect()
            }
            _ => (0..dim).map(|_| scale * (2.0 * rng.uniform() - 1.0)).collect(),
        };
        rows.push(row);
    }
    rows
}

fn problem(number: u64, sets: usize) -> Problem {
    let rng = &mut Stream::new(7, number, "problem");
    let (dim, count) = match sets {
        1 => (1 + rng.index(10), 16 + rng.index(200)),
        // New sets are sieved where they have many features, or very many actions.
        _ if rng.index(4) == 0 => (1 + rng.index(6), 512 + rng.index(100)),
        _ => (7 + rng.index(6), 56 + rng.index(160)),
    };
    let set = |rng: &mut Stream| ActionSet::from_rows(&features(rng, count, dim)).unwrap();
    let sets: Vec<ActionSet> = (0..sets).map(|_| set(rng)).collect();
    let theta: Vec<f64> = (0..dim).map(|_| rng.normal()).collect();
    let noise_scale = spread(rng, -2.0, 0.5);
    let (theta_norm_bound, action_norm_bound) = (norm(&theta), sets[0].view().largest_norm());
    let delta = 0.05;
    let radius = match rng.index(3) {
        0 => Radius::Fixed(Fixed { sqrt_beta: spread(rng, -2.0, 1.0) }),
        1 if dim > 1 => Radius::Paper(Paper {
            delta,
            lambda: 1e4,
            noise_scale,
            theta_norm_bound: 0.0,
            action_norm_bound,
        }),
        _ => Radius::Determinant(Determinant { delta, noise_scale, theta_norm_bound }),
    };
    let exclusion = [Exclusion::Differences, Exclusion::Intervals][rng.index(2)];
    Problem {
        sets,
        theta,
        noise: noise_scale,
        // Some models are in a condition that bounds hardly hold in.
        ridge: if rng.index(8) == 0 { spread(rng, -12.0, -6.0) } else { spread(rng, -3.0, 1.0) },
        radius,
        search: Search::new().excluding(exclusion),
        greed: [0.0, 0.0, 1.0, rng.uniform()][rng.index(4)],
        batch: if rng.index(4) == 0 { 1 + rng.index(4) } else { 1 },
        rounds: 300,
    }
}

/// The choice, and the plausible actions, by scores of all.
fn by_brute_force(
    exclusion: Exclusion,
    model: &Ridge,
    actions: Actions<'_>,
    reach: Reach,
    greed: f64,
) -> (usize, Vec<usize>) {
    let (mut scores, mut plausible) = (Scores::new(), Plausible::new());
    model.score_into(actions, &mut scores);
    plausible.assess_by(exclusion, model, actions, &scores, reach);
    let all = (0..actions.len()).filter(|action| plausible.contains(*action)).collect();
    // At greed 1 the largest upper bound is taken, which no exclusion rules out.
    if greed >= 1.0 {
        plausible.assess(&scores, reach);
    }
    (plausible.best(&scores, greed), all)
}

/// The same by two searches; the second may keep more actions than the plausible ones.
fn by_search(
    [choice, set]: &mut [Search; 2],
    model: &Ridge,
    actions: Actions<'_>,
    reach: Reach,
    greed: f64,
) -> (usize, Vec<usize>) {
    let chosen = choice.best(model, actions, reach, greed);
    let (few, plausible) = set.plausible(model, actions, reach);
    let all = few.indices().iter().enumerate();
    let all = all.filter(|(position, _)| plausible.contains(*position));
    (chosen, all.map(|(_, index)| *index).collect())
}

/// Plays; the error is the first round in which the search gave another answer than brute force.
fn play(problem: &Problem, tamper: impl Fn(&mut Ridge, &mut Search)) -> Result<Played, u64> {
    let mut model = Ridge::new(problem.theta.len(), problem.ridge).unwrap();
    let mut searches = [problem.search.clone(), problem.search.clone()];
    let (mut noise, mut played) = (Stream::new(11, 0, "noise"), Played::default());
    for (round, set) in (0..problem.rounds).zip(problem.sets.iter().cycle()) {
        let (view, reach) = (set.view(), problem.radius.reach(&model.evidence()));
        let found = by_search(&mut searches, &model, view, reach, problem.greed);
        let exclusion = problem.search.exclusion();
        if found != by_brute_force(exclusion, &model, view, reach, problem.greed) {
            return Err(round);
        }
        played.rounds += 1;
        let followed_all = searches[0].all.at == Some(model.evidence().observations);
        let bounded = model.fit().is_some_and(|fit| fit.margin.is_some());
        played.lazy += u64::from(bounded && !followed_all);
        for _ in 0..problem.batch {
            let action = view.get(found.0);
            let mean = dot(action.features(), &problem.theta);
            model.update(action, mean + problem.noise * noise.normal());
            for search in &mut searches {
                tamper(&mut model, search);
            }
        }
    }
    Ok(played)
}

fn assert_agreement(problems: u64, problem: impl Fn(u64) -> Problem, lazy: bool) {
    let mut total = Played::default();
    for number in 0..problems {
        let played = play(&problem(number), |_, _| ())
            .unwrap_or_else(|round| panic!("problem {number} differs in round {round}"));
        total.rounds += played.rounds;
        total.lazy += played.lazy;
    }
    let Played { rounds, lazy: few } = total;
    assert!(!lazy || few * 2 > rounds, "{few} of {rounds} rounds were lazy: little was tested");
}

/// Problems in which a tampered search gives a wrong answer.
fn caught(
    problems: u64,
    problem: impl Fn(u64) -> Problem,
    tamper: impl Fn(&mut Ridge, &mut Search) + Copy,
) -> usize {
    // A search that is left with no action panics.
    let wrong = |number: &u64| {
        let played = catch_unwind(AssertUnwindSafe(|| play(&problem(*number), tamper)));
        !matches!(played, Ok(Ok(_)))
    };
    (0..problems).filter(wrong).count()
}

fn fixed(number: u64) -> Problem {
    problem(number, 1)
}

fn by_differences(number: u64) -> Problem {
    let problem = problem(number, 1);
    Problem { search: Search::new(), ..problem }
}

fn changing(number: u64) -> Problem {
    problem(number, 40)
}

fn over_all_actions(number: u64) -> Problem {
    let problem = problem(number, 1);
    let search = Search::over_all_actions().excluding(problem.search.exclusion());
    Problem { search, ..problem }
}

#[test]
fn lists_give_the_answers_of_all_actions() {
    assert_agreement(1000, fixed, true);
}

#[test]
fn sieves_give_the_answers_of_all_actions() {
    assert_agreement(300, changing, true);
}

#[test]
fn followed_scores_give_the_answers_of_scores_from_scratch() {
    assert_agreement(300, over_all_actions, false);
}

#[test]
fn a_wrong_bound_is_noticed() {
    // An estimate that is taken not to move, since the list or since the base.
    let forget_drift = |model: &mut Ridge, search: &mut Search| {
        model.forget_length();
        search.list.forget_drift();
    };
    assert!(caught(200, fixed, forget_drift) > 0);
    assert!(caught(200, fixed, |_, search| search.list.forget_base_drift()) > 0);
    // A leader that is alone on its list, and stays there however far the estimate moves.
    assert!(caught(200, by_differences, |_, search| search.list.hold_on_to_leader()) > 0);
    // Differences that do not follow one of two observations.
    assert!(caught(40, by_differences, |_, search| search.list.skip_differences()) > 0);
    // Followed scores taken for exact: where actions tie, rounding then decides.
    assert!(caught(40, fixed, |model, _| model.forget_margin()) > 0);
    // Widths taken to be at most a quarter of their bound.
    assert!(caught(40, changing, |_, search| search.sieve.tighten_limits()) > 0);
    // Scores that do not follow one of two observations.
    let stale = |_: &mut Ridge, search: &mut Search| {
        search.all.at = search.all.at.map(|at| at + 1);
    };
    assert!(caught(40, over_all_actions, stale) > 0);
}

#[test]
fn a_search_given_another_model_starts_over() {
    for number in 0..40 {
        let problem = problem(number, 1);
        let (view, mut rng) = (problem.sets[0].view(), Stream::new(11, 0, "noise"));
        let mut models = [0, 1].map(|_| Ridge::new(view.dim(), problem.ridge).unwrap());
        let mut searches = [Search::new(), Search::new()];
        for round in 0..60 {
            // The same number of observations, and others.
            let model = &mut models[round % 2];
            let reach = problem.radius.reach(&model.evidence());
            let found = by_search(&mut searches, model, view, reach, problem.greed);
            let exclusion = Exclusion::default();
            assert_eq!(found, by_brute_force(exclusion, model, view, reach, problem.greed));
            let action = view.get(rng.index(view.len()));
            model.update(action, rng.normal());
            let copy = model.clone();
            assert_eq!(
                by_search(&mut searches, &copy, view, reach, problem.greed),
                by_brute_force(exclusion, &copy, view, reach, problem.greed)
            );
        }
    }
}

mod full {
    #[test]
    fn lists_give_the_answers_of_all_actions_in_20000_problems() {
        super::assert_agreement(20_000, super::fixed, true);
    }

    #[test]
    fn sieves_give_the_answers_of_all_actions_in_6000_problems() {
        super::assert_agreement(6_000, super::changing, true);
    }

    #[test]
    fn followed_scores_give_the_answers_of_scores_from_scratch_in_5000_problems() {
        super::assert_agreement(5_000, super::over_all_actions, false);
    }
}

#[test]
fn a_firmest_action_is_not_taken_for_the_leader_where_nothing_is_certain() {
    // A margin so large that every action may be either witness.
    assert!(play(&fixed(18_557), |_, _| ()).is_ok());
}

/// Between refits widths follow the steps of a design; decisions that are only counted, copies of
/// the model and other sets come in between.
#[test]
fn the_widest_by_design_is_that_of_scores_from_scratch() {
    let mut rng = Stream::new(8, 0, "design");
    let mut followed = 0;
    for _ in 0..30 {
        let dim = 1 + rng.index(9);
        let sets = [0, 1].map(|_| {
            let mut rows: Vec<f64> = (0..40 * dim).map(|_| 2.0 * rng.uniform() - 1.0).collect();
            rows.extend_from_within(..3 * dim);
            ActionSet::from_flat(rows, dim).unwrap()
        });
        let theta_norm_bound = spread(&mut rng, 0.1, 10.0);
        let prior = GlmPrior {
            link: Link::Logistic,
            rewards: (0.0, 1.0),
            offset: -1.0,
            theta_norm_bound,
            precision: None,
            delta: 0.05,
        };
        let (mut model, mut search) = (Glm::new(dim, prior).unwrap(), Search::new());
        for _ in 0..1000 {
            let actions = sets[usize::from(rng.index(20) == 0)].view();
            let bounds = Likelihood::default().bounds(&model.evidence());
            let Reach::Curved(_) = bounds.reach else { break };
            let chosen = search.widest_by_design(&model, actions, bounds);
            assert_eq!(chosen, widest_by_design(&model, actions, bounds));
            followed += u32::from(model.design().is_some_and(|design| design.step.is_some()));
            match rng.index(40) {
                0 => model.count(actions.get(rng.index(40))),
                1 => model = model.clone(),
                _ => {}
            }
            model.update(actions.get(chosen), f64::from(u8::from(rng.uniform() < 0.3)));
        }
    }
    assert!(followed > 5_000, "{followed}");
}

fn widest_by_design(model: &Glm, actions: Actions<'_>, bounds: Bounds) -> usize {
    let (mut scores, mut plausible) = (Scores::new(), Plausible::new());
    model.score_into(actions, &mut scores);
    plausible.assess_by(Exclusion::Differences, model, actions, &scores, bounds);
    let (mut mean, mut width_sq) = (scores.mean.clone(), scores.width_sq.clone());
    if let Some(design) = model.design() {
        design.score(actions.blocks(), &mut mean, &mut width_sq);
    }
    plausible.widest_by(&scores, &width_sq)
}
