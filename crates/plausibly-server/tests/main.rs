//! Tests of the service, most of them over a socket, as a client sees it.
#![expect(clippy::unwrap_used, reason = "helpers of tests fail like tests")]
#![expect(clippy::print_stderr, reason = "figures are shown")]

mod client;
mod faults; // disks that fail
mod harness;
mod hostile; // bodies that are wrong, and what they must not change
mod limits; // each limit, at both sides
mod parity; // the lines of other ways to the same log
mod roles; // every route, by every kind of caller
mod routes; // what each route answers
