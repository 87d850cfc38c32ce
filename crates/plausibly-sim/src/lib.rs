//! The simulator of plausibly: compares policies, described by a spec or in code.
//!
//! Compared policies see the same problems, action sets and noise. Runs are spread over threads and
//! summed in order, so the result depends on the spec alone. [`Observer`]s measure with their own
//! estimate of a policy's history, so they work for any [`plausibly::Policy`], including one
//! written elsewhere.
//!
//! ```
//! use plausibly_sim::{Experiment, Overrides};
//! let spec = r#"
//!     runs = 4
//!     horizon = 100
//!     [environment]
//!     kind = "linear"
//!     dim = 2
//!     actions = 5
//!     [[policy]]
//!     kind = "code"
//!     [[policy]]
//!     kind = "lin-ucb"
//! "#;
//! let experiment = Experiment::from_toml(spec, Overrides::default(), &())?;
//! let summary = experiment.comparison().run(std::num::NonZeroUsize::MIN, &())?;
//! assert_eq!(summary.policies[1].label, "lin-ucb");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod comparison;
mod csv;
mod delay;
mod environment;
mod grid;
mod json;
mod metrics;
mod observer;
mod part;
mod play;
mod spec;
mod summary;
mod trial;
mod verdicts;

pub use comparison::{Comparison, Metric, Monitor, Plan, RunError, in_order};
pub use csv::{RunsCsv, summary_csv, verdicts_csv};
pub use delay::Delay;
pub use environment::{Bandit, ChangingLinear, Contexts, Environment, Pool, PoolError, TableRows};
pub use grid::log_grid;
pub use json::{final_figures, spec_json};
pub use metrics::{ModelError, Regret};
pub use observer::{Decided, Observer, Rewarded};
pub use part::{Part, PartError};
pub use play::{Draws, Player, play, play_late};
pub use spec::{
    EnvironmentSpec, Experiment, LoadPool, Overrides, Pools, SpecError, parse_spec, spec_reference,
};
pub use summary::{FinalFigures, JointMoments, Moments, Point, PolicySummary, Summary};
pub use trial::{Case, Effort, Times, Trial, TrialError};
pub use verdicts::{PolicyVerdicts, RunVerdicts};
