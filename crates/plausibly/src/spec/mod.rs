//! Specs as data: one reader gives the values, their defaults, their errors and their
//! documentation.
//!
//! A spec arrives as a tree of [`Node`]s, from TOML or anything else that can be written as one.
//! [`Fields`] reads a table of it field by field; each read states the name, meaning, default and
//! range of the field once, and from that one statement come the value, the error if it is wrong,
//! the list of what is allowed if a name is unknown, the resolved spec that a manifest records, and
//! the reference page.

mod error;
mod fields;
mod node;
mod policy;
mod radius;
mod resume;
mod written;

pub use error::{Complaint, FieldError, Range};
pub use fields::{Field, FieldDefault, Fields};
pub use node::{Node, Value};
pub use policy::{BuildError, POLICY_KINDS, PolicyKind, PolicySpec, RIDGES};
pub use radius::RadiusSpec;
pub use resume::{History, Model};

/// What the actions of a problem are like: decides which policies and radii can be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Setting {
    /// Actions with features, the same in every round.
    Fixed,
    /// Actions with features, other ones in every round.
    Changing,
    /// Arms without features.
    Arms,
}

/// What is known about a problem when its policies are built; unset fields of a spec take their
/// values from here.
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
}
