//! An action beside all others.

use crate::actions::ActionIndex;
use crate::confidence::Reach;
use crate::linalg::{Aligned, differences_into};
use crate::model::{Estimator, Scores};

/// One witness, and by how much it beats each action.
#[derive(Debug, Default)]
pub(super) struct Witness {
    /// Which action it is.
    pub(super) action: ActionIndex,
    /// The difference of each action from it: by how much it is behind, with its squared width.
    pub(super) behind: Scores,
    /// Room for the differences, which are not used again.
    rows: Aligned,
}

impl Clone for Witness {
    fn clone(&self) -> Self {
        Self { action: self.action, behind: self.behind.clone(), rows: Aligned::default() }
    }
}

impl Witness {
    /// Scores the differences from scratch, each as if it were an action. O(d²) per action.
    ///
    /// `blocks` are the features of the scored actions. Differences of equal rows are exactly zero,
    /// so copies never rule each other out.
    pub(super) fn compare<E: Estimator + ?Sized>(
        &mut self,
        model: &E,
        blocks: &[f64],
        scores: &Scores,
        action: ActionIndex,
    ) {
        self.action = action;
        self.behind.resize(scores.mean.len());
        let Some(fit) = model.fit() else {
            let Scores { mean, width_sq, .. } = &mut self.behind;
            for other in 0..scores.mean.len() {
                mean[other] = scores.mean[action] - scores.mean[other];
                width_sq[other] = model.difference_sq(scores, action, other);
            }
            return;
        };
        self.behind.isa = fit.isa;
        differences_into(blocks, fit.theta_hat.len(), action, &mut self.rows);
        fit.score(&self.rows, &mut self.behind.mean, &mut self.behind.width_sq);
    }

    /// Half the interval of the difference of an action from the witness.
    pub(super) fn half_width(&self, reach: Reach, action: ActionIndex) -> f64 {
        reach.half_width(self.behind.width_sq[action])
    }
}
