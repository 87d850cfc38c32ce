//! What arms have paid: their intervals, and which of them rule others out.

use crate::actions::ActionIndex;
use crate::confidence::pairs::PairRule;
use crate::confidence::two_point::Bounded;
use crate::model::{Earnings, Tallies};

/// The intervals of bounded arms. One is computed again only if its sums have changed, so it is a
/// function of them.
#[derive(Clone, Debug, Default)]
pub(super) struct BoundedArms {
    bounded: Option<Bounded>,
    known: Vec<(Earnings, (f64, f64))>,
}

impl BoundedArms {
    pub(super) fn bring_up(&mut self, bounded: Bounded, tallies: Tallies<'_>) {
        if self.bounded.replace(bounded) != Some(bounded) || self.known.len() != tallies.len() {
            self.known.clear();
        }
        for arm in 0..tallies.len() {
            let tally = tallies.get(arm);
            match self.known.get_mut(arm) {
                Some(known) if known.0 == tally => {}
                Some(known) => *known = (tally, bounded.interval(tally)),
                None => self.known.push((tally, bounded.interval(tally))),
            }
        }
    }

    pub(super) fn intervals(&self) -> impl Iterator<Item = (f64, f64)> {
        self.known.iter().map(|(_, interval)| *interval)
    }
}

/// Which actions are ruled out by what they and the leader have paid. A pair is judged again only
/// if its sums have changed, so a verdict is a function of them.
#[derive(Clone, Debug, Default)]
pub(super) struct Beaten {
    rule: Option<PairRule>,
    /// The action with the largest average, the lowest index among equals.
    pub(super) leader: ActionIndex,
    /// The sums that each verdict is from: those of the leader, and its own.
    from: Vec<(Earnings, Earnings)>,
    /// The evidence against each action, in nats; zero where it is not enough. Empty without a
    /// rule.
    pub(super) evidence: Vec<f64>,
}

impl Beaten {
    pub(super) fn by_nothing(&mut self) {
        self.rule = None;
        self.evidence.clear();
    }

    pub(super) fn compare(&mut self, rule: PairRule, tallies: Tallies<'_>) {
        let known = self.rule.replace(rule) == Some(rule) && self.from.len() == tallies.len();
        if !known {
            self.from = vec![(Earnings::default(), Earnings::default()); tallies.len()];
            self.evidence = vec![0.0; tallies.len()];
        }
        let ahead = |best: usize, next: usize| {
            let [best_tally, tally] = [best, next].map(|action| tallies.get(action));
            let leads =
                tally.count > 0 && (best_tally.count == 0 || tally.mean() > best_tally.mean());
            if leads { next } else { best }
        };
        self.leader = (0..tallies.len()).reduce(ahead).unwrap_or(0);
        let leader = tallies.get(self.leader);
        for (action, (from, evidence)) in self.from.iter_mut().zip(&mut self.evidence).enumerate() {
            let pair = (leader, tallies.get(action));
            if *from != pair {
                *from = pair;
                *evidence = rule.rules_out(leader, pair.1).unwrap_or(0.0);
            }
        }
    }

    pub(super) fn any(&self) -> bool {
        self.evidence.iter().any(|evidence| *evidence > 0.0)
    }

    pub(super) fn is(&self, action: ActionIndex) -> bool {
        self.evidence.get(action).is_some_and(|evidence| *evidence > 0.0)
    }
}
