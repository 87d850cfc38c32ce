//! What a milestone keeps of a state: the sums, and what else the lines before it add up to. Its
//! settings, actions and recipe are not kept, because the events that make them are few and are
//! read again in the log.

use super::decisions::Decisions;
use super::keys::Keys;
use super::window::{KeptOutcome, Windowed};
use super::{Rows, Seen, State, StepError, index};
use crate::certificate::Amended;
use crate::event::Event;
use crate::recipe::Context;
use crate::statistics::{Arm, Statistics};
use plausibly::{Ledger, RowSums, Tally};
use serde::{Deserialize, Serialize};

/// More rows than this are not kept: a milestone would cost more than reading the lines.
const MOST_ROWS: usize = 1024;

/// What the lines up to a milestone add up to.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Kept {
    pub(crate) decisions: u64,
    pub(crate) sets: u64,
    last_set: Option<u64>,
    last_context: Context,
    seen: Seen,
    amended: Amended,
    paused: bool,
    /// The actions that a decision has chosen.
    taken: Vec<u64>,
    sums: KeptSums,
    rows: Option<[Vec<KeptRow>; 2]>,
}

/// Sums as hexadecimal bytes.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct KeptSums {
    settled: Option<String>,
    all: Option<String>,
    arms: Option<Vec<(String, u64)>>,
}

/// A row of features, by its bits, and what it has paid.
#[derive(Clone, Debug, Deserialize, Serialize)]
struct KeptRow(Vec<u64>, String);

/// The pending decisions and the keys, without which no new lines can follow.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Waiting {
    pending: Vec<u64>,
    keys: Keys,
    /// The outcomes that are held for deadlines, and those that came too late.
    outcomes: Option<[Vec<KeptOutcome>; 2]>,
}

/// Kept values that make no state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Malformed;

impl State {
    /// Whether this event makes settings, actions or the recipe, and so is read again.
    pub(crate) fn is_structure(event: &Event) -> bool {
        matches!(
            event,
            Event::Opened { .. }
                | Event::PolicyChanged { .. }
                | Event::OutcomesChanged { .. }
                | Event::RecipeExtended { .. }
                | Event::ActionAdded { .. }
                | Event::ActionRetired { .. }
        )
    }

    /// What a milestone here keeps; `None` if decisions depend on more than that: on the phases of
    /// an elimination, on the sums that a policy committed to, on the order of outcomes (`bell`),
    /// or on very many rows.
    pub(crate) fn kept(&self) -> Option<Kept> {
        let commits = self.policy.commits_after(self.horizon.unwrap_or(1)).is_some();
        let too_much = commits
            || self.committed.is_some()
            || self.phases.is_some()
            || self.policy.is_bell()
            || self.rows.as_ref().is_some_and(|rows| rows.len() > MOST_ROWS);
        if too_much {
            return None;
        }
        let taken = (0..).zip(&self.actions).filter(|(_, action)| action.taken);
        Some(Kept {
            decisions: self.count_decisions(),
            sets: self.sets.len() as u64,
            last_set: self.last_set,
            last_context: self.last_context.clone(),
            seen: self.seen,
            amended: self.amended,
            paused: self.paused,
            taken: taken.map(|(id, _)| id).collect(),
            sums: KeptSums::of(&self.statistics),
            rows: self.rows.as_ref().map(|rows| rows.both().map(kept_rows)),
        })
    }

    /// The keys and the pending decisions.
    pub(crate) fn waiting_and_keys(&self) -> Waiting {
        Waiting {
            pending: self.pending().collect(),
            keys: self.keys.clone(),
            outcomes: self.windowed.as_ref().map(Windowed::outcomes),
        }
    }

    /// Applies an event that makes structure, while everything else is still missing. It came after
    /// this number of decisions, on which the rules of an upgraded log depend.
    pub(crate) fn rebuild(&mut self, event: &Event, decisions: u64) -> Result<(), StepError> {
        self.decisions = Decisions::after(decisions, None);
        // A model of rows may begin here; its sums are restored later.
        self.keep_rows();
        self.apply_structure(event)
    }

    /// Takes what a milestone kept. Earlier decisions and sets are read when they are needed.
    pub(crate) fn restore(
        &mut self,
        kept: &Kept,
        waiting: Option<&Waiting>,
    ) -> Result<(), Malformed> {
        let dim = self.recipe.dim();
        self.statistics = kept.sums.read(dim, self.actions.len()).ok_or(Malformed)?;
        self.rows = match &kept.rows {
            None => None,
            Some(both) => Some(Rows::restored(dim, both).ok_or(Malformed)?),
        };
        for id in &kept.taken {
            self.actions.get_mut(index(*id)).ok_or(Malformed)?.taken = true;
        }
        self.last_set = kept.last_set;
        self.last_context = kept.last_context.clone();
        (self.seen, self.amended, self.paused) = (kept.seen, kept.amended, kept.paused);
        if let Some(windowed) = &mut self.windowed {
            windowed.restore(waiting.and_then(|waiting| waiting.outcomes.as_ref()));
        }
        let pending = waiting.map(|waiting| waiting.pending.as_slice());
        self.decisions = Decisions::after(kept.decisions, pending);
        self.keys = waiting.map_or_else(Keys::default, |waiting| waiting.keys.clone());
        let sets = usize::try_from(kept.sets).map_err(|_huge| Malformed)?;
        self.sets = vec![[].into(); sets];
        self.set_of.clear();
        Ok(())
    }
}

impl KeptSums {
    fn of(statistics: &Statistics) -> Self {
        let arms = |arms: &[Arm]| {
            arms.iter().map(|arm| (hex(&arm.earned.to_bytes()), arm.pending)).collect()
        };
        match statistics {
            Statistics::Features { settled, all, earned } => Self {
                settled: Some(hex(&settled.to_bytes())),
                all: Some(hex(&all.to_bytes())),
                arms: earned.as_deref().map(arms),
            },
            Statistics::Arms(own) => Self { settled: None, all: None, arms: Some(arms(own)) },
        }
    }

    fn read(&self, dim: usize, actions: usize) -> Option<Statistics> {
        let ledger = |text: &String| {
            Ledger::from_bytes(&bytes(text)?).ok().filter(|ledger| ledger.dim() == dim)
        };
        let arm = |(earned, pending): &(String, u64)| {
            let earned = Tally::from_bytes(bytes(earned)?.as_slice().try_into().ok()?).ok()?;
            Some(Arm { earned, pending: *pending })
        };
        let arms = |arms: &Vec<_>| -> Option<Vec<Arm>> {
            (arms.len() == actions).then(|| arms.iter().map(arm).collect())?
        };
        Some(match (self, dim) {
            (Self { settled: Some(settled), all: Some(all), arms: earned }, 1..) => {
                let earned = match earned {
                    None => None,
                    Some(earned) => Some(arms(earned)?),
                };
                Statistics::Features { settled: ledger(settled)?, all: ledger(all)?, earned }
            }
            (Self { settled: None, all: None, arms: Some(own) }, 0) => Statistics::Arms(arms(own)?),
            _ => return None,
        })
    }
}

fn kept_rows(rows: &RowSums) -> Vec<KeptRow> {
    let bits = |features: Vec<f64>| features.into_iter().map(f64::to_bits).collect();
    rows.iter().map(|(row, paid)| KeptRow(bits(row), hex(&paid.to_bytes()))).collect()
}

impl Rows {
    fn restored(dim: usize, both: &[Vec<KeptRow>; 2]) -> Option<Self> {
        let read = |kept: &Vec<KeptRow>| {
            let mut rows = RowSums::new(dim);
            for KeptRow(bits, paid) in kept {
                let features: Vec<f64> = bits.iter().copied().map(f64::from_bits).collect();
                let paid = Tally::from_bytes(bytes(paid)?.as_slice().try_into().ok()?).ok()?;
                if features.len() != dim {
                    return None;
                }
                rows.add(&features, &paid).ok()?;
            }
            Some(rows)
        };
        let [settled, pending] = both;
        Some(Self { settled: read(settled)?, pending: read(pending)? })
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]).map(digit).collect()
}

fn digit(value: u8) -> char {
    char::from_digit(value.into(), 16).expect("less than 16")
}

fn bytes(hex: &str) -> Option<Vec<u8>> {
    let (pairs, []) = hex.as_bytes().as_chunks::<2>() else { return None };
    let value = |digit: u8| u8::try_from(char::from(digit).to_digit(16)?).ok();
    pairs.iter().map(|[high, low]| Some(value(*high)? << 4 | value(*low)?)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hexadecimal_bytes_come_back() {
        let all: Vec<u8> = (0..=255).collect();
        assert_eq!(bytes(&hex(&all)).unwrap(), all);
        assert_eq!(bytes("0"), None);
        assert_eq!(bytes("0g"), None);
        assert_eq!(bytes("é"), None);
    }
}
