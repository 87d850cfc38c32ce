//! Generalised linear models by brute force: every set is made from all rewards, by the formulas of
//! `docs/concepts/yes-no.md`.
//!
//! The search for `θ₀` ends where it likes, here at the optimum, so sets are those of the model under
//! test up to [`OFF`], not up to rounding.

use super::bounds::candidates;
use super::{Inputs, Ranking, Verdict, judge};
use nalgebra::{Cholesky, DMatrix, DVector, Dyn};

/// How far two sets can differ, as a share of widths.
const OFF: f64 = 1e-5;

/// What rewards are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BruteLink {
    /// 0 or 1.
    YesNo,
    /// Poisson counts.
    Count,
}

impl BruteLink {
    fn mean(self, z: f64) -> f64 {
        match self {
            Self::YesNo => 1.0 / (1.0 + (-z).exp()),
            Self::Count => z.exp(),
        }
    }

    fn variance(self, z: f64) -> f64 {
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

/// How a policy over such a model chooses.
#[derive(Clone, Copy, Debug)]
pub enum CurvedRule {
    /// CODE at this greed.
    Code(f64),
    /// CODE to a target κ.
    Kappa(f64),
    /// CODE to a target ±ε.
    Accuracy(f64),
    /// The largest mean, but for this share of rounds.
    EpsilonGreedy(f64),
}

/// A policy over a generalised linear model that judges the choices of another one.
#[derive(Clone, Debug)]
pub struct BruteCurved {
    prior: BrutePrior,
    rule: CurvedRule,
    differences: bool,
    /// Each reward in the set, and each since.
    fitted: Vec<(Vec<f64>, f64)>,
    since: Vec<(Vec<f64>, f64)>,
    pending: Vec<Vec<f64>>,
    set: Set,
}

#[derive(Clone, Debug)]
struct Set {
    centre: DVector<f64>,
    form: DMatrix<f64>,
    /// `None` if nothing is ruled out.
    radius: Option<f64>,
    /// Whether it is clear if something is.
    clear: bool,
}

type Factor = Cholesky<f64, Dyn>;

fn factor(matrix: &DMatrix<f64>) -> Factor {
    matrix.clone().cholesky().expect("a ridge is positive")
}

fn log_det(factor: &Factor) -> f64 {
    factor.l_dirty().diagonal().iter().map(|x| 2.0 * x.ln()).sum()
}

fn square(factor: &Factor, x: &DVector<f64>) -> f64 {
    x.dot(&factor.solve(x))
}

fn column(row: &[f64]) -> DVector<f64> {
    DVector::from_row_slice(row)
}

impl BrutePrior {
    /// The set from these rewards of rows of this length.
    fn set(&self, rewards: &[(Vec<f64>, f64)], dim: usize) -> Set {
        let (d, bound) = (dim as f64, self.theta_norm_bound);
        let ridge = d / (bound * bound);
        // A row for each reward: nothing is put together.
        let rows: Vec<DVector<f64>> = rewards.iter().map(|(row, _)| column(row)).collect();
        let sum = |weights: &[f64]| {
            let prior = DMatrix::identity(dim, dim) * ridge;
            rows.iter()
                .zip(weights)
                .fold(prior, |sum, (x, weight)| sum + *weight * x * x.transpose())
        };
        let z = |theta: &DVector<f64>| -> Vec<f64> {
            rows.iter().map(|x| self.offset + x.dot(theta)).collect()
        };
        let weights =
            |z: &[f64]| -> Vec<f64> { z.iter().map(|z| self.link.variance(*z)).collect() };
        let gradient = |theta: &DVector<f64>| {
            let excess = z(theta).into_iter().zip(rewards).map(|(z, (_, y))| self.link.mean(z) - y);
            rows.iter().zip(excess).fold(theta * ridge, |sum, (x, excess)| sum + x * excess)
        };
        let mut theta = DVector::zeros(dim);
        for _ in 0..200 {
            let step = factor(&sum(&weights(&z(&theta)))).solve(&gradient(&theta));
            let longest = rows.iter().map(|x| x.dot(&step).abs()).fold(0.0, f64::max);
            theta -= step / (1.0 + longest);
            if longest < 1e-13 {
                break;
            }
        }
        let (z, g) = (z(&theta), gradient(&theta));
        let weights = weights(&z);
        let curved = factor(&sum(&weights));
        let widths: Vec<f64> = rows.iter().map(|x| square(&curved, x).sqrt()).collect();

        let half_log = |factor: &Factor| 0.5 * (log_det(factor) - d * ridge.ln());
        let jensen = |q: &Factor| {
            let spread =
                z.iter().zip(&rows).map(|(z, x)| self.link.spread(*z, square(q, x).sqrt()));
            half_log(q) + 0.5 * (ridge * q.inverse().trace() - d) + spread.sum::<f64>()
        };
        let evidence = match self.link {
            BruteLink::YesNo => {
                let tangents: Vec<f64> = z.iter().map(|z| tangent(*z)).collect();
                let w = factor(&sum(&tangents));
                (half_log(&w) - 0.5 * square(&w, &g)).min(jensen(&curved))
            }
            BruteLink::Count if widths.iter().all(|s| *s <= 1.0) => jensen(&curved),
            BruteLink::Count => {
                let larger = weights.iter().zip(&widths).map(|(weight, s)| weight * (s * s).exp());
                jensen(&factor(&sum(&larger.collect::<Vec<f64>>())))
            }
        };
        let budget = -self.delta.ln() + evidence + 0.5 * d;

        let (rho, slope) = (widths.iter().copied().fold(0.0, f64::max), square(&curved, &g).sqrt());
        let spent = |r: f64| 0.5 * r * r * curvature(rho * r) - slope * r;
        let (mut low, mut high) = (0.0, 1.0);
        while spent(high) < budget {
            (low, high) = (high, 2.0 * high);
        }
        for _ in 0..200 {
            let middle = 0.5 * (low + high);
            if spent(middle) < budget { low = middle } else { high = middle }
        }
        let ball = bound + theta.norm();
        let mut off: Vec<f64> =
            rows.iter().zip(&widths).map(|(x, s)| (ball * x.norm()).min(high * s)).collect();
        let narrowed = |off: &[f64]| {
            let discounted = weights.iter().zip(off).map(|(weight, off)| weight * curvature(*off));
            let form = sum(&discounted.collect::<Vec<f64>>());
            let shift = factor(&form).solve(&g);
            let radius = (2.0 * budget + g.dot(&shift)).max(0.0).sqrt();
            (form, shift, radius)
        };
        let (form, shift, radius) = narrowed(&off);
        let once = factor(&form);
        for (off, x) in off.iter_mut().zip(&rows) {
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

/// Everything a choice depends on, by action; `z` without the offset.
struct Round {
    z: Vec<f64>,
    omega: Vec<f64>,
    /// By the design: `r·‖a‖`.
    counted: Vec<f64>,
    gain: Vec<f64>,
    steep: Vec<f64>,
    middle: Vec<f64>,
    half: Vec<f64>,
    has_design: bool,
    plain: Vec<bool>,
    sure: Vec<bool>,
    maybe: Vec<bool>,
}

impl BruteCurved {
    /// A policy that has learned these rewards, all of them in its set.
    pub fn new(
        prior: BrutePrior,
        rule: CurvedRule,
        differences: bool,
        dim: usize,
        fitted: Vec<(Vec<f64>, f64)>,
    ) -> Self {
        let set = prior.set(&fitted, dim);
        let (since, pending) = (Vec::new(), Vec::new());
        Self { prior, rule, differences, fitted, since, pending, set }
    }

    /// An action was taken, and its reward is outstanding.
    pub fn decided(&mut self, row: &[f64]) {
        self.pending.push(row.to_vec());
    }

    /// A reward came.
    pub fn update(&mut self, row: &[f64], reward: f64) {
        self.dropped(row);
        self.since.push((row.to_vec(), reward));
        if self.since.len() > self.fitted.len() / 200 {
            self.fitted.append(&mut self.since);
            self.set = self.prior.set(&self.fitted, row.len());
        }
    }

    /// A reward will never come.
    pub fn dropped(&mut self, row: &[f64]) {
        if let Some(at) = self.pending.iter().position(|pending| pending == row) {
            self.pending.remove(at);
        }
    }

    /// Judges a choice among these rows.
    pub fn judge(&self, rows: &[Vec<f64>], chosen: usize, inputs: &mut dyn Inputs) -> Verdict {
        if let CurvedRule::EpsilonGreedy(epsilon) = self.rule {
            if inputs.uniform() < epsilon {
                let expected = usize::try_from(inputs.below(rows.len() as u64)).expect("an index");
                let same = expected == chosen;
                return if same { Verdict::Same } else { Verdict::Wrong { expected } };
            }
            let inverse = factor(&self.set.form);
            let z: Vec<f64> = rows.iter().map(|row| column(row).dot(&self.set.centre)).collect();
            let off = rows.iter().map(|row| OFF * square(&inverse, &column(row)).sqrt());
            return judge(&[Ranking::of_all(z, off.collect())], rows, chosen);
        }
        if !self.set.clear {
            return Verdict::Unclear;
        }
        let round = self.round(rows);
        let rankings = match self.rule {
            _ if self.set.radius.is_none() => vec![round.widest()],
            CurvedRule::Code(greed) => round.at_greed(greed),
            CurvedRule::Kappa(kappa) => {
                let known = self.fitted.len() + self.since.len() + self.pending.len();
                let wanted = kappa * rows[0].len() as f64 / (known + 1) as f64;
                round.explore_above(wanted, |a| round.gain[a])
            }
            CurvedRule::Accuracy(accuracy) => round.explore_above(accuracy, |a| round.shorter(a)),
            CurvedRule::EpsilonGreedy(_) => unreachable!("judged above"),
        };
        judge(&rankings, rows, chosen)
    }

    fn round(&self, rows: &[Vec<f64>]) -> Round {
        let Self { prior: BrutePrior { link, offset, .. }, set, .. } = self;
        let inverse = factor(&set.form);
        let extra = self.since.iter().map(|(row, _)| row).chain(&self.pending);
        let mut all = set.form.clone();
        for row in extra.map(|row| column(row)) {
            all += link.variance(offset + row.dot(&set.centre)) * &row * row.transpose();
        }
        let design = factor(&all);
        let radius = set.radius.unwrap_or(f64::INFINITY);
        let width = |factor: &Factor, row: &[f64]| square(factor, &column(row)).max(0.0).sqrt();
        let z: Vec<f64> = rows.iter().map(|row| column(row).dot(&set.centre)).collect();
        let omega: Vec<f64> = rows.iter().map(|row| radius * width(&inverse, row)).collect();
        let behind = |witness: usize| -> Vec<(f64, f64)> {
            let one = |other: &Vec<f64>| {
                let minus: Vec<f64> =
                    rows[witness].iter().zip(other).map(|(one, other)| one - other).collect();
                (column(&minus).dot(&set.centre), radius * width(&inverse, &minus))
            };
            rows.iter().map(one).collect()
        };
        let [plain, sure, maybe] = if set.radius.is_none() {
            [(); 3].map(|()| vec![true; rows.len()])
        } else if self.differences {
            by_differences(&z, &omega, behind)
        } else {
            by_intervals(&z, &omega)
        };
        let ends = |a: usize| [-1.0, 1.0].map(|sign| link.mean(offset + z[a] + sign * omega[a]));
        let steep: Vec<f64> = z.iter().map(|z| link.variance(offset + z)).collect();
        let by_design: Vec<f64> = rows.iter().map(|row| width(&design, row)).collect();
        let open = set.radius.is_none();
        // While nothing is ruled out plain widths decide.
        let weight = |a: usize| if open { 1.0 } else { steep[a] };
        Round {
            gain: (0..rows.len()).map(|a| weight(a) * by_design[a] * by_design[a]).collect(),
            middle: (0..rows.len()).map(|a| ends(a).iter().sum::<f64>() * 0.5).collect(),
            half: (0..rows.len()).map(|a| 0.5 * (ends(a)[1] - ends(a)[0])).collect(),
            counted: by_design.iter().map(|width| radius * width).collect(),
            has_design: !(self.since.is_empty() && self.pending.is_empty()),
            z,
            omega,
            steep,
            plain,
            sure,
            maybe,
        }
    }
}

/// Which actions are plausible: by plain comparison, surely and perhaps.
fn by_intervals(z: &[f64], omega: &[f64]) -> [Vec<bool>; 3] {
    [0.0, -OFF, OFF].map(|off| {
        let lower = z.iter().zip(omega).map(|(z, omega)| z - omega * (1.0 + off));
        let best = lower.fold(f64::NEG_INFINITY, f64::max);
        z.iter().zip(omega).map(|(z, omega)| z + omega * (1.0 + off) >= best).collect()
    })
}

fn by_differences(
    z: &[f64],
    omega: &[f64],
    behind: impl Fn(usize) -> Vec<(f64, f64)>,
) -> [Vec<bool>; 3] {
    let tolerance: Vec<f64> = omega.iter().map(|omega| OFF * omega).collect();
    let lower: Vec<f64> = z.iter().zip(omega).map(|(z, omega)| z - omega).collect();
    let mut sets = [(); 3].map(|()| vec![true; z.len()]);
    for value in [z, &lower] {
        let witnesses = candidates(value, &tolerance);
        let leaves: Vec<Vec<(f64, f64)>> = witnesses.into_iter().map(&behind).collect();
        for action in 0..z.len() {
            let slack = |at: usize, off: f64| {
                let (gap, half) = leaves[at][action];
                half * (1.0 + off) - gap >= 0.0
            };
            sets[0][action] &= slack(0, 0.0);
            sets[1][action] &= (0..leaves.len()).all(|at| slack(at, -OFF));
            sets[2][action] &= (0..leaves.len()).any(|at| slack(at, OFF));
        }
    }
    sets
}

impl Round {
    fn most(&self, among: &[bool], value: impl Fn(usize) -> f64) -> f64 {
        (0..self.z.len()).filter(|a| among[*a]).map(value).fold(0.0, f64::max)
    }

    /// Half the interval, shorter as the width by the design is.
    fn shorter(&self, action: usize) -> f64 {
        let share =
            if self.omega[action] > 0.0 { self.counted[action] / self.omega[action] } else { 1.0 };
        self.half[action] * share
    }

    fn rank(&self, value: Vec<f64>, tolerance: Vec<f64>) -> Ranking {
        let (plain, sure, maybe) = (self.plain.clone(), self.sure.clone(), self.maybe.clone());
        Ranking { value, tolerance, plain, sure, maybe }
    }

    fn widest(&self) -> Ranking {
        let tolerance = self.gain.iter().map(|gain| 4.0 * OFF * gain).collect();
        self.rank(self.gain.clone(), tolerance)
    }

    /// Greed is capped by what pending decisions shrink, and both may depend on rounding.
    fn at_greed(&self, greed: f64) -> Vec<Ranking> {
        if greed == 0.0 {
            return vec![self.widest()];
        }
        [&self.plain, &self.sure, &self.maybe].map(|among| self.tempered(greed, among)).into()
    }

    fn tempered(&self, greed: f64, among: &[bool]) -> Ranking {
        let steepest = if greed < 1.0 { self.most(among, |a| self.steep[a]) } else { 0.0 };
        let known =
            |a: usize| self.shorter(a).max((steepest * self.steep[a]).sqrt() * self.counted[a]);
        let shrunk =
            |a: usize| if self.counted[a] > 0.0 { self.omega[a] / self.counted[a] } else { 1.0 };
        let most = if self.has_design { self.most(among, shrunk).max(1.0) } else { 1.0 };
        let greed = greed.min(1.0 / most);
        let actions = || 0..self.z.len();
        let value = actions().map(|a| greed * self.middle[a] + known(a)).collect();
        let off = |a: usize| 4.0 * OFF * (self.half[a] + known(a) + self.middle[a]);
        self.rank(value, actions().map(off).collect())
    }

    /// The widest while the largest measure is above what is wanted, else greed 1.
    fn explore_above(&self, wanted: f64, measure: impl Fn(usize) -> f64) -> Vec<Ranking> {
        let reached = self.most(&self.plain, &measure);
        let surely = self.most(&self.sure, &measure) * (1.0 - 4.0 * OFF) > wanted;
        let perhaps = self.most(&self.maybe, &measure) * (1.0 + 4.0 * OFF) > wanted;
        let (widest, met) = (vec![self.widest()], self.at_greed(1.0));
        let (first, second) = if reached > wanted { (widest, met) } else { (met, widest) };
        if surely == perhaps { first } else { [first, second].concat() }
    }
}
