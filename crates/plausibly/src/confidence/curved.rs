//! Intervals of a model that is linear on another scale than that of rewards.

use super::radius::ConfidenceRadius;
use super::reach::Reach;
use crate::model::{Evidence, Link};

/// An ellipsoid on the scale on which a model is linear, and the way from there to rewards.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Curved {
    /// `μ`.
    pub link: Link,
    /// Where `z` is without features.
    pub offset: f64,
    /// How far `⟨x, θ⟩` reaches for an action of width one.
    pub radius: f64,
    /// `‖θ̃‖/S`: how far the estimate is from what was expected, as a share of the farthest that
    /// was thought possible.
    pub leaning: f64,
}

impl Curved {
    /// An estimate this far from what was expected makes one doubt what was thought possible.
    pub const LEANING: f64 = 0.5;

    /// The mean reward at `⟨x, θ⟩`.
    pub fn mean(&self, moved: f64) -> f64 {
        self.link.mean(self.offset + moved)
    }

    /// How much the mean moves with `⟨x, θ⟩`.
    pub fn variance(&self, moved: f64) -> f64 {
        self.link.variance(self.offset + moved)
    }

    /// The interval of the mean reward at `⟨x, θ̃⟩ = moved`.
    pub fn interval(&self, moved: f64, width_sq: f64) -> (f64, f64) {
        let half = self.radius * width_sq.sqrt();
        (self.mean(moved - half), self.mean(moved + half))
    }

    /// How far an action is above another in mean reward, at least and at most: it is between `low`
    /// and `high` above it in `⟨x, θ⟩`, and that of the other is between `from` and `to`.
    pub(crate) fn apart(&self, [low, high]: [f64; 2], [from, to]: [f64; 2]) -> (f64, f64) {
        let above = |moved: f64, by: f64| self.mean(moved + by) - self.mean(moved);
        // As `moved` grows this rises and then falls, or the reverse; it turns where both are
        // equally far from an even chance. That of counts never turns.
        let ends = |by: f64| {
            let turn = (-self.offset - 0.5 * by).clamp(from, to);
            [from, turn, to].map(|moved| above(moved, by))
        };
        let least = ends(low).into_iter().fold(f64::INFINITY, f64::min);
        (least, ends(high).into_iter().fold(f64::NEG_INFINITY, f64::max))
    }
}

/// The radius of a [`Glm`](crate::Glm), which brings its set: its δ and constants belong to the
/// model, because the shape of the set depends on them.
///
/// # Panics
/// If the model is another one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Likelihood;

impl ConfidenceRadius for Likelihood {
    fn sqrt_beta(&self, evidence: &Evidence) -> f64 {
        self.reach(evidence).half_width(1.0)
    }

    fn reach(&self, evidence: &Evidence) -> Reach {
        evidence.own.expect("the likelihood radius needs a model with a set of its own, Glm")
    }

    /// A model covers the rounding of its rewards itself.
    fn moved(&self, _: &Evidence, _: f64) -> f64 {
        0.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Stream;

    #[test]
    fn apart_holds_and_is_reached() {
        let mut rng = Stream::new(5, 0, "apart");
        for link in [Link::Logistic, Link::Poisson] {
            for _ in 0..2000 {
                let offset = 2.0 * rng.normal();
                let curved = Curved { link, offset, radius: 1.0, leaning: 0.0 };
                let (low, from) = (2.0 * rng.normal(), 2.0 * rng.normal());
                let (high, to) = (low + 2.0 * rng.uniform(), from + 3.0 * rng.uniform());
                let (least, most) = curved.apart([low, high], [from, to]);
                let (mut found_least, mut found_most) = (f64::INFINITY, f64::NEG_INFINITY);
                for step in 0..=400 {
                    let moved = from + (to - from) * f64::from(step) / 400.0;
                    for by in [low, high, low + (high - low) * rng.uniform()] {
                        let above = curved.mean(moved + by) - curved.mean(moved);
                        assert!((least - 1e-12..=most + 1e-12).contains(&above));
                        found_least = found_least.min(above);
                        found_most = found_most.max(above);
                    }
                }
                let scale = 1e-4 * (1.0 + curved.mean(to + high));
                assert!(found_least - least < scale && most - found_most < scale);
            }
        }
    }
}
