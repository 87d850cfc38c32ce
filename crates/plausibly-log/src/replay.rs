//! Derives every decision of a log again under other settings, and compares. The rewards stay those
//! of the actions really taken, so this shows what the settings change, not how the history would
//! have gone on.

use crate::choices::Choices;
use crate::desk::Desk;
use crate::event::Event;
use crate::fold::{Keep, fold_keeping};
use crate::journal::Storage;
use crate::log::LogError;
use crate::policy::{PolicyRefusal, PolicyTable};
use crate::state::{About, StepError};
use plausibly::spec::PolicyKind;
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
    let (mut own, mut other) = (Desk::default(), Desk::by(policy.clone(), horizon));
    let mut choices = Choices::default();
    // One policy of a log without such a model may be compared with one that has it.
    let keeps_rows = policy.get("radius").is_some_and(|radius| radius["kind"] == "logistic");
    let keep = Keep { rows: keeps_rows, ..Keep::default() };
    let (state, _) = fold_keeping(storage, keep, |step| {
        let Event::Decided { decision, set, context, chosen, label, rows, .. } = step.event else {
            return Ok(());
        };
        let state = step.state;
        let about = About { set: *set, context, rows: rows.as_ref() };
        let was = own.derive(state, about, None)?;
        let would = other.derive(state, about, Some(was))?;
        suits(would.policy(), was.policy())?;
        let (follows, instead) = (was.choose()?, would.choose()?);
        let name = |place: usize| {
            let id = was.basis.ids[place];
            Ok::<_, LogError>((id, state.action(id)?.label.as_str()))
        };
        choices.compare(step, (*chosen, label), name(follows.place)?);
        let named = |which: &dyn Fn(bool, bool) -> bool| {
            let pairs = was.standings().zip(would.standings()).enumerate();
            let named = pairs.filter(|(_, (was, would))| which(*was, *would));
            named.map(|(place, _)| Ok(name(place)?.1.to_string())).collect::<Result<_, LogError>>()
        };
        visit(Replayed {
            decision: *decision,
            chosen: label.clone(),
            would_choose: name(instead.place)?.1.into(),
            lost: named(&|was, would| was && !would)?,
            gained: named(&|was, would| !was && would)?,
            known_within: was.known_within(),
            would_be_known_within: would.known_within(),
        });
        Ok(())
    })?;
    if state.is_some() { choices.all_follow() } else { Err(LogError::Empty) }
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
