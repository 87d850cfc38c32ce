//! The command `plausibly`: arguments, text, files and exit codes.
//!
//! This is a library so that the Python package can include the same command. It is meant for
//! programs that do nothing else: a command may handle signals, and ends the process if the command
//! line is wrong.

mod args;
mod data;
mod decisions;
mod exit;
mod files;
mod interrupt;
mod output;
mod pip;
mod progress;
mod reproduce;
mod results;
mod simulate;

use anyhow::Context;
use args::{Args, Command};
use clap::CommandFactory;
use exit::Outcome;
use std::ffi::OsString;

/// Runs a command line, whose first word is the program, and returns its exit code. A wrong command
/// line, `--help` and `--version` end the process.
pub fn run(line: impl IntoIterator<Item = OsString>) -> u8 {
    let args = Args::read(line);
    let outcome = match args.command {
        Command::Reproduce(reproduce) => reproduce::run(&reproduce),
        Command::Simulate(simulate) => simulate::run(&simulate),
        Command::Data(command) => data::run(&command),
        Command::Decide(args) => decisions::decide(&args),
        Command::Reward(args) => decisions::reward(&args),
        Command::Drop(args) => decisions::drop_decision(&args),
        Command::History(args) => decisions::history(&args),
        Command::Status(args) => decisions::status(&args),
        Command::Explain(args) => decisions::explain(&args),
        Command::Verify(args) => decisions::verify(&args),
        Command::Replay(args) => decisions::replay(&args),
        Command::Spec => {
            let cache = args::Cache { folder: None };
            printed(output::data(&plausibly_sim::spec_reference(&data::pools(&cache))))
        }
        Command::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut Args::command(), "plausibly", &mut script);
            printed(output::document(&String::from_utf8_lossy(&script)))
        }
    };
    if let Some(message) = outcome.message() {
        output::note(&message);
    }
    outcome.code()
}

fn printed(written: std::io::Result<()>) -> Outcome {
    match written.context("cannot write to standard output") {
        Ok(()) => Outcome::Done,
        Err(error) => Outcome::Failed(error),
    }
}
