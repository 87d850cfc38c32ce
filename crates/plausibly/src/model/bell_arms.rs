//! Averages of arms under normal noise of one unknown scale.

use super::values::Values;
use super::{Earnings, Estimator, Evidence, LogDet, Scores, Shape, assert_reward};
use crate::actions::{Action, ActionIndex, Actions};
use crate::confidence::bell::{self, Level};
use crate::confidence::{Doubt, RadiusError, Reach};
use crate::state::{DurableModel, Reader, StateError, Writer, holds};

/// [`BellRidge`](super::BellRidge) for plain arms, with one scale of the noise for all of them.
///
/// ```text
/// width_sq(a) = (T + 2)/(T·(T − 2ρ))     β = ρ·Σ(y − average of its arm)²
/// ```
///
/// The set is that of the linear model over unit vectors, where every matrix is diagonal.
///
/// # Guarantee
/// That of [`BellRidge`](super::BellRidge). Where arms scatter unequally (1 : 5) *and* are taken
/// unequally often, the set does not hold; policies that take the widest action take rivals equally
/// often.
///
/// # Cost
/// O(K) an update and for all scores. No draws.
#[derive(Clone, Debug)]
pub struct BellArms {
    delta: f64,
    tallies: Vec<Earnings>,
    observations: u64,
    values: Values,
    /// The arms that the set is about, where others were taken than are on offer.
    every: Vec<Earnings>,
    /// How far each reward may be off by rounding.
    error: f64,
    /// ρ, where it is known and every arm with rewards has enough of them.
    level: Option<Level>,
}

impl BellArms {
    /// Nothing known about `arms` arms.
    ///
    /// # Errors
    /// If `delta` is not in (0, 1).
    ///
    /// # Panics
    /// If there is no arm.
    pub fn new(arms: usize, delta: f64) -> Result<Self, RadiusError> {
        assert!(arms > 0, "a K-armed model needs at least one arm");
        if !(delta > 0.0 && delta < 1.0) {
            return Err(RadiusError::Delta { delta });
        }
        let tallies = vec![Earnings::default(); arms];
        let (values, every) = (Values::default(), Vec::new());
        Ok(Self { delta, tallies, observations: 0, values, every, error: 0.0, level: None })
    }

    /// From what arms have paid, each reward off by at most `error`. `offered` are the arms that
    /// are scored, `every` those that were ever taken; an arm may be in both, and the order of
    /// `every` is that of the sums. `values` has five rewards of different value, if any five are.
    /// The model takes no rewards.
    ///
    /// # Panics
    /// If no arm is offered, or `delta` is not in (0, 1).
    pub fn from_statistics(
        delta: f64,
        offered: &[Earnings],
        every: &[Earnings],
        values: &[f64],
        error: f64,
    ) -> Self {
        let empty = Self::new(offered.len(), delta);
        let mut model = Self {
            tallies: offered.to_vec(),
            observations: every.iter().map(|arm| arm.count).sum(),
            values: Values::among(values),
            every: every.to_vec(),
            error,
            ..empty.unwrap_or_else(|refused| panic!("{refused}"))
        };
        model.solve();
        model
    }

    /// The same set with other plays of the arms on offer, for widths that count decisions whose
    /// rewards are outstanding.
    ///
    /// # Panics
    /// If there is not one number for each arm.
    #[must_use]
    pub fn counting(mut self, plays: &[u64]) -> Self {
        assert!(plays.len() == self.tallies.len(), "one number of plays for each arm");
        for (arm, plays) in self.tallies.iter_mut().zip(plays) {
            arm.count = *plays;
        }
        self.level = self.level.filter(|level| all_held(&self.tallies, level));
        self
    }

    fn arms(&self) -> &[Earnings] {
        if self.every.is_empty() { &self.tallies } else { &self.every }
    }

    /// δ.
    pub fn delta(&self) -> f64 {
        self.delta
    }

    fn log_det(&self) -> f64 {
        self.arms().iter().map(|arm| bell::arm_log_det(arm.count)).sum()
    }

    fn solve(&mut self) {
        let needed = -libm::log(self.delta);
        let ratio = bell::refuting_ratio(self.observations, self.log_det(), needed);
        let level = ratio.map(|ratio| bell::rounded(self.observations, ratio, self.error));
        self.level = level.filter(|level| all_held(self.arms(), level));
    }

    /// Infinite for an arm never taken.
    fn width_sq(&self, arm: &Earnings) -> f64 {
        if arm.count == 0 {
            return f64::INFINITY;
        }
        // Where there is no set, the least taken is the widest.
        let hold = |level: &Level| bell::arm_hold(arm.count, level.ratio);
        1.0 / self.level.as_ref().map_or(arm.count as f64, hold)
    }

    fn reach(&self) -> Reach {
        if self.observations > 0 && !self.values.are_enough() {
            return Reach::Open(Doubt::FewValues);
        }
        let Some(Level { ratio, allowance }) = self.level else {
            return Reach::Open(Doubt::TooFew);
        };
        let scatter: f64 = self.arms().iter().map(bell::scatter).sum();
        Reach::Ellipsoid { sqrt_beta: (ratio * scatter + allowance).sqrt() }
    }
}

/// Whether the set has an end in every arm that was taken.
fn all_held(arms: &[Earnings], level: &Level) -> bool {
    let mut taken = arms.iter().filter(|arm| arm.count > 0);
    taken.all(|arm| bell::arm_hold(arm.count, level.ratio) > 0.0)
}

impl Estimator for BellArms {
    fn score_into(&self, actions: Actions<'_>, out: &mut Scores) {
        let (known, offered) = (self.tallies.len(), actions.len());
        assert!(known == offered, "a model of {known} arms was asked about {offered}");
        out.resize(known);
        for (arm, tally) in self.tallies.iter().enumerate() {
            out.mean[arm] = tally.mean();
            out.width_sq[arm] = self.width_sq(tally);
        }
    }

    fn update(&mut self, action: Action<'_>, reward: f64) {
        assert_reward(reward);
        assert!(self.every.is_empty(), "a model made from sums takes no rewards");
        let tally = &mut self.tallies[action.index()];
        tally.count += 1;
        tally.total += reward;
        tally.squares += reward * reward;
        self.observations += 1;
        self.values.see(reward);
        self.solve();
    }

    fn evidence(&self) -> Evidence {
        Evidence {
            own: Some(self.reach()),
            log_det: LogDet::new(2.0 * self.log_det()),
            ..Evidence::new(self.observations, self.tallies.len(), 0.0, 0.0)
        }
    }

    fn shape(&self) -> Option<Shape> {
        Some(Shape::Arms { count: self.tallies.len() })
    }

    /// Arms have nothing in common, so squared widths add up.
    fn difference_sq(&self, scores: &Scores, one: ActionIndex, other: ActionIndex) -> f64 {
        if one == other { 0.0 } else { scores.width_sq[one] + scores.width_sq[other] }
    }

    fn deviation(&self, theta_star: &[f64]) -> f64 {
        let arms = self.tallies.iter().zip(theta_star).filter(|(arm, _)| arm.count > 0);
        let squares = arms.map(|(arm, truth)| {
            let miss = arm.mean() - truth;
            miss * miss / self.width_sq(arm)
        });
        squares.sum::<f64>().sqrt()
    }
}

impl DurableModel for BellArms {
    fn write(&self, out: &mut Writer) {
        out.counts(self.tallies.iter().map(|arm| arm.count));
        out.numbers(&self.tallies.iter().map(|arm| arm.total).collect::<Vec<f64>>());
        out.numbers(&self.tallies.iter().map(|arm| arm.squares).collect::<Vec<f64>>());
        self.values.write(out);
    }

    fn read(&mut self, from: &mut Reader<'_>) -> Result<(), StateError> {
        let arms = self.tallies.len();
        let counts = from.counts("counts")?;
        if counts.len() != arms {
            return Err(StateError::Length { what: "counts", expected: arms, found: counts.len() });
        }
        let (totals, squares) = (from.numbers("totals", arms)?, from.numbers("squares", arms)?);
        holds("squares", squares.iter().all(|squares| *squares >= 0.0))?;
        self.observations = counts.iter().sum();
        let arms = counts.into_iter().zip(totals).zip(squares);
        self.tallies =
            arms.map(|((count, total), squares)| Earnings { count, total, squares }).collect();
        self.values = Values::read(from)?;
        self.solve();
        Ok(())
    }

    fn takes(&self, index: ActionIndex, _: &[f64]) -> bool {
        index < self.tallies.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::actions::ActionSet;

    #[test]
    fn an_arm_never_taken_is_infinitely_wide_also_where_the_scale_is_known() {
        let known = Earnings { count: 40, total: 20.0, squares: 10.1 };
        let arms = [known, known, Earnings::default()];
        let values = [0.1, 0.2, 0.3, 0.4, 0.5];
        let model = BellArms::from_statistics(0.05, &arms, &arms[..2], &values, 0.0);
        assert!(model.level.is_some(), "the two arms have a scale");
        let (set, mut scores) = (ActionSet::arms(3).unwrap(), Scores::new());
        model.score_into(set.view(), &mut scores);
        assert!(scores.width_sq()[0].is_finite());
        assert_eq!(scores.width_sq()[2].to_bits(), f64::INFINITY.to_bits());
    }
}
