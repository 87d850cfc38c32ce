#![doc = include_str!("../README.md")]

mod api;
mod body;
mod experiments;
mod guard;
pub mod keys;
mod metrics;
mod problem;
mod refusal;
mod world;

pub use world::{AnyStorage, Clock, World};
