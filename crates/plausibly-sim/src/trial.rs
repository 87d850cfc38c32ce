//! How many outcomes a verdict takes, asked before anything was decided.
//!
//! A run simulates the policy that a log has by default, on choices that are judged by their own
//! outcomes. A choice gets outcomes in batches of about a thirtieth of those it has, and the policy
//! looks at them after each batch. This is nearly the same policy, a run of millions of outcomes
//! takes milliseconds, and looking less often can only delay a verdict.

mod law;
mod play;
mod times;

use crate::comparison::{Monitor, RunError, in_order};
use law::Law;
use std::num::NonZeroUsize;
use thiserror::Error;

pub use times::Times;

/// Choices to be told apart: one differs from all others, and the others are equal.
///
/// Single outcomes have two values. Without a scatter these are the ends of the range, which is
/// what yes/no outcomes are, and the most that outcomes in the range can scatter.
///
/// # Example
/// Six choices, yes/no outcomes near 5 %, and a difference of 20 points:
/// ```
/// use plausibly_sim::{Case, Effort, Trial};
/// let trial = Trial::new(6, (0.0, 1.0), 0.05, 0.2, None)?;
/// let effort = Effort { runs: 40, seed: 1, longest: 1_000_000 };
/// let times = trial.simulate(Case::OneBetter, effort, std::num::NonZeroUsize::MIN, &())?;
/// assert!(times.median() < times.cautious());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Trial {
    choices: usize,
    range: (f64, f64),
    usual: f64,
    difference: f64,
    scatter: Option<f64>,
}

/// Which choice differs from the others, and the verdict that ends a run.
///
/// Where all others are at least the difference behind the best, it is found at the latest about as
/// in [`Case::OneBetter`]. Where some are closer, it takes longer, without any limit; but a choice
/// that is the difference behind is out at the latest about as in [`Case::OneWorse`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Case {
    /// One is better than the others; the verdict is that it alone is left.
    OneBetter,
    /// One is worse than the others; the verdict is that it is out.
    OneWorse,
}

/// Why there can be no such trial. Amounts are in units of outcomes.
#[derive(Clone, Copy, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum TrialError {
    /// Nothing to compare.
    #[error("a verdict compares at least 2 choices, and this is {choices}")]
    Choices {
        /// How many there are.
        choices: usize,
    },
    /// Ends that are not those of a range.
    #[error("outcomes from {low} to {high} are not a range")]
    Range {
        /// The lower end.
        low: f64,
        /// The upper end.
        high: f64,
    },
    /// A usual average that outcomes cannot have.
    #[error("an average of {usual} is impossible for outcomes from {low} to {high}")]
    Usual {
        /// The average.
        usual: f64,
        /// The least outcome.
        low: f64,
        /// The largest outcome.
        high: f64,
    },
    /// A difference that is none.
    #[error("a difference of {difference} is not one: it must be above 0")]
    Difference {
        /// The difference.
        difference: f64,
    },
    /// A best choice that outcomes cannot have.
    #[error(
        "no choice can be better than {usual} by {difference}, because outcomes end at {high}; \
         take a smaller difference or a lower usual average"
    )]
    Beyond {
        /// The usual average.
        usual: f64,
        /// The difference.
        difference: f64,
        /// The largest outcome.
        high: f64,
    },
    /// A scatter that is none.
    #[error("a scatter of {scatter} is not one: it must be above 0")]
    NoScatter {
        /// The scatter.
        scatter: f64,
    },
    /// A scatter that the range has no room for.
    #[error(
        "outcomes from {low} to {high} with an average of {average} scatter by at most {}, not \
         by {scatter}", three_digits(*.most)
    )]
    Scatter {
        /// The scatter.
        scatter: f64,
        /// The average it belongs to.
        average: f64,
        /// The most that outcomes of this average scatter.
        most: f64,
        /// The least outcome.
        low: f64,
        /// The largest outcome.
        high: f64,
    },
}

/// The number with its first three digits.
fn three_digits(most: f64) -> f64 {
    let unit = libm::pow(10.0, 2.0 - libm::floor(libm::log10(most)));
    (most * unit).floor() / unit
}

/// How much to simulate, and from which seed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Effort {
    /// Independent runs.
    pub runs: u64,
    /// Seed of all randomness.
    pub seed: u64,
    /// A run ends after this many outcomes, also without a verdict.
    pub longest: u64,
}

impl Trial {
    /// `choices` with outcomes in a range. The average of a choice is either `usual` or better by
    /// `difference`. Single outcomes have the standard deviation `scatter`; with `None`, the
    /// largest that the range allows.
    ///
    /// # Errors
    /// If there are no such choices.
    pub fn new(
        choices: usize,
        range: (f64, f64),
        usual: f64,
        difference: f64,
        scatter: Option<f64>,
    ) -> Result<Self, TrialError> {
        let trial = Self { choices, range, usual, difference, scatter };
        let (low, high) = range;
        if choices < 2 {
            return Err(TrialError::Choices { choices });
        }
        if !(low < high && (high - low).is_finite()) {
            return Err(TrialError::Range { low, high });
        }
        if !(low..=high).contains(&usual) {
            return Err(TrialError::Usual { usual, low, high });
        }
        if difference.is_nan() || difference <= 0.0 {
            return Err(TrialError::Difference { difference });
        }
        if usual + difference > high {
            return Err(TrialError::Beyond { usual, difference, high });
        }
        let Some(scatter) = scatter else { return Ok(trial) };
        if scatter.is_nan() || scatter <= 0.0 {
            return Err(TrialError::NoScatter { scatter });
        }
        for average in [usual, usual + difference] {
            let most = ((average - low) * (high - average)).sqrt();
            if scatter > most {
                return Err(TrialError::Scatter { scatter, average, most, low, high });
            }
        }
        Ok(trial)
    }

    /// The same choices with another difference.
    ///
    /// # Errors
    /// As [`Trial::new`].
    pub fn differing_by(&self, difference: f64) -> Result<Self, TrialError> {
        Self::new(self.choices, self.range, self.usual, difference, self.scatter)
    }

    /// How far the best choice is ahead.
    pub fn difference(&self) -> f64 {
        self.difference
    }

    /// Plays all runs on `threads` threads, and reports each to the monitor. The result is the
    /// same, to the last bit, for any number of threads.
    ///
    /// # Errors
    /// If the monitor stops it, or the threads cannot be started.
    pub fn simulate(
        &self,
        case: Case,
        effort: Effort,
        threads: NonZeroUsize,
        monitor: &dyn Monitor,
    ) -> Result<Times, RunError> {
        let (better, worse) = (self.law(self.usual + self.difference), self.law(self.usual));
        // The first choice differs. Every choice is tried once before any is tried again, so its
        // place means nothing.
        let (first, others) = match case {
            Case::OneBetter => (better, worse),
            Case::OneWorse => (worse, better),
        };
        let mut laws = vec![others; self.choices];
        laws[0] = first;
        let mut runs = Vec::new();
        in_order(
            effort.runs,
            threads,
            |run| play::play(case, &laws, effort, run, monitor),
            |run| runs.push(run),
        )?;
        Ok(Times::of(&runs))
    }

    /// The law of outcomes with this average, scaled to [0, 1].
    fn law(&self, mean: f64) -> Law {
        let (low, high) = self.range;
        Law::new((mean - low) / (high - low), self.scatter.map(|scatter| scatter / (high - low)))
    }
}
