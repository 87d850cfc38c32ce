//! `plausibly upgrade`: the old log stays as it is, whatever happens.

use super::Desk;
use plausibly_log::event::{Event, FIRST_FORMAT, Outcomes};
use plausibly_log::fold;
use plausibly_log::journal::{FileStorage, Journal};
use plausibly_log::recipe::{Context, Recipe};
use plausibly_log::state::State;
use plausibly_log::table::Table;
use std::fs;
use std::process::Stdio;
use std::time::{Duration, Instant};

const DECIDE: [&str; 5] = ["decide", "--log", "a.log", "--actions", "actions.csv"];

/// A log of format 1 with decisions about the ads, of which all but the last have outcomes.
fn old_log(desk: &Desk, decisions: usize) {
    let table = Table::read(fs::read(desk.path("actions.csv")).unwrap().as_slice()).unwrap();
    let recipe = Recipe::infer(&table, &Context::default()).unwrap();
    let policy = serde_json::json!({"kind": "code"}).as_object().unwrap().clone();
    let mut opened = Event::Opened {
        format: FIRST_FORMAT,
        policy,
        reward_range: (0.0, 5.0),
        horizon: None,
        seed: 1,
        outcomes: Outcomes::Number,
        assumed: Vec::new(),
        upgraded: None,
        growth: None,
        window: None,
        recipe,
    };
    let state = State::open(&opened).unwrap();
    if let Event::Opened { policy, .. } = &mut opened {
        policy.clone_from(state.policy().1);
    }
    let mut journal = Journal::open(FileStorage::new(desk.path("a.log"))).unwrap();
    journal.append(1_000_000, &[&serde_json::to_string(&opened).unwrap()]).unwrap();
    drop(journal);
    for decision in 1..=decisions {
        desk.says(&DECIDE);
        if decision < decisions {
            let value = format!("{}", 1.5 + 0.25 * (decision % 7) as f64);
            desk.says(&["reward", "--log", "a.log", &decision.to_string(), &value]);
        }
    }
}

#[test]
fn a_log_goes_on_in_a_new_file() {
    let desk = Desk::new("testdata/tables/ads.csv");
    old_log(&desk, 12);
    let before = fs::read(desk.path("a.log")).unwrap();
    desk.says(&["explain", "--log", "a.log", "7", "--json"]);
    let said = desk.says(&["upgrade", "a.log"]);
    assert!(
        said.starts_with("a.2.log continues a.log: 12 decisions, checked line for line"),
        "{said}"
    );
    assert!(said.contains("may scatter in any way") && said.contains("95 %"), "{said}");
    assert_eq!(fs::read(desk.path("a.log")).unwrap(), before);
    // The same explanation of the past, and decisions from here on.
    let explained = |log: &str| desk.says(&["explain", "--log", log, "7"]);
    assert_eq!(explained("a.log"), explained("a.2.log"));
    let later =
        desk.says(&["decide", "--log", "a.2.log", "--actions", "actions.csv", "--key", "k"]);
    assert!(later.starts_with("decision 13: "), "{later}");
    let status = desk.says(&["status", "--log", "a.2.log"]);
    assert!(status.contains("every recorded choice was derived again"), "{status}");
    let certificate = desk.says(&["explain", "--log", "a.2.log", "13", "--json"]);
    fs::write(desk.path("13.json"), certificate).unwrap();
    desk.says(&["verify", "13.json", "--log", "a.2.log"]);
    // A second upgrade names what is there.
    let (code, said) = desk.refuses(&["upgrade", "a.log"]);
    assert!(code == 2 && said.contains("a.2.log exists"), "{said}");
    let (code, said) = desk.refuses(&["upgrade", "a.2.log"]);
    assert!(code == 2 && said.contains("format 2 already"), "{said}");
    let names = fs::read_dir(desk.path("")).unwrap().count();
    assert_eq!(names, 4, "the table, two logs and a certificate");
}

#[test]
fn a_log_that_cannot_be_upgraded_stays_and_leaves_no_file() {
    let desk = Desk::new("testdata/tables/ads.csv");
    let (code, said) = desk.refuses(&["upgrade", "none.log"]);
    assert!(code == 1 && said.contains("there is no log none.log"), "{said}");
    assert!(!desk.path("none.log").exists());
    old_log(&desk, 3);
    let held = fs::File::open(desk.path("a.log")).unwrap();
    held.lock().unwrap();
    let (code, said) = desk.refuses(&["upgrade", "a.log", "--wait", "0"]);
    assert!(code == 1 && said.contains("is writing to a.log"), "{said}");
    drop(held);
    let mut bytes = fs::read(desk.path("a.log")).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(desk.path("a.log"), &bytes).unwrap();
    let (code, said) = desk.refuses(&["upgrade", "a.log"]);
    assert!(code == 1 && said.contains("a.log"), "{said}");
    assert_eq!(fs::read(desk.path("a.log")).unwrap(), bytes);
    let (code, said) = desk.refuses(&["upgrade", "a.log", "--to", "nowhere/b.log"]);
    assert!(code == 1 && said.contains("nowhere"), "{said}");
    assert_eq!(fs::read_dir(desk.path("")).unwrap().count(), 2, "the table and the log");
}

#[test]
fn an_upgrade_that_is_killed_leaves_the_old_log_and_no_half_of_a_new_one() {
    let desk = Desk::new("testdata/tables/ads.csv");
    old_log(&desk, 30);
    let before = fs::read(desk.path("a.log")).unwrap();
    let began = Instant::now();
    desk.says(&["upgrade", "a.log", "--to", "whole.log", "--at", "2026-11-18T00:00:00Z"]);
    let usual = began.elapsed();
    let whole = fs::read(desk.path("whole.log")).unwrap();
    let mut killed = 0;
    for part in 0..20 {
        let args = ["upgrade", "a.log", "--at", "2026-11-18T00:00:00Z"];
        let mut command = desk.command(&args);
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        std::thread::sleep(usual.mul_f64(f64::from(part) / 16.0).min(Duration::from_secs(2)));
        let _ = child.kill();
        child.wait().unwrap();
        assert_eq!(fs::read(desk.path("a.log")).unwrap(), before);
        match fs::read(desk.path("a.2.log")) {
            Ok(new) => assert_eq!(new, whole),
            Err(_) => killed += 1,
        }
        let _ = fs::remove_file(desk.path("a.2.log"));
    }
    assert!(killed > 0, "no process was killed in time");
    let (state, _) = fold(&FileStorage::new(desk.path("whole.log")), |_| Ok(())).unwrap();
    assert_eq!(state.unwrap().count_decisions(), 30);
}
