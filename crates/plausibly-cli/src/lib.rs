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
mod own_table;
mod pip;
mod progress;
mod reproduce;
mod results;
#[cfg(feature = "serve")]
mod service;
mod simulate;
mod verdicts;

use anyhow::Result;
use args::{Args, Command};
use clap::CommandFactory;
use std::ffi::OsString;

/// Runs a command line, whose first word is the program, and returns its exit code. A wrong command
/// line, `--help` and `--version` end the process.
pub fn run(line: impl IntoIterator<Item = OsString>) -> u8 {
    match execute(Args::read(line).command) {
        Ok(()) => 0,
        Err(error) => {
            output::note(&exit::text(&error));
            exit::code(&error)
        }
    }
}

fn execute(command: Command) -> Result<()> {
    match command {
        Command::Plan(args) => decisions::plan::run(&args),
        Command::Decide(args) => decisions::decide::run(&args),
        Command::Reward(args) => decisions::reward::run(&args),
        Command::Drop(args) => decisions::reward::drop_decision(&args),
        Command::Pause(args) => decisions::window::pause(&args, true),
        Command::Resume(args) => decisions::window::pause(&args, false),
        Command::History(args) => decisions::history::run(&args),
        Command::Status(args) => decisions::status::run(&args),
        Command::Compare(args) => decisions::compare::run(&args),
        Command::Explain(args) => decisions::explain::run(&args),
        Command::Verify(args) => decisions::verify::run(&args),
        Command::Audit(args) => decisions::audit::run(&args),
        Command::Replay(args) => decisions::replay::run(&args),
        Command::Upgrade(args) => decisions::upgrade::run(&args),
        Command::Reproduce(args) => reproduce::run(&args),
        Command::Simulate(args) => simulate::run(&args),
        Command::Data(command) => data::run(&command),
        #[cfg(feature = "serve")]
        Command::Serve(args) => service::serve::run(&args),
        #[cfg(feature = "serve")]
        Command::Key(command) => service::key::run(&command),
        Command::Spec => {
            let cache = args::Cache { folder: None };
            output::data(&plausibly_sim::spec_reference(&data::pools(&cache)))
        }
        Command::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut Args::command(), "plausibly", &mut script);
            output::document(&String::from_utf8_lossy(&script))
        }
    }
}
