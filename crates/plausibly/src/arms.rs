//! Arms that come and go: the same policy over another list of arms.
//!
//! A policy is over a fixed list of arms. [`ArmRecord`] keeps what is known of every arm ever
//! offered, by number; [`Durable::state_over`](crate::state::Durable::state_over) takes what a
//! policy knows of the arms it is over into the record, and gives the state of the policy over
//! another list. δ is shared among all arms of the record, so the intervals of all of them hold at
//! once from the time the last new arm came.

use crate::actions::ActionIndex;
use crate::model::{ArmMeans, Whole};

/// What is known of every arm, by number.
#[derive(Clone, Debug, Default)]
pub struct ArmRecord {
    /// The number of arms of the first list.
    first: Option<usize>,
    now: Totals,
    /// What explore-then-commit committed to.
    committed: Option<Totals>,
    /// Arms with rewards on their way, the oldest first.
    pending: Vec<usize>,
}

/// Plays and rewards of each arm.
#[derive(Clone, Debug, Default)]
struct Totals {
    counts: Vec<u64>,
    sums: Vec<f64>,
    squares: Vec<f64>,
    /// Some squares were not kept, so none are known.
    without_squares: bool,
}

/// A move of a policy from one list of arms to another.
#[derive(Debug)]
pub struct ArmMove<'a> {
    record: &'a mut ArmRecord,
    from: &'a [usize],
    to: &'a [usize],
}

impl ArmRecord {
    /// Makes room for this many arms; nothing is known of new ones.
    pub fn grow(&mut self, arms: usize) {
        for totals in [Some(&mut self.now), self.committed.as_mut()].into_iter().flatten() {
            totals.counts.resize(arms, 0);
            totals.sums.resize(arms, 0.0);
            totals.squares.resize(arms, 0.0);
        }
    }

    /// A move of a policy over the arms of numbers `from` to those of numbers `to`.
    ///
    /// # Panics
    /// If a number is not below the size of the record.
    pub fn moving<'a>(&'a mut self, from: &'a [usize], to: &'a [usize]) -> ArmMove<'a> {
        let size = self.now.counts.len();
        assert!(from.iter().chain(to).all(|number| *number < size), "no arm has such a number");
        self.first.get_or_insert(from.len());
        ArmMove { record: self, from, to }
    }
}

impl Totals {
    fn note(&mut self, model: &ArmMeans, from: &[usize]) {
        for ((number, count), total) in from.iter().zip(model.counts()).zip(model.totals()) {
            (self.counts[*number], self.sums[*number]) = (*count, *total);
        }
        match model.squares() {
            Some(squares) => {
                from.iter().zip(squares).for_each(|(number, sum)| self.squares[*number] = *sum);
            }
            None => self.without_squares = true,
        }
    }

    fn model(&self, to: &[usize], first: Option<usize>) -> ArmMeans {
        let counts: Vec<u64> = to.iter().map(|number| self.counts[*number]).collect();
        let sums: Vec<f64> = to.iter().map(|number| self.sums[*number]).collect();
        let all: u64 = self.counts.iter().sum();
        let whole = Whole {
            arms: to.len(),
            shares: self.counts.len() as u64,
            ever: self.counts.len() as u64,
            other_observations: all - counts.iter().sum::<u64>(),
            first,
        };
        let model = ArmMeans::from_statistics(&counts, &sums).part_of(whole);
        if self.without_squares {
            return model;
        }
        model.with_squares(&to.iter().map(|number| self.squares[*number]).collect::<Vec<_>>())
    }
}

impl ArmMove<'_> {
    /// Moves the model of a policy or, with `committed`, the one that it has committed to. An arm
    /// that was away at the commitment counts with what was known of it then.
    pub(crate) fn model(&mut self, model: &mut ArmMeans, committed: bool) {
        let ArmRecord { now, committed: then, first, .. } = &mut *self.record;
        // A model that was written down remembers the first list; the record does not.
        *first = model.first_list().or(*first);
        let totals = if committed { then.get_or_insert_with(|| now.clone()) } else { now };
        totals.note(model, self.from);
        *model = totals.model(self.to, *first);
    }

    /// Replaces the places of decisions on their way in the old list by those in the new one.
    pub(crate) fn pending(&mut self, places: &mut Vec<ActionIndex>) {
        let (old, new) = (self.places(self.from), self.places(self.to));
        let pending = &mut self.record.pending;
        pending.retain(|number| old[*number].is_none());
        pending.extend(places.iter().map(|place| self.from[*place]));
        *places = pending.iter().filter_map(|number| new[*number]).collect();
    }

    /// The place of each number in a list.
    fn places(&self, list: &[usize]) -> Vec<Option<usize>> {
        let mut places = vec![None; self.record.now.counts.len()];
        list.iter().enumerate().for_each(|(place, number)| places[*number] = Some(place));
        places
    }
}
