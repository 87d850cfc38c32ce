//! The command `plausibly`: glue, text and exit codes.

mod args;
mod exit;
mod output;
mod progress;
mod results;
mod simulate;

use args::{Args, Command};
use clap::{CommandFactory, Parser};
use exit::Outcome;
use std::process::ExitCode;

fn main() -> ExitCode {
    let args = Args::parse();
    let outcome = match args.command {
        Command::Simulate(simulate) => simulate::run(&simulate),
        Command::Spec => {
            output::data(&plausibly_sim::spec_reference());
            Outcome::Done
        }
        Command::Completions { shell } => {
            let mut command = Args::command();
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut command, "plausibly", &mut script);
            output::data(&String::from_utf8_lossy(&script));
            Outcome::Done
        }
    };
    if let Some(message) = outcome.message() {
        output::note(&message);
    }
    outcome.code()
}
