//! Loads of a stand-in.

use super::stand_in::{Asked, Pieces, beside, whole};
use super::*;
use std::collections::BTreeSet;
use std::sync::Mutex;
use std::sync::atomic::Ordering;
use std::time::Duration;

const SHORT: Duration = Duration::from_millis(300);

/// Decisions are numbered; rewards are accepted.
fn service(asked: &Asked) -> Pieces {
    match asked.line.split(' ').next() {
        Some("POST") => whole(201, &format!("{{\"decision\": {}, \"seq\":9}}", asked.number)),
        _ => whole(200, "{}"),
    }
}

fn closed(target: &Target, mode: Mode, connections: usize, limit: Limit) -> Tally {
    drive(target, connections, &mut Closed::new(mode, connections, limit)).unwrap()
}

#[test]
fn one_connection_carries_many_requests() {
    beside(service, |target, seen| {
        let page = Mode::page(target, "/healthz");
        let tally = closed(target, page, 4, Limit::Count(1_000));
        assert_eq!(seen.connections.load(Ordering::SeqCst), 4);
        assert_eq!(seen.requests.load(Ordering::SeqCst), 1_000);
        assert_eq!(tally.statuses[&200], 1_000);
        assert_eq!(tally.latencies(Kind::Constant).count(), 1_000);
        assert_eq!(tally.to_json()["errors"]["broken"], 0);
    });
}

#[test]
fn answers_arrive_whole_however_they_are_cut() {
    let split = |asked: &Asked| -> Pieces {
        let chunked = "HTTP/1.1 201 Created\r\nTransfer-Encoding: chunked\r\n\r\n\
                       5;x=y\r\n{\"dec\r\n9\r\nision\": 7\r\n1\r\n}\r\n0\r\nA: b\r\n\r\n";
        let decides = asked.line.starts_with("POST");
        let bytes = if decides { chunked.into() } else { whole(200, "{}").concat() };
        let at = 1 + asked.number % (bytes.len() - 1);
        vec![bytes[..at].to_vec(), bytes[at..].to_vec()]
    };
    beside(split, |target, _| {
        let requests = Requests::new(target, &names("e", 1));
        let tally = closed(target, Mode::Pairs(requests), 8, Limit::Count(400));
        // A connection may be between a decision and its reward at the end.
        assert!((200..=208).contains(&tally.statuses[&201]), "{:?}", tally.statuses);
        assert_eq!(tally.statuses[&200], 400 - tally.statuses[&201]);
        assert_eq!((tally.malformed, tally.broken), (0, 0));
    });
}

#[test]
fn every_beginning_of_an_answer_needs_more() {
    let plain = b"HTTP/1.1 200 OK\r\nConnection: close\r\ncontent-length: 3\r\n\r\nabc".as_slice();
    let chunked = b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 503 Later\r\n\
                    Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n";
    let mut body = Vec::new();
    for (bytes, status) in [(plain, 200), (chunked.as_slice(), 503)] {
        for end in 0..bytes.len() {
            assert_eq!(parse(&bytes[..end], &mut body), Ok(None), "{end}");
        }
        // What follows belongs to the next answer.
        let answer = parse(&[bytes, b"HTTP"].concat(), &mut body).unwrap().unwrap();
        assert_eq!((answer.status, answer.length), (status, bytes.len()));
        assert_eq!((body.as_slice(), answer.close), (b"abc".as_slice(), status == 200));
    }
    for (wrong, why) in [
        ("SPDY/1.1 200 OK\r\n\r\n", Malformed::Status),
        ("HTTP/1.1 OK\r\n\r\n", Malformed::Status),
        ("HTTP/1.1 200 OK\r\nno colon\r\n\r\n", Malformed::Header),
        ("HTTP/1.1 200 OK\r\n\r\n", Malformed::Length),
        ("HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n", Malformed::Length),
        ("HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n", Malformed::Length),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n", Malformed::Chunk),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nabc", Malformed::Chunk),
    ] {
        assert_eq!(parse(wrong.as_bytes(), &mut body), Err(why), "{wrong}");
    }
}

#[test]
fn a_pair_rewards_its_own_decision_once() {
    let rewarded = Mutex::new(Vec::new());
    let answer = |asked: &Asked| {
        if let Some(path) = asked.line.strip_prefix("PUT /v1/experiments/") {
            rewarded.lock().unwrap().push(path.to_owned());
            assert!(asked.headers.contains(&"Authorization: Bearer plk_1".to_owned()));
            assert!(asked.headers.contains(&"Content-Type: application/json".to_owned()));
            let body: serde_json::Value = serde_json::from_slice(&asked.body).unwrap();
            assert!((0.0..=1.0).contains(&body["value"].as_f64().unwrap()));
        }
        service(asked)
    };
    let tally = beside(answer, |target, _| {
        let target = target.clone().with_key(Some("plk_1".into()));
        let requests = Requests::new(&target, &names("e", 3));
        closed(&target, Mode::Pairs(requests), 5, Limit::Count(600))
    });
    let rewarded = rewarded.into_inner().unwrap();
    assert_eq!(rewarded.len() as u64, tally.latencies(Kind::Reward).count());
    assert!((295..=300).contains(&rewarded.len()), "{}", rewarded.len());
    let unique: BTreeSet<&String> = rewarded.iter().collect();
    assert_eq!(unique.len(), rewarded.len());
    for experiment in 0..3 {
        let prefix = format!("e-{experiment}/decisions/");
        let count = rewarded.iter().filter(|path| path.starts_with(&prefix)).count();
        assert!(count >= 95, "{count}");
    }
    assert!(rewarded.iter().all(|path| path.ends_with("/reward HTTP/1.1")));
}

#[test]
fn refusals_and_lost_connections_are_counted_apart() {
    let answer = |asked: &Asked| match asked.number % 4 {
        0 => whole(503, "{}"),
        1 => Vec::new(),
        2 => vec![b"nonsense\r\n\r\n".to_vec()],
        _ => service(asked),
    };
    beside(answer, |target, _| {
        let requests = Requests::new(target, &names("e", 1));
        let tally = closed(target, Mode::Decide(requests), 1, Limit::Count(40));
        assert_eq!((tally.statuses[&503], tally.statuses[&201]), (10, 10));
        assert_eq!((tally.broken, tally.malformed, tally.unconnected), (10, 10, 0));
        assert_eq!(tally.refused.count(), 10);
        let failed: u64 = tally.windows.iter().map(|window| window.failed).sum();
        assert_eq!(failed, 30);
    });
}

#[test]
fn an_open_loop_counts_waiting_from_the_scheduled_start() {
    // The service stands still for 200 ms, once, on its only connection.
    let answer = |asked: &Asked| {
        if asked.number == 50 {
            std::thread::sleep(Duration::from_millis(200));
        }
        service(asked)
    };
    beside(answer, |target, seen| {
        let requests = Requests::new(target, &names("e", 1));
        let mut open = Open::new(requests, (500.0, 0.0), Duration::from_secs(1), Full::Wait);
        let tally = drive(target, 1, &mut open).unwrap();
        assert_eq!(seen.requests.load(Ordering::SeqCst), 500);
        let latencies = tally.latencies(Kind::Decide);
        assert_eq!(latencies.count(), 500);
        // Hundred requests were due in the pause: those of its first half waited 100 ms or more.
        assert!(latencies.quantile(0.99) > Duration::from_millis(150), "{latencies:?}");
        assert!(latencies.quantile(0.92) > Duration::from_millis(90), "{latencies:?}");
        assert_eq!((tally.unanswered, tally.unsent), (0, 0));
    });
    // Counted from the sending, only one request would have waited.
    beside(answer, |target, _| {
        let requests = Requests::new(target, &names("e", 1));
        let mut open = Open::new(requests, (500.0, 0.0), Duration::from_secs(1), Full::Skip);
        let tally = drive(target, 1, &mut open).unwrap();
        let latencies = tally.latencies(Kind::Decide);
        assert!(latencies.quantile(0.92) < Duration::from_millis(90), "{latencies:?}");
        assert!((80..=110).contains(&tally.unsent), "{}", tally.unsent);
        assert_eq!(latencies.count() + tally.unsent, 500);
    });
}

#[test]
fn an_open_loop_rewards_every_decision_that_was_made() {
    let answer = |asked: &Asked| match asked.line.as_bytes() {
        [b'P', b'O', ..] if asked.number.is_multiple_of(5) => whole(503, "{}"),
        _ => service(asked),
    };
    beside(answer, |target, _| {
        let requests = Requests::new(target, &names("e", 2));
        let mut open = Open::new(requests, (400.0, 400.0), SHORT, Full::Wait);
        let tally = drive(target, 8, &mut open).unwrap();
        let (made, rewarded) = (tally.latencies(Kind::Decide), tally.latencies(Kind::Reward));
        assert_eq!(made.count() + tally.refused.count(), 120);
        assert_eq!(made.count(), rewarded.count());
        assert_eq!(tally.forgone, tally.refused.count());
        assert_eq!(tally.unanswered, 0);
    });
}

#[test]
fn a_service_that_is_gone_ends_the_run() {
    let target = beside(service, |target, _| target.clone());
    let requests = Requests::new(&target, &names("e", 1));
    let mut traffic = Closed::new(Mode::Decide(requests), 1, Limit::Count(1));
    let error = drive(&target, 1, &mut traffic).unwrap_err();
    assert!(matches!(error, LoadError::Connect(_)), "{error}");
    let silent = |_: &Asked| Vec::new();
    beside(silent, |target, _| {
        let page = Mode::page(target, "/healthz");
        let mut traffic = Closed::new(page, 2, Limit::Time(Duration::from_mins(1)));
        let error = drive(target, 2, &mut traffic).unwrap_err();
        assert!(matches!(error, LoadError::Gone(_)), "{error}");
    });
}

#[test]
fn a_campaign_gets_its_rewards_by_interaction() {
    let rewarded = Mutex::new(BTreeSet::new());
    let answer = |asked: &Asked| {
        let body: serde_json::Value = serde_json::from_slice(&asked.body).unwrap();
        match asked.line.as_str() {
            "POST /campaign HTTP/1.1" => {
                assert_eq!(body["arms"].as_array().unwrap().len(), ACTIONS);
                assert_eq!(body["feature_dim"], DIM);
            }
            "POST /predict HTTP/1.1" => {
                assert_eq!(body["context"].as_array().unwrap().len(), DIM);
                let id =
                    format!("{{\"arm_id\":\"arm_1\",\"interaction_id\":\"i-{}\"}}", asked.number);
                return whole(200, &id);
            }
            "POST /reward HTTP/1.1" => {
                assert!(body["reward"].is_number());
                let id = body["interaction_id"].as_str().unwrap().to_owned();
                assert!(rewarded.lock().unwrap().insert(id));
            }
            other => panic!("{other}"),
        }
        whole(200, "{}")
    };
    beside(answer, |target, _| {
        prepare_rival(target, "c").unwrap();
        let requests = Requests::rival(target, "c");
        let tally = closed(target, Mode::Pairs(requests), 4, Limit::Count(200));
        assert_eq!(tally.statuses.keys().copied().collect::<Vec<_>>(), [200]);
        assert_eq!(tally.latencies(Kind::Reward).count(), rewarded.lock().unwrap().len() as u64);
    });
}

#[test]
fn an_experiment_has_32_features_and_50_actions() {
    let request = experiment("e");
    let actions = request["actions"].as_array().unwrap();
    assert_eq!(actions.len(), ACTIONS);
    // The name, and a column for every feature but the intercept.
    assert!(actions.iter().all(|action| action.as_object().unwrap().len() == DIM));
    let answer = |features: usize, asked: &Asked| {
        assert_eq!(asked.line, "POST /v1/experiments HTTP/1.1");
        whole(201, &serde_json::json!({ "features": vec!["x"; features] }).to_string())
    };
    beside(
        |asked: &Asked| answer(DIM, asked),
        |target, _| prepare(target, &names("e", 2)).unwrap(),
    );
    let error = beside(
        |asked: &Asked| answer(31, asked),
        |target, _| prepare(target, &names("e", 2)).unwrap_err(),
    );
    assert!(error.contains("31 features instead of 32"), "{error}");
}

#[test]
fn half_open_connections_are_held_and_counted() {
    let seen = beside(service, |target, seen| {
        let held = flood(target, 50, SHORT, true).unwrap();
        assert_eq!((held.begun, held.half_open, held.most), (50, 50, 50));
        assert_eq!((held.answered, held.ended), (0, 0));
        seen.requests.load(Ordering::SeqCst)
    });
    assert_eq!(seen, 0);
}

#[test]
fn load_goes_to_loopback_only() {
    for url in
        ["http://127.0.0.1:80", "http://localhost:1/", "http://[::1]:80", "http://127.9.9.9:1"]
    {
        assert!(Target::parse(url).is_ok(), "{url}");
    }
    for (url, part) in [
        ("http://192.168.0.1:80", "not loopback"),
        ("http://0.0.0.0:80", "not loopback"),
        ("http://[2001:db8::1]:80", "not loopback"),
        ("http://example.org:80", "invalid"),
        ("http://127.0.0.1", "no port"),
        ("https://127.0.0.1:80", "no http"),
    ] {
        let error = Target::parse(url).unwrap_err();
        assert!(error.contains(part) && error.contains("use http://127.0.0.1:PORT"), "{error}");
    }
}

#[test]
fn bare_loops_sync_every_line_or_every_batch() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("turn");
    let turn = append_in_turn(&path, 100, SHORT).unwrap();
    let length = std::fs::metadata(&path).unwrap().len();
    assert_eq!((turn.syncs, length), (turn.latencies.count(), 100 * turn.syncs));
    assert!(append_in_turn(&path, 100, SHORT).is_err(), "it would overwrite a file");

    let rate = append_at_rate(&folder.path().join("rate"), 100, 20_000.0, SHORT).unwrap();
    assert_eq!(rate.latencies.count(), 6_000);
    assert!((1..6_000).contains(&rate.syncs), "{}", rate.syncs);

    let beside = append_side_by_side(folder.path(), 4, 100, SHORT).unwrap();
    assert_eq!(beside.syncs, beside.latencies.count());
    let files = (0..4).map(|file| folder.path().join(format!("bare-{file}")));
    let bytes: u64 = files.map(|file| std::fs::metadata(file).unwrap().len()).sum();
    assert_eq!(bytes, 100 * beside.syncs);
}
