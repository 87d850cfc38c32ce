//! The paper: its bounds, its claims on results whose truth is known, and the report as one page.
#![expect(clippy::unwrap_used, reason = "helpers of tests fail like tests")]

mod claims; // verdicts on synthetic results, both ways
mod delay; // late rewards: verdicts, and a page of their own
mod differences; // differences beside intervals: verdicts, and a page of their own
mod report; // a small reproduction: snapshot, links, nothing from outside
#[path = "../../plausibly-report/tests/support.rs"]
mod support;
mod theory; // the paper's bounds, and mutants of them
mod yes_no; // logistic CODE beside rivals: verdicts, and a page of its own
