//! Explore-then-commit.

use super::exploration::{Exploration, Explorer};
use super::{Explain, Policy, PolicyError, argmax, best_among, check_epsilon};
use crate::actions::{Action, ActionIndex, Actions, SetId};
use crate::arms::ArmMove;
use crate::model::{Estimator, Scores};
use crate::rng::Stream;
use crate::state::{DurableModel, Keep, Reader, StateError, Writer};

/// Explores at random for the first `ε·n` rounds, then acts greedily on what those taught.
///
/// ```text
/// t ≤ ε·n:  A_t drawn from the actions          t > ε·n:  A_t = argmax_a ⟨a, θ̂_{εn}⟩
/// ```
///
/// Draws are uniform unless [`ExploreThenCommit::exploring`] says otherwise. The model it chooses
/// by is frozen at the commitment; the estimate it reports goes on learning.
///
/// # Parameters
/// | name | symbol | range |
/// | --- | --- | --- |
/// | `model` | `θ̂` | any [`Estimator`] |
/// | `epsilon` | `ε` | (0, 1] |
/// | `horizon` | `n` | rounds planned |
///
/// # Guarantee
/// Regret `O(n^{2/3})` at the best `ε`, and linear in `n` at a fixed one.
///
/// # Cost
/// O(K) a round on a fixed set once committed, O(K·d) on a changing one; exploring by design adds
/// one design a set. One draw an exploring round.
///
/// # Example
/// ```
/// use plausibly::{ActionSet, ArmMeans, ExploreThenCommit, Policy, Stream};
/// let arms = ActionSet::arms(2)?;
/// let mut policy = ExploreThenCommit::new(ArmMeans::new(2), 0.2, 100)?;
/// let mut rng = Stream::new(1, 0, "policy");
/// for _ in 0..20 {
///     let arm = policy.select(arms.view(), &mut rng);
///     policy.update(arms.view().get(arm), arm as f64);
/// }
/// assert_eq!(policy.select(arms.view(), &mut rng), 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Reference
/// Langford, Zhang: The Epoch-Greedy Algorithm. NIPS 2008; \[MZK\], Section 6.
#[derive(Clone, Debug)]
pub struct ExploreThenCommit<E> {
    model: E,
    committed: Option<E>,
    exploring_rounds: u64,
    round: u64,
    explorer: Explorer,
    scores: Scores,
    /// What the committed model takes of the last set.
    taken: Option<(SetId, ActionIndex)>,
}

impl<E: Estimator + Clone> ExploreThenCommit<E> {
    /// Explores for `epsilon·horizon` rounds, rounded to the nearest.
    ///
    /// # Errors
    /// If `epsilon` is not in (0, 1].
    pub fn new(model: E, epsilon: f64, horizon: u64) -> Result<Self, PolicyError> {
        check_epsilon(epsilon)?;
        let exploring_rounds = exploring_rounds(epsilon, horizon);
        Ok(Self {
            model,
            committed: None,
            exploring_rounds,
            round: 0,
            explorer: Explorer::default(),
            scores: Scores::new(),
            taken: None,
        })
    }

    /// Continues after this many decisions; with the model it has committed to, if that is another
    /// than its own.
    #[must_use]
    pub fn after(self, decisions: u64, committed: Option<E>) -> Self {
        Self { round: decisions, committed, taken: None, ..self }
    }

    /// Explores in this way instead of uniformly.
    #[must_use]
    pub fn exploring(self, exploration: Exploration) -> Self {
        Self { explorer: Explorer::new(exploration), ..self }
    }
}

/// How many rounds it explores before it commits.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "at most the horizon, not negative"
)]
pub(crate) fn exploring_rounds(epsilon: f64, horizon: u64) -> u64 {
    (epsilon * horizon as f64).round() as u64
}

impl<E: Estimator + Clone> Policy for ExploreThenCommit<E> {
    fn select(&mut self, actions: Actions<'_>, rng: &mut Stream) -> ActionIndex {
        self.round += 1;
        if self.round <= self.exploring_rounds {
            return self.explorer.draw(actions, rng);
        }
        // A frozen model takes the same action of the same set every time.
        match self.taken {
            Some((set, action)) if set == actions.id() => action,
            _ => {
                let committed = self.committed.get_or_insert_with(|| self.model.clone());
                committed.means_into(actions, &mut self.scores);
                let action = argmax(&self.scores.mean);
                self.taken = Some((actions.id(), action));
                action
            }
        }
    }

    fn select_among(
        &mut self,
        actions: Actions<'_>,
        among: &[ActionIndex],
        rng: &mut Stream,
    ) -> Option<ActionIndex> {
        let Some(committed) = &self.committed else {
            return Some(among[rng.index(among.len())]);
        };
        committed.means_into(actions, &mut self.scores);
        best_among(among, |action| self.scores.mean[action])
    }

    fn update(&mut self, action: Action<'_>, reward: f64) {
        self.model.update(action, reward);
    }
}

impl<E: Estimator + Clone> Explain for ExploreThenCommit<E> {
    fn model(&self) -> &dyn Estimator {
        &self.model
    }
}

impl<E: DurableModel> Keep for ExploreThenCommit<E> {
    const KIND: &'static str = "explore-then-commit";

    fn write(&self, out: &mut Writer) {
        self.model.write(out);
        out.count(self.round);
        out.flag(self.committed.is_some());
        if let Some(committed) = &self.committed {
            committed.write(out);
        }
    }

    fn read(&mut self, from: &mut Reader<'_>) -> Result<(), StateError> {
        let mut committed = self.model.clone();
        self.model.read(from)?;
        self.round = from.count("decisions")?;
        if from.flag("committed")? {
            committed.read(from)?;
            self.committed = Some(committed);
        }
        Ok(())
    }

    fn move_arms(&mut self, moved: &mut ArmMove<'_>) {
        self.model.move_arms(moved, false);
        if let Some(committed) = &mut self.committed {
            committed.move_arms(moved, true);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::actions::ActionSet;
    use crate::model::ArmMeans;

    #[test]
    fn what_comes_after_the_commitment_changes_no_choice() {
        let arms = ActionSet::arms(3).unwrap();
        let mut policy = ExploreThenCommit::new(ArmMeans::new(3), 0.3, 100).unwrap();
        let mut rng = Stream::new(1, 0, "policy");
        let mut explored = [0; 3];
        for _ in 0..30 {
            let chosen = policy.select(arms.view(), &mut rng);
            explored[chosen] += 1;
            policy.update(arms.view().get(chosen), [0.1, 0.9, 0.5][chosen]);
        }
        assert!(explored.iter().all(|&count| count > 0), "{explored:?}");
        for _ in 0..50 {
            let chosen = policy.select(arms.view(), &mut rng);
            assert_eq!(chosen, 1);
            // A policy that went on learning would leave this arm at once.
            policy.update(arms.view().get(chosen), -10.0);
        }
        let mut scores = crate::model::Scores::new();
        policy.model().score_into(arms.view(), &mut scores);
        assert!(scores.mean()[1] < -1.0, "what it reports goes on learning");
    }
}
