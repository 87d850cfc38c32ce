//! Every route of the description, by every kind of caller, about its own experiment, another one
//! and one that does not exist.

use crate::client::Client;
use crate::harness::{Running, begin, mugs};
use plausibly_log::Time;
use plausibly_server::keys::{Grant, Role, add};
use serde_json::{Value, json};
use std::path::Path;

/// The role that a route needs; `None` if it needs no key. Written here once more, and not read
/// from the service.
fn needed(method: &str, path: &str) -> Option<Role> {
    match (method, path) {
        (_, "/healthz" | "/readyz" | "/openapi.json" | "/docs") => None,
        (
            "post",
            "/v1/experiments/{experiment}/decisions" | "/ofrep/v1/evaluate/flags/{experiment}",
        ) => Some(Role::Decide),
        (_, path)
            if path.ends_with("/reward")
                || path.ends_with("/drop")
                || path.ends_with("/rewards") =>
        {
            Some(Role::Reward)
        }
        ("get", _) | ("post", "/v1/verify") => Some(Role::Read),
        _ => Some(Role::Admin),
    }
}

struct Caller {
    what: &'static str,
    key: Option<String>,
    roles: Vec<Role>,
    experiment: Option<&'static str>,
}

fn callers(data: &Path) -> Vec<Caller> {
    let mut callers = vec![
        Caller { what: "no key", key: None, roles: vec![], experiment: None },
        Caller {
            what: "an unknown key",
            key: Some(format!("plk_{}", "0".repeat(64))),
            roles: vec![],
            experiment: None,
        },
    ];
    let all = [Role::Decide, Role::Reward, Role::Read, Role::Admin];
    let mut number = 1;
    for experiment in [None, Some("own")] {
        for role in all {
            let name = format!("key-{number}");
            let grant = Grant { name: &name, roles: &[role], experiment, rate: None };
            let made = add(data, grant, [number; 32], Time::from_micros(1)).unwrap();
            number += 1;
            callers.push(Caller {
                what: role.text(),
                key: Some(made.text().into()),
                roles: vec![role],
                experiment,
            });
        }
    }
    callers
}

#[test]
fn every_route_by_every_caller() {
    let data = tempfile::tempdir().unwrap();
    let callers = callers(data.path());
    let running = Running::with(data.path(), None, |settings| settings.report_requests = true);
    let admin = callers[5].key.clone().unwrap();
    let mut owner = Client::with_key(running.address, &admin);
    let prepare = |owner: &mut Client| {
        for name in ["own", "other"] {
            if owner.get(&format!("/v1/experiments/{name}")).status == 404 {
                begin(owner, name);
                let ask = format!("/v1/experiments/{name}/decisions");
                owner.post(&ask, &json!({})).expect(201);
            }
        }
    };
    let document = owner.get("/openapi.json").expect(200);
    let mut cells = 0;
    for (path, methods) in document["paths"].as_object().unwrap() {
        for method in methods.as_object().unwrap().keys() {
            for caller in &callers {
                for experiment in ["own", "other", "none"] {
                    prepare(&mut owner);
                    check(&running, method, path, caller, experiment);
                    cells += 1;
                }
            }
        }
    }
    assert!(cells >= 400, "{cells}");
    drop(owner);
    let said = running.end().join("\n");
    for caller in callers.iter().filter_map(|caller| caller.key.as_deref()) {
        assert!(!said.contains(&caller[4..]), "a report contains a key");
    }
    assert!(said.contains("\"key\":\"key-1\""), "reports name keys");
}

fn check(running: &Running, method: &str, path: &str, caller: &Caller, experiment: &str) {
    let real = path.replace("{experiment}", experiment).replace("{decision}", "1");
    let real = if path.ends_with("/compare") { format!("{real}?a=mug&b=jug") } else { real };
    let is_create = path == "/v1/experiments" && method == "post";
    let body = match method {
        "get" | "delete" => Value::Null,
        _ if is_create => mugs("own"),
        _ => json!({}),
    };
    let mut client = match &caller.key {
        Some(key) => Client::with_key(running.address, key),
        None => Client::new(running.address),
    };
    let answer = client.with_body(&method.to_uppercase(), &real, &[], &body);
    let said = format!("{method} {real} by {}: {} {}", caller.what, answer.status, answer.text());
    if let Some(key) = &caller.key {
        assert!(!said.contains(&key[4..]), "an answer contains a key");
    }
    let Some(needed) = needed(method, path) else {
        assert_eq!(answer.status, 200, "{said}");
        return;
    };
    let code = answer.json()["code"].as_str().unwrap_or_default().to_string();
    let is_about_one = path.contains("{experiment}");
    let may = caller.roles.contains(&needed) || caller.roles.contains(&Role::Admin);
    let is_listing = method == "get" && path == "/v1/experiments" || path == "/v1/verify";
    let is_flag = path.starts_with("/ofrep");
    if caller.roles.is_empty() {
        assert_eq!(answer.status, 401, "{said}");
    } else if is_about_one && caller.experiment.is_some_and(|own| own != experiment) {
        assert_eq!(answer.status, 404, "{said}");
        let unknown = if is_flag { "FLAG_NOT_FOUND" } else { "no_experiment" };
        assert!(answer.text().contains(unknown), "{said}");
    } else if !may || !is_about_one && caller.experiment.is_some() && !is_listing {
        assert_eq!((answer.status, &*code), (403, "wrong_role"), "{said}");
    } else if is_about_one && experiment == "none" {
        assert!(matches!(answer.status, 404 | 400 | 422), "{said}");
    } else {
        assert!(!matches!(answer.status, 401 | 403), "{said}");
        assert!(answer.status < 500, "{said}");
        assert_ne!(code, "no_experiment", "{said}");
    }
}

#[test]
fn a_revoked_key_is_refused_within_a_second_and_no_one_is_let_in_after_the_last() {
    let data = tempfile::tempdir().unwrap();
    let running = Running::on(data.path());
    let mut anyone = running.client();
    assert_eq!(anyone.get("/v1/experiments").status, 200);
    let grant = Grant { name: "me", roles: &[Role::Read], experiment: None, rate: None };
    let key = add(data.path(), grant, [7; 32], Time::from_micros(1)).unwrap();
    let mut me = Client::with_key(running.address, key.text());
    let within_a_second = |wanted: u16, client: &mut Client| {
        let begun = std::time::Instant::now();
        while client.get("/v1/experiments").status != wanted {
            assert!(begun.elapsed().as_millis() < 1_000, "{wanted}");
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
    };
    within_a_second(401, &mut anyone);
    assert_eq!(me.get("/v1/experiments").status, 200);
    plausibly_server::keys::revoke(data.path(), "me", Time::from_micros(2)).unwrap();
    within_a_second(401, &mut me);
    assert_eq!(anyone.get("/v1/experiments").status, 401);
    drop(running);
    assert_eq!(Running::on(data.path()).client().get("/v1/experiments").status, 401);
}
