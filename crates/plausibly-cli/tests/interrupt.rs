#![cfg(unix)]

use crate::{SPEC, Sandbox};
use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::net::TcpListener;
use std::process::{Child, ChildStderr, Command, Stdio};
use std::time::{Duration, Instant};

/// Starts a run and waits for its first note; from then on it catches signals.
fn started(sandbox: &Sandbox, out: &str) -> (Child, BufReader<ChildStderr>) {
    let mut child = sandbox
        .command(&["simulate", "spec.toml", "--out", out])
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stderr = BufReader::new(child.stderr.take().unwrap());
    let mut opening = String::new();
    stderr.read_line(&mut opening).unwrap();
    assert!(opening.starts_with("tiny: 3 runs of 1000000000 rounds"), "{opening}");
    (child, stderr)
}

/// Starts a run that would take hours, sends a signal once it works, and returns the outcome.
fn interrupted(signal: &str, environment: &str) -> (Sandbox, Option<i32>, Duration, String) {
    let long = SPEC.replace("horizon = 50", "horizon = 1000000000");
    let sandbox = Sandbox::new(
        &long.replace("noise = 0.5\n", "").replace("dim = 2\nactions = 4", environment),
    );
    let (mut child, mut stderr) = started(&sandbox, "deep/out");
    // Waits until the work itself has begun.
    std::thread::sleep(Duration::from_millis(200));
    let sent = Instant::now();
    send(signal, child.id());
    let status = child.wait().unwrap();
    let took = sent.elapsed();
    let mut rest = String::new();
    stderr.read_to_string(&mut rest).unwrap();
    (sandbox, status.code(), took, rest)
}

/// Uses the shell's `kill`: not every machine has the program.
fn send(signal: &str, process: u32) {
    let script = format!("kill -s {signal} {process}");
    assert!(Command::new("sh").args(["-c", &script]).status().unwrap().success());
}

#[test]
fn ctrl_c_stops_within_a_second_and_leaves_nothing() {
    for (signal, environment) in [
        ("INT", "dim = 2\nactions = 4"),
        ("TERM", "dim = 2\nactions = 4"),
        // Long rounds, and a single step that takes minutes.
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

/// The address of a server that accepts connections and never answers.
fn mute_server() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let hold = move || listener.incoming().map(Result::unwrap).collect::<Vec<_>>();
    std::thread::Builder::new().spawn(hold).unwrap();
    address
}

#[test]
fn a_download_from_a_server_that_is_silent_can_be_stopped() {
    let address = mute_server();
    for args in [&["data", "fetch", "heart"][..], &["reproduce", "heart", "--out", "deep/out"]] {
        let sandbox = Sandbox::new(SPEC);
        let mut command =
            sandbox.command(&[args, &["--cache", "cache", "--mirror", &address]].concat());
        let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
        let mut stderr = BufReader::new(child.stderr.take().unwrap());
        stderr.read_line(&mut String::new()).unwrap();
        std::thread::sleep(Duration::from_millis(200));
        let sent = Instant::now();
        send("INT", child.id());
        assert_eq!(child.wait().unwrap().code(), Some(130));
        assert!(sent.elapsed() < Duration::from_secs(1), "{:?}", sent.elapsed());
        let mut rest = String::new();
        stderr.read_to_string(&mut rest).unwrap();
        let said = "interrupted: the download so far is kept, and the next fetch continues it\n";
        assert!(rest.ends_with(said), "{rest}");
        assert!(!sandbox.path().join("deep").exists());
    }
}

#[test]
fn the_time_limit_of_a_download_is_a_flag() {
    let (sandbox, address) = (Sandbox::new(SPEC), mute_server());
    let source = ["--from", "python-packages", "--index", &address, "--cache", "cache"];
    let begun = Instant::now();
    let output =
        sandbox.run(&[&["data", "fetch", "heart", "--time-limit", "1"], &source[..]].concat());
    // Earlier than the 30 seconds after which a silent connection counts as broken.
    assert!(begun.elapsed() < Duration::from_secs(30), "{:?}", begun.elapsed());
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(
        stderr.contains("not complete within the time limit of 1 s; what came is kept"),
        "{stderr}"
    );
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
    assert_eq!(fs::read_dir(sandbox.path().join("out")).unwrap().count(), 4);
}
