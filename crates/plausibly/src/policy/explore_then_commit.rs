//! Explore-then-commit.

use super::exploration::{Exploration, Explorer};
use super::{Explain, Policy, PolicyError, argmax, check_epsilon};
use crate::actions::{Action, ActionIndex, Actions, SetId};
use crate::estimator::{Estimator, Ridge};
use crate::rng::Stream;
use crate::state::{Durable, DurableModel, OwnState, PolicyState, StateError, counts, fresh};

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
        })
    }

    /// As it stands after so many decisions; with the model it has committed to, if that is another
    /// than its own.
    #[must_use]
    pub fn after(self, decisions: u64, committed: Option<E>) -> Self {
        Self { round: decisions, committed, ..self }
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
        let committed = self.committed.get_or_insert_with(|| self.model.clone());
        argmax(committed.means(actions))
    }

    fn update(&mut self, action: Action<'_>, reward: f64) {
        self.model.update(action, reward);
    }

    fn learned(&self) -> Option<&Ridge> {
        self.model.as_ridge()
    }
}

impl<E: Estimator + Clone> Explain for ExploreThenCommit<E> {
    fn model(&self) -> &dyn Estimator {
        &self.model
    }
}

impl<E: DurableModel> Durable for ExploreThenCommit<E> {
    fn state(&self, sets: &[Actions<'_>]) -> PolicyState {
        let committed = self.committed.as_ref().map(|model| Box::new(model.state(sets)));
        let own = OwnState::Rounds { decisions: self.round, committed };
        PolicyState { model: self.model.state(sets), own }
    }

    fn restore(&mut self, state: PolicyState, sets: &[Actions<'_>]) -> Result<(), StateError> {
        fresh(&self.model)?;
        let OwnState::Rounds { decisions, committed } = state.own else {
            return Err(StateError::Kind { what: "what it keeps beside its model" });
        };
        let committed = committed.map(|model| self.model.restored(*model, sets)).transpose()?;
        counts("decisions", [decisions])?;
        self.model = self.model.restored(state.model, sets)?;
        (self.round, self.committed) = (decisions, committed);
        Ok(())
    }

    fn remembers(&self, set: SetId) -> bool {
        self.model.remembers(set)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::actions::ActionSet;
    use crate::estimator::ArmMeans;

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
        let mut scores = crate::estimator::Scores::new();
        policy.model().score_into(arms.view(), &mut scores);
        assert!(scores.mean()[1] < -1.0, "what it reports goes on learning");
    }
}
