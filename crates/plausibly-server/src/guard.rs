//! What every request passes first: is it for this service, and who sends it?

mod hosts;
#[cfg(test)]
mod tests;

pub(crate) use hosts::Hosts;

use crate::keys::{Caller, KeyHash, Ring};
use crate::problem::{Code, Problem};
use axum::extract::{ConnectInfo, Request, State};
use axum::http::HeaderMap;
use axum::http::header::AUTHORIZATION;
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use std::net::SocketAddr;
use std::sync::Arc;

/// What the guard compares requests with.
#[derive(Debug)]
pub(crate) struct Gate {
    pub(crate) hosts: Hosts,
    pub(crate) ring: Arc<Ring>,
}

/// Lets requests through that are for this service and come from a caller that it knows, and tells
/// handlers who it is by the extension [`Caller`](crate::keys::Caller).
pub(crate) async fn guard(
    State(gate): State<Arc<Gate>>,
    mut request: Request,
    next: Next,
) -> Response {
    if let Err(problem) = admit(&gate, &mut request) {
        return problem.into_response();
    }
    let caller = request.extensions().get::<Caller>().cloned();
    let mut response = next.run(request).await;
    // For reports, which are made outside of this.
    if let Some(caller) = caller {
        response.extensions_mut().insert(caller);
    }
    response
}

fn admit(gate: &Gate, request: &mut Request) -> Result<(), Problem> {
    gate.hosts.check(request.uri(), request.headers())?;
    if needs_no_key(request.uri().path()) {
        return Ok(());
    }
    let key = presented(request.headers())?;
    // A request without the address of its client counts as one from another machine.
    let peer = request.extensions().get::<ConnectInfo<SocketAddr>>();
    let is_local = peer.is_some_and(|peer| peer.0.ip().to_canonical().is_loopback());
    let caller = gate.ring.admit(key.as_ref(), is_local)?;
    // What follows cannot print a key that it does not have.
    request.headers_mut().remove(AUTHORIZATION);
    request.extensions_mut().insert(caller);
    Ok(())
}

/// Whether a route tells nothing about experiments.
fn needs_no_key(path: &str) -> bool {
    matches!(path, "/healthz" | "/readyz" | "/openapi.json" | "/docs")
}

/// The hash of the key that the request has.
fn presented(headers: &HeaderMap) -> Result<Option<KeyHash>, Problem> {
    let mut values = headers.get_all(AUTHORIZATION).iter();
    let Some(value) = values.next() else { return Ok(None) };
    let key = key_in(value.as_bytes()).filter(|_| values.next().is_none());
    key.map(|key| Some(KeyHash::of(key))).ok_or_else(|| {
        Problem::new(
            Code::BadHeader,
            "the header Authorization must be there once, as `Bearer plk_` and 64 of the digits \
             0-9 a-f",
        )
    })
}

/// The key in a header, if it has the form of one.
fn key_in(header: &[u8]) -> Option<&[u8]> {
    let (scheme, rest) = header.split_at_checked(b"bearer ".len())?;
    let key = rest.trim_ascii();
    let digits = key.strip_prefix(b"plk_")?;
    let is_digit = |byte: &u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    let formed = scheme.eq_ignore_ascii_case(b"bearer ") && digits.len() == 64;
    (formed && digits.iter().all(is_digit)).then_some(key)
}
