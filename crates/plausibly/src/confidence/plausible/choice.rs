//! Which of the plausible actions is taken.

use super::{Kind, Plausible};
use crate::actions::ActionIndex;
use crate::model::Scores;

impl Plausible {
    /// The plausible action with the largest width, the lowest index among equals. Of bounded arms
    /// the one with the longest interval, the least taken among equals; on a curved scale the one
    /// whose outcome would tell most: squared widths count by how much rewards move there.
    ///
    /// # Panics
    /// If the scores are not the ones assessed.
    pub fn widest(&self, scores: &Scores) -> ActionIndex {
        self.widest_by(scores, &scores.width_sq)
    }

    /// The plausible action with the largest of these squared widths, the lowest index among
    /// equals.
    ///
    /// # Panics
    /// If the scores are not the ones assessed, or there is not one width for each action.
    pub fn widest_by(&self, scores: &Scores, width_sq: &[f64]) -> ActionIndex {
        assert!(width_sq.len() == self.slack.len(), "one width for each action");
        match self.kind {
            Kind::Bounded => return self.longest_by(scores, width_sq),
            Kind::Curved(_) => return self.best_of(|action| self.gain(width_sq, action)),
            Kind::Even | Kind::Open => {}
        }
        let best = scores.isa.widest(width_sq, &self.slack);
        let attains = |&action: &ActionIndex| width_sq[action] >= best && self.contains(action);
        (0..width_sq.len()).find(attains).expect("a plausible set is never empty")
    }

    /// The plausible arm with the longest interval, the least taken among equals.
    fn longest_by(&self, scores: &Scores, width_sq: &[f64]) -> ActionIndex {
        let key = |action: usize| (self.half_by(scores, width_sq, action), width_sq[action]);
        self.best_of(key)
    }

    /// The plausible action with the largest value, the first among equals.
    fn best_of<T: PartialOrd>(&self, value: impl Fn(ActionIndex) -> T) -> ActionIndex {
        let better = |best: usize, next| if value(next) > value(best) { next } else { best };
        self.plausible().reduce(better).expect("a plausible set is never empty")
    }

    fn plausible(&self) -> impl Iterator<Item = ActionIndex> {
        (0..self.slack.len()).filter(|action| self.contains(*action))
    }

    /// Leaves in `found` the plausible actions that may be known least, in order, if each of these
    /// squared widths can be off by this share of itself.
    pub(crate) fn widest_within(&self, width_sq: &[f64], off: f64, found: &mut Vec<usize>) {
        let gain = |action: &ActionIndex| self.gain(width_sq, *action);
        let most = self.plausible().map(|action| gain(&action)).fold(0.0, f64::max);
        found.clear();
        // Twice, for the largest and for the other, and a little for the rounding of the product.
        found.extend(self.plausible().filter(|action| gain(action) >= most * (1.0 - 3.0 * off)));
    }

    /// What an outcome of an action adds to what is known, by these squared widths.
    pub(crate) fn gain(&self, width_sq: &[f64], action: ActionIndex) -> f64 {
        self.gain_of(width_sq[action], action)
    }

    /// The same by the squared width of this action.
    pub(crate) fn gain_of(&self, width_sq: f64, action: ActionIndex) -> f64 {
        match self.kind {
            Kind::Curved(_) => self.weight[action] * width_sq,
            _ => width_sq,
        }
    }

    /// How much is known of the plausible actions by a design: the largest squared width, or gain,
    /// and half the longest interval.
    pub(crate) fn least_known(&self, scores: &Scores, width_sq: &[f64]) -> Option<(f64, f64)> {
        let Kind::Curved(_) = self.kind else { return None };
        let gain = self.plausible().map(|action| self.gain(width_sq, action));
        let half = self.plausible().map(|action| self.half_by(scores, width_sq, action));
        Some((gain.fold(0.0, f64::max), half.fold(0.0, f64::max)))
    }

    /// Half the interval of an action with squared widths by a design that counts more outcomes:
    /// shorter as the width is. That of a bounded arm by the root of the plays, one more counted on
    /// both sides so that arms never taken have a length too.
    pub(crate) fn half_by(&self, scores: &Scores, width_sq: &[f64], action: ActionIndex) -> f64 {
        if let Kind::Curved(_) = self.kind {
            return self.half_width[action] * narrower(scores, width_sq, action);
        }
        let plays = |width_sq: f64| 1.0 / width_sq + 1.0;
        let fewer = plays(scores.width_sq[action]) / plays(width_sq[action]);
        self.half_width[action] * fewer.sqrt()
    }

    /// The plausible action with the largest `greed·mean + half-width`, the lowest index among
    /// equals; the middle of an interval stands for the mean where the estimate is not there.
    ///
    /// # Panics
    /// If the scores are not the ones assessed.
    pub fn tempered(&self, scores: &Scores, greed: f64) -> ActionIndex {
        let middle = self.middle(scores);
        if let Kind::Curved(_) = self.kind {
            let half = self.ranked(scores, &scores.width_sq, greed);
            return self.best_of(|action| greed * middle[action] + half(action));
        }
        let best = scores.isa.tempered(middle, &self.half_width, greed, &self.slack);
        let value = |action: usize| greed * middle[action] + self.half_width[action];
        let attains = |&action: &ActionIndex| value(action) >= best && self.contains(action);
        (0..scores.mean.len()).find(attains).expect("a plausible set is never empty")
    }

    /// What is added to `greed·middle` to rank actions on a curved scale, by the squared widths of
    /// a design: half the interval or, below greed 1, what the gain is worth where rewards move
    /// most, if that is more. So rare rewards are not passed over for being rare.
    pub(crate) fn ranked<'a>(
        &'a self,
        scores: &'a Scores,
        width_sq: &'a [f64],
        greed: f64,
    ) -> impl Fn(ActionIndex) -> f64 {
        let steepest = self.plausible().map(|action| self.weight[action]).fold(0.0, f64::max);
        let steepest = if greed < 1.0 { steepest } else { 0.0 };
        let most = if let Kind::Curved(it) = self.kind { it.radius * it.scale.1 } else { 0.0 };
        move |action| {
            let by_gain = (steepest * self.weight[action] * width_sq[action]).sqrt() * most;
            self.half_by(scores, width_sq, action).max(by_gain)
        }
    }

    /// The choice at this greed: [`Plausible::widest`] at 0, else [`Plausible::tempered`]. While
    /// nothing is ruled out intervals say nothing, and widths decide at any greed.
    pub(crate) fn best(&self, scores: &Scores, greed: f64) -> ActionIndex {
        let tempered = greed > 0.0 && !self.is_open();
        if tempered { self.tempered(scores, greed) } else { self.widest(scores) }
    }
}

/// The width of an action by a design as a share of its own.
fn narrower(scores: &Scores, width_sq: &[f64], action: ActionIndex) -> f64 {
    let own = scores.width_sq[action];
    if own > 0.0 { (width_sq[action] / own).sqrt() } else { 1.0 }
}
