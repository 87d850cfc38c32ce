//! Windows and pauses, as a user meets them.

use super::Desk;

const DECIDE: [&str; 6] = ["decide", "--log", "a.log", "--actions", "actions.csv", "--yes"];

fn at<'a>(args: &[&'a str], time: &'a str) -> Vec<&'a str> {
    [args, &["--at", time]].concat()
}

#[test]
fn outcomes_count_from_the_deadline_on_and_late_ones_never() {
    let desk = Desk::new("examples/subjects.csv");
    let window = [&DECIDE[..], &["--window", "7d", "--default", "0"]].concat();
    desk.says(&at(&window, "2026-11-01T08:00:00Z"));
    desk.says(&at(&DECIDE, "2026-11-02T08:00:00Z"));
    let reward = |decision, value| ["reward", "--log", "a.log", decision, value];
    let held = desk.says(&at(&reward("1", "0.5"), "2026-11-03T08:00:00Z"));
    assert!(held.contains("counts from its deadline on, 2026-11-08T08:00:00"), "{held}");
    let history = desk.says(&["history", "--log", "a.log"]);
    assert!(history.contains("0.5, held until its deadline"), "{history}");
    let status = desk.says(&at(&["status", "--log", "a.log"], "2026-11-03T08:00:00Z"));
    assert!(status.contains("0 settled, 2 pending (1 reported; the next deadline is"), "{status}");
    let late = desk.says(&at(&reward("2", "1"), "2026-11-09T08:00:00Z"));
    assert!(late.contains("came after its deadline"), "{late}");
    let history = desk.says(&["history", "--log", "a.log"]);
    assert!(history.contains("0; another came too late"), "{history}");
    let status = desk.says(&at(&["status", "--log", "a.log"], "2026-11-09T08:00:00Z"));
    assert!(status.contains("2 settled, 0 pending, 0 dropped"), "{status}");
    let other = [&DECIDE[..], &["--window", "1h"]].concat();
    let (code, words) = desk.refuses(&other);
    assert!(code == 2 && words.contains("another window was fixed"), "{code}: {words}");
    let (_, words) = desk.refuses(&[&DECIDE[..], &["--window", "1 week"]].concat());
    assert!(words.contains("7d, 12h, 30min or 90s"), "{words}");
}

#[test]
fn a_paused_log_says_so() {
    let desk = Desk::begun("examples/subjects.csv", "0..1");
    let pause = desk.says(&["pause", "--log", "a.log", "--by", "Ada"]);
    assert!(pause.contains("paused: outcomes are still taken"), "{pause}");
    let pause = desk.says(&["pause", "--log", "a.log"]);
    assert!(pause.contains("nothing was written"), "{pause}");
    let (_, words) = desk.refuses(&DECIDE);
    assert!(words.contains("the log is paused"), "{words}");
    desk.says(&["reward", "--log", "a.log", "1", "1"]);
    assert!(desk.says(&["status", "--log", "a.log"]).contains("paused: the log takes no"));
    desk.says(&["resume", "--log", "a.log"]);
    desk.says(&DECIDE);
}
