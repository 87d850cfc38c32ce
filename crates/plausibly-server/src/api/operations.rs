//! For the people who run the service.

use super::{Problems, Service, Who, json, with_type};
use crate::keys::Role;
use crate::problem::Problem;
use axum::body::Body;
use axum::extract::State;
use axum::http::header::CONTENT_SECURITY_POLICY;
use axum::http::{HeaderValue, Response, StatusCode};
use serde::Serialize;
use utoipa::ToSchema;

/// Whether the process answers
#[utoipa::path(
    get, path = "/healthz", tag = "operations", security(()),
    responses((status = 200, body = String, content_type = "text/plain", description = "It does")),
)]
pub(super) async fn healthz() -> Response<Body> {
    with_type(StatusCode::OK, "text/plain", "ok\n")
}

/// How ready the service is.
#[derive(Serialize, ToSchema)]
#[schema(as = Readiness)]
struct ReadyBody {
    /// Whether it takes requests: true, or there is no answer.
    ready: bool,
    /// Whether deadlines are settled; they are not after the clock was set by more than a minute.
    settling: bool,
    /// The number of experiments that have stopped, because the disk failed or a log is damaged.
    stopped: usize,
}

/// Whether the service takes requests
#[utoipa::path(
    get, path = "/readyz", tag = "operations", security(()),
    responses(
        (status = 200, body = ReadyBody, description = "It does"),
    ),
)]
pub(super) async fn readyz(State(service): State<Service>) -> Response<Body> {
    let settling = !service.experiments.clocks.have_parted();
    let stopped = service.experiments.failed().len();
    json(StatusCode::OK, &ReadyBody { ready: true, settling, stopped })
}

/// Figures for Prometheus
#[utoipa::path(
    get, path = "/metrics", tag = "operations",
    responses(
        (status = 200, body = String, content_type = "application/openmetrics-text",
         description = "The figures"),
        Problems,
    ),
)]
pub(super) async fn metrics(
    State(service): State<Service>,
    caller: Who,
) -> Result<Response<Body>, Problem> {
    caller.may(Role::Read)?;
    let kind = "application/openmetrics-text; version=1.0.0; charset=utf-8";
    Ok(with_type(StatusCode::OK, kind, service.metrics.text()))
}

/// This description, for programs
#[utoipa::path(
    get, path = "/openapi.json", tag = "operations", security(()),
    responses((status = 200, body = Object, description = "OpenAPI 3.1")),
)]
pub(super) async fn openapi(State(service): State<Service>) -> Response<Body> {
    let text = service.document.get().map(|document| document.json.clone()).unwrap_or_default();
    with_type(StatusCode::OK, "application/json", text)
}

/// This description, for people
#[utoipa::path(
    get, path = "/docs", tag = "operations", security(()),
    responses((status = 200, body = String, content_type = "text/html", description = "A page")),
)]
pub(super) async fn docs(State(service): State<Service>) -> Response<Body> {
    let text = service.document.get().map(|document| document.page.clone()).unwrap_or_default();
    let mut response = with_type(StatusCode::OK, "text/html; charset=utf-8", text);
    // The page has a style and nothing else, so nothing else may come into it.
    let policy = HeaderValue::from_static("default-src 'none'; style-src 'unsafe-inline'");
    response.headers_mut().insert(CONTENT_SECURITY_POLICY, policy);
    response
}
