//! Decisions whose rewards are outstanding: they count in the design at once, and in the confidence
//! set never.

use crate::actions::{Action, ActionIndex, Actions, SetId};
use crate::confidence::{Plausible, Reach};
use crate::estimator::{Estimator, Scores};
use crate::state::{DurableModel, PendingState, StateError, holds};
use std::collections::VecDeque;

/// Decisions outstanding, and the model with them counted.
///
/// `V_all = V + Σ x·xᵀ` over the pending `x`. A reward that comes moves its `x` from the sum into
/// `V` and leaves `V_all` as it was, so `V_all` follows each *decision* by one step, as `V` follows
/// each reward; only a decision that is dropped makes it start anew.
#[derive(Clone, Debug)]
pub(super) struct Pending<E> {
    indices: VecDeque<ActionIndex>,
    /// One row a decision.
    features: VecDeque<f64>,
    dim: usize,
    /// `None` where nothing is outstanding, and where it has to be made anew.
    design: Option<E>,
    /// Decisions that are known by `design` alone are outstanding, so it cannot be made anew.
    unlisted: bool,
}

impl<E: Estimator + Clone> Pending<E> {
    pub(super) fn new() -> Self {
        Self {
            indices: VecDeque::new(),
            features: VecDeque::new(),
            dim: 0,
            design: None,
            unlisted: false,
        }
    }

    /// Outstanding decisions that are known by this design alone. None of them can be settled or
    /// dropped: whoever keeps them makes a new policy from statistics.
    pub(super) fn counted(design: E) -> Self {
        Self { design: Some(design), unlisted: true, ..Self::new() }
    }

    /// Whether nothing is outstanding.
    pub(super) fn is_empty(&self) -> bool {
        self.indices.is_empty() && !self.unlisted
    }

    /// An action was taken.
    pub(super) fn push(&mut self, action: Action<'_>) {
        self.dim = action.features().len();
        self.indices.push_back(action.index());
        self.features.extend(action.features());
        if let Some(design) = &mut self.design {
            count(design, action);
        }
    }

    /// Its reward came, and the model has learned it.
    pub(super) fn settle(&mut self, action: Action<'_>) {
        if self.indices.is_empty() && self.design.is_none() {
            return;
        }
        if !self.remove(action)
            && let Some(design) = &mut self.design
        {
            // Nobody said that it was taken, so the design has not counted it yet.
            count(design, action);
        }
        if self.is_empty() {
            self.design = None;
        }
    }

    /// Its reward will never come. What was not outstanding is left alone.
    pub(super) fn drop(&mut self, action: Action<'_>) {
        if self.remove(action) {
            assert!(
                !self.unlisted,
                "a policy made from statistics cannot take decisions back; make a new one"
            );
            // Subtracting loses digits where adding does not.
            self.design = None;
        }
    }

    /// The model with every pending decision counted, if there is one.
    pub(super) fn design(&mut self, model: &E) -> Option<&mut E> {
        if self.is_empty() {
            return None;
        }
        if self.design.is_none() {
            let mut design = model.clone();
            let features = self.features.make_contiguous();
            for (row, index) in self.indices.iter().enumerate() {
                let features = &features[row * self.dim..(row + 1) * self.dim];
                count(&mut design, Action::new(*index, features));
            }
            self.design = Some(design);
        }
        self.design.as_mut()
    }

    /// Takes out the oldest like this; false if there is none.
    fn remove(&mut self, action: Action<'_>) -> bool {
        let features = action.features();
        let like = |&row: &usize| {
            let stored = || self.features.range(row * self.dim..(row + 1) * self.dim);
            self.indices[row] == action.index() && stored().eq(features)
        };
        let Some(row) = (0..self.indices.len()).find(like) else {
            return false;
        };
        self.indices.remove(row);
        self.features.drain(row * self.dim..(row + 1) * self.dim);
        true
    }
}

impl<E: DurableModel> Pending<E> {
    pub(super) fn state(&self, sets: &[Actions<'_>]) -> PendingState {
        let features = |row: usize| {
            self.features.range(row * self.dim..(row + 1) * self.dim).copied().collect()
        };
        PendingState {
            decisions: self
                .indices
                .iter()
                .enumerate()
                .map(|(row, index)| (*index, features(row)))
                .collect(),
            design: self.design.as_ref().map(|design| Box::new(design.state(sets))),
            unlisted: self.unlisted,
        }
    }

    pub(super) fn restored(
        state: PendingState,
        model: &E,
        sets: &[Actions<'_>],
    ) -> Result<Self, StateError> {
        let dim = state.decisions.first().map_or(0, |(_, features)| features.len());
        let fits = |index: &ActionIndex, features: &[f64]| {
            features.len() == dim
                && features.iter().all(|x| x.is_finite())
                && model.takes(*index, features)
        };
        holds(
            "pending.decisions",
            state.decisions.iter().all(|(index, features)| fits(index, features)),
        )?;
        holds("pending.unlisted", !state.unlisted || state.design.is_some())?;
        let mut pending = Self { dim, unlisted: state.unlisted, ..Self::new() };
        for (index, features) in state.decisions {
            pending.indices.push_back(index);
            pending.features.extend(features);
        }
        pending.design = state.design.map(|design| model.restored(*design, sets)).transpose()?;
        Ok(pending)
    }

    pub(super) fn remembers(&self, set: SetId) -> bool {
        self.design.as_ref().is_some_and(|design| design.remembers(set))
    }
}

/// Widths depend on what was taken and never on what it paid: a design counts everything as having
/// paid nothing.
fn count<E: Estimator>(design: &mut E, action: Action<'_>) {
    design.update(action, 0.0);
}

/// The plausible action with the largest `c·mean + half-width`, half-widths taken by the design and
/// `c` at most `greed` and at most `1/r`, where `r` is the largest factor by which a plausible
/// action's own half-width is above that by the design. With a larger `c` the regret of a round
/// would have no bound (`docs/concepts/pending.md`).
pub(super) fn tempered_by_design(
    plausible: &Plausible,
    scores: &Scores,
    design: &Scores,
    reach: Reach,
    greed: f64,
) -> ActionIndex {
    let by_design = |action: ActionIndex| reach.half_width(design.width_sq[action]);
    let candidates = || (0..scores.mean.len()).filter(|action| plausible.contains(scores, *action));
    // Infinite over infinite is NaN, which `max` passes over: that action is next whatever the
    // greed.
    let inflation = candidates()
        .map(|action| plausible.half_widths()[action] / by_design(action))
        .fold(1.0, f64::max);
    let greed = greed.min(1.0 / inflation);
    let value = |action: ActionIndex| greed * scores.mean[action] + by_design(action);
    let better = |best: ActionIndex, next| if value(next) > value(best) { next } else { best };
    candidates().reduce(better).expect("the action with the best lower bound is plausible")
}
