//! A log in use: the journal and the state it folds to, kept in step.

mod outcomes;

use crate::certificate::{Certificate, GroundsError, Position, certify};
use crate::choices::WrongChoice;
use crate::event::{Cells, Event};
use crate::fold::{Folding, parse};
use crate::journal::{Checkpoint, Journal, JournalError, LineHash, Recovery, Storage};
use crate::json::JsonError;
use crate::opening::Opening;
use crate::policy::{PolicyTable, check_new_policy};
use crate::recipe::{Context, RecipeError};
use crate::state::{Occasion, Outcome, State, StepError, setting};
use crate::table::Table;
use crate::time::Time;
use std::borrow::Cow;
use thiserror::Error;

/// Why a log could not be opened, read or written to.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum LogError {
    /// The file.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// An event that is not one of this version, or cannot follow those before it.
    #[error("line {seq}: {source}")]
    Line {
        /// Its number.
        seq: u64,
        /// What is wrong.
        source: EventError,
    },
    /// What was asked for cannot follow.
    #[error(transparent)]
    Step(#[from] StepError),
    /// One of several outcomes that cannot follow.
    #[error("outcome {}: {source}", .index + 1)]
    Entry {
        /// Which of them, from 0.
        index: usize,
        /// What is wrong.
        source: StepError,
    },
    /// A row or context that the recipe cannot take.
    #[error(transparent)]
    Recipe(#[from] RecipeError),
    /// Grounds of which nothing follows.
    #[error(transparent)]
    Grounds(#[from] GroundsError),
    /// Recorded choices that do not follow from the lines before them.
    #[error("{first}{}: the log was changed, or written by another version", of_many(*differing, *checked))]
    Choice {
        /// The first of them.
        first: WrongChoice,
        /// How many do not follow.
        differing: u64,
        /// Of how many that were looked at.
        checked: u64,
    },
    /// An event that has no form as JSON; nothing was written.
    #[error("an event cannot be written as JSON ({0}); nothing was written")]
    Unwritable(#[source] serde_json::Error),
    /// An earlier event could not be written.
    #[error(
        "an event before this one could not be written, so nothing more is taken or told; open the log anew"
    )]
    Stopped,
    /// A log without events.
    #[error("the log has no decisions yet: `plausibly decide` begins it")]
    Empty,
    /// A log that has begun.
    #[error("the log has begun already")]
    Begun,
}

fn of_many(differing: u64, checked: u64) -> String {
    match checked {
        0 | 1 => String::new(),
        _ => {
            format!("; {differing} of {checked} recorded choices that were looked at do not follow")
        }
    }
}

/// Why a line's event was refused.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum EventError {
    /// Not an event.
    #[error("not an event of this version: {0}")]
    Syntax(#[from] JsonError),
    /// It cannot follow.
    #[error(transparent)]
    Step(#[from] StepError),
}

/// Whether a reward was news.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recorded {
    /// It was recorded.
    Now,
    /// The same was there already; nothing was written.
    Before,
}

/// A log that is written to. Whatever returns without an error is on the disk.
#[derive(Debug)]
pub struct Log<S> {
    journal: Journal<S>,
    state: Option<State>,
    id: LineHash,
    /// The state may be ahead of the disk.
    stopped: bool,
}

impl<S: Storage> Log<S> {
    /// Opens a log for writing, or begins an empty one.
    ///
    /// Every line is read and checked: what is known comes from the log and from nothing beside it.
    ///
    /// # Errors
    /// If another process writes to it, a line is damaged, or an event cannot follow those before
    /// it.
    pub fn open(storage: S) -> Result<Self, LogError> {
        let mut folding = Folding::new();
        let journal = Journal::open_from(storage, &Checkpoint::START, |entry| {
            folding.step(&entry, &parse(&entry)?)
        })?;
        Ok(Self { journal, state: folding.state, id: folding.id, stopped: false })
    }

    /// What opening did about the end of an interrupted write, if there was one.
    pub fn recovery(&self) -> Option<&Recovery> {
        self.journal.recovery()
    }

    /// What is known; `None` before the log has begun, and after a write that failed.
    pub fn state(&self) -> Option<&State> {
        self.state.as_ref().filter(|_| !self.stopped)
    }

    /// Begins the log.
    ///
    /// # Errors
    /// If it has begun, what it shall be about does not hold together, or it cannot be written.
    pub fn begin(&mut self, at: impl Into<Time>, opening: Opening) -> Result<(), LogError> {
        if self.state.is_some() {
            return Err(LogError::Begun);
        }
        if self.stopped {
            return Err(LogError::Stopped);
        }
        opening.check()?;
        let state = State::open(&opening.clone().event())?;
        // Every field with its value, so that a later version with other defaults decides the same.
        let policy = state.policy().1.clone();
        if let Err(failed) =
            self.append(at.into().micros(), &[Opening { policy, ..opening }.event()])
        {
            self.stopped = true;
            return Err(failed);
        }
        self.id = self.journal.last().hash;
        self.state = Some(state);
        Ok(())
    }

    /// Takes a decision among the rows of a table, in a context; its certificate lists at most
    /// `most` actions.
    ///
    /// # Errors
    /// If the log has not begun, a row cannot be encoded, phased elimination cannot decide about
    /// these rows now, or the decision cannot be written: then it was not taken.
    pub fn decide(
        &mut self,
        at: impl Into<Time>,
        table: &Table,
        context: &Context,
        most: usize,
    ) -> Result<Certificate, LogError> {
        let at_us = at.into().micros();
        let state = self.begun()?;
        let (before, offered) = arrival(state, table, context)?;
        // Before anything is written: what cannot be decided shall leave no trace.
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
        };
        self.record(at_us, &[decided])?;
        Ok(certificate)
    }

    /// Records the reward of a decision. The same one twice is recorded once.
    ///
    /// # Errors
    /// If there is no such decision, it has another reward or was dropped, or the reward is out of
    /// range.
    pub fn reward(
        &mut self,
        at: impl Into<Time>,
        decision: u64,
        reward: f64,
    ) -> Result<Recorded, LogError> {
        // Minus nothing is nothing.
        let reward = reward + 0.0;
        match self.begun()?.decision(decision)?.outcome {
            Outcome::Settled { reward: stored, .. } if stored.to_bits() == reward.to_bits() => {
                Ok(Recorded::Before)
            }
            _ => self.record(at.into().micros(), &[Event::Rewarded { decision, reward }]),
        }
    }

    /// Replaces the reward of a decision. By the same one, nothing is recorded.
    ///
    /// # Errors
    /// If there is no such decision, it has no reward, or the new one is out of range.
    pub fn correct(
        &mut self,
        at: impl Into<Time>,
        decision: u64,
        reward: f64,
    ) -> Result<Recorded, LogError> {
        let reward = reward + 0.0;
        match self.begun()?.decision(decision)?.outcome {
            Outcome::Settled { reward: stored, .. } if stored.to_bits() == reward.to_bits() => {
                Ok(Recorded::Before)
            }
            _ => self.record(at.into().micros(), &[Event::Corrected { decision, reward }]),
        }
    }

    /// Takes the reward of a decision back; it is outstanding again.
    ///
    /// # Errors
    /// If there is no such decision, or it has no reward.
    pub fn retract(&mut self, at: impl Into<Time>, decision: u64) -> Result<Recorded, LogError> {
        self.begun()?;
        self.record(at.into().micros(), &[Event::Retracted { decision }])
    }

    /// Records that the reward of a decision will never come. Twice is recorded once.
    ///
    /// # Errors
    /// If there is no such decision, or it has a reward.
    pub fn drop_decision(
        &mut self,
        at: impl Into<Time>,
        decision: u64,
    ) -> Result<Recorded, LogError> {
        match self.begun()?.decision(decision)?.outcome {
            Outcome::Dropped { .. } => Ok(Recorded::Before),
            _ => self.record(at.into().micros(), &[Event::Dropped { decision }]),
        }
    }

    /// Decides by another policy from now on.
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
        check_new_policy(policy, setting(state.recipe()), horizon).map_err(StepError::from)?;
        let (_, policy) = state.resolved(policy, horizon)?;
        self.record(at.into().micros(), &[Event::PolicyChanged { policy, horizon }])
    }

    fn begun(&self) -> Result<&State, LogError> {
        if self.stopped {
            return Err(LogError::Stopped);
        }
        self.state.as_ref().ok_or(LogError::Empty)
    }

    /// Steps, then writes: what cannot follow is never written. If writing fails the state is ahead
    /// of the disk, and nothing more is taken from it or told of it.
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
        if let Err(failed) = self.append(at_us, events) {
            self.stopped = true;
            return Err(failed);
        }
        Ok(Recorded::Now)
    }

    fn append(&mut self, at_us: i64, events: &[Event]) -> Result<(), LogError> {
        if events.is_empty() {
            return Ok(());
        }
        let bodies = events.iter().map(serde_json::to_string).collect::<Result<Vec<_>, _>>();
        let bodies = bodies.map_err(LogError::Unwritable)?;
        self.journal.append(at_us, &bodies.iter().map(String::as_str).collect::<Vec<_>>())?;
        Ok(())
    }
}

/// What a table and a context bring that the log does not know yet, and the actions offered.
fn arrival(
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
    // Before anything is written: a row that cannot be encoded could never be chosen.
    recipe.check_rows(table, context)?;
    let mut next = state.actions().len() as u64;
    let mut offered = Vec::with_capacity(table.len());
    for row in table.rows() {
        let cells: Cells = recipe.cells(row)?;
        let known = state.live(row.label());
        if let Some(action) = known {
            if usize::try_from(action)
                .ok()
                .and_then(|at| state.actions().get(at))
                .is_some_and(|record| recipe.is_same_row(&record.cells, &cells))
            {
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
