//! LinTS: Thompson sampling for linear problems.

use super::coarse::Coarse;
use super::{Explain, Policy, PolicyError, argmax, best_among, check_noise_scale};
use crate::actions::{Action, ActionIndex, Actions};
use crate::arms::ArmMove;
use crate::linalg::{Cholesky, dot};
use crate::model::{Estimator, Ridge};
use crate::rng::Stream;
use crate::state::{DurableModel as _, Keep, Reader, StateError, Writer};

/// Samples a parameter from the posterior and takes its best action.
///
/// ```text
/// θ̃ ~ N(θ̂, σ²·V⁻¹)          A_t = argmax_a ⟨a, θ̃⟩
/// ```
///
/// # Parameters
/// | name | symbol | range |
/// | --- | --- | --- |
/// | `model` | `V`, `θ̂` | ridge > 0; `σ²/ridge` is the prior variance of each coordinate |
/// | `noise_scale` | `σ` | > 0; the scale matters much: too small explores too little |
///
/// # Guarantee
/// Bayes regret `Õ(d·√n)` under the Gaussian prior and noise it assumes; no bound on the model
/// error.
///
/// # Cost
/// O(K·d + d²) per round: the Cholesky factor of `V` follows each observation by a rank-one update.
/// On a large set that is offered again most products are taken in single precision, from a copy of
/// half the size. `d` normal draws.
///
/// # Example
/// ```
/// use plausibly::{ActionSet, LinTs, Policy, Ridge, Stream};
/// let set = ActionSet::from_rows(&[[1.0, 0.0], [0.0, 1.0]])?;
/// let mut policy = LinTs::new(Ridge::new(2, 1.0)?, 0.5)?;
/// let chosen = policy.select(set.view(), &mut Stream::new(1, 0, "policy"));
/// policy.update(set.view().get(chosen), 1.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Reference
/// Agrawal, Goyal: Thompson Sampling for Contextual Bandits with Linear Payoffs. ICML 2013.
#[derive(Clone, Debug)]
pub struct LinTs {
    model: Ridge,
    noise_scale: f64,
    factor: Cholesky,
    theta_sampled: Vec<f64>,
    values: Vec<f64>,
    coarse: Coarse,
}

impl LinTs {
    /// LinTS with this model, sampling at this scale.
    ///
    /// # Errors
    /// If `noise_scale` is not between 1e-50 and 1e50, or the gram matrix of `model` is singular to
    /// working precision.
    pub fn new(model: Ridge, noise_scale: f64) -> Result<Self, PolicyError> {
        check_noise_scale(noise_scale)?;
        let dim = model.dim();
        let factor = Cholesky::new(&model.gram(), dim)
            .map_err(|error| PolicyError::Singular { pivot: error.index })?;
        let (theta_sampled, values) = (vec![0.0; dim], Vec::new());
        let coarse = Coarse::default();
        Ok(Self { model, noise_scale, factor, theta_sampled, values, coarse })
    }

    /// With `V = L·Lᵀ` and standard normal `z`, `L⁻ᵀz` has covariance `V⁻¹`.
    fn sample_theta(&mut self, rng: &mut Stream) {
        rng.fill_normal(&mut self.theta_sampled);
        self.factor.solve_upper(&mut self.theta_sampled);
        for (sampled, mean) in self.theta_sampled.iter_mut().zip(self.model.theta_hat()) {
            *sampled = mean + self.noise_scale * *sampled;
        }
    }
}

impl Policy for LinTs {
    fn select(&mut self, actions: Actions<'_>, rng: &mut Stream) -> ActionIndex {
        assert!(actions.dim() == self.model.dim(), "the model has {} features", self.model.dim());
        self.sample_theta(rng);
        let isa = self.model.isa();
        self.coarse.best(isa, actions, &self.theta_sampled).unwrap_or_else(|| {
            self.values.resize(actions.len(), 0.0);
            isa.dots(actions.blocks(), &self.theta_sampled, &mut self.values);
            argmax(&self.values)
        })
    }

    fn select_among(
        &mut self,
        actions: Actions<'_>,
        among: &[ActionIndex],
        _: &mut Stream,
    ) -> Option<ActionIndex> {
        // By the parameter that was sampled for this round.
        best_among(among, |action| dot(actions.get(action).features(), &self.theta_sampled))
    }

    fn update(&mut self, action: Action<'_>, reward: f64) {
        self.model.update(action, reward);
        let scratch = &mut self.theta_sampled;
        scratch.copy_from_slice(action.features());
        self.factor.add_outer(scratch);
    }
}

impl Explain for LinTs {
    fn model(&self) -> &dyn Estimator {
        &self.model
    }
}

impl Keep for LinTs {
    const KIND: &'static str = "lin-ts";

    fn write(&self, out: &mut Writer) {
        self.model.write(out);
        // As rank-one steps have left it.
        out.numbers(self.factor.upper());
    }

    fn read(&mut self, from: &mut Reader<'_>) -> Result<(), StateError> {
        let dim = self.model.dim();
        self.model.read(from)?;
        let factor = Cholesky::from_upper(from.numbers("factor", dim * dim)?, dim);
        self.factor = factor.ok_or(StateError::Number { what: "factor" })?;
        Ok(())
    }

    fn move_arms(&mut self, _: &mut ArmMove<'_>) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    const DRAWS: usize = 200_000;

    /// The largest deviation of the sample covariance of `draw` from `expected`, in standard
    /// deviations of its entries.
    fn worst_deviation(expected: &[f64; 4], mut draw: impl FnMut() -> Vec<f64>) -> f64 {
        let mut sums = [0.0; 4];
        for _ in 0..DRAWS {
            let x = draw();
            for (sum, product) in
                sums.iter_mut().zip([x[0] * x[0], x[0] * x[1], x[1] * x[0], x[1] * x[1]])
            {
                *sum += product;
            }
        }
        // The variance of x_i·x_j for Gaussians of mean zero is c_ii·c_jj + c_ij².
        let variance =
            |i: usize, j: usize| expected[3 * i] * expected[3 * j] + expected[2 * i + j].powi(2);
        let deviation = |at: usize| {
            let sd = (variance(at / 2, at % 2) / DRAWS as f64).sqrt();
            ((sums[at] / DRAWS as f64 - expected[at]) / sd).abs()
        };
        (0..4).map(deviation).fold(0.0, f64::max)
    }

    // Three entries, each beyond 5.3 sd with probability 1.2e-7 (normal limit at 200,000 draws):
    // below 1e-6 together.
    const LIMIT: f64 = 5.3;

    #[test]
    fn samples_have_the_covariance_of_the_posterior() {
        let mut policy = LinTs::new(Ridge::new(2, 1.0).unwrap(), 0.5).unwrap();
        for (x, count) in [([1.0, 0.5], 6), ([-0.3, 1.0], 2)] {
            for _ in 0..count {
                policy.update(Action::new(0, &x), 0.0);
            }
        }
        let inverse = policy.model.gram_inverse();
        let expected: [f64; 4] = std::array::from_fn(|at| 0.25 * inverse[at]);
        let mut rng = Stream::new(8, 0, "policy");
        let deviation = worst_deviation(&expected, || {
            policy.sample_theta(&mut rng);
            policy.theta_sampled.clone()
        });
        assert!(deviation < LIMIT, "{deviation}");

        // The transposed factor, a mistake that isotropic data would hide, must be caught.
        let mutant = worst_deviation(&expected, || {
            let mut z = vec![rng.normal(), rng.normal()];
            policy.factor.solve_lower(&mut z);
            z.iter().map(|x| 0.5 * x).collect()
        });
        assert!(mutant > LIMIT, "{mutant}");
    }
}
