//! How many claims hold.

use super::{Claim, Measured, Reading, Reproduction};
use crate::judge::Verdict;

/// The verdicts on the claims that count as evidence.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Claims that hold.
    pub hold: usize,
    /// Claims that do not.
    pub fail: usize,
    /// Claims that the runs do not decide.
    pub open: usize,
    /// Whether (a) on Linear was judged and not counted: the reading was chosen to make it hold.
    pub chose_reading: bool,
}

impl Tally {
    /// Claims that were counted.
    pub fn counted(&self) -> usize {
        self.hold + self.fail + self.open
    }
}

impl Reproduction {
    /// Counts the claims that the paper makes about the experiments that were run.
    ///
    /// Claim (a) on Linear is not counted under the adopted reading. The reading was chosen to make
    /// this claim hold, so its verdict is no evidence for the paper.
    pub fn tally(&self) -> Tally {
        let mut tally = Tally::default();
        for measured in &self.experiments {
            for claim in measured.claims() {
                tally.chose_reading |= self.chose_reading(measured, &claim);
                if self.counts(measured, &claim) {
                    match claim.verdict {
                        Verdict::Holds => tally.hold += 1,
                        Verdict::DoesNotHold => tally.fail += 1,
                        Verdict::Undecided => tally.open += 1,
                    }
                }
            }
        }
        tally
    }

    /// Whether the verdict on a claim is evidence: the paper states the claim, and it did not
    /// choose the reading.
    pub fn counts(&self, measured: &Measured, claim: &Claim) -> bool {
        claim.stated && !self.chose_reading(measured, claim)
    }

    /// Whether this claim decided the reading of the paper.
    pub(super) fn chose_reading(&self, measured: &Measured, claim: &Claim) -> bool {
        self.reading == Reading::Adopted && measured.study == "linear" && claim.key == "a"
    }
}
