//! What must hold of the set under normal noise of unknown scale.

use super::*;
use crate::actions::ActionSet;
use crate::confidence::{Bell, ConfidenceRadius, Exclusion, Plausible, bell};
use crate::linalg::dot;
use crate::model::BellArms;
use crate::rng::Stream;
use nalgebra::{DMatrix, DVector};

fn random_set(rng: &mut Stream, actions: usize, dim: usize) -> ActionSet {
    ActionSet::from_flat((0..actions * dim).map(|_| rng.normal()).collect(), dim).unwrap()
}

/// The set by its definition: `(1 + ρ)·z² − ρ·RSS` at `θ` is at most zero.
fn excess(model: &BellRidge, rows: &[Vec<f64>], rewards: &[f64], theta: &[f64]) -> f64 {
    let (n, d) = (rows.len(), theta.len());
    let x = DMatrix::from_fn(n, d, |i, j| rows[i][j]);
    let r = DVector::from_column_slice(rewards) - &x * DVector::from_column_slice(theta);
    let prior = DMatrix::from_row_slice(d, d, &model.prior.matrix);
    let total = &prior + x.transpose() * &x;
    let log_det = 0.5 * libm::log(total.determinant() / prior.determinant());
    let moment = x.transpose() * &r;
    let z_sq = moment.dot(&(total.try_inverse().unwrap() * &moment));
    let ratio = bell::refuting_ratio(n as u64, log_det, -libm::log(model.delta)).unwrap();
    (1.0 + ratio) * z_sq - ratio * r.norm_squared()
}

#[test]
fn the_ellipsoid_is_the_set_of_what_is_not_refuted() {
    let mut rng = Stream::new(1, 0, "bell");
    let mut closed = 0;
    for round in 0..60 {
        let dim = 1 + round % 4;
        let set = random_set(&mut rng, 6, dim);
        let mut model = BellRidge::new(set.view(), 0.1).unwrap();
        let (mut rows, mut rewards) = (Vec::new(), Vec::new());
        for _ in 0..30 + round {
            let action = set.view().get(rng.index(6));
            let reward = 0.3 + 0.2 * rng.normal();
            model.update(action, reward);
            rows.push(action.features().to_vec());
            rewards.push(reward);
        }
        let Reach::Ellipsoid { sqrt_beta } = Bell::default().reach(&model.evidence()) else {
            continue;
        };
        closed += 1;
        for _ in 0..20 {
            let theta: Vec<f64> = (0..dim).map(|_| 0.3 * rng.normal()).collect();
            let by_form = model.deviation(&theta).powi(2) - sqrt_beta * sqrt_beta;
            let by_definition = excess(&model, &rows, &rewards, &theta);
            let scale = 1.0 + by_definition.abs();
            assert!((by_form - by_definition).abs() < 1e-9 * scale, "{by_form}");
        }
    }
    assert!(closed > 40, "{closed}");
}

#[test]
fn the_bounded_form_holds_what_is_not_refuted_and_short_enough() {
    let mut rng = Stream::new(2, 0, "bell");
    let set = random_set(&mut rng, 5, 3);
    let mut model = BellRidge::in_context(3, 4.0, 1.0, 0.1).unwrap();
    let (mut rows, mut rewards) = (Vec::new(), Vec::new());
    let mut tried = 0;
    for _ in 0..80 {
        // The last two directions are shown together only.
        let mut row = set.view().get(rng.index(5)).features().to_vec();
        row[2] = row[1];
        let reward = 0.3 * row[0] + 0.05 * rng.normal();
        model.update(Action::new(0, &row), reward);
        rows.push(row);
        rewards.push(reward);
        let Reach::Ellipsoid { sqrt_beta } = Bell::default().reach(&model.evidence()) else {
            continue;
        };
        for _ in 0..20 {
            let mut theta: Vec<f64> = (0..3).map(|_| 0.05 * rng.normal()).collect();
            theta[0] += 0.3;
            if excess(&model, &rows, &rewards, &theta) <= 0.0 {
                tried += 1;
                assert!(model.deviation(&theta) <= sqrt_beta);
            }
        }
    }
    assert!(tried > 100, "{tried}");
}

#[test]
fn units_and_additions_move_the_set_alike() {
    let mut rng = Stream::new(3, 0, "bell");
    let set = random_set(&mut rng, 7, 3);
    let offset = [2.0, -1.0, 0.5];
    let mut models = [0, 1].map(|_| BellRidge::new(set.view(), 0.05).unwrap());
    let mut judged = 0;
    for _ in 0..60 {
        let action = set.view().get(rng.index(7));
        let reward = 0.5 * action.features()[0] + 0.1 * rng.normal();
        models[0].update(action, reward);
        models[1].update(action, 40.0 * reward + dot(action.features(), &offset));
        let [one, other] = models.each_ref().map(|model| Bell::default().reach(&model.evidence()));
        let Reach::Ellipsoid { sqrt_beta } = one else {
            assert_eq!(one, other);
            continue;
        };
        judged += 1;
        assert!((other.ellipsoid() / (40.0 * sqrt_beta) - 1.0).abs() < 1e-6);
        for (i, offset) in offset.iter().enumerate() {
            let moved = 40.0 * models[0].theta_hat()[i] + offset;
            assert!((models[1].theta_hat()[i] - moved).abs() < 1e-9);
        }
    }
    assert!(judged > 20);
}

#[test]
fn arms_are_unit_vectors() {
    let mut rng = Stream::new(4, 0, "bell");
    let rows: Vec<Vec<f64>> =
        (0..5).map(|i| (0..5).map(|j| f64::from(u8::from(i == j))).collect()).collect();
    let (units, arms) = (ActionSet::from_rows(&rows).unwrap(), ActionSet::arms(5).unwrap());
    let mut linear = BellRidge::new(units.view(), 0.05).unwrap();
    let mut plain = BellArms::new(5, 0.05).unwrap();
    let (mut closed, mut out) = (0, 0);
    for _ in 0..80 {
        let arm = rng.index(5);
        let reward = 0.2 * arm as f64 + 0.1 * rng.normal();
        linear.update(units.view().get(arm), reward);
        plain.update(arms.view().get(arm), reward);
        let (a, b) =
            (Bell::default().reach(&linear.evidence()), Bell::default().reach(&plain.evidence()));
        let Reach::Ellipsoid { sqrt_beta } = a else { continue };
        closed += 1;
        assert!((b.ellipsoid() / sqrt_beta - 1.0).abs() < 1e-6);
        let mut left = [Plausible::new(), Plausible::new()];
        let mut scores = Scores::new();
        linear.score_into(units.view(), &mut scores);
        left[0].assess_by(Exclusion::Differences, &linear, units.view(), &scores, a);
        plain.score_into(arms.view(), &mut scores);
        left[1].assess_by(Exclusion::Differences, &plain, arms.view(), &scores, b);
        for arm in 0..5 {
            assert_eq!(left[0].contains(arm), left[1].contains(arm));
            out += usize::from(!left[0].contains(arm));
        }
    }
    assert!(closed > 30 && out > 30, "{closed} {out}");
}

#[test]
fn yes_and_no_rule_nothing_out() {
    let set = ActionSet::arms(2).unwrap();
    let mut plain = BellArms::new(2, 0.05).unwrap();
    for round in 0..200 {
        plain.update(set.view().get(round % 2), f64::from(u8::from(round % 2 == 0)));
        assert_eq!(Bell::default().reach(&plain.evidence()), Reach::Open(Doubt::FewValues));
    }
}

#[test]
fn a_saved_model_goes_on_to_the_bit() {
    use crate::policy::{Code, Policy};
    use crate::state::Durable;
    let mut rng = Stream::new(5, 0, "bell");
    let set = random_set(&mut rng, 6, 3);
    let fresh = || Code::new(BellRidge::new(set.view(), 0.05).unwrap(), Bell::default());
    let mut code = fresh();
    for _ in 0..50 {
        let chosen = code.select(set.view(), &mut rng);
        code.update(set.view().get(chosen), rng.normal());
        let mut again = fresh();
        again.restore(&code.state()).unwrap();
        assert_eq!(again.state(), code.state());
        let next = again.select(set.view(), &mut rng.clone());
        assert_eq!(next, code.select(set.view(), &mut rng.clone()));
    }
}

#[test]
#[should_panic(expected = "in the span of the first set")]
fn an_action_outside_the_first_set_is_refused() {
    let set = ActionSet::from_rows(&[[1.0, 0.0, 1.0], [0.0, 1.0, 1.0]]).unwrap();
    let mut model = BellRidge::new(set.view(), 0.05).unwrap();
    model.update(Action::new(0, &[0.5, 0.5, 1.0]), 0.1);
    model.update(Action::new(0, &[1.0, 0.0, 0.0]), 0.1);
}

/// The model of these sums, where each reward may be off by `error`.
fn from_sums(prior: &BellPrior, rows: &[Vec<f64>], rewards: &[f64], error: f64) -> BellRidge {
    let dim = prior.dim;
    let (mut gram, mut moment) = (vec![0.0; dim * dim], vec![0.0; dim]);
    for (row, reward) in rows.iter().zip(rewards) {
        for i in 0..dim {
            moment[i] += row[i] * reward;
            for j in 0..dim {
                gram[i * dim + j] += row[i] * row[j];
            }
        }
    }
    let squares = rewards.iter().map(|reward| reward * reward).sum();
    let observations = rewards.len() as u64;
    let sums =
        BellSums { observations, gram: &gram, moment: &moment, squares, values: rewards, error };
    BellRidge::from_statistics(prior.clone(), 0.1, sums).unwrap()
}

#[test]
fn sums_give_the_set_of_their_rewards() {
    let mut rng = Stream::new(5, 0, "sums");
    for round in 0..40 {
        let dim = 1 + round % 4;
        // Every other set spans fewer directions than it has features.
        let rank = if round % 2 == 0 { dim } else { 1 };
        let some = random_set(&mut rng, 6, rank);
        let row = |k: usize| (0..dim).map(|i| some.view().get(k).features()[i % rank]).collect();
        let all: Vec<Vec<f64>> = (0..6).map(row).collect();
        let set = ActionSet::from_rows(&all).unwrap();
        let prior = BellPrior::of(set.view());
        let mut model = BellRidge::new(set.view(), 0.1).unwrap();
        let (mut rows, mut rewards) = (Vec::new(), Vec::new());
        for taken in 0..40 {
            let reward = 0.1 * rng.normal();
            model.update(set.view().get(taken % 6), reward);
            rows.push(all[taken % 6].clone());
            rewards.push(reward);
        }
        let parts =
            BellPrior::from_parts(dim, prior.inside(), prior.outside(), prior.length_sq()).unwrap();
        let made = from_sums(&parts, &rows, &rewards, 0.0);
        let [one, other] = [&made, &model].map(|model| model.evidence().own.unwrap());
        assert!((one.ellipsoid() / other.ellipsoid() - 1.0).abs() < 1e-9, "{one:?} {other:?}");
        let mut scores = [Scores::new(), Scores::new()];
        made.score_into(set.view(), &mut scores[0]);
        model.score_into(set.view(), &mut scores[1]);
        for (own, other) in scores[0].width_sq().iter().zip(scores[1].width_sq()) {
            assert!((own / other - 1.0).abs() < 1e-9);
        }
        assert!(!made.takes(0, &all[0]) && model.takes(0, &all[0]));
    }
}

/// Rewards are moved in the direction that moves a hypothesis out of the set.
#[test]
fn the_set_of_moved_rewards_holds_what_that_of_exact_ones_holds() {
    let mut rng = Stream::new(7, 0, "moved");
    let (mut tried, mut mutants) = (0, 0);
    for round in 0..60 {
        let dim = 1 + round % 3;
        let (set, error) = (random_set(&mut rng, 6, dim), 2e-3);
        let bounded = BellPrior::in_context(dim, 3.0, 1.0).unwrap();
        for prior in [BellPrior::of(set.view()), bounded] {
            let rows: Vec<Vec<f64>> =
                (0..40 + round).map(|k| set.view().get(k % 6).features().to_vec()).collect();
            let rewards: Vec<f64> = rows.iter().map(|_| 0.05 * rng.normal()).collect();
            let exact = from_sums(&prior, &rows, &rewards, 0.0);
            if exact.evidence().own.unwrap().doubt().is_some() {
                continue;
            }
            // Just inside of what is not refuted.
            let direction: Vec<f64> = (0..dim).map(|_| rng.normal()).collect();
            let at = |length: f64| -> Vec<f64> {
                let centre = exact.theta_hat().iter().zip(&direction);
                centre.map(|(centre, along)| centre + length * along).collect()
            };
            let (mut inside, mut outside) = (0.0, 10.0);
            for _ in 0..60 {
                let middle = 0.5 * (inside + outside);
                let is_in = excess(&exact, &rows, &rewards, &at(middle)) <= 0.0;
                if is_in { inside = middle } else { outside = middle }
            }
            let theta = at(inside);
            let slope = |place: usize| {
                let mut moved = rewards.clone();
                moved[place] += 1e-6;
                excess(&exact, &rows, &moved, &theta) - excess(&exact, &rows, &rewards, &theta)
            };
            let moved: Vec<f64> =
                (0..rows.len()).map(|k| rewards[k] + error * slope(k).signum()).collect();
            let holds = |error| {
                let model = from_sums(&prior, &rows, &moved, error);
                model.holds(&theta, model.evidence().own.unwrap())
            };
            tried += 1;
            assert!(holds(error), "{theta:?} is out");
            mutants += usize::from(!holds(0.0));
        }
    }
    assert!(tried > 60 && mutants > 30, "of {tried}, {mutants} were out without the allowance");
}
