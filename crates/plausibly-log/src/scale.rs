//! Converts rewards between the user's units and the scale of the statistics.

/// Rewards are divided by the length of their range, so that their noise is sub-Gaussian with ½ in
/// any units.
///
/// Where features have an intercept, the middle of the range becomes zero. The shift only changes
/// the intercept, and it makes the bound on θ* as small as possible. Vectors as given may have no
/// intercept; a shift could then make linear means non-linear, so zero stays zero.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Scale {
    range: (f64, f64),
    origin: Origin,
}

/// The reward that becomes zero.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Origin {
    Zero,
    Middle,
    Least,
}

impl Scale {
    pub(crate) fn new(range: (f64, f64), as_given: bool) -> Self {
        Self { range, origin: if as_given { Origin::Zero } else { Origin::Middle } }
    }

    /// From 0 to 1: a reward becomes the share of the range that it is.
    pub(crate) fn shares(range: (f64, f64)) -> Self {
        Self { range, origin: Origin::Least }
    }

    /// The length of the range.
    pub(crate) fn length(self) -> f64 {
        self.range.1 - self.range.0
    }

    /// The reward that becomes zero.
    fn centre(self) -> f64 {
        match self.origin {
            Origin::Zero => 0.0,
            Origin::Middle => self.range.0 / 2.0 + self.range.1 / 2.0,
            Origin::Least => self.range.0,
        }
    }

    /// A reward on the scale of the statistics; `None` if it is out of range.
    pub(crate) fn scaled(self, reward: f64) -> Option<f64> {
        let (low, high) = self.range;
        let scaled = (reward - self.centre()) / self.length();
        // Rounding may carry a reward slightly beyond the ends.
        let scaled = match self.origin {
            Origin::Zero => scaled,
            Origin::Middle => scaled.clamp(-0.5, 0.5),
            Origin::Least => scaled.clamp(0.0, 1.0),
        };
        (reward >= low && reward <= high).then_some(scaled)
    }

    /// The smallest and the largest reward on the scale of the statistics.
    pub(crate) fn ends(self) -> (f64, f64) {
        let (low, high) = self.range;
        let end = |reward| self.scaled(reward).expect("the ends are in the range");
        (end(low), end(high))
    }

    /// A value of the statistics in the user's units.
    pub(crate) fn unscaled(self, scaled: f64) -> f64 {
        self.centre() + self.length() * scaled
    }

    /// Whether exact sums can hold every reward of the range.
    pub(crate) fn fits(self) -> bool {
        let held =
            |reward| self.scaled(reward).is_some_and(|scaled| plausibly::quantise(scaled).is_ok());
        held(self.range.0) && held(self.range.1)
    }
}
