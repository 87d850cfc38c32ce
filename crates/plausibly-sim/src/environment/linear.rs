//! Linear problems with one set of actions.

use super::{Environment, draw_features, draw_theta, true_means};
use plausibly::spec::Setting;
use plausibly::{ActionIndex, ActionSet, Actions, Stream};

/// `reward = ⟨a, θ*⟩ + N(0, σ²)`, the same actions in every round.
#[derive(Debug)]
pub struct FixedLinear {
    set: ActionSet,
    theta_star: Vec<f64>,
    means: Vec<f64>,
    noise: f64,
}

impl FixedLinear {
    /// A given problem.
    ///
    /// # Panics
    /// If `theta_star` has another dimension than the actions.
    pub fn new(set: ActionSet, theta_star: Vec<f64>, noise: f64) -> Self {
        assert!(set.view().dim() == theta_star.len(), "θ* and the actions differ in dimension");
        let mut means = Vec::new();
        true_means(set.view(), &theta_star, &mut means);
        Self { set, theta_star, means, noise }
    }

    /// A random problem: `θ* ~ N(0, I)`, actions uniform on `[−1, 1]ᵈ`.
    ///
    /// # Panics
    /// If there are no actions or no dimensions.
    pub fn random(dim: usize, actions: usize, noise: f64, rng: &mut Stream) -> Self {
        let theta_star = draw_theta(dim, rng);
        let mut features = vec![0.0; actions * dim];
        draw_features(&mut features, rng);
        let set = ActionSet::from_flat(features, dim).expect("random features are within range");
        Self::new(set, theta_star, noise)
    }
}

impl Environment for FixedLinear {
    fn advance(&mut self, _: &mut Stream) {}

    fn actions(&self) -> Actions<'_> {
        self.set.view()
    }

    fn means(&self) -> &[f64] {
        &self.means
    }

    fn theta_star(&self) -> &[f64] {
        &self.theta_star
    }

    fn reward(&self, chosen: ActionIndex, rng: &mut Stream) -> f64 {
        self.means[chosen] + self.noise * rng.normal()
    }

    fn setting(&self) -> Setting {
        Setting::Fixed
    }

    fn noise_scale(&self) -> f64 {
        self.noise
    }

    fn action_norm_bound(&self) -> f64 {
        self.set.view().largest_norm()
    }
}
