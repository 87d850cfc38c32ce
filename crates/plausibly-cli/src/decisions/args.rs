//! The command line of decisions from a table.

use clap::Args as Arguments;
use plausibly_log::table::{NumberError, read_number};
use std::path::PathBuf;
use std::time::Duration;

/// Take the next decision among the rows of a table
///
/// The first decision begins the log: how the table's columns become features is worked out from it
/// and shown, and recorded with the policy and the range of rewards once you agree. From then on
/// only the rows of today's table can be chosen; new ones join, missing ones stay away, and a row
/// whose values have changed counts as a new action. When this command has printed a decision, it
/// is on the disk.
///
/// What is different since the last decision is noted: new rows and the missing name they are most
/// like, rows that are gone or have changed, new context keys. When a log begins, you are asked
/// about what may not be meant: names that are bare numbers, a first column that numbers the rows,
/// dates, a first line that may be a row.
#[derive(Debug, Arguments)]
#[expect(clippy::struct_excessive_bools, reason = "switches of a command line")]
#[command(after_help = "Examples:\n  plausibly decide --log wines.log --actions wines.csv\n  \
                  plausibly decide --log ads.log --actions ads.csv --context device=mobile --reward-range 0..5 --explain\n  \
                  plausibly decide --log ads.log --actions ads.csv --count 10\n  \
                  plausibly decide --log shop.log --actions articles.csv --label title --leave-out added\n  \
                  plausibly decide --log lab.log --actions vectors.csv --as-given --theta-norm-bound 1 --reward-range=-1..1\n\n\
                  Tell what came of it with `plausibly reward`.")]
pub(crate) struct Decide {
    #[command(flatten)]
    pub(crate) log: LogFile,

    /// The actions to choose from, one row each: a CSV file with a header
    #[arg(long, value_name = "ACTIONS.csv")]
    pub(crate) actions: PathBuf,

    /// Take this many decisions at once, each counting those before it as on their way.
    /// Certificates are made afterwards, by `plausibly explain --log LOG DECISION --json`
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..=1000), conflicts_with = "certificate")]
    pub(crate) count: u64,

    /// What is known about this occasion
    #[arg(long, value_name = "KEY=VALUE", num_args = 1..)]
    pub(crate) context: Vec<String>,

    /// Who decides: a kind such as `code` or `lin-ucb`, or a TOML file with the fields of a policy
    /// [default: the log's, at first `code`]
    #[arg(long, value_name = "KIND_OR_FILE")]
    pub(crate) policy: Option<String>,

    /// A field of the policy, such as `greed=0.3`, `target.accuracy=0.5` or `delta=0.01`
    #[arg(long, value_name = "FIELD=VALUE")]
    pub(crate) set: Vec<String>,

    /// The smallest and the largest reward there can be; at first only [default: 0..1]
    #[arg(long, value_name = "A..B", allow_hyphen_values = true, value_parser = range)]
    pub(crate) reward_range: Option<(f64, f64)>,

    /// A column that shall not become a feature; at first only
    #[arg(long, value_name = "COLUMN")]
    pub(crate) leave_out: Vec<String>,

    /// The column that names the actions; at first only [default: one called label, name, id or the
    /// like, else the first column of text without repetitions]
    #[arg(long, value_name = "COLUMN")]
    pub(crate) label: Option<String>,

    /// The first line of the table names the columns, although it looks like a row
    #[arg(long)]
    pub(crate) header: bool,

    #[command(flatten)]
    pub(crate) vectors: Vectors,

    /// How many decisions there will be about, for policies that ask
    #[arg(long, value_name = "N")]
    pub(crate) horizon: Option<u64>,

    /// Where randomness begins, for policies that draw; at first only [default: from the time]
    #[arg(long, value_name = "S")]
    pub(crate) seed: Option<u64>,

    /// Begin the log, or change its policy, without being asked
    #[arg(long)]
    pub(crate) yes: bool,

    /// Explain the decision in plain words
    #[arg(long)]
    pub(crate) explain: bool,

    /// Write the certificate of the decision to this file
    #[arg(long, value_name = "FILE.json")]
    pub(crate) certificate: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) listing: Listing,

    /// The certificate as JSON on stdout; of several decisions, one per line
    #[arg(long, conflicts_with = "explain")]
    pub(crate) json: bool,

    #[command(flatten)]
    pub(crate) time: Time,

    #[command(flatten)]
    pub(crate) wait: Wait,

    /// Replace also a file that plausibly did not write, and allow a time more than a day ahead of
    /// the clock
    #[arg(long)]
    pub(crate) force: bool,
}

/// Vectors of one's own.
#[derive(Debug, Arguments)]
pub(crate) struct Vectors {
    /// Take every column but the label's as a feature just as it is: vectors of your own, without
    /// an intercept; at first only
    #[arg(long, requires = "theta_norm_bound", conflicts_with = "context")]
    pub(crate) as_given: bool,

    /// The largest norm that the parameters of vectors as given can have, in units of reward; at
    /// first only
    #[arg(long, value_name = "S", requires = "as_given", value_parser = number)]
    pub(crate) theta_norm_bound: Option<f64>,
}

/// Record what came of a decision, or of many
///
/// The same outcome twice is recorded once. When this command has said so, the outcome is on the
/// disk.
///
/// With `--csv`, a file tells many outcomes: a CSV with the columns `decision` and `reward`, where
/// a reward is a number, the word `drop`, or blank while it is outstanding. `plausibly history
/// --csv` prints such a file to fill in. Every row is checked before the first is written; if one
/// is refused, none is recorded.
#[derive(Debug, Arguments)]
#[command(
    after_help = "Examples:\n  plausibly reward --log wines.log 17 7.5\n  plausibly reward --log wines.log 17 6 --correct\n  \
                  plausibly reward --log wines.log 17 --retract\n  plausibly history --log wines.log --pending --csv > outcomes.csv\n  \
                  plausibly reward --log wines.log --csv outcomes.csv"
)]
pub(crate) struct Reward {
    #[command(flatten)]
    pub(crate) log: LogFile,

    /// Number of the decision
    #[arg(value_name = "DECISION", required_unless_present = "csv")]
    pub(crate) decision: Option<u64>,

    /// What it paid, with a point before the decimals
    #[arg(value_name = "VALUE", allow_negative_numbers = true, value_parser = number, required_unless_present_any = ["retract", "csv"])]
    pub(crate) value: Option<f64>,

    /// Replace the outcome recorded before; with `--csv`, every one that the file tells otherwise
    #[arg(long, conflicts_with = "retract")]
    pub(crate) correct: bool,

    /// Take the outcome back: it is outstanding again
    #[arg(long, conflicts_with = "value")]
    pub(crate) retract: bool,

    /// Record the outcomes in this file: all of them, or none
    #[arg(long, value_name = "OUTCOMES.csv", conflicts_with_all = ["decision", "value", "retract"])]
    pub(crate) csv: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) time: Time,

    #[command(flatten)]
    pub(crate) wait: Wait,

    /// Allow a time more than a day ahead of the clock
    #[arg(long)]
    pub(crate) force: bool,
}

/// Record that the outcome of a decision will never come
#[derive(Debug, Arguments)]
#[command(after_help = "Example:\n  plausibly drop --log wines.log 17\n\nDrops are final.")]
pub(crate) struct Drop {
    #[command(flatten)]
    pub(crate) log: LogFile,

    /// Number of the decision
    #[arg(value_name = "DECISION")]
    pub(crate) decision: u64,

    #[command(flatten)]
    pub(crate) time: Time,

    #[command(flatten)]
    pub(crate) wait: Wait,

    /// Allow a time more than a day ahead of the clock
    #[arg(long)]
    pub(crate) force: bool,
}

/// Print every decision with what became of it
///
/// A table for people; with `--csv` a CSV that `plausibly reward --csv` reads back once its column
/// `reward` is filled in; with `--json` one JSON object per line. An outcome that was corrected is
/// shown as it stands now.
///
/// Spreadsheets run a cell that begins with = + - or @ as a formula. In the CSV, text that begins
/// like that, or with an apostrophe, has an apostrophe before it: take one leading apostrophe away
/// to have the text as it is.
#[derive(Debug, Arguments)]
#[command(
    after_help = "Examples:\n  plausibly history --log wines.log --last 10\n  plausibly history --log wines.log --pending --csv > outcomes.csv\n  \
                  plausibly history --log wines.log --json | jq -r .label | sort | uniq -c"
)]
pub(crate) struct History {
    #[command(flatten)]
    pub(crate) log: LogFile,

    /// The last N decisions only, of those that are asked for
    #[arg(long, value_name = "N")]
    pub(crate) last: Option<usize>,

    /// Decisions whose outcomes are outstanding only
    #[arg(long)]
    pub(crate) pending: bool,

    /// As CSV on stdout: `decision`, `at`, `label`, a column `context.KEY` per key, `reward`,
    /// `outcome_at`
    #[arg(long, conflicts_with = "json")]
    pub(crate) csv: bool,

    /// As JSON on stdout, one object per line
    #[arg(long)]
    pub(crate) json: bool,
}

/// Show how a log stands: who is still in the race, how sure that is, and what is outstanding
#[derive(Debug, Arguments)]
#[command(
    after_help = "Examples:\n  plausibly status --log wines.log\n  plausibly status --log wines.log --svg wines.svg"
)]
pub(crate) struct StatusArgs {
    #[command(flatten)]
    pub(crate) log: LogFile,

    /// Write a page to this file
    #[arg(long, value_name = "FILE.html")]
    pub(crate) html: Option<PathBuf>,

    /// Write a picture for a slide to this file
    #[arg(long, value_name = "FILE.svg")]
    pub(crate) svg: Option<PathBuf>,

    /// Replace also files that plausibly did not write
    #[arg(long)]
    pub(crate) force: bool,

    /// As JSON on stdout, instead of a table
    #[arg(long)]
    pub(crate) json: bool,

    #[command(flatten)]
    pub(crate) time: Time,
}

/// Explain a decision in plain words
#[derive(Debug, Arguments)]
#[command(
    after_help = "Examples:\n  plausibly explain decision-17.json\n  plausibly explain --log wines.log 17 --html decision-17.html"
)]
pub(crate) struct Explain {
    /// A certificate or, in a log, the number of a decision
    #[arg(value_name = "CERTIFICATE_OR_DECISION")]
    pub(crate) what: String,

    /// The log the decision is in [default for numbers: the variable `PLAUSIBLY_LOG`]
    #[arg(long, value_name = "LOG")]
    pub(crate) log: Option<PathBuf>,

    /// Write a page to this file
    #[arg(long, value_name = "FILE.html")]
    pub(crate) html: Option<PathBuf>,

    /// Replace also files that plausibly did not write
    #[arg(long)]
    pub(crate) force: bool,

    /// The certificate as JSON on stdout
    #[arg(long)]
    pub(crate) json: bool,

    #[command(flatten)]
    pub(crate) listing: Listing,
}

/// Check a certificate: that everything it says follows from what it rests on and, with the log,
/// that this is true
///
/// Exit code 0 if nothing is wrong, 1 with the first thing that is.
#[derive(Debug, Arguments)]
#[command(
    after_help = "Examples:\n  plausibly verify decision-17.json\n  plausibly verify decision-17.json --log wines.log"
)]
pub(crate) struct Verify {
    /// The certificate
    #[arg(value_name = "CERTIFICATE.json")]
    pub(crate) certificate: PathBuf,

    /// The log it is from: everything is derived again from its lines
    #[arg(long, value_name = "LOG", env = "PLAUSIBLY_LOG", hide_env_values = true)]
    pub(crate) log: Option<PathBuf>,

    /// As JSON on stdout
    #[arg(long)]
    pub(crate) json: bool,
}

/// Go through a log under other settings, and show which decisions would have been others
///
/// At every decision, the same actions and the same outcomes so far are put before the other
/// policy. This shows what the settings change; not how the log would have gone on.
#[derive(Debug, Arguments)]
#[command(
    after_help = "Examples:\n  plausibly replay --log wines.log --set delta=0.1\n  plausibly replay --log wines.log --policy lin-ucb --json"
)]
pub(crate) struct Replay {
    #[command(flatten)]
    pub(crate) log: LogFile,

    /// Who decides instead: a kind, or a TOML file [default: the log's policy]
    #[arg(long, value_name = "KIND_OR_FILE")]
    pub(crate) policy: Option<String>,

    /// A field of the policy, such as `delta=0.1` or `greed=0.3`
    #[arg(long, value_name = "FIELD=VALUE")]
    pub(crate) set: Vec<String>,

    /// How many decisions there will be about, for policies that ask
    #[arg(long, value_name = "N")]
    pub(crate) horizon: Option<u64>,

    /// As JSON on stdout, every decision
    #[arg(long)]
    pub(crate) json: bool,
}

/// Which log.
#[derive(Debug, Arguments)]
pub(crate) struct LogFile {
    /// The file that holds everything: decisions, outcomes, settings
    #[arg(long = "log", value_name = "LOG", env = "PLAUSIBLY_LOG", hide_env_values = true)]
    pub(crate) path: PathBuf,
}

/// When.
#[derive(Debug, Arguments)]
pub(crate) struct Time {
    /// When, in UTC, such as 2026-11-15T15:10:02Z [default: now]
    #[arg(long, value_name = "TIME", value_parser = instant)]
    pub(crate) at: Option<i64>,
}

/// How long to wait for the log.
#[derive(Debug, Arguments)]
pub(crate) struct Wait {
    /// How long to wait if another process is writing to the log
    #[arg(long, value_name = "SECONDS", default_value = "10", value_parser = seconds)]
    pub(crate) wait: Duration,
}

/// How much to list.
#[derive(Debug, Arguments)]
pub(crate) struct Listing {
    /// Most actions a certificate lists; with more on offer it is partial [default: 200]
    #[arg(long, value_name = "N")]
    pub(crate) list: Option<usize>,
}

impl Listing {
    pub(crate) fn most(&self) -> usize {
        self.list.unwrap_or(200)
    }
}

fn number(text: &str) -> Result<f64, NumberError> {
    read_number(text)
}

/// `A..B`, two numbers with the smaller one first.
fn range(text: &str) -> Result<(f64, f64), String> {
    let usage = "must be two numbers with the smaller one first, such as 0..10 or -1..1";
    let (low, high) = text.split_once("..").ok_or(usage)?;
    let end = |text: &str| read_number(text).map_err(|error| error.to_string());
    let (low, high) = (end(low)?, end(high)?);
    if low < high && (high - low).is_finite() { Ok((low, high)) } else { Err(usage.into()) }
}

/// A time to wait, at most a day.
fn seconds(text: &str) -> Result<Duration, String> {
    let parsed = text.parse().ok().filter(|seconds| (0.0..=86_400.0).contains(seconds));
    parsed
        .map(Duration::from_secs_f64)
        .ok_or_else(|| "must be a number of seconds, from 0 to 86400".into())
}

fn instant(text: &str) -> Result<i64, String> {
    // Without a fraction it is as good.
    let full = text
        .strip_suffix('Z')
        .filter(|rest| !rest.contains('.'))
        .map(|rest| format!("{rest}.000000Z"));
    let parsed = plausibly_log::journal::parse_utc(full.as_deref().unwrap_or(text));
    parsed.ok_or_else(|| "must be a time in UTC, such as 2026-11-15T15:10:02Z".into())
}
