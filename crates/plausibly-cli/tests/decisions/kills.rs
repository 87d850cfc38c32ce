//! Processes killed at any time lose no acknowledged event, and double none.

use super::Desk;
use plausibly::Stream;
use plausibly_log::fold;
use plausibly_log::journal::FileStorage;
use plausibly_log::state::Outcome;
use std::collections::BTreeMap;
use std::io::Read;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Runs the command, kills it after a while unless it has ended, and returns its stdout.
fn killed(mut command: Command, after: Duration) -> String {
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    std::thread::sleep(after);
    let _ = child.kill();
    child.wait().unwrap();
    let mut said = String::new();
    child.stdout.unwrap().read_to_string(&mut said).unwrap();
    said
}

fn kills(count: usize) {
    let desk = Desk::begun("testdata/tables/ads.csv", "0..5");
    let began = Instant::now();
    let first = desk.run(&["decide", "--log", "a.log", "--actions", "actions.csv"]);
    assert!(first.status.success());
    let usual = began.elapsed();
    let mut rng = Stream::new(6, 0, "kills");
    // What was acknowledged: labels by decision, rewards by decision.
    let (mut decided, mut rewarded) = (BTreeMap::<u64, String>::new(), BTreeMap::<u64, f64>::new());
    let mut interrupted = 0;
    for _ in 0..count {
        let after = usual.mul_f64(1.2 * rng.uniform());
        let said = if rng.uniform() < 0.5 {
            killed(desk.command(&["decide", "--log", "a.log", "--actions", "actions.csv"]), after)
        } else {
            let decision = decided
                .keys()
                .copied()
                .find(|decision| !rewarded.contains_key(decision))
                .unwrap_or(1);
            let (decision, value) = (decision.to_string(), (rng.below(5) as f64).to_string());
            killed(desk.command(&["reward", "--log", "a.log", &decision, &value]), after)
        };
        interrupted += usize::from(said.is_empty());
        for line in said.lines().filter(|_| said.ends_with('\n')) {
            let (number, what) = line.strip_prefix("decision ").unwrap().split_once(": ").unwrap();
            let number: u64 = number.split(' ').next().unwrap().parse().unwrap();
            match what.strip_prefix("recorded ") {
                Some(value) => {
                    let value = value.split(' ').next().unwrap();
                    rewarded.insert(number, value.parse().unwrap());
                }
                None => {
                    assert_eq!(
                        decided.insert(number, what.into()),
                        None,
                        "decision {number} was taken twice"
                    );
                }
            }
        }
    }
    // The log opens by itself, also after a kill in the middle of a line.
    assert!(desk.run(&["decide", "--log", "a.log", "--actions", "actions.csv"]).status.success());
    let (state, end) = fold(&FileStorage::new(desk.path("a.log")), |_| Ok(())).unwrap();
    let state = state.unwrap();
    assert_eq!(end.unfinished, 0);
    for (number, label) in &decided {
        let decision = state.decision(*number).unwrap();
        assert_eq!(&state.actions()[usize::try_from(decision.action).unwrap()].label, label);
    }
    for (number, value) in &rewarded {
        match state.decision(*number).unwrap().outcome {
            Outcome::Settled { reward, .. } => {
                assert_eq!(reward.to_string(), value.to_string(), "decision {number}");
            }
            other => panic!("decision {number} was rewarded, and is {other:?}"),
        }
    }
    eprintln!(
        "{count} kills: {interrupted} before anything was said, {} decisions and {} rewards \
         acknowledged",
        decided.len(),
        rewarded.len()
    );
    assert!(
        interrupted > count / 10 && decided.len() > count / 50,
        "the kills must fall at every moment"
    );
}

#[test]
fn killed_commands_lose_nothing() {
    kills(60);
}

#[test]
fn the_disk_has_a_decision_before_it_is_printed() {
    let desk = Desk::begun("testdata/tables/ads.csv", "0..5");
    let traced = Command::new("strace")
        .args(["-f", "-o", "trace.txt", "-e", "trace=write,fsync,fdatasync"])
        .arg(env!("CARGO_BIN_EXE_plausibly"))
        .args(["decide", "--log", "a.log", "--actions", "actions.csv"])
        .current_dir(desk.path(""))
        .output();
    let Ok(output) = traced else {
        eprintln!("skipped: there is no strace to watch the command with");
        return;
    };
    assert!(output.status.success());
    let trace = std::fs::read_to_string(desk.path("trace.txt")).unwrap();
    let at = |what: &dyn Fn(&str) -> bool| {
        trace.lines().enumerate().filter(|(_, line)| what(line)).last().unwrap().0
    };
    let said = at(&|line| line.contains("write(1, \"decision "));
    let synced = at(&|line| line.contains("fdatasync(") || line.contains("fsync("));
    let written = at(&|line| line.contains("\\\"decided\\\"") || line.contains("{\\\"v\\\":1,"));
    assert!(
        written < synced && synced < said,
        "written {written}, synced {synced}, said {said}\n{trace}"
    );
}

mod full {
    #[test]
    fn five_hundred_killed_commands_lose_nothing() {
        super::kills(500);
    }
}
