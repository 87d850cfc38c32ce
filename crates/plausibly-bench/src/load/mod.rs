//! Load for a decision service on the same machine, and what its figures are compared with.
//!
//! One thread serves all connections over non-blocking sockets, because the load shares its cores
//! with the service. A closed loop sends the next request of a connection when the last is
//! answered, which measures capacity. An open loop starts requests at fixed times, and counts
//! latencies from these times, so that a pause of the service counts for every request it delays.

mod bare;
mod closed;
mod connection;
mod drive;
mod flood;
mod histogram;
mod http;
mod open;
mod requests;
mod setup;
mod tally;
mod target;

pub use bare::{Bare, append_at_rate, append_in_turn, append_side_by_side};
pub use closed::{Closed, Limit, Mode};
pub use drive::{Job, Kind, LoadError, Traffic, drive};
pub use flood::{Flood, flood};
pub use histogram::Histogram;
pub use http::{Answer, Malformed, parse};
pub use open::{Full, Open};
pub use requests::Requests;
pub use setup::{ACTIONS, DIM, call, experiment, names, prepare, prepare_rival};
pub use tally::{Tally, Window};
pub use target::Target;

#[cfg(test)]
mod stand_in;
#[cfg(test)]
mod tests;
