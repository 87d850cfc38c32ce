//! What each action has paid, where actions are known by their index.

/// What each action of a set has paid.
#[derive(Clone, Copy, Debug)]
pub struct Tallies<'a> {
    pub(crate) counts: &'a [u64],
    pub(crate) totals: &'a [f64],
    pub(crate) squares: &'a [f64],
}

impl Tallies<'_> {
    /// Of the action at this index.
    pub fn get(&self, index: usize) -> Earnings {
        let (count, total, squares) = (self.counts[index], self.totals[index], self.squares[index]);
        Earnings { count, total, squares }
    }

    /// The number of actions.
    pub fn len(&self) -> usize {
        self.counts.len()
    }

    /// Whether there is no action.
    pub fn is_empty(&self) -> bool {
        self.counts.is_empty()
    }
}

/// Plays of one action, and the sums of its rewards.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Earnings {
    /// T, how often it was taken and paid.
    pub count: u64,
    /// `Σ y`.
    pub total: f64,
    /// `Σ y²`.
    pub squares: f64,
}

impl Earnings {
    /// The average reward; zero for an action never taken.
    pub fn mean(&self) -> f64 {
        if self.count == 0 { 0.0 } else { self.total / self.count as f64 }
    }
}

/// The number of pairs that share the probability of a wrong verdict between pairs.
///
/// While every round offers the same `first` actions and the question is which of them is the best,
/// only pairs with a best action count, fewer than `first`; half of the probability is theirs. Once
/// another set is offered, each action may be the best of some set, so `all` pairs of the `ever`
/// actions seen count, in the direction that would rule the better one out; likewise where any two
/// actions are compared. The other half of the probability is spread over the doublings of
/// the number of actions: with `j` the smallest for which `2ʲ·first ≥ ever`, there are at most
/// `4ʲ·first²/2` pairs with a share of `1/(2·first²·8ʲ)` each, so doubling `j` spends `2⁻ʲ/4`.
pub(crate) fn pair_shares(first: usize, ever: u64, all: bool) -> f64 {
    let first = first as f64;
    if !all {
        return 2.0 * first;
    }
    let mut shares = 2.0 * first * first;
    let mut known = first;
    while known < ever as f64 {
        known *= 2.0;
        shares *= 8.0;
    }
    shares
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shares_of_all_pairs_sum_to_at_most_one() {
        for first in [1_usize, 2, 7, 64] {
            // The pairs with a best action on the first set, and all pairs after each doubling,
            // since each doubling has a threshold of its own.
            let mut spent = (first - 1) as f64 / pair_shares(first, first as u64, false);
            for doubling in 0..20 {
                let ever = (first as u64) << doubling;
                let pairs = (ever * (ever - 1) / 2) as f64;
                spent += pairs / pair_shares(first, ever, true);
            }
            assert!(spent <= 1.0, "{first} actions spend {spent}");
            // On the first set alone, both directions of every pair beside the best action's.
            let (best, all) = (first as f64 - 1.0, first as f64 * (first as f64 - 1.0));
            let either = best / pair_shares(first, first as u64, false)
                + all / pair_shares(first, first as u64, true);
            assert!(either <= 1.0, "{first} actions spend {either}");
            // Sharing as on the first set would overspend from the first change on.
            let mutant = first as f64 * (first as f64 - 1.0) / 2.0;
            assert!(first < 7 || mutant / pair_shares(first, first as u64, false) > 1.0);
        }
    }
}
