//! What contenders of the benchmark share, ours and other crates': the problems, and taking turns
//! on command. And what the gates share with ours.

mod every_action;
mod problem;
mod turns;

pub use every_action::EveryAction;
pub use problem::{Problem, Sets};
pub use turns::{Play, serve, status};
