//! A whole log is derived again, and what does not follow is named.

use super::Desk;
use super::forged::desk;
use plausibly_log::journal::{FileStorage, Journal, JournalError};
use serde_json::{Value, json};
use std::fs;

#[test]
fn a_log_that_follows_passes_with_its_counts_and_its_hash() {
    let desk = desk();
    let said = desk.says(&["audit", "a.log"]);
    assert!(said.starts_with("a.log: 29 lines, and each follows"), "{said}");
    assert!(said.contains("12 decisions (12 settled, 0 pending, 0 dropped)"), "{said}");
    let log = fs::read_to_string(desk.path("a.log")).unwrap();
    let last: Value = serde_json::from_str(log.lines().last().unwrap()).unwrap();
    assert!(said.ends_with(&format!("last line  {}\n", last["hash"].as_str().unwrap())), "{said}");
    let found: Value = serde_json::from_str(&desk.says(&["audit", "a.log", "--json"])).unwrap();
    assert_eq!((&found["passed"], &found["flaw"]), (&json!(true), &Value::Null));
    assert_eq!((&found["lines"], &found["hash"]), (&json!(29), &last["hash"]));
    assert_eq!((&found["decisions"], &found["actions"]), (&json!(12), &json!(3)));
    assert!(!said.contains("an earlier outcome"), "{said}");
    desk.says(&["reward", "--log", "a.log", "3", "0.5", "--correct"]);
    let amended = desk.says(&["audit", "a.log"]);
    assert!(amended.contains("\n1 line changes what was recorded about an earlier"), "{amended}");
    // The variable names the log, as it does for other commands.
    let by_variable = desk.command(&["audit"]).env("PLAUSIBLY_LOG", "a.log").output().unwrap();
    assert_eq!(String::from_utf8(by_variable.stdout).unwrap(), amended);
}

#[test]
fn a_choice_that_does_not_follow_is_named_with_line_decision_and_field() {
    let desk = desk();
    let (code, said) = desk.refuses(&["audit", "forged.log"]);
    assert_eq!(code, 1, "{said}");
    let line = 14;
    let names = format!("error: forged.log: line {line}, decision 5, `chosen`: it records action ");
    assert!(said.starts_with(&names) && said.contains(" follows from the lines before"), "{said}");
    let output = desk.run(&["audit", "forged.log", "--json"]);
    assert_eq!(output.status.code(), Some(1));
    let found: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(found["passed"], json!(false));
    let flaw = &found["flaw"];
    assert_eq!(
        (&flaw["line"], &flaw["decision"], &flaw["field"]),
        (&json!(line), &json!(5), &json!("chosen"))
    );
    assert!(found.get("hash").is_none(), "nothing is vouched for: {found}");
}

#[test]
fn a_damaged_log_is_named_with_the_line_and_what_to_do() {
    let desk = desk();
    let mut log = fs::read(desk.path("a.log")).unwrap();
    let at = log.len() / 2;
    let line = log[..at].split(|byte| *byte == b'\n').count();
    log[at] ^= 1;
    fs::write(desk.path("damaged.log"), log).unwrap();
    let (code, said) = desk.refuses(&["audit", "damaged.log"]);
    assert!(said.starts_with(&format!("error: damaged.log: line {line}, `")), "{said}");
    assert!(code == 1 && said.contains("restore it from a copy"), "{said}");
}

#[test]
fn each_of_several_logs_is_audited() {
    let desk = desk();
    let all = ["audit", "forged.log", "a.log", "missing.log"];
    let output = desk.run(&all);
    assert_eq!(output.status.code(), Some(1));
    let (said, noted) =
        (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
    assert_eq!(said, desk.says(&["audit", "a.log"]), "the one that passes");
    let notes: Vec<&str> = noted.lines().collect();
    assert!(notes[0].contains("forged.log: line 14"), "{noted}");
    assert!(notes[1].contains("there is no log missing.log"), "{noted}");
    assert_eq!(notes[2..], ["error: 2 of 3 logs did not pass"]);
    let output = desk.run(&[&all[..], &["--json"]].concat());
    let objects = String::from_utf8(output.stdout).unwrap();
    let objects: Vec<Value> =
        objects.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let found: Vec<_> = objects.iter().map(|one| (&one["log"], &one["passed"])).collect();
    let expected = [("forged.log", false), ("a.log", true), ("missing.log", false)];
    let expected = expected.map(|(log, passed)| (json!(log), json!(passed)));
    assert_eq!(found, expected.each_ref().map(|(log, passed)| (log, passed)));
    assert_eq!(objects[2]["flaw"]["line"], Value::Null);
}

#[test]
fn a_log_without_a_line_and_one_in_use() -> Result<(), JournalError> {
    let desk = Desk::begun("testdata/tables/ads.csv", "0..5");
    fs::write(desk.path("empty.log"), "").unwrap();
    let (code, said) = desk.refuses(&["audit", "empty.log"]);
    assert!(code == 2 && said.contains("has no decisions yet"), "{said}");
    // A writer has the lock, and is in the middle of a line.
    let held = Journal::open(FileStorage::new(desk.path("a.log")))?;
    let begun = format!("{{\"v\":1,\"seq\":{},\"at\":\"", held.last().seq + 1);
    let log = fs::read_to_string(desk.path("a.log")).unwrap();
    fs::write(desk.path("a.log"), log + &begun).unwrap();
    let said = desk.says(&["audit", "a.log"]);
    assert!(said.contains(&format!("the last {} bytes are of a line", begun.len())), "{said}");
    Ok(())
}
