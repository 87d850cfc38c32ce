//! One bandit problem: actions, and the truth about them.

use super::{Environment, draw_features};
use plausibly::spec::{Facts, Setting};
use plausibly::{ActionSet, ActionSetError, Actions, Stream};

/// Actions with their true means, and the noise of their rewards. As an [`Environment`] it offers
/// the same actions in every round.
#[derive(Debug)]
pub struct Bandit {
    set: ActionSet,
    theta_star: Vec<f64>,
    means: Vec<f64>,
    best_mean: f64,
    noise: f64,
    setting: Setting,
    theta_norm_bound: f64,
    action_norm_bound: f64,
    reward_range: Option<(f64, f64)>,
}

impl Bandit {
    /// `reward = ⟨a, θ*⟩ + N(0, noise²)`.
    /// Policies may know the largest norm of an action, and the norm of `θ*`.
    ///
    /// # Panics
    /// If `theta_star` has another dimension than the actions.
    pub fn linear(set: ActionSet, theta_star: Vec<f64>, noise: f64) -> Self {
        assert!(set.view().dim() == theta_star.len(), "θ* and the actions differ in dimension");
        let norm = theta_star.iter().map(|x| x * x).sum::<f64>().sqrt();
        let action_norm_bound = set.view().largest_norm();
        let mut bandit = Self {
            set,
            theta_star,
            means: Vec::new(),
            best_mean: f64::NEG_INFINITY,
            noise,
            setting: Setting::Fixed,
            theta_norm_bound: norm,
            action_norm_bound,
            reward_range: None,
        };
        bandit.renew_means();
        bandit
    }

    /// A random linear problem: `θ* ~ N(0, I)`, actions uniform on `[−1, 1]ᵈ`. Policies assume
    /// `‖θ*‖ ≤ √d`.
    ///
    /// # Panics
    /// If there are no actions or no dimensions.
    pub fn random_linear(dim: usize, actions: usize, noise: f64, rng: &mut Stream) -> Self {
        let theta_star = (0..dim).map(|_| rng.normal()).collect();
        let mut features = vec![0.0; actions * dim];
        draw_features(&mut features, rng);
        let set = ActionSet::from_flat(features, dim).expect("random features are within range");
        Self::linear(set, theta_star, noise).within((dim as f64).sqrt())
    }

    /// `reward = μ(a) + N(0, noise²)`, arms without features.
    ///
    /// # Panics
    /// If there is no arm.
    pub fn arms(means: Vec<f64>, noise: f64) -> Self {
        let set = ActionSet::arms(means.len()).expect("a K-armed problem needs at least one arm");
        let theta_norm_bound = (means.len() as f64).sqrt();
        let theta_star = means.clone();
        Self {
            set,
            theta_star,
            best_mean: largest(&means),
            means,
            noise,
            setting: Setting::Arms,
            theta_norm_bound,
            action_norm_bound: 1.0,
            reward_range: None,
        }
    }

    /// A random K-armed problem: means uniform on `[0, 1)`.
    ///
    /// # Panics
    /// If there is no arm.
    pub fn random_arms(arms: usize, noise: f64, rng: &mut Stream) -> Self {
        Self::arms((0..arms).map(|_| rng.uniform()).collect(), noise)
    }

    /// Policies assume `‖θ*‖ ≤ theta_norm_bound`.
    pub(super) fn within(self, theta_norm_bound: f64) -> Self {
        Self { theta_norm_bound, ..self }
    }

    /// Policies assume noise of this sub-Gaussian scale, and rewards in this range.
    pub(super) fn known_by(self, noise: f64, reward_range: Option<(f64, f64)>) -> Self {
        Self { noise, reward_range, ..self }
    }

    /// With means that may differ from `⟨a, θ*⟩`.
    pub(super) fn with_means(self, means: Vec<f64>) -> Self {
        Self { best_mean: largest(&means), means, ..self }
    }

    /// The actions offered.
    pub fn actions(&self) -> Actions<'_> {
        self.set.view()
    }

    /// The true mean reward of each action.
    pub fn means(&self) -> &[f64] {
        &self.means
    }

    /// The largest of them.
    pub fn best_mean(&self) -> f64 {
        self.best_mean
    }

    /// `θ*`; for arms, their means.
    pub fn theta_star(&self) -> &[f64] {
        &self.theta_star
    }

    /// The scale of the noise that policies may know; its standard deviation if it is Gaussian.
    pub fn noise(&self) -> f64 {
        self.noise
    }

    /// The facts that policies may know when they are built for `horizon` rounds.
    pub fn facts(&self, horizon: u64) -> Facts {
        Facts {
            setting: self.setting,
            dim: self.actions().dim(),
            actions: self.actions().len(),
            horizon,
            noise_scale: self.noise,
            theta_norm_bound: self.theta_norm_bound,
            action_norm_bound: self.action_norm_bound,
            reward_range: self.reward_range,
        }
    }

    /// Replaces the actions, for environments of your own whose actions change. Policies are built
    /// for the number of actions in the first round and for this bound on all later norms.
    ///
    /// # Errors
    /// As [`ActionSet::refill`].
    pub fn change_actions(
        &mut self,
        action_norm_bound: f64,
        write: impl FnOnce(&mut [f64]),
    ) -> Result<(), ActionSetError> {
        self.setting = Setting::Changing;
        self.action_norm_bound = action_norm_bound;
        let refilled = self.set.refill(write);
        self.renew_means();
        refilled
    }

    fn renew_means(&mut self) {
        self.set.view().dot_into(&self.theta_star, &mut self.means);
        self.best_mean = largest(&self.means);
    }
}

/// Uses several lanes, because in a single one each comparison would wait for the last.
fn largest(values: &[f64]) -> f64 {
    let (lanes, rest) = values.as_chunks::<8>();
    let mut best = [f64::NEG_INFINITY; 8];
    for values in lanes {
        for (best, value) in best.iter_mut().zip(values) {
            *best = if value > best { *value } else { *best };
        }
    }
    best.iter().chain(rest).copied().fold(f64::NEG_INFINITY, f64::max)
}

impl Environment for Bandit {
    fn advance(&mut self, _: &mut Stream) {}

    fn bandit(&self) -> &Bandit {
        self
    }
}
