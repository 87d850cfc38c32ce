//! A state as bytes: what a snapshot beside a log holds.
//!
//! One line of JSON with everything but the decisions, then those, of one length each. Only the version that wrote it reads it: whatever is wrong with it, everything can be had from the log.

use super::phases::Phases;
use super::{ActionRecord, Committed, Decision, Encoded, Outcome, State, setting};
use crate::json;
use crate::policy::{PolicyTable, read_policy};
use crate::recipe::{Context, Recipe};
use crate::statistics::Statistics;
use serde::{Deserialize, Serialize};

/// The form, and the fold that made it: a state by another fold would be another.
const VERSION: &str = concat!("state 1 of plausibly ", env!("CARGO_PKG_VERSION"));
/// Bytes of a decision.
const DECISION: usize = 53;

#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct Head {
    version: String,
    policy: PolicyTable,
    reward_range: (f64, f64),
    horizon: Option<u64>,
    seed: u64,
    recipe: Recipe,
    actions: Vec<ActionRecord>,
    sets: Vec<Vec<u64>>,
    contexts: Vec<Context>,
    statistics: Statistics,
    committed: Option<Committed>,
    phases: Option<Phases>,
}

impl State {
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let head = Head {
            version: VERSION.into(),
            policy: self.table.clone(),
            reward_range: self.reward_range,
            horizon: self.horizon,
            seed: self.seed,
            recipe: self.recipe.clone(),
            actions: self.actions.clone(),
            sets: self.sets.clone(),
            contexts: self.contexts.clone(),
            statistics: self.statistics.clone(),
            committed: self.committed.clone(),
            phases: self.phases.clone(),
        };
        let mut bytes = serde_json::to_vec(&head).unwrap_or_default();
        bytes.push(b'\n');
        bytes.reserve(DECISION * self.decisions.len());
        for decision in &self.decisions {
            write_decision(&mut bytes, decision);
        }
        bytes
    }

    /// The state of these bytes; none if they are not what this version writes.
    pub(crate) fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let end = bytes.iter().position(|&byte| byte == b'\n')?;
        let head = json::read(str::from_utf8(&bytes[..end]).ok()?);
        let head = head.ok().filter(|head: &Head| head.version == VERSION)?;
        let (policy, table) = read_policy(&head.policy, setting(&head.recipe), head.horizon).ok()?;
        let records = bytes[end + 1..].chunks_exact(DECISION);
        let whole = records.remainder().is_empty();
        let decisions: Vec<Decision> = records.map(read_decision).collect::<Option<_>>()?;
        let live = (0..).zip(&head.actions).filter(|(_, record)| !record.retired);
        let pending = (1..).zip(&decisions).filter(|(_, decision)| decision.outcome == Outcome::Pending);
        let state = Self {
            policy,
            table,
            reward_range: head.reward_range,
            horizon: head.horizon,
            seed: head.seed,
            live: live.map(|(action, record)| (record.label.clone(), action)).collect(),
            pending: pending.map(|(number, _)| number).collect(),
            recipe: head.recipe,
            actions: head.actions,
            sets: head.sets,
            contexts: head.contexts,
            decisions,
            statistics: head.statistics,
            committed: head.committed,
            phases: head.phases,
            encoded: Encoded::default(),
        };
        (whole && state.table == head.policy && state.is_sound()).then_some(state)
    }

    /// That no number points to nothing.
    fn is_sound(&self) -> bool {
        let (actions, sets, contexts) = (self.actions.len(), self.sets.len(), self.contexts.len());
        let known = |number: u64, count: usize| usize::try_from(number).is_ok_and(|at| at < count);
        let arms = match &self.statistics {
            Statistics::Arms(arms) => arms.len() == actions && self.recipe.dim() == 0,
            Statistics::Features { settled, all } => {
                (settled.dim(), all.dim()) == (self.recipe.dim(), self.recipe.dim())
            }
        };
        arms && self.decisions.iter().all(|decision| {
            known(decision.action, actions)
                && known(decision.set, sets)
                && known(decision.context.into(), contexts)
        })
    }
}

fn write_decision(bytes: &mut Vec<u8>, decision: &Decision) {
    let Decision { action, set, context, at_us, seq, outcome } = *decision;
    let (kind, reward, settled) = match outcome {
        Outcome::Pending => (0, 0.0, 0),
        Outcome::Settled { reward, seq } => (1, reward, seq),
        Outcome::Dropped { seq } => (2, 0.0, seq),
    };
    bytes.extend(action.to_le_bytes());
    bytes.extend(set.to_le_bytes());
    bytes.extend(context.to_le_bytes());
    bytes.extend(at_us.to_le_bytes());
    bytes.extend(seq.to_le_bytes());
    bytes.push(kind);
    bytes.extend(f64::to_le_bytes(reward));
    bytes.extend(u64::to_le_bytes(settled));
}

fn read_decision(bytes: &[u8]) -> Option<Decision> {
    let mut rest = bytes;
    let action = u64::from_le_bytes(part(&mut rest)?);
    let set = u64::from_le_bytes(part(&mut rest)?);
    let context = u32::from_le_bytes(part(&mut rest)?);
    let at_us = i64::from_le_bytes(part(&mut rest)?);
    let seq = u64::from_le_bytes(part(&mut rest)?);
    let [kind] = part(&mut rest)?;
    let reward = f64::from_le_bytes(part(&mut rest)?);
    let settled = u64::from_le_bytes(part(&mut rest)?);
    let outcome = match kind {
        0 => Outcome::Pending,
        1 => Outcome::Settled { reward, seq: settled },
        2 => Outcome::Dropped { seq: settled },
        _ => return None,
    };
    Some(Decision { action, set, context, at_us, seq, outcome })
}

/// The next bytes.
fn part<const N: usize>(rest: &mut &[u8]) -> Option<[u8; N]> {
    let (part, after) = rest.split_first_chunk()?;
    *rest = after;
    Some(*part)
}
