//! A log that is written to: the journal on the disk and the state in memory, kept in step. Every
//! event is first applied to the state, which refuses what cannot follow, and its line prepared;
//! then all prepared lines are written and synced together, and only then acknowledged.

mod batch;
mod decide;
mod error;
mod look;
mod offer;
mod outcomes;
mod roster;
mod said;
mod window;

pub use batch::{Answer, Request};
pub use decide::{Asked, Derived, Taken};
pub use error::{EventError, LogError};
pub use look::Looked;
pub use offer::Among;
pub use roster::Roster;

use crate::assumed::assumed;
use crate::desk::Desk;
use crate::event::{Event, Outcomes};
use crate::fold::{fold, parse};
use crate::journal::{Checkpoint, Journal, LineHash, Recovery, Storage};
use crate::milestones::{Index, Rebuilt, resume};
use crate::opening::Opening;
use crate::policy::{PolicyTable, check_new_policy, setting};
use crate::recall::Recall;
use crate::reward::Reward;
use crate::state::{Line, Needs, Outcome, State, StepError};
use crate::time::Time;
use offer::Offered;

/// Whether an event was new to the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recorded {
    /// It was new, and was recorded.
    Now,
    /// The log already holds it; nothing was written.
    Before,
    /// The outcome came at the deadline of its decision or later. The log holds it, and it counts
    /// for nothing.
    Late,
}

/// A log that is written to. Everything that a method returned without an error is on the disk.
#[derive(Debug)]
pub struct Log<S> {
    journal: Journal<S>,
    state: Option<State>,
    id: LineHash,
    /// Set when a write has failed: the state may then be ahead of the disk.
    stopped: bool,
    /// Finds the lines before the snapshot that the log was opened from.
    index: Option<Index>,
    /// Derives decisions.
    desk: Desk,
    /// The last table that a decision was about.
    offered: Option<Offered>,
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
        Self::open_behind(storage, Rebuilt::default())
    }

    /// Opens a log for writing as [`Log::open`] does, but reads only the lines after its snapshot,
    /// if it has one that fits. [`keep_milestones`](crate::keep_milestones) writes snapshots. The
    /// log goes on as if all of it had been read.
    ///
    /// A snapshot is trusted. Someone who can write the files beside the log can cause decisions
    /// that do not follow from its lines; [`audit`](crate::audit) names the first one.
    ///
    /// # Errors
    /// As [`Log::open`].
    pub fn open_from_snapshot(storage: S) -> Result<Self, LogError> {
        let begin = resume(&storage).unwrap_or_default();
        Self::open_behind(storage, begin)
    }

    fn open_behind(storage: S, begin: Rebuilt) -> Result<Self, LogError> {
        let Rebuilt { mut folding, at } = begin;
        let journal = Journal::open_from(storage, &at, |storage, entry| {
            folding.step(storage, &entry, &parse(&entry)?)
        })?;
        Ok(Self {
            journal,
            state: folding.state,
            id: folding.id,
            stopped: false,
            index: folding.index,
            desk: Desk::default(),
            offered: None,
        })
    }

    /// How opening repaired the end of an interrupted write, if there was one.
    pub fn recovery(&self) -> Option<&Recovery> {
        self.journal.recovery()
    }

    /// The last line on the disk.
    pub fn last(&self) -> Checkpoint {
        self.journal.last()
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
        let at = at.into();
        let body = self.checked_body(at, &opened)?;
        self.journal.prepare_checked(at, &body);
        self.commit()?;
        self.id = self.journal.last().hash;
        self.state = Some(state);
        Ok(())
    }

    /// Records the reward of a decision. Recording the same reward twice writes it once.
    ///
    /// In a log with a window the reward is held until the deadline of its decision, and counts
    /// once [`Log::settle_due`] has settled the decision. A reward that comes later is
    /// [`Recorded::Late`].
    ///
    /// This and the other methods about outcomes do not record who says so: [`Log::batch`] does.
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
        self.answer(at.into(), &Request::Reward { decision, reward: reward.into(), by: None })
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
        self.answer(at.into(), &Request::Correct { decision, reward: reward.into(), by: None })
    }

    /// Takes back the reward of a decision, which is then pending again. In a log with a window it
    /// settles at its deadline as if no reward had come.
    ///
    /// # Errors
    /// If there is no such decision, or it has no reward.
    pub fn retract(&mut self, at: impl Into<Time>, decision: u64) -> Result<Recorded, LogError> {
        self.answer(at.into(), &Request::Retract { decision, by: None })
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
        self.answer(at.into(), &Request::Drop { decision, by: None })
    }

    /// Undoes a drop: the decision is pending again. Nothing is written if it is pending already.
    ///
    /// # Errors
    /// If there is no such decision, it has a reward, the log has format 1, phased elimination has
    /// replaced it, or its window has ended and would drop it again.
    pub fn undrop(&mut self, at: impl Into<Time>, decision: u64) -> Result<Recorded, LogError> {
        self.answer(at.into(), &Request::Undrop { decision, by: None })
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
        if !self.begun()?.would_change(policy, horizon)? {
            return Ok(Recorded::Before);
        }
        self.read_whole()?;
        let state = self.begun()?;
        check_new_policy(policy, setting(state.recipe().dim()), horizon, state.format())
            .map_err(StepError::from)?;
        let changed = state.policy_changed(policy, horizon)?;
        self.record(at.into(), &changed)
    }

    /// Takes no decisions from now on. Outcomes are still taken, and a request whose key has a
    /// decision is still answered. Pausing twice writes it once. `by` says who pauses the log.
    ///
    /// # Errors
    /// If the log has format 1 or has not begun, `by` is not a name
    /// ([`check_by`](crate::state::check_by)), or this cannot be written.
    pub fn pause(&mut self, at: impl Into<Time>, by: Option<&str>) -> Result<Recorded, LogError> {
        if self.begun()?.is_paused() {
            return Ok(Recorded::Before);
        }
        self.record(at.into(), &Event::Paused { by: by.map(Into::into) })
    }

    /// Takes decisions again. Nothing is written if the log is not paused.
    ///
    /// # Errors
    /// As [`Log::pause`].
    pub fn resume(&mut self, at: impl Into<Time>, by: Option<&str>) -> Result<Recorded, LogError> {
        if !self.begun()?.is_paused() {
            return Ok(Recorded::Before);
        }
        self.record(at.into(), &Event::Resumed { by: by.map(Into::into) })
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
        if self.begun()?.outcomes() == outcomes {
            return Ok(Recorded::Before);
        }
        self.read_whole()?;
        let state = self.begun()?;
        let assumed = assumed(state, state.policy().0, outcomes);
        self.record(at.into(), &Event::OutcomesChanged { outcomes, assumed })
    }

    fn begun(&self) -> Result<&State, LogError> {
        if self.stopped {
            return Err(LogError::Stopped);
        }
        self.state.as_ref().ok_or(LogError::Empty)
    }

    /// Applies an event to the state and prepares its line.
    ///
    /// # Errors
    /// If the event cannot follow; it is then neither in the state nor prepared.
    fn prepare(&mut self, at: Time, event: &Event) -> Result<Checkpoint, LogError> {
        let body = self.checked_body(at, event)?;
        let needs = self.begun()?.needs(event);
        self.recall(needs)?;
        let (line, state) = (next_line(&self.journal, at), self.state.as_mut());
        state.ok_or(LogError::Empty)?.step(line, event)?;
        Ok(self.journal.prepare_checked(at, &body))
    }

    /// The outcome of a decision, read in the log if need be.
    fn outcome(&mut self, decision: u64) -> Result<Outcome, LogError> {
        let needs = self.begun()?.needs_decision(decision, false);
        self.recall(needs)?;
        let outcome = self.begun()?.decision(decision)?.outcome;
        if let Some(state) = &mut self.state {
            state.forget(decision);
        }
        Ok(outcome)
    }

    /// Reads the lines before the snapshot that the log was opened from, for a change that looks
    /// back on all outcomes.
    fn read_whole(&mut self) -> Result<(), LogError> {
        if !self.begun()?.is_whole() {
            let (state, _) = fold(self.journal.storage(), |_| Ok(()))?;
            (self.state, self.index) = (state, None);
            (self.desk, self.offered) = (Desk::default(), None);
        }
        Ok(())
    }

    /// Reads in the log what the state needs for its next event.
    fn recall(&mut self, needs: Option<Needs>) -> Result<(), LogError> {
        match self.state.as_mut() {
            Some(state) => recall(&self.journal, self.index.as_ref(), state, needs),
            None => Ok(()),
        }
    }

    /// The text of an event, if a line can have it at this time. It is checked before the event is
    /// in the state, which would be ahead of the disk otherwise.
    fn checked_body(&self, at: Time, event: &Event) -> Result<String, LogError> {
        let body = serde_json::to_string(event).map_err(LogError::Unwritable)?;
        self.journal.check_line(at, &body)?;
        Ok(body)
    }

    /// Writes the prepared lines, and returns when they are on the disk.
    fn commit(&mut self) -> Result<(), LogError> {
        let committed = self.journal.commit();
        self.stopped |= committed.is_err();
        Ok(committed?)
    }

    /// Records one event.
    fn record(&mut self, at: Time, event: &Event) -> Result<Recorded, LogError> {
        self.prepare(at, event)?;
        self.commit()?;
        Ok(Recorded::Now)
    }
}

/// The frame of the next line to be prepared.
fn next_line<S: Storage>(journal: &Journal<S>, at: Time) -> Line {
    let last = journal.prepared();
    Line { seq: last.seq + 1, at_us: at.micros().max(last.at_us), begin: last.offset }
}

/// Reads in the log what a state needs for its next event.
fn recall<S: Storage>(
    journal: &Journal<S>,
    index: Option<&Index>,
    state: &mut State,
    needs: Option<Needs>,
) -> Result<(), LogError> {
    match needs {
        None => Ok(()),
        // The line may be one that is not written yet.
        Some(Needs::Line { decision, at }) => {
            let event = journal.line_at(at, |entry| parse(&entry))??;
            Ok(state.recall(decision, &event)?)
        }
        Some(needs) => {
            let recall = Recall { storage: journal.storage(), index };
            recall.fetch(state, needs, journal.prepared().seq + 1)
        }
    }
}
