//! CODE without lists of contenders.

use plausibly::{
    Action, Actions, ConfidenceRadius, Estimator, Pick, Policy, Reach, Ridge, Sought, Stream,
};

/// Sets with at least this many features are scored in single precision first, and only the
/// unclear actions in double. Smaller sets skip `contenders`, which would take 4 % of a small round
/// and always give the same answer here.
const LARGE: usize = 1 << 16;

/// CODE with every action scored in every round, one pass of O(K·d): what [`plausibly::Code`]
/// chooses, without lists of contenders.
#[derive(Clone, Debug)]
pub struct EveryAction<R> {
    model: Ridge,
    radius: R,
    pick: Pick,
}

impl<R> EveryAction<R> {
    /// With this model and radius.
    pub fn new(model: Ridge, radius: R) -> Self {
        Self { model: model.without_lists(), radius, pick: Pick::new() }
    }
}

impl<R: ConfidenceRadius> Policy for EveryAction<R> {
    fn select(&mut self, actions: Actions<'_>, _: &mut Stream) -> usize {
        let sqrt_beta = self.radius.sqrt_beta(&self.model.evidence());
        if actions.len() * actions.dim() < LARGE {
            return self.pick.widest_plausible(self.model.scores(actions), sqrt_beta);
        }
        let contenders =
            self.model.contenders(actions, Reach::Ellipsoid { sqrt_beta }, Sought::Widest);
        contenders.index(self.pick.widest_plausible(contenders.scores(), sqrt_beta))
    }

    fn update(&mut self, action: Action<'_>, reward: f64) {
        self.model.update(action, reward);
    }
}
