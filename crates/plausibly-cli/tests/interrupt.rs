#![cfg(unix)]

use crate::{SPEC, Sandbox};
use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::process::{Child, ChildStderr, Command, Stdio};
use std::time::{Duration, Instant};

/// Starts a run and waits until it says that it is at work, by when signals are caught.
fn started(sandbox: &Sandbox, out: &str) -> (Child, BufReader<ChildStderr>) {
    let mut child =
        sandbox.command(&["simulate", "spec.toml", "--out", out]).stderr(Stdio::piped()).spawn().unwrap();
    let mut stderr = BufReader::new(child.stderr.take().unwrap());
    let mut opening = String::new();
    stderr.read_line(&mut opening).unwrap();
    assert!(opening.starts_with("tiny: 3 runs of 1000000000 rounds"), "{opening}");
    (child, stderr)
}

/// Runs something that would take hours, sends a signal once it is at work, and returns what became of it.
fn interrupted(signal: &str, environment: &str) -> (Sandbox, Option<i32>, Duration, String) {
    let long = SPEC.replace("horizon = 50", "horizon = 1000000000");
    let sandbox =
        Sandbox::new(&long.replace("noise = 0.5\n", "").replace("dim = 2\nactions = 4", environment));
    let (mut child, mut stderr) = started(&sandbox, "deep/out");
    // Into the work itself.
    std::thread::sleep(Duration::from_millis(200));
    let sent = Instant::now();
    send(signal, child.id());
    let status = child.wait().unwrap();
    let took = sent.elapsed();
    let mut rest = String::new();
    stderr.read_to_string(&mut rest).unwrap();
    (sandbox, status.code(), took, rest)
}

/// By the shell's own `kill`: the program of that name is not on every machine.
fn send(signal: &str, process: u32) {
    let script = format!("kill -s {signal} {process}");
    assert!(Command::new("sh").args(["-c", &script]).status().unwrap().success());
}

#[test]
fn ctrl_c_stops_within_a_second_and_leaves_nothing() {
    for (signal, environment) in [
        ("INT", "dim = 2\nactions = 4"),
        ("TERM", "dim = 2\nactions = 4"),
        // Rounds that take long themselves, and a single step that takes minutes.
        ("INT", "dim = 64\nactions = 20000"),
        ("INT", "dim = 1024\nactions = 50"),
        ("INT", "dim = 50\nactions = 200000\n[[policy]]\nkind = 'elimination'"),
    ] {
        let (sandbox, code, took, stderr) = interrupted(signal, environment);
        assert_eq!(code, Some(130), "{stderr}");
        assert!(took < Duration::from_secs(1), "{took:?}");
        assert!(stderr.ends_with("interrupted: nothing was written\n"), "{stderr}");
        let left: Vec<_> =
            fs::read_dir(sandbox.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(left, ["spec.toml"]);
    }
}

#[test]
fn a_reproduction_stops_in_the_same_way() {
    let sandbox = Sandbox::new(SPEC);
    let args = ["reproduce", "changing", "--runs", "1000000", "--out", "deep/out"];
    let mut child = sandbox.command(&args).stderr(Stdio::piped()).spawn().unwrap();
    let mut stderr = BufReader::new(child.stderr.take().unwrap());
    let mut opening = String::new();
    stderr.read_line(&mut opening).unwrap();
    assert!(opening.starts_with("changing: 1 comparison or check in all"), "{opening}");
    send("INT", child.id());
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert_eq!(fs::read_dir(sandbox.path()).unwrap().count(), 1, "the spec alone");
}

#[test]
fn an_interrupted_run_leaves_earlier_results_alone() {
    let sandbox = Sandbox::new(SPEC);
    assert!(sandbox.run(&["simulate", "spec.toml", "--out", "out", "--quiet"]).status.success());
    let before = fs::read(sandbox.path().join("out/summary.csv")).unwrap();
    let long = SPEC.replace("horizon = 50", "horizon = 1000000000");
    fs::write(sandbox.path().join("spec.toml"), long).unwrap();
    let (mut child, _stderr) = started(&sandbox, "out");
    send("INT", child.id());
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert_eq!(fs::read(sandbox.path().join("out/summary.csv")).unwrap(), before);
    assert_eq!(fs::read_dir(sandbox.path().join("out")).unwrap().count(), 2);
}
