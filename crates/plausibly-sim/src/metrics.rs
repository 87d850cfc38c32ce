//! What is measured of a policy, as observers.

use crate::observer::{Decided, Observer, Rewarded};
use plausibly::{ConfidenceRadius, Estimator, Plausible, Sought};

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

/// Model error: `Q_n = Σ_t max_{a ∈ Ã_t} (⟨a, θ̂_t⟩ − ⟨a, θ*⟩)²`.
///
/// Estimate and plausible set are computed from the policy's own history by a model and radius of the metric's own, the
/// same for all policies of a comparison. So every policy has a `Q_n`, whatever it is made of, and all are measured by one
/// ruler. An arm never taken is estimated at 0, as everywhere.
#[derive(Clone, Debug)]
pub struct ModelError<E, R> {
    model: E,
    radius: R,
    plausible: Plausible,
    /// Of the contenders.
    truth: Vec<f64>,
    total: f64,
    plausible_count: usize,
    left: bool,
}

impl<E: Estimator, R: ConfidenceRadius> ModelError<E, R> {
    /// Nothing seen yet; `model` is fresh.
    pub fn new(model: E, radius: R) -> Self {
        Self {
            model,
            radius,
            plausible: Plausible::new(),
            truth: Vec::new(),
            total: 0.0,
            plausible_count: 0,
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
}

impl<P: ?Sized, E: Estimator, R: ConfidenceRadius> Observer<P> for ModelError<E, R> {
    fn decided(&mut self, decided: &Decided<'_, P>) {
        let reach = self.radius.reach(&self.model.evidence());
        self.left = self.left || !self.model.holds(decided.theta_star, reach);
        let contenders = self.model.contenders(decided.actions, reach, Sought::Plausible);
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
        self.model.update(rewarded.action, rewarded.reward);
    }
}
