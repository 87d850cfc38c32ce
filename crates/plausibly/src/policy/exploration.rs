//! Exploring without regard to rewards: what ε-greedy and explore-then-commit do in their exploring
//! rounds.

use crate::actions::{ActionIndex, Actions, SetId};
use crate::design::Design;
use crate::rng::Stream;

/// Relative gap at which a design counts as optimal.
const DESIGN_TOLERANCE: f64 = 1e-3;

/// How actions are drawn in exploring rounds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Exploration {
    /// Every action alike.
    #[default]
    Uniform,
    /// By the weights of the D-optimal [`Design`] over all actions; they must have features.
    Design,
}

/// Draws exploring actions. A design is computed once for a set: on changing sets, in every
/// exploring round.
#[derive(Clone, Debug, Default)]
pub(super) struct Explorer {
    kind: Exploration,
    design_of: Option<SetId>,
    /// Supported actions, with the weight of all up to each.
    cumulative: Vec<(ActionIndex, f64)>,
}

impl Explorer {
    pub(super) fn new(kind: Exploration) -> Self {
        Self { kind, ..Self::default() }
    }

    /// One draw, whatever the kind.
    pub(super) fn draw(&mut self, actions: Actions<'_>, rng: &mut Stream) -> ActionIndex {
        if self.kind == Exploration::Uniform {
            return rng.index(actions.len());
        }
        if self.design_of != Some(actions.id()) {
            let among: Vec<ActionIndex> = (0..actions.len()).collect();
            let design = Design::d_optimal(actions, &among, DESIGN_TOLERANCE);
            let mut total = 0.0;
            self.cumulative.clear();
            self.cumulative.extend(design.support().map(|(action, weight)| {
                total += weight;
                (action, total)
            }));
            self.design_of = Some(actions.id());
        }
        let total = self.cumulative.last().map_or(0.0, |(_, total)| *total);
        let at = rng.uniform() * total;
        let position = self.cumulative.partition_point(|(_, upto)| *upto <= at);
        // Rounding can take the product to the total itself.
        self.cumulative[position.min(self.cumulative.len() - 1)].0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::actions::ActionSet;

    #[test]
    fn a_design_is_played_by_its_weights() {
        // The two long actions are the design, half each; the short one teaches nothing they do
        // not.
        let set = ActionSet::from_rows(&[[1.0, 0.0], [0.1, 0.1], [0.0, 1.0]]).unwrap();
        let count = |kind| {
            let (mut explorer, mut rng) = (Explorer::new(kind), Stream::new(3, 0, "policy"));
            let mut counts = [0_u32; 3];
            for _ in 0..10_000 {
                counts[explorer.draw(set.view(), &mut rng)] += 1;
            }
            counts
        };
        let design = count(Exploration::Design);
        assert_eq!(design[1], 0);
        // Binomial(10,000, 1/2) is beyond 5 sd, 250, with probability 6e-7.
        assert!(design[0].abs_diff(5000) < 250, "{design:?}");
        assert!(count(Exploration::Uniform)[1] > 3000);
    }
}
