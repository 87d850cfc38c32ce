//! What is measured of a policy, as observers.

use crate::observer::{Decided, Observer, Rewarded};
use plausibly::{
    Action, Actions, ConfidenceRadius, Contenders, Estimator, Plausible, Reach, Sought,
};

/// Pseudo-regret: `R_n = Σ_t max_a ⟨a, θ*⟩ − ⟨A_t, θ*⟩`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Regret {
    total: f64,
}

impl Regret {
    /// None yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// So far.
    pub fn total(&self) -> f64 {
        self.total
    }
}

impl<P: ?Sized> Observer<P> for Regret {
    fn decided(&mut self, decided: &Decided<'_, P>) {
        self.total += decided.best_mean - decided.means[decided.chosen];
    }
}

/// Where a metric takes its estimates from: a model that it teaches what the policy learns, which
/// is any [`Estimator`], or what the policy itself has learned.
pub trait Source<P: ?Sized> {
    /// What has been learned.
    fn estimator<'a>(&'a self, policy: &'a P) -> &'a dyn Estimator;

    /// The actions among which all that are plausible at this reach are to be found.
    fn plausible<'a>(
        &'a mut self,
        policy: &P,
        actions: Actions<'_>,
        reach: Reach,
    ) -> Contenders<'a>;

    /// Learns a reward that the policy has just learned.
    fn learn(&mut self, action: Action<'_>, reward: f64);
}

impl<P: ?Sized, E: Estimator> Source<P> for E {
    fn estimator<'a>(&'a self, _: &'a P) -> &'a dyn Estimator {
        self
    }

    fn plausible<'a>(&'a mut self, _: &P, actions: Actions<'_>, reach: Reach) -> Contenders<'a> {
        self.contenders(actions, reach, Sought::Plausible)
    }

    fn learn(&mut self, action: Action<'_>, reward: f64) {
        self.update(action, reward);
    }
}

/// Model error: `Q_n = Σ_t max_{a ∈ Ã_t} (⟨a, θ̂_t⟩ − ⟨a, θ*⟩)²`.
///
/// Estimate and plausible set are computed from the policy's own history by an estimate and a
/// radius of the metric's own, the same for all policies of a comparison. So every policy has a
/// `Q_n`, whatever it is made of, and all are measured by one ruler. An arm never taken is
/// estimated at 0, as everywhere.
#[derive(Clone, Debug)]
pub struct ModelError<S, R> {
    source: S,
    radius: R,
    plausible: Plausible,
    /// Of the contenders.
    truth: Vec<f64>,
    total: f64,
    plausible_count: usize,
    theta_star: Vec<f64>,
    /// The square of the deviation from `θ*` is at most this.
    deviation_sq: f64,
    /// By how much the rewards since the last decision were off their means.
    noises: Vec<f64>,
    left: bool,
}

impl<S, R> ModelError<S, R> {
    /// Nothing seen yet, nor learned by `source`.
    pub fn new(source: S, radius: R) -> Self {
        Self {
            source,
            radius,
            plausible: Plausible::new(),
            truth: Vec::new(),
            total: 0.0,
            plausible_count: 0,
            theta_star: Vec::new(),
            deviation_sq: f64::INFINITY,
            noises: Vec::new(),
            left: false,
        }
    }

    /// `Q_t` so far.
    pub fn total(&self) -> f64 {
        self.total
    }

    /// Size of the plausible set in the last round.
    pub fn plausible_count(&self) -> usize {
        self.plausible_count
    }

    /// Whether `θ*` has ever been outside the confidence set.
    pub fn theta_star_left(&self) -> bool {
        self.left
    }

    /// Whether `θ*` is in the confidence set. Looked at where it is not known from before: it moves
    /// by the noise of the observations since at most.
    fn look_for<P: ?Sized>(&mut self, theta_star: &[f64], policy: &P, reach: Reach)
    where
        S: Source<P>,
    {
        let model = self.source.estimator(policy);
        let Reach::Ellipsoid { sqrt_beta } = reach else {
            self.left |= !model.holds(theta_star, reach);
            return;
        };
        for noise in &self.noises {
            self.deviation_sq += model.deviation_growth(*noise);
        }
        // A margin far above what rounding does to either.
        if self.deviation_sq < (1.0 - 1e-6) * sqrt_beta * sqrt_beta {
            return;
        }
        self.theta_star.clear();
        self.theta_star.extend_from_slice(theta_star);
        let deviation = model.deviation(theta_star);
        self.deviation_sq = deviation * deviation;
        self.left = deviation > sqrt_beta;
    }
}

impl<P: ?Sized, S: Source<P>, R: ConfidenceRadius> Observer<P> for ModelError<S, R> {
    fn decided(&mut self, decided: &Decided<'_, P>) {
        let policy = decided.policy;
        let reach = self.radius.reach(&self.source.estimator(policy).evidence());
        if !self.left {
            self.look_for(decided.theta_star, policy, reach);
        }
        self.noises.clear();
        let contenders = self.source.plausible(policy, decided.actions, reach);
        self.plausible.assess(contenders.scores(), reach);
        let truth = match contenders.indices() {
            None => decided.means,
            Some(indices) => {
                self.truth.clear();
                self.truth.extend(indices.iter().map(|index| decided.means[*index]));
                &self.truth
            }
        };
        let summary = self.plausible.summary(contenders.scores(), truth);
        self.plausible_count = summary.count;
        self.total += summary.error_sq;
    }

    fn rewarded(&mut self, rewarded: &Rewarded<'_>) {
        self.source.learn(rewarded.action, rewarded.reward);
        // Where nothing was known before there is no θ* yet, and nothing is known after.
        let mean: f64 = rewarded
            .action
            .features()
            .iter()
            .zip(&self.theta_star)
            .map(|(x, theta)| x * theta)
            .sum();
        self.noises.push(rewarded.reward - mean);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use plausibly::{Action, ActionSet, Actions, Evidence, Fixed, Ridge, Scores, Stream};

    /// A ridge of which it is not known how far an observation can move it; or, wrongly, taken not
    /// to move at all.
    struct Looked {
        model: Ridge,
        growth: f64,
    }

    impl Estimator for Looked {
        fn scores(&mut self, actions: Actions<'_>) -> &Scores {
            self.model.scores(actions)
        }

        fn score_into(&self, actions: Actions<'_>, out: &mut Scores) {
            self.model.score_into(actions, out);
        }

        fn update(&mut self, action: Action<'_>, reward: f64) {
            self.model.update(action, reward);
        }

        fn evidence(&self) -> Evidence {
            self.model.evidence()
        }

        fn deviation(&self, theta_star: &[f64]) -> f64 {
            self.model.deviation(theta_star)
        }

        fn deviation_growth(&self, _: f64) -> f64 {
            self.growth
        }
    }

    /// In which round the metric first finds `θ*` outside, if it does.
    fn left_in<E: Estimator>(number: u64, model: impl Fn(usize) -> E) -> Option<u64> {
        let rng = &mut Stream::new(3, number, "metric");
        let dim = 1 + rng.index(5);
        let features = (0..10 * dim).map(|_| rng.normal()).collect();
        let set = ActionSet::from_flat(features, dim).unwrap();
        let theta_star: Vec<f64> = (0..dim).map(|_| 0.5 * rng.normal()).collect();
        let mut means = Vec::new();
        set.view().dot_into(&theta_star, &mut means);
        let radius = Fixed { sqrt_beta: (dim as f64).sqrt() + 1.0 + rng.uniform() };
        let mut metric = ModelError::new(model(dim), radius);
        (1..=200).find(|round| {
            let (chosen, actions) = (rng.index(10), set.view());
            let (means, theta_star) = (&*means, &*theta_star);
            let best_mean = means.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            metric.decided(&Decided {
                round: *round,
                actions,
                means,
                best_mean,
                theta_star,
                chosen,
                policy: &(),
            });
            let reward = means[chosen] + rng.normal();
            Observer::<()>::rewarded(
                &mut metric,
                &Rewarded { round: *round, action: actions.get(chosen), reward },
            );
            metric.theta_star_left()
        })
    }

    #[test]
    fn theta_star_is_found_outside_in_the_round_in_which_it_is() {
        let ridge = |dim| Ridge::new(dim, 1.0).unwrap();
        let looked = |growth| move |dim| Looked { model: ridge(dim), growth };
        let (mut left, mut overlooked) = (0, 0);
        for number in 0..400 {
            let expected = left_in(number, looked(f64::INFINITY));
            assert_eq!(left_in(number, ridge), expected, "problem {number}");
            left += usize::from(expected.is_some());
            overlooked += usize::from(left_in(number, looked(0.0)) != expected);
        }
        assert!(left > 40 && left < 360, "it left in {left} of 400, which tells little");
        assert!(
            overlooked > 40,
            "an estimate that is taken not to move was noticed {overlooked} times only"
        );
    }
}
