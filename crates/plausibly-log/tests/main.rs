//! Laws of the log: nothing acknowledged is lost, nothing is invented, and everything can be
//! derived again.
#![expect(clippy::unwrap_used, reason = "helpers of tests fail like tests")]
#![expect(clippy::print_stderr, reason = "what is skipped is said")]

mod journal; // lines, disks that fail, processes that are killed
mod log; // the fold, certificates, and what is wrong with forged ones
mod recipe; // from a person's table to vectors
