//! Evidence against densities and grids that share no code with it.

use super::*;
use crate::rng::Stream;
use nalgebra::{DMatrix, DVector};

/// `log Γ(a) + a − a·log a`, which `stirling` is below.
fn exact_constant(a: f64) -> f64 {
    libm::lgamma(a) + a - a * libm::log(a)
}

/// The logarithm of the density of a multivariate t with two degrees of freedom and shape
/// `σ²·K`, less that of normal noise of scale σ.
fn log_quotient(residuals: &DVector<f64>, k: &DMatrix<f64>, sigma: f64) -> f64 {
    let n = residuals.len() as f64;
    let inverse = k.clone().try_inverse().unwrap();
    let form = (residuals.transpose() * inverse * residuals)[(0, 0)] / (sigma * sigma);
    let log_sigmas = n * libm::log(sigma);
    let t = libm::lgamma(1.0 + n / 2.0)
        - n / 2.0 * libm::log(std::f64::consts::TAU)
        - log_sigmas
        - 0.5 * libm::log(k.determinant())
        - (1.0 + n / 2.0) * libm::log1p(form / 2.0);
    let normal = -n / 2.0 * libm::log(std::f64::consts::TAU)
        - log_sigmas
        - residuals.norm_squared() / (2.0 * sigma * sigma);
    t - normal
}

#[test]
fn evidence_is_the_least_quotient_of_a_t_and_a_normal_density() {
    let mut rng = Stream::new(1, 0, "bell");
    let mut mutants = 0;
    for round in 0..200 {
        let (n, d) = (4 + round % 9, 1 + round % 3);
        let x = DMatrix::from_fn(n, d, |_, _| rng.normal());
        let r = DVector::from_fn(n, |i, _| 0.4 * rng.normal() + 0.5 * x[(i, 0)]);
        let prior = 2.0 * DMatrix::<f64>::identity(d, d);
        let total = &prior + x.transpose() * &x;
        let log_det = 0.5 * libm::log(total.determinant() / prior.determinant());
        let moment = x.transpose() * &r;
        let solved = total.try_inverse().unwrap() * &moment;
        let (rss, z_sq) = (r.norm_squared(), moment.dot(&solved));
        let k = DMatrix::identity(n, n) + &x * x.transpose() / 2.0;
        let a = shape(n as u64);
        let ratio = z_sq / (rss - z_sq);
        let found = log_evidence(n as u64, ratio, log_det);
        // Stirling's series is below, by less than its next term.
        let short = exact_constant(a) - stirling(a);
        assert!((0.0..1.0 / (1260.0 * a.powi(5))).contains(&short), "{short}");
        if ratio >= a - 1.0 {
            continue;
        }
        let sigma = (rss / (2.0 * (a - 1.0 - ratio))).sqrt();
        let exact = log_quotient(&r, &k, sigma);
        assert!((found + short - exact).abs() < 1e-12 * (1.0 + 10.0 * exact.abs()), "{exact}");
        for step in -200..=200 {
            let other = sigma * libm::exp(0.02 * f64::from(step));
            assert!(log_quotient(&r, &k, other) >= exact - 1e-9, "a smaller one at {other}");
        }
        mutants += usize::from((found + log_det + short - exact).abs() > 1e-3);
    }
    assert!(mutants > 100, "the determinant left out was noticed {mutants} times");
}

#[test]
fn the_root_is_where_the_evidence_suffices() {
    assert_eq!(refuting_ratio(0, 0.0, 3.0), None);
    assert_eq!(refuting_ratio(5, 0.5, 3.0), None);
    for n in [12_u64, 20, 100, 10_000, 10_000_000] {
        for log_det in [0.5, 1.0, 0.1 * libm::log(n as f64)] {
            let ratio = refuting_ratio(n, log_det, 2.0).unwrap();
            assert!(log_evidence(n, ratio, log_det) >= 2.0 - 1e-9);
            assert!(log_evidence(n, ratio * (1.0 - 1e-6), log_det) < 2.0);
        }
    }
}

fn tally(values: &[f64]) -> Earnings {
    let squares = values.iter().map(|y| y * y).sum();
    Earnings { count: values.len() as u64, total: values.iter().sum(), squares }
}

/// `log E` of the pair of means, from densities of their own rewards alone.
fn pair_evidence(samples: [&[f64]; 2], means: [f64; 2], own: bool) -> f64 {
    let parts = [0, 1].map(|i| {
        let n = samples[i].len() as f64;
        let rss: f64 = samples[i].iter().map(|y| (y - means[i]).powi(2)).sum();
        let sum: f64 = samples[i].iter().map(|y| y - means[i]).sum();
        (samples[i].len() as u64, rss, sum * sum / (n + 2.0), 0.5 * libm::log1p(n / 2.0))
    });
    let evidence = |n, rss: f64, z_sq: f64, log_det| log_evidence(n, z_sq / (rss - z_sq), log_det);
    let [(n, rss, z, d), (m, other_rss, other_z, other_d)] = parts;
    if own {
        evidence(n, rss, z, d) + evidence(m, other_rss, other_z, other_d)
    } else {
        evidence(n + m, rss + other_rss, z + other_z, d + other_d)
    }
}

#[test]
fn a_pair_is_decided_where_all_equal_means_are_refuted() {
    let mut rng = Stream::new(2, 0, "pairs");
    let mut decided = [0, 0];
    for round in 0..2000 {
        let (n, m) = (8 + round % 30, 8 + round % 17);
        let gap = 3.0 * rng.uniform();
        let a: Vec<f64> = (0..n).map(|_| 5.0 + gap + rng.normal()).collect();
        let b: Vec<f64> = (0..m).map(|_| 5.0 + rng.normal()).collect();
        let needed = 1.0 + 6.0 * rng.uniform();
        let (one, other) = (tally(&a), tally(&b));
        for own in [false, true] {
            let rule = if own { rules_out_by_own_scales } else { rules_out };
            let Some((low, high)) = rule(&one, &other, needed, 0.0) else { continue };
            decided[usize::from(own)] += 1;
            assert!(0.0 <= low && low < one.mean() - other.mean() && high > low);
            // Every pair of means whose difference is outside is refuted.
            for difference in [0.0, low - 1e-6, high + 1e-6, -gap] {
                for step in -300..=300 {
                    let mean = other.mean() + f64::from(step) * 0.02;
                    let evidence = pair_evidence([&a, &b], [mean + difference, mean], own);
                    assert!(evidence >= needed - 1e-6, "{evidence} of {needed}");
                }
            }
            // A tenth of the way inside some pair is not.
            if !own {
                let inside = low + 0.1 * (high - low);
                let least = (-3000..=3000).map(|step| {
                    let mean = other.mean() + f64::from(step) * 0.001;
                    pair_evidence([&a, &b], [mean + inside, mean], own)
                });
                assert!(least.fold(f64::INFINITY, f64::min) < needed);
            }
        }
    }
    assert!(decided.iter().all(|decided| *decided > 200), "{decided:?}");
}

#[test]
fn pairs_depend_on_no_unit_and_no_origin() {
    let mut rng = Stream::new(3, 0, "units");
    let a: Vec<f64> = (0..20).map(|_| 4.0 + rng.normal()).collect();
    let b: Vec<f64> = (0..25).map(|_| rng.normal()).collect();
    for rule in [rules_out, rules_out_by_own_scales] {
        let (low, high) = rule(&tally(&a), &tally(&b), 3.0, 0.0).unwrap();
        let moved = |y: &f64| 7.0 + 0.01 * y;
        let [c, d] = [&a, &b].map(|y| tally(&y.iter().map(moved).collect::<Vec<f64>>()));
        let (scaled_low, scaled_high) = rule(&c, &d, 3.0, 0.0).unwrap();
        assert!((100.0 * scaled_low - low).abs() < 1e-5, "{scaled_low} {low}");
        assert!((100.0 * scaled_high - high).abs() < 1e-5, "{scaled_high} {high}");
        assert_eq!(rule(&Earnings::default(), &tally(&a), 3.0, 0.0), None);
        assert_eq!(rule(&tally(&b), &tally(&a), 3.0, 0.0), None);
    }
}

/// The residuals of a true hypothesis so far, by the sums that evidence depends on.
struct Past {
    x: DMatrix<f64>,
    r: DVector<f64>,
    total: DMatrix<f64>,
    moment: DVector<f64>,
    rss: f64,
    /// `D`.
    log_det: f64,
}

/// Sums after one more residual: how many, `RSS`, `z²` and `D`.
#[derive(Clone, Copy)]
struct Sums {
    n: f64,
    rss: f64,
    z_sq: f64,
    log_det: f64,
}

/// `log E(θ, σ)`, the closed form.
fn closed_form(sums: Sums, sigma: f64) -> f64 {
    let (a, unit) = (1.0 + 0.5 * sums.n, 2.0 * sigma * sigma);
    libm::lgamma(a) - a * libm::log1p((sums.rss - sums.z_sq) / unit) + sums.rss / unit
        - sums.log_det
}

/// The mutant: the scale is averaged over in the same way on both sides, and cancels.
fn t_mixture(sums: Sums) -> f64 {
    if sums.n == 0.0 {
        return 0.0;
    }
    -0.5 * sums.n * libm::log1p(-sums.z_sq / sums.rss) - sums.log_det
}

impl Past {
    /// Noise of scale `luck`, where σ = 1 is true.
    fn draw(n: usize, d: usize, luck: f64, rng: &mut Stream) -> Self {
        let x = DMatrix::from_fn(n, d, |_, _| rng.normal());
        let r = DVector::from_fn(n, |_, _| luck * rng.normal());
        Self::of(x, r)
    }

    fn of(x: DMatrix<f64>, r: DVector<f64>) -> Self {
        let d = x.ncols();
        let prior = 2.0 * DMatrix::<f64>::identity(d, d);
        let total = &prior + x.transpose() * &x;
        let log_det = 0.5 * libm::log(total.determinant() / prior.determinant());
        let (moment, rss) = (x.transpose() * &r, r.norm_squared());
        Self { x, r, total, moment, rss, log_det }
    }

    fn sums(&self) -> Sums {
        let solved = self.total.clone().try_inverse().unwrap() * &self.moment;
        let (n, z_sq) = (self.r.len() as f64, self.moment.dot(&solved));
        Sums { n, rss: self.rss, z_sq, log_det: self.log_det }
    }

    /// The past with one more outcome.
    fn then(&self, x: &DVector<f64>, y: f64) -> Self {
        let n = self.r.len();
        let mut rows = self.x.clone().insert_row(n, 0.0);
        rows.set_row(n, &x.transpose());
        Self::of(rows, self.r.clone().push(y))
    }

    /// `log_quotient` at σ, from the residuals themselves.
    fn by_densities(&self, sigma: f64) -> f64 {
        let n = self.r.len();
        log_quotient(
            &self.r,
            &(DMatrix::identity(n, n) + &self.x * self.x.transpose() / 2.0),
            sigma,
        )
    }

    /// The expectation of `exp(after − before)` over the next outcome `y ~ N(0, 1)`, given this
    /// past and the next feature.
    ///
    /// With `y = m + w·sinh(u)`, `m` the centre of the predictive density and `w` its length, the
    /// integrand for the closed form is `cosh(u)^(−2a)` times a constant, `a ≥ 1`. Beyond ±14 lie
    /// `1 − tanh 14 < 2e-12` of it, and a sum with step 1/64 misses less than that. At `u` the
    /// exponents are of the size `w²·cosh(u)²`, so their rounding is 2e-16 of that, and is weighted
    /// with at most `cosh(u)^(−2)`: with `w² < 1e4` all of the points together add less than 1e-10.
    fn next_mean(&self, x: &DVector<f64>, log_e: impl Fn(Sums) -> f64) -> f64 {
        let before = self.sums();
        let inverse = self.total.clone().try_inverse().unwrap();
        let spread = 1.0 + x.dot(&(&inverse * x));
        let centre = x.dot(&(&inverse * &self.moment));
        let length = ((2.0 + before.rss - before.z_sq) * spread).sqrt();
        let later = (&self.total + x * x.transpose()).try_inverse().unwrap();
        let log_det = before.log_det + 0.5 * libm::log(spread);
        let step = 1.0 / 64.0;
        let at = |point: i32| {
            let u = step * f64::from(point);
            let y = centre + length * libm::sinh(u);
            let moment = &self.moment + x * y;
            let (rss, z_sq) = (self.rss + y * y, moment.dot(&(&later * &moment)));
            let after = log_e(Sums { n: before.n + 1.0, rss, z_sq, log_det });
            let log_density = -0.5 * (y * y + libm::log(std::f64::consts::TAU));
            libm::exp(after - log_e(before) + log_density) * length * libm::cosh(u) * step
        };
        (-14 * 64..=14 * 64).map(at).sum()
    }
}

#[test]
fn evidence_at_the_true_scale_does_not_grow_on_average_after_any_past() {
    let mut rng = Stream::new(4, 0, "past");
    let (mut lucky, mut wrong) = (0, 0);
    for round in 0..120 {
        let (n, d) = ((round * 7) % 31, 1 + round % 3);
        let luck = [0.02, 0.3, 1.0, 2.0][round % 4];
        let past = Past::draw(n, d, luck, &mut rng);
        let random = DVector::from_fn(d, |_, _| rng.normal());
        // Nothing, anything, something long, and along the error so far.
        let long = random.normalize() * 8.0;
        let along = &past.moment / past.moment.norm().max(1e-300);
        for x in [DVector::zeros(d), random, long, along] {
            let y = rng.normal();
            let next = past.then(&x, y);
            let sigma = libm::exp(rng.normal());
            let (closed, exact) = (closed_form(next.sums(), sigma), next.by_densities(sigma));
            assert!((closed - exact).abs() < 1e-11 * (1.0 + exact.abs()), "{closed} {exact}");
            let mean = past.next_mean(&x, |sums| closed_form(sums, 1.0));
            assert!((mean - 1.0).abs() < 1e-9, "{mean} after {n} of scale {luck}, next {x}");
            let mutant = past.next_mean(&x, t_mixture);
            wrong += usize::from((mutant - 1.0).abs() > 1e-3);
            // What a chooser that sees the scale would take: something long after good luck.
            if luck < 0.1 && n > 4 && x.norm() > 7.0 {
                lucky += 1;
                assert!(mutant > 2.0, "the t-mixture grew only by {mutant} after {n}, next {x}");
            }
        }
    }
    assert!(lucky > 20 && wrong > 300, "of the t-mixture {lucky} and {wrong} were noticed");
}

#[test]
fn evidence_is_below_that_at_every_scale() {
    let mut rng = Stream::new(5, 0, "past");
    for round in 0..300 {
        let (n, d) = (1 + round % 40, 1 + round % 4);
        let luck = libm::exp(3.0 * rng.normal());
        let sums = Past::draw(n, d, luck, &mut rng).sums();
        let ratio = sums.z_sq / (sums.rss - sums.z_sq);
        let found = log_evidence(n as u64, ratio, sums.log_det);
        let mut least = f64::INFINITY;
        for step in -400..=400 {
            let sigma = luck * libm::exp(0.02 * f64::from(step));
            let at_scale = closed_form(sums, sigma);
            assert!(found <= at_scale + 1e-11 * (1.0 + at_scale.abs()), "{found} at {sigma}");
            least = least.min(at_scale);
        }
        // t − least = log κ + 1/κ − c ≥ 1 − c, and c falls from 0.9995 at a = 1.
        let excess = t_mixture(sums) - found;
        let c = stirling(shape(n as u64));
        assert!(excess >= 1.0 - c - 1e-9 && c < 1.0, "{excess}");
        assert!(n < 4 || t_mixture(sums) > least + 0.1, "the t-mixture passed after {n}");
    }
}

#[test]
fn pairs_of_moved_rewards_decide_only_what_exact_ones_do() {
    let mut rng = Stream::new(6, 0, "moved");
    let (mut decided, mut mutants) = ([0, 0], [0, 0]);
    for round in 0..3000 {
        let (n, m) = (12 + round % 30, 12 + round % 17);
        let gap = 0.3 * rng.uniform();
        let [a, b] = [(n, gap), (m, 0.0)].map(|(count, mean)| -> Vec<f64> {
            (0..count).map(|_| mean + 0.1 * rng.normal()).collect()
        });
        let moved =
            |values: &[f64], by: f64| -> Vec<f64> { values.iter().map(|y| y + by).collect() };
        for (own, rule) in [rules_out, rules_out_by_own_scales].into_iter().enumerate() {
            let error = [2e-3, 0.02][own];
            let (up, down) = (tally(&moved(&a, error)), tally(&moved(&b, -error)));
            let exact = rule(&tally(&a), &tally(&b), 3.0, 0.0).is_some();
            let by_moved = rule(&up, &down, 3.0, error).is_some();
            assert!(exact || !by_moved);
            decided[own] += usize::from(by_moved);
            mutants[own] += usize::from(!exact && rule(&up, &down, 3.0, 0.0).is_some());
        }
    }
    assert!(decided.iter().chain(&mutants).all(|count| *count > 20), "{decided:?} {mutants:?}");
}
