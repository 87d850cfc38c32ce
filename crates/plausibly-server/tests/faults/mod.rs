//! The disk of one experiment fails at any call. Nothing is answered with 2xx that is not in the
//! file afterwards, the other experiments go on, and this one does when the disk is back.

mod disk;

use crate::client::{Answer, Client};
use crate::harness::{Running, begin, mugs};
use disk::{Disk, Fault, Kind};
use plausibly_log::event::Event;
use plausibly_log::fold;
use plausibly_log::journal::FileStorage;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// Clients that ask at once, so that a failed write is one of several requests.
const CLIENTS: usize = 3;
/// A log has the faults of this many calls.
const CALLS_OF_A_LOG: usize = 10;
/// A failed experiment is tried again after this time.
const AGAIN: Duration = Duration::from_secs(10);

/// A service with the experiments `well` and `sick`, of which the second is on a disk that fails.
struct Ward {
    data: TempDir,
    disk: Disk,
    running: Running,
    callers: Vec<Caller>,
}

impl Ward {
    fn new() -> Self {
        let (data, disk) = (tempfile::tempdir().unwrap(), Disk::default());
        let faulty = disk.clone();
        let open = move |path: &Path| {
            let is_sick = path.to_string_lossy().contains("sick");
            let whole = || Box::new(FileStorage::new(path)) as plausibly_server::AnyStorage;
            if is_sick { faulty.storage(path) } else { whole() }
        };
        let running = Running::with(data.path(), Some(std::sync::Arc::new(open)), |_| {});
        let callers = (0..CLIENTS).map(Caller::new).collect();
        Self { data, disk, running, callers }
    }

    fn begun() -> Self {
        let ward = Self::new();
        begin(&mut ward.running.client(), "well");
        begin(&mut ward.running.client(), "sick");
        ward
    }

    /// Checks that an answer of 5xx says what to do, and nothing about the machine.
    fn check_refusal(&self, answer: &Answer) {
        let text = answer.text();
        assert_eq!(answer.status, 503, "{text}");
        let body = answer.json();
        assert_eq!((&body["code"], &body["status"]), (&json!("stopped"), &json!(503)), "{text}");
        assert!(body["detail"].as_str().unwrap().starts_with("the disk "), "{text}");
        assert!(answer.header("retry-after").is_some(), "{text}");
        let folder = self.data.path().to_string_lossy().into_owned();
        let inside = [&*folder, "os error", "utput error", "space left", "/log", "sick", "thread"];
        for word in inside {
            assert!(!text.contains(word), "{word}: {text}");
        }
    }

    /// Has the disk fail while clients ask, and then come back.
    fn suffer(&mut self, fault: Fault) {
        self.disk.fail(fault);
        let address = self.running.address;
        let mut callers = std::mem::take(&mut self.callers);
        let refusals: Vec<Answer> = std::thread::scope(|scope| {
            let asking = callers
                .iter_mut()
                .map(|caller| scope.spawn(|| caller.ask_until_refused(&mut Client::new(address))));
            let asking: Vec<_> = asking.collect();
            // The other experiment has no part in it.
            let mut client = self.running.client();
            while asking.iter().any(|thread| !thread.is_finished()) {
                client.post("/v1/experiments/well/decisions", &json!({})).expect(201);
            }
            asking.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        assert!(self.disk.failed() > 0);
        for refusal in &refusals {
            self.check_refusal(refusal);
        }
        self.stays_down();
        if fault.for_good {
            // Tried again in vain.
            self.running.clock.pass(AGAIN);
            self.check_refusal(&decide(&mut self.running.client()));
            self.stays_down();
        }
        self.disk.heal();
        self.running.clock.pass(AGAIN);
        let mut client = self.running.client();
        for caller in &mut callers {
            caller.ask_again(&mut client);
        }
        self.callers = callers;
    }

    /// Until its time has come, the log is not opened again.
    fn stays_down(&self) {
        let mut client = self.running.client();
        let opened = self.disk.opened();
        self.check_refusal(&decide(&mut client));
        self.running.clock.pass(Duration::from_secs(1));
        self.check_refusal(&client.get("/v1/experiments/sick"));
        assert_eq!(self.disk.opened(), opened);
    }

    /// Checks that the file has everything that was acknowledged, once.
    fn check_file(&self) -> usize {
        let shown = self.running.client().get("/v1/experiments/sick").expect(200);
        let (mut lines, mut decisions, mut rewards) =
            (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
        let storage = FileStorage::new(self.data.path().join("sick/log"));
        let (state, _) = fold(&storage, |step| {
            lines.insert(step.entry.seq, step.entry.hash.to_string());
            match step.event {
                Event::Decided { decision, label, .. } => {
                    let line = (label.clone(), step.entry.seq);
                    assert_eq!(decisions.insert(*decision, line), None);
                }
                Event::Rewarded { decision, reward, .. } => {
                    assert_eq!(rewards.insert(*decision, *reward), None);
                }
                _ => {}
            }
            Ok(())
        })
        .unwrap();
        assert_eq!(shown["digest"], json!(state.unwrap().digest()));
        for ack in self.callers.iter().flat_map(|caller| &caller.acks) {
            assert_eq!(lines.get(&ack.seq), Some(&ack.hash), "{ack:?}");
            match &ack.what {
                What::Decision(action) => {
                    assert_eq!(decisions.get(&ack.decision), Some(&(action.clone(), ack.seq)));
                }
                What::Reward(value) => assert_eq!(rewards.get(&ack.decision), Some(value)),
                What::Actions => {}
            }
        }
        self.callers.iter().map(|caller| caller.acks.len()).sum()
    }
}

fn decide(client: &mut Client) -> Answer {
    client.post("/v1/experiments/sick/decisions", &json!({}))
}

#[derive(Debug)]
enum What {
    Decision(String),
    Reward(f64),
    Actions,
}

/// What a client asks for next.
#[derive(Clone, Copy, Debug)]
enum Next {
    Decide,
    Reward(u64),
    Actions,
}

/// What an answer of 2xx has said.
#[derive(Debug)]
struct Ack {
    what: What,
    /// 0 if it is about none.
    decision: u64,
    seq: u64,
    hash: String,
}

/// A client that takes a decision and rewards it, again and again. The first one also changes the
/// actions.
struct Caller {
    name: usize,
    keys: usize,
    next: Next,
    acks: Vec<Ack>,
}

impl Caller {
    fn new(name: usize) -> Self {
        Self { name, keys: 0, next: Next::Decide, acks: Vec::new() }
    }

    fn ask_until_refused(&mut self, client: &mut Client) -> Answer {
        let began = Instant::now();
        loop {
            assert!(began.elapsed() < Duration::from_mins(1), "the disk does not fail");
            if let Some(refused) = self.ask(client) {
                return refused;
            }
        }
    }

    /// Asks for what was refused.
    fn ask_again(&mut self, client: &mut Client) {
        if let Some(refused) = self.ask(client) {
            panic!("{}", refused.text());
        }
    }

    /// Asks for one thing; an answer that is no success is returned.
    fn ask(&mut self, client: &mut Client) -> Option<Answer> {
        let of = |rest: &str| format!("/v1/experiments/sick/{rest}");
        let answer = match self.next {
            Next::Decide => {
                let key = format!("{}-{}", self.name, self.keys);
                let headers = [("idempotency-key", key.as_str())];
                client.with_body("POST", &of("decisions"), &headers, &json!({}))
            }
            Next::Reward(decision) => {
                let body = json!({ "value": 0.5 });
                client.put(&of(&format!("decisions/{decision}/reward")), &body)
            }
            Next::Actions => {
                // Each time the price of the mug is another one.
                let mut actions = mugs("")["actions"].clone();
                actions[0]["price"] = json!(4 + self.keys % 2);
                client.put(&of("actions"), &json!({ "actions": actions }))
            }
        };
        if !(200..300).contains(&answer.status) {
            return Some(answer);
        }
        self.note(&answer.json());
        None
    }

    fn note(&mut self, body: &Value) {
        let decision = body["decision"].as_u64().unwrap_or_default();
        let (seq, hash) = (body["seq"].as_u64().unwrap(), body["hash"].as_str().unwrap().into());
        let (what, next) = match self.next {
            Next::Decide => {
                self.keys += 1;
                let action = body["action"].as_str().unwrap().into();
                (What::Decision(action), Next::Reward(decision))
            }
            Next::Reward(_) if self.name == 0 => (What::Reward(0.5), Next::Actions),
            Next::Reward(_) => (What::Reward(0.5), Next::Decide),
            Next::Actions => (What::Actions, Next::Decide),
        };
        self.next = next;
        self.acks.push(Ack { what, decision, seq, hash });
    }
}

/// Every kind of fault, once and for good.
fn kinds() -> impl Iterator<Item = (Kind, bool)> {
    let kinds = [Kind::Broken, Kind::Full, Kind::Short];
    [false, true].into_iter().flat_map(move |good| kinds.map(|kind| (kind, good)))
}

/// Has the disk fail at each call up to this one: at the first ones in all ways, at later ones in
/// every other way.
fn fail_up_to(calls: usize) {
    let (mut faults, mut acknowledged) = (0, 0);
    // After each fault the log is read from its beginning, so each part has a log of its own.
    for part in (0..calls).step_by(CALLS_OF_A_LOG) {
        let mut ward = Ward::begun();
        for after in part..calls.min(part + CALLS_OF_A_LOG) {
            for (place, (kind, for_good)) in kinds().enumerate() {
                if after < 6 || (after + place) % 2 == 0 {
                    let uncut = for_good && after % 2 == 1;
                    ward.suffer(Fault { after, kind, for_good, uncut });
                    faults += 1;
                }
            }
        }
        acknowledged += ward.check_file();
        assert!(ward.running.end().iter().all(|line| !line.contains("panic")));
    }
    eprintln!("{faults} faults at calls 1 to {calls}: {acknowledged} answers, all in the file");
}

#[test]
fn a_disk_that_fails_at_any_of_forty_calls_loses_nothing_acknowledged() {
    fail_up_to(40);
}

mod full {
    #[test]
    fn a_disk_that_fails_at_any_of_500_calls_loses_nothing_acknowledged() {
        super::fail_up_to(500);
    }
}

/// No call of a creation may fail and leave a part of the experiment.
#[test]
fn an_experiment_begins_as_a_whole_or_not_at_all() {
    let ward = Ward::new();
    let mut client = ward.running.client();
    let mut refused = 0;
    for (place, (kind, for_good)) in kinds().enumerate() {
        for after in 0..12 {
            let name = format!("sick{place}-{after}");
            let path = format!("/v1/experiments/{name}");
            ward.disk.fail(Fault { after, kind, for_good, uncut: false });
            let answer = client.post("/v1/experiments", &mugs(&name));
            ward.disk.heal();
            if answer.status == 201 {
                assert!(after > 4, "creation has more calls than {after}");
                continue;
            }
            refused += 1;
            ward.check_refusal(&answer);
            client.get(&path).expect(404);
            assert!(!client.get("/v1/experiments").text().contains(&name));
            assert!(!ward.data.path().join(&name).exists());
            let left = fs::read_dir(ward.data.path().join(".plausibly/new")).unwrap().count();
            assert_eq!(left, 0);
            client.post("/v1/experiments", &mugs(&name)).expect(201);
            client.post(&format!("{path}/decisions"), &json!({})).expect(201);
        }
    }
    assert!(refused >= 24, "{refused}");
}

/// What is answered can be read at once, also in the log.
#[test]
fn an_answer_is_in_the_log_that_is_read_next() {
    let ward = Ward::begun();
    let address = ward.running.address;
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(move || {
                let mut client = Client::new(address);
                for _ in 0..40 {
                    let taken =
                        client.post("/v1/experiments/well/decisions", &json!({})).expect(201);
                    let seq = taken["seq"].as_u64().unwrap();
                    let path = format!("/v1/experiments/well/log?from={seq}&limit=1");
                    let lines = client.get(&path).text();
                    let line: Value = serde_json::from_str(lines.lines().next().unwrap()).unwrap();
                    assert_eq!((&line["seq"], &line["hash"]), (&json!(seq), &taken["hash"]));
                }
            });
        }
    });
}
