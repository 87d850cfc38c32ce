//! Linear problems with new actions in every round.

use super::{Bandit, Environment, draw_features};
use plausibly::Stream;

/// `reward = ⟨a, θ*⟩ + N(0, σ²)`, with new actions, uniform on `[−1, 1]ᵈ`, in every round.
#[derive(Debug)]
pub struct ChangingLinear {
    bandit: Bandit,
    /// `√d`, the corner of the cube: the sets to come are not known in advance.
    action_norm_bound: f64,
}

impl ChangingLinear {
    /// A random problem: `θ* ~ N(0, I)`.
    ///
    /// # Panics
    /// If there are no actions or no dimensions.
    pub fn random(dim: usize, actions: usize, noise: f64, rng: &mut Stream) -> Self {
        let bandit = Bandit::random_linear(dim, actions, noise, rng);
        let mut environment = Self { bandit, action_norm_bound: (dim as f64).sqrt() };
        environment.change(|_| {});
        environment
    }

    fn change(&mut self, write: impl FnOnce(&mut [f64])) {
        self.bandit
            .change_actions(self.action_norm_bound, write)
            .expect("random features are within range");
    }
}

impl Environment for ChangingLinear {
    fn advance(&mut self, rng: &mut Stream) {
        self.change(|features| draw_features(features, rng));
    }

    fn bandit(&self) -> &Bandit {
        &self.bandit
    }
}
