//! The service is killed under load, and started again on the same data folder. What it has
//! acknowledged is there each time, once.

use super::client::{Answer, Client};
use super::file::Held;
use super::{CONNECTIONS, Home, begin};
use plausibly::Stream;
use serde_json::{Value, json};
use std::fs;
use std::io;
use std::net::SocketAddr;
use std::time::Duration;

/// A log is used for this many lives of the service. Each life reads it from the beginning, so
/// longer logs would cost more time than they test.
const LIVES_OF_A_LOG: usize = 10;

/// What an answer of 2xx has said.
enum Ack {
    Decided { decision: u64, action: String, seq: u64, hash: String, key: Option<String> },
    Rewarded { decision: u64, value: f64, seq: u64, hash: String },
}

/// Something to ask for.
#[derive(Clone)]
enum Ask {
    One { key: Option<String> },
    Several { key: String, count: u64 },
    Reward { decision: u64, value: f64 },
}

/// A client with one connection, which asks for one thing after the other.
struct Talker {
    name: usize,
    rng: Stream,
    /// The number of keys used.
    keys: u64,
    /// Decisions of this client without a reward.
    open: Vec<u64>,
    /// What was asked for when the service was killed, if it can be asked for again.
    unanswered: Option<Ask>,
    acks: Vec<Ack>,
}

impl Talker {
    fn new(name: usize) -> Self {
        let rng = Stream::new(24, name as u64, "talker");
        Self { name, rng, keys: 0, open: Vec::new(), unanswered: None, acks: Vec::new() }
    }

    /// Asks until the service is gone.
    fn talk(&mut self, address: SocketAddr, experiment: &str) {
        let mut client = Client::new(address);
        loop {
            let ask = self.unanswered.take().unwrap_or_else(|| self.next());
            let Ok(answer) = ask.send(&mut client, experiment) else {
                // Without a key, the same request again would be another decision.
                self.unanswered = Some(ask).filter(|ask| !matches!(ask, Ask::One { key: None }));
                return;
            };
            self.note(ask, answer);
        }
    }

    fn next(&mut self) -> Ask {
        let draw = self.rng.uniform();
        if draw < 0.45
            && let Some(decision) = self.open.pop()
        {
            return Ask::Reward { decision, value: self.rng.below(5) as f64 / 4.0 };
        }
        self.keys += 1;
        let key = format!("{}-{}", self.name, self.keys);
        match draw {
            ..0.8 => Ask::One { key: None },
            ..0.95 => Ask::One { key: Some(key) },
            _ => Ask::Several { key, count: 1 + self.rng.below(6) },
        }
    }

    /// Notes what was acknowledged.
    fn note(&mut self, ask: Ask, answer: Answer) {
        match ask {
            Ask::One { key } => self.note_decision(&answer.expect(201), key),
            Ask::Several { key, .. } => {
                for (place, one) in
                    answer.expect(200)["results"].as_array().unwrap().iter().enumerate()
                {
                    assert_eq!(one["status"], 201, "{one}");
                    self.note_decision(one, Some(format!("{key}/{place}")));
                }
            }
            Ask::Reward { decision, value } => {
                let body = answer.expect(200);
                assert_eq!(body["applied"], true, "{body}");
                let (seq, hash) = place(&body);
                self.acks.push(Ack::Rewarded { decision, value, seq, hash });
            }
        }
    }

    fn note_decision(&mut self, body: &Value, key: Option<String>) {
        let decision = body["decision"].as_u64().unwrap();
        let (action, (seq, hash)) = (body["action"].as_str().unwrap().into(), place(body));
        self.acks.push(Ack::Decided { decision, action, seq, hash, key });
        self.open.push(decision);
    }
}

fn place(body: &Value) -> (u64, String) {
    (body["seq"].as_u64().unwrap(), body["hash"].as_str().unwrap().into())
}

impl Ask {
    fn send(&self, client: &mut Client, experiment: &str) -> io::Result<Answer> {
        let of = |rest: &str| format!("/v1/experiments/{experiment}/decisions{rest}");
        let (method, path, key, body) = match self {
            Self::One { key } => ("POST", of(""), key.as_ref(), json!({})),
            Self::Several { key, count } => {
                ("POST", of(""), Some(key), (0..*count).map(|_| json!({})).collect())
            }
            Self::Reward { decision, value } => {
                ("PUT", of(&format!("/{decision}/reward")), None, json!({ "value": value }))
            }
        };
        let mut headers = vec![("content-type", "application/json")];
        headers.extend(key.map(|key| ("idempotency-key", key.as_str())));
        client.send(method, &path, &headers, body.to_string().as_bytes())
    }
}

impl Ack {
    /// Checks that a log holds what was acknowledged; [`Held`] has checked that it does so once.
    fn check(&self, held: &Held) {
        let (seq, hash) = match self {
            Self::Decided { decision, action, seq, hash, key } => {
                let found = held.decisions.get(decision);
                let found = found.unwrap_or_else(|| panic!("decision {decision} is lost"));
                assert_eq!((&found.action, found.seq), (action, *seq), "decision {decision}");
                assert_eq!(&found.key, key, "decision {decision}");
                (seq, hash)
            }
            Self::Rewarded { decision, value, seq, hash } => {
                let found = held.rewards.get(decision);
                let (own, line) = found.unwrap_or_else(|| panic!("reward {decision} is lost"));
                assert!(own.to_bits() == value.to_bits() && line <= seq, "reward {decision}");
                (seq, hash)
            }
        };
        assert_eq!(held.hashes.get(seq), Some(hash), "line {seq}");
    }
}

/// What has happened to all logs.
#[derive(Default)]
struct Figures {
    acknowledged: usize,
    lines: u64,
    /// Decisions whose line is on the disk, and whose answer was lost with the service.
    unanswered: usize,
}

/// Kills a service many times.
fn kill_services(kills: usize) -> Figures {
    let home = Home::new();
    let mut rng = Stream::new(24, 0, "kills");
    let (mut figures, mut unaudited) = (Figures::default(), Vec::new());
    let logs = kills.div_ceil(LIVES_OF_A_LOG);
    for log in 0..logs {
        let name = format!("e{log}");
        let lives = LIVES_OF_A_LOG.min(kills - log * LIVES_OF_A_LOG);
        kill_services_of(&home, &name, lives, &mut rng, &mut figures);
        unaudited.push(name);
        if unaudited.len() * LIVES_OF_A_LOG >= 100 || log + 1 == logs {
            for name in unaudited.drain(..) {
                home.audit(&name);
                // A thousand lives leave gigabytes.
                fs::remove_file(home.log(&name)).unwrap();
            }
        }
    }
    home.check_calm();
    let Figures { acknowledged, lines, unanswered } = figures;
    eprintln!(
        "{kills} kills at {CONNECTIONS} connections: {acknowledged} decisions and rewards \
         acknowledged, none lost or doubled; {lines} lines, {unanswered} of them decisions whose \
         answers were lost"
    );
    figures
}

/// Kills a service that works on one log.
fn kill_services_of(
    home: &Home,
    name: &str,
    lives: usize,
    rng: &mut Stream,
    figures: &mut Figures,
) {
    let service = home.start();
    begin(&mut service.client(), name);
    service.kill();
    let mut talkers: Vec<Talker> = (0..CONNECTIONS).map(Talker::new).collect();
    let mut acks: Vec<Ack> = Vec::new();
    for life in 0..=lives {
        let service = home.start();
        let shown = service.client().get(&format!("/v1/experiments/{name}")).expect(200);
        let held = Held::of(&home.log(name));
        assert_eq!(shown["digest"], held.digest.as_str(), "{name}, life {life}");
        assert_eq!(
            (&shown["seq"], &shown["decisions"]),
            (&json!(held.last), &json!(held.decisions.len()))
        );
        for ack in &acks {
            ack.check(&held);
        }
        if life == lives {
            let known = acks.iter().filter(|ack| matches!(ack, Ack::Decided { .. })).count();
            figures.unanswered += held.decisions.len() - known;
            figures.lines += held.last;
            break;
        }
        let address = service.address;
        std::thread::scope(|scope| {
            for talker in &mut talkers {
                scope.spawn(move || talker.talk(address, name));
            }
            std::thread::sleep(Duration::from_micros(5_000 + rng.below(495_000)));
            service.kill();
        });
        acks.extend(talkers.iter_mut().flat_map(|talker| talker.acks.drain(..)));
    }
    figures.acknowledged += acks.len();
}

#[test]
fn a_dozen_kills_under_load_lose_and_double_nothing() {
    let figures = kill_services(12);
    assert!(figures.acknowledged > 500 && figures.unanswered > 0, "the kills fall under load");
}

mod full {
    #[test]
    fn a_thousand_kills_under_load_lose_and_double_nothing() {
        let figures = super::kill_services(1000);
        assert!(figures.acknowledged >= 200_000, "{} were acknowledged", figures.acknowledged);
    }
}
