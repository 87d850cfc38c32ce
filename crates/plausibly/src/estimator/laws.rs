//! What lists, sieves and rough scores promise, against brute force: every action scored from
//! scratch in every round.

use super::shortlist::Shortlist;
use super::{Contenders, Estimator, Onlooker, Ridge, Scores, Sought};
use crate::actions::ActionSet;
use crate::confidence::{ConfidenceRadius, Determinant, Fixed, Paper, Plausible, Radius, Reach};
use crate::linalg::{dot, norm};
use crate::rng::Stream;

/// A problem, and how it is played.
struct Problem {
    /// Offered in turn; one alone is a fixed set.
    sets: Vec<ActionSet>,
    theta: Vec<f64>,
    noise: f64,
    ridge: f64,
    radius: Radius,
    sought: Sought,
    /// Whether there may be lists.
    lists: bool,
    /// c of tempered CODE.
    greed: f64,
    /// Rewards between two choices.
    batch: usize,
    rounds: u64,
}

/// What a play came to.
#[derive(Default)]
struct Played {
    rounds: u64,
    /// Rounds in which few actions were shown.
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
            // Copies of rows before, one in three.
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
        // Sets never seen are sieved where they have many features, or very many actions.
        _ if rng.index(4) == 0 => (1 + rng.index(6), 512 + rng.index(100)),
        _ => (7 + rng.index(6), 56 + rng.index(160)),
    };
    drawn(rng, sets, dim, count)
}

fn drawn(rng: &mut Stream, sets: usize, dim: usize, count: usize) -> Problem {
    let sets: Vec<ActionSet> =
        (0..sets).map(|_| ActionSet::from_rows(&features(rng, count, dim)).unwrap()).collect();
    let theta: Vec<f64> = (0..dim).map(|_| rng.normal()).collect();
    let noise = spread(rng, -2.0, 0.5);
    let bounds = (norm(&theta), sets[0].view().largest_norm());
    let radius = match rng.index(3) {
        0 => Radius::Fixed(Fixed { sqrt_beta: spread(rng, -2.0, 1.0) }),
        1 if dim > 1 => Radius::Paper(Paper {
            delta: 0.05,
            lambda: 1e4,
            noise_scale: noise,
            theta_norm_bound: 0.0,
            action_norm_bound: bounds.1,
        }),
        _ => Radius::Determinant(Determinant {
            delta: 0.05,
            noise_scale: noise,
            theta_norm_bound: bounds.0,
        }),
    };
    Problem {
        sets,
        theta,
        noise,
        ridge: spread(rng, -3.0, 1.0),
        radius,
        sought: if rng.index(3) == 0 { Sought::LargestUpper } else { Sought::Plausible },
        lists: true,
        greed: if rng.index(2) == 0 { 0.0 } else { rng.uniform() },
        batch: if rng.index(4) == 0 { 1 + rng.index(4) } else { 1 },
        rounds: 300,
    }
}

/// One without lists, in which one action is sought; with so many actions that few of them come
/// into question.
fn without_lists(number: u64) -> Problem {
    let rng = &mut Stream::new(13, number, "without lists");
    let (dim, count) = (1 + rng.index(40), 300 + rng.index(300));
    let problem = drawn(rng, 1, dim, count);
    let sought = if problem.sought == Sought::Plausible { Sought::Widest } else { problem.sought };
    Problem { sought, lists: false, greed: 0.0, batch: 1, rounds: 150, ..problem }
}

/// The choice among these scores and, if asked for, who is plausible.
fn decide(scores: &Scores, reach: Reach, problem: &Problem) -> (usize, Vec<usize>) {
    let mut plausible = Plausible::new();
    plausible.assess(scores, reach);
    match problem.sought {
        Sought::LargestUpper => (plausible.tempered(scores, 1.0), Vec::new()),
        Sought::Widest => (plausible.widest(scores), Vec::new()),
        Sought::Plausible => {
            let chosen = if problem.greed > 0.0 {
                plausible.tempered(scores, problem.greed)
            } else {
                plausible.widest(scores)
            };
            (chosen, (0..scores.mean.len()).filter(|a| plausible.contains(scores, *a)).collect())
        }
    }
}

/// Plays, and says in which round the list first gave another answer than all actions do.
fn play(problem: &Problem, tamper: impl Fn(&mut Ridge)) -> Result<Played, u64> {
    let model = Ridge::new(problem.theta.len(), problem.ridge).unwrap();
    let mut model = if problem.lists { model } else { model.without_lists() };
    let mut noise = Stream::new(11, 0, "noise");
    let (mut all, mut played) = (Scores::new(), Played::default());
    for (round, set) in (0..problem.rounds).zip(problem.sets.iter().cycle()) {
        let view = set.view();
        let reach = problem.radius.reach(&model.evidence());
        let contenders = model.contenders(view, reach, problem.sought);
        let indices: Vec<usize> =
            (0..contenders.scores().mean.len()).map(|p| contenders.index(p)).collect();
        if indices.is_empty() {
            return Err(round);
        }
        let (position, plausible) = decide(contenders.scores(), reach, problem);
        let chosen = indices[position];
        let plausible: Vec<usize> = plausible.into_iter().map(|p| indices[p]).collect();
        played.rounds += 1;
        if contenders.indices().is_some() {
            played.lazy += 1;
        }
        // Whatever was not shown is scored from scratch here.
        model.score_into(view, &mut all);
        if (chosen, plausible) != decide(&all, reach, problem) {
            return Err(round);
        }
        for _ in 0..problem.batch {
            let action = view.get(chosen);
            model.update(
                action,
                dot(action.features(), &problem.theta) + problem.noise * noise.normal(),
            );
            tamper(&mut model);
        }
    }
    Ok(played)
}

/// Plays so many problems; returns rounds, and rounds in which few were shown.
fn agree(problems: u64, problem: impl Fn(u64) -> Problem) -> (u64, u64) {
    (0..problems).fold((0, 0), |(rounds, lazy), number| {
        let played = play(&problem(number), |_| ())
            .unwrap_or_else(|round| panic!("problem {number} differs in round {round}"));
        (rounds + played.rounds, lazy + played.lazy)
    })
}

fn assert_agreement(problems: u64, problem: impl Fn(u64) -> Problem) {
    let (rounds, lazy) = agree(problems, problem);
    assert!(
        lazy * 2 > rounds,
        "few actions were shown in {lazy} of {rounds} rounds: not much was tested"
    );
}

/// Problems in which a tampered model gives a wrong answer.
fn caught(
    problems: u64,
    problem: impl Fn(u64) -> Problem,
    tamper: impl Fn(&mut Ridge) + Copy,
) -> usize {
    (0..problems).filter(|number| play(&problem(*number), tamper).is_err()).count()
}

fn fixed(number: u64) -> Problem {
    problem(number, 1)
}

fn changing(number: u64) -> Problem {
    problem(number, 40)
}

fn tampered(model: &mut Ridge, by: impl Fn(&mut Shortlist)) {
    by(model.shortlist_mut());
}

#[test]
fn lists_give_the_answers_of_all_actions() {
    assert_agreement(2000, fixed);
}

#[test]
fn sieves_give_the_answers_of_all_actions() {
    assert_agreement(600, changing);
}

#[test]
fn rough_scores_give_the_answers_of_doubles() {
    assert_agreement(400, without_lists);
}

#[test]
fn a_wrong_bound_is_noticed() {
    // An estimate that is taken not to move, and a base whose estimate is taken not to have moved.
    assert!(caught(40, fixed, |model| tampered(model, Shortlist::forget_drift)) > 0);
    assert!(caught(40, fixed, |model| tampered(model, Shortlist::forget_base_drift)) > 0);
    // Widths taken to be at most a quarter of their bound.
    assert!(caught(40, changing, |model| model.sieve_mut().tighten_limits()) > 0);
    // Products in single precision taken for exact.
    // About one problem in a hundred shows it.
    assert!(caught(800, without_lists, |model| model.rough_mut().forget_errors()) > 0);
}

#[test]
fn listed_scores_are_those_from_scratch() {
    for number in 0..30 {
        let problem = problem(number, 1);
        let view = problem.sets[0].view();
        let mut means = Vec::new();
        view.dot_into(&problem.theta, &mut means);
        let mut model = Ridge::new(view.dim(), problem.ridge).unwrap();
        let mut noise = Stream::new(11, 0, "noise");
        for _ in 0..problem.rounds {
            let reach = problem.radius.reach(&model.evidence());
            let contenders = model.contenders(view, reach, problem.sought);
            let chosen = contenders.index(decide(contenders.scores(), reach, &problem).0);
            let shown: Vec<_> = contenders
                .scores()
                .mean
                .iter()
                .zip(&contenders.scores().width_sq)
                .map(|(m, w)| (*m, *w))
                .collect();
            let indices: Vec<usize> = (0..shown.len()).map(|p| contenders.index(p)).collect();
            let afresh = Ridge::from_statistics(
                view.dim(),
                problem.ridge,
                &model.gram(),
                &model.moment(),
                0,
            )
            .unwrap();
            let mut all = Scores::new();
            afresh.score_into(view, &mut all);
            for ((mean, width_sq), index) in shown.into_iter().zip(indices) {
                let scale = all.width_sq[index].sqrt() * means[index].abs().max(1.0);
                assert!(
                    (width_sq - all.width_sq[index]).abs() <= 1e-6 * all.width_sq[index],
                    "problem {number}"
                );
                assert!(
                    (mean - all.mean[index]).abs() <= 1e-6 * scale.max(all.mean[index].abs()),
                    "problem {number}"
                );
            }
            model.update(view.get(chosen), means[chosen] + problem.noise * noise.normal());
        }
    }
}

/// Everything shown, to the bit.
fn shown(contenders: Contenders<'_>) -> Vec<(usize, u64, u64)> {
    let Scores { mean, width_sq, .. } = contenders.scores();
    let scores = mean.iter().zip(width_sq).enumerate();
    scores
        .map(|(at, (mean, width_sq))| (contenders.index(at), mean.to_bits(), width_sq.to_bits()))
        .collect()
}

/// The first round in which an onlooker at somebody's ridge does not see what a ridge of its own
/// shows.
fn overlooked(problem: &Problem, tamper: impl Fn(&mut Ridge)) -> Option<u64> {
    let mut own = Ridge::new(problem.theta.len(), problem.ridge).unwrap();
    let (mut theirs, mut onlooker) = (own.clone(), Onlooker::default());
    let mut noise = Stream::new(11, 0, "noise");
    (0..problem.rounds).zip(problem.sets.iter().cycle()).find_map(|(round, set)| {
        let (view, reach) = (set.view(), problem.radius.reach(&own.evidence()));
        // Its owner looks for something else, and elsewhere.
        let elsewhere = problem.sets[noise.index(problem.sets.len())].view();
        let Reach::Ellipsoid { sqrt_beta } = reach else {
            unreachable!("these are radii for features")
        };
        theirs.contenders(
            elsewhere,
            Reach::Ellipsoid { sqrt_beta: 0.3 * sqrt_beta },
            Sought::LargestUpper,
        );
        let contenders = own.contenders(view, reach, problem.sought);
        let chosen = contenders.index(decide(contenders.scores(), reach, problem).0);
        if shown(contenders) != shown(onlooker.contenders(&theirs, view, reach, problem.sought)) {
            return Some(round);
        }
        let action = view.get(chosen);
        let reward = dot(action.features(), &problem.theta) + problem.noise * noise.normal();
        own.update(action, reward);
        theirs.update(action, reward);
        tamper(&mut theirs);
        None
    })
}

#[test]
fn an_onlooker_sees_what_a_ridge_of_its_own_shows() {
    for problem in
        (0..200).flat_map(|number| [fixed(number), changing(number), without_lists(number)])
    {
        assert_eq!(overlooked(&problem, |_| ()), None);
    }
    // Steps taken to be of no length must be noticed.
    assert!((0..40).any(|number| overlooked(&fixed(number), Ridge::forget_length).is_some()));
}

#[test]
fn an_onlooker_that_missed_something_looks_afresh() {
    for problem in (0..100).map(fixed) {
        let (view, mut rng) = (problem.sets[0].view(), Stream::new(11, 0, "noise"));
        let mut model = Ridge::new(problem.theta.len(), problem.ridge).unwrap();
        let (mut onlooker, mut missed) = (Onlooker::default(), 0);
        for _ in 0..300 {
            let reach = problem.radius.reach(&model.evidence());
            let contenders = onlooker.contenders(&model, view, reach, problem.sought);
            if missed > 1 {
                let afresh = &mut Onlooker::default();
                assert_eq!(
                    shown(contenders),
                    shown(afresh.contenders(&model, view, reach, problem.sought))
                );
            }
            let chosen = view.get(contenders.index(decide(contenders.scores(), reach, &problem).0));
            missed = rng.index(4);
            for _ in 0..missed {
                let reward = dot(chosen.features(), &problem.theta) + problem.noise * rng.normal();
                model.update(chosen, reward);
            }
        }
    }
}

mod full {
    #[test]
    fn lists_give_the_answers_of_all_actions_in_20000_problems() {
        super::assert_agreement(20_000, super::fixed);
    }

    #[test]
    fn rough_scores_give_the_answers_of_doubles_in_5000_problems() {
        super::assert_agreement(5_000, super::without_lists);
    }

    #[test]
    fn sieves_give_the_answers_of_all_actions_in_6000_problems() {
        super::assert_agreement(6_000, super::changing);
    }
}
