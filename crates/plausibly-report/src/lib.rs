//! Reports of plausibly: what results say, drawn and written down.
//!
//! [`Paired`] judges claims about policies on paired runs, [`figure`] draws, [`page`] makes one self-contained HTML file,
//! and [`Reproduction`] is the report on the paper. This crate knows results and what to say about them; what is run, and how,
//! is decided elsewhere.

pub mod figure;

mod claim;
mod number;
mod page;
mod quantile;
mod reproduction;

pub use claim::{CONFIDENCE, Estimate, Evidence, Paired, Rule, Verdict};
pub use page::page;
pub use reproduction::{
    Checked, Claim, DelayFinding, FrontierFinding, Late, Measure, Measured, Reading, Reproduction, STUDIES,
    Skipped, Study, claims, delay_findings, frontier_findings,
};
