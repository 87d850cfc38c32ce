//! The arguments of the commands about decisions. Doc comments here are the text of `--help`.

use crate::args::whole_number;
use clap::Args as Arguments;
use plausibly_log::TimeError;
use plausibly_log::event::Outcomes;
use plausibly_log::policy::Noise;
use plausibly_log::table::read_number;
use std::path::PathBuf;
use std::time::Duration;

/// Take the next decision among the rows of a table
///
/// The first decision begins the log. The command infers how the columns of the table become
/// features, shows that, and records it with the policy and the range of rewards once you agree. It
/// asks about possible mistakes: names that are bare numbers, a first column that numbers the rows,
/// dates, a first line that may be a row.
///
/// Every decision chooses among the rows of the table given with it. New rows join, missing rows
/// are not offered, and a row with changed values counts as a new action. Notes show what has
/// changed since the last decision: new rows (and the missing name that each resembles most), rows
/// that are gone or have changed, and new context keys. A decision is on the disk before it is
/// printed.
#[derive(Debug, Arguments)]
#[expect(clippy::struct_excessive_bools, reason = "switches of a command line")]
#[command(after_help = "Examples:\n  plausibly decide --log wines.log --actions wines.csv\n  \
                        plausibly decide --log ads.log --actions ads.csv --context device=mobile \
                        --reward-range 0..5 --explain\n  \
                        plausibly decide --log ads.log --actions ads.csv --count 10\n  \
                        plausibly decide --log ads.log --actions ads.csv --key visit-4711\n  \
                        plausibly decide --log shop.log --actions articles.csv --label title \
                        --leave-out \
                        added\n  \
                        plausibly decide --log lab.log --actions vectors.csv --as-given \
                        --theta-norm-bound 1 --reward-range=-1..1\n\n\
                        Record the outcome with `plausibly reward`.")]
pub(crate) struct Decide {
    #[command(flatten)]
    pub(crate) log: LogFile,

    /// The actions to choose from: a CSV file with a header and one row per action
    #[arg(long, value_name = "ACTIONS.csv")]
    pub(crate) actions: PathBuf,

    /// Take this many decisions at once; each counts the ones before it as pending. Get their
    /// certificates afterwards with `plausibly explain --log LOG DECISION --json`
    #[arg(
        long, value_name = "N", default_value_t = 1, allow_negative_numbers = true,
        value_parser = whole_number::<1, 1000>, conflicts_with = "certificate"
    )]
    pub(crate) count: u64,

    /// Your name for this request. The same key again gives the decision that was taken the first
    /// time, and writes nothing: so a request whose answer was lost can be repeated
    #[arg(long, value_name = "TEXT", conflicts_with = "count")]
    pub(crate) key: Option<String>,

    /// A fact about this decision that is the same for all actions, such as `device=mobile`
    #[arg(long, value_name = "KEY=VALUE", num_args = 1..)]
    pub(crate) context: Vec<String>,

    /// The policy: a kind such as `code` or `lin-ucb`, or a TOML file with the fields of a policy
    /// [default: the policy of the log, `code` at first]
    #[arg(long, value_name = "KIND_OR_FILE")]
    pub(crate) policy: Option<String>,

    /// Set a field of the policy, such as `greed=0.3`, `target.accuracy=0.5` or `delta=0.01`
    #[arg(long, value_name = "FIELD=VALUE")]
    pub(crate) set: Vec<String>,

    /// The smallest and the largest possible outcome; only for the first decision [default: 0..1]
    #[arg(long, value_name = "A..B", allow_hyphen_values = true, value_parser = range)]
    pub(crate) reward_range: Option<(f64, f64)>,

    /// What an outcome is: `number`, one number in the range; `yes/no`, the smallest or the largest
    /// reward; `counts`, how many of how many were yes, such as 2100 of 10000. Only for the first
    /// decision; `plausibly reward --outcomes` changes it later [default: number]
    #[arg(long, value_name = "KIND", value_parser = outcomes)]
    pub(crate) outcomes: Option<Outcomes>,

    /// How much outcomes of the same action scatter. A number, in units of reward: about two thirds
    /// of them must lie within this of their average. A number that is too small makes statements
    /// wrong, so leave it out unless you know. `bell`: they scatter like a bell curve, as
    /// measurements and averages of many do, and you do not know how much [default: unknown]
    #[arg(long, value_name = "N", value_parser = noise)]
    pub(crate) noise: Option<Noise>,

    /// The usual share of yes, such as 0.03, where outcomes are yes/no or counts and actions have
    /// columns; a rough idea is enough [default: 0.5]
    #[arg(long, value_name = "P", value_parser = share)]
    pub(crate) usual_rate: Option<f64>,

    /// By what factor the odds of a yes can differ from the usual ones, whatever the columns say:
    /// 10 is from a tenth to ten times. One that is too small makes statements wrong, one that is
    /// too large costs a few more outcomes [default: 1000]
    #[arg(long, value_name = "F", value_parser = factor)]
    pub(crate) odds_factor: Option<f64>,

    #[command(flatten)]
    pub(crate) window: WindowArgs,

    /// A column to leave out of the features; only for the first decision
    #[arg(long, value_name = "COLUMN")]
    pub(crate) leave_out: Vec<String>,

    /// The column with the names of the actions; only for the first decision [default: one called
    /// label, name, id or similar, else the first column of text without repetitions]
    #[arg(long, value_name = "COLUMN")]
    pub(crate) label: Option<String>,

    /// Read the first line of the table as the names of its columns, although it looks like a row
    #[arg(long)]
    pub(crate) header: bool,

    #[command(flatten)]
    pub(crate) vectors: Vectors,

    /// The approximate number of decisions in all, for policies that need it
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = any_number)]
    pub(crate) horizon: Option<u64>,

    /// The seed of the random numbers, for policies that use them; only for the first decision
    /// [default: taken from the time]
    #[arg(long, value_name = "S", allow_negative_numbers = true, value_parser = any_number)]
    pub(crate) seed: Option<u64>,

    /// Begin the log, or change its policy, without being asked; what you did not say is assumed
    /// in the safest way, and printed
    #[arg(long)]
    pub(crate) yes: bool,

    /// Explain the decision in plain English
    #[arg(long)]
    pub(crate) explain: bool,

    /// Write the certificate of the decision to this file
    #[arg(long, value_name = "FILE.json")]
    pub(crate) certificate: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) listing: Listing,

    /// Print the certificate as JSON on stdout; several decisions give one per line
    #[arg(long, conflicts_with = "explain")]
    pub(crate) json: bool,

    #[command(flatten)]
    pub(crate) time: Time,

    #[command(flatten)]
    pub(crate) wait: Wait,

    /// Also replace a file that plausibly did not write, and allow a time more than a day ahead of
    /// the clock
    #[arg(long)]
    pub(crate) force: bool,
}

/// The flags for vectors as given.
#[derive(Debug, Arguments)]
pub(crate) struct Vectors {
    /// Use your own vectors: every column except the label is a feature as it is, without scaling,
    /// and no intercept is added; only for the first decision
    #[arg(long, requires = "theta_norm_bound", conflicts_with = "context")]
    pub(crate) as_given: bool,

    /// The largest possible norm of the parameters for vectors as given, in units of reward; only
    /// for the first decision
    #[arg(long, value_name = "S", requires = "as_given", value_parser = read_number)]
    pub(crate) theta_norm_bound: Option<f64>,
}

/// The flags for windows.
#[derive(Debug, Arguments)]
pub(crate) struct WindowArgs {
    /// How long after a decision its outcome may come, such as `7d`, `12h`, `30min` or `90s`. An
    /// outcome is held until then, and counts from then on; a later one counts for nothing. Only
    /// for the first decision [default: outcomes count when they come]
    #[arg(long, value_name = "SPAN", value_parser = super::window::span)]
    pub(crate) window: Option<u64>,

    /// The reward of a decision without an outcome at the end of its window; only for the first
    /// decision [default: it is dropped]
    #[arg(
        long, value_name = "VALUE", requires = "window", allow_negative_numbers = true,
        value_parser = read_number
    )]
    pub(crate) default: Option<f64>,
}

/// Record the outcome of a decision, or of many
///
/// Recording the same outcome again writes nothing. An outcome is on the disk before the command
/// confirms it.
///
/// With `--csv`, reads many outcomes from a CSV file with the columns `decision` and `reward`. A
/// reward is a number, a count such as `21 of 100`, the word `drop` if it will never come, or blank
/// while it is pending.
/// `plausibly history --csv` prints such a file to fill in. The command checks every row before it
/// writes the first; if one is refused, none is recorded.
#[derive(Debug, Arguments)]
#[command(
    after_help = "Examples:\n  plausibly reward --log wines.log 17 7.5\n  plausibly reward --log \
                  wines.log 17 6 --correct\n  plausibly reward --log ads.log 17 2100 --of \
                  10000\n  plausibly reward --log wines.log 17 --retract\n  \
                  plausibly history --log wines.log --pending --csv > outcomes.csv\n  plausibly \
                  reward --log wines.log --csv outcomes.csv"
)]
pub(crate) struct Reward {
    #[command(flatten)]
    pub(crate) log: LogFile,

    /// The number of the decision
    #[arg(
        value_name = "DECISION", allow_negative_numbers = true, value_parser = decision_number,
        required_unless_present = "csv"
    )]
    pub(crate) decision: Option<u64>,

    /// The reward, with a point before the decimals
    #[arg(
        value_name = "VALUE", allow_negative_numbers = true, value_parser = read_number,
        required_unless_present_any = ["retract", "csv"]
    )]
    pub(crate) value: Option<f64>,

    /// The number of outcomes, if VALUE counts how many of them were yes
    #[arg(
        long, value_name = "N", allow_negative_numbers = true, value_parser = any_number,
        requires = "value"
    )]
    pub(crate) of: Option<u64>,

    /// What an outcome of this log is from now on: `number`, `yes/no` or `counts`
    #[arg(long, value_name = "KIND", value_parser = outcomes, conflicts_with = "retract")]
    pub(crate) outcomes: Option<Outcomes>,

    /// Replace the recorded outcome; with `--csv`, every recorded outcome that differs from the
    /// file
    #[arg(long, conflicts_with = "retract")]
    pub(crate) correct: bool,

    /// Withdraw the outcome: the decision is pending again
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
///
/// Whether you drop a decision, or undo a drop, must not depend on how good its outcome was or
/// would be: otherwise what the log says about the actions is no longer right.
#[derive(Debug, Arguments)]
#[command(after_help = "Examples:\n  plausibly drop --log wines.log 17\n  plausibly drop --log \
                        wines.log 17 --undo")]
pub(crate) struct Drop {
    #[command(flatten)]
    pub(crate) log: LogFile,

    /// The number of the decision
    #[arg(value_name = "DECISION", allow_negative_numbers = true, value_parser = decision_number)]
    pub(crate) decision: u64,

    /// Undo the drop: the decision is pending again
    #[arg(long)]
    pub(crate) undo: bool,

    #[command(flatten)]
    pub(crate) time: Time,

    #[command(flatten)]
    pub(crate) wait: Wait,

    /// Allow a time more than a day ahead of the clock
    #[arg(long)]
    pub(crate) force: bool,
}

/// Pause a log, or let it go on
#[derive(Debug, Arguments)]
#[command(
    after_help = "Examples:\n  plausibly pause --log wines.log --by Ada\n  plausibly resume \
                        --log wines.log --by Ada"
)]
pub(crate) struct Pause {
    #[command(flatten)]
    pub(crate) log: LogFile,

    /// Your name, for the log
    #[arg(long, value_name = "NAME")]
    pub(crate) by: Option<String>,

    #[command(flatten)]
    pub(crate) time: Time,

    #[command(flatten)]
    pub(crate) wait: Wait,

    /// Allow a time more than a day ahead of the clock
    #[arg(long)]
    pub(crate) force: bool,
}

/// Print every decision with its outcome
///
/// Prints a table; with `--csv` a CSV file that `plausibly reward --csv` reads once you have filled
/// in its column `reward`; with `--json` one JSON object per line. A corrected outcome is shown
/// with its current value.
///
/// Spreadsheets run a cell that begins with = + - or @ as a formula. The CSV has an apostrophe
/// before text that begins with one of these, a tab, a carriage return or an apostrophe: remove one
/// leading apostrophe to get the original text.
#[derive(Debug, Arguments)]
#[command(
    after_help = "Examples:\n  plausibly history --log wines.log --last 10\n  plausibly history \
                  --log wines.log --pending --csv > outcomes.csv\n  plausibly history --log \
                  wines.log --json | jq -r .label | sort | uniq -c"
)]
pub(crate) struct History {
    #[command(flatten)]
    pub(crate) log: LogFile,

    /// Print only the last N decisions (with `--pending`, the last N pending ones)
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = any_number)]
    pub(crate) last: Option<u64>,

    /// Print only pending decisions
    #[arg(long)]
    pub(crate) pending: bool,

    /// Print CSV on stdout: `decision`, `at`, `label`, one column `context.KEY` per key, `reward`,
    /// `outcome_at`
    #[arg(long, conflicts_with = "json")]
    pub(crate) csv: bool,

    /// Print JSON on stdout, one object per line
    #[arg(long)]
    pub(crate) json: bool,
}

/// Show the status of a log: which actions are still in the race, how accurately they are known,
/// and which outcomes are pending
#[derive(Debug, Arguments)]
#[command(after_help = "Examples:\n  plausibly status --log wines.log\n  plausibly status --log \
                        wines.log --svg wines.svg")]
pub(crate) struct StatusArgs {
    #[command(flatten)]
    pub(crate) log: LogFile,

    /// Write an HTML page to this file
    #[arg(long, value_name = "FILE.html")]
    pub(crate) html: Option<PathBuf>,

    /// Write a picture for a slide to this file
    #[arg(long, value_name = "FILE.svg")]
    pub(crate) svg: Option<PathBuf>,

    /// Also replace files that plausibly did not write
    #[arg(long)]
    pub(crate) force: bool,

    /// Print JSON on stdout, instead of a table
    #[arg(long)]
    pub(crate) json: bool,

    #[command(flatten)]
    pub(crate) time: Time,
}

/// Compare two actions of a log: which one is better, by how much, or how many more outcomes would
/// show it
#[derive(Debug, Arguments)]
#[command(after_help = "Example:\n  plausibly compare --log wines.log \"Rioja 2019\" Barolo")]
pub(crate) struct Compare {
    #[command(flatten)]
    pub(crate) log: LogFile,

    /// The name of an action that the last decision offered
    #[arg(value_name = "A")]
    pub(crate) first: String,

    /// The name of another one
    #[arg(value_name = "B")]
    pub(crate) second: String,

    /// Print JSON on stdout
    #[arg(long)]
    pub(crate) json: bool,
}

/// Explain a decision in plain English
#[derive(Debug, Arguments)]
#[command(
    after_help = "Examples:\n  plausibly explain decision-17.json\n  plausibly explain --log \
                  wines.log 17 --html decision-17.html"
)]
pub(crate) struct Explain {
    /// The file of a certificate, or the number of a decision in a log
    #[arg(value_name = "CERTIFICATE_OR_DECISION")]
    pub(crate) what: String,

    /// The log of the decision [default for numbers: the variable `PLAUSIBLY_LOG`]
    #[arg(long, value_name = "LOG")]
    pub(crate) log: Option<PathBuf>,

    /// Write an HTML page to this file
    #[arg(long, value_name = "FILE.html")]
    pub(crate) html: Option<PathBuf>,

    /// Also replace files that plausibly did not write
    #[arg(long)]
    pub(crate) force: bool,

    /// Print the certificate as JSON on stdout
    #[arg(long)]
    pub(crate) json: bool,

    #[command(flatten)]
    pub(crate) listing: Listing,
}

/// Check that every statement of a certificate follows from its grounds and, with the log, that the
/// grounds are true
///
/// Exits with code 0 if the certificate is right. Otherwise prints the first thing that is wrong,
/// and exits with code 1.
#[derive(Debug, Arguments)]
#[command(after_help = "Examples:\n  plausibly verify decision-17.json\n  plausibly verify \
                        decision-17.json --log wines.log")]
pub(crate) struct Verify {
    /// The certificate
    #[arg(value_name = "CERTIFICATE.json")]
    pub(crate) certificate: PathBuf,

    /// The log it comes from; the certificate is derived again from its lines
    #[arg(long, value_name = "LOG", env = "PLAUSIBLY_LOG", hide_env_values = true)]
    pub(crate) log: Option<PathBuf>,

    /// Print JSON on stdout
    #[arg(long)]
    pub(crate) json: bool,
}

/// Derive a whole log again from nothing, and name the first line that does not follow
///
/// Checks that every hash is right, that every event can follow the lines before it, and that every
/// recorded choice, name and forecast is what follows from them. What people gave, such as
/// settings, rows and outcomes, is taken as it stands. Prints what the log holds, the digest of its
/// statistics and the hash of its last line: note the hash in another place, and a later change of
/// any line shows.
///
/// Exits with code 0 if every log passes. Otherwise prints line, decision and field of the first
/// difference, and exits with code 1. A log that is being written can be audited: the audit takes
/// no lock, and ends at the last line that was there when it began.
#[derive(Debug, Arguments)]
#[command(
    after_help = "Examples:\n  plausibly audit wines.log\n  plausibly audit wines.log ads.log \
                  --json"
)]
pub(crate) struct Audit {
    /// The logs
    #[arg(value_name = "LOG", required = true, env = "PLAUSIBLY_LOG", hide_env_values = true)]
    pub(crate) logs: Vec<PathBuf>,

    /// Print one JSON object per log on stdout
    #[arg(long)]
    pub(crate) json: bool,
}

/// Derive the decisions of a log under other settings, and show which would differ
///
/// At every decision the other policy gets the actions and outcomes that the log had then. The
/// outcomes stay those of the actions that were really chosen, so this shows which single decisions
/// the settings change, not how things would have gone on.
#[derive(Debug, Arguments)]
#[command(
    after_help = "Examples:\n  plausibly replay --log wines.log --set delta=0.1\n  plausibly \
                  replay --log wines.log --policy lin-ucb --json"
)]
pub(crate) struct Replay {
    #[command(flatten)]
    pub(crate) log: LogFile,

    /// The other policy: a kind, or a TOML file [default: the policy of the log]
    #[arg(long, value_name = "KIND_OR_FILE")]
    pub(crate) policy: Option<String>,

    /// Set a field of the policy, such as `delta=0.1` or `greed=0.3`
    #[arg(long, value_name = "FIELD=VALUE")]
    pub(crate) set: Vec<String>,

    /// The approximate number of decisions in all, for policies that need it
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = any_number)]
    pub(crate) horizon: Option<u64>,

    /// Print every decision as JSON on stdout
    #[arg(long)]
    pub(crate) json: bool,
}

/// Continue a log of format 1 in a new file of format 2, with sets that rule actions out sooner
///
/// The new log repeats every line of the old one, and adds to each decision about actions with
/// features what its reward would have been forecast to be. Its last line changes the policy to the
/// sets of today, with the δ, the noise and the bound that were declared. Choices before that line
/// follow the old rules, later ones the new. The command checks the new log line for line before it
/// gets its name, and never changes the old one. Use the new log from then on.
///
/// Upgrade once and by rule, for example when you begin to use this version, and not because of
/// what the outcomes look like: statements stay valid only then.
#[derive(Debug, Arguments)]
#[command(
    after_help = "Examples:\n  plausibly upgrade wines.log\n  plausibly upgrade wines.log --to \
                  wines-new.log"
)]
pub(crate) struct Upgrade {
    /// The log of format 1
    #[arg(value_name = "LOG")]
    pub(crate) log: PathBuf,

    /// The file of the new log, which must not exist yet [default: wines.2.log for wines.log]
    #[arg(long, value_name = "FILE")]
    pub(crate) to: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) time: Time,

    #[command(flatten)]
    pub(crate) wait: Wait,

    /// Allow a time more than a day ahead of the clock
    #[arg(long)]
    pub(crate) force: bool,
}

/// The log.
#[derive(Debug, Arguments)]
pub(crate) struct LogFile {
    /// The file of the log: decisions, outcomes and settings
    #[arg(long = "log", value_name = "LOG", env = "PLAUSIBLY_LOG", hide_env_values = true)]
    pub(crate) path: PathBuf,
}

/// The time of an event.
#[derive(Debug, Arguments)]
pub(crate) struct Time {
    /// The time in UTC, such as 2026-11-15T15:10:02Z [default: now]
    #[arg(long, value_name = "TIME", value_parser = instant)]
    pub(crate) at: Option<i64>,
}

/// The longest wait for the log.
#[derive(Debug, Arguments)]
pub(crate) struct Wait {
    /// How long to wait if another process is writing to the log
    #[arg(long, value_name = "SECONDS", default_value = "10", value_parser = seconds)]
    pub(crate) wait: Duration,
}

/// The length of the list of actions.
#[derive(Debug, Arguments)]
pub(crate) struct Listing {
    /// List N actions in a certificate, and any others that its statements depend on; if some are
    /// left out, the certificate is partial [default: 200]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = any_number)]
    pub(crate) list: Option<u64>,
}

impl Listing {
    pub(crate) fn most(&self) -> usize {
        usize::try_from(self.list.unwrap_or(200)).unwrap_or(usize::MAX)
    }
}

/// Decisions are numbered from 1.
fn decision_number(text: &str) -> Result<u64, String> {
    whole_number::<1, { u64::MAX }>(text)
}

fn any_number(text: &str) -> Result<u64, String> {
    whole_number::<0, { u64::MAX }>(text)
}

/// Parses `A..B`, two numbers with the smaller one first.
pub(super) fn range(text: &str) -> Result<(f64, f64), String> {
    let usage = "must be two numbers with the smaller one first, such as 0..10 or -1..1";
    let (low, high) = text.split_once("..").ok_or(usage)?;
    let end = |text: &str| read_number(text).map_err(|error| error.to_string());
    let (low, high) = (end(low)?, end(high)?);
    if low < high && (high - low).is_finite() { Ok((low, high)) } else { Err(usage.into()) }
}

/// Parses what is said about how much outcomes scatter.
pub(super) fn noise(text: &str) -> Result<Noise, String> {
    if text.eq_ignore_ascii_case("unknown") {
        return Ok(Noise::Unknown);
    }
    if text.eq_ignore_ascii_case("bell") {
        return Ok(Noise::Bell);
    }
    let scale =
        read_number(text).map_err(|error| format!("{error}; or say `bell` or `unknown`"))?;
    if scale > 0.0 && scale.is_finite() {
        Ok(Noise::Scale(scale))
    } else {
        Err("must be a number above 0, `bell` or `unknown`".into())
    }
}

/// Parses a usual share of yes.
pub(super) fn share(text: &str) -> Result<f64, String> {
    let share = read_number(text).map_err(|error| error.to_string())?;
    if share > 0.0 && share < 1.0 {
        return Ok(share);
    }
    Err("must be between 0 and 1, and neither of them; 3 % is 0.03".into())
}

/// Parses by what factor odds can differ.
pub(super) fn factor(text: &str) -> Result<f64, String> {
    let factor = read_number(text).map_err(|error| error.to_string())?;
    if factor > 1.0 && factor <= 1e50 {
        return Ok(factor);
    }
    Err("must be above 1: 10 is from a tenth of the usual odds to ten times as high".into())
}

/// Parses what an outcome is.
pub(super) fn outcomes(text: &str) -> Result<Outcomes, String> {
    match text.to_lowercase().as_str() {
        "number" => Ok(Outcomes::Number),
        "yes/no" => Ok(Outcomes::YesNo),
        "counts" => Ok(Outcomes::Counts),
        _ => Err("must be `number`, `yes/no` or `counts`".into()),
    }
}

/// Parses a time to wait, at most a day.
fn seconds(text: &str) -> Result<Duration, String> {
    let parsed = text.parse().ok().filter(|seconds| (0.0..=86_400.0).contains(seconds));
    parsed
        .map(Duration::from_secs_f64)
        .ok_or_else(|| "must be a number of seconds, from 0 to 86400".into())
}

fn instant(text: &str) -> Result<i64, TimeError> {
    text.parse().map(plausibly_log::Time::micros)
}
