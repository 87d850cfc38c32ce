//! CODE without lists of contenders.

use plausibly::{Action, Actions, ConfidenceRadius, Estimator, Plausible, Policy, Ridge, Stream};

/// CODE with every action scored in every round, one pass of O(K·d): what [`plausibly::Code`] chooses, without lists of contenders.
#[derive(Clone, Debug)]
pub struct EveryAction<R> {
    model: Ridge,
    radius: R,
    plausible: Plausible,
}

impl<R> EveryAction<R> {
    /// With this model and radius.
    pub fn new(model: Ridge, radius: R) -> Self {
        Self { model, radius, plausible: Plausible::new() }
    }
}

impl<R: ConfidenceRadius> Policy for EveryAction<R> {
    fn select(&mut self, actions: Actions<'_>, _: &mut Stream) -> usize {
        let reach = self.radius.reach(&self.model.evidence());
        let scores = self.model.scores(actions);
        self.plausible.assess(scores, reach);
        self.plausible.widest(scores)
    }

    fn update(&mut self, action: Action<'_>, reward: f64) {
        self.model.update(action, reward);
    }
}
