//! Problems whose means follow a linear rule on another scale: clicks and counts.

use super::own_table::nearest_rule;
use super::scattered::{Rewards, Scattered};
use super::{Bandit, Environment, TableRows, draw_features};
use plausibly::{ActionSet, Link, Stream};

/// Where the rule puts the means.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Placing {
    /// Wherever `θ* ~ N(0, scale²·I)` puts them.
    Drawn { scale: f64 },
    /// From the least to the largest, exactly: a drawn `θ*` is stretched and shifted.
    Between { lowest: f64, highest: f64 },
}

/// Problems with means `μ(⟨x, θ*⟩)`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct GlmProblems {
    pub(crate) link: Link,
    pub(crate) dim: usize,
    pub(crate) actions: usize,
    /// Whether the first feature of every action is 1. The drawn part of `θ*` leaves it out.
    pub(crate) intercept: bool,
    /// Whether policies see arms, with the same means and luck, in the place of the features.
    pub(crate) hidden: bool,
    pub(crate) placing: Placing,
}

impl GlmProblems {
    /// How rewards scatter about their means.
    fn rewards(&self) -> Rewards {
        match self.link {
            Link::Logistic => Rewards::YesNo,
            Link::Poisson => Rewards::Count,
        }
    }

    /// The range that rewards keep to, if there is one.
    pub(crate) fn reward_range(&self) -> Option<(f64, f64)> {
        self.rewards().range(self.link.reward_range())
    }

    /// The largest mean there can be.
    pub(crate) fn largest_mean(&self) -> f64 {
        match self.placing {
            Placing::Between { highest, .. } if self.link == Link::Poisson => highest,
            _ => self.link.reward_range().1,
        }
    }

    /// Draws a problem: actions uniform on the cube, after an intercept if there is one. Policies
    /// assume the largest mean as a bound on the norm of a linear rule: one with a larger norm has
    /// means beyond it in some corner of the cube.
    pub(crate) fn draw(&self, rng: &mut Stream) -> impl Environment + use<> {
        let drawn = self.dim - usize::from(self.intercept);
        let weights: Vec<f64> = (0..drawn).map(|_| rng.normal()).collect();
        let mut features = vec![0.0; self.actions * drawn];
        draw_features(&mut features, rng);
        let intercept: &[f64] = if self.intercept { &[1.0] } else { &[] };
        let rows: Vec<f64> = features
            .chunks_exact(drawn)
            .flat_map(|row| intercept.iter().chain(row))
            .copied()
            .collect();
        self.problem(rows, &weights, self.largest_mean())
    }

    /// Draws a rule for the rows of a table, which begin with an intercept.
    pub(crate) fn draw_rule(&self, rows: &TableRows, rng: &mut Stream) -> impl Environment + use<> {
        let weights: Vec<f64> = (1..self.dim).map(|_| rng.normal()).collect();
        let theta_norm_bound = rows.for_means_to(self.largest_mean());
        self.problem(rows.features.clone(), &weights, theta_norm_bound)
    }

    fn problem(
        &self,
        rows: Vec<f64>,
        weights: &[f64],
        theta_norm_bound: f64,
    ) -> impl Environment + use<> {
        let means = self.means(&rows, weights);
        let noise = means.iter().map(|mean| mean.sqrt()).collect();
        if self.hidden {
            let bandit = Bandit::arms(means, 1.0);
            return Scattered::new(bandit, self.rewards(), self.link.reward_range(), noise, None);
        }
        let set = ActionSet::from_flat(rows, self.dim).expect("features are within range");
        // What models that are linear in rewards can know of the truth.
        let nearest = nearest_rule(&set, &means);
        let bandit = Bandit::linear(set, nearest, 1.0).within(theta_norm_bound).with_means(means);
        Scattered::new(bandit, self.rewards(), self.link.reward_range(), noise, None)
    }

    /// The means of rows by these weights of their drawn features.
    fn means(&self, rows: &[f64], weights: &[f64]) -> Vec<f64> {
        let first = usize::from(self.intercept);
        let score = |row: &[f64]| row[first..].iter().zip(weights).map(|(x, w)| x * w).sum::<f64>();
        let mut scores: Vec<f64> = rows.chunks_exact(self.dim).map(score).collect();
        let least = scores.iter().copied().fold(f64::INFINITY, f64::min);
        let span = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max) - least;
        for score in &mut scores {
            *score = match self.placing {
                Placing::Drawn { scale } => self.link.mean(scale * *score),
                // A single action has the least mean.
                Placing::Between { lowest, .. } if *score <= least => lowest,
                Placing::Between { highest, .. } if *score - least >= span => highest,
                Placing::Between { lowest, highest } => {
                    let [low, high] = [lowest, highest].map(|mean| self.link.of_mean(mean));
                    let z = low + (*score - least) / span * (high - low);
                    self.link.mean(z).clamp(lowest, highest)
                }
            };
        }
        scores
    }
}

#[cfg(test)]
mod laws;
