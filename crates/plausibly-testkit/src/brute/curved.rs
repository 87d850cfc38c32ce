//! Policies over generalised linear models: every set is made from all rewards.
//!
//! The search for `θ₀` ends where it likes, here at the optimum, so sets are those of the model
//! under test up to [`OFF`], not up to rounding.

use super::bounds::candidates;
use super::likelihood::{BrutePrior, Factor, Set, column, factor, square};
use super::policy::{Exploring, judge_exploring};
use super::{Inputs, Ranking, Verdict, judge};

/// How far two sets can differ, as a share of widths.
const OFF: f64 = 1e-5;

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
                return judge_exploring(Exploring::Uniformly, rows, chosen, inputs);
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
