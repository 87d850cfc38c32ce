//! Counts answers, and reports requests if that is asked for. Reports have the route as a pattern,
//! never the text of a request.

use crate::keys::Caller;
use crate::metrics::Metrics;
use crate::world::World;
use axum::extract::{MatchedPath, Request, State};
use axum::http::HeaderMap;
use axum::middleware::Next;
use axum::response::Response;
use std::sync::Arc;

/// Where answers are counted and reported.
#[derive(Debug)]
pub(crate) struct Watch {
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) world: World,
    /// Whether every request is reported, or failures alone.
    pub(crate) all: bool,
}

/// Counts the answer to a request, and reports it.
pub(crate) async fn observe(
    State(watch): State<Arc<Watch>>,
    request: Request,
    next: Next,
) -> Response {
    let route = request.extensions().get::<MatchedPath>().cloned();
    let (method, began) = (request.method().clone(), watch.world.clock.elapsed());
    let traced = trace(request.headers()).map(str::to_string);
    let response = next.run(request).await;
    let route = route.as_ref().map_or("", MatchedPath::as_str);
    let status = response.status();
    watch.metrics.answered(route, status.as_u16());
    if watch.all || status.is_server_error() {
        let micros = watch.world.clock.elapsed().saturating_sub(began).as_micros().to_string();
        let caller = response.extensions().get::<Caller>();
        let key = caller.and_then(|caller| caller.name.as_deref());
        let said = [
            ("method", method.as_str()),
            ("route", route),
            ("status", status.as_str()),
            ("micros", micros.as_str()),
            ("key", key.unwrap_or_default()),
            ("traceparent", traced.as_deref().unwrap_or_default()),
        ];
        let said: Vec<_> = said.into_iter().filter(|(_, value)| !value.is_empty()).collect();
        watch.world.say("request", &said);
    }
    response
}

/// The trace that a request belongs to, if the header has the form of one.
fn trace(headers: &HeaderMap) -> Option<&str> {
    let text = headers.get("traceparent")?.to_str().ok()?;
    let is_fit = |byte: u8| byte == b'-' || byte.is_ascii_hexdigit();
    (text.len() == 55 && text.bytes().all(is_fit)).then_some(text)
}
