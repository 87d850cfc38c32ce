//! Phased elimination with an optimal design in each phase.

use super::{Explain, Policy, PolicyError};
use crate::actions::{Action, ActionIndex, Actions};
use crate::design::{Design, Span};
use crate::estimator::{Estimator, Ridge};
use crate::linalg::{Cholesky, dot};
use crate::rng::Stream;

/// Relative gap at which a phase's design counts as optimal; the quota makes up for it.
const DESIGN_TOLERANCE: f64 = 1e-3;

/// Plays a D-optimal design over the survivors of each phase, then drops those that fall behind.
///
/// ```text
/// phase ℓ:  ε_ℓ = 2^−ℓ          T_ℓ(a) = ⌈2·d·π(a)/ε_ℓ²·log(K·ℓ·(ℓ + 1)/δ)⌉
/// at its end, with θ̂ from the phase's own data:  drop a if max_b ⟨b − a, θ̂⟩ > 2·ε_ℓ
/// ```
///
/// The quota is played in random order: one block an action would leave the gram matrix singular for hundreds of rounds.
/// When the survivors no longer span ℝᵈ, design and estimate live in their span. The design is sparse, so rounding the
/// quota up costs one play an action of its support and not one of every survivor. The algorithm is defined for fixed sets;
/// on changing ones it runs by action index, which is all that can be meant. A reward that comes after its phase has ended
/// counts in the phase it arrives in, and a phase ends on what has come by then: the guarantee is for rewards that come before the next decision.
///
/// # Parameters
/// | name | symbol | range |
/// | --- | --- | --- |
/// | `model` | `V`, `θ̂` | over all data, for explanations only |
/// | `delta` | `δ` | (0, 1) |
///
/// # Guarantee
/// For 1-sub-Gaussian noise on a fixed set, `R_n = O(√(d·n·log(K·log n/δ)))` with probability at least `1 − δ`
/// (Theorem 22.1 of \[LS20\]).
///
/// # Cost
/// A round is O(d + support of the design); a phase starts with one design, O(K·d²) and more. One draw a round.
///
/// # Example
/// ```
/// use plausibly::{ActionSet, Elimination, Policy, Ridge, Stream};
/// let set = ActionSet::from_rows(&[[1.0, 0.0], [0.0, 1.0]])?;
/// let mut policy = Elimination::new(Ridge::new(2, 1.0)?, 0.05)?;
/// let mut rng = Stream::new(1, 0, "policy");
/// for _ in 0..5000 {
///     let chosen = policy.select(set.view(), &mut rng);
///     policy.update(set.view().get(chosen), if chosen == 0 { 1.0 } else { 0.0 });
/// }
/// assert_eq!(policy.survivors(), [0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Reference
/// \[LS20\] Lattimore, Szepesvári: Bandit Algorithms, Algorithm 12. Cambridge University Press, 2020.
#[derive(Clone, Debug)]
pub struct Elimination {
    model: Ridge,
    delta: f64,
    /// K, once seen.
    actions: Option<usize>,
    survivors: Vec<ActionIndex>,
    phase: Option<Phase>,
}

/// One phase: what is still to be played, and what it has taught.
#[derive(Clone, Debug)]
struct Phase {
    number: i32,
    span: Span,
    quota: Vec<(ActionIndex, u64)>,
    remaining: u64,
    /// `Σ x·xᵀ` and `Σ x·y` of the phase, in coordinates of the span.
    gram: Vec<f64>,
    moment: Vec<f64>,
    point: Vec<f64>,
}

impl Elimination {
    /// Phased elimination at confidence `delta`.
    ///
    /// # Errors
    /// If `delta` is not in (0, 1).
    pub fn new(model: Ridge, delta: f64) -> Result<Self, PolicyError> {
        if !(delta > 0.0 && delta < 1.0) {
            return Err(PolicyError::Delta { delta });
        }
        Ok(Self { model, delta, actions: None, survivors: Vec::new(), phase: None })
    }

    /// The actions not yet dropped; empty before the first round.
    pub fn survivors(&self) -> &[ActionIndex] {
        &self.survivors
    }

    /// The phase to play from, ended and begun anew when its quota is used up.
    fn current_phase(&mut self, actions: Actions<'_>) -> &mut Phase {
        let known = self.actions.get_or_insert(actions.len());
        assert!(*known == actions.len(), "elimination over {known} actions was offered {}", actions.len());
        let next = match &self.phase {
            None => {
                self.survivors = (0..actions.len()).collect();
                Some(1)
            }
            Some(phase) if phase.remaining == 0 => {
                phase.drop_stragglers(actions, &mut self.survivors);
                Some(phase.number + 1)
            }
            Some(_) => None,
        };
        if let Some(number) = next {
            self.phase = Some(Phase::begin(number, actions, &self.survivors, self.delta));
        }
        self.phase.as_mut().expect("begun above")
    }
}

impl Phase {
    fn begin(number: i32, actions: Actions<'_>, survivors: &[ActionIndex], delta: f64) -> Self {
        let design = Design::d_optimal(actions, survivors, DESIGN_TOLERANCE);
        let (k, l) = (actions.len() as f64, f64::from(number));
        // d as printed, also when the survivors span less; above d only by the gap at which the design stopped.
        let leverage = design.largest_leverage().max(actions.dim() as f64);
        let confidence = libm::log(k * l * (l + 1.0)) - libm::log(delta);
        let scale = 2.0 * leverage * 4.0_f64.powi(number) * confidence;
        let quota: Vec<(ActionIndex, u64)> = design
            .support()
            .map(|(action, weight)| {
                #[expect(
                    clippy::cast_possible_truncation,
                    clippy::cast_sign_loss,
                    reason = "saturates, and is positive"
                )]
                let plays = (weight * scale).ceil() as u64;
                // A late phase is longer than any horizon; its sum must still be a number.
                (action, plays.min(u64::MAX / actions.len() as u64))
            })
            .collect();
        let span = design.into_span();
        let rank = span.rank();
        Self {
            number,
            span,
            remaining: quota.iter().map(|(_, plays)| plays).sum(),
            quota,
            gram: vec![0.0; rank * rank],
            moment: vec![0.0; rank],
            point: Vec::with_capacity(rank),
        }
    }

    /// The next play: uniform over what is left of the quota, which is a uniformly random order of all of it.
    fn play(&mut self, rng: &mut Stream) -> ActionIndex {
        let mut ticket = rng.below(self.remaining);
        self.remaining -= 1;
        for (action, plays) in &mut self.quota {
            if ticket < *plays {
                *plays -= 1;
                return *action;
            }
            ticket -= *plays;
        }
        unreachable!("`remaining` is the sum of the quota")
    }

    fn observe(&mut self, features: &[f64], reward: f64) {
        self.point.clear();
        self.span.coordinates(features, &mut self.point);
        for (row, x) in self.gram.chunks_exact_mut(self.point.len().max(1)).zip(&self.point) {
            for (entry, y) in row.iter_mut().zip(&self.point) {
                *entry += x * y;
            }
        }
        for (entry, x) in self.moment.iter_mut().zip(&self.point) {
            *entry += x * reward;
        }
    }

    fn drop_stragglers(&self, actions: Actions<'_>, survivors: &mut Vec<ActionIndex>) {
        // On a fixed set the phase played a spanning design, so there is a factor. On a changing one the data may not span;
        // then nothing is known well enough to drop anything.
        let Ok(factor) = Cholesky::new(&self.gram, self.span.rank()) else {
            return;
        };
        let mut theta = self.moment.clone();
        factor.solve(&mut theta);
        let mut point = Vec::new();
        let mut estimate = |action: ActionIndex| {
            point.clear();
            self.span.coordinates(actions.get(action).features(), &mut point);
            dot(&point, &theta)
        };
        let means: Vec<f64> = survivors.iter().map(|&action| estimate(action)).collect();
        let best = means.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let tolerated = 2.0 * 0.5_f64.powi(self.number);
        let mut means = means.into_iter();
        survivors.retain(|_| means.next().is_some_and(|mean| best - mean <= tolerated));
    }
}

impl Policy for Elimination {
    fn select(&mut self, actions: Actions<'_>, rng: &mut Stream) -> ActionIndex {
        self.current_phase(actions).play(rng)
    }

    fn update(&mut self, action: Action<'_>, reward: f64) {
        self.model.update(action, reward);
        if let Some(phase) = &mut self.phase {
            phase.observe(action.features(), reward);
        }
    }
}

impl Explain for Elimination {
    fn model(&self) -> &dyn Estimator {
        &self.model
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::actions::ActionSet;

    fn play(policy: &mut Elimination, set: &ActionSet, means: &[f64], rounds: u64) -> Vec<u64> {
        let mut rng = Stream::new(3, 0, "policy");
        let mut counts = vec![0; means.len()];
        for _ in 0..rounds {
            let chosen = policy.select(set.view(), &mut rng);
            counts[chosen] += 1;
            policy.update(set.view().get(chosen), means[chosen]);
        }
        counts
    }

    #[test]
    fn the_first_phase_plays_its_quota_to_the_letter() {
        // Unit vectors: π = ½ each, leverage 2, so T = ⌈2·2·½·4·log(2·1·2/0.05)⌉ = ⌈8·log 80⌉ = 36 each.
        let set = ActionSet::from_rows(&[[1.0, 0.0], [0.0, 1.0]]).unwrap();
        let mut policy = Elimination::new(Ridge::new(2, 1.0).unwrap(), 0.05).unwrap();
        assert_eq!(play(&mut policy, &set, &[0.0, 0.0], 72), [36, 36]);
        assert_eq!(policy.phase.as_ref().unwrap().remaining, 0);
    }

    #[test]
    fn stragglers_are_dropped_at_twice_the_phases_accuracy() {
        // Without noise: after phase 1 a gap above 1 goes, after phase 2 one above ½.
        let set = ActionSet::from_rows(&[[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]).unwrap();
        let mut policy = Elimination::new(Ridge::new(3, 1.0).unwrap(), 0.05).unwrap();
        let means = [1.2, 0.6, 0.1];
        let first = 3 * 39; // T = ⌈2·3·⅓·4·log(3·2/0.05)⌉ = ⌈8·log 120⌉ = 39
        play(&mut policy, &set, &means, first + 1);
        assert_eq!(policy.survivors(), [0, 1], "0.1 trails by 1.1");
        play(&mut policy, &set, &means, 2 * 300);
        assert_eq!(policy.survivors(), [0], "0.6 trails by 0.6");
    }

    #[test]
    fn a_phase_is_played_in_random_order() {
        // 36 plays of each of two actions: in blocks the first half would hold one action alone, in random order it holds
        // 18 ± 2.1 of each (hypergeometric); beyond 5 sd with probability 6e-7.
        let set = ActionSet::from_rows(&[[1.0, 0.0], [0.0, 1.0]]).unwrap();
        let mut policy = Elimination::new(Ridge::new(2, 1.0).unwrap(), 0.05).unwrap();
        let first_half = play(&mut policy, &set, &[0.0, 0.0], 36);
        assert!(first_half[0].abs_diff(18) <= 10, "{first_half:?}");
    }

    #[test]
    fn a_direction_in_small_units_is_played_too() {
        let set = ActionSet::from_rows(&[[1e10, 0.0], [0.0, 1.0]]).unwrap();
        let mut policy = Elimination::new(Ridge::new(2, 1.0).unwrap(), 0.05).unwrap();
        assert_eq!(play(&mut policy, &set, &[0.0, 10.0], 72), [36, 36]);
    }

    #[test]
    fn actions_that_are_all_zero_do_not_stall_it() {
        let set = ActionSet::from_rows(&[[0.0], [0.0]]).unwrap();
        let mut policy = Elimination::new(Ridge::new(1, 1.0).unwrap(), 0.05).unwrap();
        assert_eq!(play(&mut policy, &set, &[0.0, 0.0], 3000).iter().sum::<u64>(), 3000);
    }
}
