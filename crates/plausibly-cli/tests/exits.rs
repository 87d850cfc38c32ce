//! Exit codes match `docs/reference/cli.md`, and an error repeats nothing.

use crate::decisions::Desk;
use crate::{SPEC, Sandbox};
use std::fs;

/// No part of an error is in it twice, as in "cannot open a.log: cannot open a.log: …".
pub(crate) fn said_once(text: &str) {
    for line in text.lines().filter(|line| line.starts_with("error: ")) {
        let parts: Vec<&str> = line.split(": ").filter(|part| part.len() > 8).collect();
        for (at, part) in parts.iter().enumerate() {
            assert!(!parts[..at].contains(part), "`{part}` is said twice in\n{line}");
        }
    }
}

/// Checks the exit code and the words of the message.
fn ends(sandbox: &Sandbox, args: &[&str], code: i32, words: &str) {
    let output = sandbox.run(args);
    let text = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(code), "{args:?}: {text}");
    assert!(text.contains(words), "{args:?}: `{words}` is not in\n{text}");
    said_once(&text);
}

fn desk_ends(desk: &Desk, args: &[&str], code: i32, words: &str) {
    let (found, text) = desk.refuses(args);
    assert_eq!(found, code, "{args:?}: {text}");
    assert!(text.contains(words), "{args:?}: `{words}` is not in\n{text}");
}

#[test]
fn files_that_cannot_be_used_are_failures_and_what_they_say_is_refused() {
    let sandbox = Sandbox::new(SPEC);
    let write = |name: &str, content: &[u8]| fs::write(sandbox.path().join(name), content).unwrap();
    write("bytes.toml", &[0xff, 0xfe]);
    write("wrong.toml", b"seed = 1\n");
    ends(&sandbox, &["simulate", "nowhere.toml"], 1, "cannot read nowhere.toml");
    ends(&sandbox, &["simulate", "."], 1, "cannot read .");
    ends(&sandbox, &["simulate", "bytes.toml"], 2, "not UTF-8");
    ends(&sandbox, &["simulate", "wrong.toml"], 2, "environment");
    ends(
        &sandbox,
        &["simulate", "spec.toml", "--out", "spec.toml/x"],
        1,
        "cannot create the \
                                                                           folder",
    );
    ends(&sandbox, &["reproduce", "unheard-of"], 2, "unheard-of");
    ends(&sandbox, &["data", "verify", "wine", "--cache", "cache"], 1, "wine is not fetched");
    ends(&sandbox, &["status", "--log", "."], 1, "error: ");
    ends(&sandbox, &["unheard-of"], 2, "unrecognized");
}

#[test]
fn errors_of_decisions_have_the_codes_of_the_reference() {
    let desk = Desk::begun("testdata/tables/ads.csv", "0..5");
    let decide = |more: &[&'static str]| -> Vec<&str> {
        [&["decide", "--log", "a.log", "--actions", "actions.csv", "--yes"], more].concat()
    };
    fs::write(desk.path("bad.toml"), "kind = = 1\n").unwrap();
    fs::write(desk.path("odd.toml"), "kind = \"unheard-of\"\n").unwrap();
    fs::write(desk.path("bytes.csv"), [0xff, 0xfe, b'\n']).unwrap();
    fs::write(desk.path("not.json"), "{}").unwrap();
    fs::create_dir(desk.path("folder")).unwrap();
    // The request is wrong.
    desk_ends(
        &desk,
        &decide(&["--policy", "unheard-of"]),
        2,
        "`unheard-of` is neither a kind of \
                                                               policy",
    );
    desk_ends(&desk, &decide(&["--policy", "bad.toml"]), 2, "bad.toml: ");
    desk_ends(&desk, &decide(&["--policy", "odd.toml"]), 2, "unheard-of");
    desk_ends(&desk, &decide(&["--set", "greed"]), 2, "FIELD=VALUE");
    desk_ends(&desk, &decide(&["--set", "kind.a=1"]), 2, "has no fields");
    desk_ends(&desk, &["replay", "--log", "a.log", "--set", "greed"], 2, "FIELD=VALUE");
    desk_ends(&desk, &["decide", "--log", "a.log", "--actions", "bytes.csv"], 2, "bytes.csv");
    desk_ends(&desk, &["reward", "--log", "a.log", "7", "1"], 2, "there is no decision 7");
    desk_ends(&desk, &["drop", "--log", "a.log", "7"], 2, "there is no decision 7");
    desk_ends(&desk, &["explain", "--log", "a.log", "7"], 2, "there is no decision 7");
    desk_ends(&desk, &["explain", "--log", "a.log", "c.json"], 2, "the number of a decision");
    fs::write(desk.path("outcomes.csv"), "decision,reward\n7,1\n").unwrap();
    desk_ends(
        &desk,
        &["reward", "--log", "a.log", "--csv", "outcomes.csv"],
        2,
        "there is no decision 7",
    );
    desk_ends(&desk, &["reward", "--log", "a.log", "--csv", "actions.csv"], 2, "actions.csv");
    // A file cannot be used.
    desk_ends(&desk, &["reward", "--log", "a.log", "--csv", "none.csv"], 1, "cannot read none.csv");
    desk_ends(&desk, &["history", "--log", "none.log"], 1, "there is no log none.log");
    desk_ends(
        &desk,
        &["decide", "--log", "a.log", "--actions", "none.csv"],
        1,
        "cannot read none.csv",
    );
    desk_ends(
        &desk,
        &["decide", "--log", "no/a.log", "--actions", "actions.csv", "--yes"],
        1,
        "no/a.log",
    );
    desk_ends(
        &desk,
        &["decide", "--log", "folder", "--actions", "actions.csv", "--yes"],
        1,
        "folder",
    );
    desk_ends(&desk, &["reward", "--log", "none.log", "1", "1"], 1, "there is no log none.log");
    desk_ends(&desk, &["status", "--log", "none.log"], 1, "there is no log none.log");
    desk_ends(&desk, &["status", "--log", "folder"], 1, "folder");
    desk_ends(&desk, &["replay", "--log", "none.log"], 1, "there is no log none.log");
    desk_ends(&desk, &["explain", "none.json"], 1, "cannot read none.json");
    desk_ends(&desk, &["verify", "none.json"], 1, "cannot read none.json");
    // A file that is not a certificate fails like a changed one, so a script that verifies needs
    // one code.
    desk_ends(&desk, &["verify", "not.json"], 1, "not a certificate");
    desk_ends(&desk, &["explain", "not.json"], 1, "not a certificate");
}

#[test]
fn a_time_far_ahead_of_the_clock_needs_force() {
    let desk = Desk::begun("testdata/tables/ads.csv", "0..5");
    let before = fs::read(desk.path("a.log")).unwrap();
    let far: &[&str] = &["--at", "9000-01-01T00:00:00Z"];
    for command in [
        &["decide", "--log", "a.log", "--actions", "actions.csv"][..],
        &["reward", "--log", "a.log", "1", "2"],
        &["drop", "--log", "a.log", "1"],
    ] {
        desk_ends(&desk, &[command, far].concat(), 2, "more than a day ahead of the clock");
        assert_eq!(fs::read(desk.path("a.log")).unwrap(), before);
    }
    // Reading with a later time writes nothing.
    desk.says(&[&["status", "--log", "a.log"], far].concat());
    desk.says(&[&["reward", "--log", "a.log", "1", "2", "--force"], far].concat());
}

#[test]
fn a_password_in_the_address_of_a_mirror_is_never_shown() {
    let sandbox = Sandbox::new(SPEC);
    let mirror = "http://user:secret@127.0.0.1:1/data";
    for args in [
        &["data", "fetch", "heart", "--cache", "cache", "--mirror", mirror][..],
        &["reproduce", "heart", "--runs", "2", "--cache", "cache", "--mirror", mirror, "--json"],
    ] {
        let output = sandbox.run(args);
        let text = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
        assert_eq!(output.status.code(), Some(2), "{text}");
        assert!(text.contains("contains a name or password") && !text.contains("secret"), "{text}");
    }
    let mut command = sandbox.command(&["data", "fetch", "heart", "--cache", "cache"]);
    let output = command.env("PLAUSIBLY_MIRROR", mirror).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(!String::from_utf8(output.stderr).unwrap().contains("secret"));
    assert!(!sandbox.path().join("cache").exists());
}

#[test]
fn results_do_not_replace_files_of_others() {
    let sandbox = Sandbox::new(SPEC);
    let path = |name: &str| sandbox.path().join(name);
    let simulate = ["simulate", "spec.toml", "--out", "out", "--quiet"];
    let reproduce = ["reproduce", "linear", "--runs", "2", "--out", "out", "--quiet"];
    for (name, command) in [
        ("summary.csv", &simulate[..]),
        ("manifest.json", &simulate),
        ("index.html", &reproduce),
        ("summary.csv", &reproduce),
        ("specs/mine.toml", &reproduce),
    ] {
        fs::create_dir_all(path("out/specs")).unwrap();
        fs::write(path("out").join(name), "{\"version\": 1}").unwrap();
        ends(&sandbox, command, 2, "--force");
        assert_eq!(fs::read_to_string(path("out").join(name)).unwrap(), "{\"version\": 1}");
        let all: Vec<_> =
            fs::read_dir(path("out")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert!(all.len() <= 2, "{all:?}");
        ends(&sandbox, &[command, &["--force"]].concat(), 0, "");
        // Results replace results.
        ends(&sandbox, command, 0, "");
        fs::remove_dir_all(path("out")).unwrap();
    }
}
