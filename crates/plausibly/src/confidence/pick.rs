//! The choice of a round.

use super::plausible::assert_radius;
use crate::actions::ActionIndex;
use crate::estimator::Scores;
use crate::linalg::FirstLook;

/// Takes the choice of a round from scores, where nothing is asked of the plausible set beside it.
///
/// The answers are those of [`crate::Plausible`], and of a square root for each action, in a
/// fraction of the time: most actions are told by squares, and where the last choice was found is
/// where the next is looked for first. That memory has no influence on an answer.
///
/// # Cost
/// O(K), with a few square roots.
///
/// # Example
/// ```
/// use plausibly::{Pick, Scores};
/// let mut scores = Scores::new();
/// scores.set(&[1.0, 0.9, 0.0], &[0.01, 0.04, 0.09]);
/// // The third could not be best: its upper bound 0.3 is below the lower bound 0.9 of the first.
/// assert_eq!(Pick::new().widest_plausible(&scores, 1.0), 1);
/// assert_eq!(Pick::new().largest_upper(&scores, 1.0), 0);
/// ```
#[derive(Clone, Debug, Default)]
pub struct Pick {
    first: FirstLook,
}

impl Pick {
    /// With nothing to remember.
    pub fn new() -> Self {
        Self::default()
    }

    /// The plausible action with the largest width, the lowest index among equals: CODE's choice.
    ///
    /// # Panics
    /// If there are no scores, or the radius is not positive and finite.
    #[inline]
    pub fn widest_plausible(&mut self, scores: &Scores, sqrt_beta: f64) -> ActionIndex {
        check(scores, sqrt_beta);
        let (mean, width_sq) = (&scores.mean, &scores.width_sq);
        self.first.anew = scores.anew;
        scores.isa.widest_plausible(mean, width_sq, sqrt_beta, &mut self.first)
    }

    /// The action with the largest `mean + √β·√width_sq`, the lowest index among equals: LinUCB's
    /// choice.
    ///
    /// # Panics
    /// If there are no scores, or the radius is not positive and finite.
    #[inline]
    pub fn largest_upper(&mut self, scores: &Scores, sqrt_beta: f64) -> ActionIndex {
        check(scores, sqrt_beta);
        let (mean, width_sq) = (&scores.mean, &scores.width_sq);
        self.first.anew = scores.anew;
        scores.isa.largest_upper(mean, width_sq, sqrt_beta, &mut self.first)
    }
}

fn check(scores: &Scores, sqrt_beta: f64) {
    assert_radius(sqrt_beta);
    assert!(!scores.mean.is_empty(), "no action to choose from");
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::confidence::{Plausible, Reach};
    use crate::linalg::Isa;
    use crate::rng::Stream;

    /// The choices by a square root for each action.
    fn by_roots(scores: &Scores, sqrt_beta: f64) -> (ActionIndex, ActionIndex) {
        let mut plausible = Plausible::new();
        plausible.assess(scores, Reach::Ellipsoid { sqrt_beta });
        let upper = |at: ActionIndex| scores.mean[at] + sqrt_beta * scores.width_sq[at].sqrt();
        let higher = |best, next| if upper(next) > upper(best) { next } else { best };
        let largest = (0..scores.mean.len()).reduce(higher).unwrap();
        (plausible.widest(scores), largest)
    }

    /// Scores of which many tie: few values of each, and upper bounds within rounding of the
    /// largest lower one.
    fn draw(rng: &mut Stream, sqrt_beta: f64, scores: &mut Scores) {
        let (count, scale) = (1 + rng.index(90), [1e-160, 1.0, 1e30][rng.index(3)]);
        let few = rng.index(2) == 0;
        let mut value =
            || if few { (rng.index(4) as f64 + 1.0) * scale } else { rng.normal().abs() * scale };
        scores.mean = (0..count).map(|_| value()).collect();
        scores.width_sq = (0..count).map(|_| value() * scale / 7.0).collect();
        let lower = |at: usize| scores.mean[at] - sqrt_beta * scores.width_sq[at].sqrt();
        let best = (0..count).map(lower).fold(f64::NEG_INFINITY, f64::max);
        for at in 0..count {
            if rng.index(3) == 0 {
                let exact = best - sqrt_beta * scores.width_sq[at].sqrt();
                let off = (rng.index(5) as f64 - 2.0) * f64::EPSILON * best.abs().max(exact.abs());
                scores.mean[at] = exact + off;
            }
        }
    }

    #[test]
    fn squares_choose_as_roots_do() {
        let (mut rng, mut scores, mut pick) =
            (Stream::new(4, 0, "pick"), Scores::new(), Pick::new());
        let mut by_half_the_radius = 0;
        for round in 0..30_000 {
            let sqrt_beta = [1e-3, 0.7, 25.0][rng.index(3)];
            draw(&mut rng, sqrt_beta, &mut scores);
            let expected = by_roots(&scores, sqrt_beta);
            for isa in Isa::available() {
                scores.isa = isa;
                // Whatever the last choice was, in this set or in another.
                pick.first = if round % 2 == 0 { pick.first } else { FirstLook::default() };
                scores.anew = round % 3 == 0;
                let found = (
                    pick.widest_plausible(&scores, sqrt_beta),
                    pick.largest_upper(&scores, sqrt_beta),
                );
                assert_eq!(
                    found, expected,
                    "round {round}, {isa:?}, radius {sqrt_beta}: {scores:?}"
                );
            }
            by_half_the_radius += u64::from(by_roots(&scores, sqrt_beta / 2.0) != expected);
        }
        // Scores that could not tell a right choice from a wrong one would test nothing.
        assert!(by_half_the_radius > 3_000, "{by_half_the_radius}");
    }
}
