//! Reading a log: event by event, and decision by decision.

use crate::certificate::{Certificate, Findings, Position, Standing, Unlisted};
use crate::event::Event;
use crate::journal::{Checkpoint, End, Entry, LineHash, Storage, read, utc};
use crate::json;
use crate::log::{LogError, WrongChoice};
use crate::state::{Moment, State, StepError};

/// The fold of a log so far.
pub(crate) struct Folding {
    pub(crate) state: Option<State>,
    /// Of the first line.
    pub(crate) id: LineHash,
    /// Number and hash of the last line.
    last: (u64, LineHash),
}

impl Folding {
    pub(crate) fn new() -> Self {
        Self { state: None, id: LineHash::ZERO, last: (0, LineHash::ZERO) }
    }

    /// One line further.
    pub(crate) fn step(&mut self, entry: &Entry<'_>, event: &Event) -> Result<(), LogError> {
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

pub(crate) fn parse(entry: &Entry<'_>) -> Result<Event, LogError> {
    json::read(entry.body)
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

/// What a log says was chosen beside what follows from the lines before it.
#[derive(Debug, Default)]
pub(crate) struct Choices {
    checked: u64,
    differing: u64,
    /// The first that does not follow.
    first: Option<WrongChoice>,
}

impl Choices {
    /// Compares the choice that a step records, an action's number and name, with the one that
    /// follows.
    pub(crate) fn compare(&mut self, step: &Step<'_>, recorded: (u64, &str), follows: (u64, &str)) {
        self.checked += 1;
        if recorded.0 == follows.0 {
            return;
        }
        self.differing += 1;
        self.first.get_or_insert_with(|| WrongChoice {
            seq: step.entry.seq,
            decision: step.state.decisions().len() as u64 + 1,
            recorded: recorded.1.into(),
            follows: follows.1.into(),
        });
    }

    /// How many were compared.
    ///
    /// # Errors
    /// If one of them does not follow.
    pub(crate) fn all_follow(self) -> Result<u64, LogError> {
        let Self { checked, differing, first } = self;
        first.map_or(Ok(checked), |first| Err(LogError::Choice { first, differing, checked }))
    }
}

/// Reads a log event by event; `visit` sees all but the first. Returns the state after the last,
/// `None` for a log without events.
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

/// The certificate of a decision of a log, from nothing but its lines; it lists at most `most`
/// actions.
///
/// # Errors
/// If the log is damaged, or has no such decision.
pub fn certificate<S: Storage>(
    storage: &S,
    decision: u64,
    most: usize,
) -> Result<Certificate, LogError> {
    let mut found = None;
    let (state, _) = fold(storage, |step| {
        if let Event::Decided { decision: number, set, context, chosen, label } = step.event
            && *number == decision
        {
            let moment = Moment {
                position: step.position(),
                at: time(step.entry.at_us),
                set: *set,
                context,
            };
            let certificate = certify(step.state, &moment, most)?;
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

/// The certificate of the decision that would be taken now, listing at most `most` actions.
///
/// First come the few that everything it says hangs on, then those that could still be best, then
/// those with the largest upper bounds.
///
/// # Errors
/// If the set is unknown, or a row cannot be encoded.
pub fn certify(state: &State, moment: &Moment<'_>, most: usize) -> Result<Certificate, LogError> {
    let grounds = state.grounds(moment.clone(), None)?;
    let (findings, keystones) = Findings::derive_with_keystones(&grounds)?;
    let most = most.max(keystones.len());
    if findings.actions.len() <= most {
        return Ok(Certificate::sealed(grounds, findings));
    }
    let actions = &findings.actions;
    let mut order: Vec<usize> = (0..actions.len()).collect();
    let last = |place: usize| {
        // What everything hangs on, then those that could still be best, then the closest to it.
        let plausible = actions[place].standing == Standing::Plausible;
        (!keystones.contains(&place), !plausible)
    };
    order.sort_by(|a, b| {
        last(*a).cmp(&last(*b)).then(actions[*b].upper.total_cmp(&actions[*a].upper))
    });
    let mut listed = order[..most].to_vec();
    listed.sort_unstable();
    let plausible =
        order[most..].iter().filter(|place| actions[**place].standing == Standing::Plausible);
    let plausible = plausible.count() as u64;
    let follows = grounds.choice_follows(plausible)?;
    let unlisted = Unlisted {
        actions: (actions.len() - listed.len()) as u64,
        plausible,
        chosen: (!follows).then_some(findings.chosen.id),
    };
    let partial = Certificate::new(state.grounds(moment.clone(), Some((&listed, unlisted)))?)?;
    // A list must never change what was decided.
    let same = partial.findings.chosen.id == findings.chosen.id;
    Ok(if same { partial } else { Certificate::sealed(grounds, findings) })
}

/// A time of the journal, which has none that cannot be written.
pub(crate) fn time(at_us: i64) -> String {
    utc(at_us).unwrap_or_default()
}
