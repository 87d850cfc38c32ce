//! Pages and pictures of what plausibly found.
//!
//! Every page is a function of results: the same results give the same bytes, and a page loads
//! nothing. [`Simulation`] shows a comparison; [`certificate_page`], [`status_page`] and
//! [`status_svg`] show decisions of a log to readers who know nothing of bandits. [`figure`],
//! [`number`] and [`outcome`] are the parts of pages, and [`page`] makes one self-contained HTML
//! file. Other crates decide what to run.

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
