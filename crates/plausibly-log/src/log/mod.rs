//! A log that is written to: the journal on the disk and the state in memory, kept in step. Every
//! event is first applied to the state, which refuses what cannot follow, and then written; only a
//! written event is acknowledged.

mod error;
mod outcomes;

pub use error::{EventError, LogError};

use crate::assumed::assumed;
use crate::certificate::{Certificate, Position, certify};
use crate::event::{Cells, Event, Outcomes};
use crate::fold::{Folding, parse};
use crate::form::NewOutcome;
use crate::journal::{Checkpoint, Journal, LineHash, Recovery, Storage};
use crate::opening::Opening;
use crate::policy::{PolicyTable, check_new_policy, setting};
use crate::recipe::Context;
use crate::reward::Reward;
use crate::state::{Occasion, Outcome, State, StepError};
use crate::table::Table;
use crate::time::Time;
use std::borrow::Cow;

/// Whether an event was new to the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recorded {
    /// It was new, and was recorded.
    Now,
    /// The log already holds it; nothing was written.
    Before,
}

/// A log that is written to. Everything that a method returned without an error is on the disk.
#[derive(Debug)]
pub struct Log<S> {
    journal: Journal<S>,
    state: Option<State>,
    id: LineHash,
    /// Set when a write has failed: the state may then be ahead of the disk.
    stopped: bool,
}

impl<S: Storage> Log<S> {
    /// Opens a log for writing, or begins an empty one.
    ///
    /// Reads and checks every line. The state comes from the lines and from nothing else.
    ///
    /// # Errors
    /// If another process writes to it, a line is damaged, or an event cannot follow those before
    /// it.
    pub fn open(storage: S) -> Result<Self, LogError> {
        let mut folding = Folding::default();
        let journal = Journal::open_from(storage, &Checkpoint::START, |entry| {
            folding.step(&entry, &parse(&entry)?)
        })?;
        Ok(Self { journal, state: folding.state, id: folding.id, stopped: false })
    }

    /// How opening repaired the end of an interrupted write, if there was one.
    pub fn recovery(&self) -> Option<&Recovery> {
        self.journal.recovery()
    }

    /// The state; `None` before the log has begun, and after a write that failed.
    pub fn state(&self) -> Option<&State> {
        self.state.as_ref().filter(|_| !self.stopped)
    }

    /// Begins the log.
    ///
    /// # Errors
    /// If the log has already begun, the opening is not consistent, or it cannot be written.
    pub fn begin(&mut self, at: impl Into<Time>, opening: Opening) -> Result<(), LogError> {
        if self.state.is_some() {
            return Err(LogError::Begun);
        }
        if self.stopped {
            return Err(LogError::Stopped);
        }
        let words = opening.assumed()?;
        let state = State::open(&opening.clone().event())?;
        // Every field is written with its value, so that a later version with other defaults
        // decides the same way.
        let policy = state.policy().1.clone();
        let mut opened = Opening { policy, ..opening }.event();
        if let Event::Opened { assumed, .. } = &mut opened {
            *assumed = words;
        }
        self.append(at.into().micros(), &[opened])?;
        self.id = self.journal.last().hash;
        self.state = Some(state);
        Ok(())
    }

    /// Takes a decision among the rows of a table, in a context. Its certificate lists at most
    /// `most` actions.
    ///
    /// # Errors
    /// If the log has not begun, a row cannot be encoded, phased elimination cannot decide about
    /// these rows now, or the decision cannot be written. On an error no decision was taken.
    pub fn decide(
        &mut self,
        at: impl Into<Time>,
        table: &Table,
        context: &Context,
        most: usize,
    ) -> Result<Certificate, LogError> {
        self.take(at.into(), table, context, most, None)
    }

    /// Like [`Log::decide`], once for each key: a repeated request gets the decision that was taken
    /// the first time, and nothing is written. So a caller that does not know whether its request
    /// was carried out, because it was killed or lost the answer, can repeat it.
    ///
    /// The key is the caller's name for the request. The rows and the context of a repeated request
    /// are not looked at.
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
        if let Some(decision) = self.begun()?.decision_with_key(key) {
            let taken = crate::certificate(self.journal.storage(), decision, most)?;
            return Ok((taken, Recorded::Before));
        }
        Ok((self.take(at.into(), table, context, most, Some(key))?, Recorded::Now))
    }

    fn take(
        &mut self,
        at: Time,
        table: &Table,
        context: &Context,
        most: usize,
        key: Option<&str>,
    ) -> Result<Certificate, LogError> {
        let at_us = at.micros();
        let state = self.begun()?;
        let key = key.map(|key| state.new_key(key)).transpose()?;
        let (before, offered) = events_before_decision(state, table, context)?;
        // Checked before anything is written, so that a refused decision leaves no trace in the
        // log.
        state.may_decide(&offered, context)?;
        self.record(at_us, &before)?;
        let last = self.journal.last();
        let position =
            Position { id: self.id.to_string(), seq: last.seq, hash: last.hash.to_string() };
        let state = self.begun()?;
        let (set, _) = state.last_set().ok_or(LogError::Empty)?;
        let at_us = at_us.max(last.at_us);
        let occasion = Occasion { position, at: Time::from_micros(at_us), set, context };
        let certificate = certify(state, &occasion, most)?;
        let chosen = &certificate.findings.chosen;
        let decided = Event::Decided {
            decision: certificate.grounds.decision,
            set,
            context: context.clone(),
            chosen: chosen.id,
            label: chosen.label.clone(),
            key,
            forecasts: chosen.forecasts,
        };
        self.record(at_us, &[decided])?;
        Ok(certificate)
    }

    /// Records the reward of a decision. Recording the same reward twice writes it once.
    ///
    /// # Errors
    /// If there is no such decision, it has another reward or was dropped, or the reward is out of
    /// range.
    pub fn reward(
        &mut self,
        at: impl Into<Time>,
        decision: u64,
        reward: impl Into<Reward>,
    ) -> Result<Recorded, LogError> {
        self.record_outcome(at, decision, NewOutcome::Reward(reward.into()))
    }

    /// Replaces the reward of a decision. Nothing is written if the reward stays the same.
    ///
    /// # Errors
    /// If there is no such decision, it has no reward, or the new one is out of range.
    pub fn correct(
        &mut self,
        at: impl Into<Time>,
        decision: u64,
        reward: impl Into<Reward>,
    ) -> Result<Recorded, LogError> {
        let reward = reward.into();
        if self.begun()?.decision(decision)?.outcome.is_reward(reward) {
            return Ok(Recorded::Before);
        }
        self.record(at.into().micros(), &[reward.corrected(decision)])
    }

    /// Takes back the reward of a decision, which is then pending again.
    ///
    /// # Errors
    /// If there is no such decision, or it has no reward.
    pub fn retract(&mut self, at: impl Into<Time>, decision: u64) -> Result<Recorded, LogError> {
        self.record(at.into().micros(), &[Event::Retracted { decision }])
    }

    /// Records that the reward of a decision will never come. Dropping twice writes it once.
    ///
    /// # Errors
    /// If there is no such decision, or it has a reward.
    pub fn drop_decision(
        &mut self,
        at: impl Into<Time>,
        decision: u64,
    ) -> Result<Recorded, LogError> {
        self.record_outcome(at, decision, NewOutcome::Drop)
    }

    /// Undoes a drop: the decision is pending again. Nothing is written if it is pending already.
    ///
    /// # Errors
    /// If there is no such decision, it has a reward, the log has format 1, or phased elimination
    /// has replaced it.
    pub fn undrop(&mut self, at: impl Into<Time>, decision: u64) -> Result<Recorded, LogError> {
        if self.begun()?.decision(decision)?.outcome == Outcome::Pending {
            return Ok(Recorded::Before);
        }
        self.record(at.into().micros(), &[Event::Undropped { decision }])
    }

    /// Changes the policy that takes the decisions from now on.
    ///
    /// # Errors
    /// If it cannot decide in this log.
    pub fn change_policy(
        &mut self,
        at: impl Into<Time>,
        policy: &PolicyTable,
        horizon: Option<u64>,
    ) -> Result<Recorded, LogError> {
        let state = self.begun()?;
        if !state.would_change(policy, horizon)? {
            return Ok(Recorded::Before);
        }
        check_new_policy(policy, setting(state.recipe().dim()), horizon, state.format())
            .map_err(StepError::from)?;
        let changed = state.policy_changed(policy, horizon)?;
        self.record(at.into().micros(), &[changed])
    }

    /// Changes what an outcome is from now on.
    ///
    /// # Errors
    /// If an earlier reward contradicts it, the policy cannot use such outcomes, or the log has
    /// format 1.
    pub fn change_outcomes(
        &mut self,
        at: impl Into<Time>,
        outcomes: Outcomes,
    ) -> Result<Recorded, LogError> {
        let state = self.begun()?;
        if state.outcomes() == outcomes {
            return Ok(Recorded::Before);
        }
        let assumed = assumed(state, state.policy().0, outcomes);
        self.record(at.into().micros(), &[Event::OutcomesChanged { outcomes, assumed }])
    }

    fn begun(&self) -> Result<&State, LogError> {
        if self.stopped {
            return Err(LogError::Stopped);
        }
        self.state.as_ref().ok_or(LogError::Empty)
    }

    /// Steps, then writes, so that an event that cannot follow is never written.
    fn record(&mut self, at_us: i64, events: &[Event]) -> Result<Recorded, LogError> {
        self.begun()?;
        let state = self.state.as_mut().ok_or(LogError::Empty)?;
        let last = self.journal.last();
        for (stepped, (event, seq)) in events.iter().zip(last.seq + 1..).enumerate() {
            if let Err(refused) = state.step(seq, at_us.max(last.at_us), event) {
                self.stopped = stepped > 0;
                return Err(refused.into());
            }
        }
        self.append(at_us, events)?;
        Ok(Recorded::Now)
    }

    /// Writes events. If that fails, the state may be ahead of the disk, and `stopped` keeps it
    /// from being used.
    fn append(&mut self, at_us: i64, events: &[Event]) -> Result<(), LogError> {
        if events.is_empty() {
            return Ok(());
        }
        self.stopped = true;
        let bodies = events.iter().map(serde_json::to_string).collect::<Result<Vec<_>, _>>();
        let bodies = bodies.map_err(LogError::Unwritable)?;
        self.journal.append(at_us, &bodies.iter().map(String::as_str).collect::<Vec<_>>())?;
        self.stopped = false;
        Ok(())
    }
}

/// The events that a table and a context need before a decision, and the numbers of the actions
/// offered.
fn events_before_decision(
    state: &State,
    table: &Table,
    context: &Context,
) -> Result<(Vec<Event>, Vec<u64>), LogError> {
    let mut events = Vec::new();
    let mut recipe = Cow::Borrowed(state.recipe());
    if let Some(extension) = recipe.extension(table, context)? {
        recipe = Cow::Owned(recipe.extended(&extension)?);
        events.push(Event::RecipeExtended { extension });
    }
    // Checked before anything is written: a row that cannot be encoded could never be chosen.
    recipe.check_rows(table, context)?;
    let mut next = state.actions().len() as u64;
    let mut offered = Vec::with_capacity(table.len());
    for row in table.rows() {
        let cells: Cells = recipe.cells(row)?;
        if let Some(action) = state.live(row.label()) {
            if recipe.is_same_row(&state.action(action)?.cells, &cells) {
                offered.push(action);
                continue;
            }
            events.push(Event::ActionRetired { action });
        }
        events.push(Event::ActionAdded { action: next, label: row.label().into(), cells });
        offered.push(next);
        next += 1;
    }
    offered.sort_unstable();
    let last = state.last_set();
    if last.is_none_or(|(_, set)| set != offered) {
        let set = last.map_or(0, |(set, _)| set + 1);
        events.push(Event::SetOffered { set, actions: offered.clone() });
    }
    Ok((events, offered))
}
