//! Derives every decision of a log again under other settings, and compares. The rewards stay those
//! of the actions really taken, so this shows what the settings change, not how the history would
//! have gone on.

use crate::certificate::{Grounds, Reused};
use crate::choices::Choices;
use crate::event::Event;
use crate::fold::{Folding, Step, fold_with};
use crate::journal::Storage;
use crate::log::LogError;
use crate::policy::{PolicyRefusal, PolicyTable};
use crate::recipe::Context;
use crate::state::{State, StepError};
use plausibly::spec::{PolicyKind, PolicySpec};
use serde::Serialize;

/// A decision as it was taken, and as other settings would have taken it from the same lines.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Replayed {
    /// Its number.
    pub decision: u64,
    /// The name of the chosen action.
    pub chosen: String,
    /// The name of the action that the other settings would have chosen.
    pub would_choose: String,
    /// Actions in the race that the other settings would have ruled out.
    pub lost: Vec<String>,
    /// Actions out of the race that the other settings would have kept in it.
    pub gained: Vec<String>,
    /// The largest uncertainty (±) among the actions in the race.
    pub known_within: Option<f64>,
    /// The largest uncertainty (±) under the other settings.
    pub would_be_known_within: Option<f64>,
}

impl Replayed {
    /// Whether the choice or the set of actions in the race would differ.
    pub fn differs(&self) -> bool {
        self.chosen != self.would_choose || !self.lost.is_empty() || !self.gained.is_empty()
    }
}

/// Derives at every decision of a log what another policy would have chosen from the same actions
/// and the same rewards so far. Returns the number of decisions.
///
///
/// Each decision is also derived under the log's own settings, and the recorded choice is compared
/// with the one that follows from the lines before it.
///
/// # Cost
/// Linear in the decisions. For each, the models of its sums are made once and used for both
/// policies, and both policies choose.
///
/// # Errors
/// [`LogError::Choice`] if a recorded choice does not follow; all decisions have then been visited,
/// and the error counts the wrong ones. Other errors if the log is damaged or empty, or the policy
/// cannot decide in it. A policy that commits cannot replace one that does not, and phased
/// elimination cannot replace a policy with other phases.
pub fn replay<S: Storage>(
    storage: &S,
    policy: &PolicyTable,
    horizon: Option<u64>,
    mut visit: impl FnMut(Replayed),
) -> Result<u64, LogError> {
    let mut comparison: Option<Comparison> = None;
    let mut choices = Choices::default();
    // One policy of a log without such a model may be compared with one that has it.
    let keeps_rows = policy.get("radius").is_some_and(|radius| radius["kind"] == "logistic");
    let folding = Folding::keeping_rows(keeps_rows);
    let (state, _) = fold_with(storage, folding, |step| {
        let Event::Decided { set, context, chosen, label, .. } = step.event else { return Ok(()) };
        let comparison = match &mut comparison {
            Some(comparison) if comparison.is_under(step.state) => {
                comparison.advance(step.state, *set, context)?;
                comparison
            }
            none => none.insert(Comparison::new(step, (*set, context), (policy, horizon))?),
        };
        let (was, would) = comparison.own.verdicts(&comparison.other)?;
        let offered = &comparison.own.grounds.actions;
        let follows = &offered[was.chosen];
        choices.compare(step, (*chosen, label), (follows.id, &follows.label));
        let named = |which: &dyn Fn(bool, bool) -> bool| {
            let pairs = was.plausible.iter().zip(&would.plausible).zip(offered);
            let named = pairs.filter(|((was, would), _)| which(**was, **would));
            named.map(|(_, action)| action.label.clone()).collect()
        };
        visit(Replayed {
            decision: comparison.own.grounds.decision,
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

/// The grounds of one decision under both policies. Consecutive decisions of a log mostly share
/// policy and actions, so only the sums are brought up to date.
struct Comparison {
    set: u64,
    context: Context,
    /// The number of features.
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
        // The decisions of a log before an upgrade are judged by today's rules too.
        let format = state.format();
        let (other_spec, table) = state.resolved(policy, horizon, format)?;
        suits(&other_spec.kind, &state.policy().0.kind)?;
        let own = state.grounds(&step.occasion(set, context), None)?;
        let mut other = Grounds { format, policy: table, horizon, ..own.clone() };
        let same_ridge = own.format == format
            && other_spec.ridge().to_bits() == state.policy().0.ridge().to_bits();
        state.renew(&mut other, (set, context), &other_spec, same_ridge.then_some(&own))?;
        let (own, other) = (Reused::new(own)?, Reused::new(other)?);
        let (context, dim) = (context.clone(), state.recipe().dim());
        Ok(Self { set, context, dim, own, other, other_spec, same_ridge })
    }

    /// Whether the log still decides by the same policy, with the same features.
    fn is_under(&self, state: &State) -> bool {
        let own = &self.own.grounds;
        self.dim == state.recipe().dim()
            && own.format == state.rules()
            && own.horizon == state.horizon()
            && own.policy == *state.policy().1
    }

    /// Moves on to a later decision.
    fn advance(&mut self, state: &State, set: u64, context: &Context) -> Result<(), LogError> {
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

/// Whether a policy can replace the log's own in a replay.
fn suits(asked: &PolicyKind, own: &PolicyKind) -> Result<(), StepError> {
    use PolicyKind::{Elimination, ExploreThenCommit};
    let reason = match (asked, own) {
        (ExploreThenCommit { .. }, ExploreThenCommit { .. }) => return Ok(()),
        (ExploreThenCommit { .. }, _) => {
            "explore-then-commit decides by the sums it committed to, and this log has not \
             recorded any"
        }
        (Elimination { delta: asked, .. }, Elimination { delta: own, .. })
            if asked.to_bits() == own.to_bits() =>
        {
            return Ok(());
        }
        (Elimination { .. }, _) => {
            "phased elimination decides by its phases, and this log has none, or phases of another \
             delta"
        }
        _ => return Ok(()),
    };
    Err(StepError::Policy(PolicyRefusal::Unsuited(reason)))
}
