//! The rule of CODE: among the actions that could still be best, the one known least.

use super::bounds::{Bounds, halves};
use super::model::{BruteModel, Scored};
use super::radius::{BruteRadius, Reach};
use super::{Inputs, Ranking, Verdict, judge};

/// What CODE explores for.
#[derive(Clone, Copy, Debug)]
pub enum BruteTarget {
    /// No plausible action with a squared width above `κ·d/t`.
    Kappa(f64),
    /// Every plausible action known to within `±ε`.
    Accuracy(f64),
    /// Every plausible action known to within `±ε` by the decision of a round.
    Deadline {
        /// ε.
        accuracy: f64,
        /// That round, from 1.
        by_round: u64,
    },
}

/// CODE with its parameters, and the memory of a deadline.
#[derive(Clone, Debug)]
pub(super) struct Code {
    pub(super) radius: BruteRadius,
    pub(super) greed: f64,
    pub(super) target: Option<BruteTarget>,
    /// Of rounds drawn uniformly from the plausible actions.
    pub(super) share: f64,
    /// Actions are ruled out by differences; with a deadline by intervals all the same.
    pub(super) differences: bool,
    pub(super) deadline: Deadline,
}

/// What a deadline remembers.
#[derive(Clone, Debug, Default)]
pub(super) struct Deadline {
    first_set: Vec<Vec<f64>>,
    /// The actions that were plausible in every round; empty if another set was offered, or if none
    /// is left.
    survivors: Vec<bool>,
    /// How far intervals reach at the deadline, at most.
    last_reach: Option<Reach>,
}

/// Everything that a choice depends on.
struct Round {
    scored: Scored,
    reach: Reach,
    bounds: Bounds,
    /// Scores with pending decisions counted; `None` if none is pending.
    design: Option<Scored>,
}

impl Code {
    /// Judges a choice. `design` is the model with pending decisions counted, if there are any.
    pub(super) fn judge(
        &mut self,
        model: &BruteModel,
        design: Option<&BruteModel>,
        rows: &[Vec<f64>],
        chosen: usize,
        inputs: &mut dyn Inputs,
    ) -> Verdict {
        let (scored, reach) = (model.scores(rows), self.radius.reach(&model.evidence()));
        let has_deadline = matches!(self.target, Some(BruteTarget::Deadline { .. }));
        let bounds = if self.differences && !has_deadline {
            Bounds::by_differences(model, rows, &scored, &reach)
        } else {
            Bounds::new(&scored, &reach)
        };
        if self.share > 0.0 && inputs.uniform() < self.share {
            return judge_uniform(&bounds, chosen, inputs);
        }
        // A round is counted by decisions, those that are pending too.
        let decided = design.unwrap_or(model).evidence();
        let design = design.map(|design| design.scores(rows));
        let round = Round { scored, reach, bounds, design };
        let rankings = match self.target {
            None if self.greed > 0.0 => round.tempered(self.greed),
            None => vec![round.widest()],
            Some(BruteTarget::Kappa(kappa)) => {
                let wanted = kappa * decided.dim as f64 / (decided.observations + 1) as f64;
                round.explore_above(round.widest(), wanted, |width_sq| width_sq)
            }
            Some(BruteTarget::Accuracy(accuracy)) => {
                round.explore_above(round.widest(), accuracy, |width_sq| round.reach.half(width_sq))
            }
            Some(BruteTarget::Deadline { accuracy, by_round }) => {
                self.deadline.offered(model, &self.radius, rows, by_round);
                let Some(widest) = self.deadline.widest(&round) else { return Verdict::Unclear };
                let open = decided.observations + 1 < by_round;
                let last = self.deadline.last_reach.as_ref().filter(|_| open);
                let level = last.unwrap_or(&round.reach);
                round.explore_above(widest, accuracy, |width_sq| level.half(width_sq))
            }
        };
        judge(&rankings, rows, chosen)
    }
}

/// A round that draws uniformly from the plausible actions.
fn judge_uniform(bounds: &Bounds, chosen: usize, inputs: &mut dyn Inputs) -> Verdict {
    let count = bounds.plausible.len();
    let plausible: Vec<usize> = (0..count).filter(|action| bounds.plausible[*action]).collect();
    let drawn = inputs.below(plausible.len() as u64);
    let expected = plausible[usize::try_from(drawn).expect("an index")];
    if expected == chosen {
        Verdict::Same
    } else if bounds.maybe[chosen] && (0..count).any(|action| bounds.is_unclear(action)) {
        Verdict::Tie
    } else {
        Verdict::Wrong { expected }
    }
}

impl Round {
    fn count(&self) -> usize {
        self.scored.len()
    }

    /// Scores by which widths are compared.
    fn by_design(&self) -> &Scored {
        self.design.as_ref().unwrap_or(&self.scored)
    }

    /// Plausible actions by their widths.
    fn widest(&self) -> Ranking {
        let Scored { width_sq, epsilon, .. } = self.by_design();
        let tolerance = |(width_sq, epsilon): (&f64, &f64)| {
            if width_sq.is_infinite() { 0.0 } else { width_sq * epsilon }
        };
        let tolerances = width_sq.iter().zip(epsilon).map(tolerance).collect();
        self.bounds.rank(width_sq.clone(), tolerances)
    }

    /// `widest` while the largest measure of its competitors is above `wanted`, else greed 1; both
    /// where rounding decides which.
    fn explore_above(
        &self,
        widest: Ranking,
        wanted: f64,
        measure: impl Fn(f64) -> f64,
    ) -> Vec<Ranking> {
        let design = self.by_design();
        let largest = |among: &[bool], sign: f64| {
            let competing = (0..self.count()).filter(|action| among[*action]);
            let of = |action: usize| {
                let share = design.epsilon[action] + self.reach.epsilon;
                measure(design.width_sq[action]) * (1.0 + sign * share)
            };
            competing.map(of).fold(f64::NEG_INFINITY, f64::max)
        };
        let explores = measure(design.width_sq[widest.best()]) > wanted;
        let could_explore = largest(&widest.maybe, 1.0) > wanted;
        let could_stop = largest(&widest.sure, -1.0) <= wanted;
        let mut rankings = if explores { vec![widest.clone()] } else { self.tempered(1.0) };
        if explores && could_stop {
            rankings.extend(self.tempered(1.0));
        } else if !explores && could_explore {
            rankings.push(widest);
        }
        rankings
    }

    /// Plausible actions by `c·mean + half-width`. With decisions pending, half-widths are those of
    /// the design and `c` is at most `1/r`, with `r` the largest factor by which the half-width of
    /// a plausible action is above that of the design.
    fn tempered(&self, greed: f64) -> Vec<Ranking> {
        if self.reach.is_open() {
            return vec![self.widest()];
        }
        let bounds = &self.bounds;
        let Some(design) = &self.design else {
            return vec![self.tempered_by(greed, 0.0, &bounds.half, &bounds.half_tolerance)];
        };
        let (half, half_tolerance) = halves(design, &self.reach);
        let inflation = |among: &[bool]| {
            let competing = (0..self.count()).filter(|action| among[*action]);
            // 0/0 and ∞/∞ are NaN, which `max` ignores.
            competing.map(|action| bounds.half[action] / half[action]).fold(1.0, f64::max)
        };
        let largest = |epsilon: &[f64]| epsilon.iter().copied().fold(0.0, f64::max);
        let share =
            largest(&self.scored.epsilon) + largest(&design.epsilon) + 2.0 * self.reach.epsilon;
        let capped = |among: &[bool]| {
            let greed = greed.min(1.0 / inflation(among));
            self.tempered_by(greed, share, &half, &half_tolerance)
        };
        vec![capped(&bounds.plausible), capped(&bounds.sure), capped(&bounds.maybe)]
    }

    fn tempered_by(
        &self,
        greed: f64,
        greed_share: f64,
        half: &[f64],
        half_tolerance: &[f64],
    ) -> Ranking {
        let Scored { mean, mean_tolerance, .. } = &self.scored;
        let value = (0..self.count()).map(|action| greed * mean[action] + half[action]).collect();
        let tolerance = |action: usize| {
            let of_mean = mean_tolerance[action] + greed_share * mean[action].abs();
            greed * of_mean + half_tolerance[action]
        };
        self.bounds.rank(value, (0..self.count()).map(tolerance).collect())
    }
}

impl Deadline {
    fn offered(
        &mut self,
        model: &BruteModel,
        radius: &BruteRadius,
        rows: &[Vec<f64>],
        by_round: u64,
    ) {
        if self.first_set.is_empty() {
            self.first_set = rows.to_vec();
            self.survivors = vec![true; rows.len()];
            let guarantee = model.guarantee(rows, by_round);
            self.last_reach = guarantee.map(|evidence| radius.reach(&evidence));
        } else if self.first_set != rows {
            self.survivors.clear();
            self.last_reach = None;
        }
    }

    /// The survivors of this round by their widths, or the plausible actions if there is none;
    /// `None` where rounding decides who survives.
    fn widest(&mut self, round: &Round) -> Option<Ranking> {
        let bounds = &round.bounds;
        for action in 0..self.survivors.len() {
            if self.survivors[action] && bounds.is_unclear(action) {
                return None;
            }
            self.survivors[action] &= bounds.plausible[action];
        }
        let widest = round.widest();
        if !self.survivors.contains(&true) {
            self.survivors.clear();
            return Some(widest);
        }
        let survivors = || self.survivors.clone();
        Some(Ranking { plain: survivors(), sure: survivors(), maybe: survivors(), ..widest })
    }
}
