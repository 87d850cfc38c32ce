//! Thompson sampling where rewards are a yes or no, or a count.

use super::{Explain, Policy, argmax, best_among};
use crate::actions::{Action, ActionIndex, Actions};
use crate::arms::ArmMove;
use crate::confidence::{ConfidenceRadius, Likelihood};
use crate::linalg::dot;
use crate::model::{Estimator, Glm};
use crate::rng::Stream;
use crate::state::{DurableModel as _, Keep, Reader, StateError, Writer};

/// Samples a parameter from a normal approximation of the posterior and takes its best action.
///
/// ```text
/// θ ~ N(θ₀, H⁻¹)     H = λI + Σ n·v(z)·x·xᵀ at θ₀          A_t = argmax_a ⟨a, θ⟩
/// ```
///
/// The approximation is Laplace's, at the parameter of largest posterior density. It is made again
/// when the [`Glm`] makes its set.
///
/// # Parameters
/// | name | symbol | range |
/// | --- | --- | --- |
/// | `model` | `θ₀`, `H` | a [`Glm`], whose prior is that of the posterior |
///
/// # Guarantee
/// None is claimed for its choices; its explanations have the set of the model. Where reward alone
/// counts it earns the most of the policies here (`docs/results/yes-no.md`), and it says the least
/// about the actions it does not take.
///
/// # Cost
/// O(K·d + d²) a round, beside that of the model. `d` normal draws.
///
/// # Reference
/// Chapelle, Li: An Empirical Evaluation of Thompson Sampling. 2011.
#[derive(Clone, Debug)]
pub struct LaplaceTs {
    model: Glm,
    theta_sampled: Vec<f64>,
    values: Vec<f64>,
}

impl LaplaceTs {
    /// Thompson sampling with this model.
    pub fn new(model: Glm) -> Self {
        Self { theta_sampled: vec![0.0; model.dim()], model, values: Vec::new() }
    }
}

impl Policy for LaplaceTs {
    fn select(&mut self, actions: Actions<'_>, rng: &mut Stream) -> ActionIndex {
        assert!(actions.dim() == self.model.dim(), "the model has {} features", self.model.dim());
        rng.fill_normal(&mut self.theta_sampled);
        // With H = L·Lᵀ and standard normal z, L⁻ᵀz has covariance H⁻¹.
        self.model.factor().solve_upper(&mut self.theta_sampled);
        for (sampled, point) in self.theta_sampled.iter_mut().zip(self.model.point()) {
            *sampled += point;
        }
        self.values.resize(actions.len(), 0.0);
        self.model.isa().dots(actions.blocks(), &self.theta_sampled, &mut self.values);
        argmax(&self.values)
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
    }
}

impl Explain for LaplaceTs {
    fn model(&self) -> &dyn Estimator {
        &self.model
    }

    fn radius(&self) -> Option<&dyn ConfidenceRadius> {
        Some(&Likelihood { pairs: None })
    }
}

impl Keep for LaplaceTs {
    const KIND: &'static str = "laplace-ts";

    fn write(&self, out: &mut Writer) {
        self.model.write(out);
    }

    fn read(&mut self, from: &mut Reader<'_>) -> Result<(), StateError> {
        self.model.read(from)
    }

    fn move_arms(&mut self, _: &mut ArmMove<'_>) {}
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::actions::ActionSet;
    use crate::exact::{RowSums, Tally};
    use crate::linalg::Cholesky;
    use crate::model::{GlmPrior, Link};

    #[test]
    fn samples_have_the_mean_and_covariance_of_the_approximation() {
        let prior =
            GlmPrior::around(Link::Logistic, (0.0, 1.0), 0.1, 20.0, (2, 1.0), 0.05).unwrap();
        let mut sums = RowSums::new(2);
        for (row, clicks) in [([1.0, 0.0], 9), ([0.6, 0.6], 30)] {
            sums.add(&row, &Tally::yes_no(clicks, 100, 0.0, 1.0).unwrap()).unwrap();
        }
        let model = Glm::from_rows(sums, prior).unwrap();
        let actions = ActionSet::from_rows(&[[1.0, 0.0], [0.0, 1.0]]).unwrap();
        let point = model.point().to_vec();
        let mut inverse = vec![0.0; 4];
        Cholesky::from_upper(model.factor().upper().to_vec(), 2)
            .unwrap()
            .inverse_into(&mut inverse);
        let mut policy = LaplaceTs::new(model);
        let (draws, mut rng) = (100_000, Stream::new(3, 0, "laplace"));
        let (mut mean, mut square) = ([0.0; 2], [0.0; 4]);
        for _ in 0..draws {
            policy.select(actions.view(), &mut rng);
            let off = [0, 1].map(|i| policy.theta_sampled[i] - point[i]);
            for i in 0..2 {
                mean[i] += off[i] / f64::from(draws);
                for j in 0..2 {
                    square[2 * i + j] += off[i] * off[j] / f64::from(draws);
                }
            }
        }
        // Five standard errors of a mean, and of a product of two normals: false with probability
        // below 1e-6 each.
        let sd = |i: usize| inverse[3 * i].sqrt();
        for i in 0..2 {
            assert!(mean[i].abs() < 5.0 * sd(i) / f64::from(draws).sqrt(), "{mean:?}");
            for j in 0..2 {
                let error = (square[2 * i + j] - inverse[2 * i + j]).abs();
                let allowed = 5.0 * 2.0_f64.sqrt() * sd(i) * sd(j) / f64::from(draws).sqrt();
                assert!(error < allowed, "{square:?} {inverse:?}");
            }
        }
    }
}
