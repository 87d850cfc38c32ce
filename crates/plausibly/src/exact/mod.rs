//! Statistics that last: sums on a grid of integers, the same whatever the order they were made in.
//!
//! ```text
//! z = round(2²⁴·(x, y))     n = Σ 1     S = Σ z·zᵀ     V = λI + 2⁻⁴⁸·S_xx     b = 2⁻⁴⁸·S_xy
//! ```
//!
//! Floating-point addition is not associative: two replicas that learn the same rewards in another
//! order, or one that is rebuilt from its log, end with other bits. Integer addition is. So an
//! [`Observation`] is checked and put on the grid once, and a [`Ledger`] sums its products as
//! integers; whatever was added, in whichever order, split and merged, and however much of it was
//! taken back, the bytes depend on what is in it alone. A [`Ridge`](crate::Ridge) is made from it
//! when one is needed: the `f64` model is a cache of the exact one.
//!
//! The price is the grid: a value moves by up to 2⁻²⁵, which a confidence radius must count as
//! bias. That is what [`Quantised`](crate::Quantised) does.

mod bytes;
mod ledger;
mod observation;

pub use bytes::{LedgerDigest, MalformedLedger};
pub use ledger::{Ledger, LedgerError};
pub use observation::{Observation, ObservationError, OffGrid, quantise};
