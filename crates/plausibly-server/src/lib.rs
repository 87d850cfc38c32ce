#![doc = include_str!("../README.md")]

mod acceptor;
mod problem;
mod world;

pub use acceptor::tls;
pub use world::{AnyStorage, Clock, World};
