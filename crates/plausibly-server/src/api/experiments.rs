//! Begins, changes and ends experiments.

use super::{Asked, At, Problems, Sent, Service, Who, json};
use crate::body::{self, Cell, CellSchema, Row, read, read_or_default};
use crate::experiments::{OwnLog, check_name};
use crate::keys::Role;
use crate::problem::{Code, Problem};
use crate::refusal;
use axum::body::Body;
use axum::extract::State;
use axum::http::{Response, StatusCode};
use plausibly_log::event::{Outcomes, Unreported, Window};
use plausibly_log::policy::{Noise, PolicyTable, Rates};
use plausibly_log::recipe::Recipe;
use plausibly_log::table::Table;
use plausibly_log::{Log, LogError, Opening, Time};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;
use utoipa::ToSchema;

/// Actions times features are at most this many.
const MOST_CELLS: usize = 1_000_000;

/// A new experiment. What is left out has a default that is safe, and the answer says what is
/// assumed.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = NewExperiment)]
pub(super) struct NewBody {
    /// Its name: 1 to 128 of A-Z, a-z, 0-9, `.`, `_` and `-`, without a point at the beginning.
    name: String,
    /// The actions to choose from, by their columns. One column has the name of the action: the
    /// first of `label`, `name`, `id`, `action` and others that is complete and unique.
    actions: Vec<Row>,
    /// An example of the facts that come with a decision. Its keys become features.
    #[serde(default)]
    #[schema(value_type = BTreeMap<String, CellSchema>)]
    context: BTreeMap<String, Cell>,
    /// The column with the names of the actions.
    label: Option<String>,
    /// Columns and keys that must not become features.
    #[serde(default)]
    leave_out: Vec<String>,
    /// The smallest and the largest reward there can be; 0 and 1 unless said.
    reward_range: Option<(f64, f64)>,
    /// What an outcome is.
    #[serde(default)]
    #[schema(value_type = String, example = "number")]
    outcomes: Outcomes,
    /// The policy: its kind, such as `code`, or a table as in specs.
    #[schema(value_type = Option<Object>)]
    policy: Option<Value>,
    /// How much outcomes of the same action scatter: a number, or `bell`.
    #[schema(value_type = Option<Object>)]
    noise: Option<Value>,
    /// The usual share of yes, where outcomes are yes or no, or counts, and actions have columns.
    usual_rate: Option<f64>,
    /// By what factor the odds of a yes can differ from the usual ones.
    odds_factor: Option<f64>,
    /// About how many decisions there will be, for policies that need it.
    horizon: Option<u64>,
    /// The seed of all randomness; the time unless said.
    seed: Option<u64>,
    /// Numbers are features as they are, and this bounds the norm of their parameters.
    theta_norm_bound: Option<f64>,
    /// The number of features that the recipe may grow to; 64 unless said.
    growth: Option<u64>,
    /// How long after its decision an outcome may come.
    window: Option<WindowBody>,
}

/// How long after its decision an outcome may come.
#[derive(Clone, Copy, Debug, Deserialize, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = Window)]
struct WindowBody {
    /// The seconds from a decision to its deadline.
    seconds: u64,
    /// The reward of a decision without an outcome at its deadline; without it such decisions are
    /// dropped.
    #[serde(skip_serializing_if = "Option::is_none")]
    default: Option<f64>,
}

/// Whether to look only.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Check {
    #[serde(default)]
    check: bool,
}

/// What an experiment begins with.
#[derive(Serialize, ToSchema)]
#[schema(as = Begun)]
struct BegunBody {
    name: String,
    /// How columns and keys become features, in words.
    recipe: String,
    /// The names of the features; none for plain arms.
    features: Vec<String>,
    /// What is assumed, in words.
    assumed: Vec<String>,
    /// The policy with every field.
    #[schema(value_type = Object)]
    policy: PolicyTable,
    /// The seed of all randomness.
    seed: u64,
    /// The number of actions.
    actions: usize,
    /// What was noticed about the rows.
    notes: Vec<String>,
}

/// Begin an experiment
///
/// The answer says in words how the rows become features, and what is assumed. With `?check=true`
/// it only says so, and begins nothing.
#[utoipa::path(
    post, path = "/v1/experiments", tag = "experiments",
    params(("check" = Option<bool>, Query, description = "Look only")),
    request_body = NewBody,
    responses(
        (status = 201, body = BegunBody, description = "The experiment has begun"),
        (status = 200, body = BegunBody, description = "It could begin"),
        Problems,
    ),
)]
pub(super) async fn create(
    State(service): State<Service>,
    caller: Who,
    Asked(Check { check }): Asked<Check>,
    Sent(body): Sent,
) -> Result<Response<Body>, Problem> {
    caller.may(Role::Admin)?;
    let new: NewBody = read(&body)?;
    check_name(&new.name)?;
    let name = new.name.clone();
    let now = service.experiments.clocks.now_us();
    let (opening, table) = new.opening(now)?;
    let said = BegunBody::new(&name, &opening, &table)?;
    let create = move || {
        let folder = &service.experiments.folder;
        folder.create(&name, &*service.world.disk, |storage| {
            let refused = |error: LogError| refusal::of_log(&error, "/actions");
            let mut log = Log::open(storage).map_err(refused)?;
            log.begin(now, opening).map_err(refused)?;
            log.replace_actions(now, &table).map_err(refused)
        })
    };
    if check {
        return Ok(json(StatusCode::OK, &said));
    }
    let created = tokio::task::spawn_blocking(create).await;
    created.map_err(|_panicked| {
        Problem::new(Code::Internal, "the service failed while it began the experiment")
    })??;
    Ok(json(StatusCode::CREATED, &said))
}

impl NewBody {
    /// The settings of the log, and its actions.
    fn opening(self, now: i64) -> Result<(Opening, Table), Problem> {
        let table = body::table(&self.actions, self.label.as_deref(), "/actions")?;
        let context = body::context(self.context)?;
        let leave_out: Vec<&str> = self.leave_out.iter().map(String::as_str).collect();
        let recipe = match self.theta_norm_bound {
            Some(bound) => Recipe::given(&table, &leave_out, bound),
            None => Recipe::infer_without(&table, &context, &leave_out),
        };
        let recipe = recipe.map_err(|error| refusal::of_recipe(&error, "/actions"))?;
        check_size(table.len(), recipe.dim())?;
        let range = self.reward_range.unwrap_or((0.0, 1.0));
        let seed = self.seed.unwrap_or(now.unsigned_abs());
        let settings = |error: LogError| match refusal::of_log(&error, "/actions") {
            problem if problem.code == Code::NotPossible => {
                Problem { code: Code::BadSettings, ..problem }
            }
            problem => problem,
        };
        let mut opening = Opening::new(recipe, range, seed).about(self.outcomes);
        if let Some(policy) = self.policy {
            opening.policy = policy_table(policy)?;
        }
        opening.horizon = self.horizon;
        opening.growth = self.growth.unwrap_or(opening.growth);
        opening.window = self.window.map(|window| Window {
            seconds: window.seconds,
            unreported: window.default.map_or(Unreported::Drop, Unreported::Reward),
        });
        if let Some(noise) = self.noise {
            opening = opening.scattering(noise_of(&noise)?).map_err(settings)?;
        }
        let rates = Rates { usual: self.usual_rate, factor: self.odds_factor };
        if rates != Rates::default() {
            opening = opening.usually(rates).map_err(settings)?;
        }
        opening.check().map_err(settings)?;
        Ok((opening, table))
    }
}

/// Checks that every decision stays quick.
fn check_size(actions: usize, features: usize) -> Result<(), Problem> {
    if actions.saturating_mul(features.max(1)) <= MOST_CELLS {
        return Ok(());
    }
    let detail = format!(
        "{actions} actions with {features} features each are too many, {MOST_CELLS} numbers are \
         allowed in all; leave out actions or columns"
    );
    Err(Problem::new(Code::OutOfRange, detail).at("/actions"))
}

fn policy_table(policy: Value) -> Result<PolicyTable, Problem> {
    match policy {
        Value::String(kind) => Ok(PolicyTable::from_iter([("kind".into(), kind.into())])),
        Value::Object(table) => Ok(table),
        _ => {
            let detail = "a policy is the name of its kind, or an object with `kind`";
            Err(Problem::new(Code::BadField, detail).at("/policy"))
        }
    }
}

fn noise_of(noise: &Value) -> Result<Noise, Problem> {
    match (noise.as_f64(), noise.as_str()) {
        (Some(scale), _) => Ok(Noise::Scale(scale)),
        (_, Some("bell")) => Ok(Noise::Bell),
        _ => {
            let detail = "the noise is a number, or \"bell\"; leave it out if it is not known";
            Err(Problem::new(Code::BadField, detail).at("/noise"))
        }
    }
}

impl BegunBody {
    fn new(name: &str, opening: &Opening, table: &Table) -> Result<Self, Problem> {
        let refused = |error: LogError| refusal::of_log(&error, "/actions");
        let (assumed, policy) = (opening.assumed(), opening.resolved_policy());
        let (assumed, policy) = (assumed.map_err(refused)?, policy.map_err(refused)?);
        Ok(Self {
            name: name.into(),
            recipe: opening.recipe.describe().to_string(),
            features: opening.recipe.feature_names(),
            assumed,
            policy,
            seed: opening.seed,
            actions: table.len(),
            notes: table.notes().to_vec(),
        })
    }
}

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
/// These rows are the actions from now on. What is gone is retired: it is not chosen any more, and
/// its outcomes still count.
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
    Sent(body): Sent,
) -> Result<Response<Body>, Problem> {
    caller.may_in(Role::Admin, &experiment)?;
    let ActionsBody { actions } = read(&body)?;
    let table = body::table(&actions, None, "/actions")?;
    let changed = service.experiments.with(&experiment, move |log, at| {
        let refused = |error: LogError| refusal::of_log(&error, "/actions");
        let state = log.state().ok_or_else(|| refused(LogError::Stopped))?;
        let recipe = state.recipe();
        let table = table.with_label(recipe.label());
        let table = table.map_err(|error| refusal::of_table(&error, "/actions"))?;
        check_size(table.len(), recipe.dim())?;
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
    Sent(body): Sent,
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
    Sent(body): Sent,
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
