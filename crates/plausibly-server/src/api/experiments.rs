//! Looks at experiments, changes and ends them.

use super::create::WindowBody;
use super::{At, Problems, Sent, Service, Who, json};
use crate::body::{self, Row, read_object, read_or_default};
use crate::experiments::OwnLog;
use crate::keys::Role;
use crate::problem::{Code, Problem};
use crate::refusal;
use axum::body::Body;
use axum::extract::State;
use axum::http::{Response, StatusCode};
use plausibly_log::event::{Outcomes, Unreported};
use plausibly_log::policy::PolicyTable;
use plausibly_log::{LogError, Time};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// An experiment in the list.
#[derive(Serialize, ToSchema)]
#[schema(as = Listed)]
struct ListedBody {
    name: String,
    /// Whether its log is open.
    open: bool,
}

/// The experiments that a key may see.
#[derive(Serialize, ToSchema)]
#[schema(as = Experiments)]
struct ExperimentsBody {
    experiments: Vec<ListedBody>,
}

/// List the experiments
#[utoipa::path(
    get, path = "/v1/experiments", tag = "experiments",
    responses((status = 200, body = ExperimentsBody, description = "By name"), Problems),
)]
pub(super) async fn list(
    State(service): State<Service>,
    caller: Who,
) -> Result<Response<Body>, Problem> {
    caller.holds(Role::Read)?;
    let running = service.experiments.running();
    let open = |name: &str| running.iter().any(|shared| *shared.name == *name);
    let names = service.experiments.folder.names().into_iter().filter(|name| caller.sees(name));
    let experiments = names.map(|name| ListedBody { open: open(&name), name }).collect();
    Ok(json(StatusCode::OK, &ExperimentsBody { experiments }))
}

/// An experiment.
#[derive(Serialize, ToSchema)]
#[schema(as = Experiment)]
struct ExperimentBody {
    name: String,
    /// The policy with every field.
    #[schema(value_type = Object)]
    policy: PolicyTable,
    /// The smallest and the largest reward there can be.
    reward_range: (f64, f64),
    /// What an outcome is.
    #[schema(value_type = String)]
    outcomes: Outcomes,
    /// How columns and keys become features, in words.
    recipe: String,
    /// The names of the features; none for plain arms.
    features: Vec<String>,
    /// How long outcomes count, if that is limited.
    #[serde(skip_serializing_if = "Option::is_none")]
    window: Option<WindowBody>,
    /// The names of the actions that are not retired.
    actions: Vec<String>,
    /// Whether it takes no decisions for now.
    paused: bool,
    /// The number of decisions.
    decisions: u64,
    /// The number of decisions without an outcome.
    pending: u64,
    /// The next deadline, in UTC.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_deadline: Option<String>,
    /// SHA-256 of the exact sums: equal knowledge has equal digests.
    digest: String,
    /// The number of the last line of the log.
    seq: u64,
    /// Its hash.
    hash: String,
}

impl ExperimentBody {
    fn new(name: String, log: &OwnLog) -> Option<Self> {
        let state = log.state()?;
        let live = state.actions().iter().filter(|action| !action.retired);
        Some(Self {
            name,
            policy: state.policy().1.clone(),
            reward_range: state.reward_range(),
            outcomes: state.outcomes(),
            recipe: state.recipe().describe().to_string(),
            features: state.recipe().feature_names(),
            window: state.window().map(|window| WindowBody {
                seconds: window.seconds,
                default: match window.unreported {
                    Unreported::Drop => None,
                    Unreported::Reward(value) => Some(value),
                },
            }),
            actions: live.map(|action| action.label.clone()).collect(),
            paused: state.is_paused(),
            decisions: state.count_decisions(),
            pending: state.count_pending(),
            next_deadline: state.next_deadline().map(|deadline: Time| deadline.to_string()),
            digest: state.digest(),
            seq: log.last().seq,
            hash: log.last().hash.to_string(),
        })
    }
}

/// Look at an experiment
#[utoipa::path(
    get, path = "/v1/experiments/{experiment}", tag = "experiments",
    params(("experiment" = String, Path, description = "The name of the experiment")),
    responses((status = 200, body = ExperimentBody, description = "Settings and counts"), Problems),
)]
pub(super) async fn one(
    State(service): State<Service>,
    caller: Who,
    At(experiment): At<String>,
) -> Result<Response<Body>, Problem> {
    caller.may_in(Role::Read, &experiment)?;
    let name = experiment.clone();
    let found = service.experiments.with(&experiment, move |log, _| {
        ExperimentBody::new(name, log).ok_or_else(|| refusal::stopped(&LogError::Stopped))
    });
    Ok(json(StatusCode::OK, &found.await?))
}

/// The folder of a removed experiment.
#[derive(Serialize, ToSchema)]
#[schema(as = Removed)]
struct RemovedBody {
    /// Where the log is now, in the data folder.
    moved_to: String,
}

/// Remove an experiment
///
/// Its folder is moved aside, with the whole log in it. Moving it back restores the experiment.
#[utoipa::path(
    delete, path = "/v1/experiments/{experiment}", tag = "experiments",
    params(("experiment" = String, Path, description = "The name of the experiment")),
    responses((status = 200, body = RemovedBody, description = "It is gone"), Problems),
)]
pub(super) async fn remove(
    State(service): State<Service>,
    caller: Who,
    At(experiment): At<String>,
) -> Result<Response<Body>, Problem> {
    caller.may_in(Role::Admin, &experiment)?;
    let now = service.experiments.clocks.now_us();
    let removed =
        tokio::task::spawn_blocking(move || service.experiments.remove(&experiment, now)).await;
    let moved_to = removed.map_err(|_panicked| {
        Problem::new(Code::Internal, "the service failed while it removed the experiment")
    })??;
    Ok(json(StatusCode::OK, &RemovedBody { moved_to }))
}

/// The actions from now on.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = Actions)]
pub(super) struct ActionsBody {
    /// The actions, by the columns that the experiment began with.
    actions: Vec<Row>,
}

/// How the actions changed.
#[derive(Serialize, ToSchema)]
#[schema(as = Changed)]
struct ChangedBody {
    /// The names of actions that are new, or have a new row.
    added: Vec<String>,
    /// The names of actions that are retired, also those that have a new row.
    retired: Vec<String>,
    /// The number of actions now.
    actions: usize,
    /// What was noticed about the rows.
    notes: Vec<String>,
    /// The number of the last line of the log.
    seq: u64,
    /// Its hash.
    hash: String,
}

/// Replace the actions
///
/// These rows are the actions from now on. An action that is missing is retired: it is not chosen
/// any more, and its outcomes still count.
#[utoipa::path(
    put, path = "/v1/experiments/{experiment}/actions", tag = "experiments",
    params(("experiment" = String, Path, description = "The name of the experiment")),
    request_body = ActionsBody,
    responses((status = 200, body = ChangedBody, description = "What changed"), Problems),
)]
pub(super) async fn replace_actions(
    State(service): State<Service>,
    caller: Who,
    At(experiment): At<String>,
    Sent(body, _room): Sent,
) -> Result<Response<Body>, Problem> {
    caller.may_in(Role::Admin, &experiment)?;
    let ActionsBody { actions } = read_object(&body)?;
    let table = body::rows(&actions, "/actions")?;
    let changed = service.experiments.with(&experiment, move |log, at| {
        let refused = |error: LogError| refusal::of_log(&error, "/actions");
        let state = log.state().ok_or_else(|| refused(LogError::Stopped))?;
        let recipe = state.recipe();
        let table = table.with_label(recipe.label());
        let table = table.map_err(|error| refusal::of_table(&error, "/actions"))?;
        body::check_size(table.len(), recipe.dim(), "/actions")?;
        let notes = recipe.ignored(&table);
        let changed = log.replace_actions(at, &table).map_err(refused)?;
        let (seq, hash) = (changed.line.seq, changed.line.hash.to_string());
        let (added, retired) = (changed.added, changed.retired);
        Ok(ChangedBody { added, retired, actions: table.len(), notes, seq, hash })
    });
    Ok(json(StatusCode::OK, &changed.await?))
}

/// Nothing more to say.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = Nothing)]
pub(super) struct NothingBody {}

/// Whether an experiment is paused.
#[derive(Serialize, ToSchema)]
#[schema(as = Paused)]
struct PausedBody {
    paused: bool,
    /// The number of the last line of the log.
    seq: u64,
    /// Its hash.
    hash: String,
}

/// Pause an experiment
///
/// It takes outcomes, and no decisions until it is resumed.
#[utoipa::path(
    post, path = "/v1/experiments/{experiment}/pause", tag = "experiments",
    params(("experiment" = String, Path, description = "The name of the experiment")),
    request_body = NothingBody,
    responses((status = 200, body = PausedBody, description = "It is paused"), Problems),
)]
pub(super) async fn pause(
    State(service): State<Service>,
    caller: Who,
    At(experiment): At<String>,
    Sent(body, _room): Sent,
) -> Result<Response<Body>, Problem> {
    set_paused(&service, &caller, &experiment, &body, true).await
}

/// Resume an experiment
#[utoipa::path(
    post, path = "/v1/experiments/{experiment}/resume", tag = "experiments",
    params(("experiment" = String, Path, description = "The name of the experiment")),
    request_body = NothingBody,
    responses((status = 200, body = PausedBody, description = "It takes decisions"), Problems),
)]
pub(super) async fn resume(
    State(service): State<Service>,
    caller: Who,
    At(experiment): At<String>,
    Sent(body, _room): Sent,
) -> Result<Response<Body>, Problem> {
    set_paused(&service, &caller, &experiment, &body, false).await
}

async fn set_paused(
    service: &Service,
    caller: &Who,
    experiment: &str,
    body: &[u8],
    paused: bool,
) -> Result<Response<Body>, Problem> {
    caller.may_in(Role::Admin, experiment)?;
    read_or_default::<NothingBody>(body)?;
    let by = caller.name.clone();
    let done = service.experiments.with(experiment, move |log, at| {
        let by = by.as_deref();
        let recorded = if paused { log.pause(at, by) } else { log.resume(at, by) };
        recorded.map_err(|error| refusal::of_log(&error, ""))?;
        let line = log.last();
        Ok(PausedBody { paused, seq: line.seq, hash: line.hash.to_string() })
    });
    Ok(json(StatusCode::OK, &done.await?))
}
