//! Problems to play on.

mod bandit;
mod changing;
mod pool;

pub use bandit::Bandit;
pub use changing::ChangingLinear;
pub use pool::{Pool, PoolError};

use plausibly::spec::Facts;
use plausibly::{ActionIndex, Stream};

/// Something to play on: rounds that offer actions, and rewards for them.
///
/// [`Environment::advance`] alone changes anything, and it draws from its own stream; so every
/// policy of a comparison sees the same rounds, whatever the others choose.
pub trait Environment {
    /// Moves to the next round; called once before each, the first included.
    fn advance(&mut self, rng: &mut Stream);

    /// The problem of this round: what is offered, and the truth about it. Asked once before the
    /// first [`Environment::advance`] too, for what policies are built with.
    fn bandit(&self) -> &Bandit;

    /// The luck of the round, drawn once and the same for every policy, whatever it chooses: a
    /// standard normal number, unless you write another.
    fn luck(&self, rng: &mut Stream) -> f64 {
        rng.normal()
    }

    /// What the chosen action pays with that luck: its mean and Gaussian noise, unless you write
    /// another.
    fn reward(&self, chosen: ActionIndex, luck: f64) -> f64 {
        self.bandit().means()[chosen] + self.bandit().noise() * luck
    }

    /// What policies may know of the problem when they are built for `horizon` rounds.
    fn facts(&self, horizon: u64) -> Facts {
        self.bandit().facts(horizon)
    }
}

/// `θ* ~ N(0, I_d)`.
fn draw_theta(dim: usize, rng: &mut Stream) -> Vec<f64> {
    (0..dim).map(|_| rng.normal()).collect()
}

/// Features uniform on `[−1, 1]ᵈ`.
fn draw_features(features: &mut [f64], rng: &mut Stream) {
    rng.fill_uniform(features);
    for x in features {
        *x = 2.0 * *x - 1.0;
    }
}
