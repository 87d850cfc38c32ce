//! Pending decisions have no reward yet. They count in the design at once, and never in the
//! confidence set.

use super::queue::Queue;
use crate::actions::{Action, ActionIndex};
use crate::arms::ArmMove;
use crate::confidence::{Plausible, Reach};
use crate::model::{Estimator, Scores};
use crate::state::{DurableModel, Reader, StateError, Writer, holds};
use std::borrow::Cow;

/// Pending decisions, and the model that counts them.
///
/// `V_all = V + Σ x·xᵀ` over the pending `x`. A reward that comes moves its `x` from the sum into
/// `V` and leaves `V_all` as it was, so `V_all` follows each *decision* by one step, as `V` follows
/// each reward. A dropped decision makes it start again from the model.
#[derive(Clone, Debug)]
pub(super) struct Pending<E> {
    listed: Queue,
    /// `None` where nothing is pending, and where it has to be made again.
    design: Option<E>,
    /// Some pending decisions are known by `design` alone, so it cannot be made again.
    unlisted: bool,
}

impl<E: Estimator + Clone> Pending<E> {
    pub(super) fn new() -> Self {
        Self { listed: Queue::default(), design: None, unlisted: false }
    }

    /// Pending decisions that are known by this design alone. They can be neither settled nor
    /// dropped: a log makes a new policy from its statistics instead.
    pub(super) fn counted(design: E) -> Self {
        Self { design: Some(design), unlisted: true, ..Self::new() }
    }

    /// Whether nothing is pending.
    pub(super) fn is_empty(&self) -> bool {
        self.listed.is_empty() && !self.unlisted
    }

    /// An action was taken.
    pub(super) fn push(&mut self, action: Action<'_>) {
        self.listed.push(action);
        if let Some(design) = &mut self.design {
            design.count(action);
        }
    }

    /// Its reward came, and the model has learned it.
    pub(super) fn settle(&mut self, action: Action<'_>) {
        if self.listed.is_empty() && self.design.is_none() {
            return;
        }
        if self.listed.remove(action).is_none() {
            self.learned(action);
        }
        if self.is_empty() {
            self.design = None;
        }
    }

    /// The model has learned a reward that was never announced, so the design has not counted it.
    pub(super) fn learned(&mut self, action: Action<'_>) {
        if let Some(design) = &mut self.design {
            design.count(action);
        }
    }

    /// Its reward will never come. A decision that is not pending changes nothing.
    pub(super) fn drop(&mut self, action: Action<'_>) {
        if self.listed.remove(action).is_some() {
            assert!(
                !self.unlisted,
                "a policy made from statistics cannot take decisions back; make a new one"
            );
            // Subtracting would lose digits.
            self.design = None;
        }
    }

    /// The model with every pending decision counted, if there is one.
    pub(super) fn design(&mut self, model: &E) -> Option<&mut E> {
        if self.is_empty() {
            return None;
        }
        if self.design.is_none() {
            self.design = Some(self.made(model));
        }
        self.design.as_mut()
    }

    /// Like [`Pending::design`], for explanations: nothing is kept.
    pub(super) fn shown(&self, model: &E) -> Option<Cow<'_, E>> {
        if self.is_empty() {
            return None;
        }
        Some(self.design.as_ref().map_or_else(|| Cow::Owned(self.made(model)), Cow::Borrowed))
    }

    /// The model has made its estimate again, so a design that follows the one before is of no use.
    pub(super) fn start_again(&mut self) {
        assert!(!self.unlisted, "a policy made from statistics cannot learn; make a new one");
        self.design = None;
    }

    /// The model with every listed decision counted.
    fn made(&self, model: &E) -> E {
        let mut design = model.clone();
        self.listed.for_each(|action| design.count(action));
        design
    }
}

impl<E: DurableModel> Pending<E> {
    pub(super) fn write(&self, out: &mut Writer) {
        self.listed.write(out);
        out.flag(self.unlisted);
        out.flag(self.design.is_some());
        if let Some(design) = &self.design {
            design.write(out);
        }
    }

    /// With `model` one that has learned nothing.
    pub(super) fn read(&mut self, from: &mut Reader<'_>, model: &E) -> Result<(), StateError> {
        self.listed = Queue::read(from, model)?;
        self.unlisted = from.flag("pending.unlisted")?;
        self.design = None;
        if from.flag("pending.design")? {
            let mut design = model.clone();
            design.read(from)?;
            self.design = Some(design);
        }
        holds("pending.unlisted", !self.unlisted || self.design.is_some())
    }

    /// The design is made again from the model and the decisions.
    pub(super) fn move_arms(&mut self, moved: &mut ArmMove<'_>) {
        let mut places: Vec<ActionIndex> = self.listed.indices().collect();
        moved.pending(&mut places);
        *self = Self { listed: Queue::of_arms(places), ..Self::new() };
    }
}

/// The position of the plausible action with the largest `c·mean + half-width`, half-widths taken
/// by the design. `c` is at most `greed` and at most `1/r`, with `r` the largest factor by which a
/// plausible action's own half-width exceeds that by the design. With a larger `c` the regret of
/// a round would have no bound (`docs/concepts/pending.md`).
pub(super) fn best_by_design(
    plausible: &Plausible,
    scores: &Scores,
    design: &Scores,
    reach: Reach,
    greed: f64,
) -> usize {
    if greed == 0.0 || plausible.is_open() {
        return plausible.widest_by(scores, &design.width_sq);
    }
    let ranked = plausible.is_curved().then(|| plausible.ranked(scores, &design.width_sq, greed));
    let by_design = |action: usize| {
        if plausible.is_bounded() || plausible.is_curved() {
            return plausible.half_by(scores, &design.width_sq, action);
        }
        reach.half_width(design.width_sq[action])
    };
    let candidates = || (0..scores.mean.len()).filter(|action| plausible.contains(*action));
    // Infinite over infinite is NaN, which `max` passes over: that action is next whatever the
    // greed.
    let inflation = candidates()
        .map(|action| plausible.half_widths()[action] / by_design(action))
        .fold(1.0, f64::max);
    let greed = greed.min(1.0 / inflation);
    let value = |action: usize| {
        let known = ranked.as_ref().map_or_else(|| by_design(action), |ranked| ranked(action));
        greed * plausible.middle(scores)[action] + known
    };
    let better = |best: usize, next| if value(next) > value(best) { next } else { best };
    candidates().reduce(better).expect("a plausible set is never empty")
}
