//! What the service answers to a request that it does not carry out: `application/problem+json`
//! (RFC 9457), with a code that stays the same, the place of the error in the body, and what is
//! allowed there.

use axum::body::Body;
use axum::http::header::{CONTENT_TYPE, RETRY_AFTER, WWW_AUTHENTICATE};
use axum::http::{HeaderValue, Response, StatusCode};
use axum::response::IntoResponse;
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

/// Declares the codes with their statuses, their titles and what a caller can do.
macro_rules! codes {
    ($($name:ident $code:literal $status:literal $title:literal,)*) => {
        /// What is wrong, in a word that programs can rely on.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum Code { $($name,)* }

        impl Code {
            /// All codes, for the page `/docs`.
            pub(crate) const ALL: &[Self] = &[$(Self::$name,)*];

            pub(crate) fn text(self) -> &'static str {
                match self { $(Self::$name => $code,)* }
            }

            pub(crate) fn status(self) -> StatusCode {
                let status: u16 = match self { $(Self::$name => $status,)* };
                StatusCode::from_u16(status).expect("the table has statuses of HTTP")
            }

            pub(crate) fn title(self) -> &'static str {
                match self { $(Self::$name => $title,)* }
            }
        }
    };
}

codes! {
    NotJson "not_json" 400 "The body is not JSON",
    BadField "bad_field" 400 "A field is unknown, missing or of the wrong type",
    BadQuery "bad_query" 400 "A part of the address is malformed",
    BadHeader "bad_header" 400 "A header is malformed",
    NoKey "no_key" 401 "The request needs a key",
    WrongRole "wrong_role" 403 "The key lacks the role for this",
    NoExperiment "no_experiment" 404 "There is no such experiment",
    NoDecision "no_decision" 404 "There is no such decision",
    NoRoute "no_route" 404 "There is nothing at this address",
    WrongMethod "wrong_method" 405 "The address has other methods",
    TooSlow "too_slow" 408 "The request took too long to arrive",
    NameTaken "name_taken" 409 "The name is taken",
    OtherReward "other_reward" 409 "The stored outcome does not allow this",
    Paused "paused" 409 "The experiment is paused",
    Waiting "waiting" 409 "Elimination waits for outcomes",
    TooLarge "too_large" 413 "The body is too large",
    NotSentAsJson "not_sent_as_json" 415 "The body is not sent as JSON",
    OtherHost "other_host" 421 "The request is for another host",
    OutOfRange "out_of_range" 422 "A value is out of its range",
    BadName "bad_name" 422 "A name cannot be used",
    BadTable "bad_table" 422 "The rows cannot be used",
    BadContext "bad_context" 422 "The context cannot be used",
    BadOffer "bad_offer" 422 "The offer cannot be used",
    BadSettings "bad_settings" 422 "The settings cannot be used",
    NoRoom "no_room" 422 "There is no room for another feature or action",
    TooDeep "too_deep" 422 "The JSON is nested too deeply",
    KeyReused "key_reused" 422 "The key belongs to another request",
    NotPossible "not_possible" 422 "The log cannot take this",
    BadCertificate "bad_certificate" 422 "The certificate is wrong",
    TooFast "too_fast" 429 "The key has reached its rate",
    TooManyPending "too_many_pending" 429 "Too many decisions wait for their outcomes",
    Busy "busy" 503 "The service cannot do this right now",
    Stopped "stopped" 503 "The experiment has stopped",
    Leaving "leaving" 503 "The service is shutting down",
    Internal "internal" 500 "The service has failed",
}

/// A request that was not carried out.
#[derive(Clone, Debug)]
pub(crate) struct Problem {
    pub(crate) code: Code,
    pub(crate) detail: String,
    /// The JSON pointer of the field that is wrong.
    pub(crate) pointer: Option<String>,
    /// What the log holds instead.
    pub(crate) stored: Option<Box<Value>>,
    /// After how many seconds the same request may succeed.
    pub(crate) retry_after: Option<u32>,
}

impl Problem {
    pub(crate) fn new(code: Code, detail: impl Into<String>) -> Self {
        let retry_after = match code {
            Code::Busy | Code::TooFast | Code::TooManyPending => Some(1),
            Code::Stopped | Code::Leaving => Some(10),
            _ => None,
        };
        let detail = detail.into();
        Self { code, detail, pointer: None, stored: None, retry_after }
    }

    #[must_use]
    pub(crate) fn at(self, pointer: impl Into<String>) -> Self {
        Self { pointer: Some(pointer.into()), ..self }
    }

    #[must_use]
    pub(crate) fn with_stored(self, stored: Value) -> Self {
        Self { stored: Some(Box::new(stored)), ..self }
    }

    /// The body of the answer.
    pub(crate) fn body(&self) -> ProblemBody {
        let Self { code, detail, pointer, stored, .. } = self.clone();
        ProblemBody {
            kind: format!("/docs#{}", code.text()),
            title: code.title().into(),
            status: code.status().as_u16(),
            code: code.text().into(),
            detail,
            pointer,
            stored: stored.map(|stored| *stored),
        }
    }
}

/// The body of a problem.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[schema(as = Problem)]
pub(crate) struct ProblemBody {
    /// Where this service describes the code.
    #[serde(rename = "type")]
    kind: String,
    /// What the code means.
    title: String,
    /// The status of the answer.
    status: u16,
    /// What is wrong, in a word that does not change.
    code: String,
    /// What is wrong in this request, and what to do.
    detail: String,
    /// The JSON pointer of the field that is wrong.
    #[serde(skip_serializing_if = "Option::is_none")]
    pointer: Option<String>,
    /// What is stored instead.
    #[serde(skip_serializing_if = "Option::is_none")]
    stored: Option<Value>,
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response<Body> {
        let body = serde_json::to_string(&self.body()).unwrap_or_default();
        let mut response = Response::new(Body::from(body));
        *response.status_mut() = self.code.status();
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
        if let Some(seconds) = self.retry_after {
            headers.insert(RETRY_AFTER, HeaderValue::from(seconds));
        }
        if self.code == Code::NoKey {
            headers.insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        response
    }
}
