//! The decisions of a log. The context of a decision, its forecasts and a row of its own are kept,
//! packed, while it is pending. Then they are forgotten, because the log has them: a later change
//! of the outcome first reads the line of the decision again.

use super::{Decision, Outcome, StepError};
use crate::event::RecordedForecasts;
use crate::recipe::Context;
use plausibly::Forecasts;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Blocks of this many decisions are shared by the copies of a state until one of them changes.
const BLOCK: usize = 4096;

/// All decisions, by number from 1.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Decisions {
    /// The number of decisions before those in memory.
    before: u64,
    /// Decisions before those in memory, read again.
    early: BTreeMap<u64, Decision>,
    /// Whether it is known which of these are pending.
    knows_pending: bool,
    blocks: Vec<Arc<Vec<Decision>>>,
    details: BTreeMap<u64, Details>,
    /// Whether the details of settled decisions are kept too.
    keeps_all: bool,
    pending: usize,
}

/// What only the line of a decision says: its context, its forecasts, and the parts of the chosen
/// row if that belongs to this decision alone.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Facts {
    pub(super) context: Context,
    pub(super) forecasts: Option<Forecasts>,
    pub(super) own_parts: Option<Vec<f64>>,
}

/// What is known of a decision, packed. Nothing at all for a pending decision whose line was not
/// read yet.
///
/// ```text
/// 1      which of three forecasts counts, from 1, or 0 without them; 4 is added with own parts
/// 24     the forecasts, if there are any
/// 2      the number of own parts, then 8 for each
/// rest   the pairs of the context as JSON, if it has any
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Details(Box<[u8]>);

/// Added to the first byte of details with own parts.
const OWN: u8 = 4;

impl Details {
    pub(super) fn new(facts: &Facts) -> Self {
        let Facts { context, forecasts, own_parts } = facts;
        let counts = forecasts.map_or(0, |forecasts| 1 + forecasts.counts());
        let counts = u8::try_from(counts).expect("there are three");
        let mut bytes = vec![if own_parts.is_some() { counts + OWN } else { counts }];
        if let Some(forecasts) = forecasts {
            bytes.extend(forecasts.steps().iter().flat_map(|step| step.to_le_bytes()));
        }
        if let Some(parts) = own_parts {
            let count = u16::try_from(parts.len()).expect("fewer parts than features");
            bytes.extend(count.to_le_bytes());
            bytes.extend(parts.iter().flat_map(|part| part.to_le_bytes()));
        }
        if !context.is_empty() {
            serde_json::to_writer(&mut bytes, context).expect("a context is text");
        }
        Self(bytes.into())
    }

    pub(super) fn facts(&self) -> Facts {
        let (&first, mut rest) = self.0.split_first().expect("read before it is used");
        let mut take = |count: usize| {
            let (taken, left) = rest.split_at(count);
            rest = left;
            taken
        };
        let forecasts = (first % OWN).checked_sub(1).map(|counts| {
            let (steps, _) = take(24).as_chunks::<8>();
            let steps = [0, 1, 2].map(|at| i64::from_le_bytes(steps[at]));
            Forecasts::from_steps(steps, counts.into()).expect("packed by us")
        });
        let own_parts = (first >= OWN).then(|| {
            let count = u16::from_le_bytes(take(2).try_into().expect("two bytes"));
            let (parts, _) = take(8 * usize::from(count)).as_chunks::<8>();
            parts.iter().copied().map(f64::from_le_bytes).collect()
        });
        let context = match rest {
            [] => Context::default(),
            json => serde_json::from_slice(json).expect("packed by us"),
        };
        Facts { context, forecasts, own_parts }
    }
}

/// Forecasts as the sums count them.
pub(super) fn read_forecasts(recorded: RecordedForecasts) -> Result<Forecasts, StepError> {
    let RecordedForecasts { steps, counts } = recorded;
    Ok(Forecasts::from_steps(steps, counts.into())?)
}

impl Decisions {
    /// Decisions of which the first `before` are in the log alone; `pending` of them, if that is
    /// known, are pending.
    pub(super) fn after(before: u64, pending: Option<&[u64]>) -> Self {
        let knows_pending = pending.is_some();
        let pending = pending.unwrap_or_default();
        let unread = pending.iter().map(|number| (*number, Details([].into())));
        let details = unread.collect();
        Self { before, knows_pending, details, pending: pending.len(), ..Self::default() }
    }

    /// The number of decisions.
    pub(super) fn len(&self) -> u64 {
        let in_memory =
            self.blocks.split_last().map_or(0, |(last, full)| full.len() * BLOCK + last.len());
        self.before + in_memory as u64
    }

    pub(super) fn get(&self, number: u64) -> Option<&Decision> {
        let Some(later) = number.checked_sub(self.before + 1) else {
            return self.early.get(&number);
        };
        let place = usize::try_from(later).ok()?;
        self.blocks.get(place / BLOCK)?.get(place % BLOCK)
    }

    /// Whether all decisions are in memory.
    pub(super) fn is_whole(&self) -> bool {
        self.before == 0
    }

    /// Whether there is a decision of this number that is in the log alone.
    pub(super) fn is_unread(&self, number: u64) -> bool {
        (1..=self.before).contains(&number) && !self.early.contains_key(&number)
    }

    /// Whether a decision that is in the log alone is pending; `None` if that is not known.
    pub(super) fn is_pending(&self, number: u64) -> Option<bool> {
        self.knows_pending.then(|| self.details.contains_key(&number))
    }

    /// Takes a decision back from the log.
    pub(super) fn add_early(&mut self, number: u64, decision: Decision) {
        // Known pending decisions are counted already.
        self.pending += usize::from(!self.knows_pending && decision.outcome == Outcome::Pending);
        self.early.insert(number, decision);
    }

    /// The decisions in memory, the oldest first.
    pub(super) fn iter(&self) -> impl DoubleEndedIterator<Item = &Decision> {
        self.blocks.iter().flat_map(|block| block.iter())
    }

    /// Adds a pending decision.
    pub(super) fn push(&mut self, decision: Decision, details: Details) {
        if self.blocks.last().is_none_or(|last| last.len() == BLOCK) {
            self.blocks.push(Arc::new(Vec::with_capacity(BLOCK)));
        }
        let last = self.blocks.last_mut().expect("one was added");
        Arc::make_mut(last).push(decision);
        self.details.insert(self.len(), details);
        self.pending += 1;
    }

    /// Gives a decision, which there is, another outcome.
    pub(super) fn set_outcome(&mut self, number: u64, outcome: Outcome) {
        let decision = match number.checked_sub(self.before + 1) {
            None => self.early.get_mut(&number).expect("read before its outcome changes"),
            Some(later) => {
                let place = super::index(later);
                &mut Arc::make_mut(&mut self.blocks[place / BLOCK])[place % BLOCK]
            }
        };
        let before = std::mem::replace(&mut decision.outcome, outcome);
        self.pending -= usize::from(before == Outcome::Pending);
        if outcome == Outcome::Pending {
            self.pending += 1;
            // A decision for an arm needs no details, so none were recalled.
            let none = || Details::new(&Facts::default());
            self.details.entry(number).or_insert_with(none);
        }
    }

    /// The numbers of the pending decisions, the oldest first.
    pub(super) fn pending(&self) -> impl Iterator<Item = u64> {
        let is_pending =
            |number: &u64| self.get(*number).is_none_or(|one| one.outcome == Outcome::Pending);
        self.details.keys().copied().filter(is_pending)
    }

    /// The number of pending decisions.
    pub(super) fn count_pending(&self) -> usize {
        self.pending
    }

    pub(super) fn details(&self, number: u64) -> Option<&Details> {
        self.details.get(&number).filter(|details| !details.0.is_empty())
    }

    /// Takes the details of a decision back, until [`Decisions::forget`].
    pub(super) fn recall(&mut self, number: u64, details: Details) {
        self.details.insert(number, details);
    }

    /// Forgets the details of a decision that is not pending.
    pub(super) fn forget(&mut self, number: u64) {
        let is_pending = self.get(number).is_some_and(|one| one.outcome == Outcome::Pending);
        if !is_pending && !self.keeps_all {
            self.details.remove(&number);
        }
    }

    /// Keeps the details of all decisions from now on.
    pub(super) fn keep_all(&mut self) {
        self.keeps_all = true;
    }
}
