//! A log in use: the journal and the state it folds to, kept in step.

use crate::certificate::{Certificate, GroundsError, Position, Standing, Unlisted};
use crate::event::{Cells, Event, FORMAT};
use crate::journal::{Checkpoint, End, Entry, Journal, JournalError, LineHash, Recovery, Storage, read, utc};
use crate::policy::PolicyTable;
use crate::recipe::{Context, Recipe, RecipeError};
use crate::state::{Moment, Outcome, State, StepError};
use crate::table::Table;
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
    /// A row or context that the recipe cannot take.
    #[error(transparent)]
    Recipe(#[from] RecipeError),
    /// Grounds of which nothing follows.
    #[error(transparent)]
    Grounds(#[from] GroundsError),
    /// A log without events.
    #[error("the log has no decisions yet: `plausibly decide` begins it")]
    Empty,
    /// A log that has begun.
    #[error("the log has begun already")]
    Begun,
}

/// Why a line's event was refused.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum EventError {
    /// Not an event.
    #[error("not an event of this version: {0}")]
    Syntax(#[from] serde_json::Error),
    /// It cannot follow.
    #[error(transparent)]
    Step(#[from] StepError),
}

/// What a log is about, before its first decision.
#[derive(Clone, Debug)]
pub struct Opening {
    /// Who decides.
    pub policy: PolicyTable,
    /// The smallest and the largest reward there can be.
    pub reward_range: (f64, f64),
    /// Decisions expected in all, for policies that ask.
    pub horizon: Option<u64>,
    /// From which randomness is drawn.
    pub seed: u64,
    /// How rows become features.
    pub recipe: Recipe,
}

impl Opening {
    /// Whether a log could begin with this.
    ///
    /// # Errors
    /// If what it says does not hold together.
    pub fn check(&self) -> Result<(), LogError> {
        State::open(&self.clone().event())?;
        Ok(())
    }

    fn event(self) -> Event {
        let Self { policy, reward_range, horizon, seed, recipe } = self;
        Event::Opened { format: FORMAT, policy, reward_range, horizon, seed, recipe }
    }
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
}

/// The fold of a log so far.
struct Folding {
    state: Option<State>,
    /// Of the first line.
    id: LineHash,
    /// Number and hash of the last line.
    last: (u64, LineHash),
}

impl Folding {
    fn new() -> Self {
        Self { state: None, id: LineHash::ZERO, last: (0, LineHash::ZERO) }
    }

    /// One line further.
    fn step(&mut self, entry: &Entry<'_>, event: &Event) -> Result<(), LogError> {
        let failed = |source: StepError| LogError::Line { seq: entry.seq, source: source.into() };
        if let Some(state) = &mut self.state {
            state.step(entry.seq, entry.at_us, event).map_err(failed)?;
        } else {
            self.state = Some(State::open(event).map_err(failed)?);
            self.id = entry.hash;
        }
        self.last = (entry.seq, entry.hash);
        Ok(())
    }
}

fn parse(entry: &Entry<'_>) -> Result<Event, LogError> {
    serde_json::from_str(entry.body)
        .map_err(|source| LogError::Line { seq: entry.seq, source: source.into() })
}

/// An event of a log, and the state it comes to.
#[derive(Debug)]
pub struct Step<'a> {
    /// The state before it.
    pub state: &'a State,
    /// Its line.
    pub entry: Entry<'a>,
    /// What happens.
    pub event: &'a Event,
    position: (LineHash, u64, LineHash),
}

impl Step<'_> {
    /// The place the state stands for.
    pub fn position(&self) -> Position {
        let (id, seq, hash) = self.position;
        Position { id: id.to_string(), seq, hash: hash.to_string() }
    }
}

/// Reads a log event by event; `visit` sees all but the first. Returns the state after the last, `None` for a log without events.
///
/// # Errors
/// If a line is damaged, is no event or cannot follow, or `visit` fails.
pub fn fold<S: Storage>(
    storage: &S,
    mut visit: impl FnMut(&Step<'_>) -> Result<(), LogError>,
) -> Result<(Option<State>, End), LogError> {
    let mut folding = Folding::new();
    let end = read(storage, &Checkpoint::START, |entry| {
        let event = parse(&entry)?;
        if let Some(state) = &folding.state {
            let position = (folding.id, folding.last.0, folding.last.1);
            visit(&Step { state, entry, event: &event, position })?;
        }
        folding.step(&entry, &event)
    })?;
    Ok((folding.state, end))
}

/// The certificate of a decision of a log, from nothing but its lines; it lists at most `most` actions.
///
/// # Errors
/// If the log is damaged, or has no such decision.
pub fn certificate<S: Storage>(storage: &S, decision: u64, most: usize) -> Result<Certificate, LogError> {
    let mut found = None;
    let (state, _) = fold(storage, |step| {
        if let Event::Decided { decision: number, set, context, .. } = step.event
            && *number == decision
        {
            let moment = Moment { position: step.position(), at: time(step.entry.at_us), set: *set, context };
            found = Some(certify(step.state, &moment, most)?);
        }
        Ok(())
    })?;
    let unknown = StepError::Unknown { what: "decision", number: decision };
    found.ok_or(if state.is_some() { LogError::Step(unknown) } else { LogError::Empty })
}

/// The certificate of the decision that would be taken now, listing at most `most` actions: what was chosen, what rules others out, and then those with the largest upper bounds.
///
/// # Errors
/// If the set is unknown, or a row cannot be encoded.
pub fn certify(state: &State, moment: &Moment<'_>, most: usize) -> Result<Certificate, LogError> {
    let full = Certificate::new(state.grounds(moment.clone(), None)?)?;
    let actions = &full.findings.actions;
    if actions.len() <= most.max(2) {
        return Ok(full);
    }
    let mut order: Vec<usize> = (0..actions.len()).collect();
    let upper = |place: usize| actions[place].upper;
    let is_chosen = |place: usize| actions[place].id == full.findings.chosen.id;
    // All that are out are out by the same one.
    let rules = actions.iter().find_map(|action| match action.standing {
        Standing::RuledOut { by, .. } => Some(by),
        Standing::Plausible => None,
    });
    let first = |place: usize| !(is_chosen(place) || Some(actions[place].id) == rules);
    order.sort_by(|a, b| first(*a).cmp(&first(*b)).then(upper(*b).total_cmp(&upper(*a))));
    let mut listed = order[..most.max(2)].to_vec();
    listed.sort_unstable();
    let plausible =
        order[most.max(2)..].iter().filter(|place| actions[**place].standing == Standing::Plausible);
    let plausible = plausible.count() as u64;
    let follows = full.grounds.choice_follows(plausible)?;
    let unlisted = Unlisted {
        actions: (actions.len() - listed.len()) as u64,
        plausible,
        chosen: (!follows).then_some(full.findings.chosen.id),
    };
    Ok(Certificate::new(state.grounds(moment.clone(), Some((&listed, unlisted)))?)?)
}

impl<S: Storage> Log<S> {
    /// Opens a log for writing, or begins an empty one.
    ///
    /// # Errors
    /// If another process writes to it, a line is damaged, or an event cannot follow those before it.
    pub fn open(storage: S) -> Result<Self, LogError> {
        let mut folding = Folding::new();
        let journal =
            Journal::open_from(storage, &Checkpoint::START, |entry| folding.step(&entry, &parse(&entry)?))?;
        Ok(Self { journal, state: folding.state, id: folding.id })
    }

    /// What opening did about the end of an interrupted write, if there was one.
    pub fn recovery(&self) -> Option<&Recovery> {
        self.journal.recovery()
    }

    /// What is known; `None` before the log has begun.
    pub fn state(&self) -> Option<&State> {
        self.state.as_ref()
    }

    /// Begins the log.
    ///
    /// # Errors
    /// If it has begun, what it shall be about does not hold together, or it cannot be written.
    pub fn begin(&mut self, at_us: i64, opening: Opening) -> Result<(), LogError> {
        if self.state.is_some() {
            return Err(LogError::Begun);
        }
        let state = State::open(&opening.clone().event())?;
        // Every field with its value, so that a later version with other defaults decides the same.
        let policy = state.policy().1.clone();
        self.append(at_us, &[Opening { policy, ..opening }.event()])?;
        self.id = self.journal.last().hash;
        self.state = Some(state);
        Ok(())
    }

    /// Takes a decision among the rows of a table, in a context; its certificate lists at most `most` actions.
    ///
    /// # Errors
    /// If the log has not begun, a row cannot be encoded, or the decision cannot be written: then it was not taken.
    pub fn decide(
        &mut self,
        at_us: i64,
        table: &Table,
        context: &Context,
        most: usize,
    ) -> Result<Certificate, LogError> {
        let before = arrival(self.begun()?, table, context)?;
        self.record(at_us, &before)?;
        let last = self.journal.last();
        let position = Position { id: self.id.to_string(), seq: last.seq, hash: last.hash.to_string() };
        let state = self.begun()?;
        let (set, _) = state.last_set().ok_or(LogError::Empty)?;
        let at_us = at_us.max(last.at_us);
        let moment = Moment { position, at: time(at_us), set, context };
        let certificate = certify(state, &moment, most)?;
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
    /// If there is no such decision, it has another reward or was dropped, or the reward is out of range.
    pub fn reward(&mut self, at_us: i64, decision: u64, reward: f64) -> Result<Recorded, LogError> {
        match self.begun()?.decision(decision)?.outcome {
            Outcome::Settled { reward: stored, .. } if stored.to_bits() == reward.to_bits() => {
                Ok(Recorded::Before)
            }
            _ => self.record(at_us, &[Event::Rewarded { decision, reward }]),
        }
    }

    /// Replaces the reward of a decision. By the same one, nothing is recorded.
    ///
    /// # Errors
    /// If there is no such decision, it has no reward, or the new one is out of range.
    pub fn correct(&mut self, at_us: i64, decision: u64, reward: f64) -> Result<Recorded, LogError> {
        match self.begun()?.decision(decision)?.outcome {
            Outcome::Settled { reward: stored, .. } if stored.to_bits() == reward.to_bits() => {
                Ok(Recorded::Before)
            }
            _ => self.record(at_us, &[Event::Corrected { decision, reward }]),
        }
    }

    /// Takes the reward of a decision back; it is outstanding again.
    ///
    /// # Errors
    /// If there is no such decision, or it has no reward.
    pub fn retract(&mut self, at_us: i64, decision: u64) -> Result<Recorded, LogError> {
        self.begun()?;
        self.record(at_us, &[Event::Retracted { decision }])
    }

    /// Records that the reward of a decision will never come. Twice is recorded once.
    ///
    /// # Errors
    /// If there is no such decision, or it has a reward.
    pub fn drop_decision(&mut self, at_us: i64, decision: u64) -> Result<Recorded, LogError> {
        match self.begun()?.decision(decision)?.outcome {
            Outcome::Dropped { .. } => Ok(Recorded::Before),
            _ => self.record(at_us, &[Event::Dropped { decision }]),
        }
    }

    /// Decides by another policy from now on.
    ///
    /// # Errors
    /// If it cannot decide in this log.
    pub fn change_policy(
        &mut self,
        at_us: i64,
        policy: &PolicyTable,
        horizon: Option<u64>,
    ) -> Result<Recorded, LogError> {
        let state = self.begun()?;
        if !state.would_change(policy, horizon)? {
            return Ok(Recorded::Before);
        }
        let (_, policy) = state.resolved(policy, horizon)?;
        self.record(at_us, &[Event::PolicyChanged { policy, horizon }])
    }

    fn begun(&self) -> Result<&State, LogError> {
        self.state.as_ref().ok_or(LogError::Empty)
    }

    /// Steps, then writes: what cannot follow is never written. If writing fails the journal takes no more, so that the state, which is ahead
    /// then, leads to nothing.
    fn record(&mut self, at_us: i64, events: &[Event]) -> Result<Recorded, LogError> {
        let state = self.state.as_mut().ok_or(LogError::Empty)?;
        let last = self.journal.last();
        for (event, seq) in events.iter().zip(last.seq + 1..) {
            state.step(seq, at_us.max(last.at_us), event)?;
        }
        self.append(at_us, events)?;
        Ok(Recorded::Now)
    }

    fn append(&mut self, at_us: i64, events: &[Event]) -> Result<(), LogError> {
        if events.is_empty() {
            return Ok(());
        }
        let bodies: Vec<String> =
            events.iter().map(|event| serde_json::to_string(event).unwrap_or_default()).collect();
        self.journal.append(at_us, &bodies.iter().map(String::as_str).collect::<Vec<_>>())?;
        Ok(())
    }
}

/// A time of the journal, which has none that cannot be written.
pub(crate) fn time(at_us: i64) -> String {
    utc(at_us).unwrap_or_default()
}

/// What a table and a context bring that the log does not know yet.
fn arrival(state: &State, table: &Table, context: &Context) -> Result<Vec<Event>, LogError> {
    let mut events = Vec::new();
    let mut recipe = Cow::Borrowed(state.recipe());
    if let Some(extension) = recipe.extension(table, context)? {
        recipe = Cow::Owned(recipe.extended(&extension)?);
        events.push(Event::RecipeExtended { extension });
    }
    // Before anything is written: a row that cannot be encoded could never be chosen.
    recipe.features_of_all(table, context)?;
    let mut next = state.actions().len() as u64;
    let mut offered = Vec::with_capacity(table.len());
    for row in table.rows() {
        let cells: Cells = recipe.cells(row)?;
        let known = state.live(row.label());
        if let Some(action) = known {
            if usize::try_from(action)
                .ok()
                .and_then(|at| state.actions().get(at))
                .is_some_and(|record| record.cells == cells)
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
        events.push(Event::SetOffered { set, actions: offered });
    }
    Ok(events)
}
