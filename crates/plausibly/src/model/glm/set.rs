//! The confidence set of a [`Glm`](super::Glm): a function of what was assumed, of the rewards of
//! each row, and of a point.
//!
//! With `f(θ) = Σ [n·m(z) − z·Σy] + (λ/2)·‖θ‖²` over the rows and `g`, `H` its slope and curvature
//! at the point `θ₀`, the truth has for ever, with probability `1 − δ`,
//!
//! ```text
//! f(θ*) − f(θ₀) ≤ B = log(1/δ) + E + λS²/2
//! ‖θ* − θ̃‖_H̃ ≤ √(2B + ‖g‖²_{H̃⁻¹})     θ̃ = θ₀ − H̃⁻¹g     H̃ = λI + Σ n·v·c(D)·x·xᵀ
//! ```
//!
//! `E` bounds how much a mixture over all parameters loses to `f(θ₀)`, and an observation whose `z`
//! may be off by `D` counts for the share `c(D)` of itself. Any point gives a valid set; the best
//! one gives a small set. Proofs in `docs/concepts/yes-no.md`.

use super::link::curvature;
use super::rows::Rows;
use super::{GlmPrior, Link};
use crate::confidence::{Doubt, Reach};
use crate::linalg::{Cholesky, NotPositive, dot, norm};

/// Newton's method stops once what a step leaves to do is below this.
const LEFT: f64 = 1e-9;
/// It takes the curvature again once any `z` may have moved by this since the last time.
const STRAYED: f64 = 1.0 / 16.0;
/// It needs about eight steps; after this many any point will do.
const MOST_STEPS: u32 = 100;
/// Points are multiples of 2⁻³⁰, so that they are short to write down.
const POINT_STEPS: f64 = (1_u64 << 30) as f64;
/// Half a step of the grid of rewards.
const REWARD_ERROR: f64 = 1.0 / (1_u64 << 25) as f64;
/// Radii are larger by at least this share, for the rounding of doubles.
const ROUNDING: f64 = 1.0 / (1_u64 << 40) as f64;
/// Far from the best point `‖g‖²_{H̃⁻¹}` and `2B` are large, and their sum loses digits. Up to this
/// multiple of it, what is lost is less than that share.
const MOST_CANCELLED: f64 = 1024.0;

/// By what factor a radius is enlarged where widths are computed from this inverse.
///
/// The sum is the trace of the inverse in units in which the diagonal of the matrix is one. Up to a
/// factor of d it is the condition of the matrix, by which the rounding of doubles is multiplied.
/// An allowance and not an analysis of errors: `laws.rs` compares it with widths of twice the
/// precision.
pub(super) fn enlarging(form: &[f64], inverse: &[f64], dim: usize) -> f64 {
    let product = |(entry, inverse): (&f64, &f64)| entry * inverse;
    let condition: f64 = form.iter().zip(inverse).step_by(dim + 1).map(product).sum();
    1.0 + ROUNDING + dim as f64 * condition * f64::EPSILON
}

/// The parts of `B`, in nats.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Budget {
    /// `log(1/δ)`.
    pub confidence: f64,
    /// `E`, with all that data and dimensions cost.
    pub evidence: f64,
    /// `λS²/2`.
    pub distance: f64,
    /// For rewards between 0 and 1 that were rounded to the grid; else zero.
    pub rounding: f64,
}

impl Budget {
    /// `B`.
    pub fn total(&self) -> f64 {
        self.confidence + self.evidence + self.distance + self.rounding
    }
}

/// The set at one point.
#[derive(Clone, Debug)]
pub(super) struct LikelihoodSet {
    pub(super) point: Vec<f64>,
    /// `θ̃`.
    pub(super) centre: Vec<f64>,
    /// `H̃` and its inverse.
    pub(super) form: Vec<f64>,
    pub(super) inverse: Vec<f64>,
    /// `log(det H̃/λᵈ)`.
    pub(super) log_det: f64,
    /// `H = L·Lᵀ`: what a normal approximation of the posterior is made from.
    pub(super) factor: Cholesky,
    pub(super) budget: Budget,
    pub(super) reach: Reach,
}

/// The point where `f` is least, rounded to steps of 2⁻³⁰: by Newton's method from zero, so a
/// function of the rewards alone.
///
/// A step that is not seen to lead down is taken in the share `log(1 + β)/β`, with `β` the most
/// that it moves any `z`: by `|m'''| ≤ m''` that always does, and near the end it is a full step.
/// It still does with the curvature of a point from which no `z` differs by `u ≤ log 2`, because
/// the curvature here is at most `e^u` times that one. So the curvature, most of the cost, is taken
/// again only while steps are long. A step leaves about the share `u + β` of itself.
pub(super) fn best_point(prior: &GlmPrior, rows: &Rows) -> Result<Vec<f64>, NotPositive> {
    let (link, ridge) = ((prior.link, prior.offset), prior.ridge(rows.dim));
    let mut theta = vec![0.0; rows.dim];
    let mut moved = vec![0.0; rows.len()];
    let (mut near, mut strayed): (Option<Cholesky>, f64) = (None, 0.0);
    for _ in 0..MOST_STEPS {
        let mut step = rows.gradient(link, ridge, &theta, &moved);
        let slope = step.clone();
        let known = near.take().filter(|_| strayed <= STRAYED);
        let factor = if let Some(factor) = known {
            factor
        } else {
            strayed = 0.0;
            Cholesky::new(&rows.gram(ridge, &weights(prior, rows, &moved)), rows.dim)?
        };
        factor.solve(&mut step);
        let decrement_sq = dot(&slope, &step).max(0.0);
        let by = rows.dots(&step);
        let largest = by.iter().fold(0.0_f64, |most, by| most.max(by.abs()));
        let descends = || {
            let pull = ridge * (0.5 * dot(&step, &step) - dot(&theta, &step));
            rows.rise(link, &moved, &by) + pull <= -0.25 * decrement_sq
        };
        let full = largest == 0.0 || largest > STRAYED && descends();
        let share = if full { 1.0 } else { libm::log1p(largest) / largest };
        theta.iter_mut().zip(&step).for_each(|(theta, step)| *theta -= share * step);
        moved.iter_mut().zip(&by).for_each(|(moved, by)| *moved -= share * by);
        if decrement_sq.sqrt() * (strayed + largest) <= LEFT {
            break;
        }
        strayed += largest;
        near = Some(factor);
    }
    Ok(theta.iter().map(|entry| (entry * POINT_STEPS).round_ties_even() / POINT_STEPS).collect())
}

/// `n·v(z)` of each row.
fn weights(prior: &GlmPrior, rows: &Rows, moved: &[f64]) -> Vec<f64> {
    let weight = |(count, moved): (&f64, &f64)| count * prior.link.variance(prior.offset + moved);
    rows.counts.iter().zip(moved).map(weight).collect()
}

impl LikelihoodSet {
    /// Without rewards: `θ̃ = 0`, `H̃ = λI`.
    pub(super) fn empty(prior: &GlmPrior, dim: usize) -> Self {
        let ridge = prior.ridge(dim);
        let identity = |scale| crate::linalg::scaled_identity(dim, scale);
        let budget = prior.budget(dim, 0.0, 0.0);
        let (form, inverse) = (identity(ridge), identity(1.0 / ridge));
        let radius = (2.0 * budget.total()).sqrt() * enlarging(&form, &inverse, dim);
        Self {
            point: vec![0.0; dim],
            centre: vec![0.0; dim],
            form,
            inverse,
            log_det: 0.0,
            factor: Cholesky::new(&identity(ridge), dim).expect("a positive diagonal"),
            budget,
            reach: prior.reach(radius, 0.0),
        }
    }

    /// By these rewards, seen from this point.
    pub(super) fn at(prior: &GlmPrior, rows: &Rows, point: &[f64]) -> Result<Self, NotPositive> {
        let view = View::new(prior, rows, point)?;
        let evidence = view.evidence()?;
        let budget = prior.budget(rows.dim, evidence, view.rounding());
        let set = view.narrow(budget.total())?;
        let centre: Vec<f64> = point.iter().zip(&set.shift).map(|(at, by)| at - by).collect();
        let reach = match set.radius_sq {
            Some(square) if square <= 0.0 || set.pull > MOST_CANCELLED * square => {
                Reach::Open(Doubt::Precision)
            }
            Some(square) if square.is_finite() => {
                let radius = square.sqrt() * set.enlarging;
                let length = norm(&centre);
                if disjoint(prior, &set, &centre, radius * radius) {
                    Reach::Open(Doubt::Refuted)
                } else {
                    prior.reach(radius, length / prior.theta_norm_bound)
                }
            }
            Some(_) => Reach::Open(Doubt::TooFew),
            None => Reach::Open(Doubt::Refuted),
        };
        let log_det = set.factor.log_det() - rows.dim as f64 * libm::log(prior.ridge(rows.dim));
        Ok(Self {
            point: point.to_vec(),
            centre,
            form: set.form,
            inverse: set.inverse,
            log_det,
            factor: view.factor,
            budget,
            reach,
        })
    }
}

/// What rewards say at a point.
struct View<'a> {
    prior: &'a GlmPrior,
    rows: &'a Rows,
    ridge: f64,
    point: &'a [f64],
    /// `z` of each row there, and `n·v`.
    z: Vec<f64>,
    weights: Vec<f64>,
    gradient: Vec<f64>,
    /// Of `H`, with its inverse, what that asks of radii, and the `‖x‖²_{H⁻¹}` of the rows.
    factor: Cholesky,
    inverse: Vec<f64>,
    enlarging: f64,
    width_sq: Vec<f64>,
}

/// An ellipsoid around `θ₀ − shift`.
struct Narrowed {
    form: Vec<f64>,
    factor: Cholesky,
    inverse: Vec<f64>,
    enlarging: f64,
    /// `H̃⁻¹g`.
    shift: Vec<f64>,
    /// `‖g‖²_{H̃⁻¹}`.
    pull: f64,
    /// `2B + ‖g‖²_{H̃⁻¹}`; `None` if no parameter is left.
    radius_sq: Option<f64>,
}

impl<'a> View<'a> {
    fn new(prior: &'a GlmPrior, rows: &'a Rows, point: &'a [f64]) -> Result<Self, NotPositive> {
        let ridge = prior.ridge(rows.dim);
        let moved = rows.dots(point);
        let weights = weights(prior, rows, &moved);
        let gradient = rows.gradient((prior.link, prior.offset), ridge, point, &moved);
        let form = rows.gram(ridge, &weights);
        let factor = Cholesky::new(&form, rows.dim)?;
        let mut inverse = vec![0.0; rows.dim * rows.dim];
        factor.inverse_into(&mut inverse);
        let (_, width_sq) = rows.scores(point, &inverse);
        let z = moved.iter().map(|moved| prior.offset + moved).collect();
        let enlarging = enlarging(&form, &inverse, rows.dim);
        Ok(Self {
            prior,
            rows,
            ridge,
            point,
            z,
            weights,
            gradient,
            factor,
            inverse,
            enlarging,
            width_sq,
        })
    }

    /// `E`: the smaller of two bounds.
    fn evidence(&self) -> Result<f64, NotPositive> {
        let by_trial = self.evidence_by_trial()?;
        Ok(self.evidence_by_tangent()?.map_or(by_trial, |by_tangent| by_tangent.min(by_trial)))
    }

    /// The integral of a normal density that is below the likelihood everywhere:
    /// `½·log(det W/λᵈ) − ½·‖g‖²_{W⁻¹}` with `W = λI + Σ n·j·x·xᵀ`. Counts have none.
    fn evidence_by_tangent(&self) -> Result<Option<f64>, NotPositive> {
        let rows = self.rows;
        let weight = |(count, z): (&f64, &f64)| self.prior.link.tangent(*z).map(|j| count * j);
        let weights: Option<Vec<f64>> = rows.counts.iter().zip(&self.z).map(weight).collect();
        let Some(weights) = weights else { return Ok(None) };
        let factor = Cholesky::new(&rows.gram(self.ridge, &weights), rows.dim)?;
        let mut solved = self.gradient.clone();
        factor.solve_lower(&mut solved);
        Ok(Some(0.5 * self.log_det_ratio(&factor) - 0.5 * dot(&solved, &solved)))
    }

    /// Jensen's inequality with a normal trial density `N(θ₀, Q⁻¹)`:
    /// `½·log(det Q/λᵈ) + ½·(λ·tr Q⁻¹ − d) + Σ n·(E m(z + sZ) − m(z))`, `s² = ‖x‖²_{Q⁻¹}`.
    ///
    /// `Q` is `H`. While little is known a count can grow as `e^(s²/2)`, so `Q` is larger then.
    fn evidence_by_trial(&self) -> Result<f64, NotPositive> {
        let Self { rows, width_sq, weights, .. } = self;
        let widest = width_sq.iter().copied().fold(0.0, f64::max);
        if self.prior.link == Link::Logistic || widest <= 1.0 {
            return Ok(self.jensen(&self.factor, &self.inverse, width_sq));
        }
        // Any Q is valid; beyond this power the excess is past all use, and would overflow.
        let excess = |(weight, square): (&f64, &f64)| weight * libm::exp(square.min(200.0));
        let weights: Vec<f64> = weights.iter().zip(width_sq).map(excess).collect();
        let factor = Cholesky::new(&rows.gram(self.ridge, &weights), rows.dim)?;
        let mut inverse = vec![0.0; rows.dim * rows.dim];
        factor.inverse_into(&mut inverse);
        let (_, narrower) = rows.scores(self.point, &inverse);
        Ok(self.jensen(&factor, &inverse, &narrower))
    }

    fn jensen(&self, factor: &Cholesky, inverse: &[f64], width_sq: &[f64]) -> f64 {
        let trace: f64 = inverse.iter().step_by(self.rows.dim + 1).sum();
        let rows = self.rows.counts.iter().zip(&self.z).zip(width_sq);
        let spread: f64 =
            rows.map(|((count, z), square)| count * self.prior.link.spread(*z, *square)).sum();
        0.5 * self.log_det_ratio(factor)
            + 0.5 * (self.ridge * trace - self.rows.dim as f64)
            + spread
    }

    fn log_det_ratio(&self, factor: &Cholesky) -> f64 {
        factor.log_det() - self.rows.dim as f64 * libm::log(self.ridge)
    }

    /// What rewards that were rounded to the grid add to `B`: half a step moves the mean of a
    /// reward, and with it each factor of the supermartingale, by at most this share.
    fn rounding(&self) -> f64 {
        let Self { prior, rows, .. } = self;
        if prior.link == Link::Poisson || rows.yes_no {
            return 0.0;
        }
        let rarest = |norm: &f64| {
            let farthest = prior.offset.abs() + prior.theta_norm_bound * norm;
            prior.link.mean(-farthest)
        };
        let moved = |(count, norm): (&f64, &f64)| count * REWARD_ERROR / rarest(norm);
        rows.counts.iter().zip(&rows.norms).map(moved).sum()
    }

    /// The ellipsoid: a first bound on how far each `z` may be off, and two passes with it.
    fn narrow(&self, budget: f64) -> Result<Narrowed, NotPositive> {
        let Self { rows, prior, .. } = self;
        let first = self.first_radius(budget);
        let ball = prior.theta_norm_bound + norm(self.point);
        let radius = first.unwrap_or(f64::INFINITY);
        // The product of infinity and zero is NaN, which `min` passes over.
        let bound = |(width_sq, norm): (&f64, &f64)| (ball * norm).min(radius * width_sq.sqrt());
        let mut off: Vec<f64> = self.width_sq.iter().zip(&rows.norms).map(bound).collect();
        let once = self.discounted(&off, budget)?;
        let (Some(_), Some(square)) = (first, once.radius_sq) else {
            return Ok(Narrowed { radius_sq: None, ..once });
        };
        let radius = square.sqrt() * once.enlarging;
        let (shifts, width_sq) = rows.scores(&once.shift, &once.inverse);
        for (off, (shift, width_sq)) in off.iter_mut().zip(shifts.iter().zip(&width_sq)) {
            *off = off.min(shift.abs() + radius * width_sq.sqrt());
        }
        self.discounted(&off, budget)
    }

    /// `‖θ* − θ₀‖_H` is at most this: the larger root `r` of `φ(r) = B`, with `ρ` the largest
    /// `‖x‖_{H⁻¹}` of a row, `ε = ‖g‖_{H⁻¹}` and
    ///
    /// ```text
    /// φ(r) = (e^(−ρr) + ρr − 1)/ρ² − ε·r
    /// ```
    ///
    /// Infinite if the point is too far off for a bound; `None` if there is no such `θ*`.
    fn first_radius(&self, budget: f64) -> Option<f64> {
        let mut solved = self.gradient.clone();
        self.factor.solve_lower(&mut solved);
        let slope = norm(&solved);
        let rho = self.width_sq.iter().copied().fold(0.0, f64::max).sqrt();
        if slope * rho >= 1.0 {
            return Some(f64::INFINITY);
        }
        let value = |r: f64| 0.5 * r * r * curvature(rho * r) - slope * r;
        let least = if rho > 0.0 { -libm::log1p(-slope * rho) / rho } else { slope };
        if value(least) > budget {
            return None;
        }
        // Above the larger root, and φ is convex: Newton's method comes down to it and never
        // passes it.
        let mut radius = if rho > 0.0 {
            (budget + 1.0 / (rho * rho)) / (1.0 / rho - slope)
        } else {
            slope + (slope * slope + 2.0 * budget).sqrt()
        };
        for _ in 0..MOST_STEPS {
            let rise = if rho > 0.0 { -libm::expm1(-rho * radius) / rho } else { radius } - slope;
            let next = radius - (value(radius) - budget) / rise;
            // Written so that NaN stops too.
            let lower = next < radius * (1.0 - 1e-12) && next > least;
            if !lower {
                break;
            }
            radius = next;
        }
        Some(radius * self.enlarging)
    }

    /// The ellipsoid if no `z` of the rows is off by more than this.
    fn discounted(&self, off: &[f64], budget: f64) -> Result<Narrowed, NotPositive> {
        let rows = self.rows;
        let discount = |(weight, off): (&f64, &f64)| weight * curvature(*off);
        let weights: Vec<f64> = self.weights.iter().zip(off).map(discount).collect();
        let form = rows.gram(self.ridge, &weights);
        let factor = Cholesky::new(&form, rows.dim)?;
        let mut inverse = vec![0.0; form.len()];
        factor.inverse_into(&mut inverse);
        let mut shift = self.gradient.clone();
        factor.solve(&mut shift);
        let pull = dot(&self.gradient, &shift);
        let square = 2.0 * budget + pull;
        let radius_sq = (square >= 0.0 || square.is_nan()).then_some(square);
        let enlarging = enlarging(&form, &inverse, rows.dim);
        Ok(Narrowed { form, factor, inverse, enlarging, shift, pull, radius_sq })
    }
}

/// Whether no parameter within `S` is in the ellipsoid: for some `τ ≥ 0` the least of
/// `‖θ − θ̃‖²_H̃ + τ·(‖θ‖² − S²)` is above the squared radius.
fn disjoint(prior: &GlmPrior, set: &Narrowed, centre: &[f64], radius_sq: f64) -> bool {
    let (dim, bound) = (centre.len(), prior.theta_norm_bound);
    let length = norm(centre);
    if length <= bound {
        return false;
    }
    // The point of the ball that is nearest to the centre in the plain norm.
    let excess: Vec<f64> = centre.iter().map(|entry| entry * (1.0 - bound / length)).collect();
    let product =
        |x: &[f64]| -> Vec<f64> { set.form.chunks_exact(dim).map(|row| dot(row, x)).collect() };
    if dot(&excess, &product(&excess)) <= radius_sq {
        return false;
    }
    let pulled = product(centre);
    let scale = set.form.iter().step_by(dim + 1).copied().fold(0.0, f64::max);
    (-40..=20).any(|power| {
        let multiplier = scale * libm::exp2(f64::from(power));
        let mut sum = set.form.clone();
        sum.iter_mut().step_by(dim + 1).for_each(|entry| *entry += multiplier);
        let Ok(factor) = Cholesky::new(&sum, dim) else { return false };
        // At the least point θ = (H̃ + τI)⁻¹·H̃θ̃ the value is τ·(⟨θ̃, θ⟩ − S²).
        let mut theta = pulled.clone();
        factor.solve(&mut theta);
        multiplier * (dot(centre, &theta) - bound * bound) > radius_sq
    })
}
