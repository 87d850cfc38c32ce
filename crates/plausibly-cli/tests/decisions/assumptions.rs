//! What a log assumes: said at the first decision, printed, recorded, and changed later.

use super::Desk;
use std::fs;

const DECIDE: [&str; 5] = ["decide", "--log", "a.log", "--actions", "actions.csv"];

/// Both streams of a command that succeeds.
fn said(desk: &Desk, args: &[&str]) -> String {
    let output = desk.run(args);
    let text = [output.stderr, output.stdout].map(|bytes| String::from_utf8(bytes).unwrap());
    assert!(output.status.success(), "{args:?}: {}", text[0]);
    text.concat()
}

#[test]
fn what_is_not_said_is_assumed_in_the_safest_way_and_printed() {
    let desk = Desk::new("testdata/tables/ads.csv");
    let text = said(&desk, &[&DECIDE[..], &["--yes"]].concat());
    for part in [
        "An outcome is one number from 0 to 1.",
        "may scatter in any way in this range",
        "probability of 95 %",
        "say it with --reward-range A..B, --outcomes yes/no or counts, --noise N",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let log = fs::read_to_string(desk.path("a.log")).unwrap();
    assert!(log.lines().next().unwrap().contains("may scatter in any way"), "{log}");
}

#[test]
fn rates_are_said_at_the_first_decision_and_printed() {
    let counts = [&DECIDE[..], &["--outcomes", "counts", "--yes"]].concat();
    let desk = Desk::new("testdata/tables/ads.csv");
    let text = said(&desk, &counts);
    for part in [
        "Usually 50 % of outcomes are yes",
        "between 1/1000 of the usual ones and 1000 times as high (from 0.100 % to 99.900 %)",
        "--usual-rate P, --odds-factor F",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    for (flags, part) in [
        (["--usual-rate", "0"], "between 0 and 1"),
        (["--usual-rate", "1"], "between 0 and 1"),
        (["--usual-rate", "3%"], "3%"),
        (["--odds-factor", "1"], "must be above 1"),
    ] {
        let (code, text) = desk.refuses(&[&counts[..], &flags].concat());
        assert!(code == 2 && text.contains(part), "{text}");
    }
    let desk = Desk::new("testdata/tables/ads.csv");
    let number = [&DECIDE[..], &["--yes", "--usual-rate", "0.03"]].concat();
    let (code, text) = desk.refuses(&number);
    assert!(code == 2 && text.contains("yes/no or counts"), "{text}");
    let rates = ["--usual-rate", "0.03", "--odds-factor", "10"];
    let text = said(&desk, &[&counts[..], &rates].concat());
    assert!(text.contains("Usually 3.0 % of outcomes are yes"), "{text}");
    assert!(text.contains("(from 0.31 % to 24 %)"), "{text}");
    let log = fs::read_to_string(desk.path("a.log")).unwrap();
    let first = log.lines().next().unwrap();
    assert!(first.contains(r#""kind":"logistic""#) && first.contains("Usually 3.0 %"), "{first}");
    said(&desk, &reward(&["3", "--of", "100"]));
    let text = desk.says(&["status", "--log", "a.log"]);
    assert!(text.contains(" points") && text.contains(" %"), "{text}");
}

fn reward<'a>(args: &[&'a str]) -> Vec<&'a str> {
    [&["reward", "--log", "a.log", "1"], args].concat()
}

#[test]
fn counts_are_recorded_corrected_and_told_from_single_outcomes() {
    let desk = Desk::new("testdata/tables/ads.csv");
    let text = said(&desk, &[&DECIDE[..], &["--outcomes", "counts", "--yes"]].concat());
    assert!(text.contains("reward --log a.log 1 YES --of ALL"), "{text}");
    let (code, text) = desk.refuses(&reward(&["0.5"]));
    assert!(code == 2 && text.contains("2100 --of 10000"), "{text}");
    for (args, part) in [
        (&["12", "--of", "10"][..], "12"),
        (&["0", "--of", "0"], "0"),
        (&["2.5", "--of", "10"], "got 2.5"),
    ] {
        let (code, text) = desk.refuses(&reward(args));
        assert!(code == 2 && text.contains(part), "{text}");
    }
    assert!(desk.says(&reward(&["21", "--of", "100"])).contains("recorded 21 of 100"));
    assert!(desk.says(&reward(&["21", "--of", "100"])).contains("already recorded"));
    let (_, text) = desk.refuses(&reward(&["22", "--of", "100"]));
    assert!(text.contains("has the reward 21 of 100"), "{text}");
    assert!(desk.says(&reward(&["22", "--of", "100", "--correct"])).contains("22 of 100"));
    // The form for outcomes has counts, too.
    said(&desk, &DECIDE);
    let form = desk.says(&["history", "--log", "a.log", "--csv"]);
    assert!(form.contains("22 of 100"), "{form}");
    fs::write(desk.path("form.csv"), "decision,reward\n2,3 of 7\n").unwrap();
    desk.says(&["reward", "--log", "a.log", "--csv", "form.csv"]);
    assert!(desk.says(&["history", "--log", "a.log"]).contains("3 of 7"));
    fs::write(desk.path("form.csv"), "decision,reward\n2,3 of many\n").unwrap();
    let (code, text) = desk.refuses(&["reward", "--log", "a.log", "--csv", "form.csv"]);
    assert!(code == 2 && text.contains("line 2") && text.contains("21 of 100"), "{text}");
}

#[test]
fn a_log_of_single_outcomes_takes_counts_once_that_is_said() {
    let desk = Desk::new("testdata/tables/ads.csv");
    said(&desk, &[&DECIDE[..], &["--outcomes", "yes/no", "--yes"]].concat());
    let count = ["reward", "--log", "a.log", "1", "21", "--of", "100"];
    let (code, text) = desk.refuses(&count);
    assert!(code == 2 && text.contains("--outcomes number or counts"), "{text}");
    let text = said(&desk, &[&count[..], &["--outcomes", "counts"]].concat());
    assert!(text.contains("from now on the outcomes of this log are counts of yes"), "{text}");
    // An earlier outcome that contradicts the new kind is named.
    let desk = Desk::new("testdata/tables/ads.csv");
    said(&desk, &[&DECIDE[..], &["--yes"]].concat());
    said(&desk, &["reward", "--log", "a.log", "1", "0.25"]);
    said(&desk, &DECIDE);
    let (code, text) =
        desk.refuses(&["reward", "--log", "a.log", "2", "1", "--outcomes", "yes/no"]);
    assert!(code == 2 && text.contains("decision 1 has the reward 0.25"), "{text}");
}

#[test]
fn a_noise_below_what_was_seen_is_refused_with_the_figure() {
    let desk = Desk::new("testdata/tables/ads.csv");
    said(&desk, &[&DECIDE[..], &["--yes"]].concat());
    for decision in 1..=20 {
        // Far apart, whatever was chosen.
        let value = ["0.1", "0.9", "0.5"][decision % 3];
        said(&desk, &["reward", "--log", "a.log", &decision.to_string(), value]);
        said(&desk, &DECIDE);
    }
    let (code, text) = desk.refuses(&[&DECIDE[..], &["--noise", "0.01", "--yes"]].concat());
    assert!(code == 2 && text.contains("differ from their average by about 0.3"), "{text}");
    let text = said(&desk, &[&DECIDE[..], &["--noise", "0.45", "--yes"]].concat());
    assert!(text.contains("decision 22"), "{text}");
    let log = fs::read_to_string(desk.path("a.log")).unwrap();
    let changed = log.lines().find(|line| line.contains("policy-changed")).unwrap();
    assert!(changed.contains("scatter by about 0.45"), "{changed}");
}

#[test]
fn a_log_with_a_context_insures_a_rule_and_says_which_of_the_two_decided() {
    let desk = Desk::new("testdata/tables/ads.csv");
    let at = |device: &str| {
        let context = format!("device={device}");
        [&DECIDE[..], &["--context", &context, "--yes"]].concat().join(" ")
    };
    let decide = |device: &str| said(&desk, &at(device).split(' ').collect::<Vec<_>>());
    let first = decide("mobile");
    assert!(first.contains("policy: insured with inside lin-ucb"), "{first}");
    for decision in 1..=60 {
        let value = format!("0.{}", 3 + decision % 4);
        said(&desk, &["reward", "--log", "a.log", &decision.to_string(), &value]);
        decide(["mobile", "desktop"][decision % 2]);
    }
    let explained = |decision: &str| desk.says(&["explain", "--log", "a.log", decision]);
    let first = explained("1");
    assert!(first.contains("The insurance explores while the uncertainty"), "{first}");
    let last = explained("61");
    assert!(last.contains("so the rule inside the insurance decides (lin-ucb)"), "{last}");
    let certificate = desk.says(&["explain", "--log", "a.log", "61", "--json"]);
    assert!(certificate.contains(r#""insurance":{"explored":false"#), "{certificate}");
    fs::write(desk.path("61.json"), &certificate).unwrap();
    desk.says(&["verify", "61.json", "--log", "a.log"]);
    let forged = certificate.replace(r#""explored":false"#, r#""explored":true"#);
    fs::write(desk.path("61.json"), forged).unwrap();
    desk.refuses(&["verify", "61.json"]);
}
