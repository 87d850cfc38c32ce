//! LinTS: Thompson sampling for linear problems.

use super::coarse::Coarse;
use super::{Explain, Policy, PolicyError, argmax, check_noise_scale};
use crate::actions::{Action, ActionIndex, Actions, SetId};
use crate::estimator::{Estimator, Ridge};
use crate::linalg::{Cholesky, norm};
use crate::rng::Stream;
use crate::state::{
    Durable, DurableModel as _, OwnState, PolicyState, StateError, at, fresh, numbers, place,
};

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
/// O(K·d + d²) a round: the Cholesky factor of `V` follows each observation by a rank-one update.
/// On a fixed set O(d²) and O(d) for each of the [contenders](crate::Contenders), once those are
/// few: with `θ̃ = θ̂ + σ·L⁻ᵀz` no product `⟨a, θ̃⟩` is above the upper bound of `a` at the radius
/// `σ·‖z‖`; until they are, most products are taken in single precision, from a copy of half the
/// size. `d` normal draws.
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
    /// The set of the last round.
    offered: Option<SetId>,
    /// No list of contenders is asked for before so many observations.
    not_before: u64,
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
        Ok(Self {
            model,
            noise_scale,
            factor,
            theta_sampled,
            values,
            coarse,
            offered: None,
            not_before: 0,
        })
    }

    /// With `V = L·Lᵀ` and standard normal `z`, `L⁻ᵀz` has covariance `V⁻¹`, and `‖L⁻ᵀz‖_V` is
    /// `‖z‖`, which is returned.
    fn sample_theta(&mut self, rng: &mut Stream) -> f64 {
        rng.fill_normal(&mut self.theta_sampled);
        let length = norm(&self.theta_sampled);
        self.factor.solve_upper(&mut self.theta_sampled);
        for (sampled, mean) in self.theta_sampled.iter_mut().zip(self.model.theta_hat()) {
            *sampled = mean + self.noise_scale * *sampled;
        }
        length
    }

    /// The best action under the sample, if few can be: `None` if all must be looked at.
    fn best_of_few(&mut self, actions: Actions<'_>, length: f64) -> Option<ActionIndex> {
        let observations = self.model.evidence().observations;
        if observations < self.not_before {
            return None;
        }
        // Seldom exceeded, so that a list is not made anew for every long sample.
        let usual = (self.model.dim() as f64).sqrt() + 2.5;
        let sqrt_beta = self.noise_scale * length.max(usual);
        let Some(contenders) = self.model.reaching(actions, sqrt_beta) else {
            // A try costs O(K·d²), and where samples are spread over many dimensions lists stay
            // long.
            self.not_before = 2 * observations + 8;
            return None;
        };
        contenders.dot_into(actions, &self.theta_sampled, &mut self.values);
        let best = argmax(&self.values);
        // Else another may be better: under this sample even the best of them is not what it is
        // mostly.
        (self.values[best] >= contenders.beyond()).then(|| contenders.index(best))
    }
}

impl Policy for LinTs {
    fn select(&mut self, actions: Actions<'_>, rng: &mut Stream) -> ActionIndex {
        assert!(actions.dim() == self.model.dim(), "the model has {} features", self.model.dim());
        let length = self.sample_theta(rng);
        // The first time, scores and copies are dearer than the products they save.
        let seen = self.offered.replace(actions.id()) == Some(actions.id());
        if seen {
            let best = self.best_of_few(actions, length);
            let isa = self.model.isa();
            if let Some(best) = best.or_else(|| self.coarse.best(isa, actions, &self.theta_sampled))
            {
                return best;
            }
        }
        self.values.resize(actions.len(), 0.0);
        self.model.isa().dots(actions.blocks(), &self.theta_sampled, &mut self.values);
        argmax(&self.values)
    }

    fn update(&mut self, action: Action<'_>, reward: f64) {
        self.model.update(action, reward);
        let scratch = &mut self.theta_sampled;
        scratch.copy_from_slice(action.features());
        self.factor.add_outer(scratch);
    }

    fn learned(&self) -> Option<&Ridge> {
        Some(&self.model)
    }
}

impl Explain for LinTs {
    fn model(&self) -> &dyn Estimator {
        &self.model
    }
}

impl Durable for LinTs {
    fn state(&self, sets: &[Actions<'_>]) -> PolicyState {
        let offered = self.offered.and_then(|id| place(sets, id));
        let factor = self.factor.upper().to_vec();
        let own = OwnState::Sampler { factor, offered, not_before: self.not_before };
        PolicyState { model: self.model.state(sets), own }
    }

    fn restore(&mut self, state: PolicyState, sets: &[Actions<'_>]) -> Result<(), StateError> {
        fresh(&self.model)?;
        let OwnState::Sampler { factor, offered, not_before } = state.own else {
            return Err(StateError::Kind { what: "what it keeps beside its model" });
        };
        let dim = self.model.dim();
        numbers("factor", &factor, dim * dim)?;
        let factor =
            Cholesky::from_upper(factor, dim).ok_or(StateError::Number { what: "factor" })?;
        let offered = offered.map(|set| at(sets, set)).transpose()?;
        self.model = self.model.restored(state.model, sets)?;
        (self.factor, self.not_before) = (factor, not_before);
        self.offered = offered.map(Actions::id);
        Ok(())
    }

    fn remembers(&self, set: SetId) -> bool {
        self.offered == Some(set) || self.model.remembers(set)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::actions::ActionSet;

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

    /// Rounds played among few, and the first in which the best of them was not the best of all.
    fn play_among_few(number: u64, radius_scale: f64) -> (u64, Option<u64>) {
        let mut rng = Stream::new(3, number, "problem");
        let (dim, count) = (1 + rng.index(8), 16 + rng.index(150));
        let set =
            ActionSet::from_flat((0..dim * count).map(|_| rng.normal()).collect(), dim).unwrap();
        let theta: Vec<f64> = (0..dim).map(|_| rng.normal()).collect();
        let (mut means, mut all) = (Vec::new(), Vec::new());
        set.view().dot_into(&theta, &mut means);
        let mut policy = LinTs::new(Ridge::new(dim, 1.0).unwrap(), 0.5).unwrap();
        let mut few = 0;
        for round in 0..300 {
            let length = policy.sample_theta(&mut rng);
            policy.noise_scale *= radius_scale;
            let best = if round == 0 { None } else { policy.best_of_few(set.view(), length) };
            policy.noise_scale /= radius_scale;
            set.view().dot_into(&policy.theta_sampled, &mut all);
            few += u64::from(best.is_some());
            if best.is_some_and(|best| best != argmax(&all)) {
                return (few, Some(round));
            }
            let chosen = argmax(&all);
            policy.update(set.view().get(chosen), means[chosen] + 0.5 * rng.normal());
        }
        (few, None)
    }

    #[test]
    fn the_best_of_few_is_the_best_of_all() {
        let few: u64 = (0..300)
            .map(|number| match play_among_few(number, 1.0) {
                (few, None) => few,
                (_, Some(round)) => panic!("problem {number} differs in round {round}"),
            })
            .sum();
        assert!(few > 300 * 150, "few were enough in {few} of 90000 rounds: not much was tested");
        // A radius that does not hold the sample must be noticed.
        assert!((0..30).any(|number| play_among_few(number, 0.125).1.is_some()));
    }
}
