//! Pages and pictures of results: what they say, and that each is one sound file.
#![expect(clippy::unwrap_used, reason = "helpers of tests fail like tests")]

mod decisions; // pages and slides of logs that are played here
mod figures; // curves as they are drawn
mod simulation; // any comparison: page, pictures, table
mod support;
