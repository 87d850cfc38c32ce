//! Experiments as text.

mod experiment;
mod reference;
mod toml;

pub use experiment::{EnvironmentSpec, Experiment, Overrides, SpecError};
pub use reference::spec_reference;
