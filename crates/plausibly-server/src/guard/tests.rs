use super::*;
use crate::keys::tests::{Hand, add_numbered, grant, per_second};
use crate::keys::{Caller, Grant, revoke};
use axum::Router;
use axum::body::Body;
use axum::http::StatusCode;
use axum::http::header::{CONTENT_TYPE, RETRY_AFTER, WWW_AUTHENTICATE};
use axum::middleware::from_fn_with_state;
use axum::routing::get;
use http_body_util::BodyExt as _;
use std::path::Path;
use tempfile::TempDir;
use tower::ServiceExt as _;

const OUTSIDE: &str = "192.0.2.7:5000";

/// Routes behind a guard; they answer with the name of the caller and what they see of the key.
struct Service {
    home: TempDir,
    gate: Arc<Gate>,
    app: Router,
}

impl Service {
    fn new(listen: &str, names: &[&str], prepare: impl FnOnce(&Path)) -> Self {
        let home = tempfile::tempdir().unwrap();
        prepare(home.path());
        let names: Vec<String> = names.iter().map(ToString::to_string).collect();
        let ring = Ring::open(home.path(), Arc::new(Hand::default())).unwrap();
        let hosts = Hosts::new(listen.parse().unwrap(), &names).unwrap();
        let gate = Arc::new(Gate { hosts, ring: Arc::new(ring) });
        let shows = |request: Request| async move {
            let caller = request.extensions().get::<Caller>().map(|caller| caller.name.clone());
            format!("{caller:?} {:?}", request.headers().get(AUTHORIZATION))
        };
        let app = Router::new()
            .route("/{*path}", get(shows))
            .layer(from_fn_with_state(Arc::clone(&gate), guard));
        Self { home, gate, app }
    }

    async fn send(&self, request: Request) -> (StatusCode, String, HeaderMap) {
        let response = self.app.clone().oneshot(request).await.unwrap();
        let (parts, body) = response.into_parts();
        let body = body.collect().await.unwrap().to_bytes();
        (parts.status, String::from_utf8(body.to_vec()).unwrap(), parts.headers)
    }

    /// A request to a path, from this address and with these keys in headers.
    async fn get(&self, path: &str, from: &str, keys: &[&str]) -> (StatusCode, String, HeaderMap) {
        let mut request = request(path, &["127.0.0.1:8017"]);
        request.extensions_mut().insert(ConnectInfo(from.parse::<SocketAddr>().unwrap()));
        for key in keys {
            request.headers_mut().append(AUTHORIZATION, key.parse().unwrap());
        }
        self.send(request).await
    }
}

fn request(uri: &str, hosts: &[&str]) -> Request {
    let mut request = Request::builder().uri(uri);
    for host in hosts {
        request = request.header("host", *host);
    }
    request.body(Body::empty()).unwrap()
}

#[tokio::test]
async fn requests_for_other_hosts_are_refused() {
    let names = ["Bandit.example.com", "10.0.0.5", "2001:db8::5"];
    let services = [("127.0.0.1", &[][..]), ("::1", &names), ("0.0.0.0", &[]), ("::", &names)];
    let services = services.map(|(listen, names)| Service::new(listen, names, |_| {}));
    // Whether each of the services lets it through.
    for (host, expected) in [
        ("localhost", [true; 4]),
        ("LocalHost:8017", [true; 4]),
        ("127.0.0.1", [true; 4]),
        ("127.9.9.9:1", [true; 4]),
        ("127.0.0.1:", [true; 4]),
        ("[::1]:8017", [true; 4]),
        ("[::ffff:127.0.0.1]", [true; 4]),
        ("10.0.0.5:80", [false, true, true, true]),
        ("[2001:DB8::5]:80", [false, true, true, true]),
        ("2001:db8::5", [false; 4]),
        ("192.0.2.1", [false, false, true, true]),
        ("[2001:db8::1]:8017", [false, false, true, true]),
        ("bandit.example.com", [false, true, false, true]),
        ("BANDIT.EXAMPLE.COM:443", [false, true, false, true]),
        ("evil.example", [false; 4]),
        ("x.bandit.example.com", [false; 4]),
        ("bandit.example.com.evil.example", [false; 4]),
        ("localhost.evil.example", [false; 4]),
        ("evil.localhost", [false; 4]),
        ("127.0.0.1.evil.example", [false; 4]),
        ("127.1", [false; 4]),
        ("2130706433", [false; 4]),
        ("0177.0.0.1", [false; 4]),
        ("user@127.0.0.1", [false; 4]),
        ("127.0.0.1:80:80", [false; 4]),
        ("127.0.0.1:evil", [false; 4]),
        ("localhost:80@evil.example", [false; 4]),
        ("[::1]evil.example", [false; 4]),
        ("[::1", [false; 4]),
        ("::1", [false; 4]),
        ("[127.0.0.1]", [false; 4]),
        ("[]", [false; 4]),
        ("", [false; 4]),
        (":8017", [false; 4]),
        ("*", [false; 4]),
        (" localhost", [false; 4]),
        ("localhost, evil.example", [false; 4]),
        ("lo\u{e9}alhost", [false; 4]),
    ] {
        for (service, expected) in services.iter().zip(expected) {
            let (status, body, headers) = service.send(request("/healthz", &[host])).await;
            let allowed = status == StatusCode::OK;
            assert_eq!(allowed, expected, "{host} for {:?}: {body}", service.gate.hosts);
            if !allowed {
                assert_eq!(status, StatusCode::MISDIRECTED_REQUEST);
                assert!(body.contains("other_host") && body.contains("--host NAME"), "{body}");
                assert_eq!(headers[CONTENT_TYPE], "application/problem+json");
            }
        }
    }
}

#[tokio::test]
async fn a_request_names_one_host_and_agrees_with_itself() {
    let service = Service::new("127.0.0.1", &[], |_| {});
    for (uri, hosts, expected) in [
        ("/healthz", &[][..], 421),
        ("/healthz", &["localhost", "localhost"], 421),
        ("/healthz", &["localhost", "evil.example"], 421),
        ("http://localhost:8017/healthz", &[], 200),
        ("http://localhost/healthz", &["127.0.0.1"], 200),
        ("http://localhost/healthz", &["evil.example"], 421),
        ("http://evil.example/healthz", &["localhost"], 421),
        ("http://user@localhost/healthz", &["localhost"], 421),
    ] {
        let (status, ..) = service.send(request(uri, hosts)).await;
        assert_eq!(status.as_u16(), expected, "{uri} {hosts:?}");
    }
    // The host comes first: a page must not learn whether its key is right.
    let (status, ..) = service.send(request("/v1/experiments", &["evil.example"])).await;
    assert_eq!(status, StatusCode::MISDIRECTED_REQUEST);
}

#[test]
fn names_of_hosts_are_checked() {
    let listen = "127.0.0.1".parse().unwrap();
    for wrong in ["", "a b", "http://a", "a:80", "a/b", "*.a", "[::1]:80"] {
        let text = Hosts::new(listen, &[wrong.to_string()]).unwrap_err();
        assert!(text.contains("give the name alone"), "{text}");
    }
}

#[tokio::test]
async fn keys_are_asked_for_where_they_exist() {
    let local = ["127.0.0.1:5000", "[::1]:5000", "[::ffff:127.0.0.1]:5000"];
    let open = Service::new("0.0.0.0", &[], |_| {});
    for from in local {
        let (status, body, _) = open.get("/v1/x", from, &[]).await;
        assert_eq!((status, body.as_str()), (StatusCode::OK, "Some(None) None"));
    }
    assert_eq!(open.get("/v1/x", OUTSIDE, &[]).await.0, StatusCode::UNAUTHORIZED);
    // Without the address of the client it is one from outside.
    let (status, ..) = open.send(request("/v1/x", &["127.0.0.1"])).await;
    assert_eq!(status, StatusCode::UNAUTHORIZED);

    let mut key = String::new();
    let service = Service::new("0.0.0.0", &[], |data| key = add_numbered(data, grant("web"), 1));
    let right = format!("Bearer {key}");
    for from in [local[0], OUTSIDE] {
        let (status, body, headers) = service.get("/v1/x", from, &[]).await;
        assert_eq!(status, StatusCode::UNAUTHORIZED);
        assert_eq!(headers[WWW_AUTHENTICATE], "Bearer");
        assert!(body.contains("no_key"), "{body}");
        // Handlers see the caller, and not the key.
        let (status, body, _) = service.get("/v1/x", from, &[&right]).await;
        assert_eq!((status, body.as_str()), (StatusCode::OK, "Some(Some(\"web\")) None"));
        for path in ["/healthz", "/readyz", "/openapi.json", "/docs"] {
            assert_eq!(service.get(path, from, &[]).await.0, StatusCode::OK);
        }
        for path in ["/metrics", "/healthz/", "/%68ealthz", "//healthz", "/docs/x", "/v1/../docs"] {
            assert_eq!(service.get(path, from, &[]).await.0, StatusCode::UNAUTHORIZED, "{path}");
        }
    }
    revoke(service.home.path(), "web", 0.into()).unwrap();
    service.gate.ring.reread();
    for (from, keys) in [(local[0], &[][..]), (local[0], &[&*right]), (OUTSIDE, &[&*right])] {
        assert_eq!(service.get("/v1/x", from, keys).await.0, StatusCode::UNAUTHORIZED);
    }
}

#[tokio::test]
async fn a_header_is_malformed_or_its_key_wrong_and_neither_is_quoted() {
    let mut key = String::new();
    let service = Service::new("127.0.0.1", &[], |data| key = add_numbered(data, grant("web"), 1));
    let digits = key.strip_prefix("plk_").unwrap();
    let upper = digits.replace("01", "0A");
    let other = format!("{}2", &key[..key.len() - 1]);
    for (header, expected) in [
        (format!("Bearer {key}"), 200),
        (format!("bearer  {key}"), 200),
        (format!("Bearer {other}"), 401),
        (format!("Bearer plk_{}", "0".repeat(64)), 401),
        (format!("Bearer plk_{upper}"), 400),
        (format!("Bearer {key}0"), 400),
        (format!("Bearer {}", &key[..key.len() - 1]), 400),
        (format!("Bearer {digits}"), 400),
        (format!("Bearer{key}"), 400),
        (format!("Basic {key}"), 400),
        (key.clone(), 400),
        ("Bearer".into(), 400),
        ("Bearer ".into(), 400),
        (String::new(), 400),
        (format!("Bearer {key}, Bearer {key}"), 400),
    ] {
        let (status, body, headers) = service.get("/v1/x", OUTSIDE, &[&header]).await;
        assert_eq!(status.as_u16(), expected, "{header}: {body}");
        assert!(!format!("{body} {headers:?}").contains("0101"), "{body}");
        assert_eq!(body.contains("bad_header"), expected == 400, "{body}");
    }
    let twice = format!("Bearer {key}");
    assert_eq!(service.get("/v1/x", OUTSIDE, &[&twice, &twice]).await.0, StatusCode::BAD_REQUEST);
}

#[tokio::test]
async fn a_key_that_is_too_fast_is_asked_to_wait() {
    let mut key = String::new();
    let limited = Grant { rate: per_second(5), ..grant("web") };
    let service = Service::new("127.0.0.1", &[], |data| key = add_numbered(data, limited, 1));
    let header = format!("Bearer {key}");
    for _ in 0..5 {
        assert_eq!(service.get("/v1/x", OUTSIDE, &[&header]).await.0, StatusCode::OK);
    }
    let (status, body, headers) = service.get("/v1/x", OUTSIDE, &[&header]).await;
    assert_eq!(status, StatusCode::TOO_MANY_REQUESTS);
    assert_eq!(headers[RETRY_AFTER], "1");
    assert!(body.contains("too_fast") && body.contains("5 requests per second"), "{body}");
    // A health check costs nothing of it, and a wrong key neither.
    assert_eq!(service.get("/healthz", OUTSIDE, &[&header]).await.0, StatusCode::OK);
}
