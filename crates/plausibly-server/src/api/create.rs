//! Begins experiments.

use super::{Asked, Problems, Sent, Service, Who, json};
use crate::body::{self, Cell, CellSchema, Object, Row, read_object};
use crate::experiments::check_name;
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
use plausibly_log::{Log, LogError, Opening};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;
use utoipa::ToSchema;

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
    /// What an outcome is: `number` (unless said), `yes/no`, or `counts` (how many of how many were
    /// yes).
    #[serde(default, deserialize_with = "outcomes")]
    #[schema(value_type = String, example = "number")]
    outcomes: Outcomes,
    /// The policy: its kind, such as `code`, or a table as in specs.
    #[schema(value_type = Option<PolicySchema>)]
    policy: Option<Value>,
    /// How much outcomes of the same action scatter: a number, or `bell`.
    #[schema(value_type = Option<NoiseSchema>)]
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
    #[schema(value_type = Option<WindowBody>)]
    window: Option<Object<WindowBody>>,
}

/// How a policy is described: its kind, or a table with all that it needs.
#[derive(ToSchema)]
#[expect(dead_code, reason = "only its schema is used")]
#[schema(as = Policy)]
#[serde(untagged)]
enum PolicySchema {
    Kind(String),
    Table(BTreeMap<String, Value>),
}

/// How noise is described: a number, or the word `bell`.
#[derive(ToSchema)]
#[expect(dead_code, reason = "only its schema is used")]
#[schema(as = Noise)]
#[serde(untagged)]
enum NoiseSchema {
    Scale(f64),
    Bell(String),
}

/// How long after its decision an outcome may come.
#[derive(Clone, Copy, Debug, Deserialize, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = Window)]
pub(super) struct WindowBody {
    /// The seconds from a decision to its deadline.
    pub(super) seconds: u64,
    /// The reward of a decision without an outcome at its deadline; without it such decisions are
    /// dropped.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) default: Option<f64>,
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
    Sent(body, _room): Sent,
) -> Result<Response<Body>, Problem> {
    caller.may(Role::Admin)?;
    let new: NewBody = read_object(&body)?;
    check_name(&new.name)?;
    let name = new.name.clone();
    let now = service.experiments.clocks.now_us();
    let (opening, table) = new.opening(now)?;
    let said = BegunBody::new(&name, &opening, &table)?;
    service.experiments.folder.check_free(&name)?;
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

/// Reads a kind of outcomes, as logs and as people write it.
fn outcomes<'de, D: Deserializer<'de>>(from: D) -> Result<Outcomes, D::Error> {
    let text = String::deserialize(from)?;
    match text.as_str() {
        "number" => Ok(Outcomes::Number),
        "yes/no" | "yes-no" => Ok(Outcomes::YesNo),
        "counts" => Ok(Outcomes::Counts),
        _ => Err(D::Error::custom("outcomes are \"number\", \"yes/no\" or \"counts\"")),
    }
}

impl NewBody {
    /// The settings of the log, and its actions.
    fn opening(self, now: i64) -> Result<(Opening, Table), Problem> {
        let table = body::table(&self.actions, self.label.as_deref(), "/actions")?;
        if table.label_column().is_none() {
            let detail = "no column has a name of its own for each action; name the column that \
                          identifies actions with `label`";
            return Err(Problem::new(Code::BadTable, detail).at("/actions"));
        }
        let context = body::context(self.context)?;
        let leave_out: Vec<&str> = self.leave_out.iter().map(String::as_str).collect();
        let recipe = match self.theta_norm_bound {
            Some(bound) => Recipe::given(&table, &leave_out, bound),
            None => Recipe::infer_without(&table, &context, &leave_out),
        };
        let recipe = recipe.map_err(|error| refusal::of_recipe(&error, "/actions"))?;
        body::check_size(table.len(), recipe.dim(), "/actions")?;
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
        opening.window = self.window.map(|Object(window)| Window {
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
