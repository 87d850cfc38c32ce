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
/// [`Environment::advance`] alone changes anything, and it draws from its own stream; so every policy of a comparison sees
/// the same rounds, whatever the others choose.
pub trait Environment {
    /// Moves to the next round; called once before each, the first included.
    fn advance(&mut self, rng: &mut Stream);

    /// The problem of this round: what is offered, and the truth about it. Asked once before the first
    /// [`Environment::advance`] too, for what policies are built with.
    fn bandit(&self) -> &Bandit;

    /// A reward for the chosen action: its mean and Gaussian noise, unless you write another. Must draw the same number of
    /// times whatever is chosen.
    fn reward(&self, chosen: ActionIndex, rng: &mut Stream) -> f64 {
        self.bandit().means()[chosen] + self.bandit().noise() * rng.normal()
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
