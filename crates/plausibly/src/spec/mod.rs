//! Specs: policies and radii described as data.
//!
//! One statement per field gives its value, default, errors and documentation. A spec is a tree of
//! [`Node`]s, which the caller makes from TOML, JSON or anything like them. [`Fields`] reads one
//! table of it, field by field; each read states the name, meaning, default and range of the field.
//! From these statements come the values, the errors, the list of fields that an unknown name is
//! compared with, the resolved spec that a manifest records, and the reference page.

mod build;
mod error;
mod fields;
mod node;
mod policy;
mod radius;
mod resume;
mod written;

pub use build::BuildError;
pub use error::{Complaint, FieldError, Range};
pub use fields::{Field, FieldDefault, Fields};
pub use node::{Node, Value};
pub use policy::{Defaults, POLICY_KINDS, PolicyKind, PolicySpec, RIDGES};
pub use radius::{MOST_PAIRED, RadiusKind, RadiusSpec};
pub use resume::{History, Model};

/// The kind of actions of a problem. Policies and radii must fit it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Setting {
    /// Actions with features, the same in every round.
    Fixed,
    /// Actions with features, new ones in every round.
    Changing,
    /// Arms without features.
    Arms,
}

/// What is known about a problem when its policies are built. Fields of a spec that are not set
/// take their values from here.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Facts {
    /// Kind of actions.
    pub setting: Setting,
    /// d; zero for arms.
    pub dim: usize,
    /// K.
    pub actions: usize,
    /// n.
    pub horizon: u64,
    /// Standard deviation of the noise.
    pub noise_scale: f64,
    /// A bound on the norm of θ*.
    pub theta_norm_bound: f64,
    /// A bound on the norms of the actions.
    pub action_norm_bound: f64,
    /// The least and the largest reward, if rewards have a range.
    pub reward_range: Option<(f64, f64)>,
}
