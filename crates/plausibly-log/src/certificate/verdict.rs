//! The verdict of a decision, which is cheaper than all its findings. Replays derive two per
//! decision.

use super::derive::{Derivation, Parsed};
use super::{Grounds, GroundsError, Offered};

/// The choice and the race. Findings of the same grounds agree with it, and say more.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Verdict {
    /// The place of the chosen action among those offered.
    pub(crate) chosen: usize,
    /// Whether each action could still be best.
    pub(crate) plausible: Vec<bool>,
    /// The largest uncertainty (±) among those that could still be best.
    pub(crate) known_within: Option<f64>,
}

/// Grounds that consecutive decisions of the same policy reuse, so that the policy is parsed once.
#[derive(Debug)]
pub(crate) struct Reused {
    pub(crate) grounds: Grounds,
    parsed: Parsed,
}

impl Reused {
    /// # Errors
    /// If no decision can have these grounds.
    pub(crate) fn new(grounds: Grounds) -> Result<Self, GroundsError> {
        Ok(Self { parsed: Parsed::of(&grounds)?, grounds })
    }

    /// Replaces the actions on offer.
    ///
    /// # Errors
    /// If the actions are not a set.
    pub(crate) fn offer(&mut self, actions: Vec<Offered>) -> Result<(), GroundsError> {
        self.grounds.actions = actions;
        self.parsed.set = self.grounds.set()?;
        Ok(())
    }

    /// The verdicts of these grounds, and of `other` grounds of the same decision.
    ///
    /// # Errors
    /// If the statistics do not describe a model, or a policy cannot be built.
    pub(crate) fn verdicts(&self, other: &Self) -> Result<(Verdict, Verdict), GroundsError> {
        let own = Derivation::of(&self.grounds, &self.parsed, None)?;
        let others = Derivation::of(&other.grounds, &other.parsed, Some(&own))?;
        Ok((own.verdict()?, others.verdict()?))
    }
}
