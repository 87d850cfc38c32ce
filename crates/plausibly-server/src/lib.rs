#![doc = include_str!("../README.md")]

mod guard;
pub mod keys;
mod problem;
mod world;

pub use world::{AnyStorage, Clock, World};
