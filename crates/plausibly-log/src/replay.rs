//! The same log under other settings.

use crate::certificate::{Certificate, Standing};
use crate::event::Event;
use crate::fold::{fold, time};
use crate::journal::Storage;
use crate::log::LogError;
use crate::policy::{PolicyRefusal, PolicyTable, read_policy};
use crate::state::{Moment, StepError};
use plausibly::spec::{PolicyKind, Setting};
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

/// Asks at every decision of a log what another policy would have chosen from the same actions and the same rewards so far.
///
/// The rewards are those of what was really done: this says what the settings change, and not how a history under them would have gone on.
///
/// # Cost
/// Two certificates a decision.
///
/// # Errors
/// If the log is damaged or empty, or the policy cannot decide in it; one that commits cannot be asked in the place of one that does not, nor one that goes by phases in the place of one with others.
pub fn replay<S: Storage>(
    storage: &S,
    policy: &PolicyTable,
    horizon: Option<u64>,
    mut visit: impl FnMut(Replayed),
) -> Result<(), LogError> {
    let (state, _) = fold(storage, |step| {
        let Event::Decided { set, context, .. } = step.event else { return Ok(()) };
        let state = step.state;
        let setting = if state.recipe().is_arms() { Setting::Arms } else { Setting::Changing };
        let horizon = horizon.or(state.horizon());
        let (spec, table) = read_policy(policy, setting, horizon).map_err(StepError::from)?;
        let commits = |kind: &PolicyKind| matches!(kind, PolicyKind::ExploreThenCommit { .. });
        if commits(&spec.kind) && !commits(&state.policy().0.kind) {
            let reason =
                "explore-then-commit decides by what it committed to, and this log has not recorded that";
            return Err(StepError::Policy(PolicyRefusal::Unsuited(reason)).into());
        }
        if let (PolicyKind::Elimination { delta, .. }, was) = (&spec.kind, &state.policy().0.kind)
            && !matches!(was, PolicyKind::Elimination { delta: own, .. } if own.to_bits() == delta.to_bits())
        {
            let reason = "phased elimination decides by its phases, and those that this log has are of another policy or another delta";
            return Err(StepError::Policy(PolicyRefusal::Unsuited(reason)).into());
        }
        let moment = Moment { position: step.position(), at: time(step.entry.at_us), set: *set, context };
        let was = Certificate::new(state.grounds(moment.clone(), None)?)?;
        let would = Certificate::new(state.grounds_under(moment, None, (&spec, &table, horizon))?)?;
        visit(compare(&was, &would));
        Ok(())
    })?;
    if state.is_some() { Ok(()) } else { Err(LogError::Empty) }
}

fn compare(was: &Certificate, would: &Certificate) -> Replayed {
    let pairs = || was.findings.actions.iter().zip(&would.findings.actions);
    let named = |which: &dyn Fn(bool, bool) -> bool| {
        let in_race = |standing: &Standing| *standing == Standing::Plausible;
        pairs()
            .filter(|(a, b)| which(in_race(&a.standing), in_race(&b.standing)))
            .map(|(a, _)| a.label.clone())
            .collect()
    };
    Replayed {
        decision: was.grounds.decision,
        chosen: was.findings.chosen.label.clone(),
        would_choose: would.findings.chosen.label.clone(),
        lost: named(&|was, would| was && !would),
        gained: named(&|was, would| !was && would),
        known_within: was.findings.known_within,
        would_be_known_within: would.findings.known_within,
    }
}
