//! Experiments as text.

mod experiment;
mod toml;

pub use experiment::{EnvironmentSpec, Experiment, Overrides, SpecError};
