#![doc = include_str!("../README.md")]

mod problem;
mod world;

pub use world::{AnyStorage, Clock, World};
