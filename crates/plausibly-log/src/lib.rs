#![doc = include_str!("../README.md")]

pub mod certificate;
pub mod event;
mod fold;
mod form;
mod history;
pub mod journal;
mod log;
pub mod policy;
pub mod recipe;
mod replay;
mod scale;
pub mod state;
pub mod statistics;
mod status;
pub mod table;
mod words;

pub use fold::{Step, certificate, certify, fold};
pub use form::{FilledIn, FormError, Told, form, read_form};
pub use history::{Became, Past, history};
pub use log::{EventError, Log, LogError, Opening, Recorded};
pub use replay::{Replayed, replay};
pub use status::{OutSince, PendingDecision, Point, Status, Tried, status};
pub use words::{Beaten, Words};
