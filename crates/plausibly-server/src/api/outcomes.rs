//! Says what came of decisions.

use super::{At, OneOf, Problems, Sent, Service, Who, inside, json};
use crate::body::{Object, read_object, read_or_default};
use crate::experiments::{Outcome, Said};
use crate::keys::Role;
use crate::problem::{Code, Problem};
use axum::body::Body;
use axum::extract::State;
use axum::http::{Response, StatusCode};
use plausibly_log::journal::Checkpoint;
use plausibly_log::{Recorded, Reward};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// One request has at most this many outcomes.
const MOST: usize = 1000;

/// The outcome of a decision: a value, or how many of many were yes.
#[derive(Clone, Copy, Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = Reward)]
pub(super) struct RewardBody {
    /// The reward, within the range of the experiment.
    value: Option<f64>,
    /// Where outcomes are counts: how many were yes.
    successes: Option<u64>,
    /// Where outcomes are counts: how many there were.
    of: Option<u64>,
}

impl RewardBody {
    fn read(self) -> Result<Reward, Problem> {
        match self {
            Self { value: Some(value), successes: None, of: None } => Ok(value.into()),
            Self { value: None, successes: Some(yes), of: Some(of) } => Ok(Reward::counts(yes, of)),
            _ => Err(Problem::new(
                Code::BadField,
                "give either `value`, or both `successes` and `of`",
            )
            .at("")),
        }
    }
}

/// What to do about a decision whose outcome will never come.
#[derive(Clone, Copy, Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = Drop)]
pub(super) struct DropBody {
    /// Undo the drop: the decision waits for its outcome again.
    #[serde(default)]
    undo: bool,
}

/// One of several outcomes.
#[derive(Clone, Copy, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = NumberedReward)]
pub(super) struct NumberedBody {
    /// The number of the decision.
    decision: u64,
    /// The reward, within the range of the experiment.
    value: Option<f64>,
    /// Where outcomes are counts: how many were yes.
    successes: Option<u64>,
    /// Where outcomes are counts: how many there were.
    of: Option<u64>,
    /// The outcome will never come.
    #[serde(default)]
    drop: bool,
}

/// Several outcomes.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = Rewards)]
pub(super) struct RewardsBody {
    /// 1 to 1,000 outcomes.
    #[schema(value_type = Vec<NumberedBody>)]
    rewards: Vec<Object<NumberedBody>>,
}

/// What became of an outcome.
#[derive(Serialize, ToSchema)]
#[schema(as = Noted)]
struct NotedBody {
    /// The number of the decision.
    decision: u64,
    /// Whether the outcome counts, or will from the deadline of its decision on. It does not if it
    /// came too late.
    applied: bool,
    /// Whether the log had it already.
    duplicate: bool,
    /// Why it does not count.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(example = "late")]
    reason: Option<&'static str>,
    /// The number of the last line of the log when this was answered; the outcome is in it or
    /// before it.
    seq: u64,
    /// The hash of that line.
    hash: String,
}

/// The answers to several outcomes, in their order.
#[derive(Serialize, ToSchema)]
#[schema(as = AllNoted)]
struct AllNotedBody {
    results: Vec<OneOf<NotedBody>>,
}

impl NotedBody {
    fn new(decision: u64, recorded: Recorded, line: Checkpoint) -> Self {
        Self {
            decision,
            applied: recorded != Recorded::Late,
            duplicate: recorded == Recorded::Before,
            reason: (recorded == Recorded::Late).then_some("late"),
            seq: line.seq,
            hash: line.hash.to_string(),
        }
    }
}

/// Record the reward of a decision
///
/// The same reward again changes nothing (`duplicate`), so the request can be repeated. Another
/// reward is refused, and the answer shows the stored one. In an experiment with a window the
/// reward counts from the deadline of its decision on; one that comes later never counts.
#[utoipa::path(
    put, path = "/v1/experiments/{experiment}/decisions/{decision}/reward", tag = "decisions",
    params(
        ("experiment" = String, Path, description = "The name of the experiment"),
        ("decision" = u64, Path, description = "The number of the decision"),
    ),
    request_body = RewardBody,
    responses((status = 200, body = NotedBody, description = "The reward is recorded"), Problems),
)]
pub(super) async fn reward(
    State(service): State<Service>,
    caller: Who,
    At((experiment, decision)): At<(String, u64)>,
    Sent(body, _room): Sent,
) -> Result<Response<Body>, Problem> {
    caller.may_in(Role::Reward, &experiment)?;
    let reward = read_object::<RewardBody>(&body)?.read()?;
    note(&service, &caller, &experiment, decision, Said::Reward(reward)).await
}

/// Replace the reward of a decision
#[utoipa::path(
    patch, path = "/v1/experiments/{experiment}/decisions/{decision}/reward", tag = "decisions",
    params(
        ("experiment" = String, Path, description = "The name of the experiment"),
        ("decision" = u64, Path, description = "The number of the decision"),
    ),
    request_body = RewardBody,
    responses((status = 200, body = NotedBody, description = "The reward is replaced"), Problems),
)]
pub(super) async fn correct(
    State(service): State<Service>,
    caller: Who,
    At((experiment, decision)): At<(String, u64)>,
    Sent(body, _room): Sent,
) -> Result<Response<Body>, Problem> {
    caller.may_in(Role::Reward, &experiment)?;
    let reward = read_object::<RewardBody>(&body)?.read()?;
    note(&service, &caller, &experiment, decision, Said::Correct(reward)).await
}

/// Take the reward of a decision back
///
/// The decision then waits for its reward again. If it does so already, nothing is written.
#[utoipa::path(
    delete, path = "/v1/experiments/{experiment}/decisions/{decision}/reward", tag = "decisions",
    params(
        ("experiment" = String, Path, description = "The name of the experiment"),
        ("decision" = u64, Path, description = "The number of the decision"),
    ),
    responses((status = 200, body = NotedBody, description = "The reward is gone"), Problems),
)]
pub(super) async fn retract(
    State(service): State<Service>,
    caller: Who,
    At((experiment, decision)): At<(String, u64)>,
) -> Result<Response<Body>, Problem> {
    caller.may_in(Role::Reward, &experiment)?;
    note(&service, &caller, &experiment, decision, Said::Retract).await
}

/// Say that the outcome of a decision will never come
#[utoipa::path(
    post, path = "/v1/experiments/{experiment}/decisions/{decision}/drop", tag = "decisions",
    params(
        ("experiment" = String, Path, description = "The name of the experiment"),
        ("decision" = u64, Path, description = "The number of the decision"),
    ),
    request_body = DropBody,
    responses((status = 200, body = NotedBody, description = "The decision is dropped"), Problems),
)]
pub(super) async fn drop_decision(
    State(service): State<Service>,
    caller: Who,
    At((experiment, decision)): At<(String, u64)>,
    Sent(body, _room): Sent,
) -> Result<Response<Body>, Problem> {
    caller.may_in(Role::Reward, &experiment)?;
    let said = if read_or_default::<DropBody>(&body)?.undo { Said::Undrop } else { Said::Drop };
    note(&service, &caller, &experiment, decision, said).await
}

async fn note(
    service: &Service,
    caller: &Who,
    experiment: &str,
    decision: u64,
    said: Said,
) -> Result<Response<Body>, Problem> {
    let outcome = Outcome { decision, said, by: caller.name.clone() };
    let done = service.experiments.note(experiment, vec![outcome]).await?;
    let recorded = done.answers.into_iter().next().expect("one was noted");
    let recorded = if said == Said::Retract { or_pending(recorded) } else { recorded }?;
    Ok(json(StatusCode::OK, &NotedBody::new(decision, recorded, done.line)))
}

/// A decision without a reward has none to take back, so a repeated retraction changes nothing.
fn or_pending(recorded: Result<Recorded, Problem>) -> Result<Recorded, Problem> {
    match recorded {
        Err(Problem { code: Code::OtherReward, stored: Some(stored), .. }) if stored.is_null() => {
            Ok(Recorded::Before)
        }
        recorded => recorded,
    }
}

/// Record up to 1,000 outcomes with one write
///
/// Each is recorded or refused by itself, and the answer says which.
#[utoipa::path(
    post, path = "/v1/experiments/{experiment}/rewards", tag = "decisions",
    params(("experiment" = String, Path, description = "The name of the experiment")),
    request_body = RewardsBody,
    responses(
        (status = 200, body = AllNotedBody, description = "What became of each outcome"),
        Problems,
    ),
)]
pub(super) async fn rewards(
    State(service): State<Service>,
    caller: Who,
    At(experiment): At<String>,
    Sent(body, _room): Sent,
) -> Result<Response<Body>, Problem> {
    caller.may_in(Role::Reward, &experiment)?;
    let RewardsBody { rewards } = read_object(&body)?;
    if !(1..=MOST).contains(&rewards.len()) {
        let detail = format!("`rewards` has 1 to {MOST} outcomes, this one has {}", rewards.len());
        return Err(Problem::new(Code::OutOfRange, detail).at("/rewards"));
    }
    let read = |(place, one): (usize, &Object<NumberedBody>)| {
        let Object(NumberedBody { decision, value, successes, of, drop }) = *one;
        let reward = RewardBody { value, successes, of };
        let said = if drop {
            let bare = value.is_none() && successes.is_none() && of.is_none();
            let both = || Problem::new(Code::BadField, "give either an outcome or `drop`").at("");
            if bare { Ok(Said::Drop) } else { Err(both()) }
        } else {
            reward.read().map(Said::Reward)
        };
        said.map(|said| Outcome { decision, said, by: caller.name.clone() })
            .map_err(|problem| inside(problem, &format!("/rewards/{place}")))
    };
    // A field that is wrong refuses all, before anything is written.
    let outcomes = rewards.iter().enumerate().map(read).collect::<Result<Vec<_>, _>>()?;
    let done = service.experiments.note(&experiment, outcomes).await?;
    let results = done.answers.into_iter().zip(&rewards).enumerate();
    let results = results.map(|(place, (recorded, one))| {
        let noted = recorded.map(|recorded| NotedBody::new(one.0.decision, recorded, done.line));
        OneOf::new(StatusCode::OK, &format!("/rewards/{place}"), noted)
    });
    Ok(json(StatusCode::OK, &AllNotedBody { results: results.collect() }))
}
