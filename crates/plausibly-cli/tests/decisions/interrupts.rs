//! A signal ends a command before it writes, or waits until it has answered. An answer that cannot
//! be printed is an error.
#![cfg(unix)]

use super::Desk;
use plausibly::Stream;
use plausibly_log::fold;
use plausibly_log::journal::FileStorage;
use plausibly_log::state::State;
use std::fs;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

const DECIDE: [&str; 5] = ["decide", "--log", "a.log", "--actions", "actions.csv"];

fn state(desk: &Desk) -> State {
    fold(&FileStorage::new(desk.path("a.log")), |_| Ok(())).unwrap().0.unwrap()
}

/// Runs a command and sends it a signal after a while, unless it has ended.
fn interrupted(mut command: Command, signal: &str, after: Duration) -> Output {
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    std::thread::sleep(after);
    let script = format!("kill -s {signal} {} 2>/dev/null", child.id());
    // The command may have ended.
    let _ = Command::new("sh").args(["-c", &script]).status().unwrap();
    child.wait_with_output().unwrap()
}

fn interrupts(count: usize) {
    let desk = Desk::begun("testdata/tables/ads.csv", "0..5");
    let began = Instant::now();
    desk.says(&DECIDE);
    let usual = began.elapsed();
    let mut rng = Stream::new(7, 0, "interrupts");
    let (mut stopped, mut answered) = (0, 0);
    for _ in 0..count {
        let before = state(&desk).count_decisions();
        let after = usual.mul_f64(1.3 * rng.uniform());
        let signal = ["INT", "TERM", "HUP"][usize::try_from(rng.below(3)).unwrap()];
        // A policy that changes every time: a change and its decision are recorded together or not
        // at all.
        let greed = format!("greed={}", rng.uniform());
        let command = desk.command(&[&DECIDE[..], &["--set", &greed, "--yes"]].concat());
        let policy_before = state(&desk).policy().1.clone();
        let output = interrupted(command, signal, after);
        let said = String::from_utf8(output.stdout).unwrap();
        let now = state(&desk);
        // Before the command catches signals, the signal itself ends it, which shells also report
        // as 130.
        match output.status.code().unwrap_or(130) {
            130 => {
                stopped += 1;
                assert_eq!((now.count_decisions(), said.as_str()), (before, ""));
                assert_eq!(*now.policy().1, policy_before, "130 says that nothing was written");
            }
            0 => {
                answered += 1;
                assert_eq!(now.count_decisions(), before + 1);
                assert!(said.starts_with(&format!("decision {}: ", before + 1)), "{said}");
            }
            other => panic!("exit code {other}: {}", String::from_utf8_lossy(&output.stderr)),
        }
    }
    eprintln!("{count} interrupts: {stopped} before the write, {answered} answered");
    assert!(stopped > count / 10 && answered > count / 50, "they must fall at every moment");
}

#[test]
fn a_signal_stops_a_decision_or_waits_for_its_answer() {
    interrupts(100);
}

mod full {
    #[test]
    fn a_thousand_signals_stop_decisions_or_wait_for_their_answers() {
        super::interrupts(1000);
    }
}

#[test]
fn a_signal_before_a_log_begins_leaves_no_file() {
    let desk = Desk::new("testdata/tables/ads.csv");
    let mut rng = Stream::new(8, 0, "begins");
    for _ in 0..20 {
        let _ = fs::remove_file(desk.path("a.log"));
        let command = desk.command(&[&DECIDE[..], &["--yes"]].concat());
        let output = interrupted(command, "INT", Duration::from_micros(rng.below(12_000)));
        let answered = output.status.code() == Some(0);
        assert_eq!(
            desk.path("a.log").exists(),
            answered,
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
    }
}

/// Exit code and stderr where stdout is a full disk or a closed pipe.
fn unread(desk: &Desk, args: &[&str]) -> Vec<(Option<i32>, String)> {
    let told = |output: Output| (output.status.code(), String::from_utf8(output.stderr).unwrap());
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let mut all = vec![told(desk.command(args).stdout(writer).output().unwrap())];
    if cfg!(target_os = "linux") {
        let full = fs::File::options().write(true).open("/dev/full").unwrap();
        all.push(told(desk.command(args).stdout(full).output().unwrap()));
    }
    all
}

#[test]
fn an_answer_that_cannot_be_printed_is_told_on_stderr_with_a_code_of_its_own() {
    let desk = Desk::begun("testdata/tables/ads.csv", "0..5");
    for more in [&[][..], &["--json"], &["--explain"]] {
        let before = state(&desk).count_decisions();
        for ((code, text), decision) in
            unread(&desk, &[&DECIDE[..], more].concat()).into_iter().zip(before + 1..)
        {
            assert_eq!(code, Some(4), "{text}");
            let record = state(&desk).decision(decision).unwrap().action;
            let label = state(&desk).actions()[usize::try_from(record).unwrap()].label.clone();
            let said = format!(
                "decision {decision} ({label}) was taken and is in a.log, but the answer could not"
            );
            assert!(text.contains(&said), "{text}");
        }
    }
    for (args, what) in [
        (&["reward", "--log", "a.log", "1", "3"][..], "recorded 3"),
        (&["reward", "--log", "a.log", "1", "--retract"], "taken back"),
        (&["drop", "--log", "a.log", "1"], "never come"),
    ] {
        // Repeating the outcome changes nothing; a retraction cannot be repeated.
        let (code, text) = unread(&desk, args).remove(0);
        assert_eq!(code, Some(4), "{text}");
        assert!(
            text.contains("decision 1 (") && text.contains(what) && text.contains("is in a.log"),
            "{text}"
        );
    }
    // A closed pipe is not an error for commands that only read.
    for args in [&["status", "--log", "a.log"][..], &["explain", "--log", "a.log", "1"]] {
        assert_eq!(unread(&desk, args)[0].0, Some(0));
    }
}

#[test]
fn a_certificate_that_cannot_be_written_after_all_is_told_too() {
    if !cfg!(target_os = "linux") {
        return;
    }
    let desk = Desk::begun("testdata/tables/ads.csv", "0..5");
    let output = desk.run(&[&DECIDE[..], &["--certificate", "/dev/full"]].concat());
    assert_eq!(output.status.code(), Some(4));
    assert!(String::from_utf8(output.stdout).unwrap().starts_with("decision 2: "), "it is told");
    let text = String::from_utf8(output.stderr).unwrap();
    assert!(
        text.contains("decision 2 (") && text.contains("explain --log a.log 2 --json"),
        "{text}"
    );
}
