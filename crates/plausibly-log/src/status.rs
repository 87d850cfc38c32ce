//! Sums up a log: what would be decided now, and how the knowledge grew. The log is read twice:
//! once for its end, once to derive certificates at evenly spread decisions.

use crate::certificate::{Certificate, Position, RuledOut, Standing, certify};
use crate::choices::Choices;
use crate::event::Event;
use crate::fold::fold;
use crate::journal::Storage;
use crate::log::LogError;
use crate::state::{Occasion, Outcome, State};
use crate::time::Time;
use serde::Serialize;
use std::collections::BTreeMap;

/// The status of a log.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Status {
    /// The certificate of the decision that would be taken now about the last set in the last
    /// context; it lists every action.
    pub now: Certificate,
    /// The number of decisions.
    pub decisions: u64,
    /// The number of settled decisions.
    pub settled: u64,
    /// The number of dropped decisions.
    pub dropped: u64,
    /// The pending decisions, the oldest first.
    pub pending: Vec<PendingDecision>,
    /// How many of the pending decisions have an outcome that is held until their deadlines.
    #[serde(skip_serializing_if = "is_zero")]
    pub reported: u64,
    /// The next deadline of a pending decision, in UTC, in a log with a window. If it has passed,
    /// the decision waits to be settled.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_deadline: Option<String>,
    /// Whether the log is paused: it takes no decisions.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub paused: bool,
    /// The pending decisions that a phase of elimination waits for. No decision can be taken before
    /// they are rewarded or dropped; `now` shows what would follow if they were dropped.
    pub waiting: Vec<u64>,
    /// One point per decision, or evenly spread points if there are too many decisions.
    pub history: Vec<Point>,
    /// Whether every decision has a point.
    pub complete: bool,
    /// How many recorded choices were derived again and compared: those of the points. All of them
    /// follow from the lines before them.
    pub checked: u64,
    /// When each action that is out of the race went out, by its number.
    pub out_since: BTreeMap<u64, OutSince>,
    /// How often each action on offer was tried, and its last reward, by its number.
    pub tried: BTreeMap<u64, Tried>,
}

/// How often an action was tried.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Tried {
    /// The number of decisions that chose it, with any outcome.
    pub tries: u64,
    /// The number of settled decisions for it.
    pub outcomes: u64,
    /// The number of pending decisions for it.
    pub pending: u64,
    /// The reward of its latest decision with a reward.
    pub last_outcome: Option<f64>,
}

/// A pending decision.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PendingDecision {
    /// Its number.
    pub decision: u64,
    /// The name of the chosen action.
    pub label: String,
    /// When it was taken, in UTC.
    pub at: String,
    /// Its age in seconds.
    pub age_seconds: f64,
}

/// The state of knowledge when a decision was taken.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Point {
    /// Its number.
    pub decision: u64,
    /// When it was taken, in UTC.
    pub at: String,
    /// The name of the chosen action.
    pub label: String,
    /// The number of actions that could still be best.
    pub plausible: u64,
    /// The number of actions on offer.
    pub offered: u64,
    /// The largest uncertainty (±) among the actions that could still be best; `null` while one of
    /// them has no outcome yet.
    pub known_within: Option<f64>,
}

/// When an action went out of the race.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct OutSince {
    /// The first point from which on the action was always out.
    pub decision: u64,
    /// The last point before that at which it could still be best; zero if there is none.
    pub last_plausible: u64,
    /// The action that ruled it out at that first point.
    pub by: u64,
}

/// The status of a log now, with at most `points` points of history.
///
/// # Cost
/// Two passes over the log, and one certificate per point.
///
/// # Errors
/// If the log is damaged or has no decision yet, or the recorded choice at one of the points does
/// not follow from the lines before it ([`LogError::Choice`]).
pub fn status<S: Storage>(
    storage: &S,
    now: impl Into<Time>,
    points: u64,
) -> Result<Status, LogError> {
    let mut last_rows = None;
    let (state, end) = fold(storage, |step| {
        if let Event::Decided { rows, .. } = step.event {
            last_rows.clone_from(rows);
        }
        Ok(())
    })?;
    let state = state.ok_or(LogError::Empty)?;
    let total = state.count_decisions();
    if total == 0 {
        return Err(LogError::Empty);
    }
    let stride = total.div_ceil(points.max(2));
    let looked_at =
        |decision: u64| decision.is_multiple_of(stride) || decision == 1 || decision == total;
    let (mut lookback, mut choices) = (Lookback::default(), Choices::default());
    let mut id = String::new();
    fold(storage, |step| {
        if let Event::Decided { decision, set, context, chosen, label, .. } = step.event
            && looked_at(*decision)
        {
            let occasion = step.occasion(*set, context);
            id.clone_from(&occasion.position.id);
            let certificate = certify(step.state, &occasion, usize::MAX)?;
            let follows = &certificate.findings.chosen;
            choices.compare(step, (*chosen, label), (follows.id, &follows.label));
            lookback.add(&certificate);
        }
        Ok(())
    })?;
    let checked = choices.all_follow()?;
    let position = Position { id, seq: end.last.seq, hash: end.last.hash.to_string() };
    let at_us = now.into().micros().max(end.last.at_us);
    let rows = last_rows.as_ref();
    let (set, _) = state.last_set().ok_or(LogError::Empty)?;
    let (at, context) = (Time::from_micros(at_us), state.last_context());
    let occasion = Occasion { position, at, set, context, rows };
    let now = certify(&state.not_waiting(), &occasion, usize::MAX)?;
    let out_since = lookback.out_since(&now);
    let dropped = state.decisions().filter(|one| one.outcome.is_dropped()).count() as u64;
    Ok(Status {
        decisions: total,
        settled: total - dropped - state.count_pending(),
        dropped,
        pending: pending(&state, at_us),
        reported: state.held() as u64,
        next_deadline: state.next_deadline().map(|deadline| deadline.to_string()),
        paused: state.is_paused(),
        waiting: state.waiting(),
        history: lookback.history,
        complete: stride == 1,
        checked,
        out_since,
        tried: tried(&state, &now),
        now,
    })
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "as serde calls it")]
fn is_zero(count: &u64) -> bool {
    *count == 0
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
                of_action.outcomes += reward.outcomes();
                of_action.last_outcome = Some(reward.average(state.reward_range()));
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
    /// By action: the last point at which it could still be best.
    last_plausible: BTreeMap<u64, u64>,
    /// By action: the first of the unbroken points since then at which it was out.
    out: BTreeMap<u64, OutSince>,
}

impl Lookback {
    fn add(&mut self, certificate: &Certificate) {
        let (grounds, findings) = (&certificate.grounds, &certificate.findings);
        for action in &findings.actions {
            match action.standing {
                Standing::Plausible => {
                    self.last_plausible.insert(action.id, grounds.decision);
                    self.out.remove(&action.id);
                }
                Standing::RuledOut(RuledOut { by, .. }) => {
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

    /// When each action that is out now went out; the present counts as one more point.
    fn out_since(&mut self, now: &Certificate) -> BTreeMap<u64, OutSince> {
        let history = self.history.len();
        self.add(now);
        self.history.truncate(history);
        let listed = |id: &u64| now.findings.actions.iter().any(|action| action.id == *id);
        self.out.iter().filter(|(id, _)| listed(id)).map(|(id, since)| (*id, *since)).collect()
    }
}
