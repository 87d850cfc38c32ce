//! The keys of callers: what is stored of them, and what each allows.
//!
//! A key is 256 random bits, shown once. The data folder has its SHA-256, which is enough: a text
//! with that much randomness cannot be found from its hash. Commands change the file of keys while
//! the service runs, and the service reads it again within a second.

mod caller;
mod ring;
mod store;
mod stored;
#[cfg(test)]
pub(crate) mod tests;

pub(crate) use caller::{Caller, no_experiment};
pub(crate) use ring::{KeyHash, News, Ring};
pub use store::{Grant, NewKey, add, list, revoke};
pub use stored::{Hash, Key, KeyError, Role};
