//! The same log under other settings.

use crate::certificate::{Grounds, Reused};
use crate::choices::Choices;
use crate::event::Event;
use crate::fold::{Step, fold};
use crate::journal::Storage;
use crate::log::LogError;
use crate::policy::{PolicyRefusal, PolicyTable};
use crate::recipe::Context;
use crate::state::{State, StepError};
use plausibly::spec::{PolicyKind, PolicySpec};
use serde::Serialize;

/// A decision as it was, and as it would have been from the same log so far.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Replayed {
    /// Its number.
    pub decision: u64,
    /// What was chosen.
    pub chosen: String,
    /// What would have been chosen.
    pub would_choose: String,
    /// Actions that could still be best then, and could not under the other settings.
    pub lost: Vec<String>,
    /// Actions that could not, and could under the other settings.
    pub gained: Vec<String>,
    /// To within what those in the race were known.
    pub known_within: Option<f64>,
    /// To within what they would have been.
    pub would_be_known_within: Option<f64>,
}

impl Replayed {
    /// Whether the decision or who was in the race would have been another.
    pub fn differs(&self) -> bool {
        self.chosen != self.would_choose || !self.lost.is_empty() || !self.gained.is_empty()
    }
}

/// Asks at every decision of a log what another policy would have chosen from the same actions
/// and the same rewards so far. Says how many decisions it looked at.
///
/// The rewards are those of what was really done: this says what the settings change, and not how
/// a history under them would have gone on.
///
/// Each decision is also derived under the log's own settings, and what the log says was chosen is
/// compared with what follows from the lines before it.
///
/// # Cost
/// Linear in the decisions: for each the models of its sums, made once and used for both, and the
/// choices of both policies.
///
/// # Errors
/// [`LogError::Choice`] if a recorded choice does not follow; all decisions have then been
/// visited, and the error says of how many this holds. If the log is damaged or empty, or the
/// policy cannot decide in it; one that commits cannot be asked in the place of one that does not,
/// nor one that goes by phases in the place of one with others.
pub fn replay<S: Storage>(
    storage: &S,
    policy: &PolicyTable,
    horizon: Option<u64>,
    mut visit: impl FnMut(Replayed),
) -> Result<u64, LogError> {
    let mut asked: Option<Comparison> = None;
    let mut choices = Choices::default();
    let (state, _) = fold(storage, |step| {
        let Event::Decided { set, context, chosen, label, .. } = step.event else { return Ok(()) };
        let asked = match &mut asked {
            Some(asked) if asked.is_under(step.state) => {
                asked.go_on(step.state, *set, context)?;
                asked
            }
            asked => asked.insert(Comparison::new(step, (*set, context), (policy, horizon))?),
        };
        let (was, would) = asked.own.verdicts(&asked.other)?;
        let offered = &asked.own.grounds.actions;
        let follows = &offered[was.chosen];
        choices.compare(step, (*chosen, label), (follows.id, &follows.label));
        let named = |which: &dyn Fn(bool, bool) -> bool| {
            let pairs = was.plausible.iter().zip(&would.plausible).zip(offered);
            let named = pairs.filter(|((was, would), _)| which(**was, **would));
            named.map(|(_, action)| action.label.clone()).collect()
        };
        visit(Replayed {
            decision: asked.own.grounds.decision,
            chosen: label.clone(),
            would_choose: offered[would.chosen].label.clone(),
            lost: named(&|was, would| was && !would),
            gained: named(&|was, would| !was && would),
            known_within: was.known_within,
            would_be_known_within: would.known_within,
        });
        Ok(())
    })?;
    if state.is_some() { choices.all_follow() } else { Err(LogError::Empty) }
}

/// Both policies, with what they are asked about. Most decisions of a log are by the policy of the
/// one before and about its actions, so only what was learned since is new.
struct Comparison {
    set: u64,
    context: Context,
    /// Features that the actions have.
    dim: usize,
    own: Reused,
    other: Reused,
    other_spec: PolicySpec,
    same_ridge: bool,
}

impl Comparison {
    fn new(
        step: &Step<'_>,
        (set, context): (u64, &Context),
        (policy, horizon): (&PolicyTable, Option<u64>),
    ) -> Result<Self, LogError> {
        let state = step.state;
        let horizon = horizon.or(state.horizon());
        let (other_spec, table) = state.resolved(policy, horizon)?;
        suits(&other_spec.kind, &state.policy().0.kind)?;
        let own = state.grounds(&step.occasion(set, context), None)?;
        let mut other = Grounds { policy: table, horizon, ..own.clone() };
        let same_ridge = other_spec.ridge().to_bits() == state.policy().0.ridge().to_bits();
        state.renew(&mut other, (set, context), &other_spec, same_ridge.then_some(&own))?;
        let (own, other) = (Reused::new(own)?, Reused::new(other)?);
        let (context, dim) = (context.clone(), state.recipe().dim());
        Ok(Self { set, context, dim, own, other, other_spec, same_ridge })
    }

    /// Whether the log still decides by the same policy, with the same features.
    fn is_under(&self, state: &State) -> bool {
        let own = &self.own.grounds;
        self.dim == state.recipe().dim()
            && own.horizon == state.horizon()
            && own.policy == *state.policy().1
    }

    /// Goes on to a later decision.
    fn go_on(&mut self, state: &State, set: u64, context: &Context) -> Result<(), LogError> {
        if self.set != set || self.context != *context {
            let actions = state.offered(state.set(set)?, context)?;
            self.own.offer(actions.clone())?;
            self.other.offer(actions)?;
            (self.set, self.context) = (set, context.clone());
        }
        let (own, other) = (&mut self.own.grounds, &mut self.other.grounds);
        state.renew(own, (set, context), state.policy().0, None)?;
        let same = self.same_ridge.then_some(&*own);
        Ok(state.renew(other, (set, context), &self.other_spec, same)?)
    }
}

/// Whether a policy can be asked in the place of another.
fn suits(asked: &PolicyKind, own: &PolicyKind) -> Result<(), StepError> {
    let commits = |kind: &PolicyKind| matches!(kind, PolicyKind::ExploreThenCommit { .. });
    let refused = |reason| Err(StepError::Policy(PolicyRefusal::Unsuited(reason)));
    if commits(asked) && !commits(own) {
        return refused(
            "explore-then-commit decides by what it committed to, and this log has not recorded that",
        );
    }
    match (asked, own) {
        (
            PolicyKind::Elimination { delta: asked, .. },
            PolicyKind::Elimination { delta: own, .. },
        ) if asked.to_bits() == own.to_bits() => Ok(()),
        (PolicyKind::Elimination { .. }, _) => refused(
            "phased elimination decides by its phases, and those that this log has are of another policy or another delta",
        ),
        _ => Ok(()),
    }
}
