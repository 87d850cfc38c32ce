//! No output file replaces what a command reads, or what plausibly did not write.

use super::Desk;
use std::fs;

/// A log with a decision, its certificate, and other names for both.
fn desk() -> Desk {
    let desk = Desk::begun("testdata/tables/ads.csv", "0..5");
    desk.says(&["decide", "--log", "a.log", "--actions", "actions.csv", "--certificate", "c.json"]);
    fs::write(desk.path("a.log.snapshot"), "a cache").unwrap();
    fs::write(desk.path("a.log.torn-9"), "an end").unwrap();
    fs::write(desk.path("policy.toml"), "kind = \"code\"\n").unwrap();
    fs::create_dir(desk.path("below")).unwrap();
    #[cfg(unix)]
    for (name, link) in
        [("a.log", "soft.log"), ("actions.csv", "soft.csv"), ("c.json", "soft.json")]
    {
        std::os::unix::fs::symlink(desk.path(name), desk.path(link)).unwrap();
        fs::hard_link(desk.path(name), desk.path(&link.replace("soft", "hard"))).unwrap();
    }
    desk
}

const FILES: [&str; 6] =
    ["a.log", "actions.csv", "c.json", "a.log.snapshot", "a.log.torn-9", "policy.toml"];

#[test]
fn no_output_replaces_what_is_read() {
    let desk = desk();
    let before = FILES.map(|name| fs::read(desk.path(name)).unwrap());
    let same = |name: &str| -> Vec<String> {
        let (stem, end) = name.rsplit_once('.').unwrap();
        let mut names = vec![name.to_string(), format!("./{name}"), format!("below/../{name}")];
        if cfg!(unix) && ["a.log", "actions.csv", "c.json"].contains(&name) {
            names.extend([format!("soft.{end}"), format!("hard.{end}")]);
        }
        assert!(!stem.is_empty());
        names
    };
    let decide = [
        "decide",
        "--log",
        "a.log",
        "--actions",
        "actions.csv",
        "--policy",
        "policy.toml",
        "--yes",
    ];
    let commands: [(&[&str], &str, &[&str]); 5] = [
        (&["status", "--log", "a.log"], "--svg", &["a.log", "a.log.snapshot", "a.log.torn-9"]),
        (&["status", "--log", "a.log"], "--html", &["a.log", "a.log.snapshot"]),
        (&["explain", "--log", "a.log", "1"], "--html", &["a.log", "a.log.snapshot"]),
        (&["explain", "c.json"], "--html", &["c.json"]),
        (&decide, "--certificate", &["a.log", "actions.csv", "a.log.snapshot", "policy.toml"]),
    ];
    for (command, flag, protected) in commands {
        for name in protected.iter().flat_map(|name| same(name)) {
            // Not even with `--force`.
            for force in [&[][..], &["--force"]] {
                let args = [command, &[flag, &name], force].concat();
                let (code, text) = desk.refuses(&args);
                assert_eq!(code, 2, "{args:?}: {text}");
                assert!(
                    text.contains("would overwrite") && text.contains("Nothing was written"),
                    "{text}"
                );
                let now = FILES.map(|name| fs::read(desk.path(name)).unwrap());
                assert!(now == before, "{args:?} wrote");
            }
        }
    }
    // A command that does not read the log does not replace it either.
    for name in ["a.log", "a.log.snapshot", "a.log.torn-9"] {
        let (code, text) = desk.refuses(&["explain", "c.json", "--html", name, "--force"]);
        assert!(code == 2 && text.contains("is a log, or belongs to one"), "{text}");
    }
    let (code, text) = desk.refuses(&["status", "--log", "a.log", "--html", "x", "--svg", "x"]);
    assert!(code == 2 && text.contains("another output"), "{text}");
    assert!(!desk.path("x").exists());
}

#[test]
fn the_certificate_of_a_log_that_is_not_there_yet_does_not_take_its_place() {
    let desk = Desk::new("testdata/tables/ads.csv");
    let args = [
        "decide",
        "--log",
        "new.log",
        "--actions",
        "actions.csv",
        "--yes",
        "--certificate",
        "./new.log",
    ];
    let (code, text) = desk.refuses(&args);
    assert!(code == 2 && text.contains("is the log"), "{text}");
    assert!(!desk.path("new.log").exists());
}

#[test]
fn what_plausibly_did_not_write_is_replaced_by_force_alone() {
    let desk = desk();
    let commands: [(&[&str], &str); 4] = [
        (&["status", "--log", "a.log", "--html", "out"], "page"),
        (&["status", "--log", "a.log", "--svg", "out"], "picture"),
        (&["explain", "--log", "a.log", "1", "--html", "out"], "page"),
        (
            &["decide", "--log", "a.log", "--actions", "actions.csv", "--certificate", "out"],
            "certificate",
        ),
    ];
    for (command, kind) in commands {
        let log = fs::read(desk.path("a.log")).unwrap();
        for mine in ["my own notes", "<html><p>plausibly</p></html>", "{\"format\": \"other\"}"] {
            fs::write(desk.path("out"), mine).unwrap();
            let (code, text) = desk.refuses(command);
            assert_eq!(code, 2, "{command:?}: {text}");
            assert!(
                text.contains("--force")
                    && text.contains(&format!("not a {kind} that plausibly wrote")),
                "{text}"
            );
            assert_eq!(fs::read_to_string(desk.path("out")).unwrap(), mine);
            assert_eq!(fs::read(desk.path("a.log")).unwrap(), log, "nothing was decided");
        }
        desk.says(&[command, &["--force"]].concat());
        assert_ne!(fs::read_to_string(desk.path("out")).unwrap(), "my own notes");
        // It replaces its own file, and an empty one, without `--force`.
        desk.says(command);
        fs::write(desk.path("out"), "").unwrap();
        desk.says(command);
        // But it does not replace it by a file of another kind.
        let other: &[&str] = if kind == "page" {
            &["status", "--log", "a.log", "--svg", "out"]
        } else {
            &["status", "--log", "a.log", "--html", "out"]
        };
        assert_eq!(desk.refuses(other).0, 2);
    }
}

#[test]
fn folders_and_missing_folders_are_known_before_anything_is_decided() {
    let desk = desk();
    let log = fs::read(desk.path("a.log")).unwrap();
    for (path, word) in [("below", "is a folder"), ("nowhere/c.json", "no folder nowhere")] {
        let args = ["decide", "--log", "a.log", "--actions", "actions.csv", "--certificate", path];
        let (code, text) = desk.refuses(&args);
        assert!(code == 2 && text.contains(word), "{text}");
        assert_eq!(fs::read(desk.path("a.log")).unwrap(), log);
    }
}

#[cfg(unix)]
#[test]
fn links_stay_and_devices_are_written_to() {
    let desk = desk();
    std::os::unix::fs::symlink("below/page.html", desk.path("page.html")).unwrap();
    let page = ["status", "--log", "a.log", "--html", "page.html"];
    let (code, text) = desk.refuses(&page);
    assert!(code == 2 && text.contains("link to a missing file"), "{text}");
    fs::write(desk.path("below/page.html"), "").unwrap();
    desk.says(&page);
    assert!(desk.path("page.html").is_symlink());
    assert!(fs::read_to_string(desk.path("below/page.html")).unwrap().contains("generator"));
    let said = desk.says(&["status", "--log", "a.log", "--svg", "/dev/stdout"]);
    assert!(said.starts_with("<svg") && said.ends_with("</svg>"), "{said}");
    // Writing to a named pipe without a reader would block after the decision.
    let pipe = std::process::Command::new("mkfifo").arg(desk.path("pipe")).status();
    if pipe.is_ok_and(|made| made.success()) {
        let log = fs::read(desk.path("a.log")).unwrap();
        let args =
            ["decide", "--log", "a.log", "--actions", "actions.csv", "--certificate", "pipe"];
        let (code, text) = desk.refuses(&args);
        assert!(code == 2 && text.contains("named pipe"), "{text}");
        assert_eq!(fs::read(desk.path("a.log")).unwrap(), log);
    }
    // The same if the shell has redirected it to a file, which is not replaced.
    let command = "\"$0\" status --log a.log --svg /dev/stdout > all.svg && echo more >> all.svg";
    let mut shell = std::process::Command::new("sh");
    shell.args(["-c", command, env!("CARGO_BIN_EXE_plausibly")]).current_dir(desk.path(""));
    assert!(shell.status().unwrap().success());
    assert_eq!(fs::read_to_string(desk.path("all.svg")).unwrap(), said + "more\n");
}

#[test]
fn temporary_files_of_killed_commands_are_swept() {
    let desk = desk();
    let make = |name: &str| {
        let file = fs::File::create(desk.path(name)).unwrap();
        let now = file.metadata().unwrap().modified().unwrap();
        file.set_modified(now - std::time::Duration::from_hours(1)).unwrap();
        file
    };
    make(".plausibly-abcdefABCDEF.tmp");
    make(".plausibly-notes");
    let held = make(".plausibly-abcdef123456.tmp");
    held.lock().unwrap();
    fs::write(desk.path(".plausibly-fresh0fresh0.tmp"), "").unwrap();
    desk.says(&["status", "--log", "a.log", "--html", "s.html"]);
    let mut left: Vec<String> = fs::read_dir(desk.path(""))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.starts_with(".plausibly"))
        .collect();
    left.sort();
    let kept = [".plausibly-abcdef123456.tmp", ".plausibly-fresh0fresh0.tmp", ".plausibly-notes"];
    assert_eq!(left, kept, "in use, perhaps in use, and not a temporary file");
}
