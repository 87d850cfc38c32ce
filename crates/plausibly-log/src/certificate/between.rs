//! What the grounds of a decision say about the difference between two actions.

use super::derive::two_digits;
use super::numbers::{Known, Numbers};
use super::rule_out::Differences;
use plausibly::{ActionIndex, ConfidenceRadius, Reach};

/// What is known about the difference between two actions, which are given by place.
pub(crate) struct Between {
    /// The action with the higher estimate.
    pub(crate) ahead: usize,
    pub(crate) behind: usize,
    /// How far the first is above the second at least, in units of reward.
    pub(crate) at_least: f64,
    pub(crate) at_most: f64,
    /// Whether the first is certain to be better.
    pub(crate) decided: bool,
    /// About how many further outcomes decide it.
    pub(crate) outcomes: Option<u64>,
    pub(crate) confidence: Option<f64>,
}

impl Numbers {
    /// Compares two actions, given by place.
    pub(crate) fn between(&self, [a, b]: [ActionIndex; 2]) -> Between {
        let Known { model, explanation, radius, confidence, .. } = &*self.known;
        let intervals = explanation.intervals();
        let model = model.estimator();
        let reach = radius.reach(&model.evidence());
        let curved = matches!(reach, Reach::Curved(_)).then(|| {
            let set = self.basis.set.view();
            explanation.compare(model, radius, self.terms().exclusion(), set, [a, b])
        });
        let (ahead, behind) = match &curved {
            Some(compared) => (compared.ahead, compared.behind),
            None if intervals[b].mean > intervals[a].mean => (b, a),
            None => (a, b),
        };
        let rule = self.pair_rule([ahead, behind]);
        let (first, second) = (intervals[ahead], intervals[behind]);
        let (at_least, at_most, progress) = match (curved, Differences::of(self, behind)) {
            (Some(compared), _) => (compared.at_least, compared.at_most, compared.progress),
            (None, Some(differences)) => {
                let gap = differences.gap(ahead);
                let half = reach.half_width(differences.apart(ahead));
                (gap - half, gap + half, (gap / half) * (gap / half))
            }
            (None, None) => (first.lower - second.upper, first.upper - second.lower, 0.0),
        };
        let progress = progress.max(explanation.progress(model, radius, ahead, behind));
        let by_pair = reach.judges_pairs()
            && rule.zip(model.tallies()).is_some_and(|(rule, tallies)| {
                rule.rules_out(tallies.get(ahead), tallies.get(behind)).is_some()
            });
        let known = self.ahead_by_pair(ahead, behind).filter(|_| by_pair);
        // Both hold together.
        let (at_least, at_most) = known
            .map_or((at_least, at_most), |(least, most)| (at_least.max(least), at_most.min(most)));
        let apart = reach.doubt().is_none() && at_least > 0.0;
        let decided = apart || by_pair || explanation.is_alone(ahead);
        let range = self.terms().range();
        // True averages lie in the range, so no two are farther apart.
        let [at_least, at_most] = [at_least, at_most].map(|end| (range * end).clamp(-range, range));
        let settled = self.basis.statistics.observations as f64;
        let likely = progress >= plausibly::Outlook::LEAST_PROGRESS && !decided;
        let outcomes = likely.then(|| two_digits(settled * (1.0 / progress.min(1.0) - 1.0)));
        let confidence = *confidence;
        Between { ahead, behind, at_least, at_most, decided, outcomes, confidence }
    }
}
