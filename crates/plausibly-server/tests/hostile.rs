//! Thousands of bodies that are wrong in ways that are known: each gets its 4xx, and the log stays
//! as it is.

use crate::client::Client;
use crate::harness::{begin, service};
use serde_json::{Value, json};

/// Numbers that look random and are always the same.
struct Draws(u64);

impl Draws {
    fn below(&mut self, bound: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from((self.0 >> 33) % bound as u64).unwrap()
    }
}

/// Requests that would be carried out: method, path and body.
fn valid() -> Vec<(&'static str, &'static str, Value)> {
    vec![
        ("POST", "/v1/experiments/shop/decisions", json!({"context": {}, "offer": ["mug", "jug"]})),
        ("POST", "/v1/experiments/shop/decisions", json!([{"certificate": "inline"}, {}])),
        ("POST", "/v1/experiments/shop/decisions", json!({"rows": [{"name": "mug", "price": 3}]})),
        ("PUT", "/v1/experiments/shop/decisions/1/reward", json!({"value": 0.5})),
        ("PATCH", "/v1/experiments/shop/decisions/1/reward", json!({"value": 0.25})),
        ("POST", "/v1/experiments/shop/decisions/1/drop", json!({"undo": false})),
        ("POST", "/v1/experiments/shop/rewards", json!({"rewards": [{"decision": 1, "value": 1}]})),
        ("PUT", "/v1/experiments/shop/actions", json!({"actions": [{"name": "mug", "price": 3}]})),
        ("POST", "/v1/experiments/shop/pause", json!({})),
        ("POST", "/v1/experiments", crate::harness::mugs("new")),
    ]
}

/// A wrong body, and the statuses that it may get.
fn spoil(draws: &mut Draws, body: &Value) -> (Vec<u8>, &'static [u16]) {
    let text = body.to_string();
    match draws.below(8) {
        // A strict first part of a JSON object or array is no JSON, but nothing means defaults.
        0 => (text.as_bytes()[..=draws.below(text.len() - 1)].to_vec(), &[400]),
        1 => {
            let mut bytes = text.into_bytes();
            let at = draws.below(bytes.len());
            bytes[at] = 0xff;
            (bytes, &[400])
        }
        2 => (text.replacen('{', "{\"\\u0000odd\": 1,", 1).replace(",}", "}").into_bytes(), &[400]),
        3 => (format!("{text}{}", ["x", "{}", "]", "\u{0}"][draws.below(4)]).into_bytes(), &[400]),
        4 => {
            let deep = 33 + draws.below(2_000);
            (format!("{{\"a\": {}{}}}", "[".repeat(deep), "]".repeat(deep)).into_bytes(), &[422])
        }
        5 => {
            let others =
                [json!(1), json!("text"), json!(null), json!(true), json!([1]), json!([[]])];
            (others[draws.below(others.len())].to_string().into_bytes(), &[400])
        }
        6 => (
            text.replacen('{', "{\"k\": 1, \"k\": 2, ", 1).replace(", }", "}").into_bytes(),
            &[400],
        ),
        _ => {
            let huge = ["1e999", "-1e999", "123456789012345678901234567890", "1e308"];
            let number = huge[draws.below(4)];
            (format!("{{\"value\": {number}, \"rows\": {number}}}").into_bytes(), &[400, 422])
        }
    }
}

fn attack(client: &mut Client, bodies: usize) {
    begin(client, "shop");
    client.post("/v1/experiments/shop/decisions", &json!({})).expect(201);
    let held = |client: &mut Client| {
        let found = client.get("/v1/experiments/shop").expect(200);
        (found["hash"].clone(), found["digest"].clone(), found["paused"].clone())
    };
    let (before, valid, mut draws) = (held(client), valid(), Draws(1));
    for number in 0..bodies {
        let (method, path, body) = &valid[draws.below(valid.len())];
        let (spoilt, statuses) = spoil(&mut draws, body);
        let typed = [("content-type", "application/json")];
        let answer = client.send(method, path, &typed, &spoilt).unwrap();
        let said = String::from_utf8_lossy(&spoilt[..spoilt.len().min(200)]).into_owned();
        assert!(statuses.contains(&answer.status), "{method} {path} {said}: {}", answer.text());
        assert_eq!(answer.json()["status"], answer.status, "{}", answer.text());
        if number % 100 == 0 {
            assert_eq!(held(client), before, "after {method} {path} {said}");
        }
    }
    assert_eq!(held(client), before);
    assert_eq!(
        client.get("/v1/experiments").expect(200)["experiments"].as_array().unwrap().len(),
        1
    );
    // What was spoilt is well formed in itself, so the refusals were about the spoiling.
    for (method, path, body) in valid {
        let answer = client.with_body(method, path, &[], &body);
        assert_ne!(answer.status, 400, "{}", answer.text());
    }
}

#[test]
fn hostile_bodies_change_nothing() {
    let (_data, running) = service();
    attack(&mut running.client(), 5_000);
}
