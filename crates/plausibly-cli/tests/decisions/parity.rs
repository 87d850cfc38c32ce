//! The command line writes the lines that the service and Python write for the same calls, clock
//! and seed. `testdata/service/parity.json` has the calls, and `parity/NAME.log` their lines, which
//! tests of the others compare too.

use super::Desk;
use crate::workspace;
use plausibly_log::Time;
use serde_json::Value;
use std::fs;

/// The time of the first call, in microseconds since 1970.
const BEGIN_US: i64 = 1_794_000_000_000_000;
/// The seconds between calls, unless they say another.
const STEP: i64 = 60;

fn text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_string)
}

/// A table as a spreadsheet writes it.
fn csv(rows: &[Value]) -> String {
    let columns: Vec<&String> = rows[0].as_object().unwrap().keys().collect();
    let quoted = |cell: String| format!("\"{}\"", cell.replace('"', "\"\""));
    let line = |cells: Vec<String>| cells.into_iter().map(quoted).collect::<Vec<_>>().join(",");
    let head = line(columns.iter().map(ToString::to_string).collect());
    let rows = rows.iter().map(|row| line(columns.iter().map(|name| text(&row[*name])).collect()));
    std::iter::once(head).chain(rows).map(|line| line + "\n").collect()
}

/// The flags of the first decision.
fn settings(begin: &Value) -> Vec<String> {
    let mut flags = vec!["--yes".to_string()];
    let mut flag = |name: &str, value: String| flags.extend([name.to_string(), value]);
    for (field, value) in begin.as_object().unwrap() {
        match field.as_str() {
            "actions" | "context" => {}
            "outcomes" => flag("--outcomes", text(value).replace('-', "/")),
            "reward_range" => flag("--reward-range", format!("{}..{}", value[0], value[1])),
            "window" => {
                flag("--window", format!("{}s", value["seconds"]));
                flag("--default", text(&value["default"]));
            }
            field => flag(&format!("--{}", field.replace('_', "-")), text(value)),
        }
    }
    flags
}

/// The command that carries out a call.
fn command(call: &Value) -> Vec<String> {
    let words = |words: &[&str]| words.iter().map(|word| (*word).to_string()).collect::<Vec<_>>();
    let mut command = if let Some(context) = call.get("decide") {
        let mut command = words(&["decide", "--actions", "actions.csv"]);
        for (key, value) in context.as_object().unwrap() {
            command.extend(["--context".into(), format!("{key}={}", text(value))]);
        }
        if let Some(count) = call.get("count") {
            command.extend(["--count".into(), count.to_string()]);
        }
        command
    } else if let Some(decision) = call.get("reward").or(call.get("correct")) {
        let value = call.get("value").unwrap_or(&call["successes"]);
        let mut command = words(&["reward", &decision.to_string(), &value.to_string()]);
        if let Some(of) = call.get("of") {
            command.extend(["--of".into(), of.to_string()]);
        }
        command.extend(call.get("correct").map(|_| "--correct".into()));
        command
    } else if let Some(decision) = call.get("retract") {
        words(&["reward", &decision.to_string(), "--retract"])
    } else if let Some(decision) = call.get("drop") {
        words(&["drop", &decision.to_string()])
    } else if let Some(decision) = call.get("undrop") {
        words(&["drop", &decision.to_string(), "--undo"])
    } else {
        words(&[if call["pause"] == true { "pause" } else { "resume" }])
    };
    command.extend(words(&["--log", "shop.log"]));
    command
}

#[test]
fn the_lines_are_those_of_the_service_and_of_python() {
    let cases = fs::read_to_string(workspace("testdata/service/parity.json")).unwrap();
    let cases: Vec<Value> = serde_json::from_str(&cases).unwrap();
    assert_eq!(cases.len(), 6);
    for case in &cases {
        let desk = Desk::new("examples/subjects.csv");
        let rows = case["begin"]["actions"].as_array().unwrap();
        fs::write(desk.path("actions.csv"), csv(rows)).unwrap();
        let mut now = BEGIN_US;
        for (place, call) in case["calls"].as_array().unwrap().iter().enumerate() {
            let after = call["after"].as_i64().unwrap_or(if place == 0 { 0 } else { STEP });
            now += after * 1_000_000;
            let mut command = command(call);
            command.extend(["--at".into(), Time::from_micros(now).to_string()]);
            if place == 0 {
                command.extend(settings(&case["begin"]));
            }
            desk.says(&command.iter().map(String::as_str).collect::<Vec<_>>());
        }
        let lines = fs::read_to_string(desk.path("shop.log")).unwrap();
        let golden = format!("testdata/service/parity/{}.log", case["name"].as_str().unwrap());
        plausibly_testkit::assert_golden(&workspace(&golden), &lines);
    }
}
