//! A second pair of eyes for what a ridge has learned.

use super::Ridge;
use super::looks::Looks;
use crate::actions::Actions;
use crate::confidence::Reach;
use crate::estimator::{Contenders, Sought};

/// Looks at actions by what a [`Ridge`] of somebody else's has learned, by a radius of its own, so
/// that nobody has to learn the same twice.
///
/// It keeps lists and scores of its own, and neither gets in the other's way. Where the ridge
/// learns from one reward between two looks, it sees to the last bit what a ridge of its own would
/// show that had learned the same. After more of them it looks afresh, which costs O(K·d²) and can
/// differ by rounding.
///
/// # Example
/// ```
/// use plausibly::{ActionSet, ConfidenceRadius, Estimator, Fixed, Onlooker, Ridge, Sought};
/// let set = ActionSet::from_rows(&[[1.0, 0.0], [0.6, 0.8]])?;
/// let (mut model, mut onlooker) = (Ridge::new(2, 1.0)?, Onlooker::default());
/// model.update(set.view().get(0), 0.4);
/// let reach = Fixed { sqrt_beta: 1.0 }.reach(&model.evidence());
/// let seen = onlooker.contenders(&model, set.view(), reach, Sought::Plausible).scores().mean().to_vec();
/// assert_eq!(seen, model.scores(set.view()).mean());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Onlooker {
    looks: Looks,
    /// After how many observations it last looked.
    seen: Option<u64>,
}

impl Onlooker {
    /// As [`Estimator::contenders`](crate::Estimator::contenders) of the ridge, which has only
    /// learned more since the last time.
    ///
    /// # Panics
    /// If the reach is one for arms, or the actions do not fit the ridge.
    pub fn contenders(
        &mut self,
        Ridge { belief, .. }: &Ridge,
        actions: Actions<'_>,
        reach: Reach,
        sought: Sought,
    ) -> Contenders<'_> {
        let before = self.seen.replace(belief.observations);
        if before.is_some_and(|seen| seen + 1 == belief.observations) {
            self.looks.shortlist.drifted(belief.last_step.length);
        } else if before != self.seen {
            self.looks = Looks::default();
        }
        self.looks.contenders(belief, actions, reach, sought)
    }
}
