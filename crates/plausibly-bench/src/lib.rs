//! What contenders of the benchmark share, ours and other crates': the problems, and taking turns
//! on command. And what the gates share with ours.

mod problem;
mod turns;

pub use problem::{Problem, Sets};
pub use turns::{Play, serve, status};
