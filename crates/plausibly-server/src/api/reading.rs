//! What is known, and the proof of it. Long logs are read beside the threads that write them.

use super::decisions::LISTED;
use super::{Asked, At, Problems, Sent, Service, Who, json, with_type};
use crate::keys::Role;
use crate::problem::{Code, Problem};
use crate::refusal;
use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderValue, Response, StatusCode};
use plausibly_log::certificate::Certificate;
use plausibly_log::recipe::Context;
use plausibly_log::state::{Outcome, StepError};
use plausibly_log::{LogError, Looked, certificate_near, lines};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// A status has at most this many points of history.
const POINTS: u64 = 200;
/// Lines are copied in pieces of at most this many bytes.
const MOST_COPIED: u64 = 1 << 20;
/// A status lists at most this many pending decisions, the oldest first.
const MOST_PENDING: usize = 1000;

/// A decision and its outcome.
#[derive(Serialize, ToSchema)]
#[schema(as = PastDecision)]
struct PastBody {
    decision: u64,
    /// The action that was chosen.
    action: String,
    /// When it was taken, in UTC.
    at: String,
    #[schema(value_type = BTreeMap<String, String>)]
    context: Context,
    /// `pending`, `reported` (it counts from the deadline on), `rewarded` or `dropped`.
    outcome: &'static str,
    /// The reward; where outcomes are counts, how many were yes.
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<f64>,
    /// Where outcomes are counts, how many there were.
    #[serde(skip_serializing_if = "Option::is_none")]
    of: Option<u64>,
    /// Whether an outcome came too late; it does not count.
    late: bool,
    /// When outcomes begin to count, in UTC.
    #[serde(skip_serializing_if = "Option::is_none")]
    deadline: Option<String>,
    /// The key that asked for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    by: Option<String>,
    /// The number of its line in the log.
    seq: u64,
    /// The hash of that line.
    hash: String,
}

impl PastBody {
    fn new(looked: Looked) -> Self {
        let (outcome, reward) = match (looked.reported, looked.outcome) {
            (Some(reward), _) => ("reported", Some(reward)),
            (None, Outcome::Pending) => ("pending", None),
            (None, Outcome::Settled { reward, .. }) => ("rewarded", Some(reward)),
            (None, Outcome::Dropped { .. }) => ("dropped", None),
        };
        Self {
            decision: looked.decision,
            action: looked.label,
            at: looked.at.to_string(),
            context: looked.context,
            outcome,
            value: reward.map(|reward| reward.value()),
            of: reward.and_then(|reward| reward.of()),
            late: looked.late.is_some(),
            deadline: looked.deadline.map(|deadline| deadline.to_string()),
            by: looked.by,
            seq: looked.seq,
            hash: looked.hash.to_string(),
        }
    }
}

/// Look at a decision and its outcome
#[utoipa::path(
    get, path = "/v1/experiments/{experiment}/decisions/{decision}", tag = "reading",
    params(
        ("experiment" = String, Path, description = "The name of the experiment"),
        ("decision" = u64, Path, description = "The number of the decision"),
    ),
    responses((status = 200, body = PastBody, description = "What the log says"), Problems),
)]
pub(super) async fn decision(
    State(service): State<Service>,
    caller: Who,
    At((experiment, decision)): At<(String, u64)>,
) -> Result<Response<Body>, Problem> {
    caller.may_in(Role::Read, &experiment)?;
    let looked = service.experiments.with(&experiment, move |log, _| {
        log.look(decision).map_err(|error| refusal::of_log(&error, ""))
    });
    Ok(json(StatusCode::OK, &PastBody::new(looked.await?)))
}

/// Get the certificate of a decision
///
/// It shows the work: what was known about every action, which of them could still be best, and
/// which rule chose among them. `plausibly verify`, `POST /v1/verify` and the checker in
/// `docs/reference` derive all of it again.
#[utoipa::path(
    get, path = "/v1/experiments/{experiment}/decisions/{decision}/certificate", tag = "reading",
    params(
        ("experiment" = String, Path, description = "The name of the experiment"),
        ("decision" = u64, Path, description = "The number of the decision"),
    ),
    responses((status = 200, body = Object, description = "The certificate"), Problems),
)]
pub(super) async fn certificate(
    State(service): State<Service>,
    caller: Who,
    At((experiment, decision)): At<(String, u64)>,
) -> Result<Response<Body>, Problem> {
    caller.may_in(Role::Read, &experiment)?;
    let found = service.read(&experiment, move |log, _| {
        let found = certificate_near(log, decision, LISTED);
        found.map(|(found, _)| found.to_json()).map_err(|error| refusal::of_log(&error, ""))
    });
    Ok(with_type(StatusCode::OK, "application/json", found.await?))
}

/// Sum up an experiment
///
/// What `plausibly status --json` prints: what would be decided now about the last set in the last
/// context, and how the knowledge grew. Of the pending decisions it lists the oldest 1,000.
#[utoipa::path(
    get, path = "/v1/experiments/{experiment}/status", tag = "reading",
    params(("experiment" = String, Path, description = "The name of the experiment")),
    responses((status = 200, body = Object, description = "The status"), Problems),
)]
pub(super) async fn status(
    State(service): State<Service>,
    caller: Who,
    At(experiment): At<String>,
) -> Result<Response<Body>, Problem> {
    caller.may_in(Role::Read, &experiment)?;
    let found = service.read(&experiment, |log, now| {
        let mut found = plausibly_log::status(log, now, POINTS).map_err(|e| of_reading(&e))?;
        found.pending.truncate(MOST_PENDING);
        Ok(json(StatusCode::OK, &found))
    });
    found.await
}

/// Two actions to compare.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Two {
    a: String,
    b: String,
}

/// Compare two actions
///
/// What `plausibly compare --json` prints about two actions that the last decision offered.
#[utoipa::path(
    get, path = "/v1/experiments/{experiment}/compare", tag = "reading",
    params(
        ("experiment" = String, Path, description = "The name of the experiment"),
        ("a" = String, Query, description = "The name of an action"),
        ("b" = String, Query, description = "The name of another one"),
    ),
    responses((status = 200, body = Object, description = "What is known"), Problems),
)]
pub(super) async fn compare(
    State(service): State<Service>,
    caller: Who,
    At(experiment): At<String>,
    Asked(Two { a, b }): Asked<Two>,
) -> Result<Response<Body>, Problem> {
    caller.may_in(Role::Read, &experiment)?;
    if a == b {
        return Err(Problem::new(Code::BadOffer, "name two different actions"));
    }
    let found = service.read(&experiment, move |log, now| {
        plausibly_log::compare(log, now, [&a, &b]).map_err(|error| of_reading(&error))
    });
    Ok(json(StatusCode::OK, &found.await?))
}

/// Why an experiment cannot be summed up.
fn of_reading(error: &LogError) -> Problem {
    match error {
        LogError::Empty => Problem::new(Code::NoDecision, "the experiment has no decision yet"),
        error => refusal::of_log(error, ""),
    }
}

/// Which lines to copy.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Part {
    #[serde(default)]
    from: u64,
    limit: Option<u64>,
}

/// Copy lines of the log
///
/// The lines as they stand in the file, one JSON object each, from the number `from` on. The header
/// `Plausibly-Next` has the number to ask for next. Someone who has copied all lines has the log,
/// and can check it with `plausibly audit`.
#[utoipa::path(
    get, path = "/v1/experiments/{experiment}/log", tag = "reading",
    params(
        ("experiment" = String, Path, description = "The name of the experiment"),
        ("from" = Option<u64>, Query, description = "The number of the first line; 1 unless said"),
        ("limit" = Option<u64>, Query, description = "The most bytes, but at least one line comes"),
    ),
    responses(
        (status = 200, body = String, content_type = "application/x-ndjson",
         description = "The lines", headers(("plausibly-next" = u64))),
        Problems,
    ),
)]
pub(super) async fn log(
    State(service): State<Service>,
    caller: Who,
    At(experiment): At<String>,
    Asked(Part { from, limit }): Asked<Part>,
) -> Result<Response<Body>, Problem> {
    caller.may_in(Role::Read, &experiment)?;
    // Lines that are not on the disk yet are not shown.
    let until = match service.experiments.last(&experiment) {
        Some(last) => last,
        None => service.experiments.with(&experiment, |log, _| Ok(log.last().seq)).await?,
    };
    let most = limit.unwrap_or(MOST_COPIED).min(MOST_COPIED);
    let found = service.read(&experiment, move |log, _| {
        lines(log, from, until, most).map_err(|error| refusal::of_log(&error, ""))
    });
    let found = found.await?;
    let mut response = with_type(StatusCode::OK, "application/x-ndjson", found.bytes);
    response.headers_mut().insert("plausibly-next", HeaderValue::from(found.next));
    Ok(response)
}

/// What a certificate is checked against.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Against {
    experiment: Option<String>,
}

/// A certificate that is right.
#[derive(Serialize, ToSchema)]
#[schema(as = Verified)]
struct VerifiedBody {
    valid: bool,
    /// The number of the decision that it is about.
    decision: u64,
    /// Whether it was compared with the log of an experiment.
    with_log: bool,
}

/// Check a certificate
///
/// Derives everything that a certificate says from its grounds. With `?experiment=NAME` the grounds
/// are compared with the log of that experiment, too.
#[utoipa::path(
    post, path = "/v1/verify", tag = "reading",
    params(("experiment" = Option<String>, Query, description = "Compare with this log")),
    request_body(content = Object, content_type = "application/json"),
    responses((status = 200, body = VerifiedBody, description = "It is right"), Problems),
)]
pub(super) async fn verify(
    State(service): State<Service>,
    caller: Who,
    Asked(Against { experiment }): Asked<Against>,
    Sent(body, _room): Sent,
) -> Result<Response<Body>, Problem> {
    match &experiment {
        Some(experiment) => caller.may_in(Role::Read, experiment)?,
        None => caller.holds(Role::Read)?,
    }
    crate::body::read::<serde::de::IgnoredAny>(&body)?;
    let wrong = |why: String| Problem::new(Code::BadCertificate, why);
    let text = String::from_utf8_lossy(&body);
    let given = Certificate::from_json(&text)
        .map_err(|error| wrong(format!("it is not a certificate: {error}")))?;
    let (decision, with_log) = (given.grounds.decision, experiment.is_some());
    let check = move |given: &Certificate| given.check().map_err(|flaw| wrong(flaw.to_string()));
    if let Some(experiment) = experiment {
        let checked = service.read(&experiment, move |log, _| {
            check(&given)?;
            let most = given.findings.actions.len().max(1);
            let (own, _) = certificate_near(log, decision, most).map_err(|error| match error {
                LogError::Step(StepError::Unknown { .. }) => {
                    wrong(format!("the log has no decision {decision}"))
                }
                error => refusal::of_log(&error, ""),
            })?;
            given.check_against(&own).map_err(|flaw| wrong(flaw.to_string()))
        });
        checked.await?;
    } else {
        service.beside(move || check(&given)).await?;
    }
    Ok(json(StatusCode::OK, &VerifiedBody { valid: true, decision, with_log }))
}
