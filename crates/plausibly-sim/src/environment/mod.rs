//! Problems to play on.

mod arms;
mod bandit;
mod changing;
mod contexts;
mod glm;
#[cfg(test)]
mod laws;
mod own_table;
mod pool;
mod scattered;
mod table;

pub(crate) use arms::{ARM_REWARDS, ArmProblems, Spacing};
pub use bandit::Bandit;
pub use changing::ChangingLinear;
pub use contexts::Contexts;
pub(crate) use glm::{GlmProblems, Placing};
pub(crate) use own_table::ColumnMeans;
pub use own_table::TableRows;
pub use pool::{Pool, PoolError};
pub(crate) use scattered::{Days, Rewards};
pub(crate) use table::{DRAWN_DIM, DRAWN_NORM_BOUND, Rule, TABLE_REWARDS, TableProblems};

use plausibly::spec::Facts;
use plausibly::{ActionIndex, Stream};

/// A problem to play on: each round offers actions and rewards the chosen one.
///
/// Only [`Environment::advance`] changes it, with its own random stream, so every policy of a
/// comparison sees the same rounds, whatever the others choose.
pub trait Environment {
    /// Moves to the next round; called once before each, the first included.
    fn advance(&mut self, rng: &mut Stream);

    /// The problem of this round: the actions, and the truth about them. Also called once before
    /// the first [`Environment::advance`], for the facts that policies are built with.
    fn bandit(&self) -> &Bandit;

    /// The luck of the round, drawn once and shared by all policies, whatever they choose. By
    /// default a standard normal number.
    fn luck(&self, rng: &mut Stream) -> f64 {
        rng.normal()
    }

    /// The reward of the chosen action with that luck. By default its mean plus Gaussian noise.
    fn reward(&self, chosen: ActionIndex, luck: f64) -> f64 {
        self.bandit().means()[chosen] + self.bandit().noise() * luck
    }

    /// The facts that policies may know when they are built for `horizon` rounds.
    fn facts(&self, horizon: u64) -> Facts {
        self.bandit().facts(horizon)
    }
}

/// Features uniform on `[−1, 1]ᵈ`.
fn draw_features(features: &mut [f64], rng: &mut Stream) {
    rng.fill_uniform(features);
    for x in features {
        *x = 2.0 * *x - 1.0;
    }
}

/// Puts `count` entries, drawn uniformly without repetition, in front: the first steps of a
/// Fisher–Yates shuffle.
fn shuffle<T>(entries: &mut [T], count: usize, rng: &mut Stream) {
    for position in 0..count {
        let other = position + rng.index(entries.len() - position);
        entries.swap(position, other);
    }
}
