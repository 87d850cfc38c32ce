//! Experiments as text.

mod environment;
mod experiment;
mod glm;
mod own_table;
mod reference;
mod toml;

pub use environment::{EnvironmentSpec, LoadPool, Pools};
pub use experiment::{Experiment, Overrides, SpecError, parse_spec};
pub use reference::spec_reference;
