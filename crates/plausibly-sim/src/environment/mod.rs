//! Problems to play on.

mod arms;
mod changing;
mod linear;

pub use arms::Arms;
pub use changing::ChangingLinear;
pub use linear::FixedLinear;

use plausibly::spec::{Facts, Setting};
use plausibly::{ActionIndex, Actions, Stream};

/// A problem: what is offered each round, and what it pays.
///
/// [`Environment::advance`] alone changes anything, and it draws from its own stream; so every policy of a comparison sees
/// the same rounds, whatever the others choose.
pub trait Environment {
    /// Moves to the next round; called once before each, the first included.
    fn advance(&mut self, rng: &mut Stream);

    /// What is offered this round. Asked once before the first [`Environment::advance`] too, for the size and dimension that
    /// policies are built with.
    fn actions(&self) -> Actions<'_>;

    /// The true mean reward of each action offered this round.
    fn means(&self) -> &[f64];

    /// `θ*`; for arms, their means.
    fn theta_star(&self) -> &[f64];

    /// A reward for the chosen action. Draws the same number of times whatever is chosen.
    fn reward(&self, chosen: ActionIndex, rng: &mut Stream) -> f64;

    /// What the actions are like.
    fn setting(&self) -> Setting;

    /// Standard deviation of the noise.
    fn noise_scale(&self) -> f64;

    /// A bound on the norms of all actions ever offered.
    fn action_norm_bound(&self) -> f64;

    /// What policies may know of the problem when they are built for `horizon` rounds.
    fn facts(&self, horizon: u64) -> Facts {
        Facts {
            setting: self.setting(),
            dim: self.actions().dim(),
            actions: self.actions().len(),
            horizon,
            noise_scale: self.noise_scale(),
            action_norm_bound: self.action_norm_bound(),
        }
    }
}

/// `θ* ~ N(0, I_d)`.
fn draw_theta(dim: usize, rng: &mut Stream) -> Vec<f64> {
    (0..dim).map(|_| rng.normal()).collect()
}

/// Features uniform on `[−1, 1]ᵈ`.
fn draw_features(features: &mut [f64], rng: &mut Stream) {
    for x in features {
        *x = 2.0 * rng.uniform() - 1.0;
    }
}

/// `⟨a, θ*⟩` of every action.
fn true_means(actions: Actions<'_>, theta_star: &[f64], out: &mut Vec<f64>) {
    let mean = |features: &[f64]| features.iter().zip(theta_star).map(|(x, theta)| x * theta).sum::<f64>();
    out.clear();
    out.extend(actions.iter().map(|action| mean(action.features())));
}
