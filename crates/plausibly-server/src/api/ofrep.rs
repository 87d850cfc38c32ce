//! OpenFeature's remote protocol: an experiment is a flag, and its value is the chosen action.

use super::decisions::take;
use super::{At, Sent, Service, Who, json};
use crate::body::{Cell, CellSchema, read_object};
use crate::experiments::{Ask, Choices};
use crate::keys::Role;
use crate::problem::{Code, Problem};
use axum::body::Body;
use axum::extract::State;
use axum::http::header::RETRY_AFTER;
use axum::http::{HeaderValue, Response, StatusCode};
use axum::response::IntoResponse as _;
use plausibly_log::recipe::Context;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;
use utoipa::ToSchema;

/// The key by which OpenFeature names who the value is for. It is no feature: it would be another
/// category for each person.
const TARGETING_KEY: &str = "targetingKey";

/// What is known about this occasion.
#[derive(Debug, Deserialize, ToSchema)]
#[schema(as = Evaluate)]
pub(super) struct EvaluateBody {
    /// Facts about this occasion. Keys that the experiment does not know are left out.
    #[serde(default)]
    #[schema(value_type = BTreeMap<String, CellSchema>)]
    context: BTreeMap<String, Loose>,
}

/// A value of any kind. Contexts of OpenFeature may have objects, too.
#[derive(Debug)]
pub(super) struct Loose(Option<Cell>);

impl<'de> Deserialize<'de> for Loose {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let value = Value::deserialize(from)?;
        Ok(Self(Cell::deserialize(value).ok()))
    }
}

/// The value of a flag.
#[derive(Serialize, ToSchema)]
#[schema(as = Evaluation)]
struct EvaluationBody {
    /// The name of the experiment.
    key: String,
    /// The action to take.
    value: String,
    /// The action to take.
    variant: String,
    /// `SPLIT`: values are tried out.
    reason: &'static str,
    metadata: MetadataBody,
}

/// The decision behind a value.
#[derive(Serialize, ToSchema)]
#[schema(as = Metadata)]
struct MetadataBody {
    /// The number of the decision, under which its outcome is recorded.
    decision: u64,
    /// The number of its line in the log.
    seq: u64,
    /// The hash of that line.
    hash: String,
}

/// Why there is no value.
#[derive(Serialize, ToSchema)]
#[schema(as = EvaluationError)]
struct ErrorBody {
    /// The name of the experiment.
    key: String,
    /// What is wrong, as OpenFeature names it.
    #[serde(rename = "errorCode")]
    error_code: &'static str,
    /// What is wrong, in words.
    #[serde(rename = "errorDetails")]
    error_details: String,
}

/// Evaluate a flag
///
/// Takes a decision of the experiment with the name of the flag. Value and variant are the action,
/// and the metadata has the number of the decision, under which its outcome is recorded.
#[utoipa::path(
    post, path = "/ofrep/v1/evaluate/flags/{experiment}", tag = "feature flags",
    params(("experiment" = String, Path, description = "The name of the experiment")),
    request_body = EvaluateBody,
    responses(
        (status = 200, body = EvaluationBody, description = "The value"),
        (status = 400, body = ErrorBody, description = "The context cannot be used"),
        (status = 404, body = ErrorBody, description = "There is no such flag"),
        (status = "default", body = super::ProblemBody, content_type = "application/problem+json",
         description = "Other problems, as of every route"),
    ),
)]
pub(super) async fn evaluate(
    State(service): State<Service>,
    caller: Who,
    At(experiment): At<String>,
    Sent(body, _room): Sent,
) -> Response<Body> {
    match value(&service, &caller, &experiment, &body).await {
        Ok(found) => json(StatusCode::OK, &found),
        Err(problem) => refused(experiment, problem),
    }
}

async fn value(
    service: &Service,
    caller: &Who,
    experiment: &str,
    body: &[u8],
) -> Result<EvaluationBody, Problem> {
    caller.may_in(Role::Decide, experiment)?;
    let EvaluateBody { mut context } = read_object(body)?;
    context.remove(TARGETING_KEY);
    let ask = Ask {
        choices: Choices::All,
        context: Context::default(),
        key: None,
        request: None,
        by: caller.name.clone(),
        certificate: None,
        loose: Some(context.into_iter().map(|(key, Loose(value))| (key, value)).collect()),
    };
    let taken = take(service, experiment, vec![Ok(ask)]).await?;
    let decision = taken.into_iter().next().expect("one was asked for")?;
    Ok(EvaluationBody {
        key: experiment.into(),
        value: decision.action.clone(),
        variant: decision.action,
        reason: "SPLIT",
        metadata: MetadataBody {
            decision: decision.decision,
            seq: decision.seq,
            hash: decision.hash,
        },
    })
}

/// A problem as the protocol says it; the others stay as they are.
fn refused(key: String, problem: Problem) -> Response<Body> {
    let (status, error_code) = match problem.code {
        Code::NoExperiment => (StatusCode::NOT_FOUND, "FLAG_NOT_FOUND"),
        Code::NotJson => (StatusCode::BAD_REQUEST, "PARSE_ERROR"),
        code if matches!(code.status().as_u16(), 400 | 422) => {
            (StatusCode::BAD_REQUEST, "INVALID_CONTEXT")
        }
        code if matches!(code.status().as_u16(), 409 | 503) => (code.status(), "GENERAL"),
        _ => return problem.into_response(),
    };
    let body = ErrorBody { key, error_code, error_details: problem.detail };
    let mut response = json(status, &body);
    if let Some(seconds) = problem.retry_after {
        response.headers_mut().insert(RETRY_AFTER, HeaderValue::from(seconds));
    }
    response
}
