//! Makes certificates: of the decision that would be taken now, and of a decision in a log.
//!
//! A certificate that lists every action is as long as its table. A partial one lists the actions
//! that its statements depend on, and only counts the others.

use super::{Certificate, Choice, Findings, Numbers, Unlisted};
use crate::choices::Choices;
use crate::desk::Desk;
use crate::event::Event;
use crate::fold::{Step, fold};
use crate::journal::Storage;
use crate::log::LogError;
use crate::state::{Lent, Occasion, Offer, State, StepError};

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
        if let Some(certificate) = certificate_of_step(step, decision, most)? {
            found = Some(certificate);
        }
        Ok(())
    })?;
    let unknown = StepError::Unknown { what: "decision", number: decision };
    found.ok_or(if state.is_some() { LogError::Step(unknown) } else { LogError::Empty })
}

/// The certificate of this decision, if the step records it.
///
/// # Errors
/// If it records another choice than the one that follows.
pub(crate) fn certificate_of_step(
    step: &Step<'_>,
    decision: u64,
    most: usize,
) -> Result<Option<Certificate>, LogError> {
    let Event::Decided { decision: number, set, context, chosen, label, .. } = step.event else {
        return Ok(None);
    };
    if *number != decision {
        return Ok(None);
    }
    let certificate = certify(step.state, &step.occasion(*set, context), most)?;
    let (mut choices, follows) = (Choices::default(), &certificate.findings.chosen);
    choices.compare(step, (*chosen, label), (follows.id, &follows.label));
    choices.all_follow()?;
    Ok(Some(certificate))
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
    let mut desk = Desk::default();
    let numbers = desk.derive(state, occasion.about(), None)?;
    certified(state, occasion, numbers, numbers.choose()?, most)
}

/// The certificate of a decision with these numbers and this choice.
///
/// # Errors
/// As [`certify`].
pub(crate) fn certified(
    state: &State,
    occasion: &Occasion<'_>,
    numbers: &Numbers,
    choice: Choice,
    most: usize,
) -> Result<Certificate, LogError> {
    let all = numbers.basis.ids.len();
    // Few actions are all listed, whatever the findings depend on.
    let keystones = if all <= most { Vec::new() } else { numbers.keystones(choice) };
    let most = most.max(keystones.len());
    if all > most
        && let Some(partial) = listing(state, occasion, numbers, choice, (&keystones, most))?
    {
        return Ok(partial);
    }
    let grounds = state.dressed(occasion, &numbers.basis);
    let findings = Findings::of(numbers, choice, &grounds)?;
    Ok(Certificate::sealed(grounds, findings))
}

/// The certificate that lists `most` actions, the keystones first. `None` if it would state another
/// choice, or another reason why an action is out: a shorter list must never change a decision.
fn listing(
    state: &State,
    occasion: &Occasion<'_>,
    numbers: &Numbers,
    choice: Choice,
    (keystones, most): (&[usize], usize),
) -> Result<Option<Certificate>, LogError> {
    let plausible: Vec<bool> = numbers.standings().collect();
    let group = |place: usize| (!keystones.contains(&place), !plausible[place]);
    let mut order: Vec<usize> = (0..plausible.len()).collect();
    order.sort_by(|&a, &b| {
        group(a).cmp(&group(b)).then(numbers.upper(b).total_cmp(&numbers.upper(a)))
    });
    let (listed, unlisted) = order.split_at_mut(most);
    listed.sort_unstable();
    let still_plausible = unlisted.iter().filter(|place| plausible[**place]).count() as u64;
    let follows = numbers.choice_follows(still_plausible);
    let unlisted = Unlisted {
        actions: unlisted.len() as u64,
        plausible: still_plausible,
        chosen: (!follows).then(|| numbers.basis.ids[choice.place]),
    };
    let lent = Lent { basis: &numbers.basis, settled: numbers.basis.terms.dim > 0, set: false };
    let offer = Offer { about: occasion.about(), listed: Some((listed, unlisted)) };
    let basis = state.basis(&numbers.basis.terms, offer, Some(lent))?;
    let short = Numbers::of(basis, Some(numbers))?;
    let own_choice = short.choose()?;
    let same = listed[own_choice.place] == choice.place
        && (0..listed.len()).all(|at| short.standing(at) == numbers.standing(listed[at]));
    if !same {
        return Ok(None);
    }
    let grounds = state.dressed(occasion, &short.basis);
    let findings = Findings::of(&short, own_choice, &grounds)?;
    Ok(Some(Certificate::sealed(grounds, findings)))
}
