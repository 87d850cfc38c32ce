#![doc = include_str!("../README.md")]

pub mod certificate;
mod changes;
pub mod event;
mod fold;
mod form;
mod history;
pub mod input;
pub mod journal;
pub mod json;
mod log;
mod opening;
pub mod policy;
pub mod recipe;
mod replay;
mod scale;
pub mod state;
pub mod statistics;
mod status;
pub mod table;
mod time;
mod words;

pub use changes::{ChangedRow, Changes, NewName};
pub use fold::{Step, certificate, certify, fold};
pub use form::{FilledIn, FormError, Told, form, read_form};
pub use history::{Became, Past, history};
pub use log::{EventError, Log, LogError, Recorded, WrongChoice};
pub use opening::Opening;
pub use replay::{Replayed, replay};
pub use status::{OutSince, PendingDecision, Point, Status, Tried, status};
pub use time::{Time, TimeError};
pub use words::{Beaten, Words};
