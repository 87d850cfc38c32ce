//! Experiments as text.

mod experiment;
mod reference;
mod toml;

pub use experiment::{
    EnvironmentSpec, Experiment, LoadPool, Overrides, Pools, SpecError, parse_spec,
};
pub use reference::spec_reference;
