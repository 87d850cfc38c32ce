//! The bodies of requests and responses.

use super::Limits;
use super::connections::Activity;
use crate::problem::{Code, Problem};
use axum::body::{Body, Bytes};
use http_body_util::{BodyExt, LengthLimitError, Limited};
use hyper::body::{Body as HttpBody, Frame, SizeHint};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use tokio::time::timeout;

/// The whole body of a request.
pub(crate) async fn read_body(body: Body, limits: &Limits) -> Result<Bytes, Problem> {
    // A `Content-Length` that is too large is refused before a byte of the body is read.
    let announced = body.size_hint().lower();
    if usize::try_from(announced).map_or(true, |announced| announced > limits.body_bytes) {
        return Err(too_large(limits));
    }
    let body = Limited::new(body, limits.body_bytes).collect();
    match timeout(limits.body_time, body).await {
        Ok(Ok(body)) => Ok(body.to_bytes()),
        Ok(Err(error)) if error.is::<LengthLimitError>() => Err(too_large(limits)),
        Ok(Err(_)) => {
            Err(Problem::new(Code::NotJson, "the body broke off or is malformed; send it whole"))
        }
        Err(_) => {
            let seconds = limits.body_time.as_secs_f64();
            let detail = format!("the body did not arrive within {seconds} s; send it faster");
            Err(Problem::new(Code::TooSlow, detail))
        }
    }
}

fn too_large(limits: &Limits) -> Problem {
    let detail = format!(
        "a body has {} bytes at most; send less in one request, and the rest in others",
        limits.body_bytes,
    );
    Problem::new(Code::TooLarge, detail)
}

/// The body of a response. The connection is told when it is complete or given up.
#[derive(Debug)]
pub(super) struct Answer {
    body: Body,
    activity: Arc<Activity>,
}

impl Answer {
    pub(super) fn new(body: Body, activity: Arc<Activity>) -> Self {
        Self { body, activity }
    }
}

impl HttpBody for Answer {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

impl Drop for Answer {
    fn drop(&mut self) {
        self.activity.answered();
    }
}
