//! What contenders of the benchmark share, ours and other crates': the problems, and taking turns
//! on command. And what the gates share with ours, and the load for the decision service.

pub mod load;
mod problem;
mod turns;

pub use problem::{Problem, Sets};
pub use turns::{Play, serve, status};
