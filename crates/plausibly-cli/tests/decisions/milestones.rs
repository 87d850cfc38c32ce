//! Explanations of long logs start at a milestone, and say so.

use super::Desk;
use plausibly_log::journal::FileStorage;
use plausibly_log::recipe::{Context, Recipe};
use plausibly_log::table::Table;
use plausibly_log::{Among, Asked, Log, Opening, Request};
use std::fs;

/// A log with more than 16,384 lines.
fn long_log(desk: &Desk) {
    let table = Table::read(b"name,size\nsmall,1\nlarge,2\n".as_slice()).unwrap();
    let none = Context::default();
    let mut log = Log::open(FileStorage::new(desk.path("a.log"))).unwrap();
    log.begin(1, Opening::new(Recipe::infer(&table, &none).unwrap(), (0.0, 1.0), 1)).unwrap();
    for first in (0..8_500_u64).step_by(100) {
        let decide = Request::Decide(Asked::among(Among::Table(&table), &none));
        let rewards = (first + 1..=first + 100).map(|decision| Request::Reward {
            decision,
            reward: ((decision % 7) as f64 / 7.0).into(),
            by: None,
        });
        let requests: Vec<_> = std::iter::repeat_n(decide, 100).chain(rewards).collect();
        log.batch(2, &requests).unwrap().into_iter().for_each(|answer| drop(answer.unwrap()));
    }
}

#[test]
fn explanations_of_long_logs_start_at_a_milestone() {
    let desk = Desk::new("testdata/tables/ads.csv");
    long_log(&desk);
    let explain = |decision: &str| {
        let output = desk.command(&["explain", "--log", "a.log", "--json", decision]).output();
        let output = output.unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        (output.stdout, String::from_utf8(output.stderr).unwrap())
    };
    // The first explanation reads every line, and keeps milestones for the next one.
    let (whole, said) = explain("8400");
    assert_eq!(said, "");
    assert!(desk.path("a.log.milestones").exists() && desk.path("a.log.snapshot").exists());
    let (near, said) = explain("8400");
    assert_eq!(near, whole);
    assert_eq!(
        said,
        "lines 1 to 16384 of the log are taken from its milestones and were not checked; \
         `plausibly audit` checks every line\n"
    );
    // Milestones of another log are not used.
    let kept = fs::read(desk.path("a.log.milestones")).unwrap();
    fs::write(desk.path("a.log.milestones"), kept.to_ascii_uppercase()).unwrap();
    assert_eq!(explain("8400"), (whole, String::new()));
    assert_eq!(fs::read(desk.path("a.log.milestones")).unwrap(), kept, "made again");
    // Results never replace them.
    let page = ["explain", "--log", "a.log", "1", "--html", "a.log.milestones", "--force"];
    assert!(!desk.command(&page).output().unwrap().status.success());
}
