//! Rewards between a person's units and those that statistics are kept in.

/// Rewards are divided by the length of their range, so that their noise is sub-Gaussian with ½
/// whatever the units.
///
/// Where features have an intercept, the middle of the range becomes zero: a shift is then only
/// another intercept, and it makes the bound on θ* as small as it can be. Vectors as they are given
/// need not have one. There a shift would make means that are linear in the features ones that are
/// not, so zero stays zero.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Scale {
    range: (f64, f64),
    centred: bool,
}

impl Scale {
    pub(crate) fn new(range: (f64, f64), as_given: bool) -> Self {
        Self { range, centred: !as_given }
    }

    /// The length of the range.
    pub(crate) fn length(self) -> f64 {
        self.range.1 - self.range.0
    }

    /// What becomes zero.
    fn centre(self) -> f64 {
        if self.centred { self.range.0 / 2.0 + self.range.1 / 2.0 } else { 0.0 }
    }

    /// A reward as statistics have it; none if it is out of range.
    pub(crate) fn scaled(self, reward: f64) -> Option<f64> {
        let (low, high) = self.range;
        let scaled = (reward - self.centre()) / self.length();
        // Rounding may carry a quotient around the middle beyond the ends.
        let scaled = if self.centred { scaled.clamp(-0.5, 0.5) } else { scaled };
        (reward >= low && reward <= high).then_some(scaled)
    }

    /// A value of statistics in the person's units.
    pub(crate) fn unscaled(self, scaled: f64) -> f64 {
        self.centre() + self.length() * scaled
    }

    /// Whether every reward of the range is one that exact sums can hold.
    pub(crate) fn fits(self) -> bool {
        let held =
            |reward| self.scaled(reward).is_some_and(|scaled| plausibly::quantise(scaled).is_ok());
        held(self.range.0) && held(self.range.1)
    }
}
