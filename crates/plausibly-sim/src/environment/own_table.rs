//! A table of your own, with a column of means.

use super::scattered::{Rewards, Scattered};
use super::{ARM_REWARDS, Bandit, Environment, TABLE_REWARDS};
use plausibly::{ActionSet, Estimator, Ridge};
use std::sync::Arc;

/// The actions of a table, read from a file.
#[derive(Clone, Debug, PartialEq)]
pub struct TableRows {
    /// Features per action, the first of which is an intercept; 0 for arms without features.
    pub dim: usize,
    /// The features, action by action.
    pub features: Vec<f64>,
    /// The line of each action in its file.
    pub lines: Vec<u64>,
    /// `S`, for rewards in a range of length one about zero.
    pub theta_norm_bound: f64,
    /// The mean reward of each action, if a column of them was named.
    pub means: Option<Vec<f64>>,
}

impl TableRows {
    /// `S` for means of at most this magnitude.
    pub(super) fn for_means_to(&self, largest: f64) -> f64 {
        self.theta_norm_bound * (largest / TABLE_REWARDS.1)
    }
}

/// The ridge of the fit of `θ*`: small enough to change it by about a millionth, large enough for
/// features that depend on each other, as categories and the intercept do.
const FIT_RIDGE: f64 = 1e-6;

/// The one problem with the means of a column.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ColumnMeans {
    rows: Arc<TableRows>,
    /// In the range that policies know: of rows with features, ½ below those of the column.
    means: Vec<f64>,
    theta_star: Vec<f64>,
    rewards: Rewards,
    /// Where rewards lie, if they have a range.
    range: (f64, f64),
    noise: f64,
}

impl ColumnMeans {
    /// The problem of these rows and of means that leave their rewards in `[0, 1]`, if those have a
    /// range. Of rows with features such rewards are then moved into this range.
    pub(crate) fn new(
        rows: Arc<TableRows>,
        mut means: Vec<f64>,
        (rewards, range): (Rewards, (f64, f64)),
        noise: f64,
    ) -> Self {
        let mut theta_star = Vec::new();
        let range = if rows.dim == 0 { ARM_REWARDS } else { range };
        if rows.dim > 0 {
            if rewards.range(range).is_some() {
                for mean in &mut means {
                    *mean += range.0 - ARM_REWARDS.0;
                }
            }
            theta_star = nearest_rule(&action_set(&rows), &means);
        }
        Self { rows, means, theta_star, rewards, range, noise }
    }

    /// The range of its rewards, if they have one.
    pub(crate) fn reward_range(&self) -> Option<(f64, f64)> {
        self.rewards.range(self.range)
    }

    /// Whether its actions are arms.
    pub(crate) fn has_no_features(&self) -> bool {
        self.rows.dim == 0
    }

    pub(crate) fn problem(&self) -> impl Environment + use<> {
        let bandit = if self.has_no_features() {
            Bandit::arms(self.means.clone(), 1.0)
        } else {
            Bandit::linear(action_set(&self.rows), self.theta_star.clone(), 1.0)
                .within(self.known_norm())
                .with_means(self.means.clone())
        };
        let noise = match self.rewards {
            Rewards::Count => self.means.iter().map(|mean| mean.sqrt()).collect(),
            _ => vec![self.noise; self.means.len()],
        };
        Scattered::new(bandit, self.rewards, self.range, noise, None)
    }

    /// What is known about `‖θ*‖`.
    fn known_norm(&self) -> f64 {
        let bound = &self.rows;
        match self.rewards {
            Rewards::YesNo | Rewards::Bounded => bound.for_means_to(self.range.1),
            Rewards::Count => bound.for_means_to(self.means.iter().copied().fold(0.0, f64::max)),
            // Without a range of rewards nothing else bounds θ*.
            Rewards::Normal => {
                let norm = self.theta_star.iter().map(|x| x * x).sum::<f64>().sqrt();
                bound.theta_norm_bound.max(norm)
            }
        }
    }
}

fn action_set(rows: &TableRows) -> ActionSet {
    ActionSet::from_flat(rows.features.clone(), rows.dim).expect("features of a table are in range")
}

/// The least squares fit of the means, up to [`FIT_RIDGE`].
pub(super) fn nearest_rule(set: &ActionSet, means: &[f64]) -> Vec<f64> {
    let actions = set.view();
    let mut fit = Ridge::new(actions.dim(), FIT_RIDGE).expect("the ridge is in range");
    for (action, mean) in actions.iter().zip(means) {
        fit.update(action, *mean);
    }
    fit.theta_hat().to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(dim: usize, features: &[f64], count: u64) -> Arc<TableRows> {
        let (features, lines) = (features.to_vec(), (2..2 + count).collect());
        Arc::new(TableRows { dim, features, lines, theta_norm_bound: 0.5, means: None })
    }

    /// An intercept, two categories that add up to it, and a number.
    const FEATURES: [f64; 16] =
        [1.0, 1.0, 0.0, -1.0, 1.0, 0.0, 1.0, 0.0, 1.0, 1.0, 0.0, 0.5, 1.0, 0.0, 1.0, 1.0];

    #[test]
    fn means_are_those_of_the_column_and_theta_is_their_rule_if_there_is_one() {
        // 0.4 + 0.2 for the second category + 0.1 times the number.
        let linear = [0.3, 0.6, 0.45, 0.7];
        let of = |means: &[f64; 4], rewards| {
            let law = (rewards, TABLE_REWARDS);
            ColumnMeans::new(rows(4, &FEATURES, 4), means.to_vec(), law, 0.03).problem()
        };
        for rewards in [Rewards::YesNo, Rewards::Bounded, Rewards::Normal] {
            let problem = of(&linear, rewards);
            let shift = if rewards == Rewards::Normal { 0.0 } else { 0.5 };
            let bandit = problem.bandit();
            for ((row, mean), stated) in bandit.actions().iter().zip(bandit.means()).zip(&linear) {
                assert!((mean + shift - stated).abs() < 1e-15, "{mean} for {stated}");
                let features = row.features().iter();
                let by_rule: f64 = features.zip(bandit.theta_star()).map(|(x, y)| x * y).sum();
                // The ridge moves a fit by about its share in the least eigenvalue, here near 1.
                assert!((by_rule - mean).abs() < 1e-5, "{by_rule} for {mean}");
            }
            let facts = problem.facts(10);
            let norm = bandit.theta_star().iter().map(|x| x * x).sum::<f64>().sqrt();
            let known = if rewards == Rewards::Normal { norm.max(0.5) } else { 0.5 };
            assert_eq!(facts.theta_norm_bound.to_bits(), known.to_bits());
            assert_eq!(facts.reward_range, rewards.range((-0.5, 0.5)));
        }
        // Means that no rule gives are still those of the column.
        let bent = of(&[0.3, 0.6, 0.9, 0.7], Rewards::YesNo);
        assert!((bent.bandit().best_mean() - 0.4).abs() < 1e-15);
    }

    #[test]
    fn clicks_and_counts_stay_as_they_are() {
        let means = [0.3, 0.6, 0.4, 0.7];
        for (rewards, range, noise, norm) in [
            (Rewards::YesNo, Some((0.0, 1.0)), 0.5, 1.0),
            (Rewards::Count, Some((0.0, f64::INFINITY)), 0.7_f64.sqrt(), 0.7),
        ] {
            let law = (rewards, ARM_REWARDS);
            let problem = ColumnMeans::new(rows(4, &FEATURES, 4), means.into(), law, 0.0);
            assert_eq!(problem.reward_range(), range);
            let problem = problem.problem();
            assert_eq!(problem.bandit().means(), means);
            let facts = problem.facts(10);
            assert_eq!((facts.reward_range, facts.noise_scale), (range, noise));
            // The bound of the rows is ½, for means of at most ½.
            assert_eq!(facts.theta_norm_bound.to_bits(), f64::to_bits(norm));
        }
    }

    #[test]
    fn rows_without_features_are_arms_with_rewards_from_0_to_1() {
        let law = (Rewards::YesNo, TABLE_REWARDS);
        let arms = ColumnMeans::new(rows(0, &[], 2), vec![0.1, 0.9], law, 0.0);
        let facts = arms.problem().facts(10);
        assert_eq!((facts.dim, facts.reward_range), (0, Some((0.0, 1.0))));
        assert_eq!(arms.problem().bandit().means(), [0.1, 0.9]);
    }
}
