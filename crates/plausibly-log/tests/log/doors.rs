//! Policies that are refused in new logs, and stay readable in old ones.

use super::{Memory, open};
use plausibly_log::journal::{Checkpoint, Journal, JournalError, read};
use plausibly_log::recipe::{Context, Recipe};
use plausibly_log::table::Table;
use plausibly_log::{LogError, Opening, fold};
use serde_json::{Value, json};

fn table() -> Table {
    Table::read(&b"name,x\na,0.1\nb,0.7\nc,0.4\n"[..]).unwrap().with_label(Some("name")).unwrap()
}

fn opening(policy: &Value, horizon: u64) -> Opening {
    Opening {
        policy: policy.as_object().unwrap().clone(),
        horizon: Some(horizon),
        ..Opening::new(Recipe::infer(&table(), &Context::default()).unwrap(), (0.0, 1.0), 7)
    }
}

#[test]
fn settings_without_a_bound_or_without_exploration_begin_no_log() {
    for (policy, horizon, reason) in [
        (
            json!({"kind": "code", "greed": 1.0, "randomise": 0.2}),
            100,
            "no bound on its regret at greed 1",
        ),
        (json!({"kind": "epsilon-greedy"}), 0, "a horizon of 0 decisions"),
        (json!({"kind": "explore-then-commit"}), 9, "rounds to 0 decisions"),
    ] {
        let disk = Memory::default();
        let refused = |result: Result<(), LogError>| {
            let message = result.unwrap_err().to_string();
            assert!(message.contains(reason), "{message}");
        };
        refused(open(&disk).begin(1, opening(&policy, horizon)));
        // Nor can a log change to them.
        let mut log = open(&disk);
        log.begin(1, opening(&json!({"kind": "code"}), 100)).unwrap();
        refused(log.change_policy(2, policy.as_object().unwrap(), Some(horizon)).map(drop));
    }
    for accepted in [
        json!({"kind": "code", "greed": 0.9, "randomise": 0.2}),
        json!({"kind": "code", "target": {"accuracy": 0.1}, "randomise": 0.2}),
    ] {
        open(&Memory::default()).begin(1, opening(&accepted, 100)).unwrap();
    }
}

#[test]
fn logs_that_recorded_them_still_open_and_go_on() {
    let written = Memory::default();
    open(&written).begin(1, opening(&json!({"kind": "code", "randomise": 0.2}), 100)).unwrap();
    let mut first = String::new();
    read(&written, &Checkpoint::START, |entry| {
        first = entry.body.to_string();
        Ok::<(), JournalError>(())
    })
    .unwrap();
    let event = first.replace("\"greed\":0.3", "\"greed\":1.0");
    assert_ne!(event, first);
    let old = Memory::default();
    Journal::open(old.clone()).unwrap().append(1, &[&event]).unwrap();
    let mut log = open(&old);
    for at in 2..12 {
        log.decide(at, &table(), &Context::default(), 5).unwrap();
    }
    drop(log);
    assert_eq!(fold(&old, |_| Ok(())).unwrap().0.unwrap().count_decisions(), 10);
}
