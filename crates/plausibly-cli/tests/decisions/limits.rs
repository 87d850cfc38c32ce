use super::Desk;
use plausibly_log::event::{Event, FIRST_FORMAT, Outcomes};
use plausibly_log::journal::{FileStorage, Journal};
use plausibly_log::recipe::{Context, Recipe};
use plausibly_log::table::Table;
use std::fs;

const DECIDE: [&str; 6] = ["decide", "--log", "a.log", "--actions", "actions.csv", "--yes"];

/// Checks that a command is refused with all of these words and creates no log.
fn refused(desk: &Desk, args: &[&str], words: &[&str]) {
    let (code, text) = desk.refuses(args);
    assert!(code == 1 || code == 2, "{args:?}: {text}");
    for word in words {
        assert!(text.contains(word), "{args:?}: `{word}` is not in\n{text}");
    }
    assert!(!desk.path("a.log").exists(), "{args:?} wrote");
}

#[test]
fn names_that_no_line_holds_are_refused_before_anything_is_written() {
    let desk = Desk::new("testdata/tables/ads.csv");
    let long = "x".repeat(65_536);
    let table = |text: String| fs::write(desk.path("actions.csv"), text).unwrap();
    table(format!("name,price\n{long},1\nmug,2\n"));
    refused(&desk, &DECIDE, &["line 2, column `name`", "65536 characters, more than 256"]);
    table(format!("label,price\n{long},1\nmug,2\n"));
    refused(&desk, &DECIDE, &["line 2, column `label`", "65536 characters, more than 256"]);
    table(format!("name,{long}\nbowl,1\nmug,2\n"));
    refused(&desk, &DECIDE, &["line 1: the name of column 2 has 65536 characters"]);
    table(format!("name,colour\nbowl,red\nmug,{long}\n"));
    refused(
        &desk,
        &DECIDE,
        &["line 3, column `colour`: the value has 65536 characters", "leave out the column"],
    );
    table("name,colour\nbowl,red\nmug,blue\n".into());
    for pair in [format!("{long}=1"), format!("device={long}")] {
        refused(
            &desk,
            &[&DECIDE[..], &["--context", &pair]].concat(),
            &["65536 characters, more than 256"],
        );
    }
    // The limit counts characters of any script, not bytes.
    table(format!("label,price\n{},1\n{},2\n", "é".repeat(256), "ü".repeat(256)));
    desk.says(&DECIDE);
}

/// A log as a version without a limit wrote it.
fn log_with(desk: &Desk, label: &str) {
    let table = Table::read("name,price\nbowl,1\nmug,2\n".as_bytes()).unwrap();
    // Reading from a log applies no limit.
    let context: Context = serde_json::from_value(serde_json::json!({"device": label})).unwrap();
    let recipe = Recipe::infer(&table, &context).unwrap();
    let cells = |row: usize| recipe.cells(table.row(row).unwrap()).unwrap();
    let policy = serde_json::json!({"kind": "code"}).as_object().unwrap().clone();
    let events = [
        Event::Opened {
            format: FIRST_FORMAT,
            policy,
            reward_range: (0.0, 1.0),
            horizon: None,
            seed: 1,
            outcomes: Outcomes::Number,
            assumed: Vec::new(),
            upgraded: None,
            growth: None,
            window: None,
            recipe: recipe.clone(),
        },
        Event::ActionAdded { action: 0, label: label.into(), cells: cells(0) },
        Event::ActionAdded { action: 1, label: "mug".into(), cells: cells(1) },
        Event::SetOffered { set: 0, actions: vec![0, 1] },
        Event::Decided {
            decision: 1,
            set: 0,
            context,
            chosen: 0,
            label: label.into(),
            key: None,
            request: None,
            by: None,
            rows: None,
            forecasts: None,
        },
    ];
    let bodies: Vec<String> =
        events.iter().map(|event| serde_json::to_string(event).unwrap()).collect();
    let mut journal = Journal::open(FileStorage::new(desk.path("a.log"))).unwrap();
    journal.append(1_000_000, &bodies.iter().map(String::as_str).collect::<Vec<_>>()).unwrap();
}

#[test]
fn an_old_log_with_longer_names_is_read_and_shown() {
    let desk = Desk::new("testdata/tables/ads.csv");
    let long = "x".repeat(65_536);
    log_with(&desk, &long);
    for args in [
        &["status", "--log", "a.log"][..],
        &["status", "--log", "a.log", "--json"],
        &["status", "--log", "a.log", "--html", "status.html", "--svg", "status.svg"],
        &["explain", "--log", "a.log", "1"],
        &["explain", "--log", "a.log", "1", "--html", "page.html"],
        &["replay", "--log", "a.log", "--policy", "lin-ucb"],
    ] {
        let said = desk.says(args);
        assert!(
            said.contains(&long) || args.contains(&"--html") || args.contains(&"replay"),
            "{args:?}"
        );
    }
    fs::write(desk.path("c.json"), desk.says(&["explain", "--log", "a.log", "1", "--json"]))
        .unwrap();
    desk.says(&["verify", "c.json", "--log", "a.log"]);
    assert!(desk.says(&["explain", "c.json"]).contains(&long));
    desk.says(&["reward", "--log", "a.log", "1", "0.5"]);
}

#[cfg(unix)]
#[test]
fn a_file_without_end_is_refused_by_the_limit_of_its_kind() {
    let desk = Desk::new("testdata/tables/ads.csv");
    let endless = "/dev/zero";
    let decide = |more: &[&'static str]| [&["decide", "--log", "a.log", "--yes"], more].concat();
    refused(
        &desk,
        &["verify", endless],
        &["/dev/zero has more than 256 MiB, the limit of a certificate"],
    );
    refused(
        &desk,
        &["explain", endless],
        &["/dev/zero has more than 256 MiB, the limit of a certificate"],
    );
    refused(&desk, &["simulate", endless], &["/dev/zero has more than 4 MiB, the limit of a spec"]);
    refused(
        &desk,
        &decide(&["--actions", endless]),
        &["/dev/zero: the table has more than 256 MiB"],
    );
    let policy = decide(&["--actions", "actions.csv", "--policy", endless]);
    refused(&desk, &policy, &["/dev/zero has more than 1 MiB, the limit of the file of a policy"]);
}
