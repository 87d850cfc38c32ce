//! How far an estimate may be from the truth, and which actions that leaves in play.

mod arms;
pub(crate) mod bell;
mod curved;
mod forecast;
mod pairs;
mod plausible;
mod quantised;
mod radius;
mod reach;
mod scatter;
mod two_point;

pub use arms::{ArmReach, Mixture, Stitched, Union};
pub use bell::{Bell, BellPairs};
pub use curved::{Curved, Likelihood};
pub use forecast::Forecast;
pub use pairs::{Bounds, PairRule};
pub use plausible::{Exclusion, Interval, Plausible, PlausibleSummary};
pub(crate) use plausible::{assert_radius, difference};
pub use quantised::{Quantised, rounding_error};
pub(crate) use radius::accepted;
pub use radius::{
    Additive, ConfidenceRadius, Determinant, Fixed, Paper, PerArm, Radius, RadiusError,
};
pub use reach::{Doubt, Reach};
pub(crate) use scatter::scatter_doubt;
pub(crate) use two_point::check_range;
pub use two_point::{Bounded, TwoPoint};
