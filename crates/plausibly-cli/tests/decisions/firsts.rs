//! The first steps of a new user: several decisions at once, typing errors, doubts, commas.

use super::Desk;
use std::fs;

fn desk(table: &str) -> Desk {
    let desk = Desk::new("examples/subjects.csv");
    fs::write(desk.path("actions.csv"), table).unwrap();
    desk
}

fn decide<'a>(more: &[&'a str]) -> Vec<&'a str> {
    [&["decide", "--log", "a.log", "--actions", "actions.csv"], more].concat()
}

/// The notes on stderr of a command that must succeed.
fn notes(desk: &Desk, more: &[&str]) -> String {
    let output = desk.run(&decide(more));
    let text = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{more:?}: {text}");
    text
}

/// Checks that a command is refused with all of these words and writes nothing.
fn refused(desk: &Desk, args: &[&str], words: &[&str]) {
    let before = fs::read(desk.path("a.log")).ok();
    let (code, text) = desk.refuses(args);
    assert_eq!(code, 2, "{args:?}: {text}");
    for word in words {
        assert!(text.contains(word), "{args:?}: `{word}` is not in\n{text}");
    }
    assert_eq!(fs::read(desk.path("a.log")).ok(), before, "{args:?} wrote");
}

#[test]
fn several_decisions_are_those_that_single_ones_would_be() {
    let table = "name,price\na,1\nb,2\nc,3\nd,4\n";
    let (at_once, one_by_one) = (desk(table), desk(table));
    let first = ["--yes", "--seed", "7", "--at", "2026-11-01T08:00:00Z"];
    let said = at_once.says(&decide(&[&first[..], &["--count", "5"]].concat()));
    let mut single = one_by_one.says(&decide(&first));
    for _ in 0..4 {
        single += &one_by_one.says(&decide(&["--at", "2026-11-01T08:00:00Z"]));
    }
    assert_eq!(said, single, "each counts those before it as on their way");
    assert_eq!(said.lines().count(), 5);
    assert_eq!(
        fs::read(at_once.path("a.log")).unwrap(),
        fs::read(one_by_one.path("a.log")).unwrap()
    );
    // One certificate per line, each of them valid.
    let json = at_once.says(&decide(&["--count", "3", "--json"]));
    assert_eq!(json.lines().count(), 3);
    for (line, decision) in json.lines().zip(6..) {
        fs::write(at_once.path("c.json"), format!("{line}\n")).unwrap();
        let verified = at_once.says(&["verify", "c.json", "--log", "a.log"]);
        assert!(verified.contains(&format!("decision {decision}: ")), "{verified}");
    }
    refused(&at_once, &decide(&["--count", "0"]), &["--count"]);
    refused(
        &at_once,
        &decide(&["--count", "2", "--certificate", "c.json"]),
        &["--count", "--certificate"],
    );
}

#[test]
fn of_several_decisions_those_taken_are_told_when_the_next_cannot_be() {
    let desk = desk("name,x\na,1\nb,2\n");
    let begin = ["--yes", "--policy", "elimination", "--horizon", "100"];
    let output = desk.run(&decide(&[&begin[..], &["--count", "900"]].concat()));
    let (said, text) =
        (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
    let taken = said.lines().count();
    assert!(!output.status.success() && taken > 1 && taken < 900, "{taken}: {text}");
    assert!(text.contains(&format!("{taken} of 900 decisions were taken")), "{text}");
    assert!(
        text.contains(&format!("1 to {taken}; the next one failed"))
            && text.contains("reward or drop"),
        "{text}"
    );
    let pending = desk.says(&["history", "--log", "a.log", "--pending", "--json"]);
    assert_eq!(pending.lines().count(), taken);
}

#[test]
fn what_is_different_about_a_table_is_said_in_a_line_each() {
    let desk = desk("name,price,colour\nmug,4,red\njug,6,blue\ncup,5,red\nbowl,7,blue\n");
    let first = notes(&desk, &["--yes", "--context", "device=mobile"]);
    assert!(!first.contains("is new"), "nothing is new to a log that begins: {first}");
    let same = notes(&desk, &["--context", "device=desktop"]);
    assert!(!same.contains("note:"), "{same}");
    fs::write(
        desk.path("actions.csv"),
        "name,price,colour\nmug,4.0,red\njgu,6,blue\ncup,9,red\nplate,3,\n",
    )
    .unwrap();
    let text = notes(&desk, &["--context", "devices=mobile"]);
    for line in [
        "note: \"jgu\" is new; did you mean \"jug\"?",
        "note: \"plate\" is new\n",
        "note: no longer in the table: \"jug\", \"bowl\"; an action that returns keeps what was \
         learned",
        "note: \"cup\" has changed (price was 5, is 9) and counts as a new action",
        "note: the context key \"devices\" is new; did you mean \"device\"?",
    ] {
        assert!(text.contains(line), "{line}\nis not in\n{text}");
    }
    assert!(!text.contains("\"mug\""), "4 and 4.0 are one number: {text}");
    let again = notes(&desk, &["--context", "device=mobile"]);
    assert!(!again.contains("note:"), "{again}");
}

#[test]
fn labels_come_from_the_column_that_is_asked_for() {
    let desk = desk("label,title\nx,A question\nx,A number\n");
    refused(&desk, &decide(&["--yes"]), &["both actions are labelled `x`"]);
    refused(&desk, &decide(&["--yes", "--label", "titel"]), &["no column `titel`", "`title`"]);
    assert_eq!(desk.says(&decide(&["--yes", "--label", "title"])), "decision 1: A question\n");
    desk.says(&decide(&["--label", "title"]));
    fs::write(desk.path("actions.csv"), "label,title\nx,A question\ny,A number\n").unwrap();
    refused(
        &desk,
        &decide(&["--label", "label"]),
        &["labels were fixed to come from column `title`"],
    );
    assert!(desk.says(&decide(&[])).starts_with("decision 3: A "));
}

#[test]
fn what_may_not_be_meant_about_a_first_table_is_asked() {
    for (table, words) in [
        ("id,price\n1,4.5\n2,3.5\n", ["bare numbers such as 1", "--label COLUMN"]),
        ("nr,name\n10,mug\n12,jug\n11,cup\n", ["`nr`", "--leave-out nr"]),
        (
            "name,since\nmug,2026-11-01\njug,2026-11-02\n",
            ["dates such as 2026-11-01", "--leave-out since"],
        ),
        (
            "mug,4,red\njug,6,blue\ncup,5,red\n",
            ["the first line (`mug`, `4`, `red`) may be a row", "--header"],
        ),
    ] {
        let desk = desk(table);
        refused(&desk, &decide(&[]), &[words[0], words[1], "--yes", "Nothing was written"]);
        assert!(!desk.path("a.log").exists());
        let text = notes(&desk, &["--yes"]);
        assert!(text.contains(&format!("note: {}", "")) && text.contains(words[0]), "{text}");
    }
    // A flag answers the question.
    let said = desk("id,price,since\n1,4.5,2026-11-01\n2,3.5,2026-11-02\n");
    let text = notes(&said, &["--yes", "--label", "id", "--leave-out", "since"]);
    assert!(!text.contains("note:"), "{text}");
    // A table without a header is refused, unless `--header` is given.
    let bare = desk("4,red\n6,blue\n5,red\n");
    refused(
        &bare,
        &decide(&["--yes"]),
        &["the first line (`4`, `red`) looks like a row", "--header"],
    );
    assert!(!bare.path("a.log").exists());
    bare.says(&decide(&["--yes", "--header"]));
}

#[test]
fn slips_in_fields_and_commas_in_numbers_are_refused_with_what_to_write() {
    let desk = desk("name,price\na,1\nb,2\n");
    refused(
        &desk,
        &decide(&["--yes", "--set", "noise=0.03"]),
        &["no field `noise`", "`radius.noise_scale`"],
    );
    refused(
        &desk,
        &decide(&["--yes", "--set", "acuracy=0.5"]),
        &["did you mean `target.accuracy`"],
    );
    refused(&desk, &decide(&["--yes", "--set", "gred=0.5"]), &["did you mean `greed`"]);
    refused(
        &desk,
        &decide(&["--yes", "--set", "radius.noise=0.5"]),
        &["did you mean noise_scale?"],
    );
    refused(
        &desk,
        &decide(&["--yes", "--set", "delta=0,1"]),
        &["`0,1` is not a number; write 0.1"],
    );
    refused(
        &desk,
        &decide(&["--yes", "--reward-range", "0..2,5"]),
        &["`2,5` is not a number; write 2.5"],
    );
    refused(&desk, &decide(&["--yes", "--context", "hour=0,5"]), &["context `hour`", "write 0.5"]);
    let vectors = ["--yes", "--as-given", "--theta-norm-bound", "0,3"];
    refused(&desk, &decide(&vectors), &["`0,3` is not a number; write 0.3"]);
    desk.says(&decide(&["--yes", "--set", "noise_scale=0.1"]));
    let reward = |value| ["reward", "--log", "a.log", "1", value];
    refused(&desk, &reward("0,21"), &["`0,21` is not a number; write 0.21"]);
    refused(&desk, &reward("21%"), &["`21%` is not a number; write 0.21"]);
    refused(&desk, &["replay", "--log", "a.log", "--set", "noise=0.1"], &["`radius.noise_scale`"]);
    fs::write(desk.path("actions.csv"), "name;price\na;1\nb;2,5\n").unwrap();
    refused(&desk, &decide(&[]), &["line 3, column `price`", "write 2.5"]);
}
