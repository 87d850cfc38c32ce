//! Takes decisions.

use super::{At, OneOf, Problems, Sent, Service, Who, json};
use crate::body::{self, Cell, CellSchema, Object, Row, read};
use crate::experiments::{Ask, Choices};
use crate::keys::Role;
use crate::problem::{Code, Problem};
use axum::body::Body;
use axum::extract::State;
use axum::http::header::{HeaderValue, LOCATION};
use axum::http::{HeaderMap, Response, StatusCode};
use plausibly_log::certificate::{Certificate, Reason};
use plausibly_log::{Recorded, Taken, certificate_near};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use utoipa::ToSchema;

/// One request asks for at most this many decisions.
const MOST: usize = 100;
/// A certificate lists at most this many actions.
pub(super) const LISTED: usize = 200;
/// A key has at most this many bytes, so that the place in an array can be added.
const LONGEST_KEY: usize = 200;

/// What to decide.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = Ask)]
pub(super) struct AskBody {
    /// Facts about this occasion, the same for all actions. A key or a word that the experiment
    /// does not know becomes a feature from then on.
    #[serde(default)]
    #[schema(value_type = BTreeMap<String, CellSchema>)]
    context: BTreeMap<String, Cell>,
    /// The names of the actions to choose from, if not all.
    #[serde(default)]
    offer: Option<Vec<String>>,
    /// The actions to choose from with rows for this decision alone. Actions are recognised by
    /// their names.
    #[serde(default)]
    rows: Option<Vec<Row>>,
    /// Whether the certificate comes with the answer.
    #[serde(default)]
    certificate: Inline,
}

/// Whether the certificate comes with the answer.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq, ToSchema)]
#[serde(rename_all = "lowercase")]
enum Inline {
    #[default]
    None,
    Inline,
}

/// One decision, or several that are recorded with one write.
#[derive(ToSchema)]
#[expect(dead_code, reason = "only its schema is used")]
#[serde(untagged)]
enum AskOrAsks {
    One(AskBody),
    Several(Vec<AskBody>),
}

/// A decision.
#[derive(Serialize, ToSchema)]
#[schema(as = Decision)]
pub(super) struct DecisionBody {
    /// Its number, under which its outcome is recorded.
    pub(super) decision: u64,
    /// The action to take.
    pub(super) action: String,
    /// Why this action was chosen.
    #[schema(value_type = String, example = "least-known")]
    reason: Option<Reason>,
    /// The probability with which it was chosen; null if it is not known.
    propensity: Option<f64>,
    /// The number of actions that could still be best.
    plausible: Option<u64>,
    /// The largest possible error of an estimate among these, in units of reward; null while there
    /// is no bound.
    known_within: Option<f64>,
    /// The number of its line in the log.
    pub(super) seq: u64,
    /// The hash of that line.
    pub(super) hash: String,
    /// Whether it was taken before, for the same key.
    repeated: bool,
    /// Its certificate, if that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    certificate: Option<Box<Certificate>>,
}

/// The answers to several requests, in their order.
#[derive(Serialize, ToSchema)]
#[schema(as = Decisions)]
struct DecisionsBody {
    results: Vec<OneOf<DecisionBody>>,
}

/// Take a decision
///
/// A decision is answered once the disk has its line. With the header `Idempotency-Key` the same
/// request can be sent again: it gets the same decision, also after the service was killed. The
/// last million keys of an experiment are remembered.
///
/// An array of up to 100 requests is recorded with one write. Each is taken or refused by itself,
/// and the answer says which; the key then counts for each place in the array.
#[utoipa::path(
    post, path = "/v1/experiments/{experiment}/decisions", tag = "decisions",
    params(
        ("experiment" = String, Path, description = "The name of the experiment"),
        ("Idempotency-Key" = Option<String>, Header, max_length = 200,
         description = "Your name for this request"),
    ),
    request_body = AskOrAsks,
    responses(
        (status = 201, body = DecisionBody, description = "The decision"),
        (status = 200, body = DecisionsBody, description = "The decisions of an array"),
        Problems,
    ),
)]
pub(super) async fn decide(
    State(service): State<Service>,
    caller: Who,
    At(experiment): At<String>,
    headers: HeaderMap,
    Sent(body, _room): Sent,
) -> Result<Response<Body>, Problem> {
    caller.may_in(Role::Decide, &experiment)?;
    let key = key(&headers)?;
    let request = key.as_ref().map(|_| sha256(&body));
    let make = |asked: AskBody, key: Option<String>| {
        let request = key.as_ref().and(request.clone());
        asked.read().map(|ask| Ask { key, request, by: caller.name.clone(), ..ask })
    };
    if body.trim_ascii_start().first() != Some(&b'[') {
        let ask = make(body::read_or_default(&body)?, key)?;
        let taken = take(&service, &experiment, vec![Ok(ask)]).await?;
        let decision = taken.into_iter().next().expect("one was asked for")?;
        let place = format!("/v1/experiments/{experiment}/decisions/{}", decision.decision);
        let mut response = json(StatusCode::CREATED, &decision);
        if let Ok(place) = HeaderValue::from_str(&place) {
            response.headers_mut().insert(LOCATION, place);
        }
        return Ok(response);
    }
    let asked: Vec<Object<AskBody>> = read(&body)?;
    if !(1..=MOST).contains(&asked.len()) {
        let detail = format!("an array has 1 to {MOST} requests, this one has {}", asked.len());
        return Err(Problem::new(Code::OutOfRange, detail));
    }
    let asks = asked.into_iter().enumerate().map(|(place, Object(asked))| {
        make(asked, key.as_ref().map(|key| format!("{key}/{place}")))
    });
    let taken = take(&service, &experiment, asks.collect()).await?;
    let results = taken.into_iter().enumerate();
    let results = results
        .map(|(place, one)| OneOf::new(StatusCode::CREATED, &format!("/{place}"), one))
        .collect();
    Ok(json(StatusCode::OK, &DecisionsBody { results }))
}

impl AskBody {
    fn read(self) -> Result<Ask, Problem> {
        let choices = match (self.offer, self.rows) {
            (Some(_), Some(_)) => {
                let detail = "give either `offer` or `rows`: rows have the names of their actions";
                return Err(Problem::new(Code::BadOffer, detail).at("/offer"));
            }
            (None, None) => Choices::All,
            (Some(names), None) => Choices::Named(checked(names)?),
            (None, Some(rows)) => Choices::Rows(body::rows(&rows, "/rows")?),
        };
        Ok(Ask {
            choices,
            context: body::context(self.context)?,
            key: None,
            request: None,
            by: None,
            certificate: (self.certificate == Inline::Inline).then_some(LISTED),
            loose: None,
        })
    }
}

fn checked(names: Vec<String>) -> Result<Vec<String>, Problem> {
    if !(1..=body::MOST_ROWS).contains(&names.len()) {
        let detail = format!(
            "an offer has 1 to {} names, this one has {}; leave `offer` out to choose from all",
            body::MOST_ROWS,
            names.len()
        );
        return Err(Problem::new(Code::BadOffer, detail).at("/offer"));
    }
    Ok(names)
}

/// Takes decisions, and adds what a repeated one said at first.
pub(super) async fn take(
    service: &Service,
    experiment: &str,
    asks: Vec<Result<Ask, Problem>>,
) -> Result<Vec<Result<DecisionBody, Problem>>, Problem> {
    let with_certificate: Vec<bool> =
        asks.iter().map(|ask| ask.as_ref().is_ok_and(|ask| ask.certificate.is_some())).collect();
    let mut sent = Vec::with_capacity(asks.len());
    let mut answers: Vec<Option<Problem>> = Vec::with_capacity(asks.len());
    for ask in asks {
        match ask {
            Ok(ask) => {
                sent.push(ask);
                answers.push(None);
            }
            Err(problem) => answers.push(Some(problem)),
        }
    }
    let taken = if sent.is_empty() {
        Vec::new()
    } else {
        service.experiments.decide(experiment, sent).await?.answers
    };
    let mut taken = taken.into_iter();
    let mut results = Vec::with_capacity(answers.len());
    for (refused, with_certificate) in answers.into_iter().zip(with_certificate) {
        let answer = match refused {
            Some(problem) => Err(problem),
            None => taken.next().expect("an answer for each"),
        };
        results.push(match answer {
            Ok(taken) if taken.recorded == Recorded::Before => {
                again(service, experiment, taken.decision, with_certificate).await
            }
            Ok(taken) => Ok(DecisionBody::new(taken)),
            Err(problem) => Err(problem),
        });
    }
    Ok(results)
}

impl DecisionBody {
    /// A decision that was taken now.
    fn new(taken: Taken) -> Self {
        let derived = taken.derived;
        Self {
            decision: taken.decision,
            action: taken.label,
            reason: derived.map(|derived| derived.reason),
            propensity: derived.and_then(|derived| derived.propensity),
            plausible: derived.map(|derived| derived.plausible),
            known_within: derived.and_then(|derived| derived.known_within),
            seq: taken.line.seq,
            hash: taken.line.hash.to_string(),
            repeated: false,
            certificate: taken.certificate,
        }
    }
}

/// What was said of a decision when it was taken, read in the log.
async fn again(
    service: &Service,
    experiment: &str,
    decision: u64,
    with_certificate: bool,
) -> Result<DecisionBody, Problem> {
    let refused = |error: &_| crate::refusal::of_log(error, "");
    let looked = service
        .experiments
        .with(experiment, move |log, _| log.look(decision).map_err(|error| refused(&error)))
        .await?;
    let certificate = service.read(experiment, move |log, _| {
        certificate_near(log, decision, LISTED).map_err(|error| refused(&error))
    });
    let certificate = match certificate.await {
        Ok((found, _)) => Some(found),
        // What it was about is known all the same.
        Err(problem) if problem.code == Code::Busy && !with_certificate => None,
        Err(problem) => return Err(problem),
    };
    let findings = certificate.as_ref().map(|certificate| &certificate.findings);
    Ok(DecisionBody {
        decision,
        action: looked.label,
        reason: findings.map(|findings| findings.chosen.reason),
        propensity: findings.and_then(|findings| findings.chosen.propensity),
        plausible: findings.map(|findings| findings.plausible),
        known_within: findings.and_then(|findings| findings.known_within),
        seq: looked.seq,
        hash: looked.hash.to_string(),
        repeated: true,
        certificate: certificate.filter(|_| with_certificate).map(Box::new),
    })
}

/// The caller's name for a request.
fn key(headers: &HeaderMap) -> Result<Option<String>, Problem> {
    let mut found = headers.get_all("idempotency-key").iter();
    let Some(key) = found.next() else { return Ok(None) };
    let is_fit = |key: &&str| {
        (1..=LONGEST_KEY).contains(&key.len())
            && key.bytes().all(|byte| (b' '..=b'~').contains(&byte))
    };
    let key = key.to_str().ok().filter(is_fit).filter(|_| found.next().is_none());
    key.map(|key| Some(key.to_string())).ok_or_else(|| {
        Problem::new(
            Code::BadHeader,
            format!("Idempotency-Key must be there once, with 1 to {LONGEST_KEY} ASCII characters"),
        )
    })
}

fn sha256(body: &[u8]) -> String {
    Sha256::digest(body).iter().fold(String::with_capacity(64), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}
