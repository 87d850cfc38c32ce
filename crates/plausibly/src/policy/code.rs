//! CODE: constrained optimal design.

use super::{Explain, Policy, PolicyError, Target};
use crate::actions::{Action, ActionIndex, Actions};
use crate::confidence::{ConfidenceRadius, Plausible};
use crate::estimator::Estimator;
use crate::rng::Stream;

/// Among the actions that could still be best, takes the one it knows least about.
///
/// ```text
/// Ã_t = {a : ⟨a, θ̂⟩ + √β·‖a‖_{V⁻¹} ≥ max_b ⟨b, θ̂⟩ − √β·‖b‖_{V⁻¹}}
/// A_t = argmax_{a ∈ Ã_t} log det(V + a·aᵀ) = argmax_{a ∈ Ã_t} ‖a‖²_{V⁻¹}
/// ```
///
/// Over [`crate::Ridge`] this is linear CODE (Algorithm 1), for fixed and changing sets. Over [`crate::ArmMeans`] it is
/// K-armed CODE (Section 4): the least-taken plausible arm, each arm once first.
///
/// # Parameters
/// | name | symbol | range |
/// | --- | --- | --- |
/// | `model` | `V`, `θ̂` | any [`Estimator`] |
/// | `radius` | `√β_t(δ)` | any [`ConfidenceRadius`] |
/// | `greed` | `c` | 0 (the default) to 1; see [`Code::tempered`] |
/// | `target` | `κ` or `ε` | none (the default) or positive; see [`Code::to_target`] |
///
/// # Guarantee
/// While the radius is a valid confidence set, the regret of a round is at most `4/(1+c)·√β·‖A_t‖_{V⁻¹}` and, for `c < 1`, every plausible action is
/// at most `(1+c)/(1−c)` times as wide as the one taken; so `R_n = Õ(d·√n)` and `Q_n = Õ(d²)`. At `c = 0` this is Theorem 2 of \[MZK\] with its constant corrected;
/// the rest is ours. Proofs in `docs/concepts/tempered.md`.
///
/// # Cost
/// O(K·d) a round on a fixed set, O(K·d²) otherwise; no allocation; no draws.
///
/// # Example
/// ```
/// use plausibly::{ActionSet, Code, Determinant, Policy, Ridge, Stream};
/// let set = ActionSet::from_rows(&[[1.0, 0.0], [0.0, 1.0], [0.7, 0.7]])?;
/// let radius = Determinant { delta: 0.05, noise_scale: 0.1, theta_norm_bound: 1.0 };
/// let mut code = Code::new(Ridge::new(2, 1.0)?, radius);
/// let mut rng = Stream::new(1, 0, "policy");
/// for _ in 0..50 {
///     let chosen = code.select(set.view(), &mut rng);
///     let action = set.view().get(chosen);
///     code.update(action, 0.2 * action.features()[0] + 0.9 * action.features()[1]);
/// }
/// assert_eq!(code.select(set.view(), &mut rng), 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Reference
/// \[MZK\] Mukherjee, Zhu, Kveton: Efficient and Interpretable Bandit Algorithms, Sections 3–5.
#[derive(Clone, Debug)]
pub struct Code<E, R> {
    model: E,
    radius: R,
    greed: f64,
    target: Option<Target>,
    plausible: Plausible,
}

impl<E: Estimator, R: ConfidenceRadius> Code<E, R> {
    /// CODE with this model and radius.
    pub fn new(model: E, radius: R) -> Self {
        Self { model, radius, greed: 0.0, target: None, plausible: Plausible::new() }
    }

    /// Tempered: among the plausible actions takes the one with the largest `c·⟨a, θ̂⟩ + √β·‖a‖_{V⁻¹}`, for a greed `c` from 0 (CODE) to
    /// 1 (LinUCB with this radius, whose choice is always plausible).
    ///
    /// # Errors
    /// If `greed` is not in [0, 1].
    pub fn tempered(self, greed: f64) -> Result<Self, PolicyError> {
        if (0.0..=1.0).contains(&greed) {
            Ok(Self { greed, ..self })
        } else {
            Err(PolicyError::Greed { greed })
        }
    }

    /// To a target: explores as CODE while the target is missed, and plays greed 1 where it is met. Whatever greed was set is
    /// not used. Proofs of what this costs and saves are in `docs/concepts/targets.md`.
    ///
    /// # Errors
    /// If the target is not positive.
    pub fn to_target(self, target: Target) -> Result<Self, PolicyError> {
        Ok(Self { target: Some(target.checked()?), ..self })
    }
}

impl<E: Estimator, R: ConfidenceRadius> Policy for Code<E, R> {
    fn select(&mut self, actions: Actions<'_>, _: &mut Stream) -> ActionIndex {
        let evidence = self.model.evidence();
        let scores = self.model.scores(actions);
        self.plausible.assess(scores, self.radius.reach(&evidence));
        let greed = match self.target {
            Some(target) if target.status(scores, &self.plausible, &evidence).met() => 1.0,
            Some(_) => 0.0,
            None => self.greed,
        };
        if greed > 0.0 { self.plausible.tempered(scores, greed) } else { self.plausible.widest(scores) }
    }

    fn update(&mut self, action: Action<'_>, reward: f64) {
        self.model.update(action, reward);
    }
}

impl<E: Estimator, R: ConfidenceRadius> Explain for Code<E, R> {
    fn model(&self) -> &dyn Estimator {
        &self.model
    }

    fn radius(&self) -> Option<&dyn ConfidenceRadius> {
        Some(&self.radius)
    }

    fn target(&self) -> Option<Target> {
        self.target
    }
}
