//! What came of a decision: one reward, or how many of many outcomes were yes.

use crate::event::Event;
use crate::scale::Scale;
use plausibly::{Tally, TallyError};
use std::fmt;

/// What came of a decision: one reward, or how many of many outcomes were yes.
///
/// A yes pays the largest reward of the log and a no the smallest, so 2,100 of 10,000 count as
/// exactly as much as 10,000 single rewards.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reward {
    /// The reward; with `of`, how many outcomes were yes.
    pub(crate) value: f64,
    /// The number of outcomes, if they are counted.
    pub(crate) of: Option<u64>,
}

/// Why a reward is not one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Unfit {
    /// Beyond the range of rewards.
    Range,
    /// Counts that cannot be.
    Counts(TallyError),
    /// A number of outcomes that were yes, but not a whole one.
    Whole,
}

impl From<f64> for Reward {
    fn from(value: f64) -> Self {
        // Adding zero turns −0 into 0, so that both have the same bits.
        Self { value: value + 0.0, of: None }
    }
}

impl Reward {
    /// This many of `of` outcomes were yes.
    pub fn counts(yes: u64, of: u64) -> Self {
        Self { value: yes as f64, of: Some(of) }
    }

    /// The reward; where outcomes are counted, how many were yes.
    pub fn value(&self) -> f64 {
        self.value
    }

    /// The number of outcomes, where they are counted.
    pub fn of(&self) -> Option<u64> {
        self.of
    }

    /// The average outcome, in units of reward.
    pub fn average(&self, (low, high): (f64, f64)) -> f64 {
        match self.of {
            Some(of) => low + (high - low) * (self.value / of as f64),
            None => self.value,
        }
    }

    /// How many outcomes it stands for.
    pub fn outcomes(&self) -> u64 {
        self.of.unwrap_or(1)
    }

    pub(crate) fn came(self, decision: u64) -> Event {
        Event::Rewarded { decision, reward: self.value, of: self.of, at_deadline: false, by: None }
    }

    /// It came before the deadline of its decision.
    pub(crate) fn reported(self, decision: u64) -> Event {
        Event::Reported { decision, reward: self.value, of: self.of, by: None }
    }

    /// It came after the deadline of its decision.
    pub(crate) fn late(self, decision: u64) -> Event {
        Event::Late { decision, reward: self.value, of: self.of, by: None }
    }

    pub(crate) fn corrected(self, decision: u64) -> Event {
        Event::Corrected { decision, reward: self.value, of: self.of, by: None }
    }

    /// Whether both are the same, to the bit.
    pub(crate) fn is(&self, other: Self) -> bool {
        self.value.to_bits() == other.value.to_bits() && self.of == other.of
    }

    /// The outcomes on the scale of the statistics.
    pub(crate) fn tally(&self, scale: Scale) -> Result<Tally, Unfit> {
        let Some(of) = self.of else {
            let scaled = scale.scaled(self.value).ok_or(Unfit::Range)?;
            return Tally::of(&[scaled]).map_err(Unfit::Counts);
        };
        // Doubles hold every whole number up to 2⁵³.
        let whole =
            self.value.fract() == 0.0 && (0.0..=9_007_199_254_740_992.0).contains(&self.value);
        if !whole {
            return Err(Unfit::Whole);
        }
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "just checked")]
        let yes = self.value as u64;
        let (low, high) = scale.ends();
        Tally::yes_no(yes, of, low, high).map_err(Unfit::Counts)
    }
}

impl fmt::Display for Reward {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.of {
            Some(of) => write!(f, "{} of {of}", self.value),
            None => write!(f, "{}", self.value),
        }
    }
}
