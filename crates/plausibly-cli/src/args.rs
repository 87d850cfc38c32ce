//! The command line.

use clap::{Args as Arguments, Parser, Subcommand};
use clap_complete::Shell;
use std::path::PathBuf;

/// Decides among the actions that could still be best, takes the one it knows least about, and shows its work.
#[derive(Debug, Parser)]
#[command(
    name = "plausibly",
    version,
    after_help = "Example:\n  plausibly simulate examples/compare.toml\n\n\
                  Exit codes: 0 done, 1 failed (a file, a folder), 2 refused (command line or spec), 130 interrupted."
)]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Simulate(Simulate),
    /// Print every field of a spec: meaning, range and default
    #[command(after_help = "Example:\n  plausibly spec | less")]
    Spec,
    /// Print a completion script for a shell
    #[command(
        after_help = "Example:\n  plausibly completions bash > ~/.local/share/bash-completion/completions/plausibly"
    )]
    Completions {
        /// The shell
        shell: Shell,
    },
}

/// Run the comparison a spec describes
///
/// Every policy of the spec plays the same problems, action sets and noise. Writes `summary.csv` (regret, model error and
/// plausible-set size at rounds evenly spread on a logarithmic scale) and `manifest.json` (the spec with its defaults filled
/// in, seed, version, timings) to the output folder, each complete or not at all, and prints the final figures. The same spec and seed
/// give the same summary, byte for byte, on any number of threads and any instruction set.
#[derive(Debug, Arguments)]
#[command(after_help = "Example:\n  plausibly simulate examples/compare.toml --runs 20 --out compare-20\n\n\
                  `plausibly spec` lists every field of a spec.")]
pub(crate) struct Simulate {
    /// The comparison, in TOML
    #[arg(value_name = "SPEC.toml")]
    pub(crate) spec: PathBuf,

    /// Runs, instead of the spec's
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = whole_number::<1, 1_000_000_000>)]
    pub(crate) runs: Option<u64>,

    /// Seed, instead of the spec's
    #[arg(long, value_name = "S", allow_negative_numbers = true, value_parser = whole_number::<0, { i64::MAX as u64 }>)]
    pub(crate) seed: Option<u64>,

    /// Worker threads; the result does not depend on them [default: all cores]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = whole_number::<1, 1024>)]
    pub(crate) threads: Option<u64>,

    /// Folder for the results [default: plausibly-results/ and the name of the spec file]
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,

    /// No progress and no notes on stderr, only errors
    #[arg(long)]
    pub(crate) quiet: bool,

    /// The final figures as JSON on stdout, instead of a table
    #[arg(long)]
    pub(crate) json: bool,
}

/// Reads a number within bounds, and says what they are if it is none.
fn whole_number<const LOW: u64, const HIGH: u64>(text: &str) -> Result<u64, String> {
    let number = text.parse().ok().filter(|number| (LOW..=HIGH).contains(number));
    number.ok_or_else(|| format!("must be a whole number from {LOW} to {HIGH}, all digits written"))
}
