//! Laws of the set: what is proved about it, checked where the proof can be compared with numbers.

use super::rows::Rows;
use super::set::{LikelihoodSet, best_point, enlarging};
use super::*;
use crate::actions::ActionSet;
use crate::linalg::dot;
use crate::rng::Stream;

const KINDS: [Link; 2] = [Link::Logistic, Link::Poisson];

fn prior(link: Link, theta_norm_bound: f64) -> GlmPrior {
    let offset = if link == Link::Logistic { -1.0 } else { 0.5 };
    let rewards = link.reward_range();
    GlmPrior { link, rewards, offset, theta_norm_bound, delta: 0.05 }
}

/// A few rows with rewards of a parameter of the prior.
fn data(rng: &mut Stream, prior: &GlmPrior, dim: usize, rows: usize, plays: usize) -> RowSums {
    let mut sums = RowSums::new(dim);
    let mut theta: Vec<f64> = (0..dim).map(|_| rng.normal()).collect();
    let length = dot(&theta, &theta).sqrt();
    let size = prior.theta_norm_bound * rng.uniform() / length;
    for entry in &mut theta {
        *entry *= size;
    }
    for _ in 0..rows {
        let x: Vec<f64> = (0..dim).map(|_| 2.0 * rng.uniform() - 1.0).collect();
        let mean = prior.link.mean(prior.offset + dot(&x, &theta));
        for _ in 0..=rng.index(plays) {
            let reward = match prior.link {
                Link::Logistic => f64::from(u8::from(rng.uniform() < mean)),
                Link::Poisson => poisson(rng, mean),
            };
            sums.add(&x, &Tally::of(&[reward]).unwrap()).unwrap();
        }
    }
    sums
}

fn poisson(rng: &mut Stream, mean: f64) -> f64 {
    let (mut left, mut count) = (mean.min(500.0), 0.0);
    loop {
        left += libm::log(rng.uniform());
        if left < 0.0 {
            return count;
        }
        count += 1.0;
    }
}

/// `f(θ)`.
fn loss(prior: &GlmPrior, sums: &RowSums, theta: &[f64]) -> f64 {
    let cumulant = |z: f64| match prior.link {
        Link::Logistic => z.max(0.0) + libm::log1p(libm::exp(-z.abs())),
        Link::Poisson => libm::exp(z),
    };
    let of_row = |(x, tally): (Vec<f64>, &Tally)| {
        let z = prior.offset + dot(&x, theta);
        tally.count() as f64 * cumulant(z) - tally.reward_sum() * z
    };
    sums.iter().map(of_row).sum::<f64>() + 0.5 * prior.ridge(theta.len()) * dot(theta, theta)
}

/// A point near the optimum, or at it.
fn points(rng: &mut Stream, prior: &GlmPrior, rows: &Rows) -> [Vec<f64>; 2] {
    let best = best_point(prior, rows).unwrap();
    let size = 0.3 * prior.theta_norm_bound * rng.uniform();
    let away = best.iter().map(|entry| entry + size * rng.normal()).collect();
    [best, away]
}

/// How far a point is from the centre of the set, as a share of the radius, squared.
fn share(set: &LikelihoodSet, theta: &[f64]) -> Option<f64> {
    let Reach::Curved(Curved { radius, .. }) = set.reach else { return None };
    let off: Vec<f64> = theta.iter().zip(&set.centre).map(|(a, b)| a - b).collect();
    let product: Vec<f64> = set.form.chunks_exact(off.len()).map(|row| dot(row, &off)).collect();
    Some(dot(&off, &product) / (radius * radius))
}

/// The largest multiple of a direction from the optimum at which the loss is within the budget and
/// the point within the ball.
fn edge(
    prior: &GlmPrior,
    sums: &RowSums,
    (best, level): (&[f64], f64),
    direction: &[f64],
) -> Vec<f64> {
    let at = |scale: f64| -> Vec<f64> {
        best.iter().zip(direction).map(|(entry, by)| entry + scale * by).collect()
    };
    let inside = |theta: &[f64]| {
        loss(prior, sums, theta) <= level
            && dot(theta, theta) <= prior.theta_norm_bound * prior.theta_norm_bound
    };
    let (mut low, mut high) = (0.0, 1e-3);
    while inside(&at(high)) && high < 1e6 {
        (low, high) = (high, 2.0 * high);
    }
    for _ in 0..50 {
        let middle = 0.5 * (low + high);
        if inside(&at(middle)) { low = middle } else { high = middle }
    }
    at(low)
}

/// How many points of likelihood sets are outside of the ellipsoid, of how many, and the largest
/// share of the way to its end; `form` may be altered.
fn outside(
    seed: u64,
    problems: usize,
    alter: impl Fn(&GlmPrior, &Rows, LikelihoodSet) -> LikelihoodSet,
) -> (u64, u64, f64) {
    let mut rng = Stream::new(seed, 0, "likelihood set");
    let (mut out, mut all, mut farthest) = (0, 0, 0.0_f64);
    for problem in 0..problems {
        let prior = prior(KINDS[problem % 2], 0.5 + 4.0 * rng.uniform());
        let dim = 1 + rng.index(4);
        let (many, plays) = (1 + rng.index(8), [1, 5, 60][rng.index(3)]);
        let sums = data(&mut rng, &prior, dim, many, plays);
        let rows = Rows::new(&sums, Isa::detect());
        let places = points(&mut rng, &prior, &rows);
        for point in &places {
            let set = LikelihoodSet::at(&prior, &rows, point).unwrap();
            let level = loss(&prior, &sums, point) + set.budget.total();
            let set = alter(&prior, &rows, set);
            for _ in 0..25 {
                let direction: Vec<f64> = (0..dim).map(|_| rng.normal()).collect();
                let theta = edge(&prior, &sums, (&places[0], level), &direction);
                let Some(share) = share(&set, &theta) else { continue };
                all += 1;
                out += u64::from(share > 1.0 + 1e-9);
                farthest = farthest.max(share);
            }
        }
    }
    (out, all, farthest)
}

#[test]
fn the_ellipsoid_holds_the_likelihood_set_from_any_point() {
    let (out, all, farthest) = outside(1, 600, |_, _, set| set);
    assert!(out == 0 && all > 20_000, "{out} of {all}, {farthest}");
    // It is not needlessly large everywhere.
    assert!(farthest > 0.9, "{farthest}");
}

mod full {
    #[test]
    fn the_ellipsoid_holds_a_million_points() {
        let (out, all, _) = super::outside(2, 20_500, |_, _, set| set);
        assert!(out == 0 && all > 1_000_000, "{out} of {all}");
    }
}

#[test]
fn without_the_discount_for_curvature_it_would_not() {
    let (out, ..) = outside(1, 600, |prior, rows, set| {
        let moved = rows.dots(&set.point);
        let weight =
            |(count, moved): (&f64, &f64)| count * prior.link.variance(prior.offset + moved);
        let weights: Vec<f64> = rows.counts.iter().zip(&moved).map(weight).collect();
        LikelihoodSet { form: rows.gram(prior.ridge(rows.dim), &weights), ..set }
    });
    assert!(out > 0);
}

#[test]
fn radii_cover_the_rounding_of_widths() {
    let mut rng = Stream::new(9, 0, "rounding");
    let (mut covered, mut largest) = (0.0_f64, 0.0_f64);
    for round in 0..400 {
        let dim = 2 + rng.index(7);
        // Rows that nearly agree, in units of their own, each with far more rewards than the ridge.
        let unit: Vec<f64> = (0..dim).map(|_| libm::exp(8.0 * rng.uniform() - 4.0)).collect();
        let apart = libm::exp(-9.0 * rng.uniform());
        let row = |rng: &mut Stream| -> Vec<f64> {
            unit.iter().map(|unit| unit * (1.0 + apart * rng.normal())).collect()
        };
        let mut sums = RowSums::new(dim);
        let many = 1 + rng.index(dim + 3);
        let probes: Vec<Vec<f64>> = (0..many + 5).map(|_| row(&mut rng)).collect();
        // A power of four, so that its root is exact.
        let count = 1_u64 << (2 * rng.index(14));
        for row in &probes[..many] {
            sums.add(row, &Tally::yes_no(count / 2, count, 0.0, 1.0).unwrap()).unwrap();
        }
        let (rows, ridge) = (Rows::new(&sums, Isa::detect()), 1.0);
        let weights = vec![count as f64 * 0.25; many];
        let form = rows.gram(ridge, &weights);
        let Ok(factor) = Cholesky::new(&form, dim) else { continue };
        let mut inverse = vec![0.0; dim * dim];
        factor.inverse_into(&mut inverse);
        let mut precise = plausibly_testkit::PreciseGram::new(dim, ridge);
        for (row, _) in sums.iter() {
            let root = (count as f64 * 0.25).sqrt();
            precise.add(&row.iter().map(|x| root * x).collect::<Vec<f64>>());
        }
        let allowed = enlarging(&form, &inverse, dim) - 1.0;
        let set = ActionSet::from_rows(&probes).unwrap();
        let (mut unused, mut width_sq) = (vec![0.0; probes.len()], vec![0.0; probes.len()]);
        Isa::detect().rebuild(
            set.view().blocks(),
            &vec![0.0; dim],
            &inverse,
            &mut unused,
            &mut width_sq,
        );
        for (width_sq, exact) in width_sq.iter().zip(precise.widths_sq(&probes)) {
            let off = (width_sq.sqrt() / exact.sqrt() - 1.0).abs();
            assert!(off <= allowed, "{round}: {off} {allowed}");
            (covered, largest) = (covered.max(off / allowed), largest.max(off));
        }
    }
    // A share that does not grow with the condition would not do, and this one is not for show.
    assert!(largest > 1e-9 && covered > 1e-3, "{largest} {covered}");
}

/// `−log ∫ e^(−ℓ) dN(0, I/λ)` less `f(θ₀)`, by sums over a grid, in one or two dimensions.
///
/// The grid lies around the optimum, in units of the curvature there, and its steps grow with the
/// distance: `θ = best + L⁻ᵀ·sinh(s)`. So it resolves sharp peaks and reaches the tails.
fn exact_evidence(
    prior: &GlmPrior,
    sums: &RowSums,
    (best, factor): (&[f64], &Cholesky),
    point: &[f64],
) -> f64 {
    let dim = point.len();
    let (steps, reach) = (160, 8.0);
    let cell = 2.0 * reach / f64::from(steps);
    let along: Vec<f64> = (0..=steps).map(|step| -reach + cell * f64::from(step)).collect();
    let floor = loss(prior, sums, best);
    let density = |s: &[f64]| {
        let mut theta: Vec<f64> = s.iter().map(|s| libm::sinh(*s)).collect();
        factor.solve_upper(&mut theta);
        theta.iter_mut().zip(best).for_each(|(entry, best)| *entry += best);
        let stretch: f64 = s.iter().map(|s| cell * libm::cosh(*s)).product();
        libm::exp(floor - loss(prior, sums, &theta)) * stretch
    };
    let total: f64 = match dim {
        1 => along.iter().map(|s| density(&[*s])).sum(),
        _ => along.iter().flat_map(|s| along.iter().map(|t| density(&[*s, *t]))).sum(),
    };
    let normal = 0.5 * dim as f64 * libm::log(std::f64::consts::TAU / prior.ridge(dim));
    let total = libm::log(total) - 0.5 * factor.log_det();
    floor - total + normal - loss(prior, sums, point)
}

#[test]
fn the_evidence_is_bounded_from_any_point() {
    let mut rng = Stream::new(2, 0, "evidence");
    let (mut worst, mut total, mut best_places) = (f64::INFINITY, 0.0, 0.0);
    for problem in 0..40 {
        let prior = prior(KINDS[problem % 2], 0.5 + 3.0 * rng.uniform());
        let (dim, many) = (1 + rng.index(2), 1 + rng.index(5));
        let sums = data(&mut rng, &prior, dim, many, 8);
        let rows = Rows::new(&sums, Isa::detect());
        let places = points(&mut rng, &prior, &rows);
        for (place, point) in places.iter().enumerate() {
            let bound = LikelihoodSet::at(&prior, &rows, point).unwrap().budget.evidence;
            let peak = LikelihoodSet::at(&prior, &rows, &places[0]).unwrap().factor;
            let exact = exact_evidence(&prior, &sums, (&places[0], &peak), point);
            worst = worst.min(bound - exact);
            if place == 0 {
                (total, best_places) = (total + bound - exact, best_places + 1.0);
            }
        }
    }
    assert!(worst > -1e-6, "{worst}");
    // A bound of much more would be valid and useless.
    assert!(total / best_places < 0.4, "{}", total / best_places);
}

#[test]
fn the_first_bound_has_the_larger_root() {
    // From zero up the function falls first where the point is off: a search from there finds
    // nothing.
    let prior = prior(Link::Logistic, 2.0);
    let mut sums = RowSums::new(1);
    sums.add(&[1.0], &Tally::yes_no(3, 40, 0.0, 1.0).unwrap()).unwrap();
    let rows = Rows::new(&sums, Isa::detect());
    let best = best_point(&prior, &rows).unwrap();
    for step in 1..40 {
        let point = vec![best[0] + 0.05 * f64::from(step)];
        let set = LikelihoodSet::at(&prior, &rows, &point).unwrap();
        assert!(share(&set, &best).is_some_and(|share| share < 1.0), "{step}");
    }
}

fn play(model: &mut Glm, set: &ActionSet, rounds: usize, seed: u64) {
    let mut rng = Stream::new(seed, 0, "plays");
    for _ in 0..rounds {
        let action = set.view().get(rng.index(set.view().len()));
        model.update(action, f64::from(u8::from(rng.uniform() < 0.2)));
    }
}

fn small_set() -> ActionSet {
    ActionSet::from_rows(&[[1.0, 0.2], [0.3, -0.7], [-0.5, 0.5], [0.0, 0.0]]).unwrap()
}

#[test]
fn a_set_is_made_at_fixed_numbers_of_rewards() {
    let set = small_set();
    let mut model = Glm::new(2, prior(Link::Logistic, 2.0)).unwrap();
    let mut made = Vec::new();
    for round in 1..=1000_u64 {
        play(&mut model, &set, 1, round);
        if model.since.is_empty() {
            made.push(round);
            assert!(model.design().is_none());
        } else {
            assert!(model.design().is_some());
        }
    }
    assert_eq!(made[..200], (1..=200).collect::<Vec<u64>>());
    assert_eq!(made[200..203], [202, 204, 206]);
    let last = *made.last().unwrap();
    assert_eq!((model.fitted.outcomes(), model.evidence().observations), (last, 1000));
}

#[test]
fn counted_decisions_are_evidence_and_no_reason_to_refit() {
    let set = small_set();
    let mut model = Glm::new(2, prior(Link::Logistic, 2.0)).unwrap();
    play(&mut model, &set, 399, 1);
    let (fitted, generation) = (model.fitted.outcomes(), model.generation());
    assert_eq!((fitted, model.since.len()), (398, 1));
    for more in 1..=50 {
        model.count(set.view().get(more % 3));
        assert_eq!(model.evidence().observations, 399 + more as u64);
    }
    assert_eq!((model.fitted.outcomes(), model.generation()), (fitted, generation));
    // The set is made from rewards alone, and a design starts again with it.
    play(&mut model, &set, 1, 2);
    assert_eq!((model.generation(), model.evidence().observations), (generation + 1, 400));
}

#[test]
fn rewards_in_any_order_give_the_same_bits() {
    let set = small_set();
    let prior = prior(Link::Logistic, 2.0);
    let mut rng = Stream::new(4, 0, "order");
    let mut rewards: Vec<(usize, f64)> =
        (0..150).map(|_| (rng.index(4), (8.0 * rng.uniform()).round() / 8.0)).collect();
    let bits = |model: &Glm| {
        let LikelihoodSet { centre, inverse, .. } = &model.solved.set;
        let reach = format!("{:?}", model.solved.set.reach);
        (centre.iter().chain(inverse).map(|x| x.to_bits()).collect::<Vec<_>>(), reach)
    };
    let fitted = |rewards: &[(usize, f64)]| {
        let mut model = Glm::new(2, prior).unwrap();
        for (action, reward) in rewards {
            model.update(set.view().get(*action), *reward);
        }
        model
    };
    let first = bits(&fitted(&rewards));
    for i in (1..rewards.len()).rev() {
        rewards.swap(i, rng.index(i + 1));
    }
    let streamed = fitted(&rewards);
    assert_eq!(bits(&streamed), first);
    let mut sums = RowSums::new(2);
    for (action, reward) in &rewards {
        let row = set.view().get(*action).features();
        sums.add(row, &Tally::of(&[*reward, 1.0]).unwrap()).unwrap();
        sums.retract(row, &Tally::of(&[1.0]).unwrap()).unwrap();
    }
    assert_eq!(bits(&Glm::from_rows(sums, prior).unwrap()), first);
}

#[test]
fn every_instruction_set_gives_the_same_bits() {
    let mut rng = Stream::new(6, 0, "instruction sets");
    for problem in 0..20 {
        let prior = prior(KINDS[problem % 2], 2.0);
        let (dim, many) = (1 + rng.index(20), 1 + rng.index(40));
        let sums = data(&mut rng, &prior, dim, many, 5);
        let made = |isa| {
            let rows = Rows::new(&sums, isa);
            let set =
                LikelihoodSet::at(&prior, &rows, &best_point(&prior, &rows).unwrap()).unwrap();
            let bits: Vec<u64> =
                set.centre.iter().chain(&set.inverse).map(|x| x.to_bits()).collect();
            (bits, format!("{:?}", set.reach))
        };
        let sets = Isa::available();
        for isa in &sets {
            assert_eq!(made(*isa), made(sets[0]), "{isa:?}");
        }
    }
}

#[test]
fn hard_data_give_wide_intervals_and_no_nan() {
    let all_of = |successes, outcomes| Tally::yes_no(successes, outcomes, 0.0, 1.0).unwrap();
    let one_row = |row: &[f64], tally: Tally| {
        let mut sums = RowSums::new(row.len());
        sums.add(row, &tally).unwrap();
        sums
    };
    let mut separated = one_row(&[1.0, 0.0], all_of(0, 1000));
    separated.add(&[0.0, 1.0], &all_of(1000, 1000)).unwrap();
    let cases = [
        (one_row(&[1.0, 1.0], all_of(0, 1000)), 3.0),
        (one_row(&[1.0, 1.0], all_of(1_000_000, 1_000_000)), 3.0),
        (separated, 3.0),
        (one_row(&[0.0, 0.0], all_of(5, 9)), 3.0),
        (one_row(&[1e-80, 1e80], all_of(5, 9)), 3.0),
        (one_row(&[1e3, -1e3], all_of(5, 9)), 1e-3),
        (one_row(&[1.0, -1.0], all_of(1, 1 << 50)), 3.0),
    ];
    for (place, (sums, bound)) in cases.into_iter().enumerate() {
        let prior = GlmPrior { offset: -3.0, ..prior(Link::Logistic, bound) };
        let model = Glm::from_rows(sums, prior).unwrap();
        let actions = small_set();
        let mut scores = Scores::new();
        model.score_into(actions.view(), &mut scores);
        assert!(scores.mean.iter().all(|mean| mean.is_finite()), "{place}");
        assert!(scores.width_sq.iter().all(|width| *width >= 0.0), "{place}");
        let reach = model.evidence().own.unwrap();
        match reach {
            Reach::Curved(curved) => assert!(curved.radius > 0.0, "{place}"),
            Reach::Open(doubt) => assert!(
                matches!(doubt, Doubt::Precision | Doubt::Refuted | Doubt::TooFew),
                "{place}"
            ),
            _ => panic!("{reach:?}"),
        }
    }
}

#[test]
fn a_ball_without_the_data_is_refuted() {
    // A factor of 1.1 around 5 % cannot be, where half of ten thousand people click.
    let prior = GlmPrior::around(Link::Logistic, (0.0, 1.0), 0.05, 1.1, (1, 1.0), 0.05).unwrap();
    let mut sums = RowSums::new(1);
    sums.add(&[1.0], &Tally::yes_no(5_000, 10_000, 0.0, 1.0).unwrap()).unwrap();
    let model = Glm::from_rows(sums, prior).unwrap();
    assert_eq!(model.evidence().own, Some(Reach::Open(Doubt::Refuted)));
    // A factor of 30 can, and it says that the estimate is far from the usual rate.
    let prior = GlmPrior::around(Link::Logistic, (0.0, 1.0), 0.05, 30.0, (1, 1.0), 0.05).unwrap();
    let model = Glm::from_rows(model.fitted.as_ref().clone(), prior).unwrap();
    let Some(Reach::Curved(curved)) = model.evidence().own else { panic!() };
    assert!(curved.leaning > Curved::LEANING, "{curved:?}");
}

#[test]
fn a_state_is_read_back_to_the_bit() {
    use crate::{Code, Likelihood, Policy as _, state::Durable as _};
    let set = small_set();
    let new = || Code::new(Glm::new(2, prior(Link::Logistic, 2.0)).unwrap(), Likelihood::default());
    let (mut rng, mut whole) = (Stream::new(8, 0, "state"), new());
    for round in 0..700 {
        let chosen = whole.select(set.view(), &mut rng);
        let action = set.view().get(chosen);
        if round % 3 > 0 {
            whole.decided(action);
        }
        if round % 3 != 2 {
            whole.update(action, f64::from(u8::from(rng.uniform() < 0.3)));
        }
        if round % 50 == 49 {
            let mut copy = new();
            copy.restore(&whole.state()).unwrap();
            assert_eq!(copy.state(), whole.state());
            whole = copy;
        }
    }
}

#[test]
fn rewards_of_another_kind_are_refused() {
    use crate::{Code, Explain as _, Likelihood};
    let set = small_set();
    let action = set.view().get(0);
    let mut code =
        Code::new(Glm::new(2, prior(Link::Logistic, 2.0)).unwrap(), Likelihood::default());
    for reward in [-0.1, 1.1, f64::NAN, f64::INFINITY] {
        assert!(code.try_update(action, reward).is_err(), "{reward}");
    }
    assert!(code.try_update(action, 0.123).is_ok());
    // What would be rounded to a yes or a no.
    for reward in [1e-8, 1.0 - 1e-8, libm::exp2(-25.0), f64::MIN_POSITIVE] {
        let refused = Misfit::NearEnd { reward, low: 0.0, high: 1.0 };
        assert_eq!(code.try_update(action, reward), Err(refused));
    }
    let above = libm::exp2(-25.0) * 1.001;
    assert!(code.try_update(action, above).is_ok() && code.try_update(action, 1.0 - above).is_ok());
    let scaled = GlmPrior { rewards: (0.1, 0.7), ..prior(Link::Logistic, 2.0) };
    let mut model = Glm::new(2, scaled).unwrap();
    for reward in [0.1, 0.7, 0.3] {
        model.update(action, reward);
    }
    assert!(model.check_reward(0.7 - 1e-9).is_err());
    let mut code =
        Code::new(Glm::new(2, prior(Link::Poisson, 2.0)).unwrap(), Likelihood::default());
    for reward in [-1.0, 0.1, 1025.0] {
        assert!(code.try_update(action, reward).is_err(), "{reward}");
    }
    assert!(code.try_update(action, 7.0).is_ok());
    let accepts = |link, rewards: &[f64]| {
        let mut sums = RowSums::new(1);
        sums.add(&[1.0], &Tally::of(rewards).unwrap()).unwrap();
        Glm::from_rows(sums, prior(link, 1.0)).is_ok()
    };
    // The sums of the second are those of no rewards in [0, 1], although Σy² ≤ Σy.
    for rewards in [[-0.5, 1.5], [-0.1, 0.6], [-0.1, 0.1]] {
        assert!(!accepts(Link::Logistic, &rewards), "{rewards:?}");
    }
    assert!(!accepts(Link::Poisson, &[1023.0, -1.0]) && !accepts(Link::Poisson, &[-1.0, 1.0]));
    // Those of 0.2 and 0.8 are, whatever they were.
    for rewards in [[0.0, 0.0], [1.0, 1.0], [0.2, 0.8], [0.0, 0.3], [1.0, 0.3]] {
        assert!(accepts(Link::Logistic, &rewards), "{rewards:?}");
    }
    assert!(accepts(Link::Poisson, &[1024.0, 3.0]) && accepts(Link::Poisson, &[1024.0, 1024.0]));
    for prior in [
        GlmPrior::around(Link::Logistic, (0.0, 1.0), 0.0, 10.0, (1, 1.0), 0.05),
        GlmPrior::around(Link::Logistic, (0.0, 1.0), 1.0, 10.0, (1, 1.0), 0.05),
        GlmPrior::around(Link::Logistic, (0.0, 1.0), 0.5, 1.0, (1, 1.0), 0.05),
        GlmPrior::around(Link::Poisson, (0.0, 1024.0), -1.0, 10.0, (1, 1.0), 0.05),
        GlmPrior::around(Link::Poisson, (0.0, 1024.0), 1.0, 10.0, (1, 1.0), 1.0),
    ] {
        assert!(prior.is_err(), "{prior:?}");
    }
}
