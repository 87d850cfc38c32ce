//! What each route answers when all is well.

use crate::harness::{BEGIN_US, begin, mugs, service};
use plausibly_server::{Settings, Stop, World, serve};
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;

#[test]
fn an_experiment_from_its_beginning_to_its_end() {
    let (data, running) = service();
    let mut client = running.client();
    let looked = client.post("/v1/experiments?check=true", &mugs("shop")).expect(200);
    assert_eq!(looked["features"], json!(["intercept", "price"]));
    assert!(!data.path().join("shop").exists());
    let begun = client.post("/v1/experiments", &mugs("shop")).expect(201);
    assert_eq!(begun, looked);
    assert!(begun["recipe"].as_str().unwrap().contains("price"));
    assert!(!begun["assumed"].as_array().unwrap().is_empty());
    let taken = client.post("/v1/experiments/shop/decisions", &json!({}));
    assert_eq!(taken.header("location"), Some("/v1/experiments/shop/decisions/1"));
    let taken = taken.expect(201);
    assert_eq!((&taken["decision"], &taken["repeated"]), (&json!(1), &json!(false)));
    let place = "/v1/experiments/shop/decisions/1";
    let past = client.get(place).expect(200);
    assert_eq!((&past["seq"], &past["hash"]), (&taken["seq"], &taken["hash"]));
    assert_eq!(past["outcome"], "pending");
    let noted = client.put(&format!("{place}/reward"), &json!({"value": 0.5})).expect(200);
    assert_eq!((&noted["applied"], &noted["duplicate"]), (&json!(true), &json!(false)));
    let again = client.put(&format!("{place}/reward"), &json!({"value": 0.5})).expect(200);
    assert_eq!((&again["applied"], &again["duplicate"]), (&json!(true), &json!(true)));
    let other = client.put(&format!("{place}/reward"), &json!({"value": 0.7})).expect(409);
    assert_eq!(
        (&other["code"], &other["stored"]),
        (&json!("other_reward"), &json!({"value": 0.5}))
    );
    let corrected =
        client.with_body("PATCH", &format!("{place}/reward"), &[], &json!({"value": 0.7}));
    corrected.expect(200);
    assert_eq!(client.get(place).expect(200)["value"], 0.7);
    client.send("DELETE", &format!("{place}/reward"), &[], b"").unwrap().expect(200);
    let repeated = client.send("DELETE", &format!("{place}/reward"), &[], b"").unwrap().expect(200);
    assert_eq!(repeated["duplicate"], true);
    client.post(&format!("{place}/drop"), &json!({})).expect(200);
    assert_eq!(client.get(place).expect(200)["outcome"], "dropped");
    client.post(&format!("{place}/drop"), &json!({"undo": true})).expect(200);
    let certificate = client.get(&format!("{place}/certificate"));
    let verified = client.post("/v1/verify?experiment=shop", &certificate.json()).expect(200);
    assert_eq!(verified, json!({"valid": true, "decision": 1, "with_log": true}));
    let status = client.get("/v1/experiments/shop/status").expect(200);
    assert_eq!(status["decisions"], 1);
    let compared = client.get("/v1/experiments/shop/compare?a=mug&b=jug").expect(200);
    assert_eq!(compared["decided"], false);
    assert_eq!(client.get("/v1/experiments").expect(200)["experiments"][0]["name"], "shop");
    client.post("/v1/experiments/shop/pause", &json!({})).expect(200);
    client.post("/v1/experiments/shop/decisions", &json!({})).expect(409);
    client.post("/v1/experiments/shop/resume", &json!({})).expect(200);
    let file = std::fs::read(data.path().join("shop/log")).unwrap();
    assert!(client.get("/v1/experiments/shop/log").body == file);
    let removed = client.send("DELETE", "/v1/experiments/shop", &[], b"").unwrap().expect(200);
    let moved = data.path().join(removed["moved_to"].as_str().unwrap());
    assert!(std::fs::read(moved.join("log")).unwrap() == file);
    client.get("/v1/experiments/shop").expect(404);
    begin(&mut client, "shop");
}

#[test]
fn a_key_gives_the_same_decision_also_after_a_restart() {
    let (data, running) = service();
    let mut client = running.client();
    begin(&mut client, "shop");
    let ask = json!({"certificate": "inline"});
    let asked = |client: &mut crate::client::Client, key: &str, ask: &Value| {
        client.with_body("POST", "/v1/experiments/shop/decisions", &[("idempotency-key", key)], ask)
    };
    let first = asked(&mut client, "one", &ask).expect(201);
    asked(&mut client, "two", &ask).expect(201);
    let again = asked(&mut client, "one", &ask).expect(201);
    let same = |again: &Value| {
        let names = ["decision", "action", "reason", "propensity", "plausible", "known_within"];
        for name in names.iter().chain(&["seq", "hash", "certificate"]) {
            assert_eq!(again[*name], first[*name], "{name}");
        }
        assert_eq!(again["repeated"], true);
    };
    same(&again);
    assert_eq!(asked(&mut client, "one", &json!({})).expect(422)["code"], "key_reused");
    drop(client);
    running.end();
    let running = crate::harness::Running::on(data.path());
    same(&asked(&mut running.client(), "one", &ask).expect(201));
}

#[test]
fn an_array_takes_or_refuses_each_by_itself() {
    let (_data, running) = service();
    let mut client = running.client();
    begin(&mut client, "shop");
    let asks = json!([{}, {"offer": ["jug", "cup"]}, {"offer": ["jug"]}, {"offer": []}]);
    let key = [("idempotency-key", "many")];
    let mut post = |asks: &Value| {
        client.with_body("POST", "/v1/experiments/shop/decisions", &key, asks).expect(200)
    };
    let answer = post(&asks);
    let results = answer["results"].as_array().unwrap();
    let statuses: Vec<_> = results.iter().map(|one| one["status"].as_u64().unwrap()).collect();
    assert_eq!(statuses, [201, 422, 201, 422]);
    assert_eq!(results[1]["pointer"], "/1/offer/1");
    assert_eq!(results[2]["action"], "jug");
    assert_eq!(results[3]["pointer"], "/3/offer");
    let again = post(&asks);
    assert_eq!(again["results"][2]["decision"], results[2]["decision"]);
    assert_eq!(again["results"][2]["repeated"], true);
    let noted = json!({"rewards": [
        {"decision": 1, "value": 1}, {"decision": 9, "value": 1}, {"decision": 2, "drop": true},
    ]});
    let noted = client.post("/v1/experiments/shop/rewards", &noted).expect(200);
    let statuses: Vec<_> =
        noted["results"].as_array().unwrap().iter().map(|one| one["status"].as_u64()).collect();
    assert_eq!(statuses, [Some(200), Some(404), Some(200)]);
    let beyond = json!({"rewards": [{"decision": 1, "value": 1}, {"decision": 2, "value": 7}]});
    let beyond = client.post("/v1/experiments/shop/rewards", &beyond).expect(200);
    assert_eq!(beyond["results"][1]["pointer"], "/rewards/1/value");
}

#[test]
fn rows_of_a_request_and_actions_from_now_on() {
    let (_data, running) = service();
    let mut client = running.client();
    begin(&mut client, "shop");
    let rows = json!({"rows": [{"name": "mug", "price": 1}, {"name": "cup", "price": 2}]});
    let taken = client.post("/v1/experiments/shop/decisions", &rows).expect(201);
    assert!(["mug", "cup"].contains(&taken["action"].as_str().unwrap()));
    // The cup has no row of its own, so later decisions do without it.
    let ask = json!({"certificate": "inline"});
    let taken = client.post("/v1/experiments/shop/decisions", &ask).expect(201);
    let listed = taken["certificate"]["findings"]["actions"].as_array().unwrap().len();
    assert_eq!(listed, 3);
    let cup = client.post("/v1/experiments/shop/decisions", &json!({"offer": ["cup"]})).expect(422);
    assert_eq!((&cup["code"], &cup["pointer"]), (&json!("bad_offer"), &json!("/offer")));
    let many: Vec<Value> =
        (0..9_998).map(|n| json!({"name": format!("n{n}"), "price": 5})).collect();
    let many = client.post("/v1/experiments/shop/decisions", &json!({"rows": many})).expect(422);
    assert_eq!((&many["code"], &many["pointer"]), (&json!("no_room"), &json!("/rows")));
    let wrong = json!({"rows": [{"name": "mug", "price": "cheap"}]});
    let wrong = client.post("/v1/experiments/shop/decisions", &wrong).expect(422);
    assert_eq!((&wrong["code"], &wrong["pointer"]), (&json!("bad_table"), &json!("/rows/0/price")));
    let actions = json!({"actions": [{"name": "mug", "price": 4}, {"name": "pot", "price": 7}]});
    let changed = client.put("/v1/experiments/shop/actions", &actions).expect(200);
    assert_eq!(changed["added"], json!(["pot"]));
    let found = client.get("/v1/experiments/shop").expect(200);
    assert_eq!(found["actions"], json!(["mug", "pot"]));
}

#[test]
fn names_come_from_the_column_that_was_said() {
    let (_data, running) = service();
    let mut client = running.client();
    let rows = json!([
        {"label": "new", "sku": "a1", "on_sale": true},
        {"label": "new", "sku": "b2", "on_sale": false},
    ]);
    let new = json!({"name": "shop", "seed": 7, "label": "sku", "actions": rows});
    client.post("/v1/experiments", &new).expect(201);
    let found = client.get("/v1/experiments/shop").expect(200);
    assert_eq!(found["actions"], json!(["a1", "b2"]));
    let later = json!({"actions": [{"label": "new", "sku": "b2", "on_sale": false}]});
    let changed = client.put("/v1/experiments/shop/actions", &later).expect(200);
    assert_eq!((&changed["added"], &changed["retired"]), (&json!([]), &json!(["a1"])));
    let log = client.get("/v1/experiments/shop/log").text();
    assert!(log.contains(r#""on_sale":"True""#), "as Python writes it: {log}");
}

#[test]
fn an_outcome_in_a_window_counts_at_the_deadline_and_not_later() {
    let (data, running) = service();
    let mut client = running.client();
    let mut new = mugs("shop");
    new["window"] = json!({"seconds": 3600, "default": 0});
    client.post("/v1/experiments", &new).expect(201);
    for _ in 0..3 {
        client.post("/v1/experiments/shop/decisions", &json!({})).expect(201);
    }
    client.put("/v1/experiments/shop/decisions/1/reward", &json!({"value": 1})).expect(200);
    assert_eq!(client.get("/v1/experiments/shop/decisions/1").expect(200)["outcome"], "reported");
    running.clock.pass(Duration::from_hours(1));
    let late = client.put("/v1/experiments/shop/decisions/2/reward", &json!({"value": 1}));
    let late = late.expect(200);
    assert_eq!((&late["applied"], &late["reason"]), (&json!(false), &json!("late")));
    let values: Vec<_> = (1..4)
        .map(|n| {
            client.get(&format!("/v1/experiments/shop/decisions/{n}")).expect(200)["value"].clone()
        })
        .collect();
    assert_eq!(values, [json!(1.0), json!(0.0), json!(0.0)]);
    // The clock is set by two hours: nothing is settled, and that is said.
    client.post("/v1/experiments/shop/decisions", &json!({})).expect(201);
    running.clock.set(BEGIN_US + 3 * 3_600_000_000);
    client.post("/v1/experiments/shop/decisions", &json!({})).expect(201);
    let fourth = client.get("/v1/experiments/shop/decisions/4").expect(200);
    assert_eq!(fourth["outcome"], "pending");
    // The wrong hours are not in the log, where they could not be taken out again.
    let fifth = client.get("/v1/experiments/shop/decisions/5").expect(200);
    assert_eq!(fifth["at"].as_str().unwrap()[..16], fourth["at"].as_str().unwrap()[..16]);
    let noted = client.put("/v1/experiments/shop/decisions/5/reward", &json!({"value": 1}));
    assert_eq!(noted.expect(200)["applied"], true);
    // Set back, it is the time of the log again.
    running.clock.set(BEGIN_US + 3_600_000_000);
    assert_eq!(client.get("/readyz").expect(200)["settling"], true);
    running.clock.set(BEGIN_US + 3 * 3_600_000_000);
    assert_eq!(client.get("/readyz").expect(200)["settling"], false);
    assert!(running.end().iter().any(|line| line.contains("not_settling")));
    // At the next start the clock is right, and what is due is settled without any request.
    let running = crate::harness::Running::on(data.path());
    running.clock.pass(Duration::from_hours(3));
    let log = || std::fs::read_to_string(data.path().join("shop/log")).unwrap();
    let settled = || log().matches("at_deadline").count();
    for _ in 0..600 {
        if settled() == 5 {
            return;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    panic!("{} of 5 decisions are settled", settled());
}

#[test]
fn one_service_uses_a_folder() {
    let (data, running) = service();
    let clock = Arc::clone(&running.clock) as Arc<dyn plausibly_server::Clock>;
    let world = World::on_disk(clock, Arc::new(|_: &str| {}));
    let settings = Settings::new(data.path().into(), "127.0.0.1:0".parse().unwrap());
    let second = || serve(settings.clone(), world.clone(), &Stop::default(), |_| {});
    let refused = second().unwrap_err();
    let why = std::error::Error::source(&refused).unwrap().to_string();
    assert_eq!(why, "another service uses it; one process serves a folder");
    drop(running);
    let stop = Stop::default();
    stop.stop();
    serve(settings.clone(), world, &stop, |_| {}).unwrap();
}

#[test]
fn a_flag_is_an_experiment() {
    let (_data, running) = service();
    let mut client = running.client();
    let mut new = mugs("shop");
    new["context"] = json!({"device": "mobile"});
    client.post("/v1/experiments", &new).expect(201);
    let context = json!({"context": {"targetingKey": "ann", "device": "desktop", "mail": "a@b"}});
    let found = client.post("/ofrep/v1/evaluate/flags/shop", &context).expect(200);
    assert_eq!((&found["key"], &found["value"]), (&json!("shop"), &found["variant"]));
    let decision = found["metadata"]["decision"].as_u64().unwrap();
    let past = client.get(&format!("/v1/experiments/shop/decisions/{decision}")).expect(200);
    assert_eq!(past["context"], json!({"device": "desktop"}));
    let loose = json!({"context": {"device": "desktop", "cart": {"mug": 2}, "visits": [1, 2]}});
    client.post("/ofrep/v1/evaluate/flags/shop", &loose).expect(200);
    let wrong = json!({"context": {"device": {"kind": "desktop"}}});
    let wrong = client.post("/ofrep/v1/evaluate/flags/shop", &wrong).expect(400);
    assert_eq!(wrong["errorCode"], "INVALID_CONTEXT");
    let unknown = client.post("/ofrep/v1/evaluate/flags/none", &context).expect(404);
    assert_eq!(unknown["errorCode"], "FLAG_NOT_FOUND");
    let broken = client.send(
        "POST",
        "/ofrep/v1/evaluate/flags/shop",
        &[("content-type", "application/json")],
        b"{",
    );
    assert_eq!(broken.unwrap().expect(400)["errorCode"], "PARSE_ERROR");
}

#[test]
fn the_service_describes_itself() {
    let (_data, running) = service();
    let mut client = running.client();
    assert_eq!(client.get("/healthz").text(), "ok\n");
    assert_eq!(client.get("/readyz").expect(200)["ready"], true);
    let document = client.get("/openapi.json").expect(200);
    assert!(document["openapi"].as_str().unwrap().starts_with("3.1"));
    let page = client.get("/docs").text();
    for path in document["paths"].as_object().unwrap().keys() {
        assert!(page.contains(path), "{path}");
    }
    // Links lead to places in the page, and marks of code are shown as code.
    let links = page.split("href=\"#").skip(1).map(|part| part.split('"').next().unwrap());
    let links: Vec<&str> = links.collect();
    assert!(links.len() > 25, "{links:?}");
    for link in links {
        assert_eq!(page.matches(&format!("id=\"{link}\"")).count(), 1, "{link}");
    }
    assert!(!page.contains('`'));
    let fields = &document["components"]["schemas"]["NewExperiment"]["properties"];
    let kinds = |name: &str| fields[name].to_string();
    assert!(kinds("policy").contains("Policy") && kinds("noise").contains("Noise"), "{fields}");
    begin(&mut client, "shop");
    client.post("/v1/experiments/shop/decisions", &json!({})).expect(201);
    let figures = client.get("/metrics").text();
    assert!(figures.contains("plausibly_pending{experiment=\"shop\"} 1"), "{figures}");
}
