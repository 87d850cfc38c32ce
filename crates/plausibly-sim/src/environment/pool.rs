//! Problems drawn from data: a pool of actions and of parameters.

use super::{Bandit, shuffle};
use plausibly::{ActionSet, ActionSetError, Stream};
use thiserror::Error;

/// Rows of features and one or more `θ*`, from which linear problems are drawn.
#[derive(Clone, Debug, PartialEq)]
pub struct Pool {
    dim: usize,
    features: Vec<f64>,
    thetas: Vec<f64>,
    noise: f64,
}

/// Why a pool was refused.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum PoolError {
    /// No usable rows of features.
    #[error(transparent)]
    Features(#[from] ActionSetError),
    /// No parameter of this dimension, or one that is not finite.
    #[error("a pool needs at least one θ* of {dim} finite entries")]
    Thetas {
        /// The dimension of the features.
        dim: usize,
    },
}

impl Pool {
    /// A pool of rows and parameters, both row-major with `dim` entries each.
    ///
    /// # Errors
    /// If there is no row or no parameter of that dimension, or an entry is not finite.
    pub fn new(
        dim: usize,
        features: Vec<f64>,
        thetas: Vec<f64>,
        noise: f64,
    ) -> Result<Self, PoolError> {
        ActionSet::from_flat(features.clone(), dim)?;
        let whole = !thetas.is_empty() && thetas.len().is_multiple_of(dim);
        if !whole || thetas.iter().any(|entry| !entry.is_finite()) {
            return Err(PoolError::Thetas { dim });
        }
        Ok(Self { dim, features, thetas, noise })
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.features.len() / self.dim
    }

    /// Draws a problem: one `θ*` and `actions` rows, uniformly without repetition. If the pool has
    /// no more rows than that, the problem has all of them in their order.
    ///
    /// # Panics
    /// If `actions` is zero.
    pub fn draw(&self, actions: usize, rng: &mut Stream) -> Bandit {
        let which = rng.index(self.thetas.len() / self.dim);
        let theta_star = self.thetas[which * self.dim..(which + 1) * self.dim].to_vec();
        let mut rows: Vec<usize> = (0..self.rows()).collect();
        if actions < rows.len() {
            shuffle(&mut rows, actions, rng);
            rows.truncate(actions);
        }
        let row = |&row: &usize| &self.features[row * self.dim..(row + 1) * self.dim];
        let chosen: Vec<f64> = rows.iter().flat_map(row).copied().collect();
        let set = ActionSet::from_flat(chosen, self.dim).expect("the pool was checked");
        Bandit::linear(set, theta_star, self.noise)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_drawn_uniformly_without_repetition() {
        let pool = Pool::new(1, (0..6).map(f64::from).collect(), vec![1.0, 2.0], 0.1).unwrap();
        let mut rng = Stream::new(1, 0, "problem");
        let (mut rows, mut thetas) = ([0_u32; 6], 0_u32);
        for _ in 0..6000 {
            let bandit = pool.draw(2, &mut rng);
            let features: Vec<f64> =
                bandit.actions().iter().map(|action| action.features()[0]).collect();
            assert!(features[0].total_cmp(&features[1]).is_ne(), "no row twice");
            for (row, count) in rows.iter_mut().enumerate() {
                *count += u32::from(features.contains(&(row as f64)));
            }
            thetas += u32::from(bandit.theta_star()[0] > 1.5);
        }
        // Binomial(6000, 1/3): 2000 ± 36.5, and (6000, 1/2): 3000 ± 38.7. Seven counts, each beyond
        // 5.3 sd with probability 1.2e-7: below 1e-6 together.
        assert!(rows.iter().all(|count| count.abs_diff(2000) < 194), "{rows:?}");
        assert!(thetas.abs_diff(3000) < 206, "{thetas}");
    }

    #[test]
    fn a_small_pool_is_offered_whole_and_in_order() {
        let pool = Pool::new(1, vec![3.0, 1.0], vec![1.0], 0.1).unwrap();
        assert_eq!(pool.draw(100, &mut Stream::new(1, 0, "problem")).means(), [3.0, 1.0]);
        assert_eq!(
            Pool::new(2, vec![1.0; 4], vec![1.0; 3], 0.1).unwrap_err(),
            PoolError::Thetas { dim: 2 }
        );
    }
}
