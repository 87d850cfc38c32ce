//! The best action under a parameter that is new in every round, exactly and with half the memory
//! read.
//!
//! Products in [single precision](crate::singles) differ from those in double by at most some `E`.
//! So the best action is among those within `2E` of the largest, mostly itself alone, and those are
//! looked at in double.

use crate::actions::{ActionIndex, Actions};
use crate::linalg::{Isa, LANES, dot};
use crate::singles::{Singles, single};

/// Sets with fewer features are in a cache that is near enough.
const WORTHWHILE: usize = 1 << 13;

#[derive(Clone, Debug, Default)]
pub(super) struct Coarse {
    singles: Singles,
    values: Vec<f32>,
    candidates: Vec<ActionIndex>,
}

impl Coarse {
    /// The first of the actions with the largest `⟨a, θ⟩`, each summed in order; `None` if it has
    /// to be found otherwise.
    pub(super) fn best(
        &mut self,
        isa: Isa,
        actions: Actions<'_>,
        theta: &[f64],
    ) -> Option<ActionIndex> {
        if actions.len() * actions.dim() < WORTHWHILE {
            return None;
        }
        let factors = self.singles.factors(actions, theta)?;
        self.values.resize(actions.len().next_multiple_of(LANES), 0.0);
        let largest = f64::from(isa.coarse_dots(factors.blocks, factors.vector, &mut self.values));
        self.candidates.clear();
        let most = actions.len() / LANES;
        // No more than it, after rounding.
        let least = single(largest - 2.0 * factors.error(theta.len())).next_down();
        isa.coarse_at_least(&self.values, least, most, &mut self.candidates);
        if self.candidates.len() > most {
            return None;
        }
        let value = |action: ActionIndex| dot(actions.get(action).features(), theta);
        let candidates = self.candidates.iter().filter(|action| **action < actions.len());
        let best = candidates.map(|action| (*action, value(*action)));
        best.reduce(|best, next| if next.1 > best.1 { next } else { best }).map(|best| best.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::actions::ActionSet;
    use crate::policy::argmax;
    use crate::rng::Stream;

    /// Sets in which many products are closer to the largest than single precision can tell;
    /// returns how many choices were wrong, of those that were made.
    fn wrong_choices(rounds: u64, tamper: impl Fn(&mut Singles)) -> (u64, u64) {
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
            for _ in 0..3 {
                let theta: Vec<f64> = (0..dim).map(|_| rng.normal()).collect();
                set.view().dot_into(&theta, &mut exact);
                let best = coarse.best(Isa::detect(), set.view(), &theta);
                tamper(&mut coarse.singles);
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
        assert!(wrong_choices(50, Singles::forget_errors).0 > 0);
    }

    #[test]
    fn what_single_precision_cannot_hold_is_left_alone() {
        let set = ActionSet::from_flat(vec![1e20; 2 * WORTHWHILE], 2).unwrap();
        let mut coarse = Coarse::default();
        assert_eq!(coarse.best(Isa::detect(), set.view(), &[1.0, 1.0]), None);
        let set = ActionSet::from_flat(vec![1.0; 2 * WORTHWHILE], 2).unwrap();
        assert_eq!(coarse.best(Isa::detect(), set.view(), &[1e16, 1.0]), None);
        // All tie: too many to be looked at twice.
        assert_eq!(coarse.best(Isa::detect(), set.view(), &[1.0, 1.0]), None);
    }
}
