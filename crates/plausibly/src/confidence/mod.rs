//! How far an estimate may be from the truth, and which actions that leaves in play.

mod arms;
mod plausible;
mod quantised;
mod radius;

pub use arms::{ArmReach, Mixture, Stitched, Union};
pub(crate) use plausible::assert_radius;
pub use plausible::{Exclusion, Interval, Plausible, PlausibleSummary};
pub use quantised::Quantised;
pub(crate) use radius::accepted;
pub use radius::{
    Additive, ConfidenceRadius, Determinant, Fixed, Paper, PerArm, Radius, RadiusError, Reach,
};
