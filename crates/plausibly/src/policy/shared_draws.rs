//! Thompson sampling by one draw for all arms, as `MABWiser` does it.

use super::{Explain, Policy, PolicyError, argmax, best_among, check_noise_scale};
use crate::actions::{Action, ActionIndex, Actions};
use crate::linalg::Cholesky;
use crate::model::{ArmRidges, Estimator, Scores};
use crate::rng::Stream;

/// Samples the parameters of all arms by the same normal numbers, and takes the arm with the
/// largest reward.
///
/// ```text
/// z ~ N(0, I)     θ̃_a = θ̂_a + σ·L_a·z with L_a·L_aᵀ = V_a⁻¹, L_a lower triangular
/// A_t = argmax_a ⟨x, θ̃_a⟩
/// ```
///
/// Each arm alone has the posterior that [`Thompson`](crate::Thompson) over [`ArmRidges`] samples
/// from. Together the samples of arms move up and down with `z`, so the arm with the larger
/// estimate wins more often: this explores less. `MABWiser`'s `LinTS` does the same, because its
/// arms draw from copies of one generator.
///
/// # Parameters
/// | name | symbol | range |
/// | --- | --- | --- |
/// | `model` | `V_a`, `θ̂_a` | a model per arm |
/// | `noise_scale` | `σ` | > 0 |
///
/// # Guarantee
/// None is known: bounds for Thompson sampling are for arms that are sampled independently.
///
/// # Cost
/// O(K·d²) a round beside the estimates, and one factorisation per arm at the start and per update;
/// `d` normal draws.
///
/// # Example
/// ```
/// use plausibly::{ActionSet, ArmRidges, Policy, SharedDraws, Stream};
/// let context = ActionSet::from_rows(&[[1.0, 0.5], [1.0, 0.5]])?;
/// let mut policy = SharedDraws::over(ArmRidges::new(2, 2, 1.0)?, 1.0)?;
/// // Without data both arms are the same sample, and ties go to the lowest index.
/// assert_eq!(policy.select(context.view(), &mut Stream::new(1, 0, "policy")), 0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct SharedDraws {
    model: ArmRidges,
    noise_scale: f64,
    roots: Vec<Root>,
    normals: Vec<f64>,
    reversed: Vec<f64>,
    scores: Scores,
    sampled: Vec<f64>,
}

/// `L` with `L·Lᵀ = V⁻¹`. With rows and columns in reverse order `V = M·Mᵀ`, and `Lᵀ·x` reversed is
/// then `M⁻¹` times `x` reversed: `V⁻¹` itself need not be factored.
#[derive(Clone, Debug)]
struct Root(Cholesky);

impl SharedDraws {
    /// Sampling from this model.
    ///
    /// # Errors
    /// If `noise_scale` is not between 1e-50 and 1e50.
    ///
    /// # Panics
    /// If `V` of an arm is too ill-conditioned to be factored.
    pub fn over(model: ArmRidges, noise_scale: f64) -> Result<Self, PolicyError> {
        check_noise_scale(noise_scale)?;
        let roots = (0..model.arms()).map(|arm| Root::of(&model, arm)).collect();
        let (normals, reversed) = (vec![0.0; model.dim()], vec![0.0; model.dim()]);
        let (scores, sampled) = (Scores::new(), Vec::new());
        Ok(Self { model, noise_scale, roots, normals, reversed, scores, sampled })
    }
}

impl Root {
    fn of(model: &ArmRidges, arm: usize) -> Self {
        let mut gram = model.arm(arm).gram();
        gram.reverse();
        let factor = Cholesky::new(&gram, model.dim());
        Self(factor.expect(
            "V of an arm is too ill-conditioned; scale its contexts, or use a larger ridge",
        ))
    }

    /// `⟨x, L·z⟩`, with room for `x` reversed.
    fn along(&self, x: &[f64], z: &[f64], reversed: &mut [f64]) -> f64 {
        reversed.iter_mut().zip(x.iter().rev()).for_each(|(entry, x)| *entry = *x);
        self.0.solve_lower(reversed);
        reversed.iter().rev().zip(z).map(|(entry, z)| entry * z).sum()
    }
}

impl Policy for SharedDraws {
    fn select(&mut self, actions: Actions<'_>, rng: &mut Stream) -> ActionIndex {
        self.normals.iter_mut().for_each(|normal| *normal = rng.normal());
        self.model.means_into(actions, &mut self.scores);
        let means = self.scores.mean.iter().zip(&self.roots);
        self.sampled.clear();
        for ((mean, root), action) in means.zip(actions.iter()) {
            let deviate = root.along(action.features(), &self.normals, &mut self.reversed);
            self.sampled.push(mean + self.noise_scale * deviate);
        }
        argmax(&self.sampled)
    }

    fn select_among(
        &mut self,
        _: Actions<'_>,
        among: &[ActionIndex],
        _: &mut Stream,
    ) -> Option<ActionIndex> {
        // By the parameters that were sampled for this round.
        best_among(among, |action| self.sampled[action])
    }

    fn update(&mut self, action: Action<'_>, reward: f64) {
        self.model.update(action, reward);
        self.roots[action.index()] = Root::of(&self.model, action.index());
    }
}

impl Explain for SharedDraws {
    fn model(&self) -> &dyn Estimator {
        &self.model
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::actions::ActionSet;

    fn learned(dim: usize) -> ArmRidges {
        let mut rng = Stream::new(5, dim as u64, "contexts");
        let mut model = ArmRidges::new(2, dim, 0.5).unwrap();
        for arm in 0..2 {
            let contexts: Vec<f64> = (0..7 * dim).map(|_| rng.normal()).collect();
            let rewards: Vec<f64> = (0..7).map(|_| rng.normal()).collect();
            model.learn(arm, &contexts, &rewards);
        }
        model
    }

    #[test]
    fn a_root_is_the_lower_triangular_one() {
        for dim in 1..6 {
            let model = learned(dim);
            let root = Root::of(&model, 1);
            let unit =
                |k: usize| (0..dim).map(|i| if i == k { 1.0 } else { 0.0 }).collect::<Vec<f64>>();
            let mut room = vec![0.0; dim];
            // L[i][k] = ⟨e_i, L·e_k⟩.
            let mut entry = |i: usize, k: usize| root.along(&unit(i), &unit(k), &mut room);
            let lower: Vec<Vec<f64>> =
                (0..dim).map(|i| (0..dim).map(|k| entry(i, k)).collect()).collect();
            for i in 0..dim {
                for j in 0..dim {
                    assert!(j <= i || lower[i][j].abs() < 1e-12, "above the diagonal: {i}, {j}");
                    let product: f64 = (0..dim).map(|k| lower[i][k] * lower[j][k]).sum();
                    assert!(
                        (product - model.arm(1).gram_inverse()[i * dim + j]).abs() < 1e-12,
                        "{i}, {j}"
                    );
                }
            }
        }
    }

    /// The share of draws that take arm 0 is `Φ(Δ/(σ·‖(L_0 − L_1)ᵀx‖))`, and not that of
    /// independent arms. 40,000 draws: 5 standard errors are at most 0.0125, a false alarm in 1.7
    /// million.
    #[test]
    fn samples_of_arms_move_together() {
        let (dim, model) = (3, learned(3));
        let x = [0.6, -0.3, 1.1];
        let set = ActionSet::from_rows(&[x, x]).unwrap();
        let mut room = vec![0.0; dim];
        let unit =
            |k: usize| (0..dim).map(|i| if i == k { 1.0 } else { 0.0 }).collect::<Vec<f64>>();
        let roots = [Root::of(&model, 0), Root::of(&model, 1)];
        let spread: f64 = (0..dim)
            .map(|k| {
                (roots[0].along(&x, &unit(k), &mut room) - roots[1].along(&x, &unit(k), &mut room))
                    .powi(2)
            })
            .sum::<f64>()
            .sqrt();
        let mut scores = Scores::new();
        model.means_into(set.view(), &mut scores);
        let means = scores.mean;
        let gap = (means[0] - means[1]) / (0.7 * spread);
        let expected = 0.5 * libm::erfc(-gap / std::f64::consts::SQRT_2);
        let mut policy = SharedDraws::over(model, 0.7).unwrap();
        let mut rng = Stream::new(9, 0, "policy");
        let draws = 40_000;
        let first = (0..draws).filter(|_| policy.select(set.view(), &mut rng) == 0).count();
        let share = first as f64 / f64::from(draws);
        assert!((share - expected).abs() < 0.0125, "{share} is not {expected}");
    }
}
