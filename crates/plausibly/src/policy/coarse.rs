//! The best action under a parameter that is new in every round, with half the memory read.
//!
//! Products in single precision differ from those in double by at most some `E`. So the best action
//! is among those within `2E` of the largest, mostly one alone, and only those are computed in
//! double: single precision filters, and doubles decide.
//!
//! With `u = 2⁻²⁴`, rounding two vectors and their products changes a product by at most
//! `3u·Σ|xⱼyⱼ| ≤ 3u·‖x‖·‖y‖`, and each addition that it goes through by `u` more, up to terms in
//! `u²`.

use crate::actions::{ActionIndex, Actions, SetId};
use crate::linalg::{Aligned, Isa, LANES, dot, norm};

/// Sets with fewer features fit a near cache, where doubles are as fast.
const WORTHWHILE: usize = 1 << 13;
/// Magnitudes beyond which single precision could overflow; products of tiny numbers are off by far
/// less than [`TINY`].
const HUGE: f64 = 1e15;
const TINY: f64 = 1e-25;

/// Finds the best action under a parameter, of a set that is offered again.
#[derive(Debug, Default)]
pub(super) struct Coarse {
    /// The set offered last.
    offered: Option<SetId>,
    /// The set that is copied.
    copied: Option<SetId>,
    /// Its features in blocks of lanes; empty if single precision cannot hold them.
    blocks: Aligned<f32>,
    largest_norm: f64,
    theta: Vec<f32>,
    values: Vec<f32>,
    candidates: Vec<ActionIndex>,
}

/// A copy starts empty: all of it can be computed again.
impl Clone for Coarse {
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl Coarse {
    /// The first of the actions with the largest `⟨a, θ⟩`, each summed in order; `None` if doubles
    /// alone are faster, or single precision cannot tell.
    pub(super) fn best(
        &mut self,
        isa: Isa,
        actions: Actions<'_>,
        theta: &[f64],
    ) -> Option<ActionIndex> {
        let again = self.offered.replace(actions.id()) == Some(actions.id());
        if !again || actions.len() * actions.dim() < WORTHWHILE {
            return None;
        }
        if self.copied != Some(actions.id()) {
            self.copy(actions);
        }
        let length = norm(theta);
        if self.blocks.is_empty() || length > HUGE {
            return None;
        }
        self.theta.clear();
        self.theta.extend(theta.iter().map(|x| single(*x)));
        self.values.resize(actions.len().next_multiple_of(LANES), 0.0);
        let largest = f64::from(isa.coarse_dots(&self.blocks, &self.theta, &mut self.values));
        // d additions, three roundings, and one more than the terms in u² come to.
        let unit = 2.0_f64.powi(-24) * self.largest_norm * length;
        let error = (theta.len() + 4) as f64 * unit + TINY;
        let least = single(largest - 2.0 * error).next_down();
        let most = actions.len() / LANES;
        self.candidates.clear();
        isa.coarse_at_least(&self.values, least, most, &mut self.candidates);
        if self.candidates.len() > most {
            return None;
        }
        let value = |action: ActionIndex| dot(actions.get(action).features(), theta);
        let candidates = self.candidates.iter().filter(|action| **action < actions.len());
        let best = candidates.map(|action| (*action, value(*action)));
        best.reduce(|best, next| if next.1 > best.1 { next } else { best }).map(|best| best.0)
    }

    fn copy(&mut self, actions: Actions<'_>) {
        self.copied = Some(actions.id());
        self.largest_norm = actions.largest_norm();
        let fits = self.largest_norm <= HUGE;
        self.blocks.set_zeros(if fits { actions.blocks().len() } else { 0 });
        for (copy, x) in self.blocks.iter_mut().zip(actions.blocks()) {
            *copy = single(*x);
        }
    }
}

/// The nearest number in single precision.
#[expect(clippy::cast_possible_truncation, reason = "the error is accounted for")]
fn single(x: f64) -> f32 {
    x as f32
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::actions::ActionSet;
    use crate::policy::argmax;
    use crate::rng::Stream;

    /// Sets in which many products are closer to the largest than single precision can tell;
    /// returns how many choices were wrong, of those that were made.
    fn wrong_choices(rounds: u64, tamper: impl Fn(&mut Coarse)) -> (u64, u64) {
        let (mut rng, mut coarse, mut exact) =
            (Stream::new(9, 0, "coarse"), Coarse::default(), Vec::new());
        let (mut wrong, mut made) = (0, 0);
        for _ in 0..rounds {
            let (dim, scale) = (1 + rng.index(70), [1e-20, 1.0, 1e12][rng.index(3)]);
            let count = WORTHWHILE / dim + 1 + rng.index(300);
            let mut features: Vec<f64> = (0..dim * count).map(|_| scale * rng.normal()).collect();
            for _ in 0..count / 2 {
                let (from, to) = (rng.index(count) * dim, rng.index(count) * dim);
                features.copy_within(from..from + dim, to);
                for x in &mut features[to..to + dim] {
                    *x *= 1.0 + 5e-8 * rng.normal();
                }
            }
            let set = ActionSet::from_flat(features, dim).unwrap();
            for _ in 0..4 {
                let theta: Vec<f64> = (0..dim).map(|_| rng.normal()).collect();
                set.view().dot_into(&theta, &mut exact);
                let best = coarse.best(Isa::detect(), set.view(), &theta);
                tamper(&mut coarse);
                if let Some(best) = best {
                    made += 1;
                    wrong += u64::from(best != argmax(&exact));
                }
            }
        }
        (wrong, made)
    }

    #[test]
    fn the_best_by_half_the_digits_is_the_best() {
        let (wrong, made) = wrong_choices(400, |_| ());
        assert!(wrong == 0 && made > 1000, "{wrong} of {made} were wrong");
        // Products taken for exact must be noticed.
        assert!(wrong_choices(50, |coarse| coarse.largest_norm = 0.0).0 > 0);
    }

    #[test]
    fn what_single_precision_cannot_hold_is_left_alone() {
        let set = ActionSet::from_flat(vec![1e20; 2 * WORTHWHILE], 2).unwrap();
        let mut coarse = Coarse { offered: Some(set.view().id()), ..Coarse::default() };
        assert_eq!(coarse.best(Isa::detect(), set.view(), &[1.0, 1.0]), None);
        let set = ActionSet::from_flat(vec![1.0; 2 * WORTHWHILE], 2).unwrap();
        assert_eq!(coarse.best(Isa::detect(), set.view(), &[1e16, 1.0]), None);
        // All tie: too many to be looked at twice.
        assert_eq!(coarse.best(Isa::detect(), set.view(), &[1.0, 1.0]), None);
    }
}
