//! Makes certificates: of the decision that would be taken now, and of a decision in a log.
//!
//! A certificate that lists every action is as long as its table. A partial one lists the actions
//! that its statements depend on, and only counts the others.

use super::choice::choice_follows;
use super::{Certificate, Findings, GroundsError, Standing, Unlisted};
use crate::choices::Choices;
use crate::event::Event;
use crate::fold::fold;
use crate::journal::Storage;
use crate::log::LogError;
use crate::state::{Occasion, State, StepError};

/// The certificate of a decision of a log, derived from the lines of the log alone. It lists at
/// most `most` actions.
///
/// # Errors
/// If the log is damaged, has no such decision, or records another choice than the one that
/// follows.
pub fn certificate<S: Storage>(
    storage: &S,
    decision: u64,
    most: usize,
) -> Result<Certificate, LogError> {
    let mut found = None;
    let (state, _) = fold(storage, |step| {
        if let Event::Decided { decision: number, set, context, chosen, label, .. } = step.event
            && *number == decision
        {
            let certificate = certify(step.state, &step.occasion(*set, context), most)?;
            let (mut choices, follows) = (Choices::default(), &certificate.findings.chosen);
            choices.compare(step, (*chosen, label), (follows.id, &follows.label));
            choices.all_follow()?;
            found = Some(certificate);
        }
        Ok(())
    })?;
    let unknown = StepError::Unknown { what: "decision", number: decision };
    found.ok_or(if state.is_some() { LogError::Step(unknown) } else { LogError::Empty })
}

/// The certificate of the decision that would be taken now. It lists at most `most` actions.
///
/// The list takes the few actions that every statement depends on first, then those that could
/// still be best, then those with the largest upper bounds.
///
/// # Errors
/// If the set is unknown, or a row cannot be encoded.
pub fn certify(
    state: &State,
    occasion: &Occasion<'_>,
    most: usize,
) -> Result<Certificate, LogError> {
    let grounds = state.grounds(occasion, None)?;
    let (findings, keystones) = Findings::derive_with_keystones(&grounds)?;
    let most = most.max(keystones.len());
    if findings.actions.len() <= most {
        return Ok(Certificate::sealed(grounds, findings));
    }
    let actions = &findings.actions;
    let is_plausible = |place: usize| actions[place].standing == Standing::Plausible;
    let group = |place: usize| (!keystones.contains(&place), !is_plausible(place));
    let mut order: Vec<usize> = (0..actions.len()).collect();
    order.sort_by(|&a, &b| {
        group(a).cmp(&group(b)).then(actions[b].upper.total_cmp(&actions[a].upper))
    });
    let (listed, unlisted) = order.split_at_mut(most);
    listed.sort_unstable();
    let plausible = unlisted.iter().filter(|place| is_plausible(**place)).count() as u64;
    let follows = choice_follows(&grounds.spec().map_err(GroundsError::from)?, plausible);
    let unlisted = Unlisted {
        actions: unlisted.len() as u64,
        plausible,
        chosen: (!follows).then_some(findings.chosen.id),
    };
    let partial = Certificate::new(state.grounds(occasion, Some((listed, unlisted)))?)?;
    // A shorter list must never change the decision, or what rules an action out.
    let shown = |id: u64| actions.iter().find(|action| action.id == id);
    let mut listed = partial.findings.actions.iter();
    let same = partial.findings.chosen.id == findings.chosen.id
        && listed.all(|own| shown(own.id).is_some_and(|full| full.standing == own.standing));
    Ok(if same { partial } else { Certificate::sealed(grounds, findings) })
}
