#![doc = include_str!("../README.md")]

mod acceptor;
mod api;
mod body;
mod experiments;
mod guard;
pub mod keys;
mod metrics;
mod observe;
mod problem;
mod refusal;
mod server;
mod world;

pub use acceptor::tls;
pub use server::{ServeError, Server, Settings, Stop, serve};
pub use world::{AnyStorage, Clock, World};
