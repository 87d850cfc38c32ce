//! Linear problems with new actions in every round.

use super::{Environment, draw_features, draw_theta, true_means};
use plausibly::spec::Setting;
use plausibly::{ActionIndex, ActionSet, Actions, Stream};

/// `reward = ⟨a, θ*⟩ + N(0, σ²)`, with actions drawn anew, uniform on `[−1, 1]ᵈ`, in every round.
#[derive(Debug)]
pub struct ChangingLinear {
    set: ActionSet,
    theta_star: Vec<f64>,
    means: Vec<f64>,
    noise: f64,
}

impl ChangingLinear {
    /// A random problem: `θ* ~ N(0, I)`.
    ///
    /// # Panics
    /// If there are no actions or no dimensions.
    pub fn random(dim: usize, actions: usize, noise: f64, rng: &mut Stream) -> Self {
        let theta_star = draw_theta(dim, rng);
        let set = ActionSet::from_flat(vec![0.0; actions * dim], dim).expect("zeros are within range");
        Self { set, theta_star, means: vec![0.0; actions], noise }
    }
}

impl Environment for ChangingLinear {
    fn advance(&mut self, rng: &mut Stream) {
        self.set.refill(|features| draw_features(features, rng)).expect("random features are within range");
        true_means(self.set.view(), &self.theta_star, &mut self.means);
    }

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
        Setting::Changing
    }

    fn noise_scale(&self) -> f64 {
        self.noise
    }

    /// `√d`, the corner of the cube: the sets to come are not known in advance.
    fn action_norm_bound(&self) -> f64 {
        (self.theta_star.len() as f64).sqrt()
    }
}
