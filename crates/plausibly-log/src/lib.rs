#![doc = include_str!("../README.md")]

mod assumed;
mod audit;
pub mod certificate;
mod changes;
mod choices;
mod compare;
mod desk;
pub mod event;
mod extract;
mod fold;
mod forecast;
mod form;
mod history;
pub mod input;
pub mod journal;
pub mod json;
mod log;
mod milestones;
mod opening;
pub mod policy;
mod prose;
mod rates;
mod recall;
pub mod recipe;
mod replay;
mod reward;
mod scale;
pub mod state;
pub mod statistics;
mod status;
pub mod table;
mod time;
mod upgrade;

pub use audit::{AuditError, Audited, LineField, WrongLine, audit};
pub use certificate::{certificate, certify};
pub use changes::{ChangedRow, Changes, NewName};
pub use choices::WrongChoice;
pub use compare::{Difference, compare};
pub use extract::{Lines, lines};
pub use fold::{Step, fold};
pub use forecast::check_forecasts;
pub use form::{FormError, FormRow, NewOutcome, form, read_form};
pub use history::{OutcomeStatus, PastDecision, history};
pub use log::{
    Among, Answer, Asked, Derived, EventError, Log, LogError, Looked, Recorded, Request, Roster,
    Taken,
};
pub use milestones::{LINES, Milestones, certificate_keeping, certificate_near, keep_milestones};
pub use opening::Opening;
pub use prose::{Beaten, Words, next_out, written};
pub use replay::{Replayed, replay};
pub use reward::Reward;
pub use status::{OutSince, PendingDecision, Point, Status, Tried, status};
pub use time::{Time, TimeError};
pub use upgrade::{Upgrade, check_upgrade, upgrade};
