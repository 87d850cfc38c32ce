//! Parts of a comparison: runs played anywhere, as bytes, to be summed in the order of the runs.

use crate::summary::{Run, Sample, Summary};
use std::ops::Range;
use thiserror::Error;

/// The contribution of a range of runs to a [`Summary`].
///
/// It keeps every figure of every run, because sums of rounded numbers depend on their order and
/// parts may finish in any order. Its size is 24 bytes per run, policy and recorded round, and one
/// byte per run and policy.
#[derive(Clone, Debug, PartialEq)]
pub struct Part {
    pub(crate) first: u64,
    pub(crate) runs: Vec<Run>,
}

/// Why a part was refused.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum PartError {
    /// The bytes are not a part.
    #[error("these bytes are not a part of a comparison")]
    Form,
    /// The part is from a comparison with other policies or rounds.
    #[error("this part is from another comparison: {policies} policies at {rounds} rounds")]
    Shape {
        /// Its policies.
        policies: usize,
        /// Its recorded rounds.
        rounds: usize,
    },
    /// The part does not continue the summary.
    #[error("this part begins at run {found}, but the next run is {expected}")]
    Order {
        /// The next run.
        expected: u64,
        /// The part's first run.
        found: u64,
    },
}

/// Figures per policy and recorded round.
const FIGURES: usize = 3;
/// Words in the heading: first run, runs, policies, recorded rounds.
const HEADING: usize = 4;
const WORD: usize = 8;

impl Part {
    /// The numbers of its runs.
    pub fn range(&self) -> Range<u64> {
        self.first..self.first + self.runs.len() as u64
    }

    fn policies(&self) -> usize {
        self.runs.first().map_or(0, |run| run.curves.len())
    }

    fn rounds(&self) -> usize {
        self.runs.first().and_then(|run| run.curves.first()).map_or(0, Vec::len)
    }

    /// The part as bytes, the same on any machine: little-endian words, the figures of run after
    /// run, then whether `θ*` left the set.
    pub fn to_bytes(&self) -> Vec<u8> {
        let heading =
            [self.first, self.runs.len() as u64, self.policies() as u64, self.rounds() as u64];
        let mut bytes: Vec<u8> = heading.iter().flat_map(|word| word.to_le_bytes()).collect();
        for sample in self.runs.iter().flat_map(|run| run.curves.iter().flatten()) {
            for figure in [sample.regret, sample.model_error, sample.plausible] {
                bytes.extend(figure.to_le_bytes());
            }
        }
        bytes.extend(self.runs.iter().flat_map(|run| &run.left).map(|left| u8::from(*left)));
        bytes
    }

    /// Reads what [`Part::to_bytes`] wrote.
    ///
    /// # Errors
    /// If the bytes are not of that form. Figures are not checked: code that stores parts must
    /// detect damage itself.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, PartError> {
        let word = |at: usize| -> Option<[u8; WORD]> { bytes.get(at..at + WORD)?.try_into().ok() };
        let count = |place: usize| usize::try_from(u64::from_le_bytes(word(place * WORD)?)).ok();
        let read = || {
            let first = u64::from_le_bytes(word(0)?);
            let (runs, policies, rounds) = (count(1)?, count(2)?, count(3)?);
            let curves = runs.checked_mul(policies)?;
            let figures = curves.checked_mul(rounds)?.checked_mul(FIGURES * WORD)?;
            let expected = (HEADING * WORD).checked_add(figures)?.checked_add(curves)?;
            // Checked before anything is allocated, so that a false length cannot exhaust memory.
            if bytes.len() != expected || curves == 0 || rounds == 0 {
                return None;
            }
            first.checked_add(runs as u64)?;
            let (figures, left) = bytes[HEADING * WORD..].split_at(figures);
            let samples: Vec<Sample> = figures.chunks_exact(FIGURES * WORD).map(sample).collect();
            let curves: Vec<_> = samples.chunks_exact(rounds).map(<[Sample]>::to_vec).collect();
            let left: Vec<bool> = left.iter().map(|byte| *byte != 0).collect();
            let runs = curves.chunks_exact(policies).zip(left.chunks_exact(policies));
            let runs =
                runs.map(|(curves, left)| Run { curves: curves.to_vec(), left: left.to_vec() });
            Some(Self { first, runs: runs.collect() })
        };
        read().ok_or(PartError::Form)
    }
}

fn sample(bytes: &[u8]) -> Sample {
    let figure = |place: usize| {
        let mut word = [0; WORD];
        word.copy_from_slice(&bytes[place * WORD..(place + 1) * WORD]);
        f64::from_le_bytes(word)
    };
    Sample { regret: figure(0), model_error: figure(1), plausible: figure(2) }
}

impl Summary {
    /// Adds the next runs. However a comparison was divided into parts, the outcome is that of
    /// [`crate::Comparison::run`], to the last bit.
    ///
    /// # Errors
    /// If the part does not begin where the summary ends, or is from another comparison. The
    /// summary is then unchanged.
    pub fn take(&mut self, part: &Part) -> Result<(), PartError> {
        if part.first != self.runs {
            return Err(PartError::Order { expected: self.runs, found: part.first });
        }
        let (policies, rounds) = (part.policies(), part.rounds());
        if (policies, rounds) != (self.policies.len(), self.rounds.len()) {
            return Err(PartError::Shape { policies, rounds });
        }
        part.runs.iter().for_each(|run| self.add(run));
        Ok(())
    }
}
