use crate::{SPEC, Sandbox};
use insta::assert_snapshot;

#[test]
fn every_help_teaches_and_ends_with_an_example() {
    let sandbox = Sandbox::new(SPEC);
    for (name, args) in [
        ("plausibly", &["--help"][..]),
        ("plan", &["plan", "--help"]),
        ("decide", &["decide", "--help"]),
        ("reward", &["reward", "--help"]),
        ("drop", &["drop", "--help"]),
        ("pause", &["pause", "--help"]),
        ("resume", &["resume", "--help"]),
        ("history", &["history", "--help"]),
        ("status", &["status", "--help"]),
        ("compare", &["compare", "--help"]),
        ("explain", &["explain", "--help"]),
        ("verify", &["verify", "--help"]),
        ("audit", &["audit", "--help"]),
        ("replay", &["replay", "--help"]),
        ("upgrade", &["upgrade", "--help"]),
        ("reproduce", &["reproduce", "--help"]),
        ("simulate", &["simulate", "--help"]),
        ("simulate_short", &["simulate", "-h"]),
        ("data", &["data", "--help"]),
        ("data_list", &["data", "list", "--help"]),
        ("data_fetch", &["data", "fetch", "--help"]),
        ("data_verify", &["data", "verify", "--help"]),
        ("key", &["key", "--help"]),
        ("key_add", &["key", "add", "--help"]),
        ("key_list", &["key", "list", "--help"]),
        ("key_revoke", &["key", "revoke", "--help"]),
        ("spec", &["spec", "--help"]),
        ("completions", &["completions", "--help"]),
    ] {
        let transcript = sandbox.transcript(args);
        assert!(
            transcript.contains("Example:\n  plausibly ")
                || transcript.contains("Examples:\n  plausibly "),
            "{transcript}"
        );
        assert_snapshot!(name, transcript);
    }
}

#[test]
fn completions_exist_for_every_shell() {
    let sandbox = Sandbox::new(SPEC);
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let output = sandbox.run(&["completions", shell]);
        let script = String::from_utf8(output.stdout).unwrap();
        assert!(
            output.status.success() && script.contains("simulate") && script.contains("threads"),
            "{shell}"
        );
    }
}

#[test]
fn the_version_is_that_of_the_package() {
    let output = Sandbox::new(SPEC).run(&["--version"]);
    assert_eq!(
        String::from_utf8(output.stdout).unwrap(),
        format!("plausibly {}\n", env!("CARGO_PKG_VERSION"))
    );
}
