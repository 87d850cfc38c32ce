//! The service writes the lines that the command line and Python write for the same calls, clock
//! and seed. `testdata/service/parity.json` has the calls, and `parity/NAME.log` their lines, which
//! tests of the others compare too.

use crate::client::Client;
use crate::harness::Running;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The time between calls, unless they say another.
const STEP: u64 = 60;

fn testdata(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/service").join(name)
}

/// Asks for what a call says, as a client would.
fn carry_out(client: &mut Client, call: &Value) {
    let base = "/v1/experiments/shop";
    let reward = |decision: &Value| format!("{base}/decisions/{decision}/reward");
    let mut outcome = call.clone();
    for name in ["after", "reward", "correct"] {
        outcome.as_object_mut().unwrap().remove(name);
    }
    if let Some(context) = call.get("decide") {
        let ask = json!({ "context": context });
        let count = call["count"].as_u64().unwrap_or(1);
        let asks: Value = (0..count).map(|_| ask.clone()).collect();
        let (asks, status) = if count == 1 { (ask, 201) } else { (asks, 200) };
        client.post(&format!("{base}/decisions"), &asks).expect(status);
    } else if let Some(decision) = call.get("reward") {
        client.put(&reward(decision), &outcome).expect(200);
    } else if let Some(decision) = call.get("correct") {
        client.with_body("PATCH", &reward(decision), &[], &outcome).expect(200);
    } else if let Some(decision) = call.get("retract") {
        client.send("DELETE", &reward(decision), &[], b"").unwrap().expect(200);
    } else if let Some(decision) = call.get("drop").or(call.get("undrop")) {
        let undo = json!({ "undo": call.get("undrop").is_some() });
        client.post(&format!("{base}/decisions/{decision}/drop"), &undo).expect(200);
    } else {
        let what = if call["pause"] == true { "pause" } else { "resume" };
        client.post(&format!("{base}/{what}"), &json!({})).expect(200);
    }
}

#[test]
fn the_lines_are_those_of_the_command_line_and_of_python() {
    let cases = std::fs::read_to_string(testdata("parity.json")).unwrap();
    let cases: Vec<Value> = serde_json::from_str(&cases).unwrap();
    assert_eq!(cases.len(), 6);
    for case in &cases {
        let data = tempfile::tempdir().unwrap();
        let running = Running::on(data.path());
        let mut client = running.client();
        let mut begin = case["begin"].clone();
        begin["name"] = json!("shop");
        client.post("/v1/experiments", &begin).expect(201);
        for (place, call) in case["calls"].as_array().unwrap().iter().enumerate() {
            let after = call["after"].as_u64().unwrap_or(if place == 0 { 0 } else { STEP });
            running.clock.pass(Duration::from_secs(after));
            carry_out(&mut client, call);
        }
        running.end();
        let lines = std::fs::read_to_string(data.path().join("shop/log")).unwrap();
        let golden = testdata("parity").join(format!("{}.log", case["name"].as_str().unwrap()));
        plausibly_testkit::assert_golden(&golden, &lines);
    }
}
