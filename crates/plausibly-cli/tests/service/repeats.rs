//! Requests that are sent again, because the answer was lost or the caller is careful, have the
//! effect of one.

use super::file::Held;
use super::{Home, begin, lives};
use plausibly::Stream;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::sync::Mutex;

/// Every reward is sent this many times.
const COPIES: usize = 5;
/// One request can ask for this many decisions.
const AT_ONCE: usize = 100;
/// An experiment has this many keys: the answer to a repeated one reads the log up to its line.
const KEYS_OF_A_LOG: usize = 250;

/// The reward of a decision: the same in each copy.
fn value(decision: u64) -> f64 {
    (decision % 5) as f64 / 4.0
}

/// Records rewards several times each, with kills between.
fn repeat_rewards(count: usize, kills: usize) {
    let home = Home::new();
    let service = home.start();
    let mut client = service.client();
    begin(&mut client, "shop");
    for _ in 0..count / AT_ONCE {
        let asks: Value = (0..AT_ONCE).map(|_| json!({})).collect();
        client.post("/v1/experiments/shop/decisions", &asks).expect(200);
    }
    drop(service);
    let mut jobs: Vec<u64> = (0..COPIES).flat_map(|_| 1..=count as u64).collect();
    let mut rng = Stream::new(24, 0, "copies");
    (1..jobs.len()).rev().for_each(|place| jobs.swap(place, rng.index(place + 1)));
    // How often the answer says that the log did not have the reward before.
    let first = Mutex::new(HashMap::<u64, usize>::new());
    let killed = lives::carry_out(&home, jobs, kills, |client, &decision| {
        let path = format!("/v1/experiments/shop/decisions/{decision}/reward");
        let body = json!({ "value": value(decision) }).to_string();
        let headers = [("content-type", "application/json")];
        let answer = client.send("PUT", &path, &headers, body.as_bytes())?.expect(200);
        assert_eq!(answer["applied"], true, "{answer}");
        if answer["duplicate"] == false {
            *first.lock().unwrap().entry(decision).or_default() += 1;
        }
        Ok(())
    });
    let service = home.start();
    let shown = service.client().get("/v1/experiments/shop").expect(200);
    let held = Held::of(&home.log("shop"));
    assert_eq!((&shown["pending"], &shown["digest"]), (&json!(0), &json!(held.digest)));
    assert_eq!(held.rewards.len(), count);
    for (decision, (own, _)) in &held.rewards {
        assert_eq!(own.to_bits(), value(*decision).to_bits(), "decision {decision}");
    }
    let first = first.into_inner().unwrap();
    assert!(first.values().all(|times| *times == 1), "a reward is new once");
    assert!(killed >= kills);
    home.audit("shop");
    home.check_calm();
    eprintln!(
        "{count} rewards, {COPIES} copies each, {killed} kills: applied {} times; {} answers were \
         lost",
        held.rewards.len(),
        count - first.len()
    );
}

/// What was answered to each key: its decision, action and line.
type Answers = Mutex<HashMap<String, (u64, String, u64, String)>>;

/// Sends requests with keys, each as long as no answer comes, and notes the answers. If `again`,
/// they must be those noted before.
fn send_keys(home: &Home, keys: &[(String, String)], kills: usize, answers: &Answers, again: bool) {
    lives::carry_out(home, keys.to_vec(), kills, |client, (experiment, key)| {
        let path = format!("/v1/experiments/{experiment}/decisions");
        let headers = [("content-type", "application/json"), ("idempotency-key", key.as_str())];
        let body = client.send("POST", &path, &headers, b"{}")?.expect(201);
        let text = |name: &str| body[name].as_str().unwrap().to_string();
        let number = |name: &str| body[name].as_u64().unwrap();
        let said = (number("decision"), text("action"), number("seq"), text("hash"));
        let before = answers.lock().unwrap().insert(key.clone(), said.clone());
        if again {
            assert_eq!(before, Some(said), "{key}");
            assert_eq!(body["repeated"], true, "{body}");
        }
        Ok(())
    });
}

/// Takes decisions with keys while the service is killed, and asks for all of them again.
fn repeat_decisions(count: usize, kills: usize) {
    let home = Home::new();
    let experiments = count.div_ceil(KEYS_OF_A_LOG);
    let service = home.start();
    (0..experiments).for_each(|e| begin(&mut service.client(), &format!("e{e}")));
    drop(service);
    let keys: Vec<(String, String)> =
        (0..count).map(|n| (format!("e{}", n % experiments), format!("key {n}"))).collect();
    let answers = Answers::default();
    send_keys(&home, &keys, kills, &answers, false);
    send_keys(&home, &keys, kills, &answers, true);
    let answers = answers.into_inner().unwrap();
    let mut decisions = 0;
    for e in 0..experiments {
        let name = format!("e{e}");
        let held = Held::of(&home.log(&name));
        decisions += held.decisions.len();
        for (key, decision) in &held.keys {
            let (own, action, seq, hash) = &answers[key];
            let found = &held.decisions[decision];
            assert_eq!((own, action, seq), (decision, &found.action, &found.seq), "{key}");
            assert_eq!(Some(hash), held.hashes.get(seq), "{key}");
        }
        home.audit(&name);
    }
    assert_eq!(decisions, count, "each key has one decision");
    home.check_calm();
    eprintln!("{count} decisions asked for twice by key, {} kills: all the same", 2 * kills);
}

#[test]
fn hundreds_of_rewards_in_five_copies_are_applied_once() {
    repeat_rewards(400, 5);
}

#[test]
fn hundreds_of_decisions_are_the_same_after_kills() {
    repeat_decisions(300, 4);
}

mod full {
    #[test]
    fn ten_thousand_rewards_in_five_copies_are_applied_once() {
        super::repeat_rewards(10_000, 50);
    }

    #[test]
    fn ten_thousand_decisions_are_the_same_after_kills() {
        super::repeat_decisions(10_000, 20);
    }
}
