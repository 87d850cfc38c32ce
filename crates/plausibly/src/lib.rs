//! Bandits that decide among the actions that could still be best, and show their work.
//!
//! The main policy is [`Code`] (constrained optimal design). Among the *plausible* actions, which
//! are not ruled out by the confidence set, it takes the one it knows least about. The crate also
//! has the policies that CODE is compared with, the models and confidence radii they are built
//! from, and [`Explanation`]s, which say whether each action could still be best and, if not, which
//! other action rules it out.
//!
//! ```
//! use plausibly::{ActionSet, Code, Determinant, Explain, Explanation};
//! use plausibly::{Policy, Ridge, Standing, Stream};
//!
//! let offers = ActionSet::from_rows(&[[1.0, 0.0], [0.0, 1.0], [0.5, 0.5]])?;
//! let radius = Determinant { delta: 0.05, noise_scale: 0.1, theta_norm_bound: 1.0 };
//! let mut policy = Code::new(Ridge::new(2, 1.0)?, radius);
//! let mut rng = Stream::new(7, 0, "policy");
//!
//! for _ in 0..30 {
//!     let chosen = policy.select(offers.view(), &mut rng);
//!     let reward = [0.9, 0.1, 0.5][chosen];
//!     policy.update(offers.view().get(chosen), reward);
//! }
//!
//! let mut explanation = Explanation::new();
//! policy.explain(offers.view(), &radius, policy.exclusion(), &mut explanation);
//! assert!(matches!(explanation.standings()[1], Standing::RuledOut { by: 0, .. }));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The crate does mathematics only: no I/O, no clock, no threads, no global randomness. The same
//! inputs give the same bits on every instruction set and any number of threads.
//! `docs/references.md` resolves citation keys such as \[AYPS11\].

mod actions;
mod arms;
mod confidence;
mod design;
mod exact;
mod explain;
mod linalg;
mod logarithm;
mod model;
mod policy;
mod rng;
pub mod search;
pub mod spec;
pub mod state;

pub use actions::{Action, ActionIndex, ActionSet, ActionSetError, Actions, MAX_MAGNITUDE, SetId};
pub use arms::{ArmMove, ArmRecord};
pub use confidence::{
    Additive, ArmReach, Bell, BellPairs, Bounded, Bounds, ConfidenceRadius, Curved, Determinant,
    Doubt, Exclusion, Fixed, Forecast, Interval, Likelihood, Mixture, PairRule, Paper, PerArm,
    Plausible, PlausibleSummary, Quantised, Radius, RadiusError, Reach, Stitched, TwoPoint, Union,
    rounding_error,
};
pub use design::Design;
pub use exact::{
    ForecastError, ForecastSums, Forecasts, Ledger, LedgerDigest, LedgerError, MalformedLedger,
    Observation, ObservationError, OffGrid, RowSums, RowSumsError, Tally, TallyError, quantise,
};
pub use explain::{Difference, Explanation, Insurance, Outlook, Standing, score_by_design};
pub use linalg::Isa;
pub use model::{
    ArmMeans, ArmRidges, ArmSums, BellArms, BellPrior, BellRidge, BellSums, Budget, Earnings,
    Estimator, Evidence, Fit, FixedForecaster, ForecastChoice, Forecaster, ForecasterSums, Glm,
    GlmPrior, Guarantee, Link, Misfit, Outcome, Removed, Ridge, RidgeError, Scores, Shape, Squares,
    Tabled, Tallies, Whole,
};
pub use policy::{
    BetaThompson, Code, DeadlineOutcome, DeadlineStatus, Decider, Elimination, EpsilonGreedy,
    Explain, Exploration, ExploreThenCommit, Forecasting, Insured, LaplaceTs, LinTs, LinUcb, Phase,
    Plays, Policy, PolicyError, Quota, RandomisedCode, SharedDraws, Target, TargetStatus, Thompson,
    Ucb1,
};
pub use rng::{Stream, poisson_quantile};

/// The example of the package's page, kept true by the tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
