//! Reports of plausibly: what results say, drawn and written down.
//!
//! [`Paired`] judges claims about policies on paired runs, [`figure`] draws, [`page`] makes one
//! self-contained HTML file, [`Reproduction`] is the report on the paper, and [`Simulation`] shows
//! any other comparison. [`certificate_page`], [`status_page`] and [`status_svg`] show decisions of
//! a log to people who know no bandits. This crate knows results and what to say about them; what
//! is run, and how, is decided elsewhere.

pub mod figure;

mod claim;
mod decisions;
mod label;
mod latex;
mod number;
mod outcome;
mod page;
mod quantile;
mod reproduction;
mod simulation;

pub use claim::{CONFIDENCE, Estimate, Evidence, Paired, Rule, Verdict};
pub use decisions::{PICTURE_MARK, certificate_page, status_page, status_svg};
pub use page::{PAGE_MARK, page};
pub use reproduction::{
    Checked, Claim, DelayFinding, FrontierFinding, Late, Measure, Measured, Reading, Reproduction,
    STUDIES, Skipped, Study, Tally, claims, delay_findings, frontier_findings,
};
pub use simulation::Simulation;
