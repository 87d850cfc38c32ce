#![doc = include_str!("../README.md")]

mod body;
mod experiments;
mod metrics;
mod problem;
mod refusal;
mod world;

pub use world::{AnyStorage, Clock, World};
