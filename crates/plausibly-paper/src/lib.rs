//! The paper's experiments, for every face of plausibly: what is asked for, what that runs, and
//! what came of it.
//!
//! A [`Request`] says which experiments and how much of them. [`Prepared`] holds them read and
//! checked, and plays them into a [`plausibly_report::Reproduction`], which is the report;
//! [`summary_csv`] and [`manifest`] are its tables. [`DataPools`] are the environments that come
//! from the paper's data sets, for any spec.
//!
//! ```
//! use plausibly_paper::{DataPools, Prepared, Request};
//! let request = Request { experiments: vec!["linear".into()], runs: Some(2), ..Request::default() };
//! let pools = DataPools::new(None, |name| format!("fetch {name}"));
//! let prepared = Prepared::new(&request, Vec::new(), &pools)?;
//! assert_eq!(prepared.names(), ["linear"]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod plan;
mod pools;
mod record;
mod request;
mod run;

pub use pools::DataPools;
pub use record::{
    claims_json, delay_json, final_figures, frontier_json, manifest, reading_name, skipped_json,
    spec_json, summary_csv,
};
pub use request::{DELAY, FRONTIER, Request, RequestError};
pub use run::{PaperError, Prepared};
