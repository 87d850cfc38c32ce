//! Takes decisions. What a decision needs is recorded first, then its numbers are derived, and then
//! the choice that follows from them is recorded.

use super::offer::{Among, Needed, Offered};
use super::{Log, LogError, Recorded};
use crate::certificate::{Certificate, Choice, GroundsError, Numbers, Position, Reason, certified};
use crate::event::{Event, RequestRows};
use crate::fold::parse;
use crate::journal::{Checkpoint, Storage};
use crate::recipe::Context;
use crate::state::{About, Occasion, StepError, check_request};
use crate::table::Table;
use crate::time::Time;

/// A request for a decision.
#[derive(Clone, Copy, Debug)]
pub struct Asked<'a> {
    /// The actions to choose from.
    pub among: Among<'a>,
    /// The context.
    pub context: &'a Context,
    /// The caller's name for this request: see [`Log::decide_once`].
    pub key: Option<&'a str>,
    /// The SHA-256 of what is asked, 64 hexadecimal digits in lower case. It needs a key; if the
    /// key is repeated with another hash, the request is refused.
    pub request: Option<&'a str>,
    /// Who asks, at most [`LONGEST_NAME`](crate::event::LONGEST_NAME) bytes. The line of the
    /// decision records it.
    pub by: Option<&'a str>,
    /// The number of actions that the certificate lists at most; with `None` no certificate is
    /// made.
    pub certificate: Option<usize>,
}

impl<'a> Asked<'a> {
    /// A request without key, name and certificate.
    pub fn among(among: Among<'a>, context: &'a Context) -> Self {
        Self { among, context, key: None, request: None, by: None, certificate: None }
    }
}

/// A decision that was taken.
#[derive(Clone, Debug, PartialEq)]
pub struct Taken {
    /// Its number.
    pub decision: u64,
    /// The number of the chosen action.
    pub action: u64,
    /// The name of the chosen action.
    pub label: String,
    /// Whether it was taken now, or before for the same key.
    pub recorded: Recorded,
    /// The last line of the log when this was answered.
    pub line: Checkpoint,
    /// Why this was chosen; `None` for a decision that was taken before, unless its certificate was
    /// asked for.
    pub derived: Option<Derived>,
    /// Its certificate, if one was asked for.
    pub certificate: Option<Box<Certificate>>,
}

/// Why an action was chosen, and what was known then.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Derived {
    /// Why this action was chosen.
    pub reason: Reason,
    /// The probability with which it was chosen.
    pub propensity: Option<f64>,
    /// The number of actions that could still be best.
    pub plausible: u64,
    /// The largest possible error of an estimate among these, in units of reward; `None` if there
    /// is no bound.
    pub known_within: Option<f64>,
}

impl<S: Storage> Log<S> {
    /// Takes a decision among the rows of a table, in a context. Its certificate lists at most
    /// `most` actions.
    ///
    /// # Errors
    /// If the log has not begun or is paused, a row cannot be encoded, phased elimination cannot
    /// decide about these rows now, or the decision cannot be written. On an error no decision was
    /// taken.
    pub fn decide(
        &mut self,
        at: impl Into<Time>,
        table: &Table,
        context: &Context,
        most: usize,
    ) -> Result<Certificate, LogError> {
        let asked = Asked { certificate: Some(most), ..Asked::among(Among::Table(table), context) };
        let taken = self.take(at, &asked)?;
        Ok(certificate_of(taken).0)
    }

    /// Like [`Log::decide`], once for each key: a repeated request gets the decision that was taken
    /// the first time, and nothing is written. So a caller that does not know whether its request
    /// was carried out, because it was killed or lost the answer, can repeat it.
    ///
    /// The key is the caller's name for the request. The rows and the context of a repeated request
    /// are not looked at. The log remembers the last
    /// [`REMEMBERED_KEYS`](crate::state::REMEMBERED_KEYS) keys; an older one takes a new decision.
    ///
    /// # Errors
    /// As [`Log::decide`]; if the key is empty, longer than
    /// [`LONGEST_KEY`](crate::event::LONGEST_KEY) bytes or has control characters; if the log has
    /// format 1.
    pub fn decide_once(
        &mut self,
        key: &str,
        at: impl Into<Time>,
        table: &Table,
        context: &Context,
        most: usize,
    ) -> Result<(Certificate, Recorded), LogError> {
        let asked = Asked::among(Among::Table(table), context);
        let asked = Asked { key: Some(key), certificate: Some(most), ..asked };
        Ok(certificate_of(self.take(at, &asked)?))
    }

    /// Takes a decision as [`Asked`] says. [`Log::decide`] and [`Log::decide_once`] are short forms
    /// of this method.
    ///
    /// # Errors
    /// As [`Log::decide`] and [`Log::decide_once`]; if the key was used with another hash of a
    /// request, or the name in `by` is empty, too long or has control characters; if the log cannot
    /// have rows for one decision.
    pub fn take(&mut self, at: impl Into<Time>, asked: &Asked<'_>) -> Result<Taken, LogError> {
        let taken = self.prepare_decision(at.into(), asked);
        // Also after a refusal, because the lines before the decision are in the state by then.
        if !self.stopped {
            self.commit()?;
        }
        taken
    }

    /// Takes a decision without writing its lines.
    pub(super) fn prepare_decision(
        &mut self,
        at: Time,
        asked: &Asked<'_>,
    ) -> Result<Taken, LogError> {
        check_request(asked.key, asked.request)?;
        let before = asked.key.and_then(|key| self.state.as_ref()?.decision_with_key(key));
        if let (Some(decision), Some(key)) = (before, asked.key) {
            self.check_same_request(decision, key, asked.request)?;
            return self.taken_before(decision, asked.certificate);
        }
        let state = self.begun()?;
        state.check_running()?;
        state.check_by(asked.by)?;
        let key = asked.key.map(|key| state.new_key(key)).transpose()?;
        let request = asked.request.map(Into::into);
        let (set, rows) = self.prepare_offer(at, asked)?;
        let (last, context) = (self.journal.prepared(), asked.context);
        let state = self.state.as_ref().ok_or(LogError::Empty)?;
        let numbers = self.desk.derive(state, About { set, context, rows: rows.as_ref() }, None)?;
        let choice = numbers.choose()?;
        let action = numbers.basis.ids[choice.place];
        let label = state.action(action)?.label.clone();
        let derived = Derived::of(numbers, choice);
        let forecasts = numbers.forecast(choice.place).map_err(GroundsError::from)?;
        let certificate = match asked.certificate {
            Some(most) => {
                let position = Position {
                    id: self.id.to_string(),
                    seq: last.seq,
                    hash: last.hash.to_string(),
                };
                let at = Time::from_micros(at.micros().max(last.at_us));
                let occasion = Occasion { position, at, set, context, rows: rows.as_ref() };
                Some(Box::new(certified(state, &occasion, numbers, choice, most)?))
            }
            None => None,
        };
        let decision = numbers.basis.decision;
        let decided = Event::Decided {
            decision,
            set,
            context: context.clone(),
            chosen: action,
            label: label.clone(),
            key,
            request,
            by: asked.by.map(Into::into),
            rows,
            forecasts,
        };
        let line = self.prepare(at, &decided)?;
        let (recorded, derived) = (Recorded::Now, Some(derived));
        Ok(Taken { decision, action, label, recorded, line, derived, certificate })
    }

    /// Prepares what must be recorded before a decision, and returns the number of its set and the
    /// rows that are for this decision alone.
    fn prepare_offer(
        &mut self,
        at: Time,
        asked: &Asked<'_>,
    ) -> Result<(u64, Option<RequestRows>), LogError> {
        let Asked { among, context, .. } = *asked;
        let state = self.begun()?;
        if let (Among::Table(table), Some(offered)) = (among, &self.offered)
            && let Some(set) = offered.again(state, table, context)
        {
            state.may_decide(state.set(set)?, context)?;
            return Ok((set, None));
        }
        let Needed { events, actions, set, rows } = Needed::of(state, among, context)?;
        // Checked before anything is prepared, so that a refused decision leaves no trace in the
        // log.
        state.may_decide(&actions, context)?;
        for event in &events {
            self.prepare(at, event)?;
        }
        if let Among::Table(table) = among {
            self.offered = Some(Offered::new(self.begun()?, table, set));
        }
        Ok((set, rows))
    }

    /// Refuses a request whose key belongs to a decision about something else.
    fn check_same_request(
        &mut self,
        decision: u64,
        key: &str,
        request: Option<&str>,
    ) -> Result<(), LogError> {
        let Some(request) = request else { return Ok(()) };
        self.outcome(decision)?;
        let at = self.begun()?.line_of(decision)?;
        match self.journal.line_at(at, |entry| parse(&entry))?? {
            Event::Decided { request: Some(before), .. } if before != request => {
                Err(StepError::KeyReused { key: key.into(), decision }.into())
            }
            _ => Ok(()),
        }
    }

    /// The answer to a request whose key an earlier decision has.
    fn taken_before(&mut self, decision: u64, most: Option<usize>) -> Result<Taken, LogError> {
        let certificate = match most {
            Some(most) => {
                // A certificate is made from lines on the disk.
                self.commit()?;
                Some(Box::new(crate::certificate(self.journal.storage(), decision, most)?))
            }
            None => None,
        };
        self.outcome(decision)?;
        let (state, line) = (self.begun()?, self.journal.prepared());
        let action = state.decision(decision)?.action;
        let label = state.label_of(decision)?.to_owned();
        let derived = certificate.as_deref().map(Derived::said);
        let recorded = Recorded::Before;
        Ok(Taken { decision, action, label, recorded, line, derived, certificate })
    }
}

impl Derived {
    fn of(numbers: &Numbers, choice: Choice) -> Self {
        Self {
            reason: numbers.reason(),
            propensity: numbers.propensity(choice),
            plausible: numbers.plausible(),
            known_within: numbers.known_within(),
        }
    }

    /// What a certificate says.
    fn said(certificate: &Certificate) -> Self {
        let findings = &certificate.findings;
        Self {
            reason: findings.chosen.reason,
            propensity: findings.chosen.propensity,
            plausible: findings.plausible,
            known_within: findings.known_within,
        }
    }
}

/// The certificate of a decision that was taken with one.
fn certificate_of(taken: Taken) -> (Certificate, Recorded) {
    let certificate = taken.certificate.expect("a certificate was asked for");
    (*certificate, taken.recorded)
}
