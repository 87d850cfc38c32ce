//! Means and standard errors over runs, updated run by run, so that memory does not grow with runs.

/// Mean and squared deviations of a stream of numbers, by Welford's method. Order matters to the
/// last bit.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Moments {
    count: u64,
    mean: f64,
    squares: f64,
}

impl Moments {
    /// Adds a number.
    pub fn add(&mut self, x: f64) {
        self.count += 1;
        let before = x - self.mean;
        self.mean += before / self.count as f64;
        self.squares += before * (x - self.mean);
    }

    /// The mean; zero without numbers.
    pub fn mean(&self) -> f64 {
        self.mean
    }

    /// Standard error of the mean; `None` for fewer than two numbers.
    pub fn standard_error(&self) -> Option<f64> {
        let n = self.count as f64;
        (self.count > 1).then(|| (self.squares / (n - 1.0) / n).sqrt())
    }
}

/// Means and pairwise covariances of several numbers per run, in one pass. A paired comparison
/// needs nothing else of the runs, and the size does not depend on their number.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct JointMoments {
    count: u64,
    mean: Vec<f64>,
    /// Summed products of deviations, row-major.
    products: Vec<f64>,
    largest: Vec<f64>,
}

impl JointMoments {
    /// No runs yet; `width` numbers per run.
    pub fn new(width: usize) -> Self {
        Self {
            count: 0,
            mean: vec![0.0; width],
            products: vec![0.0; width * width],
            largest: vec![f64::NEG_INFINITY; width],
        }
    }

    /// Adds the numbers of one run.
    ///
    /// # Panics
    /// If their number is not `width`.
    pub fn add(&mut self, run: &[f64]) {
        assert!(
            run.len() == self.mean.len(),
            "one number for each of {} policies",
            self.mean.len()
        );
        self.count += 1;
        let n = self.count as f64;
        let off: Vec<f64> = run.iter().zip(&self.mean).map(|(x, mean)| x - mean).collect();
        for (row, before) in self.products.chunks_exact_mut(off.len()).zip(&off) {
            for (product, other) in row.iter_mut().zip(&off) {
                *product += before * other * ((n - 1.0) / n);
            }
        }
        for ((mean, largest), (before, x)) in
            self.mean.iter_mut().zip(&mut self.largest).zip(off.iter().zip(run))
        {
            *mean += before / n;
            *largest = largest.max(*x);
        }
    }

    /// Number of runs.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Mean of the `i`-th number; zero without runs.
    pub fn mean(&self, i: usize) -> f64 {
        self.mean[i]
    }

    /// Sample covariance of the `i`-th and the `j`-th; `None` for fewer than two runs.
    pub fn covariance(&self, i: usize, j: usize) -> Option<f64> {
        (self.count > 1).then(|| self.products[i * self.mean.len() + j] / (self.count - 1) as f64)
    }

    /// The largest run's share of the sum over all runs: near one if a single run determines the
    /// mean.
    pub fn largest_share(&self, i: usize) -> f64 {
        self.largest[i] / (self.mean[i] * self.count as f64)
    }
}

/// One policy at one round, over all runs.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Point {
    /// Cumulative pseudo-regret.
    pub regret: Moments,
    /// Cumulative model error.
    pub model_error: Moments,
    /// Size of the plausible set in this round.
    pub plausible: Moments,
}

/// One policy over all runs.
#[derive(Clone, Debug, PartialEq)]
pub struct PolicySummary {
    /// Its label.
    pub label: String,
    /// Its curve: one point for each round of [`Summary::rounds`].
    pub points: Vec<Point>,
    /// Number of runs in which `θ*` left the metric's confidence set.
    pub runs_left: u64,
}

impl PolicySummary {
    /// The point at the horizon.
    ///
    /// # Panics
    /// Never: a grid has at least one round.
    pub fn last(&self) -> &Point {
        self.points.last().expect("a grid ends at the horizon")
    }
}

/// The outcome of a comparison. Its size depends only on the policies and the grid.
#[derive(Clone, Debug, PartialEq)]
pub struct Summary {
    /// Number of runs.
    pub runs: u64,
    /// The rounds at which curves were recorded.
    pub rounds: Vec<u64>,
    /// The policies, in the order of the comparison.
    pub policies: Vec<PolicySummary>,
    /// Regret at the horizon, jointly over the policies in their order.
    pub final_regret: JointMoments,
    /// Model error at the horizon, jointly over the policies in their order.
    pub final_model_error: JointMoments,
}

/// The contribution of one run: each policy's curve, and whether `θ*` left the set.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Run {
    pub(crate) curves: Vec<Vec<Sample>>,
    pub(crate) left: Vec<bool>,
}

/// One policy at one round of one run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Sample {
    pub(crate) regret: f64,
    pub(crate) model_error: f64,
    pub(crate) plausible: f64,
}

/// One policy at the end of one run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FinalFigures {
    /// Cumulative pseudo-regret.
    pub regret: f64,
    /// Cumulative model error.
    pub model_error: f64,
    /// Size of the plausible set in the last round.
    pub plausible: f64,
    /// Whether `θ*` ever left the metric's confidence set.
    pub theta_star_left: bool,
}

impl Run {
    /// The figures of every policy at the horizon.
    pub(crate) fn last(&self) -> Vec<FinalFigures> {
        let samples = self.curves.iter().filter_map(|curve| curve.last());
        let figures = |(sample, left): (&Sample, &bool)| FinalFigures {
            regret: sample.regret,
            model_error: sample.model_error,
            plausible: sample.plausible,
            theta_star_left: *left,
        };
        samples.zip(&self.left).map(figures).collect()
    }
}

impl Summary {
    pub(crate) fn new(labels: impl Iterator<Item = String>, rounds: Vec<u64>) -> Self {
        let points = vec![Point::default(); rounds.len()];
        let policies: Vec<_> = labels
            .map(|label| PolicySummary { label, points: points.clone(), runs_left: 0 })
            .collect();
        let joint = JointMoments::new(policies.len());
        Self { runs: 0, rounds, policies, final_regret: joint.clone(), final_model_error: joint }
    }

    pub(crate) fn add(&mut self, run: &Run) {
        self.runs += 1;
        let last = |pick: fn(&Sample) -> f64| -> Vec<f64> {
            run.curves.iter().filter_map(|curve| curve.last()).map(pick).collect()
        };
        self.final_regret.add(&last(|sample| sample.regret));
        self.final_model_error.add(&last(|sample| sample.model_error));
        for ((policy, curve), left) in self.policies.iter_mut().zip(&run.curves).zip(&run.left) {
            policy.runs_left += u64::from(*left);
            for (point, sample) in policy.points.iter_mut().zip(curve) {
                point.regret.add(sample.regret);
                point.model_error.add(sample.model_error);
                point.plausible.add(sample.plausible);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{JointMoments, Moments};

    #[test]
    fn joint_moments_are_the_textbook_ones() {
        let runs = [[1.0, 4.0], [2.0, 1.0], [6.0, 1.0], [3.0, -2.0]];
        let mut joint = JointMoments::new(2);
        let mut difference = Moments::default();
        for run in &runs {
            joint.add(run);
            difference.add(run[0] - run[1]);
        }
        assert_eq!((joint.count(), joint.mean(0), joint.mean(1)), (4, 3.0, 1.0));
        let covariance = |i, j| joint.covariance(i, j).unwrap();
        assert!((covariance(0, 0) - 14.0 / 3.0).abs() < 1e-15);
        assert!((covariance(0, 1) + 2.0).abs() < 1e-15, "(−2·3 − 0 + 0 + 0)/3");
        assert_eq!(covariance(0, 1).to_bits(), covariance(1, 0).to_bits());
        let of_difference = (covariance(0, 0) + covariance(1, 1) - 2.0 * covariance(0, 1)) / 4.0;
        assert!((of_difference.sqrt() - difference.standard_error().unwrap()).abs() < 1e-15);
        assert!((joint.largest_share(0) - 0.5).abs() < 1e-15);
        assert_eq!(JointMoments::new(1).covariance(0, 0), None);
    }
}
