//! Whether rewards have had enough distinct values to be measurements.

use crate::state::{Reader, StateError, Writer, holds};

/// Fewer distinct values than this are no measurements: yes or no, or counts of few.
const ENOUGH: usize = 5;

/// The first five distinct values among rewards.
///
/// A normal distribution has no value twice, so five rewards are five values, and five rewards are
/// fewer than any verdict needs: measurements are never held up. Yes/no rewards have two values for
/// good.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Values(Vec<f64>);

impl Values {
    pub(super) fn among(rewards: &[f64]) -> Self {
        let mut distinct = Self::default();
        for reward in rewards {
            distinct.see(*reward);
        }
        distinct
    }

    pub(super) fn see(&mut self, reward: f64) {
        // Adding zero makes one zero of two.
        let reward = reward + 0.0;
        if self.0.len() < ENOUGH && self.0.iter().all(|seen| seen.to_bits() != reward.to_bits()) {
            self.0.push(reward);
        }
    }

    pub(super) fn are_enough(&self) -> bool {
        self.0.len() == ENOUGH
    }

    pub(super) fn write(&self, out: &mut Writer) {
        out.numbers(&self.0);
    }

    pub(super) fn read(from: &mut Reader<'_>) -> Result<Self, StateError> {
        let values = from.some_numbers("values")?;
        let distinct = Self::among(&values);
        holds("values", distinct.0 == values)?;
        Ok(distinct)
    }
}
