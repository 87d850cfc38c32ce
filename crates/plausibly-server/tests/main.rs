//! Tests of the service, most of them over a socket, as a client sees it.
#![expect(clippy::unwrap_used, reason = "helpers of tests fail like tests")]

mod client;
mod harness;
mod parity; // the lines of other ways to the same log
mod routes; // what each route answers
