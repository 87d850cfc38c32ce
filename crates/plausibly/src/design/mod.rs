//! Optimal experimental design over a finite set of actions.

mod d_optimal;
mod span;

pub use d_optimal::Design;
pub(crate) use span::Span;
