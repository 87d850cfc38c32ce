//! Recorded choices that do not follow are found wherever choices are shown.

use super::Desk;
use plausibly_log::event::Event;
use plausibly_log::journal::{Checkpoint, FileStorage, Journal, JournalError, read};

/// A log of twelve decisions, and beside it one whose choices from the fifth on were changed, with
/// right hashes.
pub(super) fn desk() -> Desk {
    let desk = Desk::new("testdata/tables/labels-only.csv");
    let table = "name\na\nb\nc\n";
    std::fs::write(desk.path("actions.csv"), table).unwrap();
    let decide = ["decide", "--log", "a.log", "--actions", "actions.csv"];
    desk.says(&[&decide[..], &["--reward-range", "0..1", "--yes"]].concat());
    desk.says(&["reward", "--log", "a.log", "1", "0.5"]);
    for decision in 2..=12 {
        desk.says(&decide);
        desk.says(&["reward", "--log", "a.log", &decision.to_string(), "0.25"]);
    }
    let mut journal = Journal::open(FileStorage::new(desk.path("forged.log"))).unwrap();
    read(&FileStorage::new(desk.path("a.log")), &Checkpoint::START, |entry| {
        let mut event: Event = serde_json::from_str(entry.body).unwrap();
        if let Event::Decided { decision: 5.., chosen, label, .. } = &mut event {
            *chosen = (*chosen + 1) % 3;
            *label = ["a", "b", "c"][usize::try_from(*chosen).unwrap()].into();
        }
        journal.append(entry.at_us, &[&serde_json::to_string(&event).unwrap()]).map(drop)?;
        Ok::<(), JournalError>(())
    })
    .unwrap();
    desk
}

#[test]
fn choices_that_do_not_follow_are_an_error_with_the_first_line_and_their_number() {
    let desk = desk();
    let whole = desk.says(&["replay", "--log", "a.log"]);
    assert!(whole.contains("every recorded choice was derived again, and is right"), "{whole}");
    let whole = desk.says(&["status", "--log", "a.log"]);
    assert!(
        whole.contains("every recorded choice was derived again from the log, and is right"),
        "{whole}"
    );
    let json: serde_json::Value =
        serde_json::from_str(&desk.says(&["replay", "--log", "a.log", "--json"])).unwrap();
    assert_eq!(json["checked"], 12);

    for command in ["replay", "status"] {
        for json in [&[][..], &["--json"]] {
            let args = [&[command, "--log", "forged.log"][..], json].concat();
            let (code, said) = desk.refuses(&args);
            assert_eq!(code, 1, "{said}");
            assert!(said.contains("records that decision 5 chose"), "{said}");
            assert!(said.contains("of 12 recorded choices compared do not follow"), "{said}");
            assert!(desk.run(&args).stdout.is_empty(), "nothing is shown as if it were so");
        }
    }
}
