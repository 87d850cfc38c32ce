use crate::{SPEC, Sandbox};
use insta::assert_snapshot;
use serde_json::Value;
use std::fs;
use std::process::Stdio;

/// What a command prints, without what differs between runs.
fn transcript(sandbox: &Sandbox, args: &[&str]) -> String {
    let mut text = sandbox.transcript(args);
    let listed = String::from_utf8(sandbox.run(&["key", "list", "--json", "--data", "d"]).stdout);
    let listed: Value = serde_json::from_str(&listed.unwrap()).unwrap_or_default();
    for (number, key) in listed["keys"].as_array().into_iter().flatten().enumerate() {
        for field in ["id", "added", "revoked"] {
            if let Some(value) = key[field].as_str() {
                text = text.replace(value, &format!("<{field} {number}>"));
            }
        }
    }
    match text.split_once("\nplk_") {
        Some((before, rest)) => format!("{before}\nplk_<64 digits>{}", &rest[64..]),
        None => text,
    }
}

#[test]
fn keys_are_added_listed_and_revoked() {
    let sandbox = Sandbox::new(SPEC);
    for (name, args) in [
        ("list_nowhere", &["list"][..]),
        ("add_first", &["add", "web", "--role", "reward", "--role", "decide"]),
        ("add_scoped", &["add", "report", "--role", "read", "--experiment", "shop", "--rate", "5"]),
        ("add_taken", &["add", "web", "--role", "admin"]),
        ("add_named_wrongly", &["add", "a b", "--role", "admin"]),
        ("add_without_role", &["add", "other"]),
        ("add_of_unknown_role", &["add", "other", "--role", "owner"]),
        ("add_of_rate_zero", &["add", "other", "--role", "read", "--rate", "0"]),
        ("revoke", &["revoke", "web"]),
        ("revoke_again", &["revoke", "web"]),
        ("revoke_unknown", &["revoke", "nothing"]),
        ("list", &["list"]),
        ("list_json", &["list", "--json"]),
        ("revoke_last", &["revoke", "report"]),
    ] {
        let args = [&["key"], args, &["--data", "d"]].concat();
        assert_snapshot!(name, transcript(&sandbox, &args));
    }
}

#[test]
fn the_folder_may_come_from_the_environment() {
    let sandbox = Sandbox::new(SPEC);
    let args = ["key", "add", "web", "--role", "admin"];
    for (folder, args) in [("e", &args[..]), ("f", &[&args[..], &["--data", "f"]].concat())] {
        let output = sandbox.command(args).env("PLAUSIBLY_SERVICE_DATA", "e").output().unwrap();
        assert!(output.status.success(), "{output:?}");
        assert!(sandbox.path().join(folder).join(".plausibly/keys.json").exists());
    }
}

#[test]
fn a_key_is_the_only_line_on_stdout_and_in_no_file() {
    let sandbox = Sandbox::new(SPEC);
    let output = sandbox.run(&["key", "add", "web", "--role", "admin", "--data", "d"]);
    let key = String::from_utf8(output.stdout).unwrap();
    let key = key.strip_suffix('\n').unwrap();
    assert!(key.starts_with("plk_") && key.len() == 68, "{key}");
    let digits = &key[4..20];
    assert!(!String::from_utf8(output.stderr).unwrap().contains(digits));
    // A key given where a name belongs is not repeated.
    for args in [["key", "revoke", key, "--data", "d"].as_slice(), &["key", "list", "--data", "d"]]
    {
        assert!(!sandbox.transcript(args).split_once("--- exit").unwrap().1.contains(digits));
    }
    for file in fs::read_dir(sandbox.path().join("d/.plausibly")).unwrap() {
        assert!(!fs::read_to_string(file.unwrap().path()).unwrap().contains(digits));
    }
}

#[test]
fn processes_that_add_at_the_same_time_lose_no_key() {
    let sandbox = Sandbox::new(SPEC);
    let mut running = Vec::new();
    for number in 0..8 {
        let name = format!("k{number}");
        let mut command =
            sandbox.command(&["key", "add", &name, "--role", "decide", "--data", "d"]);
        running.push(command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap());
    }
    for mut child in running {
        assert!(child.wait().unwrap().success());
    }
    let listed = sandbox.run(&["key", "list", "--json", "--data", "d"]).stdout;
    let listed: Value = serde_json::from_slice(&listed).unwrap();
    assert_eq!(listed["keys"].as_array().unwrap().len(), 8);
}

#[test]
fn a_file_that_is_not_one_of_keys_is_refused_and_kept() {
    let sandbox = Sandbox::new(SPEC);
    let folder = sandbox.path().join("d/.plausibly");
    fs::create_dir_all(&folder).unwrap();
    let path = folder.join("keys.json");
    fs::write(&path, "{\"version\": 2}").unwrap();
    for args in [&["key", "list"][..], &["key", "add", "a", "--role", "read"]] {
        let args = [args, &["--data", "d"]].concat();
        let output = sandbox.run(&args);
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{stderr}");
        assert!(stderr.contains("has version 2, and this program reads version 1"), "{stderr}");
        assert!(output.stdout.is_empty());
    }
    assert_eq!(fs::read_to_string(&path).unwrap(), "{\"version\": 2}");
    // A folder in its place cannot be read: a failure.
    fs::remove_file(&path).unwrap();
    fs::create_dir(&path).unwrap();
    assert_eq!(sandbox.run(&["key", "list", "--data", "d"]).status.code(), Some(1));
}
