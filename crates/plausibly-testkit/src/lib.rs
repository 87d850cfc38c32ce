//! What holds plausibly to account: slow references, generators of hard cases, golden files.
//! Development only.
//!
//! Nothing here is shared with the code under test: the references use direct inverses and
//! determinants from another library, or twice the precision.

mod binomial;
mod brute;
mod double_double;
mod golden;
mod reference;
pub mod strategies;
mod two_point;

pub use binomial::{most_events, tail_above};
pub use brute::{
    BruteCurved, BruteLink, BruteModel, BrutePolicy, BrutePrior, BruteRadius, BruteTarget,
    CurvedRule, Exploring, Inputs, ROUNDING, Rule, Verdict,
};
pub use double_double::{DoubleDouble, PreciseGram};
pub use golden::assert_golden;
pub use reference::{BruteForce, leverages, rank};
pub use two_point::{PlainSums, log_fortune, log_fortune_of};

/// The example of the project's page, kept true by the tests.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
mod readme {}
