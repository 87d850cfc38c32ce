//! Says in problems of HTTP why a log refused.

use crate::experiments::{Ask, Choices, Outcome};
use crate::problem::{Code, Problem};
use plausibly_log::event::Outcomes;
use plausibly_log::journal::JournalError;
use plausibly_log::recipe::{ContextError, Place, RecipeError};
use plausibly_log::state::{Outcome as Recorded, StepError};
use plausibly_log::table::TableError;
use plausibly_log::{LogError, Looked, Reward};
use serde_json::{Value, json};

/// A part of a JSON pointer.
pub(crate) fn escaped(part: &str) -> String {
    part.replace('~', "~0").replace('/', "~1")
}

/// Why a decision was refused.
pub(crate) fn of_ask(error: &LogError, ask: &Ask) -> Problem {
    let rows = if matches!(ask.choices, Choices::Rows(_)) { "/rows" } else { "" };
    let problem = of_log(error, rows);
    match (error, &ask.choices) {
        (LogError::Step(StepError::NoSuchAction { label }), Choices::Named(names)) => {
            let place = names.iter().position(|name| name.starts_with(label.trim_end_matches('…')));
            problem.at(place.map_or_else(|| "/offer".into(), |place| format!("/offer/{place}")))
        }
        (LogError::Step(StepError::OfferedTwice { .. } | StepError::NoRow { .. }), _) => {
            problem.at(if rows.is_empty() { "/offer" } else { rows })
        }
        _ => problem,
    }
}

/// Why an outcome was refused. `held` is what the log holds about its decision.
pub(crate) fn of_outcome(error: &LogError, outcome: &Outcome, held: Option<&Looked>) -> Problem {
    let decision = outcome.decision;
    let problem = of_log(error, "");
    match (error, held) {
        (LogError::Step(StepError::Outcome { .. }), Some(held)) => {
            let (stored, detail) = stored(held);
            let detail = format!("decision {decision} {detail}");
            Problem { detail, ..problem }.with_stored(stored)
        }
        (LogError::Step(StepError::OtherKind { outcomes, .. }), _) => {
            let remedy = match outcomes {
                Outcomes::Number => "send one number as `value`",
                Outcomes::YesNo => "send the smallest or the largest reward as `value`",
                Outcomes::Counts => "send `successes` and `of`",
            };
            let detail = format!("outcomes of this experiment are {outcomes}; {remedy}");
            Problem { detail, ..problem }.at(outcome.said.pointer())
        }
        _ if problem.code == Code::OutOfRange => problem.at(outcome.said.pointer()),
        (LogError::Step(StepError::Unknown { .. }), _) => {
            Problem { detail: format!("the experiment has no decision {decision}"), ..problem }
        }
        _ => problem,
    }
}

/// What a decision has, in JSON and in words.
fn stored(held: &Looked) -> (Value, String) {
    let of = |reward: Reward| match reward.of() {
        None => json!({ "value": reward.value() }),
        Some(of) => json!({ "successes": reward.value(), "of": of }),
    };
    let replace = "PATCH replaces it, DELETE takes it back";
    match (held.reported, held.outcome) {
        (Some(reward), _) | (None, Recorded::Settled { reward, .. }) => {
            (of(reward), format!("has the outcome {reward}; {replace}"))
        }
        (None, Recorded::Dropped { .. }) => (
            json!({ "dropped": true }),
            "was dropped; POST …/drop with {\"undo\": true} makes it wait again".into(),
        ),
        (None, Recorded::Pending) => (json!(null), "has no outcome yet; PUT records one".into()),
    }
}

/// Why a log refused; `rows` is the pointer of the rows in the request.
pub(crate) fn of_log(error: &LogError, rows: &str) -> Problem {
    match error {
        LogError::Step(step) => of_step(step, rows),
        LogError::Recipe(recipe) => of_recipe(recipe, rows),
        LogError::Grounds(_) | LogError::Unwritable(_) | LogError::Begun => {
            Problem::new(Code::NotPossible, error.to_string())
        }
        LogError::Empty => Problem::new(Code::NoExperiment, "the experiment has not begun"),
        other => stopped(other),
    }
}

/// Why an experiment has stopped, without what is inside.
pub(crate) fn stopped(error: &LogError) -> Problem {
    match error {
        LogError::Journal(JournalError::Locked { .. }) => Problem::new(
            Code::Busy,
            "another process writes to the log of this experiment; try again when it has finished",
        ),
        LogError::Journal(
            JournalError::NotAcknowledged { .. }
            | JournalError::NotSynced { .. }
            | JournalError::Io { .. },
        )
        | LogError::Stopped => Problem::new(
            Code::Stopped,
            "the disk does not take or give the lines of this experiment; what was not answered \
             with 2xx may be recorded or not: ask again, with the same key if it is a decision",
        ),
        _ => Problem::new(
            Code::Stopped,
            "the log of this experiment cannot be used; `plausibly audit` says what is wrong",
        ),
    }
}

fn of_step(error: &StepError, rows: &str) -> Problem {
    use StepError as Step;
    let of = |code| Problem::new(code, error.to_string());
    match error {
        Step::Key { .. } => of(Code::BadHeader),
        Step::KeyReused { .. } | Step::KeyTaken { .. } => of(Code::KeyReused),
        Step::Paused => Problem::new(
            Code::Paused,
            "the experiment is paused: it takes outcomes, and decisions again after POST …/resume",
        ),
        Step::Outstanding { decisions, .. } => {
            of(Code::Waiting).with_stored(json!({ "decisions": decisions }))
        }
        Step::Outcome { .. } => of(Code::OtherReward),
        Step::Unknown { what: "decision", .. } => of(Code::NoDecision),
        Step::NoSuchAction { .. }
        | Step::OfferedTwice { .. }
        | Step::NoActions
        | Step::NoRow { .. }
        | Step::NotOffered { .. } => of(Code::BadOffer),
        Step::Reward { .. }
        | Step::NotWhole { .. }
        | Step::Counts(_)
        | Step::OtherKind { .. }
        | Step::Statistics(_) => of(Code::OutOfRange),
        Step::Range { .. } | Step::FarRange { .. } => of(Code::BadSettings).at("/reward_range"),
        Step::Policy(_) => of(Code::BadSettings).at("/policy"),
        Step::Noise { .. } | Step::NoiseOfYesNo | Step::BellOfYesNo { .. } | Step::BellOfCounts => {
            of(Code::BadSettings).at("/noise")
        }
        Step::UsualReward { .. } => of(Code::BadSettings).at("/usual_rate"),
        Step::Window { .. } | Step::WindowDefault { .. } => of(Code::BadSettings).at("/window"),
        Step::RequestRows { .. } | Step::RowsOfOthers { .. } => of(Code::BadTable).at(rows),
        Step::Features(recipe) => of_recipe(recipe, rows),
        Step::NoOddsBound | Step::CountedPhases => of(Code::BadSettings),
        _ => of(Code::NotPossible),
    }
}

/// Why rows or a context were refused.
pub(crate) fn of_recipe(error: &RecipeError, rows: &str) -> Problem {
    use RecipeError as Recipe;
    let code = match error {
        Recipe::NoRoom { .. } | Recipe::TooManyFeatures { .. } | Recipe::TooManyBlocks { .. } => {
            Code::NoRoom
        }
        Recipe::ContextForArms { .. }
        | Recipe::ContextForVectors { .. }
        | Recipe::WithComma { .. } => Code::BadContext,
        Recipe::NothingToLeaveOut { .. } | Recipe::Bound { .. } => Code::BadSettings,
        _ if matches!(place(error), Some(Place::Context { .. })) => Code::BadContext,
        _ => Code::BadTable,
    };
    let problem = Problem::new(code, error.to_string());
    match (error, place(error)) {
        (_, Some(Place::Cell { line, column })) if *line > 1 => {
            problem.at(format!("{rows}/{}/{}", line - 2, escaped(column)))
        }
        (_, Some(Place::Context { key })) => problem.at(format!("/context/{}", escaped(key))),
        (Recipe::ContextForArms { key } | Recipe::ContextForVectors { key }, _) => {
            problem.at(format!("/context/{}", escaped(key)))
        }
        (Recipe::NothingToLeaveOut { .. }, _) => problem.at("/leave_out"),
        (Recipe::Bound { .. }, _) => problem.at("/theta_norm_bound"),
        _ if code == Code::BadTable && !rows.is_empty() => problem.at(rows),
        _ => problem,
    }
}

/// The place that an error names.
fn place(error: &RecipeError) -> Option<&Place> {
    use RecipeError as Recipe;
    match error {
        Recipe::Ambiguous { place, .. }
        | Recipe::LongValue { place, .. }
        | Recipe::WithComma { place, .. }
        | Recipe::NotANumber { place, .. }
        | Recipe::NotInAVector { place, .. }
        | Recipe::TooLarge { place, .. }
        | Recipe::NotPositive { place, .. }
        | Recipe::TooFar { place, .. }
        | Recipe::Unseen { place, .. }
        | Recipe::Blank { place } => Some(place),
        Recipe::Product { context, .. } => Some(context),
        _ => None,
    }
}

/// Why rows are no table.
pub(crate) fn of_table(error: &TableError, rows: &str) -> Problem {
    Problem::new(Code::BadTable, error.to_string()).at(rows)
}

/// Why pairs are no context.
pub(crate) fn of_context(error: &ContextError) -> Problem {
    Problem::new(Code::BadContext, error.to_string()).at("/context")
}
