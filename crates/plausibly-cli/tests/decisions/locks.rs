//! Commands wait for a log in use, and an open question does not block other commands.

use super::Desk;
use plausibly_log::fold;
use plausibly_log::journal::FileStorage;
use std::collections::BTreeSet;
use std::fs;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

const DECIDE: [&str; 5] = ["decide", "--log", "a.log", "--actions", "actions.csv"];

/// Several decisions at once; each must answer.
fn at_once(desk: &Desk, args: &[&str], count: usize) -> BTreeSet<String> {
    let start =
        || desk.command(args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let all: Vec<Child> = (0..count).map(|_| start()).collect();
    let answer = |child: Child| {
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    all.into_iter().map(answer).map(|said| said.split(':').next().unwrap().to_string()).collect()
}

#[test]
fn twenty_decisions_at_once_all_answer() {
    // With an existing log, and with one that each of them would begin.
    let begun = Desk::begun("testdata/tables/ads.csv", "0..5");
    let expected =
        |from: u64| (from..from + 20).map(|decision| format!("decision {decision}")).collect();
    let long: &[&str] = &["--wait", "60"];
    assert_eq!(at_once(&begun, &[&DECIDE, long].concat(), 20), expected(2));
    let new = Desk::new("testdata/tables/ads.csv");
    assert_eq!(at_once(&new, &[&DECIDE, long, &["--yes"]].concat(), 20), expected(1));
    let (state, _) = fold(&FileStorage::new(new.path("a.log")), |_| Ok(())).unwrap();
    assert_eq!(state.unwrap().count_decisions(), 20);
}

#[test]
fn a_lock_that_is_held_for_longer_is_an_error_that_names_its_holder() {
    let desk = Desk::begun("testdata/tables/ads.csv", "0..5");
    let before = fs::read(desk.path("a.log")).unwrap();
    let held = fs::File::open(desk.path("a.log")).unwrap();
    held.lock().unwrap();
    for command in
        [&DECIDE[..], &["reward", "--log", "a.log", "1", "2"], &["drop", "--log", "a.log", "1"]]
    {
        let began = Instant::now();
        let (code, text) = desk.refuses(&[command, &["--wait", "0.8"]].concat());
        assert_eq!(code, 1, "{text}");
        assert!(began.elapsed() >= Duration::from_millis(800), "{:?}", began.elapsed());
        assert!(
            text.contains("did not finish within 0.8 s") && text.contains("Nothing was written"),
            "{text}"
        );
        assert!(text.contains("waiting for it for up to 0.8 s"), "{text}");
        if cfg!(target_os = "linux") {
            assert!(text.contains(&format!("process {} (", std::process::id())), "{text}");
        }
        assert_eq!(fs::read(desk.path("a.log")).unwrap(), before);
    }
    let (_, at_once) = desk.refuses(&[&DECIDE[..], &["--wait", "0"]].concat());
    assert!(!at_once.contains("waiting"), "{at_once}");
    // Readers do not wait.
    desk.says(&["status", "--log", "a.log"]);
    // A command waits for a writer that ends in time.
    let waiting =
        desk.command(&DECIDE).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    std::thread::sleep(Duration::from_millis(300));
    drop(held);
    let output = waiting.wait_with_output().unwrap();
    assert!(String::from_utf8(output.stdout).unwrap().starts_with("decision 2: "));
}

#[test]
fn only_some_times_can_be_waited() {
    let desk = Desk::begun("testdata/tables/ads.csv", "0..5");
    for wait in ["-1", "soon", "NaN", "inf", "1e9"] {
        let (code, text) = desk.refuses(&[&DECIDE[..], &[&format!("--wait={wait}")]].concat());
        assert!(code == 2 && text.contains("from 0 to 86400"), "{text}");
    }
}

#[cfg(target_os = "linux")]
mod questions {
    use super::*;
    use std::io::{Read, Write};

    /// Runs a command in a terminal, and gives an answer after each mark that it prints, up to the
    /// question whether to go on; `None` without the program `script`, which makes terminals.
    fn answering(desk: &Desk, args: &[&str], answers: &[(&str, &str)]) -> Option<(Child, String)> {
        let command = format!("{} {}", env!("CARGO_BIN_EXE_plausibly"), args.join(" "));
        let mut script = std::process::Command::new("script");
        script
            .args(["-qfec", &command, "/dev/null"])
            .current_dir(desk.path(""))
            .env_remove("PLAUSIBLY_LOG");
        let Ok(mut child) = script.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn() else {
            eprintln!("skipped: there is no `script` to make a terminal with");
            return None;
        };
        let (mut said, mut read_to) = (String::new(), 0);
        let mut until = |child: &mut Child, mark: &str| {
            while !said[read_to..].contains(mark) {
                let mut byte = [0];
                let more = child.stdout.as_mut().unwrap().read(&mut byte).unwrap();
                assert!(more > 0, "no {mark:?} in: {said}");
                said.push(char::from(byte[0]));
            }
            read_to = said.len();
        };
        for (mark, answer) in answers {
            until(&mut child, mark);
            child.stdin.as_mut().unwrap().write_all(format!("{answer}\n").as_bytes()).unwrap();
        }
        until(&mut child, "[y/N]");
        Some((child, said))
    }

    fn asking(desk: &Desk, args: &[&str]) -> Option<(Child, String)> {
        answering(desk, args, &[])
    }

    fn agreeing(mut child: Child) -> (i32, String) {
        child.stdin.as_mut().unwrap().write_all(b"y\n").unwrap();
        let output = child.wait_with_output().unwrap();
        (output.status.code().unwrap(), String::from_utf8_lossy(&output.stdout).into_owned())
    }

    #[test]
    fn a_question_about_the_policy_does_not_hold_the_log() {
        let desk = Desk::begun("testdata/tables/ads.csv", "0..5");
        let change = [&DECIDE[..], &["--policy", "lin-ucb"]].concat();
        let Some((child, said)) = asking(&desk, &change) else { return };
        assert!(said.contains("Change the policy of a.log"), "{said}");
        assert!(desk.says(&[&DECIDE[..], &["--wait", "2"]].concat()).starts_with("decision 2: "));
        let (code, said) = agreeing(child);
        assert!(code == 0 && said.contains("decision 3: "), "{said}");
        // The policy in the question must still be the current one.
        let Some((child, _)) = asking(&desk, &[&DECIDE[..], &["--policy", "code"]].concat()) else {
            return;
        };
        desk.says(&[&DECIDE[..], &["--set", "delta=0.02", "--yes"]].concat());
        let (code, said) = agreeing(child);
        assert!(code == 2 && said.contains("has meanwhile changed the policy of a.log"), "{said}");
        assert!(desk.says(&DECIDE).starts_with("decision 5: "));
    }

    /// The answers to everything that the first decision would ask.
    const SAID: [&str; 6] =
        ["--reward-range", "0..5", "--outcomes", "number", "--noise", "unknown"];

    #[test]
    fn a_question_about_a_new_log_does_not_hold_it() {
        for (range, agreed) in [("0..5", true), ("0..6", false)] {
            let desk = Desk::new("testdata/tables/ads.csv");
            let Some((child, said)) = asking(&desk, &[&DECIDE[..], &SAID].concat()) else {
                return;
            };
            assert!(said.contains("Begin the log a.log"), "{said}");
            let same = [&DECIDE[..], &SAID[2..], &["--reward-range", range, "--yes"]].concat();
            let other = desk.says(&same);
            assert!(other.starts_with("decision 1: "), "{other}");
            let (code, said) = agreeing(child);
            if agreed {
                assert!(code == 0 && said.contains("decision 2: "), "{said}");
            } else {
                assert!(code == 2 && said.contains("has meanwhile begun a.log"), "{said}");
            }
        }
    }

    #[test]
    fn the_first_decision_asks_what_is_known_about_outcomes() {
        let (range, kind, scatter) = ("at least and at most", "a single outcome", "How much do");
        let desk = Desk::new("testdata/tables/ads.csv");
        // Every question is asked again until its answer can be read.
        let answers = [
            (range, "5..0"),
            ("smaller one first", "0..5"),
            (kind, "often"),
            ("`often`: must be", "number"),
            (scatter, "much"),
            ("`much`", "9"),
            ("scatter by at most 2.5", "0.5"),
        ];
        let Some((child, said)) = answering(&desk, &DECIDE, &answers) else { return };
        assert!(said.contains("scatter by about 0.5: two thirds of them"), "{said}");
        assert!(!desk.path("a.log").exists(), "nothing is written before an answer");
        assert_eq!(agreeing(child).0, 0);
        let log = fs::read_to_string(desk.path("a.log")).unwrap();
        let opened = log.lines().next().unwrap();
        assert!(opened.contains(r#""reward_range":[0.0,5.0]"#), "{opened}");
        assert!(opened.contains("scatter by about 0.5"), "{opened}");
        // Empty answers are the safe ones.
        let desk = Desk::new("testdata/tables/ads.csv");
        let answers = [
            (range, ""),
            (kind, "yes/no"),
            ("is usually yes", "3"),
            ("`3`", "0.03"),
            ("odds of a yes", ""),
        ];
        let Some((child, said)) = answering(&desk, &DECIDE, &answers) else { return };
        assert!(said.contains("An outcome is 0 for no or 1 for yes."), "{said}");
        assert!(said.contains("Usually 3"), "{said}");
        drop(child);
        assert!(!desk.path("a.log").exists());
    }
}
