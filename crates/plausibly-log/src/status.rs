//! How a log stands: what is known now, and how it came to be.

use crate::certificate::{Certificate, Position, Standing, certify};
use crate::choices::Choices;
use crate::event::Event;
use crate::fold::fold;
use crate::journal::Storage;
use crate::log::LogError;
use crate::recipe::Context;
use crate::state::{Occasion, Outcome, State};
use crate::time::Time;
use serde::Serialize;
use std::collections::BTreeMap;

/// How a log stands.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Status {
    /// What would be decided now, over the last set and in the last context, with what is known of
    /// every action.
    pub now: Certificate,
    /// Decisions so far.
    pub decisions: u64,
    /// Those whose rewards have come.
    pub settled: u64,
    /// Those whose rewards never will.
    pub dropped: u64,
    /// Those whose rewards are outstanding, the oldest first.
    pub pending: Vec<PendingDecision>,
    /// Those that a phase of elimination waits for: before their rewards come or they are dropped,
    /// no decision can be taken. `now` is then what would follow if they were dropped.
    pub waiting: Vec<u64>,
    /// How it came to be: one point a decision, or evenly many where there are more of them.
    pub history: Vec<Point>,
    /// Whether every decision has its point.
    pub complete: bool,
    /// How many recorded choices were derived again: those of the points. All of them follow from
    /// the lines before them.
    pub checked: u64,
    /// Since when each action that is out has been out, by its number.
    pub out_since: BTreeMap<u64, OutSince>,
    /// How often each action on offer was tried, and what came of it last, by its number.
    pub tried: BTreeMap<u64, Tried>,
}

/// How often an action was tried.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Tried {
    /// Decisions that chose it, whatever became of them.
    pub tries: u64,
    /// Those whose rewards have come.
    pub outcomes: u64,
    /// Those whose rewards are outstanding.
    pub pending: u64,
    /// The reward of the latest of its decisions that has one.
    pub last_outcome: Option<f64>,
}

/// A decision whose reward is outstanding.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PendingDecision {
    /// Its number.
    pub decision: u64,
    /// What was chosen.
    pub label: String,
    /// When, in UTC.
    pub at: String,
    /// Its age in seconds.
    pub age_seconds: f64,
}

/// What was known when a decision was taken.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Point {
    /// Its number.
    pub decision: u64,
    /// When, in UTC.
    pub at: String,
    /// What was chosen.
    pub label: String,
    /// How many could still be best.
    pub plausible: u64,
    /// Of how many on offer.
    pub offered: u64,
    /// To within what those were known; `null` while one of them was never tried.
    pub known_within: Option<f64>,
}

/// Since when an action is out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct OutSince {
    /// The first decision from which on it was found out at every look.
    pub decision: u64,
    /// The last one before at which it was looked at and could still be best; zero if there is
    /// none.
    pub last_plausible: u64,
    /// Which action ruled it out there.
    pub by: u64,
}

/// How a log stands now, with at most `points` looks back.
///
/// # Cost
/// One fold of the log, and a certificate for each point.
///
/// # Errors
/// If the log is damaged or has no decision yet, or what it says was chosen at one of the points
/// does not follow ([`LogError::Choice`]).
pub fn status<S: Storage>(
    storage: &S,
    now: impl Into<Time>,
    points: u64,
) -> Result<Status, LogError> {
    let (state, end) = fold(storage, |_| Ok(()))?;
    let state = state.ok_or(LogError::Empty)?;
    let total = state.decisions().len() as u64;
    let Some(last) = state.decisions().last() else {
        return Err(LogError::Empty);
    };
    let stride = total.div_ceil(points.max(2));
    let looked_at =
        |decision: u64| decision.is_multiple_of(stride) || decision == 1 || decision == total;
    let (mut looks, mut choices) = (Lookback::default(), Choices::default());
    let mut id = String::new();
    fold(storage, |step| {
        if let Event::Decided { decision, set, context, chosen, label } = step.event {
            if id.is_empty() {
                id = step.position().id;
            }
            if looked_at(*decision) {
                let occasion = step.occasion(*set, context);
                let certificate = certify(step.state, &occasion, usize::MAX)?;
                let follows = &certificate.findings.chosen;
                choices.compare(step, (*chosen, label), (follows.id, &follows.label));
                looks.look(&certificate);
            }
        }
        Ok(())
    })?;
    let checked = choices.all_follow()?;
    let position = Position { id, seq: end.last.seq, hash: end.last.hash.to_string() };
    let at_us = now.into().micros().max(end.last.at_us);
    let context: &Context = state.context(last);
    let (set, _) = state.last_set().ok_or(LogError::Empty)?;
    let at = Time::from_micros(at_us);
    let occasion = Occasion { position, at, set, context };
    let now = certify(&state.not_waiting(), &occasion, usize::MAX)?;
    let out_since = looks.out_since(&now);
    Ok(Status {
        decisions: total,
        settled: count(&state, |outcome| matches!(outcome, Outcome::Settled { .. })),
        dropped: count(&state, |outcome| matches!(outcome, Outcome::Dropped { .. })),
        pending: pending(&state, at_us),
        waiting: state.waiting(),
        history: looks.history,
        complete: stride == 1,
        checked,
        out_since,
        tried: tried(&state, &now),
        now,
    })
}

fn count(state: &State, which: impl Fn(Outcome) -> bool) -> u64 {
    state.decisions().iter().filter(|decision| which(decision.outcome)).count() as u64
}

fn tried(state: &State, now: &Certificate) -> BTreeMap<u64, Tried> {
    let on_offer = now.findings.actions.iter().map(|action| (action.id, Tried::default()));
    let mut tried: BTreeMap<u64, Tried> = on_offer.collect();
    for decision in state.decisions() {
        let Some(of_action) = tried.get_mut(&decision.action) else { continue };
        of_action.tries += 1;
        match decision.outcome {
            Outcome::Pending => of_action.pending += 1,
            Outcome::Settled { reward, .. } => {
                of_action.outcomes += 1;
                of_action.last_outcome = Some(reward);
            }
            Outcome::Dropped { .. } => {}
        }
    }
    tried
}

fn pending(state: &State, now_us: i64) -> Vec<PendingDecision> {
    let described = state.pending().filter_map(|number| {
        let decision = state.decision(number).ok()?;
        Some(PendingDecision {
            decision: number,
            label: state.label_of(number).ok()?.into(),
            at: Time::from_micros(decision.at_us).to_string(),
            age_seconds: (now_us - decision.at_us) as f64 / 1e6,
        })
    });
    described.collect()
}

#[derive(Default)]
struct Lookback {
    history: Vec<Point>,
    /// By action: the last look at which it was plausible, and the first of the unbroken looks
    /// since at which it was out.
    last_plausible: BTreeMap<u64, u64>,
    out: BTreeMap<u64, OutSince>,
}

impl Lookback {
    fn look(&mut self, certificate: &Certificate) {
        let (grounds, findings) = (&certificate.grounds, &certificate.findings);
        for action in &findings.actions {
            match action.standing {
                Standing::Plausible => {
                    self.last_plausible.insert(action.id, grounds.decision);
                    self.out.remove(&action.id);
                }
                Standing::RuledOut { by, .. } => {
                    let last_plausible = self.last_plausible.get(&action.id).copied().unwrap_or(0);
                    let since = OutSince { decision: grounds.decision, last_plausible, by };
                    self.out.entry(action.id).or_insert(since);
                }
            }
        }
        self.history.push(Point {
            decision: grounds.decision,
            at: grounds.at.clone(),
            label: findings.chosen.label.clone(),
            plausible: findings.plausible,
            offered: grounds.offered() as u64,
            known_within: findings.known_within,
        });
    }

    /// For the actions that are out now; the look of now counts as one more.
    fn out_since(&mut self, now: &Certificate) -> BTreeMap<u64, OutSince> {
        let history = self.history.len();
        self.look(now);
        self.history.truncate(history);
        let listed = |id: &u64| now.findings.actions.iter().any(|action| action.id == *id);
        self.out.iter().filter(|(id, _)| listed(id)).map(|(id, since)| (*id, *since)).collect()
    }
}
