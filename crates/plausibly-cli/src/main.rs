//! The command `plausibly` as a program of its own.

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(plausibly_cli::run(std::env::args_os()))
}
