//! Reports of plausibly: what results say, drawn and written down.
//!
//! [`Simulation`] shows a comparison, and [`certificate_page`], [`status_page`] and [`status_svg`]
//! show decisions of a log to people who know no bandits. [`figure`], [`number`] and [`outcome`] are
//! what pages are made of, and [`page`] makes one self-contained HTML file. This crate knows results
//! and how to show them; what is run, and how, is decided elsewhere.

pub mod figure;
pub mod number;
pub mod outcome;

mod decisions;
mod label;
mod latex;
mod page;
mod simulation;

pub use decisions::{PICTURE_MARK, certificate_page, status_page, status_svg};
pub use page::{PAGE_MARK, page};
pub use simulation::Simulation;
