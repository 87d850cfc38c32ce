//! Contexts with one model per arm.
//!
//! Arm `i` of K has the p features of the context in the i-th block of its row and zeros elsewhere,
//! so that one linear model of `K·p` features is a separate model for each arm.

use super::{Bandit, Environment, draw_features};
use plausibly::{ActionSet, Stream};

/// `reward = ⟨x, θ_i⟩ + N(0, σ²)` for arm `i`, with a new context `x`, uniform on `[−1, 1]ᵖ`, in
/// every round.
#[derive(Debug)]
pub struct Contexts {
    bandit: Bandit,
    context: Vec<f64>,
}

impl Contexts {
    /// A random problem: `θ_i ~ N(0, I)`. Policies assume `‖θ*‖ ≤ √(K·p)` over all arms.
    ///
    /// # Panics
    /// If there are no arms, or contexts have no features.
    pub fn random(features: usize, arms: usize, noise: f64, rng: &mut Stream) -> Self {
        let dim = arms * features;
        let theta_star = (0..dim).map(|_| rng.normal()).collect();
        let set = ActionSet::from_flat(vec![0.0; arms * dim], dim).expect("zeros are features");
        let bandit = Bandit::linear(set, theta_star, noise).within((dim as f64).sqrt());
        let mut environment = Self { bandit, context: vec![0.0; features] };
        environment.offer();
        environment
    }

    /// Offers every arm with the present context.
    fn offer(&mut self) {
        let context = &self.context;
        let block = context.len();
        let dim = self.bandit.theta_star().len();
        let write = |rows: &mut [f64]| {
            for (arm, row) in rows.chunks_exact_mut(dim).enumerate() {
                row[arm * block..][..block].copy_from_slice(context);
            }
        };
        self.bandit.change_actions((block as f64).sqrt(), write).expect("features are in range");
    }
}

impl Environment for Contexts {
    fn advance(&mut self, rng: &mut Stream) {
        draw_features(&mut self.context, rng);
        self.offer();
    }

    fn bandit(&self) -> &Bandit {
        &self.bandit
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_arm_meets_the_context_with_a_model_of_its_own() {
        let (mut problem, mut offers) = (Stream::new(1, 0, "problem"), Stream::new(1, 0, "offers"));
        let mut environment = Contexts::random(3, 4, 0.5, &mut problem);
        for _ in 0..5 {
            environment.advance(&mut offers);
            let Contexts { bandit, context } = &environment;
            for (arm, theta) in bandit.theta_star().chunks_exact(3).enumerate() {
                let features = bandit.actions().get(arm).features();
                let mut expected = [0.0; 12];
                expected[3 * arm..][..3].copy_from_slice(context);
                assert_eq!(features, expected);
                let mean: f64 = context.iter().zip(theta).map(|(x, t)| x * t).sum();
                assert!((bandit.means()[arm] - mean).abs() < 1e-12);
                assert!(context.iter().map(|x| x * x).sum::<f64>() <= 3.0);
            }
        }
        let facts = environment.facts(10);
        assert_eq!((facts.dim, facts.actions), (12, 4));
        assert_eq!(facts.setting, plausibly::spec::Setting::Changing);
    }
}
