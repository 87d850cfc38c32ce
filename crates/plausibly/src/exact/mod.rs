//! Statistics that last: sums of integers, which do not depend on the order of additions.
//!
//! ```text
//! z = round(2²⁴·(x, y))     n = Σ 1     S = Σ z·zᵀ     V = λI + 2⁻⁴⁸·S_xx     b = 2⁻⁴⁸·S_xy
//! ```
//!
//! Floating-point addition is not associative: two replicas that learn the same rewards in
//! different orders end with different bits, and so does one that is rebuilt from its log. Integer
//! addition is associative. So an [`Observation`] is checked and rounded to a grid once, and a
//! [`Ledger`] sums its products as integers. Its bytes depend only on the observations in it, not
//! on their order, on splits and merges, or on observations that were added and retracted. A
//! [`Ridge`](crate::Ridge) is made from a ledger when one is needed. A model whose means are not
//! linear needs the rewards of each row; [`RowSums`] keep them by the same rules.
//!
//! An observation may stand for many outcomes of one decision, summed in a [`Tally`], and carry
//! [`Forecasts`] that were fixed before its reward was seen. Both add integers to the ledger, so
//! counts may be split and forecasts retracted without a trace.
//!
//! The price is the grid: a value moves by up to 2⁻²⁵, and [`Quantised`](crate::Quantised) widens a
//! confidence radius to cover that bias.

mod bytes;
mod forecasts;
mod grid;
mod ledger;
mod ledger_error;
mod observation;
mod row_sums;
mod tally;

pub use bytes::{LedgerDigest, MalformedLedger};
pub use forecasts::{ForecastError, ForecastSums, Forecasts};
pub use grid::{OffGrid, quantise};
pub use ledger::Ledger;
pub use ledger_error::LedgerError;
pub use observation::{Observation, ObservationError};
pub use row_sums::{RowSums, RowSumsError};
pub use tally::{Tally, TallyError};
