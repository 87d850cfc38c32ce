use super::Desk;
use plausibly_log::journal::{FileStorage, Journal};
use std::fs;

/// Checks that a command is refused with all of these words and leaves the log unchanged.
fn refused(desk: &Desk, args: &[&str], code: i32, words: &[&str]) {
    let before = fs::read(desk.path("a.log")).ok();
    let (found, text) = desk.refuses(args);
    assert_eq!(found, code, "{args:?}: {text}");
    for word in words {
        assert!(text.contains(word), "{args:?}: `{word}` is not in\n{text}");
    }
    assert_eq!(fs::read(desk.path("a.log")).ok(), before, "{args:?} wrote");
}

#[test]
fn nothing_begins_without_consent_or_with_what_cannot_be() {
    let desk = Desk::new("testdata/tables/ads.csv");
    let decide = |more: &[&'static str]| -> Vec<&str> {
        [&["decide", "--log", "a.log", "--actions", "actions.csv"], more].concat()
    };
    refused(&desk, &decide(&[]), 2, &["a.log has not begun", "--yes", "Nothing was written"]);
    refused(
        &desk,
        &decide(&["--yes", "--set", "target.accuracy=0.5", "--set", "target.by_round=9"]),
        2,
        &["a deadline", "by_round"],
    );
    refused(&desk, &decide(&["--yes", "--policy", "codex"]), 2, &["codex", "lin-ucb"]);
    refused(&desk, &decide(&["--yes", "--set", "greed=2"]), 2, &["greed", "at most 1"]);
    refused(&desk, &decide(&["--yes", "--set", "greed"]), 2, &["FIELD=VALUE"]);
    refused(&desk, &decide(&["--yes", "--policy", "epsilon-greedy"]), 2, &["--horizon"]);
    refused(&desk, &decide(&["--yes", "--reward-range", "5..1"]), 2, &["smaller one first"]);
    refused(&desk, &decide(&["--yes", "--context", "mobile"]), 2, &["KEY=VALUE"]);
    refused(&desk, &decide(&["--yes", "--leave-out", "colour"]), 2, &["colour"]);
    refused(&desk, &["reward", "--log", "a.log", "1", "2"], 1, &["there is no log a.log"]);
    refused(&desk, &["status", "--log", "a.log"], 1, &["there is no log a.log"]);
    assert!(!desk.path("a.log").exists());
    fs::write(desk.path("actions.csv"), "").unwrap();
    refused(&desk, &decide(&["--yes"]), 2, &["actions.csv"]);
}

#[test]
fn vectors_are_taken_as_they_are_or_refused_by_row_and_column() {
    let desk = Desk::new("testdata/tables/ads.csv");
    let decide = |more: &[&'static str]| -> Vec<&str> {
        [&["decide", "--log", "a.log", "--actions", "actions.csv"], more].concat()
    };
    let given = |more: &[&'static str]| {
        decide(&[&["--yes", "--as-given", "--theta-norm-bound", "0.3"], more].concat())
    };
    refused(&desk, &given(&[]), 2, &["line 2", "column", "not a number"]);
    refused(&desk, &decide(&["--yes", "--as-given"]), 2, &["--theta-norm-bound"]);
    refused(&desk, &decide(&["--yes", "--theta-norm-bound", "1"]), 2, &["--as-given"]);
    fs::write(desk.path("actions.csv"), "name,x\na,0.5\nb,-0.25\n").unwrap();
    refused(&desk, &given(&["--context", "a=b"]), 2, &["--context"]);
    refused(&desk, &given(&["--reward-range", "1e6..1000001"]), 2, &["too far from zero"]);
    assert!(
        desk.says(&given(&["--explain", "--certificate", "c.json"])).contains("is at most 0.3")
    );
    // The same settings may be repeated, but not changed.
    desk.says(&given(&[]));
    refused(&desk, &decide(&["--as-given", "--theta-norm-bound", "1"]), 2, &["fixed", "a new log"]);
    refused(&desk, &decide(&["--context", "a=b"]), 2, &["cannot use the context `a`"]);
    desk.says(&["verify", "c.json", "--log", "a.log"]);
}

#[test]
fn elimination_says_what_it_waits_for_and_what_it_cannot_decide_about() {
    let desk = Desk::new("testdata/tables/ads.csv");
    fs::write(desk.path("actions.csv"), "name,x\na,1\nb,-0.5\n").unwrap();
    let decide = ["decide", "--log", "a.log", "--actions", "actions.csv"];
    let given = [
        "--yes",
        "--as-given",
        "--theta-norm-bound",
        "1",
        "--policy",
        "elimination",
        "--set",
        "delta=0.99",
    ];
    assert!(
        desk.says(&[&decide[..], &given, &["--explain"]].concat())
            .contains("This is phase 1, with")
    );
    for _ in 2..=12 {
        desk.says(&decide);
    }
    refused(&desk, &decide, 2, &["phase 1", "reward or drop decisions 1, 2, 3", "and 2 more"]);
    assert!(desk.says(&["status", "--log", "a.log"]).contains("waits for 12 outcomes"));
    for decision in 1..=12 {
        desk.says(&["reward", "--log", "a.log", &decision.to_string(), "0.5"]);
    }
    desk.says(&[&decide[..], &["--certificate", "c.json"]].concat());
    desk.says(&["verify", "c.json", "--log", "a.log"]);
    fs::write(desk.path("actions.csv"), "name,x\na,1\n").unwrap();
    refused(&desk, &decide, 2, &["same actions", "\"b\" is missing", "--policy code"]);
    desk.says(&[&decide[..], &["--yes", "--policy", "code"]].concat());
}

#[test]
fn the_log_of_the_environment_is_the_log_and_no_reason_to_take_files_for_numbers() {
    let desk = Desk::begun("testdata/tables/ads.csv", "0..5");
    let explained = desk.says(&["explain", "--log", "a.log", "1"]);
    fs::write(desk.path("c.json"), desk.says(&["explain", "--log", "a.log", "1", "--json"]))
        .unwrap();
    let with =
        |args: &[&str], log: &str| desk.command(args).env("PLAUSIBLY_LOG", log).output().unwrap();
    let said = |args: &[&str]| String::from_utf8(with(args, "a.log").stdout).unwrap();
    assert_eq!(said(&["explain", "1"]), explained);
    assert_eq!(said(&["explain", "c.json"]), explained);
    assert!(said(&["verify", "c.json"]).contains("those of the log"));
    assert!(!with(&["verify", "c.json"], "another.log").status.success());
    assert!(with(&["explain", "c.json"], "another.log").status.success(), "a file needs no log");
    refused(&desk, &["explain", "c.json", "--log", "a.log"], 2, &["give the number of a decision"]);
    refused(&desk, &["explain", "c.json", "--list", "3"], 2, &["use it with a decision of a log"]);
    assert_eq!(desk.says(&["explain", "--log", "a.log", "1", "--list", "300"]), explained);
}

#[test]
fn outcomes_are_recorded_once_and_conflicts_say_what_is_stored() {
    let desk = Desk::begun("testdata/tables/ads.csv", "0..5");
    let again = |more: &[&'static str]| -> Vec<&str> {
        [&["decide", "--log", "a.log", "--actions", "actions.csv"], more].concat()
    };
    refused(&desk, &again(&["--reward-range", "0..6"]), 2, &["fixed as 0..5"]);
    refused(&desk, &again(&["--seed", "3"]), 2, &["seed was fixed"]);
    refused(&desk, &again(&["--leave-out", "price"]), 2, &["columns was fixed"]);
    refused(&desk, &again(&["--policy", "lin-ucb"]), 2, &["policy of a.log would change", "--yes"]);
    let reward =
        |more: &[&'static str]| -> Vec<&str> { [&["reward", "--log", "a.log"], more].concat() };
    refused(&desk, &reward(&["2", "1"]), 2, &["there is no decision 2"]);
    refused(&desk, &reward(&["1", "6"]), 2, &["from 0 to 5", "got 6"]);
    refused(&desk, &reward(&["1", "NaN"]), 2, &["from 0 to 5"]);
    refused(&desk, &reward(&["1", "--retract"]), 2, &["no reward yet"]);
    let chosen = desk.says(&["explain", "--log", "a.log", "1"]);
    let chosen = chosen.split('"').nth(1).unwrap();
    let named = |what: &str| format!("decision 1 ({chosen}): {what}\n");
    assert_eq!(desk.says(&reward(&["1", "3"])), named("recorded 3"));
    let size = || fs::metadata(desk.path("a.log")).unwrap().len();
    let before = size();
    assert_eq!(
        desk.says(&reward(&["1", "3"])),
        named("recorded 3 (already recorded; nothing was written)")
    );
    assert_eq!(size(), before, "a duplicate is not written");
    refused(&desk, &reward(&["1", "4"]), 2, &[chosen, "has the reward 3", "add --correct"]);
    refused(&desk, &["drop", "--log", "a.log", "1"], 2, &["has the reward 3", "--retract"]);
    assert_eq!(desk.says(&reward(&["1", "4", "--correct"])), named("corrected to 4"));
    desk.says(&reward(&["1", "--retract"]));
    refused(&desk, &reward(&["1", "4", "--correct"]), 2, &["no reward yet", "without --correct"]);
    assert_eq!(
        desk.says(&["drop", "--log", "a.log", "1"]),
        named("dropped; its outcome will never come")
    );
    assert!(desk.says(&["drop", "--log", "a.log", "1"]).contains("nothing was written"));
    for more in [&["1", "4"][..], &["1", "4", "--correct"], &["1", "--retract"]] {
        let args = [&["reward", "--log", "a.log"], more].concat();
        refused(&desk, &args, 2, &[chosen, "was dropped", "drop … --undo"]);
    }
    let undo = ["drop", "--log", "a.log", "1", "--undo"];
    assert_eq!(desk.says(&undo), named("no longer dropped; the decision is pending again"));
    assert!(desk.says(&undo).contains("nothing was written"));
    assert_eq!(desk.says(&reward(&["1", "4"])), named("recorded 4"));
    refused(&desk, &undo, 2, &[chosen, "has the reward 4", "not dropped"]);
}

#[test]
fn a_key_that_cannot_be_kept_begins_no_log() {
    let desk = Desk::new("testdata/tables/ads.csv");
    let decide = ["decide", "--log", "a.log", "--actions", "actions.csv", "--yes", "--key", "a\tb"];
    refused(&desk, &decide, 2, &["--key", "a control character", "Nothing was written"]);
    assert!(!desk.path("a.log").exists());
}

#[test]
fn damage_is_named() {
    let desk = Desk::begun("testdata/tables/ads.csv", "0..5");
    desk.says(&["reward", "--log", "a.log", "1", "3"]);
    let genuine = fs::read_to_string(desk.path("a.log")).unwrap();
    fs::write(desk.path("a.log"), genuine.replace("\"reward\":3.0", "\"reward\":4.0")).unwrap();
    let lines = genuine.lines().count();
    for command in [&["status", "--log", "a.log"][..], &["reward", "--log", "a.log", "1", "3"]] {
        refused(&desk, command, 1, &[&format!("line {lines}")]);
    }
    // An event that cannot follow is named too, although its hashes are right.
    fs::write(desk.path("a.log"), &genuine).unwrap();
    let mut journal = Journal::open(FileStorage::new(desk.path("a.log"))).unwrap();
    journal.append(0, &[r#"{"rewarded":{"decision":1,"reward":4.0}}"#]).unwrap();
    drop(journal);
    refused(
        &desk,
        &["status", "--log", "a.log"],
        1,
        &[&format!("line {}", lines + 1), "has the reward 3"],
    );
}

#[test]
fn certificates_that_were_changed_are_refused() {
    let desk = Desk::begun("testdata/tables/ads.csv", "0..5");
    desk.says(&["decide", "--log", "a.log", "--actions", "actions.csv", "--certificate", "c.json"]);
    assert!(desk.says(&["verify", "c.json"]).contains("only the log can show"));
    assert!(desk.says(&["verify", "c.json", "--log", "a.log"]).contains("nothing was left out"));
    let genuine = fs::read_to_string(desk.path("c.json")).unwrap();
    assert_eq!(
        desk.says(&["explain", "--log", "a.log", "2", "--json"]),
        genuine,
        "made again from the log"
    );
    let change = |from: &str, to: &str| {
        assert!(genuine.contains(from), "{from}");
        fs::write(desk.path("c.json"), genuine.replacen(from, to, 1)).unwrap();
    };
    change("\"plausible\":", "\"plausible\":1");
    refused(&desk, &["verify", "c.json"], 1, &["findings.plausible"]);
    refused(&desk, &["explain", "c.json"], 1, &["wrong", "findings.plausible"]);
    change("\"seed\":", "\"seed\":1");
    refused(&desk, &["verify", "c.json"], 1, &["seal"]);
    change("\"decision\":2", "\"decision\":9");
    refused(&desk, &["verify", "c.json", "--log", "a.log"], 1, &["wrong"]);
    fs::write(desk.path("c.json"), "{}").unwrap();
    refused(&desk, &["verify", "c.json"], 1, &["not a certificate"]);
}

#[test]
fn what_is_printed_as_json_is_the_certificate() {
    let desk = Desk::new("testdata/tables/ads.csv");
    // Names with control characters are harmless in JSON, and the certificate stays the one that
    // was sealed.
    fs::write(desk.path("actions.csv"), "name\na\u{7f}\u{85}b\nc\n").unwrap();
    let json =
        desk.says(&["decide", "--log", "b.log", "--actions", "actions.csv", "--yes", "--json"]);
    assert!(!json.chars().any(|c| c.is_control() && c != '\n'));
    fs::write(desk.path("c.json"), json).unwrap();
    desk.says(&["verify", "c.json", "--log", "b.log"]);
    // A log whose first line was torn has not begun.
    let first = fs::read_to_string(desk.path("b.log")).unwrap();
    fs::write(desk.path("torn.log"), &first[..200]).unwrap();
    assert!(
        desk.says(&["decide", "--log", "torn.log", "--actions", "actions.csv", "--yes"])
            .starts_with("decision 1: ")
    );
}
