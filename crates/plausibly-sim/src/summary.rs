//! Means and standard errors over runs, as they come in.

/// Mean and squared deviations of a stream of numbers, by Welford's method. Order matters to the last bit.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Moments {
    count: u64,
    mean: f64,
    squares: f64,
}

impl Moments {
    /// Takes in one number.
    pub fn add(&mut self, x: f64) {
        self.count += 1;
        let before = x - self.mean;
        self.mean += before / self.count as f64;
        self.squares += before * (x - self.mean);
    }

    /// The mean; zero if there is nothing.
    pub fn mean(&self) -> f64 {
        self.mean
    }

    /// Standard error of the mean; `None` for fewer than two numbers.
    pub fn standard_error(&self) -> Option<f64> {
        let n = self.count as f64;
        (self.count > 1).then(|| (self.squares / (n - 1.0) / n).sqrt())
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
    /// In how many runs `θ*` left the metric's confidence set.
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

/// The outcome of a comparison. Its size depends on policies and grid alone, not on runs or horizon.
#[derive(Clone, Debug, PartialEq)]
pub struct Summary {
    /// Runs summed up.
    pub runs: u64,
    /// The rounds at which curves were recorded.
    pub rounds: Vec<u64>,
    /// The policies, in the order of the comparison.
    pub policies: Vec<PolicySummary>,
}

/// What one run contributes: for each policy its curve, and whether `θ*` left the set.
#[derive(Clone, Debug)]
pub(crate) struct Run {
    pub(crate) curves: Vec<Vec<Sample>>,
    pub(crate) left: Vec<bool>,
}

/// One policy at one round of one run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sample {
    pub(crate) regret: f64,
    pub(crate) model_error: f64,
    pub(crate) plausible: f64,
}

impl Summary {
    pub(crate) fn new(labels: impl Iterator<Item = String>, rounds: Vec<u64>) -> Self {
        let points = vec![Point::default(); rounds.len()];
        let policies =
            labels.map(|label| PolicySummary { label, points: points.clone(), runs_left: 0 }).collect();
        Self { runs: 0, rounds, policies }
    }

    pub(crate) fn add(&mut self, run: &Run) {
        self.runs += 1;
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
