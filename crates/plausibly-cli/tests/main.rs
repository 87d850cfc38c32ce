//! Tests of the command, run as a user or a script runs it.
#![expect(clippy::unwrap_used, reason = "helpers of tests fail like tests")]
#![expect(clippy::print_stderr, reason = "what is skipped is said")]
#![expect(clippy::print_stdout, reason = "measurements are shown")]

mod architecture; // ARCHITECTURE.md, the reference list and the manifests agree
mod data; // list, fetch, verify
mod decisions; // from a table to decisions that show their work
mod errors; // every way to be refused, by snapshot
mod exits; // every exit code, and errors that are said once
mod guide; // the transcripts of the guide
#[cfg(feature = "serve")]
mod help; // every --help of the whole command, by snapshot
mod interrupt; // Ctrl-C
#[cfg(feature = "serve")]
mod keys; // keys of the service: shown once, and stored as hashes
mod plan; // how many outcomes a verdict takes, beside logs that were played
mod python_packages; // which registry is asked, and what if there is none
mod reproduce; // the paper, its report and its files
#[cfg(feature = "serve")]
mod service; // the service as a process: killed, and started again
mod simulate; // runs, files, figures
mod terminal; // nothing that came from a file steers it

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use tempfile::TempDir;

/// A path in the workspace.
fn workspace(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path)
}

/// A temporary folder with a spec.
struct Sandbox(TempDir);

const SPEC: &str = "\
name = \"tiny\"
seed = 1
runs = 3
horizon = 50

[environment]
kind = \"linear\"
dim = 2
actions = 4
noise = 0.5

[[policy]]
kind = \"code\"

[[policy]]
kind = \"lin-ts\"
label = \"TS\"
";

impl Sandbox {
    fn new(spec: &str) -> Self {
        let sandbox = Self(tempfile::tempdir().unwrap());
        fs::write(sandbox.path().join("spec.toml"), spec).unwrap();
        sandbox
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_plausibly"));
        command.args(args).current_dir(self.path()).env("NO_COLOR", "1").env("COLUMNS", "100");
        for name in [
            "PLAUSIBLY_DATA",
            "PLAUSIBLY_SERVICE_DATA",
            "PLAUSIBLY_MIRROR",
            "PIP_INDEX_URL",
            "PIP_CERT",
        ] {
            command.env_remove(name);
        }
        command
    }

    fn run(&self, args: &[&str]) -> Output {
        self.command(args).output().unwrap()
    }

    /// The output in a terminal, without what differs between runs.
    fn transcript(&self, args: &[&str]) -> String {
        let Output { status, stdout, stderr } = self.run(args);
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        let stderr = text(stderr);
        let stderr: Vec<&str> =
            stderr.lines().map(|line| line.split(" in 0.").next().unwrap()).collect();
        format!(
            "$ plausibly {}\n--- exit code {}\n--- stdout\n{}--- stderr\n{}\n",
            args.join(" "),
            status.code().unwrap(),
            text(stdout),
            stderr.join("\n"),
        )
    }
}
