//! The service as a process: killed under load, started again on the same data folder, and traced.

#[expect(dead_code, reason = "the tests of the service itself use the rest")]
#[path = "../../../plausibly-server/tests/client.rs"]
mod client;
mod file; // what a log holds, line by line
mod kills; // killed under load
mod lives; // jobs for clients of a service that is killed again and again
mod repeats; // requests that are sent again
mod trace; // what the system saw

use client::Client;
use serde_json::json;
use std::fs::{self, File, OpenOptions};
use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// The number of clients that talk to the service at once.
const CONNECTIONS: usize = 32;

/// A data folder, and beside it what the processes say.
struct Home(TempDir);

impl Home {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn data(&self) -> PathBuf {
        self.0.path().join("data")
    }

    fn log(&self, name: &str) -> PathBuf {
        self.data().join(name).join("log")
    }

    fn said(&self) -> File {
        let path = self.0.path().join("said");
        OpenOptions::new().append(true).create(true).open(path).unwrap()
    }

    /// The command that serves this folder at a free port.
    fn serve(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_plausibly"));
        command.args(["serve", "--listen", "127.0.0.1:0", "--data"]).arg(self.data());
        command
    }

    /// Starts the service, and returns once it listens.
    fn start(&self) -> Service {
        let mut command = self.serve();
        Service::begin(command.stderr(self.said()))
    }

    /// Checks that no thread of any process has panicked.
    fn check_calm(&self) {
        let said = fs::read_to_string(self.0.path().join("said")).unwrap();
        assert!(!said.contains("panicked"), "{said}");
    }

    /// Derives every line of a log again.
    fn audit(&self, name: &str) {
        let mut command = Command::new(env!("CARGO_BIN_EXE_plausibly"));
        let output = command.arg("audit").arg(self.log(name)).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
}

/// A running process, killed when it is dropped.
struct Service {
    child: Child,
    address: SocketAddr,
}

impl Service {
    fn begin(command: &mut Command) -> Self {
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let address = line.trim().strip_prefix("listening on http://");
        Self { child, address: address.expect("the address comes first").parse().unwrap() }
    }

    fn client(&self) -> Client {
        Client::new(self.address)
    }

    /// Kills it at once.
    fn kill(mut self) {
        self.end();
    }

    fn end(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        self.end();
    }
}

/// Begins an experiment about three mugs.
fn begin(client: &mut Client, name: &str) {
    let new = json!({
        "name": name,
        "seed": 7,
        "actions": [
            {"name": "mug", "price": 4},
            {"name": "bowl", "price": 6.5},
            {"name": "jug", "price": 9},
        ],
    });
    client.post("/v1/experiments", &new).expect(201);
}

/// Waits for something that must happen within a minute.
fn wait_until(what: &str, mut happened: impl FnMut() -> bool) {
    let began = Instant::now();
    while !happened() {
        assert!(began.elapsed() < Duration::from_mins(1), "not within a minute: {what}");
        std::thread::sleep(Duration::from_millis(1));
    }
}
