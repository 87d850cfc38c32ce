//! What a decision comes to, without all that a certificate says of it.

use super::derive::{Derivation, Parsed};
use super::{Grounds, GroundsError, Offered};

/// What a decision comes to. Findings of the same grounds say the same, and more.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Verdict {
    /// The place of the chosen action among those offered.
    pub(crate) chosen: usize,
    /// Whether each could still be best.
    pub(crate) plausible: Vec<bool>,
    /// To within what those that could are known.
    pub(crate) known_within: Option<f64>,
}

/// Grounds that are used for one decision after the other by the same policy, which is read once.
#[derive(Debug)]
pub(crate) struct Reused {
    pub(crate) grounds: Grounds,
    parsed: Parsed,
}

impl Reused {
    /// # Errors
    /// If they are no grounds of any decision.
    pub(crate) fn new(grounds: Grounds) -> Result<Self, GroundsError> {
        Ok(Self { parsed: Parsed::of(&grounds)?, grounds })
    }

    /// Offers other actions.
    ///
    /// # Errors
    /// If they are no set.
    pub(crate) fn offer(&mut self, actions: Vec<Offered>) -> Result<(), GroundsError> {
        self.grounds.actions = actions;
        self.parsed.set = self.grounds.set()?;
        Ok(())
    }

    /// What follows from these grounds, and from `other` ones of the same decision.
    ///
    /// # Errors
    /// If the statistics are of no model, or a policy cannot be built.
    pub(crate) fn verdicts(&self, other: &Self) -> Result<(Verdict, Verdict), GroundsError> {
        let own = Derivation::of(&self.grounds, &self.parsed, None)?;
        let others = Derivation::of(&other.grounds, &other.parsed, Some(&own))?;
        Ok((own.verdict()?, others.verdict()?))
    }
}
