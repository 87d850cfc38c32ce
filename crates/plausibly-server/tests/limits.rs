//! Each limit, from both sides, and the answer that a caller gets beyond it.

use crate::client::{Answer, Client};
use crate::harness::{Running, begin, mugs, service};
use serde_json::{Value, json};
use std::io::Write as _;
use std::net::TcpStream;

/// Method, path, headers, body, status, code and pointer.
type Case = (
    &'static str,
    &'static str,
    &'static [(&'static str, &'static str)],
    &'static [u8],
    u16,
    &'static str,
    Option<&'static str>,
);

const ASK: &str = "/v1/experiments/shop/decisions";
const JSON: (&str, &str) = ("content-type", "application/json");

/// Checks status, code and pointer of a refusal, and that nothing was written.
#[track_caller]
fn refused(client: &mut Client, answer: &Answer, status: u16, code: &str, pointer: Option<&str>) {
    let body = answer.json();
    assert_eq!((answer.status, body["code"].as_str()), (status, Some(code)), "{}", answer.text());
    assert_eq!(body["pointer"].as_str(), pointer, "{}", answer.text());
    assert_eq!(answer.header("content-type"), Some("application/problem+json"));
    assert_eq!(body["status"], status);
    let now = client.get("/v1/experiments/shop").expect(200);
    assert_eq!(now["seq"], 6, "something was written");
}

/// An experiment with one decision, so its log has six lines.
fn shop() -> (tempfile::TempDir, Running, Client) {
    let (data, running) = service();
    let mut client = running.client();
    begin(&mut client, "shop");
    client.post(ASK, &json!({})).expect(201);
    (data, running, client)
}

#[test]
fn what_is_wrong_with_a_request() {
    let (_data, _running, mut client) = shop();
    let cases: &[Case] = &[
        ("POST", ASK, &[JSON], b"{", 400, "not_json", None),
        ("POST", ASK, &[JSON], b"{} {}", 400, "not_json", None),
        ("POST", ASK, &[JSON], b"\xff", 400, "not_json", None),
        ("POST", ASK, &[JSON], br#"{"contxt": {}}"#, 400, "bad_field", Some("/contxt")),
        ("POST", ASK, &[JSON], br#"{"context": {"a": []}}"#, 400, "bad_field", Some("/context/a")),
        ("POST", ASK, &[JSON], br#"{"offer": [1]}"#, 400, "bad_field", Some("/offer/0")),
        ("POST", ASK, &[JSON], br#"{"context": {"a": 1, "a": 2}}"#, 400, "bad_field", None),
        ("POST", ASK, &[JSON, ("idempotency-key", "")], b"{}", 400, "bad_header", None),
        ("POST", ASK, &[("content-type", "text/plain")], b"{}", 415, "not_sent_as_json", None),
        ("POST", ASK, &[], b"{}", 415, "not_sent_as_json", None),
        ("POST", ASK, &[JSON, ("host", "evil.example")], b"{}", 421, "other_host", None),
        ("PUT", ASK, &[JSON], b"{}", 405, "wrong_method", None),
        ("GET", "/v2/experiments", &[], b"", 404, "no_route", None),
        ("POST", "/v1/experiments/shoe/decisions", &[JSON], b"{}", 404, "no_experiment", None),
        ("GET", "/v1/experiments/shop/decisions/2", &[], b"", 404, "no_decision", None),
        ("GET", "/v1/experiments/shop/decisions/0", &[], b"", 404, "no_decision", None),
        ("GET", "/v1/experiments/shop/decisions/x", &[], b"", 400, "bad_query", None),
        ("GET", "/v1/experiments/shop/log?form=1", &[], b"", 400, "bad_query", None),
        ("POST", ASK, &[JSON], br#"{"offer": []}"#, 422, "bad_offer", Some("/offer")),
        ("POST", ASK, &[JSON], br#"{"offer": ["mug", "mug"]}"#, 422, "bad_offer", Some("/offer")),
        ("POST", ASK, &[JSON], br#"{"offer": ["mug", "cup"]}"#, 422, "bad_offer", Some("/offer/1")),
        ("POST", ASK, &[JSON], br#"{"rows": []}"#, 422, "bad_table", Some("/rows")),
        ("POST", ASK, &[JSON], br#"{"rows": [{"name": "mug"}]}"#, 422, "bad_table", Some("/rows")),
        ("POST", ASK, &[JSON], b"[]", 422, "out_of_range", None),
    ];
    for (method, path, headers, body, status, code, pointer) in cases {
        let answer = client.send(method, path, headers, body).unwrap();
        refused(&mut client, &answer, *status, code, *pointer);
    }
    let allow = client.send("PUT", ASK, &[JSON], b"{}").unwrap();
    assert_eq!(allow.header("allow"), Some("POST"));
}

#[test]
fn outcomes_that_cannot_be() {
    let (_data, _running, mut client) = shop();
    let reward = "/v1/experiments/shop/decisions/1/reward";
    let cases: &[(&[u8], u16, &str, Option<&str>)] = &[
        (br#"{"value": 1.5}"#, 422, "out_of_range", Some("/value")),
        (br#"{"value": 1e999}"#, 422, "out_of_range", Some("/value")),
        (br#"{"value": "1"}"#, 400, "bad_field", Some("/value")),
        (br#"{"value": NaN}"#, 400, "not_json", None),
        (b"{}", 400, "bad_field", Some("")),
        (br#"{"value": 1, "of": 2}"#, 400, "bad_field", Some("")),
        (br#"{"successes": 1, "of": 2}"#, 422, "out_of_range", Some("/successes")),
        (br#"{"value": true}"#, 400, "bad_field", Some("/value")),
    ];
    for (body, status, code, pointer) in cases {
        let answer = client.send("PUT", reward, &[JSON], body).unwrap();
        refused(&mut client, &answer, *status, code, *pointer);
    }
    let answer = client.with_body("PATCH", reward, &[], &json!({"value": 0.5}));
    refused(&mut client, &answer, 409, "other_reward", None);
}

#[test]
fn depth_length_and_number_have_limits_that_can_be_reached() {
    let (_data, _running, mut client) = shop();
    let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
    let answer = client.send("POST", "/v1/verify", &[JSON], nested(32).as_bytes()).unwrap();
    refused(&mut client, &answer, 422, "bad_certificate", None);
    let answer = client.send("POST", "/v1/verify", &[JSON], nested(33).as_bytes()).unwrap();
    refused(&mut client, &answer, 422, "too_deep", None);
    // Brackets in text are no levels.
    let text = json!({"offer": ["[".repeat(40)]});
    let answer = client.post(ASK, &text);
    refused(&mut client, &answer, 422, "bad_offer", Some("/offer/0"));

    let padded = |length: usize| format!("{{}}{}", " ".repeat(length - 2));
    let answer = client.send("POST", ASK, &[JSON], padded((1 << 20) + 1).as_bytes()).unwrap();
    refused(&mut client, &answer, 413, "too_large", None);
    client.send("POST", ASK, &[JSON], padded(1 << 20).as_bytes()).unwrap().expect(201);

    let asks = |count: usize| Value::Array(vec![json!({}); count]);
    assert_eq!(client.post(ASK, &asks(101)).status, 422);
    client.post(ASK, &asks(100)).expect(200);
    let rewards =
        |count: usize| json!({"rewards": vec![json!({"decision": 1, "value": 1}); count]});
    assert_eq!(client.post("/v1/experiments/shop/rewards", &rewards(1001)).status, 422);
    assert_eq!(client.post("/v1/experiments/shop/rewards", &rewards(0)).status, 422);
    client.post("/v1/experiments/shop/rewards", &rewards(1000)).expect(200);
    let keyed = |length: usize| "k".repeat(length);
    let mut ask =
        |key: &str| client.with_body("POST", ASK, &[("idempotency-key", key)], &json!({}));
    assert_eq!(ask(&keyed(201)).status, 400);
    ask(&keyed(200)).expect(201);
}

#[test]
fn settings_that_cannot_be() {
    let (_data, _running, mut client) = shop();
    let with = |name: &str, value: Value| {
        let mut new = mugs("other");
        new[name] = value;
        new
    };
    let wide = |columns: usize| {
        let row = |name: &str, shift: usize| {
            let cells = (0..columns)
                .map(|column| (format!("c{column}"), json!(column + shift * (column + 1))));
            let mut row: serde_json::Map<String, Value> = cells.collect();
            row.insert("name".into(), name.into());
            Value::Object(row)
        };
        json!([row("a", 1), row("b", 2), row("c", 4)])
    };
    let many =
        |rows: usize| Value::Array((0..rows).map(|n| json!({"name": format!("n{n}")})).collect());
    let twice = json!([{"name": "x"}, {"name": "x"}]);
    let cases = [
        (with("name", json!("")), 422, "bad_name", Some("/name")),
        (with("name", json!("a/b")), 422, "bad_name", Some("/name")),
        (with("name", json!(".plausibly")), 422, "bad_name", Some("/name")),
        (with("name", json!("..")), 422, "bad_name", Some("/name")),
        (with("name", json!("n".repeat(129))), 422, "bad_name", Some("/name")),
        (with("name", json!("shop")), 409, "name_taken", Some("/name")),
        (with("actions", json!([])), 422, "bad_table", Some("/actions")),
        (with("actions", json!([{}])), 422, "bad_table", Some("/actions")),
        (with("actions", json!([1])), 400, "bad_field", Some("/actions/0")),
        (with("actions", many(10_001)), 422, "out_of_range", Some("/actions")),
        (with("actions", wide(256)), 422, "no_room", None),
        (with("actions", json!([{"label": "x".repeat(257)}])), 422, "bad_table", Some("/actions")),
        (with("reward_range", json!([1, 0])), 422, "bad_settings", Some("/reward_range")),
        (with("policy", json!("best")), 422, "bad_settings", Some("/policy")),
        (with("policy", json!(3)), 400, "bad_field", Some("/policy")),
        (with("noise", json!("loud")), 400, "bad_field", Some("/noise")),
        (with("noise", json!(9)), 422, "bad_settings", Some("/noise")),
        (with("outcomes", json!("maybe")), 400, "bad_field", Some("/outcomes")),
        (with("window", json!({"seconds": 0})), 422, "bad_settings", Some("/window")),
        (with("actions", twice.clone()), 422, "bad_table", Some("/actions")),
        (with("leave_out", json!(["prize"])), 422, "bad_settings", Some("/leave_out")),
        (with("colour", json!(1)), 400, "bad_field", Some("/colour")),
    ];
    for (new, status, code, pointer) in cases {
        let answer = client.post("/v1/experiments", &new);
        refused(&mut client, &answer, status, code, pointer);
    }
    client.post("/v1/experiments?check=true", &with("actions", many(10_000))).expect(200);
    client.post("/v1/experiments?check=true", &with("actions", wide(255))).expect(200);
    client.post("/v1/experiments?check=true", &with("name", json!("n".repeat(128)))).expect(200);
}

#[test]
fn a_context_beyond_what_features_can_be() {
    let (_data, running) = service();
    let mut client = running.client();
    let mut new = mugs("shop");
    new["context"] = json!({"hour": 3});
    new["growth"] = json!(4);
    client.post("/v1/experiments", &new).expect(201);
    client.post(ASK, &json!({"context": {"hour": 4}})).expect(201);
    let answer = client.post(ASK, &json!({"context": {"hour": 1e9}}));
    refused(&mut client, &answer, 422, "bad_context", Some("/context/hour"));
    let answer = client.post(ASK, &json!({"context": {"hour": 1, "device": "phone"}}));
    refused(&mut client, &answer, 422, "no_room", None);
    // As a number it would lose digits, and two customers could become one.
    let body = br#"{"context": {"customer": 12345678901234567890123}}"#;
    let answer = client.send("POST", ASK, &[JSON], body).unwrap();
    refused(&mut client, &answer, 400, "bad_field", Some("/context/customer"));
    let answer = client.post(ASK, &json!({"context": {"x": "y".repeat(257)}}));
    refused(&mut client, &answer, 422, "bad_context", Some("/context"));
}

#[test]
fn large_bodies_share_a_room_that_small_ones_do_not_need() {
    let (_data, running, mut client) = shop();
    let holders: Vec<TcpStream> = (0..64)
        .map(|_| {
            let mut holder = TcpStream::connect(running.address).unwrap();
            let head = format!(
                "POST {ASK} HTTP/1.1\r\nhost: {}\r\ncontent-type: application/json\r\n\
                 content-length: {}\r\n\r\n{{",
                running.address,
                1 << 20,
            );
            holder.write_all(head.as_bytes()).unwrap();
            holder
        })
        .collect();
    let large = format!("{{}}{}", " ".repeat(1 << 20));
    let large = &large.as_bytes()[..1 << 20];
    // Until all holders are served: each takes a sixty-fourth of the room.
    let busy = (0..20).find_map(|_| {
        let answer = client.send("POST", ASK, &[JSON], large).unwrap();
        (answer.status == 503).then_some(answer)
    });
    assert_eq!(busy.expect("the room is full").json()["code"], "busy");
    client.post(ASK, &json!({})).expect(201);
    drop(holders);
    let mut tries = (0..100).map(|_| client.send("POST", ASK, &[JSON], large).unwrap().status);
    assert!(tries.any(|status| status == 201), "the room is given back");
}
