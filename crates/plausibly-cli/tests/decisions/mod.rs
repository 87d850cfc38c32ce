//! Decisions from a table.

mod assumptions; // asked for, printed, recorded
mod audits; // of whole logs
mod firsts; // what a new user meets: several at once, slips, doubts, commas
mod forged; // recorded choices that do not follow
mod interrupts; // signals, and readers that are gone
mod kills; // at any moment
mod limits; // of names and of files
mod locks;
mod milestones; // several at one log
mod outputs; // what may be replaced
mod parity; // with the service and Python
mod records; // tries, history, many outcomes at once
mod refusals; // what is wrong is said, and nothing is written
mod tables; // real ones, from file to explanation
mod upgrades; // of a log of format 1
mod windows; // and pauses

use crate::workspace;
use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output};
use tempfile::TempDir;

/// A folder with a table in it.
pub(crate) struct Desk(TempDir);

impl Desk {
    pub(crate) fn new(table: &str) -> Self {
        let desk = Self(tempfile::tempdir().unwrap());
        fs::copy(workspace(table), desk.path("actions.csv")).unwrap();
        desk
    }

    /// With a log in it that has begun.
    pub(crate) fn begun(table: &str, range: &str) -> Self {
        let desk = Self::new(table);
        let output = desk.run(&[
            "decide",
            "--log",
            "a.log",
            "--actions",
            "actions.csv",
            "--reward-range",
            range,
            "--yes",
        ]);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        desk
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_plausibly"));
        command.args(args).current_dir(self.0.path()).env_remove("PLAUSIBLY_LOG");
        command
    }

    pub(crate) fn run(&self, args: &[&str]) -> Output {
        self.command(args).output().unwrap()
    }

    /// What it prints on stdout; it must succeed.
    pub(crate) fn says(&self, args: &[&str]) -> String {
        let output = self.run(args);
        assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    /// What it says on stderr when it refuses, with its exit code.
    pub(crate) fn refuses(&self, args: &[&str]) -> (i32, String) {
        let output = self.run(args);
        assert!(!output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stdout));
        let text = String::from_utf8(output.stderr).unwrap();
        crate::exits::said_once(&text);
        (output.status.code().unwrap(), text)
    }
}
