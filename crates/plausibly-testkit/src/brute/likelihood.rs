//! Confidence sets of generalised linear models, by the formulas of `docs/concepts/yes-no.md`.

use nalgebra::{Cholesky, DMatrix, DVector, Dyn};

/// What rewards are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BruteLink {
    /// 0 or 1.
    YesNo,
    /// Poisson counts.
    Count,
}

impl BruteLink {
    pub(super) fn mean(self, z: f64) -> f64 {
        match self {
            Self::YesNo => 1.0 / (1.0 + (-z).exp()),
            Self::Count => z.exp(),
        }
    }

    pub(super) fn variance(self, z: f64) -> f64 {
        match self {
            Self::YesNo => self.mean(z) * self.mean(-z),
            Self::Count => z.exp(),
        }
    }

    /// At least `E m(z + sZ) − m(z)`, the smaller of two bounds for yes/no rewards.
    fn spread(self, z: f64, s: f64) -> f64 {
        match self {
            Self::Count => z.exp() * (0.5 * s * s).exp_m1(),
            Self::YesNo => {
                // E[e^|sZ| − |sZ| − 1], as an integral.
                let (steps, reach) = (200, 10.0 + s);
                let step = reach / f64::from(steps);
                let at = |k: i32| {
                    let t = step * f64::from(k);
                    let density = (-0.5 * t * t).exp() * std::f64::consts::FRAC_2_PI.sqrt();
                    let end = if k == 0 || k == steps { 0.5 } else { 1.0 };
                    end * density * ((s * t).exp_m1() - s * t)
                };
                let growth: f64 = (0..=steps).map(at).sum::<f64>() * step;
                (0.5 * tangent(z) * s * s).min(self.variance(z) * growth)
            }
        }
    }
}

/// `tanh(z/2)/(2z)`.
fn tangent(z: f64) -> f64 {
    if z.abs() < 1e-4 { 0.25 } else { (0.5 * z).tanh() / (2.0 * z) }
}

/// `c(u)`.
fn curvature(u: f64) -> f64 {
    if u < 1e-4 { 1.0 - u / 3.0 } else { 2.0 * ((-u).exp_m1() + u) / (u * u) }
}

/// What is assumed.
#[derive(Clone, Copy, Debug)]
pub struct BrutePrior {
    /// The kind of rewards.
    pub link: BruteLink,
    /// `o`.
    pub offset: f64,
    /// S.
    pub theta_norm_bound: f64,
    /// δ.
    pub delta: f64,
}

#[derive(Clone, Debug)]
pub(super) struct Set {
    pub(super) centre: DVector<f64>,
    pub(super) form: DMatrix<f64>,
    /// `None` if nothing is ruled out.
    pub(super) radius: Option<f64>,
    /// Whether it is clear if something is.
    pub(super) clear: bool,
}

pub(super) type Factor = Cholesky<f64, Dyn>;

pub(super) fn factor(matrix: &DMatrix<f64>) -> Factor {
    matrix.clone().cholesky().expect("a ridge is positive")
}

fn log_det(factor: &Factor) -> f64 {
    factor.l_dirty().diagonal().iter().map(|x| 2.0 * x.ln()).sum()
}

pub(super) fn square(factor: &Factor, x: &DVector<f64>) -> f64 {
    x.dot(&factor.solve(x))
}

pub(super) fn column(row: &[f64]) -> DVector<f64> {
    DVector::from_row_slice(row)
}

/// All rewards, a row for each: nothing is put together.
struct View<'a> {
    prior: &'a BrutePrior,
    dim: usize,
    ridge: f64,
    rows: Vec<DVector<f64>>,
    rewards: Vec<f64>,
}

impl View<'_> {
    /// `λI + Σ w·x·xᵀ`.
    fn sum(&self, weights: &[f64]) -> DMatrix<f64> {
        let prior = DMatrix::identity(self.dim, self.dim) * self.ridge;
        let add = |sum, (x, weight): (&DVector<f64>, &f64)| sum + *weight * x * x.transpose();
        self.rows.iter().zip(weights).fold(prior, add)
    }

    fn z(&self, theta: &DVector<f64>) -> Vec<f64> {
        self.rows.iter().map(|x| self.prior.offset + x.dot(theta)).collect()
    }

    fn weights(&self, z: &[f64]) -> Vec<f64> {
        z.iter().map(|z| self.prior.link.variance(*z)).collect()
    }

    fn gradient(&self, theta: &DVector<f64>) -> DVector<f64> {
        let means = self.z(theta).into_iter().map(|z| self.prior.link.mean(z));
        let excess = means.zip(&self.rewards).map(|(mean, reward)| mean - reward);
        self.rows.iter().zip(excess).fold(theta * self.ridge, |sum, (x, excess)| sum + x * excess)
    }

    /// Where `f` is least.
    fn optimum(&self) -> DVector<f64> {
        let mut theta = DVector::zeros(self.dim);
        for _ in 0..200 {
            let curved = factor(&self.sum(&self.weights(&self.z(&theta))));
            let step = curved.solve(&self.gradient(&theta));
            let longest = self.rows.iter().map(|x| x.dot(&step).abs()).fold(0.0, f64::max);
            theta -= step / (1.0 + longest);
            if longest < 1e-13 {
                break;
            }
        }
        theta
    }

    /// `½·log det(Q/λ)`.
    fn half_log(&self, q: &Factor) -> f64 {
        0.5 * (log_det(q) - self.dim as f64 * self.ridge.ln())
    }

    /// Lemma 2 (b) with this `Q`.
    fn by_jensen(&self, z: &[f64], q: &Factor) -> f64 {
        let spread =
            |(z, x): (&f64, &DVector<f64>)| self.prior.link.spread(*z, square(q, x).sqrt());
        let trace = self.ridge * q.inverse().trace() - self.dim as f64;
        self.half_log(q) + 0.5 * trace + z.iter().zip(&self.rows).map(spread).sum::<f64>()
    }

    /// `E`, with `H` factored.
    fn evidence(&self, z: &[f64], curved: &Factor, g: &DVector<f64>) -> f64 {
        let widths: Vec<f64> = self.rows.iter().map(|x| square(curved, x)).collect();
        match self.prior.link {
            BruteLink::YesNo => {
                let tangents: Vec<f64> = z.iter().map(|z| tangent(*z)).collect();
                let w = factor(&self.sum(&tangents));
                (self.half_log(&w) - 0.5 * square(&w, g)).min(self.by_jensen(z, curved))
            }
            BruteLink::Count if widths.iter().all(|s_sq| *s_sq <= 1.0) => self.by_jensen(z, curved),
            BruteLink::Count => {
                let weights = self.weights(z).into_iter().zip(&widths);
                let larger: Vec<f64> = weights.map(|(weight, s_sq)| weight * s_sq.exp()).collect();
                self.by_jensen(z, &factor(&self.sum(&larger)))
            }
        }
    }
}

/// The larger root of `φ(ζ) = (e^(−ρζ) + ρζ − 1)/ρ² − ε·ζ = B`.
fn larger_root(rho: f64, slope: f64, budget: f64) -> f64 {
    let spent = |r: f64| 0.5 * r * r * curvature(rho * r) - slope * r;
    let (mut low, mut high) = (0.0, 1.0);
    while spent(high) < budget {
        (low, high) = (high, 2.0 * high);
    }
    for _ in 0..200 {
        let middle = 0.5 * (low + high);
        if spent(middle) < budget { low = middle } else { high = middle }
    }
    high
}

impl BrutePrior {
    /// The set from these rewards of rows of this length.
    pub(super) fn set(&self, rewards: &[(Vec<f64>, f64)], dim: usize) -> Set {
        let (d, bound) = (dim as f64, self.theta_norm_bound);
        let rows: Vec<DVector<f64>> = rewards.iter().map(|(row, _)| column(row)).collect();
        let rewards = rewards.iter().map(|(_, reward)| *reward).collect();
        let view = View { prior: self, dim, ridge: d / (bound * bound), rows, rewards };
        let theta = view.optimum();
        let (z, g) = (view.z(&theta), view.gradient(&theta));
        let weights = view.weights(&z);
        let curved = factor(&view.sum(&weights));
        let budget = -self.delta.ln() + view.evidence(&z, &curved, &g) + 0.5 * d;

        let widths: Vec<f64> = view.rows.iter().map(|x| square(&curved, x).sqrt()).collect();
        let rho = widths.iter().copied().fold(0.0, f64::max);
        let first = larger_root(rho, square(&curved, &g).sqrt(), budget);
        let ball = bound + theta.norm();
        let bounds = view.rows.iter().zip(&widths);
        let mut off: Vec<f64> = bounds.map(|(x, s)| (ball * x.norm()).min(first * s)).collect();
        let narrowed = |off: &[f64]| {
            let discounted = weights.iter().zip(off).map(|(weight, off)| weight * curvature(*off));
            let form = view.sum(&discounted.collect::<Vec<f64>>());
            let shift = factor(&form).solve(&g);
            let radius = (2.0 * budget + g.dot(&shift)).max(0.0).sqrt();
            (form, shift, radius)
        };
        let (form, shift, radius) = narrowed(&off);
        let once = factor(&form);
        for (off, x) in off.iter_mut().zip(&view.rows) {
            *off = off.min(x.dot(&shift).abs() + radius * square(&once, x).sqrt());
        }
        let (form, shift, radius) = narrowed(&off);
        let centre = theta - shift;
        let apart = self.apart(&centre, &form);
        let open = apart > radius * radius;
        let clear = (apart - radius * radius).abs() > 1e-3 * radius * radius;
        Set { centre, form, radius: (!open).then_some(radius), clear }
    }

    /// The largest, over some `τ`, of the least of `‖θ − θ̃‖²_H̃ + τ·(‖θ‖² − S²)`.
    fn apart(&self, centre: &DVector<f64>, form: &DMatrix<f64>) -> f64 {
        let bound_sq = self.theta_norm_bound * self.theta_norm_bound;
        let at = |power: i32| {
            let tau = form.diagonal().max() * f64::from(power).exp2();
            let sum = form + DMatrix::identity(centre.len(), centre.len()) * tau;
            tau * (centre.dot(&factor(&sum).solve(&(form * centre))) - bound_sq)
        };
        (-40..=20).map(at).fold(0.0, f64::max)
    }
}
