//! `plausibly plan`: what it says and refuses, and its numbers beside logs that were played.

mod through_logs;

use crate::{SPEC, Sandbox};
use insta::assert_snapshot;

fn plan(args: &[&str]) -> String {
    Sandbox::new(SPEC).transcript(&[&["plan"], args].concat())
}

#[test]
fn the_answer_is_a_sentence_for_each_case_and_a_table() {
    assert_snapshot!(
        "yes_no",
        plan(&[
            "--choices",
            "4",
            "--outcomes",
            "yes/no",
            "--near",
            "5%",
            "--difference",
            "20%",
            "--runs",
            "40",
        ])
    );
    assert_snapshot!(
        "numbers",
        plan(&[
            "--choices",
            "2",
            "--reward-range",
            "1..10",
            "--near",
            "7",
            "--noise",
            "1.5",
            "--difference",
            "1",
            "--runs",
            "40",
        ])
    );
    assert_snapshot!(
        "unknown_scatter",
        plan(&["--choices", "2", "--difference", "0.3", "--near", "0.5", "--runs", "29"])
    );
    // Half of the difference takes more outcomes than any run has.
    assert_snapshot!(
        "too_long",
        plan(&["--choices", "2", "--difference", "0.00003", "--near", "0.5", "--runs", "29"])
    );
}

#[test]
fn json_has_every_number_on_any_number_of_threads() {
    let args = |threads| {
        plan(&[
            "--choices",
            "3",
            "--outcomes",
            "counts",
            "--near",
            "0.3",
            "--difference",
            "0.3",
            "--runs",
            "30",
            "--json",
            "--threads",
            threads,
        ])
    };
    let lines = |text: String| text.lines().skip(1).map(str::to_string).collect::<Vec<_>>();
    assert_eq!(lines(args("1")), lines(args("3")));
    assert_snapshot!("json", args("1"));
}

#[test]
fn what_cannot_be_is_refused_and_what_can_is_said() {
    let asked = |more: &[&'static str]| {
        let transcript = plan(&[&["--choices", "3"], more].concat());
        assert!(transcript.contains("exit code 2\n--- stdout\n--- stderr"), "{transcript}");
        let said: Vec<&str> = transcript.lines().skip(4).collect();
        said.join("\n")
    };
    let rates = ["--outcomes", "yes/no"];
    let rates = |more: &[&'static str]| asked(&[&rates[..], more].concat());
    let all = [
        rates(&["--near", "120%", "--difference", "2%"]),
        rates(&["--near", "99%", "--difference", "2%"]),
        rates(&["--near", "5%", "--difference", "0"]),
        rates(&["--near", "5%", "--difference", "two"]),
        rates(&["--near", "5%", "--difference", "2,5%"]),
        rates(&["--near", "5%", "--difference", "2%", "--noise", "0.1"]),
        rates(&["--near", "5%", "--difference", "2%", "--reward-range", "0..5"]),
        rates(&["--near", "5%"]),
        asked(&["--difference", "0.1", "--noise", "0"]),
        asked(&["--difference", "0.1", "--noise", "0.6"]),
        asked(&["--difference", "0.1", "--noise", "loud"]),
        asked(&["--reward-range", "1..10", "--difference", "5%"]),
        asked(&["--reward-range", "1..10", "--near", "0", "--difference", "1"]),
        asked(&["--reward-range", "10..1", "--difference", "1"]),
        plan(&["--choices", "1", "--difference", "0.1"]),
        plan(&["--choices", "2", "--difference", "0.1", "--runs", "5"]),
    ];
    assert_snapshot!("refused", all.join("\n\n"));
}
