//! The actions of a list beside one of them, with differences that follow observations.
//!
//! By differences an action is compared with two witnesses. On a list both are nearly always one
//! and the same action, for many rounds. The difference between it and another action is a row of
//! features like an action, and has a mean and a width, which follow observations at O(d) each, as
//! scores do.

use super::contest::Field;
use super::{Followed, Question, Sought};
use crate::linalg::{Aligned, Beside as Rule, LANES, differences_into};
use crate::model::Scores;

#[derive(Clone, Debug, Default)]
pub(super) struct Beside {
    /// The position of the action that the others are compared with.
    leader: Option<usize>,
    /// The differences, and by how much each action is behind.
    rows: Aligned,
    behind: Followed,
    scratch: Vec<[[f64; LANES]; 2]>,
}

impl Beside {
    /// The list is another one.
    pub(super) fn forget(&mut self) {
        self.leader = None;
    }

    /// Leaves in `found` the positions of the actions among which the answer is and, if there are
    /// several, of the witness, in order; false if one action is not both witnesses for sure.
    pub(super) fn filter(
        &mut self,
        ask: &Question<'_>,
        field: &Field<'_, '_>,
        sought: Sought,
        found: &mut Vec<usize>,
    ) -> bool {
        let Question { fit, margin, sqrt_beta, .. } = *ask;
        let Scores { isa, mean, width_sq } = field.scores;
        let leader = self.leader.unwrap_or_else(|| {
            let leader = isa.argmax(mean);
            differences_into(field.blocks, fit.theta_hat.len(), leader, &mut self.rows);
            self.behind.at = None;
            leader
        });
        self.leader = Some(leader);
        self.behind.bring_up(fit, &self.rows, mean.len());
        let Scores { mean: behind, width_sq: between, .. } = &self.behind.scores;
        let relative = fit.length() / sqrt_beta;
        let greed = if let Sought::Best { greed } = sought { Some(greed) } else { None };
        let rule = Rule {
            leader,
            sqrt_beta,
            mean_pad: margin * relative,
            pad: margin * (1.0 + relative),
            greed,
            value_pad: margin * (1.0 + greed.unwrap_or(0.0) * relative),
        };
        let sure = isa.beside([mean, width_sq], [behind, between], rule, &mut self.scratch, found);
        if !sure && isa.argmax(mean) != leader {
            self.leader = None;
        }
        if sure && found.len() > 1 && !found.contains(&leader) {
            found.push(leader);
            found.sort_unstable();
        }
        sure
    }
}

/// Wrong on purpose: what the laws must notice.
#[cfg(test)]
impl Beside {
    pub(super) fn skip_step(&mut self) {
        self.behind.at = self.behind.at.map(|at| at + 1);
    }
}
