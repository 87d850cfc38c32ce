//! The routes of the service, and what all of them need.

mod create;
mod decisions;
mod experiments;
mod ofrep;
mod operations;
mod outcomes;
mod page;
mod reading;

use crate::acceptor::{Limits, read_body};
use crate::body;
use crate::experiments::Experiments;
use crate::keys::Caller;
use crate::metrics::Metrics;
use crate::problem::{Code, Problem, ProblemBody};
use crate::world::{AnyStorage, World};
use axum::body::{Body, Bytes};
use axum::extract::{FromRequest, FromRequestParts, Path, Query, Request};
use axum::http::header::{CONTENT_LENGTH, CONTENT_TYPE, HeaderValue};
use axum::http::request::Parts;
use axum::http::{Method, Response, StatusCode};
use axum::response::IntoResponse;
use axum::{Extension, Router};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::collections::BTreeMap;
use std::future::Future;
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use tokio::sync::{AcquireError, OwnedSemaphorePermit, Semaphore};
use utoipa::openapi::{Content, Ref, RefOr, ResponseBuilder};
use utoipa::{IntoResponses, OpenApi, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

/// At most this many long logs are read at once, so that decisions keep a core.
const READERS: usize = 2;
/// A request waits for its turn to read for at most this long.
const TURN: Duration = Duration::from_secs(5);
/// Bodies of at most this many bytes are always taken: all connections together bring few of them.
const SMALL: usize = 16 << 10;
/// All larger bodies together have at most this many pieces of 1 KiB in memory.
const ROOM_KIB: usize = 64 << 10;

/// What handlers work with.
#[derive(Clone)]
pub(crate) struct Service(Arc<Inner>);

pub(crate) struct Inner {
    pub(crate) experiments: Arc<Experiments>,
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) world: World,
    pub(crate) limits: Limits,
    readers: Arc<Semaphore>,
    /// Room for large bodies, so that many of them cannot fill the memory.
    room: Arc<Semaphore>,
    document: OnceLock<Document>,
}

/// The description of the interface, for programs and for people.
struct Document {
    json: Bytes,
    page: Bytes,
}

impl std::ops::Deref for Service {
    type Target = Inner;

    fn deref(&self) -> &Inner {
        &self.0
    }
}

impl Service {
    pub(crate) fn new(
        experiments: Arc<Experiments>,
        metrics: Arc<Metrics>,
        world: World,
        limits: Limits,
    ) -> Self {
        let (readers, document) = (Arc::new(Semaphore::new(READERS)), OnceLock::new());
        let room = Arc::new(Semaphore::new(ROOM_KIB));
        Self(Arc::new(Inner { experiments, metrics, world, limits, readers, room, document }))
    }

    /// Reads the log of an experiment beside its thread.
    async fn read<T: Send + 'static>(
        &self,
        name: &str,
        read: impl FnOnce(&AnyStorage, i64) -> Result<T, Problem> + Send + 'static,
    ) -> Result<T, Problem> {
        let storage = self.experiments.reader(name)?;
        let now = self.experiments.clocks.now_us();
        self.beside(move || read(&storage, now)).await
    }

    /// Does something that takes long, beside the threads that answer.
    async fn beside<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> Result<T, Problem> + Send + 'static,
    ) -> Result<T, Problem> {
        let turn = in_time(Arc::clone(&self.readers).acquire_owned()).await?;
        // The turn ends with the work, also if the client goes away before.
        let work = move || {
            let _turn = turn;
            work()
        };
        tokio::task::spawn_blocking(work)
            .await
            .map_err(|_panicked| Problem::new(Code::Internal, "the service failed while it read"))?
    }

    /// Room for a body of this length, if it is large.
    async fn room_for(&self, bytes: usize) -> Result<Option<OwnedSemaphorePermit>, Problem> {
        if bytes <= SMALL {
            return Ok(None);
        }
        let pieces = u32::try_from(bytes.div_ceil(1024)).unwrap_or(u32::MAX);
        in_time(Arc::clone(&self.room).acquire_many_owned(pieces)).await.map(Some)
    }
}

/// Waits for its turn, but not for long.
async fn in_time<T>(turn: impl Future<Output = Result<T, AcquireError>>) -> Result<T, Problem> {
    let busy = || Problem::new(Code::Busy, "too many requests take long at once");
    let turn = tokio::time::timeout(TURN, turn).await;
    turn.map_err(|_over| busy())?.map_err(|_closed| busy())
}

/// The description of the interface, without its paths.
#[derive(OpenApi)]
#[openapi(
    info(
        title = "Plausibly",
        description = "Decides among the actions that could still plausibly be best, takes the one \
                       it knows least about, and shows its work. A request is answered once the \
                       disk has its line.",
    ),
    components(schemas(ProblemBody)),
    tags(
        (name = "experiments", description = "Begin, change and end experiments"),
        (name = "decisions", description = "Take decisions, and say what came of them"),
        (name = "reading", description = "What is known, and the proof of it"),
        (name = "feature flags", description = "OpenFeature's remote protocol"),
        (name = "operations", description = "For the people who run the service"),
    )
)]
struct Description;

/// All routes, and their description.
pub(crate) fn router(service: Service) -> Router {
    let (router, document) = OpenApiRouter::with_openapi(Description::openapi())
        .routes(routes!(create::create, experiments::list))
        .routes(routes!(experiments::one, experiments::remove))
        .routes(routes!(experiments::replace_actions))
        .routes(routes!(experiments::pause))
        .routes(routes!(experiments::resume))
        .routes(routes!(decisions::decide))
        .routes(routes!(reading::decision))
        .routes(routes!(reading::certificate))
        .routes(routes!(outcomes::reward, outcomes::correct, outcomes::retract))
        .routes(routes!(outcomes::drop_decision))
        .routes(routes!(outcomes::rewards))
        .routes(routes!(reading::status))
        .routes(routes!(reading::compare))
        .routes(routes!(reading::log))
        .routes(routes!(reading::verify))
        .routes(routes!(ofrep::evaluate))
        .routes(routes!(operations::healthz))
        .routes(routes!(operations::readyz))
        .routes(routes!(operations::metrics))
        .routes(routes!(operations::openapi))
        .routes(routes!(operations::docs))
        .split_for_parts();
    let json = document.to_json().unwrap_or_default();
    let page = page::page(&serde_json::from_str(&json).unwrap_or_default());
    let _ = service.document.set(Document { json: json.into(), page: page.into() });
    router.method_not_allowed_fallback(wrong_method).fallback(no_route).with_state(service)
}

async fn no_route() -> Problem {
    Problem::new(Code::NoRoute, "there is nothing at this address; /docs lists what there is")
}

async fn wrong_method(method: Method) -> Problem {
    Problem::new(
        Code::WrongMethod,
        format!("this address does not take {method}; the header Allow says what it takes"),
    )
}

/// A request, with what the path names.
struct At<T>(T);

impl<T: DeserializeOwned + Send, S: Send + Sync> FromRequestParts<S> for At<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let found = Path::<T>::from_request_parts(parts, state).await;
        found.map(|Path(found)| Self(found)).map_err(|refused| {
            Problem::new(Code::BadQuery, format!("the path cannot be read: {refused}"))
        })
    }
}

/// What stands behind the question mark.
struct Asked<T>(T);

impl<T: DeserializeOwned + Send, S: Send + Sync> FromRequestParts<S> for Asked<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let found = Query::<T>::from_request_parts(parts, state).await;
        found
            .map(|Query(found)| Self(found))
            .map_err(|refused| Problem::new(Code::BadQuery, refused.body_text()))
    }
}

/// The body of a request that is sent as JSON, with its room in memory.
struct Sent(Bytes, Option<OwnedSemaphorePermit>);

impl FromRequest<Service> for Sent {
    type Rejection = Problem;

    async fn from_request(request: Request, service: &Service) -> Result<Self, Problem> {
        let (parts, body) = request.into_parts();
        body::check_type(&parts.headers)?;
        // A body without a length may become as long as any.
        let most = service.limits.body_bytes;
        let length = parts.headers.get(CONTENT_LENGTH).and_then(|length| length.to_str().ok());
        let length = length.and_then(|length| length.parse().ok()).unwrap_or(most);
        let room = service.room_for(length.min(most)).await?;
        Ok(Self(read_body(body, &service.limits).await?, room))
    }
}

/// An answer in JSON.
fn json(status: StatusCode, body: &impl Serialize) -> Response<Body> {
    match serde_json::to_vec(body) {
        Ok(text) => with_type(status, "application/json", text),
        Err(_unwritable) => {
            Problem::new(Code::Internal, "the answer cannot be written as JSON").into_response()
        }
    }
}

fn with_type(status: StatusCode, kind: &'static str, text: impl Into<Body>) -> Response<Body> {
    let mut response = Response::new(text.into());
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    response
}

/// Who asks; the guard has put it there.
type Who = Extension<Caller>;

/// One of several answers: what there is to say, or why it was refused.
#[derive(Serialize, ToSchema)]
#[serde(untagged)]
enum OneOf<T> {
    Done {
        /// The status that this request would have had alone.
        status: u16,
        #[serde(flatten)]
        answer: T,
    },
    Refused(ProblemBody),
}

impl<T> OneOf<T> {
    fn new(status: StatusCode, place: &str, answer: Result<T, Problem>) -> Self {
        match answer {
            Ok(answer) => Self::Done { status: status.as_u16(), answer },
            Err(problem) => Self::Refused(inside(problem, place).body()),
        }
    }
}

/// A problem in a part of the body.
fn inside(problem: Problem, part: &str) -> Problem {
    let pointer = format!("{part}{}", problem.pointer.as_deref().unwrap_or_default());
    problem.at(pointer)
}

/// The statuses that every route can have, all with a problem.
struct Problems;

impl IntoResponses for Problems {
    fn responses() -> BTreeMap<String, RefOr<utoipa::openapi::Response>> {
        let said = |status: u16| {
            let codes = Code::ALL.iter().filter(|code| code.status().as_u16() == status);
            let titles: Vec<&str> = codes.map(|code| code.title()).collect();
            let content = Content::new(Some(Ref::from_schema_name("Problem")));
            let response = ResponseBuilder::new()
                .description(titles.join("; "))
                .content("application/problem+json", content)
                .build();
            (status.to_string(), RefOr::T(response))
        };
        let statuses: std::collections::BTreeSet<u16> =
            Code::ALL.iter().map(|code| code.status().as_u16()).collect();
        statuses.into_iter().map(said).collect()
    }
}
