//! K-armed problems.

use super::Environment;
use plausibly::spec::Setting;
use plausibly::{ActionIndex, ActionSet, Actions, Stream};

/// `reward = μ(a) + N(0, σ²)`, arms without features.
#[derive(Debug)]
pub struct Arms {
    set: ActionSet,
    means: Vec<f64>,
    noise: f64,
}

impl Arms {
    /// A given problem.
    ///
    /// # Panics
    /// If there is no arm.
    pub fn new(means: Vec<f64>, noise: f64) -> Self {
        let set = ActionSet::arms(means.len()).expect("a K-armed problem needs at least one arm");
        Self { set, means, noise }
    }

    /// A random problem: means uniform on `[0, 1)`.
    ///
    /// # Panics
    /// If there is no arm.
    pub fn random(arms: usize, noise: f64, rng: &mut Stream) -> Self {
        Self::new((0..arms).map(|_| rng.uniform()).collect(), noise)
    }
}

impl Environment for Arms {
    fn advance(&mut self, _: &mut Stream) {}

    fn actions(&self) -> Actions<'_> {
        self.set.view()
    }

    fn means(&self) -> &[f64] {
        &self.means
    }

    fn theta_star(&self) -> &[f64] {
        &self.means
    }

    fn reward(&self, chosen: ActionIndex, rng: &mut Stream) -> f64 {
        self.means[chosen] + self.noise * rng.normal()
    }

    fn setting(&self) -> Setting {
        Setting::Arms
    }

    fn noise_scale(&self) -> f64 {
        self.noise
    }

    fn action_norm_bound(&self) -> f64 {
        1.0
    }
}
