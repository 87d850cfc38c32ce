//! Why an event cannot follow.

use super::window::LONGEST_WINDOW;
use crate::event::{FIRST_FORMAT, FORMAT, LONGEST_KEY, LONGEST_NAME, Outcomes};
use crate::policy::PolicyRefusal;
use crate::recipe::RecipeError;
use crate::statistics::StatisticsError;
use crate::table::first_few;
use crate::time::Time;
use plausibly::{ForecastError, TallyError};
use thiserror::Error;

/// Why an event cannot follow those before it. The state is unchanged.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum StepError {
    /// A first event that is not `opened`, or `opened` again later.
    #[error("the first event of a log must be `opened`, and no later event may be")]
    Opening,
    /// A format of a newer version.
    #[error(
        "the events have format {found}, and this version reads {FIRST_FORMAT} and {FORMAT}; use \
         the version that wrote them"
    )]
    Format {
        /// The format found.
        found: u32,
    },
    /// A log that says it continues one of its own or a later format.
    #[error(
        "the log says that it continues a log of its own or a later format; only logs of an \
         earlier format can be continued"
    )]
    Upgrade,
    /// An event that the format of the log does not have.
    #[error(
        "{what} needs a log of format {format}, and this one has format {own}; `plausibly upgrade` \
         writes one that goes on from here"
    )]
    Earlier {
        /// What was asked for.
        what: &'static str,
        /// The first format that has it.
        format: u32,
        /// The format of the log.
        own: u32,
    },
    /// A key that is empty, too long or has control characters.
    #[error(
        "a key has 1 to {LONGEST_KEY} bytes without control characters; this one has {}",
        if (1..=LONGEST_KEY).contains(.length) {
            "a control character".to_string()
        } else {
            format!("{length} bytes")
        }
    )]
    Key {
        /// Its number of bytes.
        length: usize,
    },
    /// A key that an earlier decision has.
    #[error("the key \"{key}\" already belongs to decision {decision}")]
    KeyTaken {
        /// The key.
        key: String,
        /// That decision.
        decision: u64,
    },
    /// A key that was used before to ask for something else.
    #[error(
        "the key \"{key}\" belongs to decision {decision}, which was asked for with another \
         request; use a new key for a new request"
    )]
    KeyReused {
        /// The key.
        key: String,
        /// The decision it belongs to.
        decision: u64,
    },
    /// A `request` that is not a SHA-256.
    #[error(
        "`request` must be a SHA-256, 64 hexadecimal digits in lower case; {}",
        if *.length == 64 { "this one has another character".into() } else {
            format!("this one has {length} bytes")
        }
    )]
    Request {
        /// Its number of bytes.
        length: usize,
    },
    /// A hash of a request without the key that it belongs to.
    #[error("`request` says what was asked with a key, so it needs a key; give `key` too")]
    RequestWithoutKey,
    /// A name of who asks that is empty, too long or has control characters.
    #[error(
        "`by` has 1 to {LONGEST_NAME} bytes without control characters; this one has {}",
        if (1..=LONGEST_NAME).contains(.length) {
            "a control character".to_string()
        } else {
            format!("{length} bytes")
        }
    )]
    By {
        /// Its number of bytes.
        length: usize,
    },
    /// A decision while the log is paused.
    #[error(
        "the log is paused, so it takes no decisions until it is resumed (`plausibly resume`); \
         outcomes are still taken"
    )]
    Paused,
    /// A pause of a log that is paused, or a resumption of one that is not.
    #[error("the log {} already", if *.paused { "is paused" } else { "takes decisions" })]
    PausedAlready {
        /// Whether it is paused.
        paused: bool,
    },
    /// A window that is too short or too long.
    #[error("a window has 1 to {LONGEST_WINDOW} whole seconds, got {seconds}")]
    Window {
        /// What was given.
        seconds: u64,
    },
    /// A default of a window that cannot be an outcome of the log.
    #[error(
        "a decision without an outcome would get the reward {default} at its deadline, and that is \
         no outcome where outcomes are {outcomes}; let the window drop such decisions, or begin a \
         new log with another default"
    )]
    WindowDefault {
        /// The default.
        default: f64,
        /// What an outcome of the log is.
        outcomes: Outcomes,
    },
    /// What only a log with a window has.
    #[error("{what} needs a log with a window, and this one has none")]
    NoWindow {
        /// What was asked for.
        what: &'static str,
    },
    /// A line whose time contradicts what the line says about a deadline.
    #[error(
        "the deadline of decision {decision} is {deadline}, and at {at} it has {}",
        if *.passed { "not passed: settle it then" } else { "passed: such an outcome is late" }
    )]
    Deadline {
        /// Which decision.
        decision: u64,
        /// Its deadline.
        deadline: Time,
        /// The time of the line.
        at: Time,
        /// Whether the line says that it has passed.
        passed: bool,
    },
    /// A reward that counts at once, in a log with a window.
    #[error(
        "this log has a window, so the outcome of decision {decision} counts from its deadline on: \
         it must be recorded as `reported` until then"
    )]
    Unheld {
        /// Which decision.
        decision: u64,
    },
    /// A decision that settles in another way than the one that follows.
    #[error(
        "decision {decision} does not settle like that: it gets the outcome that was reported \
         before its deadline, or else what the first line of the log says"
    )]
    Settles {
        /// Which decision.
        decision: u64,
    },
    /// A drop that would be repeated at once.
    #[error(
        "the drop of decision {decision} cannot be undone: its window has ended without an \
         outcome, and such decisions of this log are dropped"
    )]
    StaysDropped {
        /// Which decision.
        decision: u64,
    },
    /// A policy that cannot decide here.
    #[error(transparent)]
    Policy(#[from] PolicyRefusal),
    /// A range of rewards that is not one.
    #[error(
        "the range of rewards must be two numbers, the smaller one first, got {low} and {high}"
    )]
    Range {
        /// The smaller one, supposedly.
        low: f64,
        /// The larger one, supposedly.
        high: f64,
    },
    /// A range of rewards too far from zero for vectors as given.
    #[error(
        "for vectors as given, rewards from {low} to {high} are too far from zero for such a \
         narrow range: divided by its length they must lie between -1024 and 1024; give a \
         wider range, or \
         subtract the usual level from the rewards and add a column of ones to the vectors"
    )]
    FarRange {
        /// The smallest reward.
        low: f64,
        /// The largest.
        high: f64,
    },
    /// Features that cannot be encoded.
    #[error(transparent)]
    Features(#[from] RecipeError),
    /// A number out of sequence.
    #[error("{what} {found} is out of sequence: the next is {next}")]
    OutOfTurn {
        /// What is numbered.
        what: &'static str,
        /// The number found.
        found: u64,
        /// The next one.
        next: u64,
    },
    /// A number that does not exist.
    #[error("there is no {what} {number}")]
    Unknown {
        /// What.
        what: &'static str,
        /// Its number.
        number: u64,
    },
    /// A name that is taken.
    #[error("there already is an action \"{label}\"")]
    Taken {
        /// The name.
        label: String,
    },
    /// An action that was retired, or not in the set.
    #[error("action {action} cannot be {done}: {why}")]
    Unfit {
        /// Which.
        action: u64,
        /// What cannot be done.
        done: &'static str,
        /// Why not.
        why: &'static str,
    },
    /// An action that the last decision did not offer.
    #[error(
        "\"{label}\" is not among the actions that the last decision offered; `plausibly status` \
         lists them"
    )]
    NotOffered {
        /// The name given.
        label: String,
    },
    /// An action that no decision has offered under this name.
    #[error("there is no action \"{label}\" in this log")]
    NoSuchAction {
        /// The name given.
        label: String,
    },
    /// An outcome whose decision must be read in the log first.
    #[error("decision {decision} is settled, and its line was not read again")]
    Forgotten {
        /// The decision.
        decision: u64,
    },
    /// An event about all earlier outcomes, after a log was opened from its snapshot.
    #[error("the earlier outcomes were not read; open the log without its snapshot")]
    Unread,
    /// A model of rows without what each row has paid.
    #[error("what each row of features has paid was not read again")]
    NoRows,
    /// An action that is offered twice.
    #[error("\"{label}\" is offered twice; offer each action once")]
    OfferedTwice {
        /// Its name.
        label: String,
    },
    /// Rows of one request where the log cannot use them.
    #[error("rows that belong to one request cannot be used here: {why}")]
    RequestRows {
        /// Why not.
        why: &'static str,
    },
    /// Rows that are not those of the set.
    #[error(
        "the decision is about {actions} actions and has {rows} rows; it needs one row for each \
         action of its set, with a cell for each column"
    )]
    RowsOfOthers {
        /// The number of rows.
        rows: usize,
        /// The number of actions.
        actions: usize,
    },
    /// An action that has only had rows of single requests.
    #[error(
        "\"{label}\" has only had rows that belonged to one request each; give its row with this \
         request too"
    )]
    NoRow {
        /// The name of the action.
        label: String,
    },
    /// A set without actions.
    #[error("there is nothing to choose from")]
    NoActions,
    /// Phased elimination about other actions than those it began with.
    #[error(
        "phased elimination needs the same actions in the same context from its first decision on, \
         but {what}; offer the same again, or change the policy (--policy code). Changing back to \
         elimination later starts with the first phase again"
    )]
    OtherActions {
        /// What is different.
        what: String,
    },
    /// A finished phase of elimination with pending rewards.
    #[error(
        "phase {phase} of the elimination has made all its tries, and needs their outcomes to \
         decide which actions go on; reward or drop {} first",
        numbered(.decisions)
    )]
    Outstanding {
        /// Which phase.
        phase: u32,
        /// The pending decisions.
        decisions: Vec<u64>,
    },
    /// An outcome that cannot change as requested.
    #[error("decision {decision} ({label}) {stored}; {remedy}")]
    Outcome {
        /// Which decision.
        decision: u64,
        /// The name of the chosen action.
        label: String,
        /// The recorded outcome.
        stored: String,
        /// What can be done instead.
        remedy: &'static str,
    },
    /// A dropped decision of phased elimination.
    #[error(
        "the drop of decision {decision} cannot be undone: phased elimination plays a fixed number \
         of times, and replaces a dropped play by another"
    )]
    Replaced {
        /// Which decision.
        decision: u64,
    },
    /// A reward beyond the range.
    #[error(
        "a reward must be from {low} to {high}, got {reward}; the range was fixed when the log \
         began"
    )]
    Reward {
        /// What was given.
        reward: f64,
        /// The smallest.
        low: f64,
        /// The largest.
        high: f64,
    },
    /// A scale of noise that outcomes in the range cannot have.
    #[error(
        "outcomes from {low} to {high} scatter by more than 0 and at most {}, got a noise of \
         {noise}; leave the noise out if you do not know it",
        0.5 * (.high - .low)
    )]
    Noise {
        /// What was declared.
        noise: f64,
        /// The smallest outcome.
        low: f64,
        /// The largest.
        high: f64,
    },
    /// A scale of noise for outcomes that are yes or no.
    #[error(
        "a noise is for outcomes that are numbers: yes and no scatter by the share of yes, which \
         is what is to be learned; leave the noise out"
    )]
    NoiseOfYesNo,
    /// A bell curve for outcomes that are yes or no, or counts.
    #[error(
        "outcomes that scatter like a bell curve are measurements, single numbers, and those of \
         this log are {outcomes}: a rate of 1 % looks like no scatter at all until the first yes; \
         leave the noise out"
    )]
    BellOfYesNo {
        /// What an outcome of the log is.
        outcomes: Outcomes,
    },
    /// Counts of yes among the outcomes, which have no bell curve.
    #[error(
        "this log has counts of yes among its outcomes, and those do not scatter like a bell \
         curve; leave the noise out (--noise unknown)"
    )]
    BellOfCounts,
    /// An action that the first set says nothing about.
    #[error(
        "\"{label}\" differs from all actions of the first decision in a way in which those do \
         not differ from one another, so a bell curve of unknown width cannot judge it; leave it \
         out, say how much outcomes scatter (--noise N) or that you do not know (--noise \
         unknown), or begin a new log"
    )]
    OutsideFirst {
        /// The name of the action.
        label: String,
    },
    /// A generalised linear model of what has no columns.
    #[error(
        "the logistic set is for actions with columns in a log of format 2: its bound follows from \
         the columns; for vectors as given, set radius.theta_norm_bound in logarithms of odds, and \
         without columns leave the set out"
    )]
    NoOddsBound,
    /// A usual reward that is not inside the range.
    #[error(
        "the usual reward {usual} must be above {low} and below {high}: nothing could be learned \
         about an action that always or never pays"
    )]
    UsualReward {
        /// What was said.
        usual: f64,
        /// The smallest reward.
        low: f64,
        /// The largest.
        high: f64,
    },
    /// A reward of another kind than those of the log.
    #[error(
        "{reward} is no outcome of this log, whose outcomes are {outcomes}; {}",
        remedy(*.outcomes)
    )]
    OtherKind {
        /// The reward.
        reward: String,
        /// What an outcome of the log is.
        outcomes: Outcomes,
    },
    /// A kind of outcome that an earlier reward does not have.
    #[error(
        "outcomes cannot be {outcomes} from now on: decision {decision} has the reward {reward}, \
         which is neither the smallest nor the largest of the range; correct it first if it is \
         wrong (`plausibly reward … --correct`)"
    )]
    Contradicted {
        /// The decision.
        decision: u64,
        /// Its reward.
        reward: f64,
        /// What an outcome was to be.
        outcomes: Outcomes,
    },
    /// A number of outcomes that were yes, but not a whole one.
    #[error("the number of yes among counted outcomes must be whole, got {yes}")]
    NotWhole {
        /// What was given.
        yes: f64,
    },
    /// Counts that cannot be.
    #[error(transparent)]
    Counts(#[from] TallyError),
    /// Counts with phased elimination.
    #[error(
        "phased elimination plays each action a fixed number of times, and a count is worth many \
         plays; use another policy (--policy code), or single outcomes"
    )]
    CountedPhases,
    /// A decision without the forecasts it needs.
    #[error("a decision about actions with features needs three forecasts of its reward")]
    NoForecasts,
    /// Forecasts where there are none.
    #[error("forecasts belong to actions with features in a log of format 2 or later")]
    Forecasts,
    /// Forecasts that cannot be.
    #[error(transparent)]
    Forecast(#[from] ForecastError),
    /// Sums that do not fit.
    #[error(transparent)]
    Statistics(#[from] StatisticsError),
}

/// How to record another kind of outcome.
fn remedy(outcomes: Outcomes) -> &'static str {
    match outcomes {
        Outcomes::Number => {
            "record one number, or say that outcomes are counts from now on (--outcomes counts)"
        }
        Outcomes::YesNo => {
            "record the smallest reward for a no or the largest for a yes, or say what outcomes \
             are from now on (--outcomes number or counts)"
        }
        Outcomes::Counts => {
            "record how many of how many were yes (2100 --of 10000), or say what outcomes are from \
             now on (--outcomes number or yes/no)"
        }
    }
}

/// Lists the first ten decisions by number, and counts the rest.
fn numbered(decisions: &[u64]) -> String {
    let what = if decisions.len() == 1 { "decision" } else { "decisions" };
    format!("{what} {}", first_few(decisions, 10, ToString::to_string))
}
