//! Decisions in the order they were taken, until their rewards come.

use crate::actions::{Action, ActionIndex};
use crate::state::{DurableModel, Reader, StateError, Writer, holds};
use std::collections::VecDeque;

/// Decisions with outstanding rewards, the oldest first. Allocates only to hold more than ever
/// before.
#[derive(Clone, Debug, Default)]
pub(super) struct Queue {
    indices: VecDeque<ActionIndex>,
    /// One row per decision.
    features: VecDeque<f64>,
    dim: usize,
}

impl Queue {
    pub(super) fn of_arms(indices: Vec<ActionIndex>) -> Self {
        Self { indices: indices.into(), ..Self::default() }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.indices.is_empty()
    }

    pub(super) fn indices(&self) -> impl Iterator<Item = ActionIndex> {
        self.indices.iter().copied()
    }

    pub(super) fn push(&mut self, action: Action<'_>) {
        self.dim = action.features().len();
        self.indices.push_back(action.index());
        self.features.extend(action.features());
    }

    /// Removes the oldest decision for this action, and returns its place; `None` if there is none.
    pub(super) fn remove(&mut self, action: Action<'_>) -> Option<usize> {
        let row = (0..self.indices.len()).find(|row| self.is_for(*row, action))?;
        self.remove_at(row);
        Some(row)
    }

    /// Like [`Queue::remove`], for the latest decision for this action.
    pub(super) fn remove_latest(&mut self, action: Action<'_>) -> Option<usize> {
        let row = (0..self.indices.len()).rfind(|row| self.is_for(*row, action))?;
        self.remove_at(row);
        Some(row)
    }

    fn is_for(&self, row: usize, action: Action<'_>) -> bool {
        let stored = || self.features.range(row * self.dim..(row + 1) * self.dim);
        self.indices[row] == action.index() && stored().eq(action.features())
    }

    /// Removes the decision at this place, which there is.
    pub(super) fn remove_at(&mut self, row: usize) {
        self.indices.remove(row);
        self.features.drain(row * self.dim..(row + 1) * self.dim);
    }

    /// Calls `each` with every decision, the oldest first.
    pub(super) fn for_each(&self, mut each: impl FnMut(Action<'_>)) {
        let mut features = Vec::with_capacity(self.dim);
        for (row, index) in self.indices.iter().enumerate() {
            features.clear();
            features.extend(self.features.range(row * self.dim..(row + 1) * self.dim));
            each(Action::new(*index, &features));
        }
    }

    pub(super) fn write(&self, out: &mut Writer) {
        out.counts(self.indices.iter().map(|index| *index as u64));
        out.count(self.dim as u64);
        out.numbers(&self.features.iter().copied().collect::<Vec<f64>>());
    }

    /// With a model that takes the actions.
    pub(super) fn read<E: DurableModel>(
        from: &mut Reader<'_>,
        model: &E,
    ) -> Result<Self, StateError> {
        let indices = from.places("pending.indices", usize::MAX)?;
        let dim = usize::try_from(from.count("pending.dim")?).unwrap_or(usize::MAX);
        let features = from.some_numbers("pending.features")?;
        holds("pending.features", dim.checked_mul(indices.len()) == Some(features.len()))?;
        let row = |at: usize| &features[at * dim..(at + 1) * dim];
        let mut decisions = indices.iter().enumerate();
        holds("pending.features", decisions.all(|(at, index)| model.takes(*index, row(at))))?;
        Ok(Self { indices: indices.into(), features: features.into(), dim })
    }
}
