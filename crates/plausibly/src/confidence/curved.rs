//! Intervals of a model that is linear on another scale than that of rewards.

use super::pairs::PairRule;
use super::radius::{ConfidenceRadius, RadiusError, check_delta};
use super::reach::Reach;
use super::two_point::check_range;
use crate::model::{Evidence, Link};

/// An ellipsoid on the scale on which a model is linear, and the way from there to rewards.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Curved {
    /// `μ`.
    pub link: Link,
    /// A reward is the first of these, and the second times what the link gives.
    pub scale: (f64, f64),
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
        let (from, length) = self.scale;
        from + length * self.link.mean(self.offset + moved)
    }

    /// How much what the link gives moves with `⟨x, θ⟩`: the information in a reward.
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
        let share = |moved: f64| self.link.mean(self.offset + moved);
        let above = |moved: f64, by: f64| self.scale.1 * (share(moved + by) - share(moved));
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
/// With `pairs`, verdicts between pairs of actions ([`PairRule`]) have a δ of their own; the model
/// must keep what each action has paid ([`Tabled`](crate::Tabled)), and rewards must be in [0, 1].
///
/// # Panics
/// If the model is another one.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Likelihood {
    /// δ of the verdicts between pairs, beside that of the model, and the range of rewards; `None`
    /// where there are none.
    pub pairs: Option<(f64, (f64, f64))>,
}

impl ConfidenceRadius for Likelihood {
    fn sqrt_beta(&self, evidence: &Evidence) -> f64 {
        self.reach(evidence).half_width(1.0)
    }

    fn reach(&self, evidence: &Evidence) -> Reach {
        evidence.own.expect("the likelihood radius needs a model with a set of its own, Glm")
    }

    fn pairs(&self, evidence: &Evidence) -> Option<PairRule> {
        self.pairs.map(|(delta, range)| PairRule::without_intervals(evidence, delta, range))
    }

    /// A model covers the rounding of its rewards itself.
    fn moved(&self, _: &Evidence, _: f64) -> f64 {
        0.0
    }

    fn check(&self) -> Result<(), RadiusError> {
        let Some((delta, (low, high))) = self.pairs else { return Ok(()) };
        check_delta(delta)?;
        check_range(low, high)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::actions::ActionSet;
    use crate::confidence::{Doubt, Exclusion};
    use crate::explain::Explanation;
    use crate::model::{Estimator, Glm, GlmPrior, Tabled};
    use crate::rng::Stream;

    #[test]
    fn estimates_are_in_the_range_of_rewards_also_where_nothing_is_ruled_out() {
        let set = ActionSet::from_rows(&[[1.0, 0.0], [0.0, 1.0]]).unwrap();
        let prior = GlmPrior::around(Link::Logistic, (10.0, 30.0), 11.0, 1.5, (2, 1.0), 0.05);
        let glm = Glm::new(2, prior.unwrap()).unwrap();
        let models: [Box<dyn Estimator>; 2] =
            [Box::new(Tabled::new(glm.clone(), 2)), Box::new(glm)];
        for mut model in models {
            let radius = Likelihood::default();
            let means = |model: &dyn Estimator, found: &mut Explanation| -> Vec<f64> {
                found.fill(model, &radius, Exclusion::Differences, set.view());
                found.intervals().iter().map(|interval| interval.mean).collect()
            };
            let mut found = Explanation::new();
            assert!(means(&*model, &mut found).iter().all(|mean| (mean - 11.0).abs() < 1e-9));
            assert_eq!(found.doubt(), None);
            // Rewards far above what a factor of 1.5 on 11 of 10 to 30 allows.
            (0..200).for_each(|_| model.update(set.view().get(0), 30.0));
            let means = means(&*model, &mut found);
            assert_eq!(found.doubt(), Some(Doubt::Refuted));
            assert!(means[0] > 15.0 && means[0] < 30.0 && (means[1] - 11.0).abs() < 1e-9);
        }
    }

    #[test]
    fn apart_holds_and_is_reached() {
        let mut rng = Stream::new(5, 0, "apart");
        for link in [Link::Logistic, Link::Poisson] {
            for _ in 0..2000 {
                let offset = 2.0 * rng.normal();
                let scale = (-1.0, 1.0);
                let curved = Curved { link, scale, offset, radius: 1.0, leaning: 0.0 };
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
