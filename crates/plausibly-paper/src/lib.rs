//! Everything about the paper: its experiments, its bounds beside measurements, and the report on
//! what it claims.
//!
//! A [`Request`] says which experiments to run and how much of them. [`Prepared`] holds them read
//! and checked, and plays them into a [`Reproduction`], which is the report; [`summary_csv`] and
//! [`manifest`] are its tables. [`Paired`] judges claims about policies on paired runs, and
//! [`ArmsTheory`] and [`LinearTheory`] compare what CODE did with what the paper proves of it.
//!
//! ```
//! use plausibly_data::DataPools;
//! use plausibly_paper::{Prepared, Request};
//! let experiments = vec!["linear".into()];
//! let request = Request { experiments, runs: Some(2), ..Request::default() };
//! let pools = DataPools::new(None, |name| format!("fetch {name}"));
//! let prepared = Prepared::new(&request, Vec::new(), &pools)?;
//! assert_eq!(prepared.names(), ["linear"]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod judge;
mod plan;
mod quantile;
mod record;
mod reproduction;
mod request;
mod run;
mod theory;

pub use judge::{CONFIDENCE, Evidence, Paired, Rule, Verdict};
pub use plan::{OF_LOGS, YES_NO_COMPARISONS, YES_NO_TABLES, YesNoComparison, YesNoTable};
pub use plan::{Source, Times, VERDICT_PROBLEMS, VerdictProblem};
pub use record::{
    claims_json, delay_json, differences_json, frontier_json, manifest, reading_name, skipped_json,
    summary_csv, verdicts_json, yes_no_json,
};
pub use reproduction::{
    Checked, Claim, DelayFinding, DifferencesFinding, EVENTS, Event, FrontierFinding, Late,
    Measure, Measured, Reading, Reproduction, Ruled, STUDIES, Skipped, Study, Tally, Told,
    VerdictFinding, Watched, claims, delay_findings, differences_findings, frontier_findings,
    median_outcomes, verdict_findings,
};
pub use reproduction::{Compared, Decided, YesNo, YesNoFinding, YesNoTold};
pub use reproduction::{comparison_findings, table_findings, yes_no_findings};
pub use request::{DELAY, DIFFERENCES, FRONTIER, Request, RequestError, VERDICTS, YES_NO};
pub use run::{PaperError, Prepared};
pub use theory::{ArmsTheory, BoundCheck, LinearTheory, TheoryError};
