//! Rows of a table with features, and means by a linear or a logistic rule.

use super::scattered::{Rewards, Scattered};
use super::{Bandit, Environment, draw_features};
use plausibly::{ActionSet, Stream};

/// The range of the rewards of a table, unless they are normal: that of logs, which scale rewards
/// to length one about zero.
pub(crate) const TABLE_REWARDS: (f64, f64) = (-0.5, 0.5);

/// `S` of a drawn table: that of a log with its columns.
pub(crate) const DRAWN_NORM_BOUND: f64 = 1.0;

/// Categories of the columns of a drawn table, and its columns of numbers.
const CATEGORIES: [usize; 2] = [4, 3];
const NUMBERS: usize = 2;
/// With an intercept.
pub(crate) const DRAWN_DIM: usize = 1 + CATEGORIES[0] + CATEGORIES[1] + NUMBERS;

/// How means follow from features.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rule {
    /// `⟨x, θ*⟩`.
    Linear,
    /// `½·tanh(2·⟨x, θ*⟩)`, which is the logistic function of `4·⟨x, θ*⟩` minus ½. It has slope 1
    /// at zero, where it is near the linear rule.
    Logistic,
}

impl Rule {
    fn mean(self, score: f64) -> f64 {
        match self {
            Self::Linear => score,
            Self::Logistic => 0.5 * libm::tanh(2.0 * score),
        }
    }

    /// The score with this mean.
    fn score(self, mean: f64) -> f64 {
        match self {
            Self::Linear => mean,
            Self::Logistic => 0.5 * libm::atanh(2.0 * mean),
        }
    }
}

/// Problems over rows with features.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct TableProblems {
    pub(crate) actions: usize,
    /// `S`: every `θ*` has at most this norm.
    pub(crate) theta_norm_bound: f64,
    /// Mean of the means.
    pub(crate) centre: f64,
    /// Their standard deviation.
    pub(crate) spread: f64,
    pub(crate) rule: Rule,
    /// How far each mean lies from the rule.
    pub(crate) misspecified: f64,
    pub(crate) rewards: Rewards,
    pub(crate) noise: f64,
}

impl TableProblems {
    /// The largest magnitude of a mean of the rule for which every reward stays in the range.
    pub(crate) fn largest_mean(&self) -> f64 {
        TABLE_REWARDS.1 - self.misspecified - self.rewards.reach(self.noise)
    }

    /// The largest magnitude of `centre` for which, besides, `‖θ*‖` can keep to its bound.
    pub(crate) fn largest_centre(&self) -> f64 {
        self.largest_mean().min(self.rule.mean(self.theta_norm_bound))
    }

    /// Draws a table and a rule.
    pub(crate) fn draw(&self, rng: &mut Stream) -> impl Environment + use<> {
        self.draw_rule(draw_rows(self.actions, rng), rng)
    }

    /// Draws a rule for these rows, which begin with an intercept.
    pub(crate) fn draw_rule(&self, rows: Vec<f64>, rng: &mut Stream) -> impl Environment + use<> {
        let theta_star = self.draw_theta(&rows, rng);
        let set = ActionSet::from_flat(rows, theta_star.len()).expect("features are within range");
        let linear = Bandit::linear(set, theta_star, 1.0).within(self.theta_norm_bound);
        let mean = |score: &f64| {
            let away = if rng.bits() & 1 == 0 { self.misspecified } else { -self.misspecified };
            self.rule.mean(*score) + away
        };
        let means: Vec<f64> = linear.means().iter().map(mean).collect();
        let noise = vec![self.noise; means.len()];
        Scattered::new(linear.with_means(means), self.rewards, TABLE_REWARDS, noise, None)
    }

    /// Draws `θ*` for rows that begin with an intercept: `t·z` for the other features, `z ~ N(0,
    /// I)`, and the intercept that gives the scores the stated mean. `t` gives them the stated
    /// standard deviation, or is the largest number at which all means keep to
    /// [`TableProblems::largest_mean`] and `‖θ*‖` to its bound, if that is less.
    fn draw_theta(&self, rows: &[f64], rng: &mut Stream) -> Vec<f64> {
        let dim = rows.len() / self.actions;
        let mut z: Vec<f64> = (1..dim).map(|_| rng.normal()).collect();
        let dot = |row: &[f64]| row[1..].iter().zip(&z).map(|(x, z)| x * z).sum::<f64>();
        let scores: Vec<f64> = rows.chunks_exact(dim).map(dot).collect();
        let count = scores.len() as f64;
        let mean = scores.iter().sum::<f64>() / count;
        let variance = scores.iter().map(|score| (score - mean) * (score - mean)).sum::<f64>();
        let reach = |sign: f64| scores.iter().map(|s| sign * (s - mean)).fold(0.0, f64::max);
        let centre = self.rule.score(self.centre);
        let limit = self.rule.score(self.largest_mean());
        // The larger root of (centre − t·mean)² + t²·‖z‖² = S². The centre is within ±S, so it is
        // not negative.
        let square = mean * mean + z.iter().map(|z| z * z).sum::<f64>();
        let room = self.theta_norm_bound * self.theta_norm_bound - centre * centre;
        let in_ball =
            (centre * mean + (centre * centre * mean * mean + square * room).sqrt()) / square;
        // Equal scores give quotients by zero, infinite or not a number, which `min` passes over.
        let t = in_ball
            .min(self.spread / (variance / count).sqrt())
            .min((limit - centre) / reach(1.0))
            .min((limit + centre) / reach(-1.0));
        for z in &mut z {
            *z *= t;
        }
        z.insert(0, centre - t * mean);
        z
    }
}

/// Rows of an intercept, one feature per category, and numbers uniform on `[−1, 1]`.
fn draw_rows(actions: usize, rng: &mut Stream) -> Vec<f64> {
    let mut rows = vec![0.0; actions * DRAWN_DIM];
    for row in rows.chunks_exact_mut(DRAWN_DIM) {
        row[0] = 1.0;
        let mut first = 1;
        for categories in CATEGORIES {
            row[first + rng.index(categories)] = 1.0;
            first += categories;
        }
        draw_features(&mut row[first..], rng);
    }
    rows
}
