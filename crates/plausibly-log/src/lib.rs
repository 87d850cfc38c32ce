#![doc = include_str!("../README.md")]

pub mod certificate;
mod changes;
mod choices;
mod compare;
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
mod prose;
pub mod recipe;
mod replay;
mod scale;
pub mod state;
pub mod statistics;
mod status;
pub mod table;
mod time;

pub use certificate::{certificate, certify};
pub use changes::{ChangedRow, Changes, NewName};
pub use choices::WrongChoice;
pub use compare::{Difference, compare};
pub use fold::{Step, fold};
pub use form::{FormError, FormRow, NewOutcome, form, read_form};
pub use history::{OutcomeStatus, PastDecision, history};
pub use log::{EventError, Log, LogError, Recorded};
pub use opening::Opening;
pub use prose::{Beaten, Words};
pub use replay::{Replayed, replay};
pub use status::{OutSince, PendingDecision, Point, Status, Tried, status};
pub use time::{Time, TimeError};
